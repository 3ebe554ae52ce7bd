/* The 3D view: what is shown, where from, and what the pointer is on. A frame is drawn only when
 * something has changed. */

/* What the reader has switched on and chosen. */
const layers = {
  cameras: true,
  photos: false,
  points: true,
  planes: true,
  tree: true,
  kept: true,
  pruned: true,
};
const look = { colorBy: 'photo', up: 'auto', size: 1 };
let view3d = null; // the View3d once it runs

class View3d {
  constructor(stage, renderer) {
    this.stage = stage;
    this.renderer = renderer;
    this.canvas = renderer.domElement;
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(42, 1, 0.1, 1000);
    this.asked = false;
    this.orbit = new Orbit(this.canvas, this.camera, () => this.redraw());
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute('aria-label', '3D view; arrow keys turn, plus and minus zoom');
    stage.append(this.canvas);
    this.listen();
    this.resize();
    this.applyTheme();
    new ResizeObserver(() => this.resize()).observe(stage);
  }

  redraw() {
    if (!this.asked)
      requestAnimationFrame(() => {
        this.asked = false;
        this.renderer.render(this.scene, this.camera);
      });
    this.asked = true;
  }

  resize() {
    const width = this.stage.clientWidth,
      height = this.stage.clientHeight;
    if (width === 0 || height === 0) return;
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2));
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.redraw();
  }

  /* Objects carry their colours, so that a change of theme makes them anew; the viewpoint stays. */
  applyTheme() {
    this.scene.background = new THREE.Color(color('stage'));
    const { state } = this.orbit;
    const keep = this.model ? { ...state, target: state.target.clone() } : null;
    this.load(this.model ? report.models.indexOf(this.model) : 0);
    if (!keep) return;
    Object.assign(state, keep);
    this.orbit.place();
  }

  planes() {
    const index = report.models.indexOf(this.model);
    return report.planes.filter((_, k) => report.planeModels[k] === index);
  }

  /* Shows one model. */
  load(index) {
    this.model = report.models[index];
    this.place = new Map(Array.from(this.model.view, (view, k) => [view, k]));
    if (this.world) {
      this.scene.remove(this.world);
      disposeOf(this.world);
    }
    const planes = this.planes();
    const up = upOf(this.model, planes.length > 0, look.up);
    this.isWall = planes.length > 0 && up.z < 0.9;
    this.world = new THREE.Group();
    this.world.quaternion.setFromUnitVectors(up, new THREE.Vector3(0, 0, 1));
    this.scene.add(this.world);
    this.parts = { ...makeGraph(this.model, this.place), planes: makePlanes(planes) };
    if (this.model.xyz.length) this.parts.points = makePoints(this.model, planes, look.colorBy);
    this.marks = new THREE.Group();
    this.world.add(...Object.values(this.parts), this.marks);
    this.world.updateMatrixWorld(true);
    this.measure();
    this.buildCameras();
    this.home();
    this.highlight(lookedAt());
  }

  /* Where the scene is and how large, and with it the size of the frusta. */
  measure() {
    const { model } = this;
    const cameras = medianPoint(model.center);
    const points = model.xyz.length ? medianPoint(model.xyz) : cameras;
    this.middle = cameras.clone().add(points).multiplyScalar(0.5);
    const places = nearest(model.center, this.middle, 0.98, Infinity);
    const far = places[places.length - 1].distanceTo(this.middle);
    this.extent = places.concat(nearest(model.xyz, this.middle, 0.93, 2.5 * far));
    this.reach = Math.max(...this.extent.map((p) => p.distanceTo(this.middle))) || 1;
    this.depth = Math.min(0.42 * spacing(model), 0.14 * this.reach);
    this.depth = Math.max(0.012 * this.reach, this.depth);
    const behind = cameras.sub(points).applyQuaternion(this.world.quaternion);
    this.azimuth = -2.2;
    if (Math.hypot(behind.x, behind.y) > 0.3 * this.reach)
      this.azimuth = Math.atan2(behind.y, behind.x) + 0.55;
    for (const point of [this.middle, ...this.extent]) point.applyQuaternion(this.world.quaternion);
  }

  /* Turns to the usual side, then moves so that the cameras and most points just fill the view. */
  home() {
    const { state } = this.orbit;
    state.azimuth = this.azimuth;
    state.elevation = this.isWall ? 0.25 : 0.5;
    state.target.copy(this.middle);
    state.distance = 3 * this.reach;
    this.orbit.place();
    const axes = this.orbit.axes();
    const seen = this.extent.map((p) => axes.map((axis) => axis.dot(p.clone().sub(this.middle))));
    const tall = Math.tan((this.camera.fov * Math.PI) / 360),
      wide = tall * this.camera.aspect;
    const shift = [0, 0];
    let distance = 0;
    for (let round = 0; round < 8; ++round) {
      // the middle depends on the distance
      const needs = ([x, y, z]) =>
        z + 1.08 * Math.max(Math.abs(x - shift[0]) / wide, Math.abs(y - shift[1]) / tall);
      distance = Math.max(...seen.map(needs));
      for (const d of [0, 1]) {
        const at = seen.map((p) => (p[d] - shift[d]) / Math.max(1e-9, distance - p[2]));
        shift[d] += ((Math.max(...at) + Math.min(...at)) / 2) * distance;
      }
    }
    state.target.addScaledVector(axes[0], shift[0]).addScaledVector(axes[1], shift[1]);
    state.distance = Math.max(distance, 0.2 * this.reach);
    this.orbit.place();
  }

  frustumDepth() {
    return this.depth * look.size;
  }

  /* Frusta and photographs, anew when their size changes. */
  buildCameras() {
    for (const name of ['cameras', 'photos']) {
      if (!this.parts[name]) continue;
      this.world.remove(this.parts[name]);
      disposeOf(this.parts[name]);
      delete this.parts[name];
    }
    this.parts.cameras = makeFrusta(this.model, this.frustumDepth());
    this.world.add(this.parts.cameras);
    if (layers.photos) {
      this.parts.photos = makePhotos(this.model, this.frustumDepth(), () => this.redraw());
      this.world.add(this.parts.photos);
    }
    this.show();
  }

  show() {
    for (const [name, part] of Object.entries(this.parts)) part.visible = layers[name];
    this.redraw();
  }

  recolor() {
    if (!this.parts.points) return;
    const colors = pointColors(this.model, this.planes(), look.colorBy);
    this.parts.points.geometry.setAttribute('color', new THREE.BufferAttribute(colors, 3));
    this.redraw();
  }

  /* Middle of each frustum on the canvas in CSS pixels; behind the viewer it is far away. */
  project() {
    const { model, canvas } = this;
    const point = new THREE.Vector3();
    this.screen = new Float32Array(2 * model.view.length);
    for (let k = 0; k < model.view.length; ++k) {
      point.set(0, 0, 0);
      for (const corner of frustum(model, k, this.frustumDepth()))
        point.add(new THREE.Vector3(...corner));
      point.multiplyScalar(0.2).applyMatrix4(this.world.matrixWorld).project(this.camera);
      const behind = Math.abs(point.z) > 1;
      this.screen[2 * k] = behind ? 1e9 : ((point.x + 1) / 2) * canvas.clientWidth;
      this.screen[2 * k + 1] = behind ? 1e9 : ((1 - point.y) / 2) * canvas.clientHeight;
    }
  }

  /* Where an image's frustum is on the canvas, or null. */
  screenOf(view) {
    this.project();
    const k = this.place.get(view);
    return k === undefined ? null : [this.screen[2 * k], this.screen[2 * k + 1]];
  }

  /* The camera under the pointer, -1 for none. */
  cameraAt([x, y]) {
    this.project();
    let best = -1,
      closest = 20 ** 2;
    for (let k = 0; k < this.model.view.length; ++k) {
      const d = (this.screen[2 * k] - x) ** 2 + (this.screen[2 * k + 1] - y) ** 2;
      if (d < closest) [best, closest] = [k, d];
    }
    return best;
  }

  /* The pair whose edge is under the pointer, or null; after cameraAt. */
  edgeAt([x, y]) {
    let best = null,
      closest = 7;
    for (const status of ['tree', 'kept', 'pruned']) {
      if (!layers[status]) continue;
      for (const p of this.parts[status].userData.pairs) {
        const a = 2 * this.place.get(report.pairs.image1[p]);
        const b = 2 * this.place.get(report.pairs.image2[p]);
        const [ax, ay] = [this.screen[a], this.screen[a + 1]];
        const [dx, dy] = [this.screen[b] - ax, this.screen[b + 1] - ay];
        const along = ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1);
        const t = Math.max(0, Math.min(1, along));
        const d = Math.hypot(ax + t * dx - x, ay + t * dy - y);
        if (d < closest) [best, closest] = [p, d];
      }
    }
    return best;
  }

  /* Marks an image with its edges, or a pair. */
  highlight(what) {
    disposeOf(this.marks);
    this.marks.remove(...this.marks.children);
    const views =
      what.image !== undefined
        ? [what.image]
        : what.pair !== undefined
          ? [report.pairs.image1[what.pair], report.pairs.image2[what.pair]]
          : [];
    for (const view of views)
      if (this.place.has(view))
        this.marks.add(...makeMark(this.model, this.place.get(view), 1.25 * this.frustumDepth()));
    const pairs =
      what.pair !== undefined
        ? [what.pair]
        : what.image !== undefined
          ? report.images[what.image].pairs
          : [];
    for (const lines of Object.values(makeGraph(this.model, this.place, pairs))) {
      lines.material.opacity = 1;
      lines.material.depthTest = false;
      lines.renderOrder = 2;
      this.marks.add(lines);
    }
    this.redraw();
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener('pointermove', (event) => {
      if (event.pointerType !== 'mouse' || event.buttons) return showTip('');
      const k = this.cameraAt(pointerOn(canvas, event));
      canvas.style.cursor = k >= 0 ? 'pointer' : '';
      return showTip(k >= 0 ? report.images[this.model.view[k]].name : '', event);
    });
    canvas.addEventListener('pointerleave', () => showTip(''));
    canvas.addEventListener('click', (event) => {
      if (this.orbit.wasDrag()) return;
      const at = pointerOn(canvas, event);
      const k = this.cameraAt(at);
      const pair = k < 0 ? this.edgeAt(at) : null;
      select(k >= 0 ? { image: this.model.view[k] } : pair !== null ? { pair } : {});
    });
    canvas.addEventListener('dblclick', () => this.home());
  }
}

