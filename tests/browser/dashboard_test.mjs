// The dashboard of a live controller in a real browser: node --test dashboard_test.mjs, with SMARTMIG the program and OUT a
// folder for screenshots. Each test has a controller and a simulated fleet of its own. ctest runs it (tests/CMakeLists.txt).
import assert from 'node:assert/strict';
import fs from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {after, before, describe, it} from 'node:test';
import {launch, sizes} from './browser.mjs';
import {Controller, openDashboard} from './controller.mjs';

const program = process.env.SMARTMIG;
const out = path.resolve(process.env.OUT);
const axe = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
let browser;

before(async () => {
  fs.mkdirSync(out, {recursive: true});
  browser = await launch();
});
after(() => browser?.close());

// They wait more than they compute, so they run two at a time.
const scenes = [];
const test = (name, body) => scenes.push([name, body]);

const clean = problems => assert.deepEqual(problems, []);
const shot = (page, name, fullPage = true) => page.screenshot({path: path.join(out, `dashboard-${name}.png`), fullPage});
const card = (page, gpu) => page.locator(`.gpu[data-gpu="${gpu}"]`);

// What a scene waits for is a policy that cuts slices for its first jobs: `smartmig` begins with whole GPUs.
async function withController(options, body) {
  const policy = options.includes('--policy') ? [] : ['--policy', 'prices'];
  const controller = await Controller.start(program, ...policy, ...options);
  try {
    await body(controller);
  } finally {
    await controller.stop();
  }
}

// Fits the screen, names nothing twice, and axe finds nothing serious in that part of it.
async function check(page, part = 'body') {
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, `${overflow} px wider than the screen`);
  const ids = await page.$$eval('[id]', elements => elements.map(element => element.id));
  assert.equal(new Set(ids).size, ids.length, 'an id stands twice');
  // By the protocol and not by a script element, which the server's policy would refuse.
  await page.evaluate(axe);
  const {violations} = await page.evaluate(selector => axe.run(selector), part);
  const serious = violations.filter(violation => ['serious', 'critical'].includes(violation.impact));
  assert.deepEqual(serious.map(violation => `${violation.id}: ${violation.nodes[0].html.slice(0, 200)}`), []);
}

async function submit(page, fields) {
  if (!await page.locator('#submit').isVisible()) await page.getByText('Submit a job', {exact: true}).click();
  for (const [name, value] of Object.entries(fields)) await page.locator(`#submit [name="${name}"]`).fill(String(value));
  await page.locator('#submit').getByRole('button', {name: 'Submit'}).click();
}

// What the map shows while it changes: every look of a card, by its class and its words.
const watchCards = page => page.evaluate(() => {
  window.seen = [];
  const note = () => {
    for (const gpu of document.querySelectorAll('.gpu'))
      window.seen.push(`${gpu.querySelector('.layout').textContent} ${[...gpu.querySelectorAll('.slice')].map(slice => slice.className).join()}`);
  };
  new MutationObserver(note).observe(document.getElementById('map'), {subtree: true, childList: true, characterData: true, attributes: true});
});

