// A real report in a real browser: node --test report_test.mjs, with SMARTMIG the program and OUT a
// folder for the reports and screenshots. ctest runs it (tests/CMakeLists.txt).
import assert from 'node:assert/strict';
import fs from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {after, before, test} from 'node:test';
import {launch, open, run, sizes} from './browser.mjs';

const program = process.env.SMARTMIG;
const out = path.resolve(process.env.OUT);
const axe = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const compareReport = path.join(out, 'compare', 'report.html');
const boundReport = path.join(out, 'bound', 'report.html');
const runReport = path.join(out, 'simulate', 'report.html');
const sweepReport = path.join(out, 'sweep', 'report.html');
const reproductionReport = path.join(out, 'reproduction', 'report.html');
let browser;

before(async () => {
  fs.mkdirSync(out, {recursive: true});
  const curve = path.join(out, 'curve.csv');
  fs.writeFileSync(curve, 'iteration,steps,episodes,mean_et\n1,100,0,\n2,200,4,1.9\n3,300,4,1.4\n');
  run(program, 'compare', '--days', '3', '--policy', 'static:7,4-3*4,3-2-2*3/cedf', '--policy', 'greedy', '--policy',
      'count/cedf', '--learning-curve', curve, '--out', path.dirname(compareReport));
  run(program, 'compare', '--workload', 'paper-fixed', '--count', '30', '--days', '2', '--fleet', '2xA100-40GB', '--bound',
      '--policy', 'none/edf', '--policy', 'count/cedf', '--out', path.dirname(boundReport));
  const printed = run(program, 'simulate', '--costs', 'real', '--preemption', 'checkpoint', '--json', '--out', path.dirname(runReport));
  fs.writeFileSync(path.join(out, 'simulate.json'), printed);
  run(program, 'compare', '--sweep', 'gpus=1..4', '--sweep', 'rate=2,4', '--days', '2', '--policy', 'none/edf', '--policy',
      'count/cedf', '--target', 'late_pct=10', '--out', path.dirname(sweepReport));
  run(program, 'reproduce', 'fig2', 'fig4', 'one-gpu', '--quick', '--out', path.dirname(reproductionReport));
  browser = await launch();
});
after(() => browser?.close());

const clean = problems => assert.deepEqual(problems, []);

for (const [name, file] of [
       ['compare', compareReport], ['simulate', runReport], ['sweep', sweepReport], ['reproduction', reproductionReport]]) {
  for (const [size, viewport] of Object.entries(sizes)) {
    for (const colorScheme of ['light', 'dark']) {
      test(`${name}, ${size}, ${colorScheme}: opens cleanly, fits the screen and passes axe`, async () => {
        const {page, problems, close} = await open(browser, file, {viewport, colorScheme});
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(overflow <= 0, `${overflow} px wider than the screen`);
        const ids = await page.$$eval('[id]', elements => elements.map(element => element.id));
        assert.equal(new Set(ids).size, ids.length, 'an id stands twice');
        await page.evaluate(axe);
        const {violations} = await page.evaluate(() => axe.run());
        const serious = violations.filter(v => ['serious', 'critical'].includes(v.impact));
        assert.deepEqual(serious.map(v => `${v.id}: ${v.nodes[0].html.slice(0, 200)}`), []);
        await page.waitForTimeout(100);  // For the canvas's frame.
        await page.screenshot({path: path.join(out, `${name}-${size}-${colorScheme}.png`), fullPage: true});
        clean(problems);
        await close();
      });
    }
  }
}

test('the button switches to dark and back', async () => {
  const {page, problems, close} = await open(browser, compareReport, {colorScheme: 'light'});
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.getByRole('button', {name: 'Switch to dark'}).click();
  assert.notEqual(await ground(), light);
  await page.getByRole('button', {name: 'Switch to light'}).click();
  assert.equal(await ground(), light);
  clean(problems);
  await close();
});

test('tables sort up and down', async () => {
  const {page, problems, close} = await open(browser, compareReport);
  const column = () => page.$$eval('#table-comparison tbody tr', rows => rows.map(row => Number(row.cells[1].dataset.value)));
  const first = await column();
  const sorted = [...first].sort((a, b) => a - b);
  assert.notDeepEqual(first, sorted);
  await page.locator('#table-comparison thead button').nth(1).click();
  assert.deepEqual(await column(), sorted);
  assert.equal(await page.locator('#table-comparison thead th').nth(1).getAttribute('aria-sort'), 'ascending');
  await page.locator('#table-comparison thead button').nth(1).click();
  assert.deepEqual(await column(), sorted.reverse());
  clean(problems);
  await close();
});

