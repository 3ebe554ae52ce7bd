/* What a reader does with the report, in headless Chromium: report_test.mjs FOLDER, made by run.sh. */
import assert from 'node:assert/strict';
import { colors, settle } from './browser.mjs';
import { PHONE, browser, cameraPlace, clickCamera, layer, text, tour, visit } from './visit.mjs';

await visit('a camera is clicked', 'photos/report.html', async (page) => {
  assert.match(await text(page, '#verdict'), /All 6 images are placed/);
  assert.ok((await colors(page, '#stage')) > 300, 'the 3D view is blank');
  assert.equal(await page.locator('#panelBody h2').innerText(), 'Look closer');
  await clickCamera(page, 2);
  assert.equal(await text(page, '#panelBody h2'), await page.evaluate(() => report.images[2].name));
  assert.ok((await colors(page, '#panelBody canvas')) > 500, 'no photograph in the panel');
  assert.match(await text(page, '#panelBody'), /neighbour/i);
  await page.locator('#panelBody tr[data-pair]').first().click();
  await settle(page);
  assert.match(await text(page, '#panelBody h2'), / – /);
  assert.ok((await colors(page, '#panelBody canvas')) > 500, 'no photographs of the pair');
  await page.keyboard.press('Escape');
  assert.equal(await text(page, '#panelBody h2'), 'Look closer');
});

await tour('matches/report.html', [
  [
    'layers are switched',
    async (page) => {
      const stage = page.locator('#stage');
      await layer(page, 'pruned pairs').scrollIntoViewIfNeeded(); /* a click must not scroll */
      for (const name of ['cameras', 'points', 'planes', 'tree', 'kept pairs', 'pruned pairs']) {
        await settle(page);
        const before = await stage.screenshot();
        await layer(page, name).click();
        await settle(page);
        assert.ok(!before.equals(await stage.screenshot()), `${name}: the chip changes nothing`);
        await layer(page, name).click();
        await settle(page);
        assert.ok(
          before.equals(await stage.screenshot()),
          `${name}: switching back leaves a trace`,
        );
      }
    },
  ],
  [
    'the embedding is pointed at',
    async (page) => {
      const line = page.locator('#line canvas');
      await line.scrollIntoViewIfNeeded();
      await settle(page);
      const [x, y, pair] = await page.evaluate(() => {
        const d = embedding.dots[3];
        return [d.x, d.y, d.pair];
      });
      const box = await line.boundingBox();
      await page.mouse.move(box.x + x, box.y + y);
      await settle(page);
      assert.equal(await page.evaluate(() => lookedAt().pair), pair);
      assert.match(await text(page, '#tip'), /h = /);
      assert.ok((await colors(page, '#panelBody canvas')) > 50, 'no inliers are drawn');
      await page.mouse.move(5, 5);
      await settle(page);
      assert.equal(await page.evaluate(() => lookedAt().pair), undefined);
      assert.ok((await colors(page, '#line')) > 20, 'the line is blank');
    },
  ],
  [
    'cameras before and after',
    async (page) => {
      const rows = page.locator('#cameraTable tbody tr');
      const cameras = await page.evaluate(() => report.summary.cameras);
      assert.equal(await rows.count(), cameras.length);
      const first = await rows.first().innerText();
      assert.ok(
        first.includes(cameras[0].model) &&
          first.includes(String(+cameras[0].focal_px.toPrecision(6))),
      );
    },
  ],
  [
    'reasons and hostile names',
    async (page) => {
      assert.match(await text(page, '#verdict'), /23 of 24 images/);
      assert.match(await text(page, '#findings'), /1 image without a pose/);
      const name = '</script><img src=x onerror=alert(1)>&"\'.jpg';
      const index = await page.evaluate(
        (wanted) => report.images.findIndex((image) => image.name === wanted),
        name,
      );
      assert.equal(index, 0); // images are in the order of their names
      assert.equal(await page.locator('#imageTable td', { hasText: name }).count(), 1);
      assert.equal(await page.locator('img').count(), 0);
      await page.evaluate((image) => select({ image }), index);
      assert.equal(await text(page, '#panelBody h2'), name);
    },
  ],
  [
    'the matrix is clicked',
    async (page) => {
      const matrix = page.locator('#matrix canvas');
      await matrix.scrollIntoViewIfNeeded();
      const box = await matrix.boundingBox();
      const cell = Math.min(box.width, box.height) / 24;
      await matrix.click({ position: { x: 8.5 * cell, y: 7.5 * cell } });
      const [a, b] = await page.evaluate(() => [
        report.pairs.image1[lookedAt().pair],
        report.pairs.image2[lookedAt().pair],
      ]);
      assert.deepEqual([a, b], [7, 8]);
      assert.ok((await colors(page, '#matrix')) > 5, 'the matrix is blank');
      assert.ok((await colors(page, '#histograms')) > 20, 'the histograms are blank');
    },
  ],
  [
    'the table is sorted and filtered',
    async (page) => {
      const rows = page.locator('#imageTable tbody tr');
      assert.equal(await rows.count(), 24);
      await page.locator('#imageTable th button', { hasText: /^points$/ }).click();
      const points = await page.evaluate(() =>
        [...document.querySelectorAll('#imageTable tbody tr')].map(
          (row) => report.images[row.dataset.image].points ?? -1,
        ),
      );
      assert.deepEqual(
        points,
        [...points].sort((a, b) => b - a),
      );
      await page.locator('#filter').fill('no matches');
      assert.equal(await rows.count(), 1);
      await rows.first().click();
      assert.match(await text(page, '#panelBody'), /No pose: .*shows something else/);
    },
  ],
]);

