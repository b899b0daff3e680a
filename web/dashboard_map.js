// The fleet as a map: all GPUs of a small one; of a large one a summary, and the GPUs of a group or of a search, a page at a
// time.
import {get} from './dashboard_api.js';
import {GpuCard, looks} from './dashboard_gpu.js';
import {showGroups} from './dashboard_groups.js';
import {byId, count, make} from './dashboard_page.js';

export const groupSize = 100;
const fewChanged = 6;  // Up to so many are read one by one, more with their page.

export class FleetMap {
  // openGpu: called with the GPU whose card is chosen. ask: asks for a refresh of the page.
  constructor(openGpu, ask) {
    this.openGpu = openGpu;
    this.ask = ask;
    this.cards = new Map();  // By UUID, in the order of the page.
    this.changed = new Set();  // UUIDs of cards that are not up to date.
    this.stale = true;         // The page as a whole is not.
    this.heard = null;         // While the page is read: UUIDs of GPUs that something happened to meanwhile.
    this.answer = null;  // The summary.
    this.large = false;
    this.view = {find: '', state: '', layout: '', from: null};
    this.pages = 1;
    this.chosen = false;
    this.addKey();
    this.listen();
  }

  addKey() {
    byId('key').replaceChildren(...Object.entries(looks).map(
      ([look, words]) => make('li', {}, make('i', {className: 'slice ' + look}), words)));
  }

  listen() {
    let timer = 0;
    byId('find').oninput = event => {
      clearTimeout(timer);
      timer = setTimeout(() => this.choose({find: event.target.value.trim()}), 250);
    };
    byId('state').onchange = event => this.choose({state: event.target.value});
    byId('layout').onchange = event => this.choose({layout: event.target.value});
    byId('clear').onclick = () => this.choose({find: '', state: '', layout: '', from: null});
    byId('more').onclick = () => this.turn();
  }

  filtered() { return Boolean(this.view.find || this.view.state || this.view.layout); }

  // Shows what the filter takes. A group that is open is closed by any filter, and the other way round.
  choose(change) {
    this.view = {...this.view, from: null, ...change};
    byId('find').value = this.view.find;
    byId('state').value = this.view.state;
    byId('layout').value = this.view.layout;
    this.again();
  }

  openGroup(group) {
    this.choose({find: '', state: '', layout: '', from: group.first === this.view.from ? null : group.first});
  }

  again() {
    this.chosen = true;  // Of a large fleet what was chosen lies below its summary.
    this.pages = 1;
    this.stale = true;
    if (this.answer) this.showSummary(this.answer);
    this.ask();
  }

  turn() {
    this.pages += 1;
    this.stale = true;
    this.ask();
  }

  showSummary(answer) {
    this.answer = answer;
    this.large = answer.gpus > groupSize;
    const select = byId('layout');
    const names = ['', ...answer.layouts.map(({layout}) => layout)];
    if (this.view.layout && !names.includes(this.view.layout)) names.push(this.view.layout);
    if (names.join() !== [...select.options].map(option => option.value).join())
      select.replaceChildren(...names.map(name => make('option', {value: name, textContent: name || 'any'})));
    select.value = this.view.layout;
    byId('clear').hidden = !this.filtered() && this.view.from === null;
    byId('groups').hidden = !this.large;
    if (this.large) {
      const actions = {choose: change => this.choose({find: '', state: '', layout: '', ...change}), open: group => this.openGroup(group)};
      showGroups(byId('groups'), answer, this.view.from, actions);
    }
  }

  // Nothing but the summary is shown of a large fleet until somebody asks for more.
  idle() { return this.large && !this.filtered() && this.view.from === null; }

  async refresh() {
    if (!this.answer) return;  // How large it is decides what is read.
    if (this.idle()) return this.showPage([], null);
    try {
      await (this.stale || this.changed.size > fewChanged ? this.readPage() : this.readChanged());
    } catch (problem) {
      this.stale = true;
      throw problem;
    } finally {
      this.heard = null;
    }
  }

  async readPage() {
    this.stale = false;
    this.changed.clear();
    const heard = this.heard = new Set();
    const view = this.view, {find, state, layout, from} = view;
    const limit = from === null ? groupSize * this.pages : groupSize;
    const answer = await get('fleet', {find, layout, from, limit, ...(state === 'held' ? {held: true} : {state})});
    // Somebody chose something else meanwhile, and that is on its way.
    if (view !== this.view) return;
    this.showPage(answer.gpus, from === null ? answer.next : null);
    // The answer may be older than what was heard on the way.
    for (const uuid of heard) if (this.touch(uuid)) this.ask();
    if (this.chosen && this.large) byId('found').scrollIntoView({block: 'start'});
    this.chosen = false;
  }

  async readChanged() {
    const uuids = [...this.changed];
    this.changed.clear();
    const gpus = await Promise.all(uuids.map(uuid => get('gpus/' + encodeURIComponent(uuid))));
    for (const gpu of gpus) this.cards.get(gpu.uuid)?.show(gpu);
  }

  showPage(gpus, next) {
    const cards = new Map(gpus.map(gpu => {
      const card = this.cards.get(gpu.uuid) ?? new GpuCard(gpu, this.openGpu);
      card.show(gpu);
      return [gpu.uuid, card];
    }));
    const order = [...cards.keys()].join();
    if (order !== [...this.cards.keys()].join()) byId('map').replaceChildren(...[...cards.values()].map(card => card.element));
    this.cards = cards;
    byId('more').hidden = next === null;
    byId('found').textContent = this.foundWords(gpus, next);
  }

  foundWords(gpus, next) {
    if (this.idle()) return 'Choose a group, a state or a layout, or search, to see GPUs.';
    if (this.filtered()) return gpus.length ? `${next === null ? '' : 'The first '}${count(gpus.length)} that fit` : 'No GPU fits.';
    return this.view.from === null ? '' : `GPUs ${gpus[0]?.index} to ${gpus.at(-1)?.index}`;
  }

  // Events about GPUs that are not shown cost nothing.
  hearGpu(event) {
    // Who looks for a state or a layout wants to see GPUs come and go.
    if (this.view.state || this.view.layout) this.stale = true;
    const card = this.cards.get(event.id);
    card?.hear(event);
    return this.touch(event.id);
  }
  touch(uuid) {
    this.heard?.add(uuid);
    if (this.cards.has(uuid)) this.changed.add(uuid);
    return this.stale || this.changed.size > 0;
  }
}
