// Power of the fleet since the page was opened, and its energy and late jobs beside those of another policy on the same jobs.
import {act, post} from './dashboard_api.js';
import {byId, count, duration, energy, energyNow, fleetNow, make, may, watts} from './dashboard_page.js';

const mostSamples = 600;
const height = 190, left = 62, bottom = 24, top = 8;

function svg(tag, attributes, text) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

// The least of 1, 2, 5 times a power of ten that takes `value` in at most `steps` steps.
function niceStep(value, steps) {
  const rough = Math.max(value, 1) / steps, ten = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].find(factor => factor * ten >= rough) * ten;
}

export class Power {
  // changed: the cap was set.
  constructor(changed) {
    this.samples = [];
    byId('cap').onsubmit = async event => {
      event.preventDefault();
      const watts = Number(event.target.elements.watts.value);
      if (await act(() => post('power-cap', {watts}))) changed();
    };
    new ResizeObserver(() => this.draw()).observe(byId('power-chart'));
  }

  clear() { this.samples = []; }

  show(fleet) {
    const last = this.samples.at(-1);
    // Another controller, with a clock or a count that begins anew.
    if (last && (fleet.now_s < last.at || fleet.energy_j < last.energy)) this.samples = [];
    this.samples.push({at: fleet.now_s, watts: fleet.power_w, energy: fleet.energy_j});
    if (this.samples.length > mostSamples) this.samples = this.samples.filter((sample, i, all) => i % 2 === 0 || i === all.length - 1);
    this.cap = fleet.power_cap_w;
    const input = byId('cap').elements.watts;
    if (may('operate') && document.activeElement !== input && input.value === '') input.value = fleet.power_cap_w;
    this.fleet = fleet;
    this.tick();
    this.showModelled(fleet);
  }

  tick() {
    if (!this.samples.length) return;
    this.caption(this.fleet);
    this.draw();
  }

  caption(fleet) {
    const first = this.samples[0], now = energyNow(fleet), passed = fleetNow() - first.at, used = now - first.energy;
    const since = passed > 1 ? `${energy(used)} in the ${duration(passed)} since this page was opened, ${watts(used / passed)} on average. ` : '';
    byId('power-caption').replaceChildren(
      make('strong', {textContent: `${watts(fleet.power_w)} now`}), `${since}${energy(now)} since the controller started. All modelled.`);
  }

  draw() {
    const place = byId('power-chart'), width = place.clientWidth;
    if (!this.samples.length || width < 100) return;
    const from = this.samples[0].at, to = Math.max(fleetNow(), this.samples.at(-1).at, from + 1);
    const most = Math.max(...this.samples.map(sample => sample.watts), this.cap) * 1.05;
    const step = niceStep(most, 4), limit = Math.ceil(most / step) * step || step;
    const x = at => left + (at - from) / (to - from) * (width - left - 6);
    const y = value => top + (1 - value / limit) * (height - top - bottom);
    const picture = svg('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img'});
    picture.setAttribute('aria-label', `Power over the last ${duration(to - from)}, now ${watts(this.samples.at(-1).watts)}`);
    for (let value = 0; value <= limit + step / 2; value += step) {
      picture.append(svg('line', {class: 'grid', x1: left, x2: width - 6, y1: y(value), y2: y(value)}),
                     svg('text', {class: 'soft', x: left - 8, y: y(value) + 4, 'text-anchor': 'end'}, watts(value)));
    }
    picture.append(svg('text', {class: 'soft', x: left, y: height - 4}, duration(to - from) + ' ago'),
                   svg('text', {class: 'soft', x: width - 6, y: height - 4, 'text-anchor': 'end'}, 'now'));
    if (this.cap > 0) {
      picture.append(svg('line', {class: 'line s2 dashed', x1: left, x2: width - 6, y1: y(this.cap), y2: y(this.cap)}),
                     svg('text', {class: 'soft halo', x: left + 6, y: y(this.cap) - 5}, `cap ${watts(this.cap)}`));
    }
    // Power stays as it is until something happens.
    const points = this.samples.map((sample, i) => `${i ? `H${x(sample.at).toFixed(1)}V` : `M${x(sample.at).toFixed(1)} `}${y(sample.watts).toFixed(1)}`);
    const path = points.join('') + `H${x(to).toFixed(1)}`;
    picture.append(svg('path', {class: 'f1 band', d: `${path}V${y(0)}H${x(from).toFixed(1)}Z`}), svg('path', {class: 'line s1', d: path}));
    place.replaceChildren(picture);
  }

  // ---- beside another policy

  showModelled({modelled, policy}) {
    const place = byId('modelled');
    place.hidden = !modelled;
    if (!modelled) return;
    const mean = (sum, jobs) => jobs ? duration(sum / jobs) : '-';
    const change = (own, other) => other > 0 ? `${own <= other ? '−' : '+'}${Math.abs(100 * (own - other) / other).toFixed(1)} %` : '-';
    const rows = [
      ['Energy', energy(modelled.own_energy_j), energy(modelled.energy_j), change(modelled.own_energy_j, modelled.energy_j)],
      ['Jobs done', count(modelled.own_done), count(modelled.done), ''],
      ['Late jobs', count(modelled.own_late), count(modelled.late), change(modelled.own_late, modelled.late)],
      ['Mean tardiness', mean(modelled.own_tardiness_s, modelled.own_done), mean(modelled.tardiness_s, modelled.done), ''],
    ];
    const head = make('tr', {}, make('td'), ...[`${policy}, this fleet`, `${modelled.policy}, modelled`, 'difference'].map(text => make('th', {scope: 'col', className: 'number', textContent: text})));
    const body = rows.map(([what, ...cells]) => make('tr', {}, make('th', {scope: 'row', textContent: what}),
                                                     ...cells.map(text => make('td', {className: 'number', textContent: text}))));
    place.replaceChildren(make('h3', {textContent: `Beside ${modelled.policy} on the same jobs`}),
      make('p', {className: 'found', textContent: `${modelled.policy} is simulated beside this fleet on the jobs it was given, over the same time: its numbers are modelled.`}),
      make('div', {className: 'scroll', tabIndex: 0, role: 'group', ariaLabel: `Beside ${modelled.policy}`}, make('table', {}, make('thead', {}, head), make('tbody', {}, ...body))));
  }
}
