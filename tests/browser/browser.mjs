// Debian's Chromium through Playwright, and the runs whose reports are looked at.
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import {chromium} from 'playwright-core';

export const sizes = {desktop: {width: 1280, height: 900}, phone: {width: 390, height: 844}};

export function findChromium() {
  return ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(path => fs.existsSync(path));
}

export function launch() {
  return chromium.launch({executablePath: findChromium()});
}

export function run(program, ...args) {
  return execFileSync(program, args, {encoding: 'utf8'});
}

// Opens a report and waits for its timeline.
export async function open(browser, file, options = {}) {
  const context = await browser.newContext({viewport: sizes.desktop, ...options});
  const page = await context.newPage();
  const problems = [];
  page.on('console', message => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text());
  });
  page.on('pageerror', error => problems.push(String(error)));
  page.on('request', request => {
    const url = request.url();
    const own = url === 'file://' + file || url.startsWith('data:') || url.startsWith('blob:');
    if (!own) problems.push('asks for ' + url);
  });
  await page.goto('file://' + file);
  // Not every page has one.
  if (options.javaScriptEnabled !== false && await page.$('figure.timeline'))
    await page.waitForSelector('figure.timeline[data-ready]', {timeout: 20000});
  return {page, problems, close: () => context.close()};
}