function highlight3d(what) {
  if (view3d) view3d.highlight(what);
}

/* The buttons and lists above the view. */
function layerControls(hasThumbnails, isColored) {
  const place = $('layers');
  const toggle = (name, text, dot) =>
    chip(
      place,
      text,
      layers[name],
      (on) => {
        layers[name] = on;
        view3d.show();
      },
      dot,
    );
  const hasPoints = report.models.some((model) => model.xyz.length);
  toggle('cameras', 'cameras', 'ink');
  if (hasThumbnails)
    chip(place, 'photographs', layers.photos, (on) => {
      layers.photos = on;
      view3d.buildCameras();
    });
  if (hasPoints) toggle('points', 'points', 'point');
  if (report.planes.length) toggle('planes', 'planes', 'warn');
  toggle('tree', 'tree', 'tree');
  toggle('kept', 'kept pairs', 'kept');
  toggle('pruned', 'pruned pairs', 'pruned');
  const choice = (label, value, rows, change) => {
    const list = el('select', { 'aria-label': label, onchange: () => change(list.value) });
    for (const [name, text] of rows)
      list.append(el('option', { value: name, selected: name === value }, text));
    place.append(list);
  };
  const colors = [
    ['photo', 'photograph colours', isColored],
    ['plane', 'coloured by plane', report.planes.length > 0],
    ['error', 'coloured by error', true],
  ];
  if (hasPoints)
    choice(
      'Colour of the points',
      look.colorBy,
      colors.filter((row) => row[2]),
      (value) => {
        look.colorBy = value;
        view3d.recolor();
      },
    );
  if (report.planes.length)
    choice(
      'Which way is up',
      look.up,
      [
        ['auto', 'upright'],
        ['plane', 'main plane level'],
        ['cameras', 'cameras upright'],
      ],
      (value) => {
        look.up = value;
        view3d.load(report.models.indexOf(view3d.model));
      },
    );
  const slider = el('input', {
    type: 'range',
    min: -2,
    max: 2,
    step: 0.25,
    value: 0,
    oninput: () => {
      look.size = 2 ** slider.value;
      view3d.buildCameras();
      view3d.highlight(lookedAt());
    },
  });
  place.append(
    el('label', { class: 'soft small' }, 'size ', slider),
    el('button', { class: 'chip', type: 'button', onclick: () => view3d.home() }, 'reset view'),
  );
}

