/* What the tests of the report share. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { launch, open, settle } from './browser.mjs';

export const browser = await launch();
export const text = (page, selector) => page.locator(selector).innerText();
export const layer = (page, name) => page.locator('#layers .chip', { hasText: name });

/* Opens a page of the folder that run.sh made, does the steps and wants a console without problems. */
export async function visit(name, path, steps, options) {
  await tour(path, [[name, steps]], options);
}

/* The same with several steps on one page, which opens once: [[name, steps], ...]. */
export async function tour(path, stops, options) {
  const { page, problems } = await open(browser, join(process.argv[2], path), options);
  for (const [name, steps] of stops) {
    await steps(page);
    assert.deepEqual(problems, [], `${name}: the console shows problems`);
    console.log('passed:', name);
  }
  await page.close();
}

/* Where a camera is on the page: the middle of its frustum. */
export const cameraPlace = (page, view) =>
  page.evaluate((v) => {
    const box = document.querySelector('#stage canvas').getBoundingClientRect();
    const [x, y] = view3d.screenOf(v);
    return [box.left + x, box.top + y];
  }, view);

export async function clickCamera(page, view) {
  await page.locator('#stage').scrollIntoViewIfNeeded();
  await settle(page);
  await page.mouse.click(...(await cameraPlace(page, view)));
  await settle(page);
}

export const PHONE = {
  viewport: { width: 390, height: 844 },
  hasTouch: true,
  isMobile: true,
  deviceScaleFactor: 2,
};
