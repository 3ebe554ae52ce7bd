/* Opens a report some times and prints the best of each time: report_load.mjs PAGE. "CPU" is that of
 * the page's main thread, which says more than the clock on a busy machine. */
import { statSync } from 'node:fs';
import { launch, open } from '../../tests/report/browser.mjs';

const path = process.argv[2];
const REPEATS = 3;
const best = new Map();
const note = (name, ms, cpu) => {
  const old = best.get(name) || { ms: Infinity, cpu: Infinity };
  best.set(name, { ms: Math.min(ms, old.ms), cpu: Math.min(cpu, old.cpu) });
};

/* CPU of the main thread so far, in milliseconds. */
async function spent(session) {
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find((metric) => metric.name === 'TaskDuration').value * 1000;
}

/* Some calls, each followed by the drawing that it asked for. */
async function measure(page, session, name, code, repeats) {
  const before = await spent(session);
  const ms = await page.evaluate(
    async ([body, n]) => {
      const step = new Function('k', body);
      const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
      const begin = performance.now();
      for (let k = 0; k < n; ++k) {
        step(k);
        await frame();
      }
      return performance.now() - begin;
    },
    [code, repeats],
  );
  note(name, ms / repeats, ((await spent(session)) - before) / repeats);
}

async function round() {
  const browser = await launch();
  let session;
  const prepare = async (page) => {
    session = await page.context().newCDPSession(page);
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  };
  const { page, problems } = await open(browser, path, { prepare });
  if (problems.length) console.log('problems:', problems.join('\n'));
  const cpu = await spent(session);
  const [paint, ready] = await page.evaluate(() =>
    ['first-contentful-paint', 'ready'].map((n) => performance.getEntriesByName(n)[0].startTime),
  );
  note('first paint', paint, Infinity);
  note('all drawn', ready, cpu);
  const steps = [
    ['turning the 3D view, a frame', 'view3d.orbit.turn(5, 1); view3d.orbit.place()', 12],
    ['finding the camera under the pointer', 'view3d.cameraAt([100 + k, 100])', 10],
    ['selecting an image', 'select({ image: k })', 6],
    ['pointing at a dot of the embedding', 'hover({ pair: k })', 6],
    ['listing pairs', "select({}); document.querySelector('[data-list=pairs]').click()", 3],
    ['overlap map', 'layers.overlap = k % 2 === 0; view3d.show()', 2],
    ['ellipsoids', 'layers.ellipsoids = k % 2 === 0; view3d.show()', 2],
    [
      'looking through a camera',
      'view3d.flight.enter(view3d.model.view[k]); view3d.flight.leave()',
      4,
    ],
    ['sorting the table', "document.querySelectorAll('#imageTable th button')[2].click()", 4],
  ];
  for (const [name, code, repeats] of steps) await measure(page, session, name, code, repeats);
  await browser.close();
}

for (let k = 0; k < REPEATS; ++k) await round();
console.log(`page: ${(statSync(path).size / 1e6).toFixed(1)} MB`);
const cell = (x) => (Number.isFinite(x) ? x.toFixed(x < 10 ? 1 : 0) : '').padStart(8);
console.log(`${''.padEnd(38)} ${'ms'.padStart(8)} ${'ms CPU'.padStart(8)}`);
for (const [name, { ms, cpu }] of best) console.log(`${name.padEnd(38)} ${cell(ms)} ${cell(cpu)}`);
