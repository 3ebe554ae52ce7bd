/* Pictures of a report: screenshot.mjs PAGE FOLDER makes report.jpg, the first view; report_through.jpg, the
 * points under a photograph; report_phone.jpg. */
import { join } from 'node:path';
import { launch, open, settle } from './browser.mjs';

const [, , path, folder] = process.argv;
const browser = await launch();

async function picture(name, options, prepare) {
  const { page, problems } = await open(browser, path, options);
  await prepare(page);
  await settle(page);
  await settle(page);
  await page.screenshot({ path: join(folder, name), type: 'jpeg', quality: 54, timeout: 120000 });
  await page.close();
  if (problems.length) throw new Error(problems.join('\n'));
}

const toScene = () => document.getElementById('scene').scrollIntoView({ behavior: 'instant' });
await picture('report.jpg', { viewport: { width: 1240, height: 840 } }, () => {});
await picture('report_through.jpg', { viewport: { width: 1240, height: 700 } }, async (page) => {
  await page.evaluate(toScene);
  await page.evaluate(() => {
    const view = view3d.model.view[8];
    select({ image: view });
    view3d.flight.enter(view);
  });
  await page.waitForFunction(() => view3d.flight.current.isDone);
});
await picture(
  'report_phone.jpg',
  {
    viewport: { width: 390, height: 780 },
    isMobile: true,
    hasTouch: true,
    deviceScaleFactor: 1.5,
    colorScheme: 'dark',
  },
  (page) => page.evaluate(toScene),
);
await browser.close();
