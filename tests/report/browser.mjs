/* A headless Chromium for the report: used by the tests, the bench and the screenshot script. */
import { createRequire } from 'node:module';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/* Folder with node_modules/playwright-core: see playwright.sh. */
const modules = process.env.PLANARSFM_PLAYWRIGHT;
const { chromium } = createRequire(join(modules, 'package.json'))('playwright-core');

export async function launch() {
  const executablePath = [
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
  ].find(existsSync);
  /* Software rendering: the same picture on every machine. */
  const args = [
    '--no-sandbox',
    '--use-angle=swiftshader',
    '--enable-unsafe-swiftshader',
    '--ignore-gpu-blocklist',
  ];
  return chromium.launch({ executablePath, args });
}

/* Opens a page; `problems` collects what a console would show in red, and any request that leaves
 * the file. options: of the page, and `prepare`, called with it before it loads. */
export async function open(browser, path, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1360, height: 900 }, ...options });
  const problems = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error.stack || error)));
  page.on('dialog', (dialog) => {
    problems.push('dialog: ' + dialog.message());
    dialog.dismiss();
  });
  page.on('request', (request) => {
    if (!/^(file|data):/.test(request.url())) problems.push('request: ' + request.url());
  });
  if (options.prepare) await options.prepare(page);
  const begin = Date.now();
  await page.goto('file://' + path);
  await page.waitForSelector('html[data-ready]', { timeout: 120000 });
  await settle(page);
  return { page, problems, ms: Date.now() - begin };
}

/* Two frames later everything that was asked for has been drawn. */
export async function settle(page) {
  await page.evaluate(
    () =>
      new Promise((done) =>
        requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30))),
      ),
  );
}

/* Number of different colours in a part of the page, up to 1000: a blank one has very few. */
export async function colors(page, selector) {
  const png = await page.locator(selector).screenshot();
  return page.evaluate(async (data) => {
    const image = new Image();
    image.src = 'data:image/png;base64,' + data;
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [image.width, image.height];
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const pixels = new Uint32Array(
      context.getImageData(0, 0, image.width, image.height).data.buffer,
    );
    const seen = new Set();
    for (const pixel of pixels) if (seen.size < 1000) seen.add(pixel);
    return seen.size;
  }, png.toString('base64'));
}
