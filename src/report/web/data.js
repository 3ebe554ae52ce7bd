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
    part: u32(raw.part),
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

/* Focal length of an image in pixels, undefined without a pose. */
function focalOf(image) {
  const model = report.models[image.model];
  const k = model ? model.view.indexOf(image.index) : -1;
  return k < 0 ? undefined : model.focal[k];
}

const report = (() => {
  const raw = JSON.parse($('data').textContent);
  const pairs = readPairs(raw.pairs);
  const residuals = raw.residuals;
  residuals.first = u32(residuals.first);
  residuals.samples = i16(residuals.samples);
  return {
    version: raw.version,
    summary: raw.summary,
    planes: raw.planes || [],
    planeModels: raw.planeModels,
    components: raw.components,
    pairs,
    homographies: readHomographies(raw.homographies),
    models: raw.models.map(readModel),
    residuals,
    images: readImages(raw, pairs),
    thumbnails: $('thumbnails').textContent.split('\n'),
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
const count = (n, word) =>
  `${n.toLocaleString('en')} ${word}${n === 1 ? '' : word.endsWith('x') ? 'es' : 's'}`;

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