/* The list of models, if there are several. */
function modelChoice() {
  const list = $('model');
  if (report.models.length < 2) return;
  list.hidden = false;
  report.models.forEach((model, k) =>
    list.append(el('option', { value: k }, `model ${k + 1}: ${count(model.view.length, 'image')}`)),
  );
  list.addEventListener('change', () => view3d.load(+list.value));
}

function start3d() {
  const refuse = (text) => {
    $('stage').classList.add('without');
    $('stage').append(el('div', { class: 'empty' }, el('p', {}, text)));
  };
  if (typeof THREE === 'undefined')
    return refuse(
      'This program was built without three.js (Debian: libjs-three), so there is no ' +
        '3D view. Everything else is below.',
    );
  if (report.models.length === 0)
    return refuse(
      'No image could be placed, so there is nothing to see in 3D. The reasons are above.',
    );
  let renderer;
  try {
    renderer = new THREE.WebGLRenderer({ antialias: true });
  } catch (error) {
    return refuse(
      'This browser offers no WebGL, which the 3D view needs. Everything else is below.',
    );
  }
  $('hint3d').textContent = matchMedia('(pointer: coarse)').matches
    ? 'swipe to turn, pinch to zoom, tap a camera'
    : 'drag to turn, shift-drag to move, wheel to zoom, click a camera or an edge';
  const hasThumbnails = report.thumbnails.some((text) => text);
  const isColored = report.models.some((model) => model.rgb.some((c) => c !== model.rgb[0]));
  look.colorBy = isColored ? 'photo' : report.planes.length ? 'plane' : 'error';
  layers.photos = hasThumbnails && report.images.length <= 60;
  view3d = new View3d($('stage'), renderer);
  layerControls(hasThumbnails, isColored);
  modelChoice();
  canvases.push(() => view3d.applyTheme());
  selection.listeners.push((what) => {
    const model = what.image === undefined ? undefined : report.images[what.image].model;
    if (model !== undefined && !view3d.place.has(what.image)) {
      $('model').value = model;
      view3d.load(model);
    }
    view3d.highlight(what);
  });
}
