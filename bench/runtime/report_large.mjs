/* The files of a run of very many images, made up: report_large.mjs IMAGES OUT. Cameras look straight
 * down from a square lattice; each sees the points of its cell and of the eight cells around it. Solving
 * so many images takes an hour, and the page does not care who did. */
import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { once } from 'node:events';

const num = +process.argv[2];
const out = process.argv[3];
const side = Math.ceil(Math.sqrt(num));
const PER_CELL = 30; // points
const [FOCAL, WIDTH, HEIGHT, STEP] = [300, 640, 480, 0.5];
let seed = 1;
const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
const name = (k) => `block_${String(k).padStart(5, '0')}.jpg`;
const cellOf = (k) => [k % side, Math.floor(k / side)];
const around = (k) => {
  const [x, y] = cellOf(k);
  const list = [];
  for (let dy = -1; dy <= 1; ++dy)
    for (let dx = -1; dx <= 1; ++dx) {
      const other = (y + dy) * side + x + dx;
      if (x + dx >= 0 && x + dx < side && y + dy >= 0 && other >= 0 && other < num)
        list.push(other);
    }
  return list;
};

async function write(path, lines) {
  const file = createWriteStream(join(out, path));
  for (const line of lines) if (!file.write(line + '\n')) await once(file, 'drain');
  file.end();
  await once(file, 'finish');
}

/* Points with their tracks, and the keypoints of each image. */
function makePoints() {
  const points = [],
    keypoints = Array.from({ length: num }, () => []);
  for (let k = 0; k < num; ++k)
    for (let i = 0; i < PER_CELL; ++i) {
      const [cx, cy] = cellOf(k);
      const at = [(cx + random() - 0.5) * STEP, (cy + random() - 0.5) * STEP, 0.02 * random()];
      const track = around(k).map((v) => {
        const [x, y] = cellOf(v).map((c) => c * STEP);
        const depth = 1 - at[2];
        const u = WIDTH / 2 + (FOCAL * (at[0] - x)) / depth + random() - 0.5;
        const w = HEIGHT / 2 - (FOCAL * (at[1] - y)) / depth + random() - 0.5;
        keypoints[v].push([u, w, points.length + 1]);
        return [v + 1, keypoints[v].length - 1];
      });
      points.push({ at, track });
    }
  return { points, keypoints };
}

function* pairLines() {
  let first = true;
  yield '"pairs":[';
  for (let a = 0; a < num; ++a)
    for (const b of around(a)) {
      if (b <= a) continue;
      const samples = Array.from({ length: 24 }, () => Math.round(random() * 480));
      const H = {
        inliers: 240,
        rms_px: 0.4,
        rotation_only: false,
        chosen: true,
        group: 0,
        H: [1, 0, 0, 0, 1, 0, 0, 0, 1],
        samples,
      };
      const tree = b === a + 1 || (a % side === 0 && b === a + side);
      const edge = {
        part: 0,
        component: 0,
        tree,
        kept: random() < 0.95 || tree,
        h: random() - 0.5,
        rotation_deg: 0.2 * random(),
        absence: 0,
      };
      yield (first ? '' : ',') +
        JSON.stringify({
          image1: a,
          image2: b,
          matches: 260,
          kind: 'ok',
          essential_inliers: 0,
          homographies: [H],
          edge,
        });
      first = false;
    }
  yield ']}';
}

function summary(keypoints) {
  const sigma = () => 0.001 * (0.5 + random());
  const images = keypoints.map((list, k) => {
    const s = [sigma(), sigma(), 2 * sigma()];
    const center_covariance = [s[0] ** 2, 0, 0, s[1] ** 2, 0, s[2] ** 2];
    return {
      name: name(k),
      state: 'posed',
      model: 0,
      points: list.length,
      mean_error_px: 0.4,
      rotation_sigma_deg: 0.02,
      center_sigma: Math.hypot(...s),
      center_covariance,
      resected: false,
      probability: 0.99,
    };
  });
  const params = [FOCAL, FOCAL, WIDTH / 2, HEIGHT / 2];
  const cameras = [
    {
      id: 1,
      model: 'PINHOLE',
      source: 'given',
      focal_px_before: FOCAL,
      focal_px: FOCAL,
      focal_sigma: 0,
      params,
    },
  ];
  const models = [{ images: num, unit: 'arbitrary', verdict: 'right', probability: 0.99 }];
  return {
    program: 'planarsfm',
    mode: 'robust',
    verdict: 'right',
    warnings: [],
    images_posed: num,
    images_total: num,
    cameras,
    models,
    images,
    options: {},
    seconds: {},
  };
}

mkdirSync(join(out, 'model/0'), { recursive: true });
const { points, keypoints } = makePoints();
await write('model/0/cameras.txt', [
  `1 PINHOLE ${WIDTH} ${HEIGHT} ${FOCAL} ${FOCAL} ${WIDTH / 2} ${HEIGHT / 2}`,
]);
await write(
  'model/0/images.txt',
  keypoints.flatMap((list, k) => {
    const [x, y] = cellOf(k).map((c) => c * STEP);
    return [
      `${k + 1} 0 1 0 0 ${-x} ${y} 1 1 ${name(k)}`, // half a turn about x: it looks down from z = 1
      list.map(([u, w, id]) => `${u.toFixed(2)} ${w.toFixed(2)} ${id}`).join(' '),
    ];
  }),
);
await write(
  'model/0/points3D.txt',
  points.map(
    ({ at, track }, k) =>
      `${k + 1} ${at.map((c) => c.toFixed(4)).join(' ')} ${80 + (k % 90)} 120 60 0.4 ${track.flat().join(' ')}`,
  ),
);
const corner = (x, y) => [x * side * STEP, y * side * STEP, 0];
const polygon = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
const plane = {
  normal: [0, 0, 1],
  color: [230, 130, 60],
  distance: 0,
  points: points.length,
  sigma: 0.01,
  area: (side * STEP) ** 2,
  model: 0,
  polygon,
};
writeFileSync(join(out, 'planes.json'), JSON.stringify({ planes: [plane] }));
writeFileSync(join(out, 'summary.json'), JSON.stringify(summary(keypoints)));
const images = keypoints.map((list, k) => ({
  name: name(k),
  width: WIDTH,
  height: HEIGHT,
  keypoints: list.length,
}));
const edges = Array.from({ length: num }, (_, k) => around(k).filter((v) => v > k).length).reduce(
  (a, b) => a + b,
  0,
);
await write('graph.json', [
  `{"version":1,"photographs":null,"images":${JSON.stringify(images)},`,
  `"components":[{"images":${num},"edges":${edges},"low":-0.5,"high":0.5}],"plane_models":[0],`,
  ...pairLines(),
]);
