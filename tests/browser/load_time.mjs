// node load_time.mjs REPORT TIMES: opens a report in fresh pages and prints, as JSON, the seconds from the start of each
// until it is loaded and until its timeline is drawn.
import path from 'node:path';
import {launch} from './browser.mjs';

const [file, times] = process.argv.slice(2);
const browser = await launch();
const loaded = [], drawn = [];
for (let i = 0; i < Number(times); ++i) {
  const page = await browser.newPage();
  await page.goto('file://' + path.resolve(file));
  const [load, draw] = await page.evaluate(async () => {
    while (!document.querySelector('figure.timeline[data-ready]')) await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    return [performance.getEntriesByType('navigation')[0].loadEventEnd, performance.now()];
  });
  loaded.push(load / 1000);
  drawn.push(draw / 1000);
  await page.close();
}
await browser.close();
console.log(JSON.stringify({loaded_s: loaded, drawn_s: drawn}));
