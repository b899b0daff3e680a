// node dashboard_picture.mjs PROGRAM PICTURE: the upper part of the dashboard as a picture, with a fleet at work.
import {launch} from './browser.mjs';
import {Controller, openDashboard} from './controller.mjs';

const [program, picture] = process.argv.slice(2);
const profiles = ['bert-training', 'resnet50-training', 'bert-inference', 'resnet50-inference'];
const request = i => ({profile: profiles[i % 4], work_s: 150 + i * 15, deadline_s: 260 + i * 45});
const browser = await launch();
const controller = await Controller.start(program, '--speed', '20');
try {
  for (let i = 0; i < 28; ++i) await controller.post('jobs', request(i));
  const {page} = await openDashboard(browser, controller.url, {viewport: {width: 1120, height: 860}});
  await controller.post('gpus/5/cordon');
  await page.locator('.gpu[data-state="cordoned"]').waitFor();
  await page.waitForTimeout(8000);  // For some changes of layouts.
  await page.screenshot({path: picture});
} finally {
  await controller.stop();
  await browser.close();
}