await visit('a chain hangs on single pairs and images', 'chain/report.html', async (page) => {
  assert.match(await text(page, '#verdict'), /All 8 images are placed/);
  const findings = await text(page, '#findings');
  assert.doesNotMatch(findings, /Nothing stands out/);
  assert.match(findings, /7 pairs alone hold the model together/);
  assert.match(findings, /6 images alone hold the model together/);
  await page.locator('#findings summary', { hasText: '7 pairs' }).click();
  const chips = page.locator('#findings details', { hasText: '7 pairs' }).locator('.chip');
  assert.equal(await chips.count(), 7);
  await chips.nth(2).click();
  await settle(page);
  assert.equal(await text(page, '#panelBody h2'), await chips.nth(2).innerText());
});

await visit(
  'dark, on a phone',
  'photos/report.html',
  async (page) => {
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
    const overflow = await page.evaluate(() => document.scrollingElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `the page is ${overflow} px wider than the phone`);
    assert.ok(!(await page.locator('#panel').isVisible()));
    await page.locator('#stage').scrollIntoViewIfNeeded();
    await settle(page);
    await page.touchscreen.tap(...(await cameraPlace(page, 1)));
    await page.locator('#panel').waitFor({ state: 'visible' }); // a tap opens it
    await page.waitForTimeout(500);
    const [stage, panel] = [
      await page.locator('#stage').boundingBox(),
      await page.locator('#panel').boundingBox(),
    ];
    assert.ok(
      stage.y >= 0 && stage.y + stage.height <= panel.y + 1,
      'the panel covers the 3D view',
    );
    assert.ok((await colors(page, '#stage')) > 100);
    await page.locator('#closePanel').click();
    await page.locator('#panel').waitFor({ state: 'hidden' });
    await page.locator('#theme').click();
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'light');
  },
  { ...PHONE, colorScheme: 'dark' },
);

await visit('the published method', 'paper/report.html', async (page) => {
  assert.match(await text(page, '#lead'), /published method/);
  assert.ok((await colors(page, '#stage')) > 20, 'the 3D view is blank');
  assert.ok((await colors(page, '#line')) > 20, 'the line is blank');
});

await visit('nothing was placed', 'nothing/report.html', async (page) => {
  assert.match(await text(page, '#verdict'), /None of 24 images/);
  assert.match(await text(page, '#stage'), /nothing to see in 3D/);
  assert.match(await text(page, '#findings'), /No two images have matches/);
});

await visit('built without three.js', 'no_three.html', async (page) => {
  assert.match(await text(page, '#stage'), /without three\.js/);
  assert.equal(await page.locator('#imageTable tbody tr').count(), 6);
});

await browser.close();
