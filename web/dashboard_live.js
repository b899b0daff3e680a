// What happens, as it happens: the stream of events, and how often what they touch is read again.

const laterMs = 2000;
// Too many requests, or not now: worth another try. An answer that never came is not, as the stream says when to come back.
const passes = problem => problem.status === 429 || problem.status >= 500;

// Runs `work` soon after it is asked for: never twice at a time, never within `pause()` ms of the last time, and not while
// nobody sees the page. `failed` gets what went wrong.
export function refresher(work, pause, failed) {
  let timer = null, running = false, again = false, last = -Infinity;
  const run = async () => {
    timer = null;
    running = true;
    again = false;
    let rest = 0;
    try {
      await work();
    } catch (problem) {
      failed(problem);
      if (passes(problem)) rest = laterMs;
    }
    running = false;
    last = performance.now() + rest;
    if (again || rest) ask();
  };
  const ask = () => {
    if (document.hidden) return;
    if (running) {
      again = true;
    } else if (timer === null) {
      timer = setTimeout(run, Math.max(0, last + pause() - performance.now()));
    }
  };
  return ask;
}

const kinds = ['job', 'gpu', 'decision', 'fleet'];
const retryMs = 3000;

// The browser comes back by itself with Last-Event-ID, and the server then sends what was missed or says that it cannot. A
// stream that the server refused stays closed: a new one begins with everything read anew.
export class Live {
  // handlers: event(kind, data), anew(), connected(yes), refused()
  constructor(handlers) { this.handlers = handlers; }

  open() {
    this.close();
    const source = this.source = new EventSource('api/v1/events');
    for (const kind of kinds)
      source.addEventListener(kind, event => this.handlers.event(kind, JSON.parse(event.data)));
    source.addEventListener('missed', () => this.handlers.anew());
    source.onopen = () => {
      this.handlers.connected(true);
      this.handlers.anew();
    };
    source.onerror = () => {
      this.handlers.connected(false);
      if (source.readyState !== EventSource.CLOSED) return;
      this.timer = setTimeout(() => this.open(), retryMs);
      this.handlers.refused();
    };
  }

  close() {
    clearTimeout(this.timer);
    this.source?.close();
  }
}
