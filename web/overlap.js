/* The overlap map: how many cameras see each cell of the main plane. A camera sees a cell if its middle
 * lies in the frustum; what stands in between is not asked. O(cells x cameras), on request. */

const CELLS_ALONG = 56;
const MOST_LOOKS = 3e7; // cells times cameras; with more cameras cells get larger

/* Whether camera k sees a point: in front of it, and inside the four corners of its image. */
function sees(model, rows, k, x, y, z) {
  const [dx, dy, dz] = [
    x - model.center[3 * k],
    y - model.center[3 * k + 1],
    z - model.center[3 * k + 2],
  ];
  const depth = rows[2][0] * dx + rows[2][1] * dy + rows[2][2] * dz;
  if (!(depth > 0)) return false;
  const px = (rows[0][0] * dx + rows[0][1] * dy + rows[0][2] * dz) / depth;
  const py = (rows[1][0] * dx + rows[1][1] * dy + rows[1][2] * dz) / depth;
  for (let c = 0; c < 4; ++c) {
    const a = 8 * k + 2 * c,
      b = 8 * k + 2 * ((c + 1) % 4);
    const [ax, ay] = [model.corners[a], model.corners[a + 1]];
    if ((model.corners[b] - ax) * (py - ay) - (model.corners[b + 1] - ay) * (px - ax) < 0)
      return false;
  }
  return true;
}

/* { cell, cells: [{ x, y, seen }], most }: cells of the plane's outline in the frame of the ground. */
function countOverlap(model, plane, frame) {
  const flat = plane.outline.map((corner) => {
    const p = new THREE.Vector3(...corner);
    return [frame.u.dot(p), frame.v.dot(p)];
  });
  const low = [0, 1].map((d) => Math.min(...flat.map((p) => p[d])));
  const high = [0, 1].map((d) => Math.max(...flat.map((p) => p[d])));
  const along = Math.max(
    8,
    Math.min(CELLS_ALONG, Math.floor(Math.sqrt(MOST_LOOKS / model.view.length))),
  );
  const cell = Math.max(high[0] - low[0], high[1] - low[1]) / along || 1;
  const rows = Array.from(model.view, (_, k) => rotationRows(model.rotation, 4 * k));
  const cells = [];
  for (let x = low[0] + cell / 2; x < high[0]; x += cell)
    for (let y = low[1] + cell / 2; y < high[1]; y += cell) {
      const p = onGround(frame, x, y);
      let seen = 0;
      for (let k = 0; k < rows.length; ++k) if (sees(model, rows[k], k, p.x, p.y, p.z)) ++seen;
      cells.push({ x, y, seen });
    }
  return { cell, cells, most: cells.reduce((most, c) => Math.max(most, c.seen), 0) };
}

/* The cells as one mesh, coloured by their number; userData.overlap: the numbers. */
function makeOverlap(model, planes, frame) {
  const overlap = countOverlap(model, planes[0], frame);
  const positions = [],
    colors = [];
  const half = overlap.cell / 2;
  for (const { x, y, seen } of overlap.cells) {
    const corner = (sx, sy) => onGround(frame, x + sx * half, y + sy * half).toArray();
    const [a, b, c, d] = [corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1)];
    positions.push(...a, ...b, ...c, ...a, ...c, ...d);
    const ink = ramp(COUNTS, seen / (overlap.most || 1));
    for (let k = 0; k < 6; ++k) colors.push(...ink);
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.Float32BufferAttribute(positions, 3));
  geometry.setAttribute('color', new THREE.Float32BufferAttribute(colors, 3));
  const mesh = new THREE.Mesh(
    geometry,
    new THREE.MeshBasicMaterial({
      vertexColors: THREE.VertexColors || true,
      side: THREE.DoubleSide,
      transparent: true,
      opacity: 0.72,
      depthWrite: false,
    }),
  );
  mesh.userData.overlap = overlap;
  return mesh;
}

/* The legend over the view. */
function overlapLegend(overlap) {
  const middle = overlap.cells.map((c) => c.seen).sort((a, b) => a - b)[overlap.cells.length >> 1];
  const bar = el('i', { class: 'ramp' });
  bar.style.background = `linear-gradient(90deg, ${COUNTS.map(cssColor).join(', ')})`;
  return [
    el('span', {}, '0'),
    bar,
    el('span', {}, `${count(overlap.most, 'camera')} (median ${middle})`),
  ];
}