const span = figure => figure.evaluate(f => Number(f.dataset.to) - Number(f.dataset.from));

test('the timeline zooms from the run to a minute, by buttons, keys, wheel and hand', async () => {
  const {page, problems, close} = await open(browser, compareReport);
  const figure = page.locator('figure.timeline:visible');
  const canvas = figure.locator('canvas');
  const whole = await span(figure);
  assert.ok(whole > 20 * 3600, `a day, found ${whole} s`);
  await figure.getByRole('button', {name: 'Show minute'}).click();
  assert.ok(Math.abs(await span(figure) - 60) < .1);
  await figure.getByRole('button', {name: 'Zoom in'}).click();
  assert.ok(Math.abs(await span(figure) - 60) < .1, 'no further than a minute');
  await figure.getByRole('button', {name: 'Show the whole run'}).click();
  assert.equal(await span(figure), whole);
  await canvas.focus();
  await page.keyboard.press('+');
  assert.ok(Math.abs(await span(figure) - whole / 2) < 1);
  await canvas.hover({position: {x: 300, y: 100}});
  await page.mouse.wheel(0, -240);
  await page.waitForFunction(limit => {
    const f = document.querySelector('figure.timeline:not([hidden])');
    return f.dataset.to - f.dataset.from < limit;
  }, whole / 2 - 60);
  const from = () => figure.evaluate(f => Number(f.dataset.from));
  const start = await from();
  await page.mouse.down();
  await page.mouse.move(200, 400, {steps: 4});
  await page.mouse.up();
  assert.notEqual(await from(), start, 'dragging moves it');
  clean(problems);
  await close();
});

// Looks along a line through the picture for a tooltip that fits.
async function findTip(page, canvas, pattern, y) {
  const box = await canvas.boundingBox();
  for (let x = 80; x < box.width - 10; x += 13) {
    await canvas.hover({position: {x, y}});
    const text = await page.locator('.tip:visible').textContent({timeout: 1000}).catch(() => '');
    const found = pattern.exec(text);
    if (found) return found;
  }
  return null;
}

test('a tooltip names the job, and says of it what jobs.csv says', async () => {
  const {page, problems, close} = await open(browser, runReport);
  const figure = page.locator('figure.timeline');
  await figure.getByRole('button', {name: 'Show hour'}).click();
  const found = await findTip(page, figure.locator('canvas'), /^Job (\S+), (\S+)\nGPU (\d+), (\S+)\n[^]*done (\d\d):(\d\d):(\d\d)/, 30);
  assert.ok(found, 'no tooltip names a job');
  const [, id, , , , hours, minutes, seconds] = found;
  const rows = fs.readFileSync(path.join(out, 'simulate', 'jobs.csv'), 'utf8').trim().split('\n').map(line => line.split(','));
  const row = rows.find(fields => fields[0] === id);
  assert.ok(row, `job ${id} is in jobs.csv`);
  const finish = Number(row[rows[0].indexOf('finish_time')]);
  assert.ok(Math.abs(finish % 86400 - (hours * 3600 + minutes * 60 + Number(seconds))) <= 1.01);
  clean(problems);
  await close();
});

test('a tap on a phone names the job', async () => {
  const {page, problems, close} = await open(browser, runReport, {viewport: sizes.phone, hasTouch: true, isMobile: true});
  const figure = page.locator('figure.timeline');
  await figure.getByRole('button', {name: 'Show 10 min'}).tap();
  const canvas = figure.locator('canvas');
  const box = await canvas.boundingBox();
  let text = '';
  for (let x = 60; x < box.width - 10 && !text.startsWith('Job '); x += 30) {
    await canvas.tap({position: {x, y: 30}});
    text = await page.locator('.tip').textContent();
  }
  assert.match(text, /^Job /);
  assert.ok(await page.locator('.tip').isVisible());
  clean(problems);
  await close();
});

