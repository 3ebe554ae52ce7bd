/* One picture of a report: screenshot.mjs PAGE OUT.jpg */
import { launch, open, settle } from './browser.mjs';

const [, , path, out] = process.argv;
const browser = await launch();
const { page, problems } = await open(browser, path, { viewport: { width: 1240, height: 780 } });
await page.evaluate(() => {
  select({ image: 8 });
  document.getElementById('scene').scrollIntoView({ behavior: 'instant' });
});
await settle(page);
await settle(page);
await page.screenshot({ path: out, type: 'jpeg', quality: 80 });
await browser.close();
if (problems.length) throw new Error(problems.join('\n'));
