// The timeline that moves: zooms from the whole run to a minute, pans, and names the job under the
// pointer. It takes the place of the still picture where the browser can unpack its data
// (docs/formats/report.md says what is in it); make(), save() and addButton() are report.js's.
'use strict';

// ---- reading

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Seven bits a byte, lowest first. Beyond 31 bits shifts would overflow, products do not.
async function column(text) {
  const bytes = await unpack(text);
  const values = [];
  let value = 0, scale = 1;
  for (const byte of bytes) {
    value += (byte & 127) * scale;
    scale *= 128;
    if (byte < 128) {
      values.push(value);
      value = 0;
      scale = 1;
    }
  }
  return values;
}

const signed = value => value % 2 ? -(value + 1) / 2 : value / 2;

async function columns(packed, names) {
  const lists = await Promise.all(names.map(name => column(packed[name])));
  return Object.fromEntries(names.map((name, i) => [name, lists[i]]));
}

async function readJobs(data) {
  const c = await columns(data.jobs, ['index', 'training', 'profile', 'submit', 'deadline', 'finish']);
  const ids = data.jobs.ids && new TextDecoder().decode(await unpack(data.jobs.ids)).split('\n');
  let index = 0, submit = 0;
  return c.index.map((step, i) => {
    index += step;
    submit += signed(c.submit[i]);
    return {
      id: ids ? ids[i] : String(index),
      training: c.training[i] === 1,
      profile: c.profile[i] ? data.profiles[c.profile[i] - 1] : '',
      submit,
      deadline: submit + signed(c.deadline[i]),
      finish: submit + signed(c.finish[i]),
    };
  });
}

// One list for each slice, in order of time.
async function readPieces(data, jobs) {
  const c = await columns(data.pieces,
                          ['slice', 'slot', 'gap', 'length', 'stays', 'job', 'busy', 'shade']);
  const lanes = new Map();
  let slice = 0, end = 0, job = 0, named = 0, merged = 0;
  for (let i = 0; i < data.pieces.count; ++i) {
    slice += c.slice[i];
    if (!lanes.has(slice)) {
      lanes.set(slice, []);
      end = 0;
    }
    const begin = end + c.gap[i];
    end = begin + c.length[i];
    const piece = {begin, end, slot: c.slot[i], stays: c.stays[i], busy: 1, job: null, shade: 0};
    if (piece.stays === 1) {
      job += signed(c.job[named++]);
      piece.job = jobs[job];
      piece.shade = (piece.job.finish > piece.job.deadline ? 2 : 0) + (piece.job.training ? 1 : 0);
    } else {
      piece.busy = c.busy[merged] / 100;
      piece.shade = c.shade[merged++];
    }
    lanes.get(slice).push(piece);
  }
  return lanes;
}

// One list for each GPU, in order of time; `set` is null while it is down.
async function readLayouts(data) {
  const c = await columns(data.layouts, ['gpu', 'time', 'set']);
  const layouts = data.gpus.map(() => []);
  let gpu = 0, time = 0;
  for (let i = 0; i < data.layouts.count; ++i) {
    if (c.gpu[i]) time = 0;
    gpu += c.gpu[i];
    time += c.time[i];
    layouts[gpu].push({begin: time, set: c.set[i] ? data.layouts.sets[c.set[i] - 1] : null});
  }
  for (const list of layouts)
    list.forEach((layout, i) => layout.end = i + 1 < list.length ? list[i + 1].begin : data.length);
  return layouts;
}

async function readTimeline(text) {
  const data = JSON.parse(text);
  const jobs = await readJobs(data);
  return {...data, jobs, lanes: await readPieces(data, jobs), layouts: await readLayouts(data)};
}

// The first of a list in order of time that ends after `at`.
function firstAfter(list, at) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle].end > at) high = middle;
    else low = middle + 1;
  }
  return low;
}

// ---- words

function clock(seconds, exact) {
  const day = Math.floor(seconds / 86400);
  const rest = seconds - day * 86400;
  const two = n => String(Math.floor(n)).padStart(2, '0');
  const time = `${two(rest / 3600)}:${two(rest / 60 % 60)}` + (exact ? `:${two(rest % 60)}` : '');
  return day ? `${time} +${day} d` : time;
}

function duration(seconds) {
  if (seconds < 60) return `${Number(seconds.toPrecision(3))} s`;
  if (seconds < 3600) return `${Number((seconds / 60).toPrecision(3))} min`;
  if (seconds < 172800) return `${Number((seconds / 3600).toPrecision(3))} h`;
  return `${Number((seconds / 86400).toPrecision(3))} days`;
}

// ---- drawing: on a canvas for the page, as SVG for a file

const shades = ['inference', 'training', 'late-inference', 'late-training'];

