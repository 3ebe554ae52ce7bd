/* Two runs side by side: what differs in counts, errors, intrinsics and poses, and the cameras and points
 * of the other run in the 3D view, brought into the frame of this one. */

const FIRST_DIFFERENCES = 100;

/* Points (x, y, z, ...) of the other run in the frame of this one. */
function moveToFirst({ rotation: R, translation: t, scale }, xyz) {
  const out = new Float32Array(xyz.length);
  for (let k = 0; k + 2 < xyz.length; k += 3)
    for (let d = 0; d < 3; ++d)
      out[k + d] =
        t[d] + scale * (R[3 * d] * xyz[k] + R[3 * d + 1] * xyz[k + 1] + R[3 * d + 2] * xyz[k + 2]);
  return out;
}

/* The quaternion (w, x, y, z) of a camera's pose after the world was turned by R. */
function turnPose(q, at, turn) {
  const pose = new THREE.Quaternion(q[at + 1], q[at + 2], q[at + 3], q[at]).multiply(turn);
  return [pose.w, pose.x, pose.y, pose.z];
}

/* Frusta and points of the largest model of the other run, all in one colour, and a line from each
 * camera to its place here. */
function makeOther(other, view) {
  const move = report.comparison.from_other;
  const raw = other.models[0];
  const R = move.rotation;
  const back = new THREE.Matrix4().set(
    R[0],
    R[3],
    R[6],
    0,
    R[1],
    R[4],
    R[7],
    0,
    R[2],
    R[5],
    R[8],
    0,
    0,
    0,
    0,
    1,
  );
  const turn = new THREE.Quaternion().setFromRotationMatrix(back);
  const model = {
    ...raw,
    center: moveToFirst(move, raw.center),
    rotation: new Float32Array(raw.rotation.length),
  };
  raw.view.forEach((_, k) => model.rotation.set(turnPose(raw.rotation, 4 * k, turn), 4 * k));
  const group = new THREE.Group();
  const depth = Math.min(0.42 * spacing(model), spacing(view.model));
  const frusta = makeFrusta(model, depth);
  frusta.material.color.set(color('other'));
  group.add(frusta);
  if (raw.xyz.length) {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', new THREE.BufferAttribute(moveToFirst(move, raw.xyz), 3));
    const material = new THREE.PointsMaterial({
      map: discTexture(),
      alphaTest: 0.4,
      color: color('other'),
      size: 1.6 * view.ratio(),
      sizeAttenuation: false,
    });
    group.add(new THREE.Points(geometry, material));
  }
  const here = new Map(report.images.map((image) => [image.name, view.place.get(image.index)]));
  const joints = [];
  raw.view.forEach((v, k) => {
    const at = here.get(other.names[v]);
    if (at !== undefined)
      joints.push(
        ...view.model.center.subarray(3 * at, 3 * at + 3),
        ...model.center.subarray(3 * k, 3 * k + 3),
      );
  });
  group.add(lineObject(joints, 'other', 0.7));
  return group;
}

/* A row of numbers of both runs; nothing if neither has it. */
function numbersRow(name, a, b, text = (x) => shortNumber(x)) {
  const has = (x) => x !== undefined && x !== null && Number.isFinite(x);
  if (!has(a) && !has(b)) return null;
  const change = has(a) && has(b) ? b - a : NaN;
  const sign = change > 0 ? '+' : '';
  return el(
    'tr',
    {},
    el('th', { scope: 'row' }, name),
    ...[a, b].map((x) => el('td', {}, has(x) ? text(x) : '–')),
    el('td', {}, !has(change) ? '' : change === 0 ? 'same' : sign + text(change)),
  );
}

const totalSeconds = (summary) =>
  Object.values(summary.seconds || {}).reduce((sum, s) => sum + (s || 0), 0);
const numOf = (x) => Math.round(x).toLocaleString('en');

/* Counts and errors of a run. */
function outcomeOf(summary, models, residuals) {
  const images = summary.images || [];
  const posed = images.filter((image) => image.state === 'posed');
  const known = (key) => posed.map((image) => image[key]).filter((x) => typeof x === 'number');
  return {
    images: images.length,
    posed: posed.length,
    models: models.length,
    points: models.reduce((sum, model) => sum + (model.numPoints ?? model.points), 0),
    observations: residuals.observations,
    error: residuals.mean,
    rotation: median(known('rotation_sigma_deg').filter((x) => x > 0)),
    kept: summary.robust ? summary.robust.edges_accepted : undefined,
    pruned: summary.robust ? summary.robust.edges_rejected : undefined,
    probability: summary.models && summary.models[0] ? summary.models[0].probability : undefined,
    seconds: totalSeconds(summary) || undefined,
  };
}

