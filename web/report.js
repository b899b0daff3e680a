// What a report can do beyond being read: tables sort and save as CSV, pictures save as SVG, and
// the look can be switched. Everything is in the page already; nothing is fetched.
'use strict';

function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

function save(name, type, text) {
  const link = make('a', {download: name, href: URL.createObjectURL(new Blob([text], {type}))});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function toolbar(figure) {
  let bar = figure.querySelector(':scope > .toolbar');
  if (!bar) {
    bar = make('div', {className: 'toolbar'});
    figure.classList.add('tools');
    figure.append(bar);
  }
  return bar;
}

function addButton(figure, text, label, act) {
  const button = make('button', {type: 'button', textContent: text, onclick: act});
  button.setAttribute('aria-label', label);
  toolbar(figure).append(button);
}

// ---- light and dark

const darkWanted = matchMedia('(prefers-color-scheme: dark)');

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : darkWanted.matches;
}

function addThemeButton() {
  const button = make('button', {type: 'button', className: 'theme'});
  const show = () => {
    button.textContent = isDark() ? 'Light' : 'Dark';
    button.setAttribute('aria-label', isDark() ? 'Switch to light' : 'Switch to dark');
    document.dispatchEvent(new Event('themechange'));
  };
  button.onclick = () => {
    document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
    show();
  };
  darkWanted.addEventListener('change', show);
  document.querySelector('header').append(button);
  show();
}

// ---- tables

function cellValue(row, column) {
  const cell = row.cells[column];
  return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
}

// Cells without a number ("-") stay at the end in either direction.
function compareCells(a, b, direction) {
  const numbers = (typeof a === 'number') - (typeof b === 'number');
  if (numbers) return -numbers;
  if (typeof a === 'number') return direction * (a - b);
  return direction * a.localeCompare(b, 'en', {numeric: true});
}

function sortTable(table, column) {
  const heads = [...table.tHead.rows[0].cells];
  const ascending = heads[column].getAttribute('aria-sort') !== 'ascending';
  heads.forEach(head => head.removeAttribute('aria-sort'));
  heads[column].setAttribute('aria-sort', ascending ? 'ascending' : 'descending');
  const rows = [...table.tBodies[0].rows];
  rows.sort((a, b) => compareCells(cellValue(a, column), cellValue(b, column), ascending ? 1 : -1));
  table.tBodies[0].append(...rows);
}

function csvField(text) {
  return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}

// Numbers to their last digit, and the ends of intervals in columns of their own.
function tableCsv(table) {
  const rows = [...table.tBodies[0].rows];
  const columns = [...table.tHead.rows[0].cells].flatMap((head, at) => {
    const key = head.dataset.key ?? head.textContent;
    const own = {key, of: row => row.cells[at].dataset.value ?? row.cells[at].textContent};
    if (!rows.some(row => row.cells[at].dataset.low95)) return [own];
    return [own, {key: key + '_low95', of: row => row.cells[at].dataset.low95 ?? ''},
            {key: key + '_high95', of: row => row.cells[at].dataset.high95 ?? ''}];
  });
  const lines = [columns.map(column => column.key), ...rows.map(row => columns.map(c => c.of(row)))];
  return lines.map(line => line.map(csvField).join(',') + '\n').join('');
}

function addTableTools(figure) {
  const table = figure.querySelector('table');
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = make('button', {type: 'button', textContent: head.textContent});
    button.onclick = () => sortTable(table, column);
    // The CSV's name for the column must not depend on what is in the header now.
    head.dataset.key ??= head.textContent;
    head.replaceChildren(button);
  });
  const name = figure.dataset.name;
  addButton(figure, 'CSV', `Save ${name} as CSV`,
            () => save(name + '.csv', 'text/csv', tableCsv(table)));
}

// ---- pictures

// A picture with the colours of the moment, so that it shows outside the page as it does in it.
function standalone(svg) {
  const style = getComputedStyle(document.documentElement);
  const names = new Set(document.getElementById('picture-style').textContent.match(/--[\w-]+/g));
  const colours = [...names].map(name => `${name}:${style.getPropertyValue(name).trim()}`).join(';');
  const copy = svg.cloneNode(true);
  const text = `svg{${colours}}` + document.getElementById('picture-style').textContent;
  const [x, y, width, height] = copy.getAttribute('viewBox').split(' ').map(Number);
  const ground = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  for (const [key, value] of Object.entries({x: x - 12, y: y - 12, width: width + 24, height: height + 24}))
    ground.setAttribute(key, value);
  ground.setAttribute('style', 'fill:var(--card)');
  copy.setAttribute('viewBox', `${x - 12} ${y - 12} ${width + 24} ${height + 24}`);
  copy.setAttribute('width', width + 24);
  copy.setAttribute('height', height + 24);
  const element = document.createElementNS('http://www.w3.org/2000/svg', 'style');
  element.textContent = text;
  copy.prepend(element, ground);
  return new XMLSerializer().serializeToString(copy);
}

function addPictureTools(figure) {
  const name = figure.dataset.name;
  addButton(figure, 'SVG', `Save ${name} as SVG`, () => {
    const shown = [...figure.querySelectorAll('svg')].find(svg => svg.getClientRects().length);
    save(name + '.svg', 'image/svg+xml', standalone(shown));
  });
}

addThemeButton();
document.querySelectorAll('figure.table').forEach(addTableTools);
document.querySelectorAll('figure.chart').forEach(addPictureTools);
