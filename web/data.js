'use strict';
/* The data of the page. They come as JSON with columns of little-endian numbers in base64: arrays
 * with one entry per pair, homography, camera or point. `report` is what the other files use. */

const $ = (id) => document.getElementById(id);

function bytes(text) {
  const binary = atob(text);
  const out = new Uint8Array(binary.length);
  for (let k = 0; k < binary.length; ++k) out[k] = binary.charCodeAt(k);
  return out;
}
const u16 = (text) => new Uint16Array(bytes(text).buffer);
const i16 = (text) => new Int16Array(bytes(text).buffer);
const u32 = (text) => new Uint32Array(bytes(text).buffer);
const f32 = (text) => new Float32Array(bytes(text).buffer);

/* Where the entries of each owner begin, and one at the end. */
function offsets(counts) {
  const out = new Uint32Array(counts.length + 1);
  for (let k = 0; k < counts.length; ++k) out[k + 1] = out[k] + counts[k];
  return out;
}

const IS_EDGE = 1,
  IN_TREE = 2,
  IS_KEPT = 4;
const KINDS = ['plane found', 'too few matches', 'no plane found', 'rotation only'];
const STATES = {
  posed: 'posed',
  no_keypoints: 'no keypoints',
  no_matches: 'no matches',
  few_matches: 'few matches',
  no_homography: 'no plane found',
  rotation: 'rotation only',
  contradiction: 'contradiction',
  few_points: 'few points',
  undetermined: 'distance unknown',
  elsewhere: 'in another model',
};

function readPairs(raw) {
  const pairs = {
    total: raw.total,
    image1: u32(raw.image1),
    image2: u32(raw.image2),
    matches: u32(raw.matches),
    kind: bytes(raw.kind),
    essential: u32(raw.essential),
    flags: bytes(raw.flags),
    embeddingComponent: u32(raw.embedding_component),
    component: u32(raw.component),
    h: f32(raw.h),
    rotation: f32(raw.rotation),
    first: offsets(bytes(raw.count)),
  };
  pairs.num = pairs.image1.length;
  return pairs;
}

function readHomographies(raw) {
  return {
    inliers: u32(raw.inliers),
    rms: f32(raw.rms),
    flags: bytes(raw.flags),
    group: u32(raw.group),
    H: f32(raw.H),
    first: offsets(u32(raw.count)),
    samples: u16(raw.samples),
  };
}

function readModel(raw) {
  return {
    numPoints: raw.points,
    numCameras: raw.cameras,
    view: u32(raw.view),
    center: f32(raw.center),
    rotation: f32(raw.rotation),
    corners: f32(raw.corners),
    focal: f32(raw.focal),
    rays: raw.rays
      ? { side: raw.rays.side, xy: raw.rays.xy.map((text) => (text ? f32(text) : null)) }
      : null,
    xyz: f32(raw.xyz),
    rgb: bytes(raw.rgb),
    error: bytes(raw.error),
    length: bytes(raw.length),
  };
}

/* Images with what summary.json says of them and their pairs. */
function readImages(raw, pairs) {
  const images = raw.images.map((image, index) => {
    const facts = raw.summary.images[index] || {};
    return Object.assign({ index, state: 'no_matches', advice: '' }, facts, image, {
      pairs: [],
      kept: 0,
      edges: 0,
      matches: 0,
    });
  });
  for (let p = 0; p < pairs.num; ++p) {
    for (const v of [pairs.image1[p], pairs.image2[p]]) {
      images[v].pairs.push(p);
      images[v].matches += pairs.matches[p];
      if (pairs.flags[p] & IS_EDGE) ++images[v].edges;
      if (pairs.flags[p] & IS_KEPT) ++images[v].kept;
    }
  }
  return images;
}

/* What a similarity makes of the standard deviations that a run gave in its own frame. */
function moveSigmas(images, { rotation: R, scale }) {
  const at = [
    [0, 1, 2],
    [1, 3, 4],
    [2, 4, 5],
  ];
  for (const image of images) {
    if (image.center_sigma) image.center_sigma *= scale;
    const C = image.center_covariance;
    if (!C) continue;
    image.center_covariance = [
      [0, 0],
      [0, 1],
      [0, 2],
      [1, 1],
      [1, 2],
      [2, 2],
    ].map(([i, j]) => {
      let sum = 0;
      for (let a = 0; a < 3; ++a)
        for (let b = 0; b < 3; ++b) sum += R[3 * i + a] * C[at[a][b]] * R[3 * j + b];
      return sum * scale * scale;
    });
  }
}

/* An aligned page has one model, whichever of the run it was. */
function keepAligned(images, model) {
  const inside = new Set(u32(model.view));
  for (const image of images) {
    if (inside.has(image.index)) image.model = 0;
    else if (image.state === 'posed') {
      image.state = 'elsewhere';
      delete image.model;
    }
  }
}

/* Focal length of an image in pixels, undefined without a pose. */
function focalOf(image) {
  const model = report.models[image.model];
  const k = model ? model.view.indexOf(image.index) : -1;
  return k < 0 ? undefined : model.focal[k];
}

/* 'm', or 'arbitrary'. */
function unitOf(model) {
  if (report.alignment && report.alignment.unit === 'm') return 'm';
  const facts = (report.summary.models || [])[report.models.indexOf(model)];
  return (facts && facts.unit) || 'arbitrary';
}

