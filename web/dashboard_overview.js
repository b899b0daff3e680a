// The head of the page: which fleet this is and who looks at it, what is wrong, and the sums.
import {act, post, session} from './dashboard_api.js';
import {busyShare, sumOf} from './dashboard_groups.js';
import {byId, count, counted, duration, energy, energyNow, fleetNow, make, makeButton, may, watts, whoIs} from './dashboard_page.js';

const uncommon = ['fenced', 'lost', 'draining', 'cordoned'];

export class Overview {
  // ask: asks for a refresh of the sums.
  constructor(ask) {
    this.ask = ask;
    this.connected = false;
    this.banners = '';
  }

  command(name) {
    return async () => {
      if (await act(() => post(name))) this.ask();
    };
  }

  show(fleet) {
    this.fleet = fleet;
    byId('title').textContent = `${fleet.fleet} with ${fleet.policy}`;
    document.title = `${fleet.fleet}, smartmig`;
    this.showFacts();
    this.showBanners();
    this.showTiles();
  }

  showGroups(answer) {
    this.groups = answer.groups;
    this.gpus = answer.gpus;
    if (this.fleet) this.showTiles();
  }

  setConnected(yes) {
    if (this.connected === yes) return;
    this.connected = yes;
    this.showFacts();
    this.showBanners();
  }

  // ---- one line about what this is

  showFacts() {
    const {fleet} = this;
    if (!fleet) return;
    if (!this.facts) this.makeFacts();
    const speed = fleet.speed === 1 ? 'real time' : `${count(fleet.speed)} times real time`;
    this.facts.what.textContent = `${fleet.driver} driver, ${speed}, up for`;
    this.facts.clock.textContent = duration(fleetNow());
    this.facts.live.textContent = this.connected ? 'live' : 'reconnecting';
    this.facts.live.classList.toggle('off', !this.connected);
    if (this.facts.freeze) this.facts.freeze.hidden = fleet.frozen || !fleet.recovered;
  }

  makeFacts() {
    const who = whoIs();
    this.facts = {live: make('span', {className: 'live'}), what: make('span'), clock: make('span')};
    const parts = [this.facts.live, make('span', {}, this.facts.what, ' ', this.facts.clock)];
    if (who.tokens) {
      parts.push(make('span', {id: 'who', textContent: `${who.name}, ${who.role}`}));
      parts.push(makeButton('Sign out', async () => {
        if (await act(() => session.close())) document.dispatchEvent(new Event('signedout'));
      }));
    }
    if (may('operate')) parts.push(this.facts.freeze = makeButton('Freeze', this.command('freeze')));
    byId('facts').replaceChildren(...parts);
  }

  tick() {
    if (!this.fleet || !this.connected) return;
    this.showFacts();
    byId('tiles').lastElementChild.firstElementChild.textContent = energy(energyNow(this.fleet));
  }

  // Another may sign in next.
  forget() {
    this.facts = null;
    this.fleet = null;
    this.banners = '';
    byId('facts').replaceChildren();
    byId('title').textContent = 'smartmig';
  }

  // ---- what is wrong

  troubles() {
    const {fleet} = this, found = [];
    if (!this.connected) found.push(['down', 'The controller does not answer. What is shown is as it was last seen; running jobs continue.', null]);
    if (!fleet.recovered) {
      const line = `The journal was damaged, lost or went back in time; nothing is touched until an operator says recover. ${fleet.trouble}`;
      found.push(['down', line, ['Recover', 'recover']]);
    } else if (fleet.trouble) {
      const line = fleet.events_received ? `Nothing is decided and no job is taken: ${fleet.trouble}`
        : `Ends of runs are not noticed for now: ${fleet.trouble}`;
      found.push(['down', line, null]);
    }
    if (fleet.frozen && fleet.recovered)
      found.push(['note', 'Frozen: nothing is started, stopped or changed. Running jobs continue.', ['Unfreeze', 'unfreeze']]);
    const day = fleet.modelled?.last_day;
    if (day?.modelled_is_better) {
      const value = et => Number(et.toPrecision(3));
      found.push(['note', `Over the last day the modelled policy ${fleet.modelled.policy} was better than ${fleet.policy}: ` +
        `ET ${value(day.et)} against ${value(day.own_et)}.`, null]);
    }
    return found;
  }

  // Only what changed is written anew, so that a screen reader says it once.
  showBanners() {
    if (!this.fleet) return;
    const found = this.troubles(), signature = JSON.stringify(found);
    if (signature === this.banners) return;
    this.banners = signature;
    byId('banners').replaceChildren(...found.map(([look, line, action]) => {
      const banner = make('div', {className: 'banner ' + look}, make('p', {textContent: line}));
      banner.setAttribute('role', look === 'down' ? 'alert' : 'status');
      if (action && may('operate')) banner.append(makeButton(action[0], this.command(action[1])));
      return banner;
    }));
  }

  // ---- sums

  gpuTile() {
    if (!this.groups) return null;
    const odd = uncommon.map(state => [state, sumOf(this.groups, state)]).filter(([, gpus]) => gpus);
    for (const what of ['held', 'changing']) {
      const gpus = sumOf(this.groups, what);
      if (gpus) odd.push([what, gpus]);
    }
    return [count(this.gpus), this.gpus === 1 ? 'GPU' : 'GPUs', odd.map(([what, gpus]) => `${count(gpus)} ${what}`).join(', ') || 'all up'];
  }

  busyTile() {
    if (!this.groups) return null;
    const all = {memory_slices: sumOf(this.groups, 'memory_slices'), busy_memory: sumOf(this.groups, 'busy_memory')};
    return [`${Math.round(100 * busyShare(all))} %`, 'of memory busy', `${counted(sumOf(this.groups, 'slices'), 'slice')} there`];
  }

  showTiles() {
    const {fleet} = this;
    const tiles = [
      this.gpuTile(), this.busyTile(), [count(fleet.running), fleet.running === 1 ? 'job runs' : 'jobs run', ''],
      [count(fleet.queued), fleet.queued === 1 ? 'job waits' : 'jobs wait', fleet.late_queued ? `${count(fleet.late_queued)} late already` : 'none late yet'],
      [watts(fleet.power_w), 'modelled power', fleet.power_cap_w ? `cap ${watts(fleet.power_cap_w)}` : 'no cap'],
      [energy(energyNow(fleet)), 'modelled energy', 'since it started'],
    ];
    byId('tiles').replaceChildren(...tiles.filter(Boolean).map(([value, what, note]) =>
      make('li', {}, make('b', {textContent: value}), make('span', {textContent: what}), make('small', {textContent: note}))));
  }
}
