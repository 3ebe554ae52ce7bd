/* The parts of the 3D view as three.js objects. Everything of a kind is one object of merged
 * geometry, so that thousands of cameras stay light. */

/* Rotation matrix (rows are the camera's axes in the world) of a quaternion w, x, y, z. */
function rotationRows(q, at) {
  const length = Math.hypot(q[at], q[at + 1], q[at + 2], q[at + 3]) || 1;
  const [w, x, y, z] = [q[at] / length, q[at + 1] / length, q[at + 2] / length, q[at + 3] / length];
  return [
    [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
    [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
    [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
  ];
}

/* Apex and the four corners of camera k's frustum of the given depth: 5 x 3 numbers. */
function frustum(model, k, depth) {
  const rows = rotationRows(model.rotation, 4 * k);
  const apex = [0, 1, 2].map((d) => model.center[3 * k + d]);
  const out = [apex];
  for (let c = 0; c < 4; ++c) {
    const [x, y] = [model.corners[8 * k + 2 * c] * depth, model.corners[8 * k + 2 * c + 1] * depth];
    out.push([0, 1, 2].map((d) => apex[d] + x * rows[0][d] + y * rows[1][d] + depth * rows[2][d]));
  }
  return out;
}
const FRUSTUM_LINES = [0, 1, 0, 2, 0, 3, 0, 4, 1, 2, 2, 3, 3, 4, 4, 1];

const middleOf = (values) => {
  const sorted = Float64Array.from(values).sort();
  return sorted.length ? sorted[sorted.length >> 1] : 0;
};
function column(array, d) {
  const out = [];
  for (let k = d; k < array.length; k += 3) out.push(array[k]);
  return out;
}

const medianPoint = (array) =>
  new THREE.Vector3(...[0, 1, 2].map((d) => middleOf(column(array, d))));

/* Some of the points of an array: the share nearest to `middle`, none farther than `most`. */
function nearest(array, middle, share, most) {
  const list = [],
    step = 3 * Math.max(1, Math.ceil(array.length / 3 / 1500));
  for (let k = 0; k + 2 < array.length; k += step)
    list.push(new THREE.Vector3(array[k], array[k + 1], array[k + 2]));
  list.sort((a, b) => a.distanceTo(middle) - b.distanceTo(middle));
  return list.slice(0, Math.ceil(list.length * share)).filter((p) => p.distanceTo(middle) <= most);
}

/* Typical distance from a camera to the nearest other one. */
function spacing(model) {
  const n = model.view.length,
    step = Math.max(1, Math.floor(n / 150)),
    found = [];
  for (let a = 0; a < n; a += step) {
    let nearest = Infinity;
    for (let b = 0; b < n; ++b) {
      if (a === b) continue;
      const d = Math.hypot(
        ...[0, 1, 2].map((c) => model.center[3 * a + c] - model.center[3 * b + c]),
      );
      if (d > 0 && d < nearest) nearest = d;
    }
    if (Number.isFinite(nearest)) found.push(nearest);
  }
  return middleOf(found) || 1;
}

/* The direction that is up: the normal of the main plane, unless all cameras agree that it is far
 * from upright, as in front of a wall. `choice` overrides it. */
function upOf(model, hasPlanes, choice) {
  const up = new THREE.Vector3();
  for (let k = 0; k < model.view.length; ++k)
    up.sub(new THREE.Vector3(...rotationRows(model.rotation, 4 * k)[1]));
  up.divideScalar(model.view.length);
  const agree = up.length();
  if (agree < 1e-3) return new THREE.Vector3(0, 0, 1);
  up.normalize();
  const isWall = agree > 0.8 && Math.abs(up.z) < 0.5;
  return choice === 'cameras' || (choice !== 'plane' && (!hasPlanes || isWall))
    ? up
    : new THREE.Vector3(0, 0, 1);
}

/* Points that photographs put on a plane deviate by next to nothing; others of it deserve some slack. */
const SLACK = 0.002; // of the median camera's distance
function slackOf(model, { normal, distance }) {
  const heights = Array.from(model.view, (_, k) =>
    Math.abs(
      normal[0] * model.center[3 * k] +
        normal[1] * model.center[3 * k + 1] +
        normal[2] * model.center[3 * k + 2] -
        distance,
    ),
  );
  return SLACK * middleOf(heights);
}

/* Whether a point of the world lies on a plane, inside its polygon or hardly outside. */
function onPlane(plane, x, y, z) {
  const [a, b, c] = plane.normal;
  if (Math.abs(a * x + b * y + c * z - plane.distance) > 4 * plane.sigma + plane.slack)
    return false;
  const poly = plane.polygon;
  for (let k = 0; k < poly.length; ++k) {
    const p = poly[k],
      q = poly[(k + 1) % poly.length];
    const [ex, ey, ez] = [q[0] - p[0], q[1] - p[1], q[2] - p[2]];
    const side =
      (b * ez - c * ey) * (x - p[0]) +
      (c * ex - a * ez) * (y - p[1]) +
      (a * ey - b * ex) * (z - p[2]);
    if (side < -1e-6 * Math.hypot(ex, ey, ez)) return false;
  }
  return true;
}

function lineObject(positions, colorName, opacity = 1) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.Float32BufferAttribute(positions, 3));
  const material = new THREE.LineBasicMaterial({
    color: color(colorName),
    transparent: opacity < 1,
    opacity,
  });
  return new THREE.LineSegments(geometry, material);
}

function pointColors(model, planes, colorBy) {
  const n = model.xyz.length / 3,
    out = new Float32Array(3 * n);
  const plain = new THREE.Color(color('point'));
  const inks = planes.map((plane) => new THREE.Color().fromArray(plane.color.map((c) => c / 255)));
  const ink = new THREE.Color();
  for (let k = 0; k < n; ++k) {
    if (colorBy === 'photo')
      ink.setRGB(model.rgb[3 * k] / 255, model.rgb[3 * k + 1] / 255, model.rgb[3 * k + 2] / 255);
    else if (colorBy === 'error') ink.setRGB(...ramp(AGREES, model.error[k] / 64));
    else {
      const on = planes.findIndex((plane) =>
        onPlane(plane, model.xyz[3 * k], model.xyz[3 * k + 1], model.xyz[3 * k + 2]),
      );
      ink.copy(on < 0 ? plain : inks[on]);
    }
    ink.toArray(out, 3 * k);
  }
  return out;
}

/* A white disc, so that points are round. */
function discTexture() {
  const sheet = document.createElement('canvas');
  sheet.width = sheet.height = 32;
  const context = sheet.getContext('2d');
  context.fillStyle = '#fff';
  context.arc(16, 16, 15, 0, 7);
  context.fill();
  return new THREE.CanvasTexture(sheet);
}

/* Diameter of a point in CSS pixels: many points on a small stage are small. */
const pointSize = (num, width, height) =>
  Math.max(1.2, Math.min(1.2 + width / 700, 0.6 * Math.sqrt((width * height) / (num || 1))));

function makePoints(model, planes, colorBy) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.BufferAttribute(model.xyz, 3));
  geometry.setAttribute('color', new THREE.BufferAttribute(pointColors(model, planes, colorBy), 3));
  const material = new THREE.PointsMaterial({
    map: discTexture(),
    alphaTest: 0.4,
    sizeAttenuation: false,
    vertexColors: THREE.VertexColors || true,
  });
  return new THREE.Points(geometry, material);
}

