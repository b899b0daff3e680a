// node picture.mjs REPORT PICTURE: the upper part of a report as a picture, with its timeline zoomed to three hours.
import path from 'node:path';
import {launch, open} from './browser.mjs';

const [report, picture] = process.argv.slice(2);
const browser = await launch();
const {page} = await open(browser, path.resolve(report), {viewport: {width: 1120, height: 900}});
await page.evaluate(() => {
  // The summary and the timeline tell what a report is; what lies between can be looked at in one.
  for (const section of document.querySelectorAll('main > section')) {
    const keep = ['comparison', 'timeline'].includes(section.querySelector('h2').id);
    section.hidden = !keep;
  }
  document.querySelector('figure[data-name="details"]').hidden = true;
  document.querySelector('footer').hidden = true;
  document.querySelector('nav').hidden = true;
});
const select = page.getByLabel('Timeline of', {exact: true});
await select.selectOption({label: (await select.locator('option').allTextContents()).at(-1)});
await page.waitForFunction(() => document.querySelector('figure.timeline:not([hidden])').dataset.ready);
const figure = page.locator('figure.timeline:visible');
for (let i = 0; i < 3; ++i) await figure.getByRole('button', {name: 'Zoom in'}).click();
await page.mouse.move(0, 0);
await page.waitForTimeout(200);
await page.screenshot({path: picture, fullPage: true});
await browser.close();