// Half as fast as real boards: each step takes longer than the page needs to see it, also on a busy machine. A job with time
// to spare would wait for the first one's GPU, which draws power already.
test('jobs from the form are cut slices for, and the map shows it as it happens', () => withController(['--speed', '0.5'], async ({url}) => {
  const {page, problems, asked, close} = await openDashboard(browser, url);
  await page.waitForFunction(() => document.querySelectorAll('.gpu').length === 8 && [...document.querySelectorAll('.gpu .layout')].every(each => each.textContent === '7'));
  assert.equal(await page.locator('#sign-in').isVisible(), false, 'no token is asked for on loopback');
  await watchCards(page);
  await submit(page, {profile: 'resnet50-inference', work_s: 120, deadline_s: 400, name: '<img src=x onerror=alert(1)>'});
  await page.getByText('Job 1 is taken.').waitFor();
  await submit(page, {profile: 'bert-training', work_s: 300, deadline_s: 500, name: 'nightly'});
  await page.getByText('Job 2 is taken.').waitFor();
  await page.locator('#map .slice.inference').waitFor();
  await page.locator('#map .slice.training').waitFor();
  const seen = await page.evaluate(() => window.seen);
  assert.ok(seen.some(look => /^\S+ → \S/.test(look)), 'a change under way is shown with its target');
  assert.ok(seen.some(look => look.includes('moving')), 'a slice is shown while it is made or removed');
  await page.getByRole('button', {name: /^Running 2/}).click();
  const row = page.locator('#job-list tr[data-job="1"]');
  await row.waitFor();
  assert.match(await row.textContent(), /<img src=x onerror=alert\(1\)>/, 'a name is text');
  assert.equal(await page.locator('#job-list img').count(), 0);
  assert.equal(await row.locator('bdi').textContent(), '<img src=x onerror=alert(1)>', 'what turns the direction of text ends with the name');
  await page.getByRole('button', {name: 'Cancel job 2'}).click();
  await page.getByText('job 2 is being cancelled').waitFor();
  await page.getByRole('button', {name: /^Finished/}).click();
  await page.locator('#job-list tr[data-job="2"]').getByText('cancelled').waitFor();
  await submit(page, {profile: 'bert-trainin'});
  await page.locator('#submit-refusal').getByText('bert-training').waitFor();
  assert.ok(!asked.includes('api/v1/fleet'), 'the whole fleet is never asked for');
  clean(problems.filter(text => !text.includes('400')));
  await close();
}));

test('a GPU is cordoned, drained after a second look, and its history read', () => withController(['--speed', '20'], async controller => {
  await controller.post('jobs', {profile: 'bert-inference', work_s: 2000, deadline_s: 9000, name: 'long'});
  const {page, problems, close} = await openDashboard(browser, controller.url);
  await page.locator('#map .slice.inference').waitFor();
  const busy = page.locator('.gpu:has(.slice.inference)');
  await busy.focus();
  await page.keyboard.press('Enter');
  const panel = page.getByRole('dialog');
  await panel.getByRole('button', {name: 'Cordon'}).click();
  await panel.getByRole('button', {name: 'Uncordon'}).waitFor();
  const said = panel.getByRole('status');
  assert.match(await said.textContent(), /gets no new jobs/, 'what was done is said where one looks');
  await page.locator('.gpu[data-state="cordoned"]').waitFor();
  await panel.getByRole('button', {name: 'Drain…'}).click();
  await panel.getByRole('button', {name: 'Drain now'}).waitFor();
  assert.equal(await page.locator('.gpu[data-state="draining"]').count(), 0, 'nothing is done before the second click');
  await panel.getByRole('button', {name: 'Drain now'}).click();
  await page.locator('.gpu[data-state="draining"]').waitFor();
  await panel.getByText('Layout history').waitFor();
  assert.match(await panel.locator('.history').textContent(), /empty → 7/);
  assert.match(await panel.locator('.facts').textContent(), /GPU-[0-9a-f-]{36}/);
  await panel.locator('.why').getByText(/GPU \d is draining/).waitFor();
  await check(page);
  await shot(page, 'details', false);
  await panel.getByRole('button', {name: 'Uncordon'}).click();
  await page.locator('.gpu[data-state="draining"]').waitFor({state: 'detached'});
  await page.keyboard.press('Escape');
  await panel.waitFor({state: 'hidden'});
  assert.match(await page.evaluate(() => document.activeElement.className), /gpu/, 'the focus is back on the map');
  clean(problems);
  await close();
}));