test('each policy has its timeline', async () => {
  const {page, problems, close} = await open(browser, compareReport);
  const select = page.getByLabel('Timeline of', {exact: true});
  for (const label of await select.locator('option').allTextContents()) {
    await select.selectOption({label});
    const figure = page.locator('figure.timeline:visible');
    await page.waitForFunction(() => document.querySelector('figure.timeline:not([hidden])').dataset.ready);
    assert.equal(await figure.getAttribute('data-label'), label);
  }
  clean(problems);
  await close();
});

const kwh = 1 / 3.6e6;
const near = (found, expected, what) =>
  assert.ok(Math.abs(found - expected) <= 1e-12 * Math.abs(expected), `${what}: ${found} in the page, ${expected} in the JSON`);
// What is printed is the number to four digits, or to the last before the point; changes have one behind it.
function shown(text, expected, what) {
  const change = /(vs_first|bound)_pct$/.test(what);
  const rounded = change ? expected.toFixed(1) : Math.abs(expected) >= 1e4 ? expected.toFixed(0) : expected.toPrecision(4);
  assert.equal(Number(text.replaceAll(',', '')), Number(rounded), what);
}

for (const [name, file] of [['compare', compareReport], ['compare with bounds', boundReport]]) {
  test(`${name}: the numbers in the page are those of compare.json`, async () => {
    const {page, problems, close} = await open(browser, file);
    const json = JSON.parse(fs.readFileSync(path.join(path.dirname(file), 'compare.json'), 'utf8'));
    assert.deepEqual(JSON.parse(await page.locator('#result').textContent()), json);
    const columns = [
      ['et', r => r.et], ['energy_kwh', r => r.energy_j, kwh], ['energy_mwmin', r => r.energy_wmin, 1e-6],
      ['tardiness_min', r => r.avg_tardiness_s, 1 / 60], ['late_pct', r => r.late_pct], ['et_vs_first_pct', r => r.vs_first.et_pct]];
    if (json[0].bound) {
      columns.push(['et_above_bound_pct', r => r.bound.et_above_pct]);
      columns.push(['tardiness_above_bound_pct', r => r.bound.tardiness_above_pct]);
    }
    const rows = await page.$$eval('#table-comparison tbody tr', list => list.map(row => [...row.cells].map(cell =>
        ({text: cell.firstChild.textContent.trim(), name: cell.textContent, ...cell.dataset}))));
    const keys = await page.$$eval('#table-comparison thead th', heads => heads.map(head => head.dataset.key));
    assert.equal(keys.length, columns.length + 1);
    assert.equal(rows.length, json.length);
    rows.forEach((row, p) => {
      assert.equal(row[0].name, json[p].policy);
      columns.forEach(([key, of, scale = 1]) => {
        const cell = row[keys.indexOf(key)], value = of(json[p]), what = `${json[p].policy}, ${key}`;
        if (key === 'et_vs_first_pct' && p === 0) return assert.equal(cell.text, '-');
        if (value.mean === null) return assert.equal(cell.text, '-');
        near(Number(cell.value), value.mean * scale, what);
        near(Number(cell.low95), value.low95 * scale, what);
        near(Number(cell.high95), value.high95 * scale, what);
        shown(cell.text, value.mean * scale, what);
      });
    });
    clean(problems);
    await close();
  });
}

test('simulate: the numbers in the page are those of --json', async () => {
  const {page, problems, close} = await open(browser, runReport);
  const json = JSON.parse(fs.readFileSync(path.join(out, 'simulate.json'), 'utf8'));
  delete json.wall_s;
  assert.deepEqual(JSON.parse(await page.locator('#result').textContent()), json);
  const cells = Object.fromEntries(await page.$$eval('#table-run tbody tr', rows =>
      rows.map(row => [row.cells[0].textContent, [Number(row.cells[1].dataset.value), row.cells[1].textContent]])));
  for (const [what, expected] of [
    ['ET', json.et], ['energy, kWh', json.energy_j * kwh], ['energy, M W·min', json.energy_wmin / 1e6],
    ['energy a job, kJ', json.energy_per_job_j / 1e3], ['mean tardiness, min', json.avg_tardiness_s / 60],
    ['tardiness that 1 % exceed, min', json.p99_tardiness_s / 60], ['late jobs, %', json.late_pct], ['jobs', json.jobs],
    ['repartitions', json.repartitions], ['preemptions', json.preemptions], ['power, mean W', json.mean_power_w]]) {
    near(cells[what][0], expected, what);
    shown(cells[what][1], expected, what);
  }
  clean(problems);
  await close();
});

