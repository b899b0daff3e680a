// Draws a timeline: on a canvas for the page, as SVG for a file. It is all in one place so that both
// show the same.
'use strict';

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

// ---- painters

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
