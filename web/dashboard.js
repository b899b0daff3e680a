// The dashboard of the live controller: what is read when. Each part draws itself (dashboard_*.js).
//
// Everything is read once; then the stream of events says what changed, and only that is read again, a large fleet less often
// than a small one. A page that nobody sees reads nothing, and everything when it is seen again.
import {get, session} from './dashboard_api.js';
import {Decisions} from './dashboard_decisions.js';
import {Details} from './dashboard_details.js';
import {Jobs} from './dashboard_jobs.js';
import {Live, refresher} from './dashboard_live.js';
import {FleetMap, groupSize} from './dashboard_map.js';
import {Overview} from './dashboard_overview.js';
import {addThemeButton, say, setClock, setViewer, updateTimes} from './dashboard_page.js';
import {Power} from './dashboard_power.js';
import {setUpSignIn, showSignIn} from './dashboard_sign_in.js';
import {setUpSubmit} from './dashboard_submit.js';

const longQueue = 1000;
const quietMs = 10000;  // Sums are read that often where nothing happens, for the clock and the energy.

// All together these stay well under the 100 requests a second that a client has who is not on the same machine.
let sums = {queued: 0, running: 0}, gpus = 0;
const busy = () => gpus > groupSize || sums.queued > longQueue;
const pause = (small, large) => () => busy() ? large : small;
const failed = problem => { if (problem.status !== 401 && problem.status !== 0) say(problem.message, true); };

const ask = {
  sums: refresher(readSums, pause(500, 2000), failed),
  groups: refresher(readGroups, pause(500, 5000), failed),
  map: refresher(() => map.refresh(), pause(250, 1000), failed),
  jobs: refresher(() => jobs.refresh(), pause(500, 5000), failed),
  decisions: refresher(() => decisions.refresh(), pause(500, 2000), failed),
  details: refresher(() => details.refresh(), pause(500, 1000), failed),
};
const askAll = () => Object.values(ask).forEach(each => each());

const details = new Details(ask.details, askAll);
const map = new FleetMap(gpu => details.openGpu(gpu), ask.map);
const jobs = new Jobs(id => details.openJob(id), ask.jobs, askAll);
const decisions = new Decisions();
const power = new Power(ask.sums);
const overview = new Overview(askAll);
const live = new Live({
  event: hear,
  anew,
  connected: yes => overview.setConnected(yes),
  refused: () => session.show().catch(failed),  // Where the session is over, this shows the form.
});

async function readSums() {
  sums = await get('fleet', {gpus: false});
  setClock(sums.now_s, sums.speed);
  overview.show(sums);
  jobs.showTabs(sums);
  power.show(sums);
}

async function readGroups() {
  const answer = await get('fleet/groups', {size: groupSize});
  const first = gpus === 0;
  gpus = answer.gpus;
  overview.showGroups(answer);
  map.showSummary(answer);
  if (first) ask.map();
}

function hear(kind, event) {
  if (kind === 'gpu') {
    if (map.hearGpu(event)) ask.map();
    if (details.isAbout('gpu', event.id)) ask.details();
  }
  if (kind === 'job') {
    jobs.hear(event);
    ask.jobs();
    if (event.gpu && map.touch(event.gpu)) ask.map();
    if (details.isAbout('job', event.id) || details.isAbout('gpu', event.gpu)) ask.details();
  }
  if (kind === 'decision') ask.decisions();
  ask.groups();
  ask.sums();
}

function anew() {
  map.stale = true;
  ask.sums();
  ask.groups();
  ask.map();
  ask.jobs();
  ask.decisions();
  ask.details();
}

function enter(who) {
  setViewer(who);
  showSignIn(false);
  live.open();
}

function leave() {
  live.close();
  details.close();
  overview.forget();
  power.clear();
  decisions.clear();
  gpus = 0;
  showSignIn(true);
}

addThemeButton();
setUpSignIn(enter);
setUpSubmit(askAll);
document.addEventListener('signedout', leave);
document.addEventListener('visibilitychange', () => { if (!document.hidden) anew(); });
setInterval(() => {
  updateTimes();
  overview.tick();
  if (overview.connected) power.tick();
}, 1000);
setInterval(ask.sums, quietMs);
// 401 shows the form by itself.
session.show().then(enter, failed);
