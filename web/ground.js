/* What gives the 3D view its scale: a grid on the ground, axes with their letters, and a bar. */

const AXIS_INKS = ['#d55e00', '#009e73', '#2f7fd6'];

/* The least of 1, 2 and 5 times a power of ten that is not below x. */
function roundUp(x) {
  const power = 10 ** Math.floor(Math.log10(x));
  return [1, 2, 5, 10].map((m) => m * power).find((s) => s >= 0.999999 * x);
}

/* The ground in the frame of the model: the main plane or, without planes, what lies under the
 * points across `up`. */
function groundFrame(model, planes, up) {
  const normal = planes.length ? planes[0].normal : up.toArray();
  const axes = planeAxes(normal);
  if (planes.length) return { ...axes, height: planes[0].distance };
  const source = model.xyz.length ? model.xyz : model.center;
  const heights = [];
  for (let k = 0; k + 2 < source.length; k += 3)
    heights.push(axes.n.x * source[k] + axes.n.y * source[k + 1] + axes.n.z * source[k + 2]);
  heights.sort((a, b) => a - b);
  return { ...axes, height: heights[Math.floor(0.05 * heights.length)] || 0 };
}

const onGround = ({ u, v, n, height }, x, y) =>
  new THREE.Vector3().addScaledVector(u, x).addScaledVector(v, y).addScaledVector(n, height);

/* A letter that faces the viewer. */
function letter(text, ink, size) {
  const sheet = document.createElement('canvas');
  sheet.width = sheet.height = 64;
  const context = sheet.getContext('2d');
  context.font = 'bold 46px system-ui, sans-serif';
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillStyle = ink;
  context.fillText(text, 32, 34);
  const material = new THREE.SpriteMaterial({
    map: new THREE.CanvasTexture(sheet),
    depthTest: false,
  });
  const sprite = new THREE.Sprite(material);
  sprite.scale.setScalar(size);
  return sprite;
}

/* x, y and z of the model from its origin. */
function makeAxes(length) {
  const group = new THREE.Group();
  AXIS_INKS.forEach((ink, d) => {
    const end = [0, 0, 0];
    end[d] = length;
    const line = lineObject([0, 0, 0, ...end], 'ink');
    line.material.color.set(ink);
    const name = letter('xyz'[d], ink, 0.35 * length);
    name.position.fromArray(end).multiplyScalar(1.13);
    group.add(line, name);
  });
  return group;
}

/* The grid under `extent` (points of the model), and the axes if the origin is not far from it.
 * userData.spacing: of the lines. */
function makeGround(frame, extent) {
  const xs = extent.map((p) => frame.u.dot(p)),
    ys = extent.map((p) => frame.v.dot(p));
  const low = [Math.min(...xs), Math.min(...ys)],
    high = [Math.max(...xs), Math.max(...ys)];
  const span = Math.max(high[0] - low[0], high[1] - low[1]) || 1;
  const spacing = roundUp(span / 14);
  const [from, to] = [
    low.map((x) => Math.floor(x / spacing)),
    high.map((x) => Math.ceil(x / spacing)),
  ];
  const lines = [];
  const add = (x0, y0, x1, y1) =>
    lines.push(
      ...onGround(frame, x0 * spacing, y0 * spacing).toArray(),
      ...onGround(frame, x1 * spacing, y1 * spacing).toArray(),
    );
  for (let k = from[0]; k <= to[0]; ++k) add(k, from[1], k, to[1]);
  for (let k = from[1]; k <= to[1]; ++k) add(from[0], k, to[0], k);
  const group = new THREE.Group();
  group.add(lineObject(lines, 'none', 0.4));
  const nearOrigin = low.every((x, d) => x - spacing <= 0 && high[d] + spacing >= 0);
  if (nearOrigin && Math.abs(frame.height) < span) group.add(makeAxes(1.5 * spacing));
  group.userData.spacing = spacing;
  return group;
}

/* The bar in the corner: a round length where the viewer looks. */
function placeScaleBar(view) {
  const bar = $('scaleBar');
  const perUnit =
    view.canvas.clientHeight /
    (2 * view.orbit.state.distance * Math.tan((view.camera.fov * Math.PI) / 360));
  bar.hidden = view.flight.isOn || !Number.isFinite(perUnit);
  if (bar.hidden) return;
  const length = roundUp(55 / perUnit);
  bar.firstElementChild.style.width = `${(length * perUnit).toFixed(1)}px`;
  const grid = layers.ground
    ? `; grid ${lengthText(view.parts.ground.userData.spacing, view.model)}`
    : '';
  bar.lastElementChild.textContent = lengthText(length, view.model) + grid;
}