test('a layout is held from its panel, shown, and released', () => withController(['--speed', '20'], async controller => {
  const {page, problems, close} = await openDashboard(browser, controller.url);
  await page.waitForFunction(() => document.querySelectorAll('.gpu .slice.free').length === 8);
  await card(page, 2).click();
  const panel = page.getByRole('dialog');
  await panel.getByRole('button', {name: 'Hold layout…'}).click();
  await panel.getByText('the policy places jobs on it and does not change it').waitFor();
  assert.equal(await card(page, 2).locator('.badge').textContent(), '', 'nothing is done before the second click');
  await panel.getByRole('button', {name: 'Hold layout now'}).click();
  await panel.getByRole('button', {name: 'Unhold'}).waitFor();
  await panel.locator('.facts').getByText('by local').waitFor();
  await panel.locator('.why').getByText('local has held its layout').waitFor();
  await check(page);
  await shot(page, 'held-details', false);
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => document.querySelector('.gpu[data-gpu="2"] .badge').textContent === 'held');
  await page.locator('#tiles').getByText('1 held').waitFor();
  await shot(page, 'held');
  await page.getByLabel('State').selectOption('held');
  await page.waitForFunction(() => document.querySelectorAll('.gpu').length === 1 && document.querySelector('[data-gpu="2"]'));
  const phone = await openDashboard(browser, controller.url, {viewport: sizes.phone});
  await phone.page.locator('.gpu[data-gpu="2"] .badge').getByText('held').waitFor();
  await check(phone.page);
  await shot(phone.page, 'held-phone');
  clean(phone.problems);
  await phone.close();
  await card(page, 2).click();
  await panel.getByRole('button', {name: 'Unhold'}).click();
  await panel.getByRole('button', {name: 'Hold layout…'}).waitFor();
  assert.equal((await (await fetch(controller.url + 'api/v1/gpus/2')).json()).held, false);
  clean(problems);
  await close();
}));

test('a decision tells its reasons, and the controller is frozen and capped', () => withController(['--speed', '20'], async controller => {
  const {page, problems, close} = await openDashboard(browser, controller.url);
  await page.locator('.gpu').first().waitFor();
  await submit(page, {profile: 'resnet50-inference', work_s: 120, deadline_s: 400});
  const decision = page.locator('.decision:has-text("1 change, 1 start")');
  await decision.first().locator('summary').click();
  const reasons = decision.first().locator('.lines');
  await reasons.waitFor();
  assert.match(await reasons.textContent(), /GPU \d goes from 7 to \S+: \d steps?, .*job 1 gets \dg\.\d+gb of GPU \d: takes .* there/s);
  await page.getByRole('button', {name: 'Freeze', exact: true}).click();
  await page.getByText('Frozen: nothing is started').waitFor();
  await page.getByRole('button', {name: 'Unfreeze'}).click();
  await page.getByText('Frozen: nothing is started').waitFor({state: 'detached'});
  await page.locator('#cap input').fill('1500');
  await page.getByRole('button', {name: 'Set the cap'}).click();
  await page.locator('#tiles').getByText('cap 1500 W').waitFor();
  await page.locator('#power-chart svg .dashed').waitFor({state: 'attached'});
  clean(problems);
  await close();
}));

test('what another policy would have used is shown beside it, and what is wrong', () => withController([], async ({url}) => {
  const {page, problems, asked, context, close} = await openDashboard(browser, url);
  await page.locator('#power-chart svg').waitFor();
  await page.locator('#modelled').getByText('Beside none/edf on the same jobs').waitFor();
  await page.waitForFunction(() => document.querySelectorAll('.gpu .slice.free').length === 8);
  // On a busy machine the last changes may come late; then nothing happens, and the page asks for the sums every 10 s alone.
  let before = 0;
  for (const end = Date.now() + 60000; asked.length - before > 1 && Date.now() < end;) {
    before = asked.length;
    await page.waitForTimeout(1500);
  }
  assert.ok(asked.length - before <= 1, `nothing happens, and it asks for ${asked.slice(before)}`);
  await context.route('**/api/v1/fleet?gpus=false', async route => {
    const fleet = await (await route.fetch()).json();
    fleet.modelled = {policy: 'none/edf', energy_j: 3.6e6, own_energy_j: 2.7e6, done: 90, own_done: 100, late: 20, own_late: 5, tardiness_s: 9000, own_tardiness_s: 1200,
      last_day: {et: 1.234, own_et: 2.345, done: 90, own_done: 90, modelled_is_better: true}};
    fleet.power_w = 1000 * 250;
    fleet.power_cap_w = 64 * 250;
    fleet.trouble = 'journal.db: the disk is full';
    fleet.frozen = true;
    await route.fulfill({json: fleet});
  });
  await page.reload();
  const cells = page.locator('#modelled tbody tr');
  await cells.first().waitFor();
  assert.deepEqual(await cells.evaluateAll(rows => rows.map(row => [...row.cells].map(cell => cell.textContent))), [
    ['Energy', '750 Wh', '1 kWh', '−25.0 %'], ['Jobs done', '100', '90', ''], ['Late jobs', '5', '20', '−75.0 %'], ['Mean tardiness', '12 s', '1 min 40 s', '']]);
  assert.match(await page.locator('#modelled thead').textContent(), /none\/edf, modelled/);
  await page.getByRole('alert').getByText('no job is taken: journal.db: the disk is full').waitFor();
  await page.getByText('Over the last day the modelled policy none/edf was better than prices: ET 1.23 against 2.35.').waitFor();
  assert.match(await page.locator('#tiles').textContent(), /250 kWmodelled powercap 16 kW/, 'power of 1,000 GPUs, and of 64');
  assert.match(await page.locator('#power-caption').textContent(), /^250 kW now/);
  await page.getByRole('button', {name: 'Unfreeze'}).waitFor();
  await check(page, '#modelled');
  await shot(page, 'modelled');
  clean(problems);
  await context.unrouteAll({behavior: 'wait'});
  await context.route('**/api/v1/fleet?gpus=false', async route => {
    const fleet = await (await route.fetch()).json();
    await route.fulfill({json: {...fleet, modelled: null}});
  });
  await page.reload();
  await page.locator('#power-chart svg').waitFor();
  assert.equal(await page.locator('#modelled').isVisible(), false, 'a fleet that cannot have the other policy');
  await context.unrouteAll({behavior: 'wait'});
  await close();
}));

