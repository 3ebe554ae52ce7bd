/* Looking through a camera: the viewer flies to its centre and sees the points as it does, under its
 * photograph, as opaque as the reader likes. */

const FLIGHT_MS = 700;
const HIDDEN_IN_FLIGHT = [
  'cameras',
  'photos',
  'tree',
  'kept',
  'pruned',
  'ellipsoids',
  'overlap',
  'ground',
];

/* The projection that just shows the image, whose corners at depth 1 are given. */
function projectionOf(corners, aspect, near, far) {
  const xs = [0, 2, 4, 6].map((k) => corners[k]),
    ys = [1, 3, 5, 7].map((k) => -corners[k]);
  let [left, right, bottom, top] = [
    Math.min(...xs),
    Math.max(...xs),
    Math.min(...ys),
    Math.max(...ys),
  ];
  const grow = (low, high, size) => [(low + high - size) / 2, (low + high + size) / 2];
  const wide = 1.06 * Math.max(right - left, (top - bottom) * aspect);
  [left, right] = grow(left, right, wide);
  [bottom, top] = grow(bottom, top, wide / aspect);
  return new THREE.Matrix4().makePerspective(
    left * near,
    right * near,
    top * near,
    bottom * near,
    near,
    far,
  );
}

/* The axes to the right and down of a camera whose photograph is shown upright. */
function upright(x, y, turn) {
  return [
    [x, y],
    [y.clone().negate(), x],
    [x.clone().negate(), y.clone().negate()],
    [y, x.clone().negate()],
  ][turn];
}

function setProjection(camera, matrix) {
  camera.projectionMatrix.copy(matrix);
  const inverse = camera.projectionMatrixInverse;
  if (inverse.getInverse) inverse.getInverse(matrix);
  else inverse.copy(matrix).invert();
}

/* The photograph of camera k as a mesh `depth` before it, with the distortion of its lens. */
function makePhotograph(model, k, depth, redraw) {
  const f = frustum(model, k, depth);
  const grid = model.rays && model.rays.xy[k];
  const rows = rotationRows(model.rotation, 4 * k);
  const side = grid ? model.rays.side : 2;
  const place = (i, j) => {
    if (!grid) return f[i === 0 ? (j === 0 ? 1 : 4) : j === 0 ? 2 : 3];
    const at = 2 * (j * side + i);
    const ray = [grid[at] * depth, grid[at + 1] * depth, depth];
    return f[0].map((c, d) => c + ray[0] * rows[0][d] + ray[1] * rows[1][d] + ray[2] * rows[2][d]);
  };
  const positions = [],
    uvs = [];
  for (let j = 0; j + 1 < side; ++j)
    for (let i = 0; i + 1 < side; ++i)
      for (const [a, b] of [
        [0, 0],
        [1, 0],
        [1, 1],
        [0, 0],
        [1, 1],
        [0, 1],
      ]) {
        positions.push(...place(i + a, j + b));
        uvs.push((i + a) / (side - 1), 1 - (j + b) / (side - 1));
      }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.Float32BufferAttribute(positions, 3));
  geometry.setAttribute('uv', new THREE.Float32BufferAttribute(uvs, 2));
  const texture = new THREE.Texture();
  const paint = () => {
    const image = thumbnail(model.view[k], paint);
    if (!image || !image.complete || image.naturalWidth === 0) return;
    texture.image = image;
    texture.needsUpdate = true;
    redraw();
  };
  texture.generateMipmaps = false;
  texture.minFilter = THREE.LinearFilter;
  paint();
  const material = new THREE.MeshBasicMaterial({
    map: texture,
    transparent: true,
    depthTest: false,
    side: THREE.DoubleSide,
  });
  const mesh = new THREE.Mesh(geometry, material);
  mesh.renderOrder = 3;
  return mesh;
}