class CanvasPainter {
  constructor(canvas, width, height) {
    const scale = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.height = height + 'px';
    this.context = canvas.getContext('2d');
    this.context.scale(scale, scale);
    this.context.clearRect(0, 0, width, height);
    this.style = getComputedStyle(document.documentElement);
    this.font = getComputedStyle(canvas).fontFamily;
  }
  colour(name) { return this.style.getPropertyValue('--' + name).trim(); }
  rect(x, y, width, height, colour, opacity = 1) {
    this.context.globalAlpha = opacity;
    this.context.fillStyle = this.colour(colour);
    this.context.fillRect(x, y, width, height);
    this.context.globalAlpha = 1;
  }
  line(points, colour, width = 1) {
    this.context.strokeStyle = this.colour(colour);
    this.context.lineWidth = width;
    this.context.beginPath();
    points.forEach(([x, y], i) => i ? this.context.lineTo(x, y) : this.context.moveTo(x, y));
    this.context.stroke();
  }
  text(x, y, text, colour, anchor = 'start', size = 12) {
    this.context.font = `${size}px ${this.font}`;
    this.context.textAlign = anchor === 'middle' ? 'center' : anchor;
    this.context.fillStyle = this.colour(colour);
    this.context.fillText(text, x, y);
  }
}

class SvgPainter {
  constructor(width, height, title) {
    const escaped = title.replace(/[<&]/g, c => c === '<' ? '&lt;' : '&amp;');
    this.head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}"><title>${escaped}</title>`;
    this.parts = [];
  }
  rect(x, y, width, height, colour, opacity = 1) {
    const faint = opacity < 1 ? ` opacity="${opacity.toFixed(2)}"` : '';
    this.parts.push(`<rect x="${x.toFixed(2)}" y="${y.toFixed(2)}" width="${width.toFixed(2)}" height="${height.toFixed(2)}" style="fill:var(--${colour})"${faint}/>`);
  }
  line(points, colour, width = 1) {
    const d = points.map(([x, y], i) => `${i ? 'L' : 'M'}${x.toFixed(2)} ${y.toFixed(2)}`).join('');
    this.parts.push(`<path d="${d}" style="fill:none;stroke:var(--${colour});stroke-width:${width}"/>`);
  }
  text(x, y, text, colour, anchor = 'start', size = 12) {
    const escaped = text.replace(/[<&]/g, c => c === '<' ? '&lt;' : '&amp;');
    this.parts.push(`<text x="${x.toFixed(2)}" y="${y.toFixed(2)}" text-anchor="${anchor}" style="fill:var(--${colour});font-size:${size}px">${escaped}</text>`);
  }
  element() {
    const text = this.head + this.parts.join('') + '</svg>';
    return new DOMParser().parseFromString(text, 'image/svg+xml').documentElement;
  }
}

const strips = [
  {key: 'queue', label: 'jobs waiting', colour: 'c4'},
  {key: 'power_w', label: 'power, W', colour: 'c2'},
  {key: 'arrivals_per_min', label: 'arrivals a minute', colour: 'c1'},
];
const stripHeight = 48, stripPitch = 74;

// Where things stand for a width; the same for both painters and for the pointer.
function geometry(model, width) {
  const left = width < 500 ? 46 : 58;
  const band = Math.max(6, Math.min(46, 420 / model.gpus.length));
  const pitch = band + (band >= 16 ? 7 : 1);
  const strip = 8 + pitch * model.gpus.length + 22;
  const axis = strip + stripPitch * strips.length - 14;
  return {left, right: width - 8, band, pitch, top: 8, strip, axis, height: axis + 24, width};
}

function drawSlices(painter, model, g, view, x) {
  model.layouts.forEach((list, gpu) => {
    const board = model.boards[model.gpus[gpu]];
    const row = g.band / board.rows;
    const top = g.top + gpu * g.pitch;
    let drawn = -1;
    for (let i = firstAfter(list, view.from); i < list.length && list[i].begin < view.to; ++i) {
      const from = Math.max(g.left, x(list[i].begin)), to = Math.min(g.right, x(list[i].end));
      if (to - drawn < .5) continue;  // Many changes within a pixel: one of them.
      drawn = to;
      if (!list[i].set) painter.rect(from, top, to - from, g.band, 'down', .5);
      for (const slot of list[i].set?.slots ?? []) {
        const [start, width] = board.slots[slot];
        painter.rect(from, top + start * row, Math.max(.5, to - from - (to - from > 4 ? 1 : 0)),
                     width * row - 1, 'slice');
      }
    }
  });
}