test('faults are told in a clear line, and foreign slices are adopted', () => withController(['--speed', '50'], async controller => {
  const {page, problems, close} = await openDashboard(browser, controller.url);
  await page.locator('.gpu').first().waitFor();
  await controller.tellFleet({op: 'inject', call: 'create', gpu: 3, times: 0, code: 'insufficient-resources'});
  await controller.post('apply', {layouts: {3: '4-3', 6: '4-2'}});
  await page.waitForFunction(() => document.querySelector('[data-gpu="3"]')?.dataset.state === 'fenced');
  await card(page, 3).locator('.trouble').getByText('insufficient').waitFor();
  await page.locator('#tiles').getByText('1 fenced').waitFor();
  await controller.tellFleet({op: 'lose', gpu: 1});
  await page.waitForFunction(() => document.querySelector('[data-gpu="1"]')?.dataset.state === 'lost');
  await page.waitForFunction(() => document.querySelector('[data-gpu="6"] .layout')?.textContent === '4-2');
  await controller.tellFleet({op: 'foreign-create', gpu: 6, slot: 6});
  await card(page, 6).locator('.slice.foreign').waitFor();
  await card(page, 6).click();
  const panel = page.getByRole('dialog');
  await panel.getByRole('button', {name: 'Adopt…'}).click();
  await panel.getByRole('button', {name: 'Adopt now'}).click();
  await card(page, 6).locator('.slice.foreign').waitFor({state: 'detached'});
  await panel.getByRole('button', {name: 'Close'}).click();
  await check(page);
  await shot(page, 'faults');
  clean(problems);
  await close();
}));

test('a controller that goes and comes back is told, and what it shows is read again', async () => {
  const controller = new Controller(program, '--speed', '10');
  await controller.begin({fleetRunsOn: true});
  try {
    const {page, problems, close} = await openDashboard(browser, controller.url);
    await page.locator('.gpu').first().waitFor();
    await controller.end();
    await page.getByText('The controller does not answer.').waitFor();
    await controller.begin();
    await controller.post('gpus/2/cordon');
    await page.getByText('The controller does not answer.').waitFor({state: 'detached', timeout: 60000});
    await page.waitForFunction(() => document.querySelector('[data-gpu="2"]')?.dataset.state === 'cordoned');
    clean(problems.filter(text => !/ERR_(CONNECTION|INCOMPLETE|EMPTY)/.test(text)));
    await close();
  } finally {
    await controller.stop();
  }
});

test('what happens while the map is read is not missed', () => withController(['--speed', '20'], async controller => {
  const {page, context, problems, close} = await openDashboard(browser, controller.url);
  await page.waitForFunction(() => document.querySelectorAll('#map .slice.free').length === 8);
  // The answer is from before the change, and comes after word of it.
  let held = false;
  await context.route('**/api/v1/fleet?limit=100', async route => {
    const response = await route.fetch();
    if (!held) {
      held = true;
      await controller.post('gpus/2/cordon');
      await page.waitForTimeout(600);
    }
    await route.fulfill({response});
  });
  await page.reload();
  await page.locator('.gpu[data-gpu="2"][data-state="cordoned"]').waitFor();
  assert.ok(held);
  clean(problems);
  await context.unrouteAll({behavior: 'wait'});
  await close();
}));

