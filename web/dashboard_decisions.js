// What was decided, newest first, each with its reasons.
import {get} from './dashboard_api.js';
import {byId, counted, make, pastElement} from './dashboard_page.js';

const pageSize = 10;
const mostShown = 150;

// Lines stand in the order stops, changes, starts, and name GPUs by UUID; people know them by index.
function reasonLines({decision, reasons}) {
  const {stops = [], targets = [], starts = []} = decision;
  const gpus = [...stops.map(() => null), ...targets.map(([gpu]) => gpu), ...starts.map(([, gpu]) => gpu)];
  return reasons.map((line, i) => gpus[i] === null || gpus[i] === undefined ? line : line.replace(/GPU-[0-9a-f-]{36}/, `GPU ${gpus[i]}`));
}

function summaryOf({stops = [], targets = [], starts = []}) {
  const parts = [[targets.length, 'change'], [starts.length, 'start'], [stops.length, 'stop']];
  return parts.filter(([number]) => number).map(([number, word]) => counted(number, word)).join(', ') || 'nothing';
}

function element(row) {
  const lines = reasonLines(row);
  const item = make('details', {className: 'decision'},
    make('summary', {}, make('span', {className: 'name', textContent: `Decision ${row.id}`}), make('span', {className: 'what', textContent: summaryOf(row.decision)}), pastElement(row.at_s)),
    make('ul', {className: 'lines'}, ...lines.map(line => make('li', {textContent: line}))));
  item.dataset.decision = row.id;
  return item;
}

export class Decisions {
  constructor() {
    this.place = byId('decision-list');
    byId('older').onclick = () => this.older();
    this.clear();
  }

  clear() {
    this.newest = 0;
    this.next = null;
    this.place.replaceChildren(make('p', {className: 'found', textContent: 'Nothing was decided yet.'}));
  }

  // New ones go on top; those that are open stay open.
  async refresh() {
    const {decisions, next} = await get('decisions', {limit: pageSize});
    const fresh = decisions.filter(({id}) => Number(id) > this.newest);
    // A gap between what is shown and what came: begin anew.
    const gap = fresh.length === decisions.length;
    if (!fresh.length) return;
    if (gap) {
      this.place.replaceChildren();
      this.next = next;
    }
    this.newest = Number(fresh[0].id);
    this.place.prepend(...fresh.map(element));
    while (this.place.children.length > mostShown) this.place.lastElementChild.remove();
    this.showOlder();
  }

  async older() {
    const last = this.place.lastElementChild?.dataset.decision;
    const {decisions, next} = await get('decisions', {limit: pageSize, before: last});
    this.place.append(...decisions.map(element));
    this.next = next;
    this.showOlder();
  }

  showOlder() { byId('older').hidden = this.next === null || this.place.children.length >= mostShown; }
}
