// What happens, as it happens: the stream of events, and how often what they touch is read again.

// Runs `work` soon after it is asked for: never twice at a time, never within `pause()` ms of the last time, and not while
// nobody sees the page. `failed` gets what went wrong.
export function refresher(work, pause, failed) {
  let timer = null, running = false, again = false, last = -Infinity;
  const run = async () => {
    timer = null;
    running = true;
    again = false;
    try {
      await work();
    } catch (problem) {
      failed(problem);
    }
    running = false;
    last = performance.now();
    if (again) ask();
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
  // handlers: event(kind, data), anew(), connected(yes)
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
      if (source.readyState === EventSource.CLOSED) this.timer = setTimeout(() => this.open(), retryMs);
    };
  }

  close() {
    clearTimeout(this.timer);
    this.source?.close();
  }
}