test('light, dark and on a phone: opens cleanly, fits the screen and passes axe', () => withController(['--speed', '10'], async controller => {
  const profiles = ['bert-training', 'resnet50-training', 'bert-inference', 'resnet50-inference'];
  const request = i => ({profile: profiles[i % 4], work_s: 200 + i * 15, deadline_s: 250 + i * 35, ...(i % 3 ? {} : {name: `batch ${i}`})});
  await Promise.all(Array.from({length: 36}, (_, i) => controller.post('jobs', request(i))));
  await controller.post('gpus/5/cordon');
  for (const [size, viewport] of Object.entries(sizes)) {
    for (const colorScheme of ['light', 'dark']) {
      const {page, problems, close} = await openDashboard(browser, controller.url, {viewport, colorScheme, reducedMotion: 'reduce'});
      await page.locator('#job-list tr[data-job]').first().waitFor();
      await page.locator('.gpu[data-state="cordoned"]').waitFor();
      await page.locator('.decision summary').first().click();
      await page.getByText('Submit a job', {exact: true}).click();
      await check(page);
      await shot(page, `${size}-${colorScheme}`);
      clean(problems);
      await close();
    }
  }
  const {page, close} = await openDashboard(browser, controller.url, {colorScheme: 'light'});
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.getByRole('button', {name: 'Switch to dark'}).click();
  assert.notEqual(await ground(), light);
  await page.reload();
  assert.notEqual(await ground(), light, 'the choice is kept');
  await close();
}));

test('ten thousand GPUs open in short, and one is found', () => withController(['--fleet', '10000xA100-40GB', '--policy', 'greedy', '--speed', '20'], async controller => {
  const request = i => ({profile: i % 2 ? 'bert-training' : 'resnet50-inference', work_s: 1200 + i % 700, deadline_s: 1500 + i});
  for (let i = 0; i < 800; i += 40) await Promise.all(Array.from({length: 40}, (_, k) => controller.post('jobs', request(i + k))));
  for (const gpu of [311, 312, 5000]) await controller.post(`gpus/${gpu}/cordon`);
  const begun = Date.now();
  const {page, problems, asked, close} = await openDashboard(browser, controller.url);
  await page.locator('.cell').first().waitFor({timeout: 60000});
  console.log(`${Date.now() - begun} ms until the fleet is there`);
  assert.equal(await page.locator('.cell').count(), 100);
  assert.equal(await page.locator('.gpu').count(), 0, 'no GPU by itself before one is asked for');
  await page.locator('.chip').getByText('3 cordoned').waitFor();
  await page.waitForFunction(() => document.querySelector('.cell b').textContent !== '0 %');
  await shot(page, 'ten-thousand', false);
  await page.locator('.cell[data-first="300"]').click();
  await page.locator('.gpu').nth(99).waitFor();
  assert.equal(await page.locator('.gpu').count(), 100);
  await shot(page, 'ten-thousand-group', false);
  await check(page, '#groups');
  // One that is shown changes as it happens.
  await controller.post('gpus/313/cordon');
  await page.locator('.gpu[data-gpu="313"][data-state="cordoned"]').waitFor();
  await page.getByLabel('State').selectOption('cordoned');
  await page.waitForFunction(() => document.querySelectorAll('.gpu').length === 4);
  await page.getByRole('button', {name: 'Clear'}).click();
  await page.waitForFunction(() => document.querySelectorAll('.gpu').length === 0);
  await page.getByLabel('Find').fill('4321');
  await card(page, 4321).waitFor();
  await card(page, 4321).click();
  const uuid = await page.getByRole('dialog').locator('.facts code').textContent();
  await page.keyboard.press('Escape');
  await page.getByLabel('Find').fill(uuid.slice(4, 17));
  await page.waitForFunction(() => document.querySelectorAll('.gpu').length === 1 && document.querySelector('[data-gpu="4321"]'));
  assert.ok(!asked.some(each => /^api\/v1\/fleet($|\?(?!.*(limit|gpus=false)))/.test(each)), 'the whole fleet is never asked for');
  clean(problems);
  await close();
}));