function drawLane(painter, list, board, top, row, view, x, g) {
  // Pieces narrower than a pixel are summed: a column as strong as the share of it that is busy.
  let at = -1, sums = [0, 0, 0, 0], place = null;
  const flush = () => {
    const share = sums.reduce((a, b) => a + b);
    if (share > .02)
      painter.rect(at, place.y, 1, place.height, shades[sums.indexOf(Math.max(...sums))],
                   Math.min(1, share));
    sums = [0, 0, 0, 0];
  };
  for (let i = firstAfter(list, view.from); i < list.length && list[i].begin < view.to; ++i) {
    const piece = list[i];
    const [start, slotWidth] = board.slots[piece.slot];
    const y = top + start * row, height = slotWidth * row - 1;
    const from = Math.max(g.left, x(piece.begin)), to = Math.min(g.right, x(piece.end));
    if (to - from >= 1) {
      const gap = to - from > 5 ? 1 : 0;
      painter.rect(from, y, to - from - gap, height, shades[piece.shade], .3 + .7 * piece.busy);
      const label = piece.job ? piece.job.id : `${piece.stays} jobs`;
      if (height >= 9 && to - from > 9 + 7 * label.length)
        painter.text(from + 4, y + height / 2 + 4, label, piece.shade > 1 ? 'ground' : 'ink', 'start', Math.min(12, height));
      continue;
    }
    const pixel = Math.floor(from);
    if (pixel !== at || place.y !== y || place.height !== height) {
      if (place) flush();
      at = pixel;
      place = {y, height};
    }
    sums[piece.shade] += (to - from) * piece.busy;
  }
  if (place) flush();
}

function drawJobs(painter, model, g, view, x) {
  for (const [slice, list] of model.lanes) {
    const gpu = Math.floor(slice / model.stride);
    const board = model.boards[model.gpus[gpu]];
    drawLane(painter, list, board, g.top + gpu * g.pitch, g.band / board.rows, view, x, g);
  }
}

function drawStrip(painter, model, g, view, x, strip, top) {
  const values = model[strip.key];
  const most = Math.max(...values) || 1;
  const y = value => top + stripHeight * (1 - value / most);
  painter.line([[g.left, top + stripHeight], [g.right, top + stripHeight]], 'line');
  const first = Math.max(0, Math.floor(view.from / model.bin));
  const points = [];
  for (let i = first; i < values.length && i * model.bin < view.to; ++i) {
    const end = Math.min(model.length, (i + 1) * model.bin);
    points.push([Math.max(g.left, x(i * model.bin)), y(values[i])],
                [Math.min(g.right, x(end)), y(values[i])]);
  }
  if (points.length) painter.line(points, strip.colour, 1.6);
  const shown = most >= 100 ? Math.round(most).toLocaleString('en') : String(Number(most.toPrecision(2)));
  painter.text(g.left - 6, top + 9, shown, 'soft', 'end', 11);
  painter.text(g.left - 6, top + stripHeight, '0', 'soft', 'end', 11);
  painter.text(g.left, top - 8, strip.label, 'soft');
}

const steps = [5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 432000, 864000];

function drawClock(painter, model, g, view, x) {
  const seconds = (view.to - view.from) * model.unit_s;
  const most = Math.max(2, (g.right - g.left) / 80);
  let step = steps.find(s => seconds / s <= most) ?? 864000;
  while (seconds / step > most) step *= 2;
  const first = Math.ceil((model.begin_s + view.from * model.unit_s) / step) * step;
  for (let at = first; at <= model.begin_s + view.to * model.unit_s; at += step) {
    const px = x((at - model.begin_s) / model.unit_s);
    painter.line([[px, g.top], [px, g.axis]], 'line');
    const label = step >= 86400 ? `day ${Math.round(at / 86400)}` : clock(at, step < 60);
    const atEdge = px + 4 * label.length > g.right;
    painter.text(atEdge ? g.right : px, g.axis + 16, label, 'soft', atEdge ? 'end' : 'middle', 11);
  }
}

function drawAll(painter, model, g, view) {
  const x = at => g.left + (at - view.from) / (view.to - view.from) * (g.right - g.left);
  drawClock(painter, model, g, view, x);
  const every = Math.max(1, Math.ceil(15 / g.pitch));
  for (let gpu = 0; gpu < model.gpus.length; gpu += every)
    painter.text(g.left - 6, g.top + gpu * g.pitch + g.band / 2 + 4,
                 g.left < 50 ? String(gpu) : `GPU ${gpu}`, 'soft', 'end', 11);
  drawSlices(painter, model, g, view, x);
  drawJobs(painter, model, g, view, x);
  strips.forEach((strip, i) =>
      drawStrip(painter, model, g, view, x, strip, g.strip + i * stripPitch));
}

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
    const select = make('select', {id: 'timeline-policy'}, ...figures.map(
        (figure, i) => make('option', {value: i, textContent: figure.dataset.label})));
    select.onchange = () => choose(figures[select.value]);
    figures[0].before(make('p', {className: 'choose'},
                           make('label', {htmlFor: 'timeline-policy', textContent: 'Policy '}), select));
  }
  choose(figures[0]);
}

if (typeof DecompressionStream === 'function') {
  const figures = [...document.querySelectorAll('figure.timeline')];
  if (figures.length) addTimelines(figures);
} else {
  document.querySelectorAll('figure.timeline').forEach(addPictureTools);
}
