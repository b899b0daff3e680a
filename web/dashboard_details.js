// One GPU or one job, in a panel beside the page: what it is, why, what happened to it, and what may be done about it.
import {act, get, post, remove} from './dashboard_api.js';
import {fillStrip, layoutWords, sliceWords} from './dashboard_gpu.js';
import {byId, count, duration, jobName, make, makeButton, may, pastElement, timeElement, watts, whoIs} from './dashboard_page.js';

const list = lines => make('ul', {className: 'lines'}, ...lines.map(line => make('li', {textContent: line})));

function facts(rows) {
  return make('dl', {}, ...rows.flatMap(([term, value]) => [make('dt', {textContent: term}), make('dd', {}, value)]));
}

function table(heads, rows) {
  const head = make('tr', {}, ...heads.map(text => make('th', {scope: 'col', textContent: text})));
  const body = rows.map(cells => make('tr', {}, ...cells.map(cell => make('td', {}, cell))));
  const scroll = make('div', {className: 'scroll', tabIndex: 0},
                      make('table', {}, make('thead', {}, head), make('tbody', {}, ...body)));
  scroll.setAttribute('role', 'group');
  scroll.setAttribute('aria-label', heads.join(', '));
  return scroll;
}

const short = uuid => make('code', {textContent: uuid});
export const mayCancel = job => ['queued', 'starting', 'running', 'saving'].includes(job.state) &&
  (may('operate') || (may('submit') && job.owner === whoIs().name));

export class Details {
  // ask: asks for a refresh of what is open. changed: something was done.
  constructor(ask, changed) {
    this.ask = ask;
    this.changed = changed;
    this.dialog = byId('details');
    // Beside an open panel the page is out of reach, also for who hears it: the line that says how things went comes along.
    this.said = byId('said');
    this.dialog.addEventListener('close', () => {
      this.what = null;
      document.querySelector('main').prepend(this.said);
    });
    // A click beside the panel closes it.
    this.dialog.onclick = event => { if (event.target === this.dialog) this.dialog.close(); };
    this.what = null;
  }

  open(kind, id, title) {
    const again = this.what !== null;
    this.what = {kind, id};
    this.history = 10;
    this.title = make('h2', {id: 'details-title', textContent: title});
    this.parts = Object.fromEntries(['facts', 'actions', 'slices', 'why', 'history'].map(name => [name, make('div', {className: name})]));
    const close = makeButton('Close', () => this.dialog.close());
    this.dialog.replaceChildren(make('div', {className: 'panel'}, make('div', {className: 'panel-head'}, this.title, close),
                                     ...Object.values(this.parts)), this.said);
    this.shown = {};
    if (!again) this.dialog.showModal();
    this.ask();
  }
  openGpu(gpu) { this.open('gpu', gpu.uuid, `GPU ${gpu.index}`); }
  openJob(id) { this.open('job', id, `Job ${id}`); }
  close() { if (this.dialog.open) this.dialog.close(); }

  isAbout(kind, id) { return this.what?.kind === kind && this.what.id === id; }

  async refresh() {
    const {what} = this;
    if (!what) return;
    await (what.kind === 'gpu' ? this.refreshGpu(what) : this.refreshJob(what));
  }

  // Parts that did not change stay, so that what has the focus keeps it.
  put(name, data, makeChildren) {
    const signature = JSON.stringify(data);
    if (this.shown[name] === signature) return;
    this.shown[name] = signature;
    this.parts[name].replaceChildren(...makeChildren());
  }

  // ---- a GPU

  async refreshGpu(what) {
    const path = 'gpus/' + encodeURIComponent(what.id);
    const [gpu, changes, why] = await Promise.all(
      [get(path), get(path + '/changes', {limit: this.history}), get('explain/gpu/' + encodeURIComponent(what.id))]);
    const jobs = await Promise.all(gpu.slices.filter(slice => slice.job).map(slice => get('jobs/' + slice.job)));
    if (this.what !== what) return;
    this.showGpu(gpu);
    this.put('slices', [gpu.slices, jobs.map(job => job.name)], () => this.sliceParts(gpu, new Map(jobs.map(job => [job.id, job]))));
    const lines = why.lines.map(line => line.replaceAll(gpu.uuid, 'GPU ' + gpu.index));
    this.put('why', lines, () => [make('h3', {textContent: 'Why it is so'}), list(lines)]);
    this.put('history', changes, () => this.historyParts(changes));
    this.put('actions', [gpu.state, gpu.held, gpu.target, gpu.slices.some(slice => slice.state === 'foreign')], () => this.gpuActions(gpu));
  }

  showGpu(gpu) {
    this.put('facts', {...gpu, slices: null}, () => {
      const rows = [['State', gpu.state], ['Board', gpu.board], ['UUID', short(gpu.uuid)], ['Layout', layoutWords(gpu)],
                    ['Power', `${watts(gpu.power_w)}, modelled`], ['Changes', `${gpu.changes} since the controller started`]];
      if (gpu.held) rows.push(['Layout held', make('span', {}, `by ${gpu.held_by}, `, pastElement(gpu.held_since_s))]);
      if (gpu.retry_s !== null) rows.push(['Tried again', timeElement(gpu.retry_s)]);
      return [gpu.trouble ? make('p', {className: 'trouble', textContent: gpu.trouble}) : null, facts(rows)].filter(Boolean);
    });
  }