/* The triangles of a convex polygon. */
function fanOf(polygon) {
  const faces = [];
  for (let k = 1; k + 1 < polygon.length; ++k)
    faces.push(...polygon[0], ...polygon[k], ...polygon[k + 1]);
  return faces;
}

function outlineOf(polygon) {
  return polygon.map((corner, k) => [...corner, ...polygon[(k + 1) % polygon.length]]).flat();
}

function planeFace(polygon, ink, opacity) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.Float32BufferAttribute(fanOf(polygon), 3));
  const material = new THREE.MeshBasicMaterial({
    color: ink,
    transparent: true,
    opacity,
    side: THREE.DoubleSide,
    depthWrite: false,
  });
  return new THREE.Mesh(geometry, material);
}

/* Thin outlines; the main plane, the first, is also filled. */
function makePlanes(planes) {
  const group = new THREE.Group();
  planes.forEach((plane, index) => {
    if (plane.outline.length < 3) return;
    const ink = new THREE.Color().fromArray(plane.color.map((c) => c / 255));
    if (index === 0) group.add(planeFace(plane.outline, ink, 0.13));
    const outline = lineObject(outlineOf(plane.outline), 'soft', index === 0 ? 0.9 : 0.55);
    outline.material.color.copy(ink);
    group.add(outline);
  });
  return group;
}

/* The drawing in whose frame a model is: of the court it was aligned with, or of the run. */
function strokesOf(index) {
  const { alignment, summary } = report;
  if (alignment) return alignment.strokes || null;
  const { court } = summary;
  return court && court.model === index ? court.strokes : null;
}

/* The drawing on the floor, if this model is in its frame. */
function makeDrawing(index) {
  const strokes = strokesOf(index);
  if (!strokes) return null;
  const lines = [];
  for (const stroke of strokes)
    for (let k = 0; k + 3 < stroke.length; k += 2)
      lines.push(stroke[k], stroke[k + 1], 0, stroke[k + 2], stroke[k + 3], 0);
  return lineObject(lines, 'drawing');
}

