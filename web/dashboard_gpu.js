// A GPU as a strip of its memory slices, on a card of the map and in its details.
import {make, watts} from './dashboard_page.js';

// What a slice is shown as: a class of the style, and the word for it.
export const looks = {
  inference: 'inference', training: 'training', 'late-inference': 'inference, will be late',
  'late-training': 'training, will be late', free: 'free', moving: 'being made or removed',
  foreign: 'not ours', stuck: 'fenced: its job will not stop',
};

export function lookOf(slice) {
  if (slice.state === 'foreign') return 'foreign';
  if (slice.state === 'fenced') return 'stuck';
  if (slice.state === 'creating' || slice.state === 'destroying') return 'moving';
  if (slice.job === null) return 'free';
  return (slice.expected_end_s > slice.deadline_s ? 'late-' : '') + slice.job_kind;
}

const size = slice => slice.profile.split('.')[0];

export function sliceWords(slice) {
  const look = lookOf(slice);
  if (slice.job === null) return `${slice.profile}, ${look === 'moving' ? slice.state : looks[look]}`;
  return `${slice.profile}, job ${slice.job}, ${looks[look]}`;
}

export function fillStrip(strip, gpu) {
  strip.style.gridTemplateColumns = `repeat(${gpu.memory_slices}, 1fr)`;
  strip.replaceChildren(...gpu.slices.map(slice => {
    const element = make('span', {className: 'slice ' + lookOf(slice), title: sliceWords(slice)}, size(slice));
    // A narrow one has no room for a number.
    if (slice.job !== null && slice.width > 1) element.append(make('b', {textContent: slice.job}));
    element.style.gridColumn = `${slice.start + 1} / span ${slice.width}`;
    return element;
  }));
}

export const layoutWords = gpu => gpu.layout === gpu.target ? gpu.layout : `${gpu.layout} → ${gpu.target}`;

function cardWords(gpu) {
  const busy = gpu.slices.filter(slice => slice.job !== null).length;
  const change = gpu.layout === gpu.target ? '' : `, changing to ${gpu.target}`;
  return `GPU ${gpu.index}, ${gpu.state}, layout ${gpu.layout}${change}, ${busy} of ${gpu.slices.length} slices busy, ` +
    `${watts(gpu.power_w)}${gpu.held ? `, layout held by ${gpu.held_by}` : ''}${gpu.trouble ? ', ' + gpu.trouble : ''}`;
}

export class GpuCard {
  constructor(gpu, open) {
    this.name = make('span', {className: 'name'});
    this.badge = make('span', {className: 'badge'});
    this.strip = make('span', {className: 'strip'});
    this.layout = make('span', {className: 'layout'});
    this.power = make('span', {className: 'power'});
    this.trouble = make('span', {className: 'trouble'});
    // Who hears the page gets a sentence instead of the parts.
    this.words = make('span', {className: 'heard'});
    const parts = [this.name, this.badge, this.strip, this.layout, this.power, this.trouble];
    for (const part of parts) part.ariaHidden = 'true';
    this.button = make('button', {type: 'button', className: 'gpu', onclick: () => open(this.gpu)}, this.words, ...parts);
    this.element = make('li', {}, this.button);
    this.show(gpu);
  }

  show(gpu) {
    this.gpu = gpu;
    this.name.textContent = 'GPU ' + gpu.index;
    this.badge.textContent = [gpu.state === 'up' ? '' : gpu.state, gpu.held ? 'held' : ''].filter(Boolean).join(', ');
    this.layout.textContent = layoutWords(gpu);
    this.power.textContent = watts(gpu.power_w);
    this.trouble.textContent = gpu.trouble;
    this.button.dataset.gpu = gpu.index;
    this.button.dataset.state = gpu.state;
    this.button.classList.toggle('changing', gpu.layout !== gpu.target);
    this.words.textContent = cardWords(gpu);
    fillStrip(this.strip, gpu);
  }

  // What an event tells of it, before the rest is read.
  hear({layout, target, state, trouble}) {
    this.show({...this.gpu, layout, target, state, trouble: trouble || (state === 'fenced' ? this.gpu.trouble : '')});
  }
}