function outcomeTable(names) {
  const { other } = report;
  const a = outcomeOf(report.summary, report.models, report.residuals);
  const b = outcomeOf(other.summary, other.models, other.residuals);
  const rows = [
    ['images placed', 'posed', numOf],
    ['images', 'images', numOf],
    ['models', 'models', numOf],
    ['points', 'points', numOf],
    ['observations', 'observations', numOf],
    ['mean error, px', 'error'],
    ['rotation ±, ° (median)', 'rotation', (x) => shortNumber(x, 2)],
    ['pairs kept', 'kept', numOf],
    ['pairs pruned', 'pruned', numOf],
    ['right with a probability of, %', 'probability', (x) => shortNumber(100 * x)],
    ['run time, s', 'seconds'],
  ];
  return el(
    'table',
    {},
    el('caption', {}, 'Counts and errors'),
    el(
      'thead',
      {},
      el('tr', {}, ...['', ...names, 'change'].map((name) => el('th', { scope: 'col' }, name))),
    ),
    el(
      'tbody',
      {},
      ...rows
        .map(([name, key, text]) => numbersRow(name, a[key], b[key], text))
        .filter((row) => row),
    ),
  );
}

/* Focal lengths of the images that both have: those that differ most. */
function focalTable(names) {
  const { other } = report;
  const there = new Map();
  for (const model of other.models)
    model.view.forEach((v, k) => there.set(other.names[v], model.focal[k]));
  const rows = [];
  for (const image of report.images) {
    const [a, b] = [focalOf(image), there.get(image.name)];
    if (a !== undefined && b !== undefined) rows.push({ name: image.name, a, b });
  }
  rows.sort((p, q) => Math.abs(q.b / q.a - 1) - Math.abs(p.b / p.a - 1));
  if (rows.length === 0 || rows[0].a === rows[0].b)
    return el('p', { class: 'soft small' }, 'The focal lengths are the same.');
  const body = rows
    .slice(0, 20)
    .map(({ name, a, b }) =>
      el(
        'tr',
        {},
        el('th', { scope: 'row', title: name }, name),
        el('td', {}, exactly(a)),
        el('td', {}, exactly(b)),
        el('td', {}, `${b > a ? '+' : ''}${shortNumber(100 * (b / a - 1), 2)} %`),
      ),
    );
  return el(
    'table',
    {},
    el('caption', {}, `Focal lengths, px${rows.length > 20 ? ': the 20 that differ most' : ''}`),
    el(
      'thead',
      {},
      el(
        'tr',
        {},
        ...['image', ...names, 'change'].map((name) => el('th', { scope: 'col' }, name)),
      ),
    ),
    el('tbody', {}, ...body),
  );
}

function poseTable() {
  const { comparison, models } = report;
  const byName = new Map(report.images.map((image) => [image.name, image.index]));
  const order = [...comparison.images].sort((a, b) => b.position - a.position);
  const rows = order.slice(0, FIRST_DIFFERENCES).map((row) => {
    const image = byName.get(row.name);
    const open = () => select({ image });
    return el(
      'tr',
      {
        'data-image': image,
        tabindex: 0,
        onclick: open,
        onkeydown: (event) => event.key === 'Enter' && open(),
      },
      el('td', { title: row.name }, row.name),
      el('td', {}, lengthText(row.position, models[0])),
      el('td', {}, shortNumber(row.rotation_deg, 3)),
    );
  });
  return el(
    'table',
    { id: 'poseTable' },
    el(
      'caption',
      {},
      `Poses, largest difference first${order.length > rows.length ? ` (${rows.length} of ${order.length})` : ''}`,
    ),
    el(
      'thead',
      {},
      el(
        'tr',
        {},
        ...['image', 'position', 'rotation, °'].map((name) => el('th', { scope: 'col' }, name)),
      ),
    ),
    el('tbody', {}, ...rows),
  );
}

function startCompare() {
  const { other, comparison, models } = report;
  if (!other) return;
  $('compare').hidden = $('compareLink').hidden = false;
  const names = [other.labels[0], other.labels[1]];
  const size = (x) => lengthText(x, models[0]);
  $('compareNote').replaceChildren(
    'This page shows ',
    el('b', {}, names[0]),
    '; ',
    el('b', { class: 'other' }, names[1]),
    ' is laid over it in the 3D view. ' +
      `${count(comparison.common, 'image')} in both largest models, ${comparison.only_a} only in the first, ${comparison.only_b} only in the second. ` +
      `After alignment the positions differ by ${size(comparison.median_position)} in the median and ${size(comparison.max_position)} at most ` +
      `(the cameras span ${size(comparison.extent)}), the rotations by ${shortNumber(comparison.median_rotation_deg, 2)}° and ${shortNumber(comparison.max_rotation_deg, 2)}°.`,
  );
  $('compareTables').append(
    el('div', { class: 'scroll' }, outcomeTable(names), focalTable(names)),
    el('div', { class: 'scroll' }, poseTable()),
  );
}
