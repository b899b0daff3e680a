// The timeline that moves: zooms from the whole run to a minute, pans, and names the job under the
// pointer. It takes the place of the still picture where the browser can unpack its data.
// timeline_data.js and timeline_draw.js come before it; make(), save() and addButton() are
// report.js's.
'use strict';

// ---- what is under the pointer

function pieceAt(model, g, at, py) {
  const gpu = Math.floor((py - g.top) / g.pitch);
  if (gpu < 0 || gpu >= model.gpus.length) return null;
  const board = model.boards[model.gpus[gpu]];
  const row = Math.floor((py - g.top - gpu * g.pitch) / (g.band / board.rows));
  for (let start = 0; start < model.stride; ++start) {
    const list = model.lanes.get(gpu * model.stride + start);
    const piece = list && list[firstAfter(list, at)];
    if (!piece || piece.begin > at) continue;
    const [first, width] = board.slots[piece.slot];
    if (row >= first && row < first + width) return {gpu, piece, slice: board.slots[piece.slot][2]};
  }
  const layout = model.layouts[gpu][firstAfter(model.layouts[gpu], at)];
  return {gpu, piece: null, layout};
}

function tipText(model, g, at, py) {
  const when = units => clock(model.begin_s + units * model.unit_s, true);
  if (py >= g.strip - 14) {
    const bin = Math.min(model.queue.length - 1, Math.floor(at / model.bin));
    return [when(at), ...strips.map(s => `${s.label}: ${model[s.key][bin]}`)].join('\n');
  }
  const hit = pieceAt(model, g, at, py);
  if (!hit) return '';
  if (!hit.piece) {
    const state = hit.layout?.set ? `layout ${hit.layout.set.name}, idle here` : 'failed';
    return `GPU ${hit.gpu}, ${when(at)}\n${state}`;
  }
  const {piece} = hit;
  const span = `${when(piece.begin)} to ${when(piece.end)}, ${duration((piece.end - piece.begin) * model.unit_s)}`;
  if (!piece.job)
    return `${piece.stays} short stays, busy ${Math.round(100 * piece.busy)} %\nGPU ${hit.gpu}, ${hit.slice}\n${span}`;
  const job = piece.job;
  const late = (job.finish - job.deadline) * model.unit_s;
  return `Job ${job.id}, ${job.profile || (job.training ? 'training' : 'inference')}\n` +
      `GPU ${hit.gpu}, ${hit.slice}\n${span}\n` +
      `came ${when(job.submit)}, due ${when(job.deadline)}\n` +
      `done ${when(job.finish)}, ${late > 0 ? duration(late) + ' late' : 'on time'}`;
}

// ---- the widget

const minute = 60;

class TimelineView {
  constructor(figure, model, view) {
    this.figure = figure;
    this.model = model;
    this.view = {from: 0, to: model.length};
    this.build();
    if (view) this.show((view.from - model.begin_s) / model.unit_s, (view.to - model.begin_s) / model.unit_s);
    new ResizeObserver(() => this.draw()).observe(this.box);
    document.addEventListener('themechange', () => this.draw());
    this.draw();
  }

  build() {
    const still = this.figure.querySelector('.still');
    this.canvas = make('canvas', {tabIndex: 0});
    this.canvas.setAttribute('role', 'img');
    this.canvas.setAttribute('aria-label', `Timeline of ${this.figure.dataset.label}: arrow keys move, plus and minus zoom`);
    this.tip = make('div', {className: 'tip', hidden: true});
    this.tip.setAttribute('role', 'status');
    this.box = make('div', {className: 'timeline-view'}, this.canvas, this.tip);
    this.span = make('span', {className: 'span'});
    const button = (text, label, act) => {
      const element = make('button', {type: 'button', textContent: text, onclick: act});
      element.setAttribute('aria-label', label);
      return element;
    };
    const length = (text, seconds) =>
        button(text, `Show ${text.toLowerCase()}`, () => this.showLength(seconds));
    const controls = make('div', {className: 'timeline-controls'},
        button('Whole run', 'Show the whole run', () => this.show(0, this.model.length)),
        length('Day', 86400), length('Hour', 3600), length('10 min', 600), length('Minute', minute),
        button('−', 'Zoom out', () => this.zoom(2)), button('+', 'Zoom in', () => this.zoom(.5)),
        button('←', 'Earlier', () => this.move(-.5)), button('→', 'Later', () => this.move(.5)), this.span);
    const key = make('ul', {className: 'key'}, ...[['slice', 'idle slice'], ['inference', 'inference'],
        ['training', 'training'], ['late-inference', 'inference, done late'], ['late-training', 'training, done late'],
        ['down', 'failed']].map(([colour, name]) =>
            make('li', {}, make('i', {style: `background:var(--${colour})`}), name)));
    still.replaceWith(controls, this.box, key);
    this.listen();
  }