class Flight {
  constructor(view) {
    this.view = view;
    this.isOn = false;
    this.opacity = 0.6;
    const slider = el('input', {
      type: 'range',
      min: 0,
      max: 100,
      value: 100 * this.opacity,
      'aria-label': 'How opaque the photograph is',
      oninput: () => {
        this.opacity = slider.value / 100;
        this.fade();
      },
    });
    const button = (text, label, act) =>
      el('button', { class: 'chip', type: 'button', 'aria-label': label, onclick: act }, text);
    this.name = el('b');
    this.photo = el('label', { class: 'small' }, 'photograph ', slider);
    $('flight').append(
      button('‹', 'Previous camera', () => this.step(-1)),
      this.name,
      button('›', 'Next camera', () => this.step(1)),
      this.photo,
      button('back', 'Back to the view from outside', () => this.leave()),
    );
  }

  /* Flies to an image's camera. */
  enter(image) {
    const { view } = this;
    const k = view.place.get(image);
    if (k === undefined) return;
    this.drop();
    this.isOn = true;
    this.image = image;
    this.name.textContent = report.images[image].name;
    this.photo.hidden = !report.thumbnails[image];
    $('flight').hidden = false;
    if (report.thumbnails[image]) {
      this.mesh = makePhotograph(view.model, k, 0.05 * view.reach, () => view.redraw());
      this.fade();
      view.world.add(this.mesh);
    }
    view.show();
    this.fly(k);
  }

  fade() {
    if (!this.mesh) return;
    this.mesh.material.opacity = this.opacity;
    this.mesh.visible = this.opacity > 0;
    this.view.redraw();
  }

  /* Where camera k is and looks, in the viewer's world. */
  poseOf(k) {
    const { model, world } = this.view;
    const rows = rotationRows(model.rotation, 4 * k).map((row) => new THREE.Vector3(...row));
    const z = rows[2];
    const [x, y] = upright(rows[0], rows[1], turnOf(model.view[k]));
    const turn = new THREE.Quaternion().setFromRotationMatrix(
      new THREE.Matrix4().makeBasis(x, y.negate(), z.negate()),
    );
    return {
      position: new THREE.Vector3()
        .fromArray(model.center, 3 * k)
        .applyQuaternion(world.quaternion),
      turn: turn.premultiply(world.quaternion),
    };
  }

  fly(k) {
    const { view } = this;
    const { camera } = view;
    const end = this.poseOf(k);
    const turn = turnOf(view.model.view[k]);
    const corners = Array.from(view.model.corners.subarray(8 * k, 8 * k + 8));
    for (let c = 0; c < 8; c += 2)
      [corners[c], corners[c + 1]] = turnVector(turn, corners[c], corners[c + 1]);
    const projection = projectionOf(corners, camera.aspect, 0.004 * view.reach, 80 * view.reach);
    const begin = {
      position: camera.position.clone(),
      turn: camera.quaternion.clone(),
      matrix: camera.projectionMatrix.clone(),
    };
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const start = performance.now();
    const flight = (this.current = {});
    const step = (now) => {
      if (this.current !== flight) return;
      const t = still ? 1 : Math.max(0, Math.min(1, (now - start) / FLIGHT_MS));
      const ease = t * t * (3 - 2 * t);
      camera.position.lerpVectors(begin.position, end.position, ease);
      camera.quaternion.copy(begin.turn).slerp(end.turn, ease);
      const matrix = begin.matrix.clone();
      matrix.elements.forEach(
        (x, d) => (matrix.elements[d] = x + ease * (projection.elements[d] - x)),
      );
      setProjection(camera, matrix);
      camera.updateMatrixWorld();
      view.redraw();
      if (t < 1) requestAnimationFrame(step);
      else flight.isDone = true;
    };
    step(start);
  }

  step(by) {
    const { view } = this;
    const n = view.model.view.length;
    const k = (view.place.get(this.image) + by + n) % n;
    select({ image: view.model.view[k] });
    this.enter(view.model.view[k]);
  }

  drop() {
    if (!this.mesh) return;
    this.view.world.remove(this.mesh);
    disposeOf(this.mesh);
    this.mesh = null;
  }

  /* Ends it without moving the viewer. */
  end() {
    if (!this.isOn) return;
    this.drop();
    this.isOn = false;
    this.current = null;
    $('flight').hidden = true;
    this.view.show();
  }

  leave() {
    this.end();
    this.view.orbit.place();
  }
}