test('with tokens one signs in, and sees the buttons of one\'s role', async () => {
  const folder = fs.mkdtempSync(path.join(out, 'tokens-'));
  const tokens = {rita: ['read', 'read-token-0123456789'], alice: ['submit', 'submit-token-0123456789'], carol: ['operate', 'operate-token-0123456789']};
  const file = path.join(folder, 'tokens');
  fs.writeFileSync(file, Object.entries(tokens).map(([name, [role, token]]) => `${name} ${role} ${token}\n`).join(''), {mode: 0o600});
  try {
    await withController(['--token-file', file, '--speed', '20'], async ({url, child}) => {
      const {page, problems, asked, context, close} = await openDashboard(browser, url);
      const enter = async token => {
        await page.getByLabel('Token').fill(token);
        await page.getByRole('button', {name: 'Sign in'}).click();
      };
      await page.getByLabel('Token').waitFor();
      assert.equal(await page.locator('#board').isVisible(), false);
      await check(page);
      await shot(page, 'sign-in', false);
      await enter('a-wrong-token-0123456789');
      await page.getByText('not one of this controller').waitFor();

      const buttons = async () => ({
        freeze: await page.getByRole('button', {name: 'Freeze', exact: true}).isVisible(),
        cap: await page.locator('#cap').isVisible(),
        submit: await page.getByText('Submit a job', {exact: true}).isVisible(),
      });
      const seen = {rita: {freeze: false, cap: false, submit: false}, alice: {freeze: false, cap: false, submit: true}, carol: {freeze: true, cap: true, submit: true}};
      for (const [name, [role, token]] of Object.entries(tokens)) {
        await enter(token);
        await page.getByText(`${name}, ${role}`).waitFor();
        await card(page, 0).waitFor();
        assert.deepEqual(await buttons(), seen[name], name);
        await card(page, 0).click();
        await page.getByRole('dialog').getByText('Layout history').waitFor();
        assert.equal(await page.getByRole('button', {name: 'Cordon'}).isVisible(), role === 'operate', name);
        await page.keyboard.press('Escape');
        const cookie = (await context.cookies()).find(each => each.name === 'smartmig_session');
        assert.ok(cookie.httpOnly && cookie.sameSite === 'Strict');
        await page.reload();
        await page.getByText(`${name}, ${role}`).waitFor();
        await page.getByRole('button', {name: 'Sign out'}).click();
        await page.getByLabel('Token').waitFor();
        assert.equal(await page.locator('#board').isVisible(), false);
      }
      // An answer to what was asked before one signed out is late, and does not end the session that came after.
      await enter(tokens.alice[1]);
      await card(page, 0).waitFor();
      const caught = new Promise(resolve => page.route('**/api/v1/decisions*', resolve, {times: 1}));
      await page.reload();
      const late = await caught;
      await page.getByRole('button', {name: 'Sign out'}).click();
      await page.getByLabel('Token').waitFor();
      await enter(tokens.rita[1]);
      await page.getByText('rita, read').waitFor();
      const refused = page.waitForResponse(response => response.status() === 401);
      await late.fulfill({status: 401, json: {error: 'no session'}});
      await refused;
      await card(page, 0).waitFor();
      assert.equal(await page.getByLabel('Token').isVisible(), false);
      // A token that is taken away ends the session, and the page says so.
      fs.writeFileSync(file, `carol operate ${tokens.carol[1]}\n`);
      child.kill('SIGHUP');
      await page.getByLabel('Token').waitFor();
      assert.ok(!asked.some(each => each.includes('token-0123')), 'a token stands in no address');
      assert.deepEqual(await page.evaluate(() => [Object.keys(localStorage), Object.keys(sessionStorage), document.cookie]), [[], [], '']);
      clean(problems.filter(text => !text.includes('401')));
      await close();
    });
  } finally {
    fs.rmSync(folder, {recursive: true});
  }
});

describe('the dashboard', {concurrency: 2}, () => {
  for (const [name, body] of scenes) it(name, body);
});