async function download(page, button) {
  const [file] = await Promise.all([page.waitForEvent('download'), button.click()]);
  return {name: file.suggestedFilename(), text: fs.readFileSync(await file.path(), 'utf8')};
}

test('every table is saved as CSV', async () => {
  const {page, problems, close} = await open(browser, compareReport);
  for (const button of await page.getByRole('button', {name: /^Save .* as CSV$/}).all()) {
    const {name, text} = await download(page, button);
    const lines = text.trim().split('\n');
    assert.match(name, /\.csv$/);
    const perPolicy = ['comparison.csv', 'details.csv'].includes(name);
    if (perPolicy) assert.equal(lines.length, 1 + 3, `${name}: a header and a row a policy`);
    assert.ok(lines.length > 1, `${name}: a header and rows`);
    if (name !== 'comparison.csv') continue;
    assert.match(lines[0], /^policy,et,et_low95,et_high95,/);
    const json = JSON.parse(await page.locator('#result').textContent());
    const fields = lines[3].split(',');
    assert.equal(fields[0], json[2].policy);
    assert.deepEqual(fields.slice(1, 4).map(Number), [json[2].et.mean, json[2].et.low95, json[2].et.high95]);
  }
  clean(problems);
  await close();
});

test('every picture is saved as SVG', async () => {
  // Chromium lets a page begin ten downloads in a row and drops the next: a new page after five.
  const inRow = 5;
  for (let first = 0, count = 1; first < count; first += inRow) {
    const {page, problems, close} = await open(browser, compareReport);
    const buttons = await page.getByRole('button', {name: /^Save .* as SVG$/}).all();
    count = await page.locator('figure.chart:visible, figure.timeline:visible').count();
    assert.equal(buttons.length, count);
    for (const button of buttons.slice(first, first + inRow)) {
      const {name, text} = await download(page, button);
      const bad = await page.evaluate(svg => new DOMParser().parseFromString(svg, 'image/svg+xml').querySelector('parsererror')?.textContent, text);
      assert.equal(bad, undefined, name);
      assert.doesNotMatch(text, /NaN|undefined/);
    }
    clean(problems);
    await close();
  }
});

test('without JavaScript the tables and pictures are there', async () => {
  const {page, problems, close} = await open(browser, compareReport, {javaScriptEnabled: false});
  assert.ok(await page.locator('#table-comparison').isVisible());
  const stills = page.locator('figure.timeline .still svg');
  assert.equal(await stills.count(), 3);
  for (const still of await stills.all()) assert.ok((await still.boundingBox()).height > 300);
  assert.ok(await page.locator('figure.chart .wide svg').first().isVisible());
  assert.equal(await page.getByRole('button').count(), 0, 'no button that does nothing');
  await page.screenshot({path: path.join(out, 'compare-without-script.png'), fullPage: true});
  clean(problems);
  await close();
});

test('the numbers of a sweep and of a reproduction are those of their JSON', async () => {
  const values = (page, table, column) =>
      page.$$eval(`#table-${table} tbody tr`, (rows, at) => rows.map(row => Number(row.cells[at].dataset.value)), column);
  const json = file => JSON.parse(fs.readFileSync(file, 'utf8'));
  const sweep = json(path.join(out, 'sweep', 'sweep.json'));
  const shown = await open(browser, sweepReport);
  assert.deepEqual(await values(shown.page, 'sweep', 1), sweep.map(point => point.point.gpus));
  assert.deepEqual(await values(shown.page, 'sweep', 3), sweep.map(point => point.et.mean));
  assert.deepEqual(await values(shown.page, 'sweep', 6), sweep.map(point => point.late_pct_with_unfit));
  clean(shown.problems);
  await shown.close();
  const rows = json(path.join(out, 'reproduction', 'reproduction.json')).filter(row => row.item === 'fig4');
  const beside = await open(browser, reproductionReport);
  assert.deepEqual(await values(beside.page, 'fig4', 2), rows.map(row => row.theirs));
  assert.deepEqual(await values(beside.page, 'fig4', 3), rows.map(row => row.ours));
  clean(beside.problems);
  await beside.close();
});