  sliceParts(gpu, jobs) {
    const strip = make('div', {className: 'strip large'});
    fillStrip(strip, gpu);
    const rows = gpu.slices.map(slice => {
      const job = jobs.get(slice.job);
      const name = job ? make('span', {}, makeButton(`Job ${job.id}`, () => this.openJob(job.id), 'link'), ...jobName(job)) : '-';
      return [make('span', {}, sliceWords(slice), make('small', {}, short(slice.uuid || 'no UUID yet'))), name, timeElement(slice.expected_end_s)];
    });
    return [strip, table(['Slice', 'Job', 'Expected end'], rows)];
  }

  historyParts({changes, next}) {
    const rows = changes.map(change => [
      pastElement(change.opened_s), `${change.from} → ${change.to}`,
      change.outcome || `under way${change.step ? ': ' + change.step : ''}`,
      change.closed_s === null ? '-' : `${(change.closed_s - change.opened_s).toFixed(1)} s`]);
    const parts = [make('h3', {textContent: 'Layout history'})];
    parts.push(rows.length ? table(['When', 'Layout', 'Outcome', 'Took'], rows) : make('p', {textContent: 'It was never changed.'}));
    if (next) parts.push(makeButton('Older changes', () => { this.history = Math.min(1000, this.history * 3); this.ask(); }));
    return parts;
  }

  gpuActions(gpu) {
    if (!may('operate')) return [];
    const path = `gpus/${encodeURIComponent(gpu.uuid)}/`;
    const buttons = [];
    if (gpu.state === 'up') buttons.push(this.button('Cordon', path + 'cordon'));
    if (gpu.state === 'up' || gpu.state === 'cordoned') buttons.push(this.askedButton('Drain', path + 'drain'));
    if (gpu.state !== 'up' && gpu.state !== 'lost') buttons.push(this.button('Uncordon', path + 'uncordon'));
    if (gpu.slices.some(slice => slice.state === 'foreign')) buttons.push(this.askedButton('Adopt', path + 'adopt'));
    if (gpu.held) buttons.push(this.button('Unhold', path + 'unhold'));
    else if (gpu.state === 'up') buttons.push(this.askedButton('Hold layout', 'apply', {layouts: {[gpu.uuid]: gpu.target}, hold: true}));
    return buttons;
  }

  async do(doing) {
    if (!await act(doing)) return;
    this.shown.actions = null;
    this.changed();
    this.ask();
  }
  button(text, path) { return makeButton(text, () => this.do(() => post(path))); }

  // Says first what it would do, and does it when told again.
  askedButton(text, path, body = {}) {
    return makeButton(text + '…', () => act(async () => {
      const {lines} = await post(path, body, {dry_run: true});
      const yes = makeButton(`${text} now`, () => this.do(() => post(path, body)), 'main');
      const no = makeButton('Leave it', () => { this.shown.actions = null; this.ask(); });
      this.parts.actions.replaceChildren(make('div', {className: 'ask'}, list(lines), yes, no));
      yes.focus();
      return {};
    }));
  }

  // ---- a job

  async refreshJob(what) {
    const job = await get('jobs/' + what.id);
    const over = ['done', 'failed', 'cancelled'].includes(job.state);
    // A job that is over is no longer in anybody's mind.
    const why = over ? [] : (await get('explain/job/' + what.id).catch(() => ({lines: []}))).lines;
    if (this.what !== what) return;
    this.put('facts', job, () => [facts(this.jobRows(job))]);
    this.put('why', [job.note, why], () => {
      const lines = why.length ? why : [job.note].filter(Boolean);
      return lines.length ? [make('h3', {textContent: 'Why it is so'}), list(lines)] : [];
    });
    this.put('actions', mayCancel(job), () => mayCancel(job)
      ? [makeButton('Cancel this job', () => this.do(() => remove('jobs/' + job.id)))] : []);
  }

  jobRows(job) {
    const rows = [['State', job.state], ['Profile', job.profile], ['Owner', job.owner],
                  ['Work', `${duration(job.work_s)} on a whole GPU`], ['Submitted', pastElement(job.submit_s)],
                  ['Deadline', timeElement(job.deadline_s)]];
    if (job.name) rows.unshift(['Name', job.name]);
    if (job.start_s !== null) rows.push(['Started', pastElement(job.start_s)]);
    if (job.start_s === null) rows.push(['Expected start', timeElement(job.expected_start_s)]);
    rows.push(job.end_s === null ? ['Expected end', timeElement(job.expected_end_s)] : ['Ended', pastElement(job.end_s)]);
    if (job.late_s !== null) rows.push(['Late', job.late_s > 0 ? duration(job.late_s) : 'no']);
    if (job.gpu) rows.push(['GPU', short(job.gpu)], ['Slice', short(job.slice ?? '-')]);
    if (job.attempts) rows.push(['Runs', `${job.attempts}${job.lost_s ? `, ${duration(job.lost_s)} of work lost` : ''}`]);
    if (job.memory_mib) rows.push(['Memory', `${count(job.memory_mib)} MiB`]);
    if (job.command.length) rows.push(['Command, not run', make('code', {textContent: job.command.join(' ')})]);
    return rows;
  }
}
