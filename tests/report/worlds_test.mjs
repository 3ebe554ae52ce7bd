/* Pages of aligned models, of two runs, and of a model alone. */
import assert from 'node:assert/strict';
import { colors, settle } from './browser.mjs';
import { browser, layer, text, visit } from './visit.mjs';

await visit('an aligned model shows its residuals', 'metric/report.html', async (page) => {
  const rows = page.locator('#worldTable tbody tr');
  assert.equal(await rows.count(), 8);
  assert.match(await rows.first().innerText(), /cam_0003\.jpg\s+\d+(\.\d+)? m\s.*left out/s); // 99 m off
  assert.match(await text(page, '#worldNote'), /known positions: 7 of 8 used/);
  assert.match(await text(page, '#worldVerdict'), /alignment is (right|plausible): .* 10\^\d+ tries/);
  assert.match(await text(page, '#scaleBar'), /\d m; grid \d+ m|\d+ cm/);
  const ratio = await page.evaluate(() => {
    const before = report.summary.images.find((image) => image.center_sigma > 0);
    const after = report.images.find((image) => image.name === before.name);
    const C = after.center_covariance;
    return [
      after.center_sigma / before.center_sigma / report.alignment.scale,
      Math.sqrt(C[0] + C[3] + C[5]) / after.center_sigma,
    ];
  });
  for (const x of ratio) assert.ok(Math.abs(x - 1) < 1e-6, `deviations are ${ratio}`);
  assert.match(await text(page, '#lead'), /robust method, from 7 matched pairs/); // the run behind it is known
  const source = await page.evaluate(() => report.alignment.source);
  assert.equal(source, null); // where the run lies is nobody's business
});

await visit('two runs side by side', 'two.html', async (page) => {
  const note = await text(page, '#compareNote');
  assert.match(
    note,
    /chain.*walk\/gt.*8 images in both largest models, 0 only in the first, 0 only in the second/,
  );
  assert.equal(await page.locator('#poseTable tbody tr').count(), 8);
  assert.match(await text(page, '#compareTables'), /images placed\s+8\s+8\s+same/);
  /* the camera centres of the other run lie on those of this one, up to what the table says */
  const off = await page.evaluate(() => {
    const { other, comparison, models } = report;
    const moved = moveToFirst(comparison.from_other, other.models[0].center);
    const largest = Math.max(...comparison.images.map((image) => image.position));
    return Array.from(other.models[0].view, (v, k) => {
      const at = view3d.place.get(
        report.images.findIndex((image) => image.name === other.names[v]),
      );
      return (
        Math.hypot(...[0, 1, 2].map((d) => moved[3 * k + d] - models[0].center[3 * at + d])) /
        largest
      );
    });
  });
  assert.equal(off.length, 8);
  assert.ok(Math.abs(Math.max(...off) - 1) < 1e-3, `off by ${off}`);
  const stage = page.locator('#stage');
  await settle(page);
  const before = await stage.screenshot();
  await layer(page, 'other run').click();
  await settle(page);
  assert.ok(!before.equals(await stage.screenshot()), 'the other run is not in the view');
});

await visit('a model alone', 'walk/gt/report.html', async (page) => {
  assert.match(await text(page, '#lead'), /without the files of a run/);
  assert.doesNotMatch(await text(page, '#findings'), /Nothing stands out/);
  assert.ok((await colors(page, '#stage')) > 20, 'the 3D view is blank');
  assert.equal(await page.locator('#imageTable tbody tr').count(), 8);
  assert.ok(!(await page.locator('#matrix').isVisible()));
});

await browser.close();