const report = (() => {
  const raw = JSON.parse($('data').textContent);
  const pairs = readPairs(raw.pairs);
  const residuals = raw.residuals;
  residuals.first = u32(residuals.first);
  residuals.samples = i16(residuals.samples);
  for (const field of residuals.fields || []) field.mean = f32(field.mean);
  const images = readImages(raw, pairs);
  if (raw.alignment) {
    moveSigmas(images, raw.alignment);
    keepAligned(images, raw.models[0]);
  }
  return {
    version: raw.version,
    parameters: raw.parameters,
    summary: raw.summary,
    planes: raw.planes || [],
    planeModels: raw.planeModels,
    components: raw.components,
    pairs,
    homographies: readHomographies(raw.homographies),
    models: raw.models.map(readModel),
    residuals,
    images,
    alignment: raw.alignment || null,
    other: raw.other ? { ...raw.other, models: raw.other.models.map(readModel) } : null,
    comparison: raw.comparison || null,
    isBare: raw.isBare === true,
    ...photographs(),
  };
})();

/* Inliers of all homographies of a pair. */
function pairInliers(p) {
  let sum = 0;
  for (let k = report.pairs.first[p]; k < report.pairs.first[p + 1]; ++k)
    sum += report.homographies.inliers[k];
  return sum;
}

function pairStatus(p) {
  const flags = report.pairs.flags[p];
  if (flags & IN_TREE && flags & IS_KEPT) return 'tree';
  if (flags & IS_KEPT) return 'kept';
  if (flags & IS_EDGE) return 'pruned';
  return 'none';
}
const STATUS_WORDS = {
  tree: 'kept, in the tree',
  kept: 'kept',
  pruned: 'pruned',
  none: 'not an edge',
};
function pairWords(p) {
  const status = pairStatus(p);
  if (status === 'none') return KINDS[report.pairs.kind[p]];
  if (status === 'pruned' && report.pairs.flags[p] & IN_TREE) return 'pruned, though in the tree';
  return STATUS_WORDS[status];
}

function otherImage(p, image) {
  return report.pairs.image1[p] === image ? report.pairs.image2[p] : report.pairs.image1[p];
}

/* Thumbnails by image, and the clockwise quarter turns that make each upright. Keypoints and cameras
 * are those of the pixels as they are stored. */
function photographs() {
  const lines = $('thumbnails').textContent.split('\n');
  return {
    thumbnails: lines.map((line) => line.replace(/^\d:/, '')),
    turns: lines.map((line) => (line[1] === ':' ? +line[0] : 0)),
  };
}
const turnOf = (view) => report.turns[view] || 0;

/* A vector after so many clockwise quarter turns. */
function turnVector(turn, x, y) {
  return [
    [x, y],
    [-y, x],
    [-x, -y],
    [y, -x],
  ][turn];
}

/* An image's size, and a pixel of it, as it is shown: upright. */
function uprightSize({ index, width, height }) {
  return turnOf(index) % 2 ? [height, width] : [width, height];
}
function uprightPixel({ index, width, height }, x, y) {
  const turn = turnOf(index);
  const [dx, dy] = turnVector(turn, x - width / 2, y - height / 2);
  return turn % 2 ? [dx + height / 2, dy + width / 2] : [dx + width / 2, dy + height / 2];
}

/* A thumbnail as an Image, loaded on first use; null if there is none. `ready` is called when it can
 * be drawn. */
const thumbnailCache = new Map();
function thumbnail(view, ready) {
  const text = report.thumbnails[view];
  if (!text) return null;
  let image = thumbnailCache.get(view);
  if (!image) {
    image = new Image();
    image.src = 'data:image/jpeg;base64,' + text;
    thumbnailCache.set(view, image);
  }
  if (!image.complete) image.addEventListener('load', ready, { once: true });
  return image;
}

function shortNumber(x, digits = 3) {
  if (x === null || x === undefined || !Number.isFinite(x)) return '–';
  if (x !== 0 && Math.abs(x) < 1e-3) return x.toExponential(1);
  return Math.abs(x) >= 1000 ? Math.round(x).toLocaleString('en') : String(+x.toPrecision(digits));
}
const plural = (n, word) => (n === 1 ? word : word + (/(s|x|ch|sh)$/.test(word) ? 'es' : 's'));
const count = (n, word) => `${n.toLocaleString('en')} ${plural(n, word)}`;

/* A length of a model as text: metres if its unit is one. */
function lengthText(x, model) {
  if (!Number.isFinite(x)) return '–';
  if (unitOf(model) !== 'm') return `${shortNumber(x)} ${x === 1 ? 'unit' : 'units'}`;
  const size = Math.abs(x);
  if (size >= 1000) return `${shortNumber(x / 1000)} km`;
  if (size >= 1 || size === 0) return `${shortNumber(x)} m`;
  return size >= 0.01 ? `${shortNumber(100 * x)} cm` : `${shortNumber(1000 * x, 2)} mm`;
}

/* Colours from 0 to 1 that colour-blind people tell apart: from blue through grey to orange, and,
 * for numbers of things, from violet to yellow. Each as r, g, b from 0 to 1. */
const AGREES = [
  [0.17, 0.44, 0.82],
  [0.68, 0.63, 0.66],
  [0.86, 0.35, 0.02],
];
const COUNTS = [
  [0.27, 0, 0.33],
  [0.23, 0.32, 0.55],
  [0.13, 0.57, 0.55],
  [0.37, 0.79, 0.38],
  [0.99, 0.91, 0.14],
];
function ramp(stops, t) {
  const at = Math.max(0, Math.min(1, t)) * (stops.length - 1);
  const k = Math.min(stops.length - 2, Math.floor(at));
  return stops[k].map((c, d) => c + (at - k) * (stops[k + 1][d] - c));
}
const cssColor = (rgb) => `rgb(${rgb.map((c) => Math.round(255 * c)).join(' ')})`;

/* An element: attributes, `on...` handlers, and children that are elements or plain text. Text is
 * never read as HTML. */
function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}
