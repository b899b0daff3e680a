// What all parts of the dashboard use: elements, words for numbers and times, the clock of the fleet, who looks at it, and the
// line that says how an action went.

import {count, counted, duration, energy, watts} from './dashboard_units.js';
export {count, counted, duration, energy, watts};

export const byId = id => document.getElementById(id);

// Text goes in as text: names of jobs and lines of drivers are never markup.
export function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
}

// What stands after a job's number. The name is isolated: characters in it that turn the direction of text end with it.
export const jobName = job => (job.name ? [' ', make('bdi', {textContent: job.name})] : []);

export function makeButton(text, act, className = '') {
  return make('button', {type: 'button', textContent: text, onclick: act, className});
}

// ---- the clock of the fleet, which may run faster than ours

let clock = {at: 0, taken: 0, speed: 1};
export function setClock(at, speed) { clock = {at, taken: performance.now(), speed}; }
export const fleetNow = () => clock.at + (performance.now() - clock.taken) / 1000 * clock.speed;

// What was used until now: power stays as it is until something happens, and then the sums are read again.
export const energyNow = fleet => fleet.energy_j + fleet.power_w * Math.max(0, fleetNow() - fleet.now_s);

function relative(at, isPast) {
  const ahead = at - fleetNow();
  // Our clock runs a little behind the fleet's between two looks at it.
  if (Math.abs(ahead) < .5 || (isPast && ahead > 0)) return 'now';
  return ahead > 0 ? 'in ' + duration(ahead) : duration(-ahead) + ' ago';
}

// A time on the fleet's clock as a distance from now, kept up to date by `updateTimes`.
export function timeElement(at, isPast = false) {
  if (at === null || at === undefined) return make('span', {textContent: '-'});
  const element = make('span', {className: isPast ? 'time past' : 'time', textContent: relative(at, isPast)});
  element.dataset.at = at;
  return element;
}
export const pastElement = at => timeElement(at, true);

export function updateTimes() {
  for (const element of document.querySelectorAll('.time')) {
    const text = relative(Number(element.dataset.at), element.classList.contains('past'));
    if (element.textContent !== text) element.textContent = text;
  }
}

// ---- who looks at it

const ranks = {read: 1, submit: 2, operate: 3};
let viewer = {name: '', role: 'read', tokens: false};
export const whoIs = () => viewer;
export const may = role => ranks[viewer.role] >= ranks[role];
export function setViewer(session) {
  viewer = session;
  for (const element of document.querySelectorAll('[data-needs]')) element.hidden = !may(element.dataset.needs);
}

// ---- how an action went

let saidTimer = 0;
export function say(text, bad = false) {
  const line = byId('said');
  line.textContent = text;
  line.classList.toggle('bad', bad);
  clearTimeout(saidTimer);
  // What went wrong stays until the next thing is done.
  if (!bad && text) saidTimer = setTimeout(() => { line.textContent = ''; }, 8000);
}

// ---- light and dark

const darkWanted = matchMedia('(prefers-color-scheme: dark)');
const isDark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : darkWanted.matches;
};

export function addThemeButton() {
  const kept = localStorage.getItem('smartmig-theme');
  if (kept === 'dark' || kept === 'light') document.documentElement.dataset.theme = kept;
  const button = makeButton('', () => {
    document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
    localStorage.setItem('smartmig-theme', document.documentElement.dataset.theme);
    show();
  }, 'theme');
  const show = () => {
    button.textContent = isDark() ? 'Light' : 'Dark';
    button.setAttribute('aria-label', isDark() ? 'Switch to light' : 'Switch to dark');
  };
  darkWanted.addEventListener('change', show);
  document.querySelector('header').append(button);
  show();
}