/* Edges of the pose graph between cameras of this model (all, or those of a list of pairs), by what
 * became of them. */
function makeGraph(model, place, list) {
  const { pairs } = report;
  const kinds = {
    tree: { xyz: [], pairs: [] },
    kept: { xyz: [], pairs: [] },
    pruned: { xyz: [], pairs: [] },
  };
  const add = (p) => {
    const kind = kinds[pairStatus(p)];
    const a = place.get(pairs.image1[p]),
      b = place.get(pairs.image2[p]);
    if (!kind || a === undefined || b === undefined) return;
    for (const k of [a, b])
      kind.xyz.push(model.center[3 * k], model.center[3 * k + 1], model.center[3 * k + 2]);
    kind.pairs.push(p);
  };
  if (list) list.forEach(add);
  else for (let p = 0; p < pairs.num; ++p) add(p);
  const many = pairs.num > 3000;
  const opacity = many
    ? { tree: 0.6, kept: 0.25, pruned: 0.25 }
    : { tree: 0.9, kept: 0.5, pruned: 0.6 };
  const out = {};
  for (const [status, kind] of Object.entries(kinds)) {
    out[status] = lineObject(kind.xyz, status, opacity[status]);
    out[status].userData.pairs = kind.pairs;
  }
  return out;
}

/* All frusta as lines. */
function makeFrusta(model, depth) {
  const positions = new Float32Array(model.view.length * FRUSTUM_LINES.length * 3);
  let at = 0;
  for (let k = 0; k < model.view.length; ++k) {
    const corners = frustum(model, k, depth);
    for (const c of FRUSTUM_LINES) for (let d = 0; d < 3; ++d) positions[at++] = corners[c][d];
  }
  return lineObject(positions, 'ink', model.view.length > 500 ? 0.55 : 0.9);
}

/* One frustum, filled, in the accent colour. */
function makeMark(model, k, depth) {
  const corners = frustum(model, k, depth);
  const faces = [0, 1, 2, 0, 2, 3, 0, 3, 4, 0, 4, 1, 1, 2, 3, 1, 3, 4]
    .map((c) => corners[c])
    .flat();
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.Float32BufferAttribute(faces, 3));
  const material = new THREE.MeshBasicMaterial({
    color: color('accent'),
    transparent: true,
    opacity: 0.35,
    side: THREE.DoubleSide,
    depthWrite: false,
  });
  return [
    new THREE.Mesh(geometry, material),
    lineObject(FRUSTUM_LINES.map((c) => corners[c]).flat(), 'accent'),
  ];
}

/* Frees what an object and its children hold on the graphics card. */
function disposeOf(object) {
  object.traverse((node) => {
    if (node.geometry) node.geometry.dispose();
    if (node.material && node.material.map) node.material.map.dispose();
    if (node.material) node.material.dispose();
  });
}

/* The photographs on the image planes: all thumbnails in one texture, all rectangles in one mesh. */
function makePhotos(model, depth, redraw) {
  const n = model.view.length,
    side = Math.ceil(Math.sqrt(n)),
    cell = Math.min(256, Math.floor(4096 / side));
  const sheet = document.createElement('canvas');
  sheet.width = sheet.height = side * cell;
  const context = sheet.getContext('2d');
  const texture = new THREE.CanvasTexture(sheet);
  texture.generateMipmaps = false;
  texture.minFilter = THREE.LinearFilter;
  const positions = [],
    uvs = [];
  for (let k = 0; k < n; ++k) {
    const [x, y] = [(k % side) * cell, Math.floor(k / side) * cell];
    const paint = () => {
      const image = thumbnail(model.view[k], paint);
      if (!image || !image.complete || image.naturalWidth === 0) return;
      context.drawImage(image, x, y, cell, cell);
      texture.needsUpdate = true;
      redraw();
    };
    if (!report.thumbnails[model.view[k]]) continue;
    paint();
    const f = frustum(model, k, depth);
    const corner = (c) => [
      (x + (c === 2 || c === 3 ? cell : 0)) / sheet.width,
      1 - (y + (c >= 3 ? cell : 0)) / sheet.height,
    ];
    for (const c of [1, 2, 3, 1, 3, 4]) {
      positions.push(...f[c]);
      uvs.push(...corner(c));
    }
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.Float32BufferAttribute(positions, 3));
  geometry.setAttribute('uv', new THREE.Float32BufferAttribute(uvs, 2));
  return new THREE.Mesh(
    geometry,
    new THREE.MeshBasicMaterial({
      map: texture,
      side: THREE.DoubleSide,
      transparent: true,
      opacity: 0.92,
    }),
  );
}
