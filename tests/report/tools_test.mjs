/* The tools of the 3D view, against numbers that the test computes by itself; lists, tables, paper,
 * keys and colours. */
import assert from 'node:assert/strict';
import { colors, settle } from './browser.mjs';
import { PHONE, browser, clickCamera, layer, text, tour, visit } from './visit.mjs';

const near = (a, b, most, what) => assert.ok(Math.abs(a - b) <= most, `${what}: ${a} and ${b}`);

/* As the three kinds of colour blindness see it: matrices of Machado and others (2009) for linear light;
 * then distances in CIELAB. */
const BLIND = {
  protan: [
    0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998,
  ],
  deutan: [
    0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881,
  ],
  tritan: [
    1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039,
  ],
};
function labOf(hex, M) {
  const linear = [1, 3, 5].map((k) => (parseInt(hex.slice(k, k + 2), 16) / 255) ** 2.2);
  const mul = (A, x) =>
    [0, 3, 6].map((k) => Math.max(0, A[k] * x[0] + A[k + 1] * x[1] + A[k + 2] * x[2]));
  const xyz = mul(
    [0.4124, 0.3576, 0.1805, 0.2126, 0.7152, 0.0722, 0.0193, 0.1192, 0.9505],
    mul(M, linear),
  );
  const [x, y, z] = [xyz[0] / 0.9505, xyz[1], xyz[2] / 1.089].map((t) =>
    t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116,
  );
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

await tour('photos/report.html', [
  [
    'strays do not stretch an outline',
    async (page) => {
      const [corners, area] = await page.evaluate(() => {
        const points = [];
        for (let k = 0; k < 2000; ++k) points.push([(k * 0.618034) % 1, (k * 0.414214) % 1]);
        const hull = hullOf(withoutStrays([...points, [40, 3], [-17, 0.5], [0.5, 90]]));
        const twice = hull.reduce((sum, p, k) => {
          const q = hull[(k + 1) % hull.length];
          return sum + p[0] * q[1] - p[1] * q[0];
        }, 0);
        return [hull.flat(), twice / 2];
      });
      assert.ok(corners.every((x) => x >= 0 && x <= 1));
      assert.ok(area > 0.95 && area <= 1, `area ${area}`);
      assert.equal(
        await page.evaluate(() => count(2, 'match') + count(1, 'match') + count(3, 'pair')),
        '2 matches1 match3 pairs',
      );
    },
  ],
  [
    'the bar is as long as it says',
    async (page) => {
      assert.match(await text(page, '#scaleBar'), /^[\d.]+ units?; grid [\d.]+ units?$/);
      /* two points on the target plane, one bar apart, are the bar's width apart on the screen */
      const [width, apart] = await page.evaluate(() => {
        const length = parseFloat(document.querySelector('#scaleBar span').textContent);
        const { target } = view3d.orbit.state;
        const [right] = view3d.orbit.axes();
        const at = (p) =>
          ((p.clone().project(view3d.camera).x + 1) / 2) * view3d.canvas.clientWidth;
        const bar = document.querySelector('#scaleBar i').getBoundingClientRect().width;
        return [bar, at(target.clone().addScaledVector(right, length)) - at(target)];
      });
      near(width, apart, 0.5, 'length of the bar');
    },
  ],
  [
    'two cameras are measured',
    async (page) => {
      await layer(page, 'measure').click();
      await page.locator('#stage').scrollIntoViewIfNeeded();
      await settle(page);
      const [places, truth] = await page.evaluate(() => {
        const { model, camera, world, canvas } = view3d;
        const box = canvas.getBoundingClientRect();
        const center = (k) => new THREE.Vector3().fromArray(model.center, 3 * k);
        const place = (k) => {
          const p = center(k).applyMatrix4(world.matrixWorld).project(camera);
          return [box.left + ((p.x + 1) / 2) * box.width, box.top + ((1 - p.y) / 2) * box.height];
        };
        return [[place(0), place(4)], center(0).distanceTo(center(4))];
      });
      assert.match(await text(page, '#measured'), /first/);
      await page.mouse.click(...places[0]);
      assert.match(await text(page, '#measured'), /second/);
      await page.mouse.click(...places[1]);
      near(parseFloat(await text(page, '#measured')), truth, 0.006 * truth, 'distance');
      assert.match(await text(page, '#measured'), /units \(x /);
      assert.equal(await page.evaluate(() => lookedAt().image), undefined);
    },
  ],
  [
    'colours that everyone tells apart',
    async (page) => {
      for (const dark of [false, true]) {
        const inks = await page.evaluate((isDark) => {
          applyTheme(isDark);
          return ['tree', 'kept', 'pruned', 'none'].map((name) => [name, color(name)]);
        }, dark);
        for (const [kind, M] of Object.entries(BLIND))
          inks.forEach(([a, one], i) =>
            inks.slice(i + 1).forEach(([b, other]) => {
              const [p, q] = [labOf(one, M), labOf(other, M)];
              const apart = Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
              assert.ok(
                apart > 18,
                `${a} and ${b} look alike to ${kind}, dark ${dark}: ${apart.toFixed(1)}`,
              );
            }),
          );
      }
    },
  ],
]);

await tour('photos/report.html', [
  [
    'a camera is looked through',
    async (page) => {
      await clickCamera(page, 3);
      await page.locator('#panelBody button', { hasText: 'look through' }).click();
      await page.waitForFunction(() => view3d.flight.current && view3d.flight.current.isDone);
      await settle(page);
      assert.match(await text(page, '#flight'), /cam_0004/);
      /* a point is where a pinhole puts it: f = 300, principal point (160, 90), 320 x 180 pixels */
      const errors = await page.evaluate(() => {
        const { model, camera, world } = view3d;
        const k = view3d.place.get(3);
        const rows = rotationRows(model.rotation, 4 * k);
        const screen = (p) => p.applyMatrix4(world.matrixWorld).project(camera);
        const [, first, , last] = frustum(model, k, 1).map((p) => screen(new THREE.Vector3(...p)));
        const out = [];
        for (let n = 0; n < model.xyz.length && out.length < 40; n += 30) {
          const d = [0, 1, 2].map((c) => model.xyz[n + c] - model.center[3 * k + c]);
          const [x, y, z] = rows.map((row) => row[0] * d[0] + row[1] * d[1] + row[2] * d[2]);
          const seen = screen(new THREE.Vector3(...model.xyz.subarray(n, n + 3)));
          const u = (320 * (seen.x - first.x)) / (last.x - first.x);
          const v = (180 * (seen.y - first.y)) / (last.y - first.y);
          out.push(Math.hypot(u - (160 + (300 * x) / z), v - (90 + (300 * y) / z)));
        }
        return out;
      });
      assert.equal(errors.length, 40);
      assert.ok(Math.max(...errors) < 0.05, `points are ${Math.max(...errors)} px off`);
      const opaque = await page.locator('#stage canvas').screenshot();
      await page.locator('#flight input').fill('0');
      await settle(page);
      assert.ok(
        !opaque.equals(await page.locator('#stage canvas').screenshot()),
        'the photograph does not fade',
      );
      await page.keyboard.press('Escape');
      assert.ok(!(await page.locator('#flight').isVisible()));
      assert.equal(await page.evaluate(() => lookedAt().image), 3);
    },
  ],
  [
    'overlap and uncertainty',
    async (page) => {
      await layer(page, 'overlap').click();
      await layer(page, 'uncertainty').click();
      await settle(page);
      const wrong = await page.evaluate(() => {
        const { model, parts, ground } = view3d;
        let off = 0;
        for (const { x, y, seen } of parts.overlap.userData.overlap.cells) {
          const p = onGround(ground, x, y);
          let num = 0;
          model.view.forEach((_, k) => {
            const d = [
              p.x - model.center[3 * k],
              p.y - model.center[3 * k + 1],
              p.z - model.center[3 * k + 2],
            ];
            const [a, b, c] = rotationRows(model.rotation, 4 * k).map(
              (r) => r[0] * d[0] + r[1] * d[1] + r[2] * d[2],
            );
            const [u, v] = [160 + (300 * a) / c, 90 + (300 * b) / c];
            if (c > 0 && u >= 0 && u <= 320 && v >= 0 && v <= 180) ++num;
          });
          if (num !== seen) ++off;
        }
        return [off, parts.overlap.userData.overlap.cells.length];
      });
      assert.equal(wrong[0], 0);
      assert.ok(wrong[1] > 100);
      assert.match(await text(page, '#overlapLegend'), /6 cameras \(median/);
      /* the images of the unit vectors have squares that sum to the trace */
      const ratios = await page.evaluate(() => {
        const { factor } = view3d.parts.ellipsoids.userData;
        const xyz = view3d.parts.ellipsoids.geometry.attributes.position.array;
        const perCamera = xyz.length / view3d.model.view.length;
        return Array.from(view3d.model.view, (view, k) => {
          let sum = 0;
          for (let circle = 0; circle < 3; ++circle)
            for (let d = 0; d < 3; ++d)
              sum +=
                (xyz[k * perCamera + (circle * perCamera) / 3 + d] -
                  view3d.model.center[3 * k + d]) **
                2;
          const sigma = report.images[view].center_sigma;
          return sigma > 0 ? Math.sqrt(sum) / (factor * sigma) : null;
        }).filter((ratio) => ratio !== null);
      });
      assert.equal(ratios.length, 5); // the sixth fixes the frame
      for (const ratio of ratios) near(ratio, 1, 1e-3, 'size of an ellipsoid');
      assert.match(
        await text(page, '#ellipsoidNote'),
        /one standard deviation, [\d,]+ times as large/,
      );
    },
  ],
]);

await tour('photos/report.html', [
  [
    'lists, planes and small photographs',
    async (page) => {
      assert.equal(await page.locator('#panelBody .list li').count(), 6);
      assert.ok(
        (await page.locator('#panelBody .list img').count()) === 6,
        'no photographs in the list',
      );
      await page.locator('#panelBody [data-list=planes]').click();
      await page.locator('#panelBody .list button').first().click();
      assert.match(await text(page, '#panelBody h2'), /Plane 1, the main one/);
      await page.locator('#closePanel').click();
      await page.locator('#panelBody [data-list=pairs]').click();
      assert.equal(await page.locator('#panelBody .list li').count(), 15);
      assert.equal(
        await page.locator('#planeTable tbody tr').count(),
        await page.evaluate(() => report.planes.length),
      );
      await page.locator('#imageTable').scrollIntoViewIfNeeded();
      await page.waitForFunction(() => document.querySelector('#imageTable img').naturalWidth > 0);
      assert.equal(await page.locator('#imageTable img').count(), 6);
      assert.equal(
        await text(page, '#leftOut'),
        await page.evaluate(() => $('leftOut').textContent),
      );
    },
  ],
  [
    'residuals over the sensor',
    async (page) => {
      await page.locator('#field').scrollIntoViewIfNeeded();
      await settle(page);
      assert.ok((await colors(page, '#field')) > 20, 'the field is blank');
      const [cells, all, images] = await page.evaluate(() => {
        const [field] = report.residuals.fields;
        let sum = 0;
        for (let k = 0; k < field.mean.length; k += 3) sum += field.mean[k];
        return [sum, report.residuals.observations, field.images];
      });
      assert.equal(cells, all);
      assert.equal(images, 6);
    },
  ],
  [
    'by keys alone',
    async (page) => {
      await page.locator('#stage canvas').focus();
      await page.keyboard.press('PageDown');
      await page.keyboard.press('PageDown');
      assert.equal(
        await text(page, '#panelBody h2'),
        await page.evaluate(() => report.images[view3d.model.view[1]].name),
      );
      await page.keyboard.press('Enter');
      assert.ok(await page.locator('#flight').isVisible());
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      assert.equal(await text(page, '#panelBody h2'), 'Look closer');
      await page.locator('#line canvas').focus();
      await page.keyboard.press('ArrowRight');
      assert.equal(
        await page.evaluate(() => lookedAt().pair),
        await page.evaluate(() => embedding.order[0]),
      );
      await page.locator('#matrix canvas').focus();
      await page.keyboard.press('ArrowLeft');
      assert.match(await text(page, '#panelBody h2'), / – /);
      await page.keyboard.press('Escape');
      const dumb = await page.evaluate(() => {
        const named = (node) =>
          node.textContent.trim() ||
          node.getAttribute('aria-label') ||
          (node.labels && node.labels.length);
        const bad = [...document.querySelectorAll('button, select, input, canvas')].filter(
          (node) => !named(node),
        );
        bad.push(
          ...document.querySelectorAll(
            'main table:has(tr):not(:has(caption)):not(#options table), img:not([alt])',
          ),
        );
        return bad.map((node) => node.outerHTML.slice(0, 100));
      });
      assert.deepEqual(dumb, []);
    },
  ],
  [
    'on paper',
    async (page) => {
      const pdf = await page.pdf({ preferCSSPageSize: true });
      const pages = pdf.toString('latin1').match(/\/Type\s*\/Page\b/g).length;
      assert.ok(pages >= 2 && pages <= 8, `${pages} pages`);
      const width = await page.evaluate(() => view3d.canvas.width);
      assert.ok(pdf.includes(`/Width ${width}`), 'the 3D view is not on paper');
      assert.equal(await page.locator('.printed').count(), 0);
    },
  ],
]);

await visit(
  'round, small points on a phone',
  'photos/report.html',
  async (page) => {
    const [size, ratio, map] = await page.evaluate(() => {
      const { material } = view3d.parts.points;
      return [material.size, view3d.ratio(), material.map !== null && material.alphaTest > 0];
    });
    assert.ok(size / ratio >= 1 && size / ratio <= 2 && map, `points of ${size / ratio} px`);
    const inside = await page.evaluate(() =>
      view3d.extent
        .map((p) => p.clone().project(view3d.camera))
        .every((p) => Math.abs(p.x) <= 1 && Math.abs(p.y) <= 1),
    );
    assert.ok(inside, 'cameras or points are cut off at first');
  },
  PHONE,
);

await browser.close();