  listen() {
    const pointers = new Map();
    let moved = false;
    this.canvas.onpointerdown = event => {
      moved = false;
      pointers.set(event.pointerId, event.clientX);
      this.canvas.setPointerCapture(event.pointerId);
      this.canvas.classList.add('dragging');
    };
    this.canvas.onpointermove = event => {
      const before = pointers.get(event.pointerId);
      if (before === undefined) return this.point(event);
      if (event.clientX === before) return;
      moved = true;
      this.tip.hidden = true;
      if (pointers.size === 1) {
        this.move((before - event.clientX) / this.plotWidth());
      } else {
        const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
        const was = Math.abs(before - other), is = Math.abs(event.clientX - other);
        if (was > 8 && is > 8) this.zoom(was / is, (before + other) / 2);
      }
      pointers.set(event.pointerId, event.clientX);
    };
    this.canvas.onpointercancel = event => {
      pointers.delete(event.pointerId);
      this.canvas.classList.remove('dragging');
    };
    // A finger has nothing to hover with: what it tapped on is named until the next touch.
    this.canvas.onpointerup = event => {
      this.canvas.onpointercancel(event);
      if (event.pointerType === 'touch' && !moved) this.point(event);
    };
    this.canvas.onpointerleave = event => {
      if (event.pointerType !== 'touch') this.tip.hidden = true;
    };
    this.canvas.ondblclick = event => this.zoom(.25, event.clientX);
    // The page scrolls past; who has clicked on the picture, or holds Ctrl, zooms it.
    this.canvas.addEventListener('wheel', event => {
      if (!event.ctrlKey && document.activeElement !== this.canvas) return;
      event.preventDefault();
      this.zoom(Math.exp(Math.max(-120, Math.min(120, event.deltaY)) / 240), event.clientX);
    }, {passive: false});
    this.canvas.onkeydown = event => {
      const act = {ArrowLeft: () => this.move(-.2), ArrowRight: () => this.move(.2), '+': () => this.zoom(.5),
        '=': () => this.zoom(.5), '-': () => this.zoom(2), Home: () => this.show(0, this.model.length)}[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    };
  }

  geometry() { return geometry(this.model, this.box.clientWidth); }
  plotWidth() {
    const g = this.geometry();
    return g.right - g.left;
  }
  timeAt(clientX) {
    const g = this.geometry();
    const share = (clientX - this.canvas.getBoundingClientRect().left - g.left) / (g.right - g.left);
    return this.view.from + Math.max(0, Math.min(1, share)) * (this.view.to - this.view.from);
  }

  // Clamped to the run; no shorter than a minute.
  show(from, to) {
    const length = this.model.length;
    const least = Math.min(length, minute / this.model.unit_s);
    const span = Math.max(least, Math.min(length, to - from));
    const middle = (from + to) / 2;
    const begin = Math.max(0, Math.min(length - span, middle - span / 2));
    this.view = {from: begin, to: begin + span};
    this.draw();
  }
  showLength(seconds) {
    const middle = (this.view.from + this.view.to) / 2;
    const half = seconds / this.model.unit_s / 2;
    this.show(middle - half, middle + half);
  }
  move(share) {
    const by = share * (this.view.to - this.view.from);
    this.show(this.view.from + by, this.view.to + by);
  }
  zoom(factor, clientX) {
    const at = clientX === undefined ? (this.view.from + this.view.to) / 2 : this.timeAt(clientX);
    const least = Math.min(this.model.length, minute / this.model.unit_s) / (this.view.to - this.view.from);
    const by = Math.max(least, factor);
    this.show(at - (at - this.view.from) * by, at + (this.view.to - at) * by);
  }

  seconds() {
    return {from: this.model.begin_s + this.view.from * this.model.unit_s,
            to: this.model.begin_s + this.view.to * this.model.unit_s};
  }
  draw() {
    if (!this.box.clientWidth) return;
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => {
      const g = this.geometry();
      drawAll(new CanvasPainter(this.canvas, g.width, g.height), this.model, g, this.view);
    });
    const {from, to} = this.seconds();
    this.figure.dataset.from = from;
    this.figure.dataset.to = to;
    this.span.textContent = `${clock(from, true)} to ${clock(to, true)} (${duration(to - from)})`;
  }
  point(event) {
    const box = this.canvas.getBoundingClientRect();
    const px = event.clientX - box.left, py = event.clientY - box.top;
    const text = tipText(this.model, this.geometry(), this.timeAt(event.clientX), py);
    this.tip.hidden = !text;
    this.tip.textContent = text;
    const left = px + this.tip.offsetWidth + 24 > box.width ? px - this.tip.offsetWidth - 12 : px + 14;
    this.tip.style.left = Math.max(0, Math.min(left, box.width - this.tip.offsetWidth)) + 'px';
    this.tip.style.top = py + 14 + 'px';
  }
  svg() {
    const g = geometry(this.model, 1000);
    const painter = new SvgPainter(g.width, g.height, this.figure.dataset.label);
    drawAll(painter, this.model, g, this.view);
    return painter.element();
  }
}

// Timelines of several policies: one is shown at a time, and only what is shown is unpacked.
function addTimelines(figures) {
  const views = new Map();
  let shown = null;
  const start = async figure => {
    if (views.has(figure)) return;
    views.set(figure, null);
    const model = await readTimeline(figure.querySelector('.widget-data').textContent);
    const before = shown && shown !== figure && views.get(shown);
    const view = new TimelineView(figure, model, before ? before.seconds() : null);
    views.set(figure, view);
    const name = figure.dataset.name;
    addButton(figure, 'SVG', `Save ${name} as SVG`, () => save(name + '.svg', 'image/svg+xml', standalone(view.svg())));
    figure.dataset.ready = 'yes';
  };
  const choose = async figure => {
    figures.forEach(other => other.hidden = other !== figure);
    await start(figure);
    shown = figure;
    views.get(figure)?.draw();
  };
  if (figures.length > 1) {
    const select = make('select', {id: 'timeline-choice'}, ...figures.map(
        (figure, i) => make('option', {value: i, textContent: figure.dataset.label})));
    select.onchange = () => choose(figures[select.value]);
    figures[0].before(make('p', {className: 'choose'},
                           make('label', {htmlFor: 'timeline-choice', textContent: 'Timeline of '}), select));
  }
  choose(figures[0]);
}

if (typeof DecompressionStream === 'function') {
  const figures = [...document.querySelectorAll('figure.timeline')];
  if (figures.length) addTimelines(figures);
} else {
  document.querySelectorAll('figure.timeline').forEach(addPictureTools);
}
