// Jobs that wait, run and are over: when each is expected to start and end, and how late it will be.
import {act, get, remove} from './dashboard_api.js';
import {mayCancel} from './dashboard_details.js';
import {byId, count, duration, jobName, make, makeButton, pastElement, timeElement} from './dashboard_page.js';

const pageSize = 50;
const mostFinished = 30;
const finalStates = ['done', 'failed', 'cancelled'];
const tabs = {queued: 'Waiting', running: 'Running', finished: 'Finished'};
const empty = {
  queued: 'No job waits.', running: 'No job runs.', finished: 'No job has ended since this page was opened.',
};

function lateness(job) {
  if (job.state === 'failed' || job.state === 'cancelled') return make('span', {textContent: job.state});
  if (job.late_s === null) return make('span', {textContent: 'not known yet'});
  return job.late_s > 0 ? make('strong', {className: 'late', textContent: duration(job.late_s)}) : make('span', {textContent: 'on time'});
}

export class Jobs {
  // openJob: called with an id. ask: asks for a refresh. changed: something was done.
  constructor(openJob, ask, changed) {
    Object.assign(this, {openJob, ask, changed, tab: 'queued', pages: 1, finished: [], ended: []});
    this.buttons = Object.fromEntries(Object.keys(tabs).map(tab => [tab, makeButton(tabs[tab], () => this.choose(tab))]));
    byId('job-tabs').replaceChildren(...Object.values(this.buttons));
    byId('more-jobs').onclick = () => {
      this.pages += 1;
      this.ask();
    };
    this.showTabs({queued: 0, running: 0});
  }

  choose(tab) {
    this.tab = tab;
    this.pages = 1;
    this.showTabs(this.sums);
    this.ask();
  }

  showTabs(fleet) {
    this.sums = fleet;
    const numbers = {queued: fleet.queued, running: fleet.running, finished: Math.min(mostFinished, this.finished.length + this.ended.length)};
    for (const [tab, button] of Object.entries(this.buttons)) {
      button.textContent = `${tabs[tab]} ${count(numbers[tab])}`;
      button.setAttribute('aria-pressed', String(tab === this.tab));
    }
  }

  // What ended is told by events alone: lists begin with the oldest.
  hear({id, state}) {
    if (finalStates.includes(state)) this.ended.push(id);
    if (this.ended.length > mostFinished) this.ended.shift();
  }

  async refresh() {
    const {tab} = this;
    const {jobs, more} = await this[tab + 'Jobs']();
    if (tab !== this.tab) return;
    this.showTabs(this.sums);
    byId('more-jobs').hidden = !more;
    this.show(jobs);
  }

  async queuedJobs() {
    const {jobs, next} = await get('jobs', {state: 'queued', limit: pageSize * this.pages});
    jobs.sort((a, b) => (a.expected_start_s ?? Infinity) - (b.expected_start_s ?? Infinity));
    return {jobs, more: next !== null};
  }

  async runningJobs() {
    const pages = await Promise.all(['starting', 'running', 'saving'].map(state => get('jobs', {state, limit: pageSize * this.pages})));
    const jobs = pages.flatMap(page => page.jobs);
    jobs.sort((a, b) => (a.expected_end_s ?? Infinity) - (b.expected_end_s ?? Infinity));
    return {jobs, more: pages.some(page => page.next !== null)};
  }

  async finishedJobs() {
    const ids = this.ended.splice(0);
    const jobs = await Promise.all(ids.map(id => get('jobs/' + id)));
    this.finished.unshift(...jobs.reverse());
    this.finished.splice(mostFinished);
    return {jobs: this.finished, more: false};
  }

  // ---- the table

  columns() {
    const id = ['Job', job => make('span', {}, makeButton(job.id, () => this.openJob(job.id), 'link'), ...jobName(job))];
    const profile = ['Profile', job => job.profile, 'extra'];
    const deadline = ['Deadline', job => timeElement(job.deadline_s), 'extra'];
    if (this.tab === 'queued')
      return [id, profile, ['Submitted', job => pastElement(job.submit_s), 'extra'], ['Expected start', job => timeElement(job.expected_start_s)], deadline, ['Late', lateness]];
    if (this.tab === 'running')
      return [id, profile, ['State', job => job.state, 'extra'], ['Expected end', job => timeElement(job.expected_end_s)], deadline, ['Late', lateness]];
    return [id, profile, ['Ended', job => pastElement(job.end_s)], deadline, ['Late', lateness]];
  }

  cancelCell(job) {
    if (!mayCancel(job)) return make('td');
    const button = makeButton('Cancel', async () => {
      if (await act(() => remove('jobs/' + job.id))) this.changed();
    });
    button.setAttribute('aria-label', `Cancel job ${job.id}`);
    return make('td', {className: 'number'}, button);
  }

  show(jobs) {
    const place = byId('job-list');
    // Drawn anew only where something changed: times run by themselves.
    const signature = JSON.stringify([this.tab, jobs]);
    if (signature === this.signature) return;
    this.signature = signature;
    if (!jobs.length) return place.replaceChildren(make('p', {className: 'found', textContent: empty[this.tab]}));
    const focused = place.contains(document.activeElement) ? document.activeElement.getAttribute('aria-label') : null;
    const columns = this.columns(), cancels = jobs.some(mayCancel);
    const cells = (tag, of) => columns.map(([, , className = ''], i) => make(tag, {className}, of(i)));
    const head = make('tr', {}, ...cells('th', i => columns[i][0]));
    for (const cell of head.cells) cell.scope = 'col';
    if (cancels) head.append(make('td'));
    const rows = jobs.map(job => {
      const row = make('tr', {}, ...cells('td', i => columns[i][1](job)));
      row.dataset.job = job.id;
      if (cancels) row.append(this.cancelCell(job));
      return row;
    });
    place.replaceChildren(make('table', {}, make('thead', {}, head), make('tbody', {}, ...rows)));
    if (focused) [...place.querySelectorAll('button')].find(button => button.getAttribute('aria-label') === focused)?.focus();
  }
}
