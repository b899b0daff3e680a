// A fleet too large to show whole: GPUs by state and layout, and a map of groups to open one of.
import {count, counted, make, makeButton, watts} from './dashboard_page.js';

const states = ['up', 'cordoned', 'draining', 'fenced', 'lost', 'held'];
const mostLayouts = 8;

export const sumOf = (groups, field) => groups.reduce((sum, group) => sum + group[field], 0);
export const busyShare = group => group.memory_slices ? group.busy_memory / group.memory_slices : 0;

function stateChips(groups, choose) {
  const chips = states.map(state => [state, sumOf(groups, state)]).filter(([, gpus]) => gpus > 0);
  return make('p', {className: 'chips'}, ...chips.map(([state, gpus]) => {
    const chip = makeButton(`${count(gpus)} ${state}`, () => choose({state}), 'chip');
    chip.dataset.state = state;
    return chip;
  }));
}

function layoutBars({layouts, gpus}, choose) {
  const rows = layouts.slice(0, mostLayouts).map(({layout, gpus: number}) => {
    const bar = make('span', {className: 'bar'});
    bar.style.setProperty('--share', number / gpus);
    return make('li', {}, makeButton(layout, () => choose({layout}), 'link'), bar,
                make('span', {className: 'number', textContent: count(number)}));
  });
  const left = layouts.slice(mostLayouts);
  const rest = left.length ? [make('li', {className: 'found', textContent: `and ${counted(left.length, 'layout')} more`})] : [];
  return make('div', {}, make('h3', {textContent: 'GPUs by layout'}), make('ul', {className: 'bars'}, ...rows, ...rest));
}

const troubled = group => group.fenced + group.lost;

function cellWords(group) {
  const marks = ['fenced', 'lost', 'cordoned', 'draining', 'held', 'changing'].filter(field => group[field]);
  return marks.map(field => `${count(group[field])} ${field}`).join(', ');
}

function cell(group, opened, open) {
  const last = group.first + group.gpus - 1;
  const busy = Math.round(100 * busyShare(group));
  const words = [`GPUs ${group.first} to ${last}`, `${busy} % busy`, watts(group.power_w), cellWords(group)].filter(Boolean).join(', ');
  const button = make('button', {type: 'button', className: 'cell', title: words, onclick: () => open(group)},
                      make('i', {className: 'heard', textContent: words}),
                      make('span', {textContent: `${group.first}–${last}`, ariaHidden: 'true'}),
                      make('b', {textContent: `${busy} %`, ariaHidden: 'true'}));
  button.style.setProperty('--busy', `${busy}%`);
  button.classList.toggle('troubled', troubled(group) > 0);
  button.classList.toggle('marked', troubled(group) === 0 && group.cordoned + group.draining > 0);
  button.setAttribute('aria-pressed', String(group.first === opened));
  button.dataset.first = group.first;
  return button;
}

// `opened`: index of the first GPU of the group that is shown below, or null.
export function showGroups(place, answer, opened, {choose, open}) {
  const nameOf = button => button.dataset.first ?? button.textContent;
  const focused = place.contains(document.activeElement) ? nameOf(document.activeElement) : null;
  place.replaceChildren(
    stateChips(answer.groups, choose),
    make('div', {className: 'summary-row'},
         make('div', {}, make('h3', {textContent: 'Groups, by how much of them is busy'}),
              make('div', {className: 'heat'}, ...answer.groups.map(group => cell(group, opened, open)))),
         layoutBars(answer, choose)));
  // Drawn anew, the one under the keyboard is still the one.
  if (focused !== null) [...place.querySelectorAll('button')].find(button => nameOf(button) === focused)?.focus({preventScroll: true});
}
