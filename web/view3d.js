/* The 3D view: what is shown, where from, and what the pointer is on. A frame is drawn only when
 * something has changed. */

/* What the reader has switched on and chosen. */
const layers = {
  cameras: true,
  photos: false,
  points: true,
  planes: true,
  drawing: true,
  ground: true,
  tree: true,
  kept: false,
  pruned: false,
  overlap: false,
  ellipsoids: false,
  other: true,
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
    this.flight = new Flight(this);
    this.measuring = new Measure(this);
    this.orbit = new Orbit(this.canvas, this.camera, () => {
      this.flight.end();
      this.redraw();
    });
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute('role', 'application');
    this.canvas.setAttribute(
      'aria-label',
      '3D view; arrow keys turn, plus and minus zoom, page up and page down select a camera, enter looks through it',
    );
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
        this.render();
      });
    this.asked = true;
  }

  render() {
    this.renderer.render(this.scene, this.camera);
    placeScaleBar(this);
  }

  ratio() {
    return Math.min(window.devicePixelRatio || 1, 2);
  }

  resize() {
    const width = this.stage.clientWidth,
      height = this.stage.clientHeight;
    if (width === 0 || height === 0) return;
    this.renderer.setPixelRatio(this.ratio());
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.sizePoints();
    if (this.flight.isOn) this.flight.fly(this.place.get(this.flight.image));
    else this.camera.updateProjectionMatrix();
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

  sizePoints() {
    if (!this.parts || !this.parts.points) return;
    const { clientWidth, clientHeight } = this.stage;
    this.parts.points.material.size =
      this.ratio() * pointSize(this.model.xyz.length / 3, clientWidth, clientHeight);
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
    this.flight.end();
    this.measuring.clear();
    const planes = this.planes();
    outlinePlanes(this.model, planes);
    const up = upOf(this.model, planes.length > 0, look.up);
    this.isWall = planes.length > 0 && up.z < 0.9;
    this.world = new THREE.Group();
    this.world.quaternion.setFromUnitVectors(up, new THREE.Vector3(0, 0, 1));
    this.scene.add(this.world);
    this.parts = { ...makeGraph(this.model, this.place), planes: makePlanes(planes) };
    if (this.model.xyz.length) this.parts.points = makePoints(this.model, planes, look.colorBy);
    const drawing = makeDrawing(index);
    if (drawing) this.parts.drawing = drawing;
    if (report.other && index === 0) this.parts.other = makeOther(report.other, this);
    this.ground = groundFrame(this.model, planes, up);
    this.sizePoints();
    this.marks = new THREE.Group();
    this.world.add(...Object.values(this.parts), this.marks);
    this.world.updateMatrixWorld(true);
    this.measure(drawing);
    this.parts.ground = makeGround(this.ground, this.extent);
    this.world.add(this.parts.ground);
    this.turnExtent();
    this.buildCameras();
    this.home();
    this.highlight(lookedAt());
  }

  /* Where the scene is and how large, and with it the size of the frusta. */
  measure(drawing) {
    const { model } = this;
    const cameras = medianPoint(model.center);
    const points = model.xyz.length ? medianPoint(model.xyz) : cameras;
    this.middle = cameras.clone().add(points).multiplyScalar(0.5);
    const places = nearest(model.center, this.middle, 0.98, Infinity);
    const far = places[places.length - 1].distanceTo(this.middle);
    this.extent = places.concat(nearest(model.xyz, this.middle, 0.97, 2.5 * far));
    if (drawing)
      this.extent.push(
        ...nearest(drawing.geometry.attributes.position.array, this.middle, 1, Infinity),
      );
    this.reach = Math.max(...this.extent.map((p) => p.distanceTo(this.middle))) || 1;
    this.depth = Math.min(0.42 * spacing(model), 0.14 * this.reach);
    this.depth = Math.max(0.012 * this.reach, this.depth);
    const behind = cameras.sub(points).applyQuaternion(this.world.quaternion);
    this.azimuth = -2.2;
    if (Math.hypot(behind.x, behind.y) > 0.3 * this.reach)
      this.azimuth = Math.atan2(behind.y, behind.x) + 0.55;
  }

  /* From here on the middle and the extent are in the viewer's frame. */
  turnExtent() {
    for (const point of [this.middle, ...this.extent]) point.applyQuaternion(this.world.quaternion);
  }

  /* Turns to the usual side, then moves so that the cameras and most points just fill the view. */
  home() {
    const { state } = this.orbit;
    state.azimuth = this.azimuth;
    state.elevation = this.isWall ? 0.25 : this.camera.aspect < 1 ? 0.85 : 0.55;
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
    this.buildOnRequest();
    for (const [name, part] of Object.entries(this.parts))
      part.visible = layers[name] && !(this.flight.isOn && HIDDEN_IN_FLIGHT.includes(name));
    this.marks.visible = !this.flight.isOn;
    this.redraw();
  }

  /* What takes time is made when it is first shown. */
  buildOnRequest() {
    const planes = this.planes();
    if (layers.overlap && !this.parts.overlap && planes.length)
      this.add('overlap', makeOverlap(this.model, planes, this.ground));
    if (layers.ellipsoids && !this.parts.ellipsoids)
      this.add('ellipsoids', makeEllipsoids(this.model, ellipsoidFactor(this.model, this.depth)));
    const { overlap, ellipsoids } = this.parts;
    $('overlapLegend').replaceChildren(
      ...(layers.overlap && overlap ? overlapLegend(overlap.userData.overlap) : []),
    );
    $('ellipsoidNote').textContent =
      layers.ellipsoids && ellipsoids
        ? `ellipsoids: one standard deviation, ${count(ellipsoids.userData.factor, 'time')} as large`
        : '';
  }

  add(name, part) {
    this.parts[name] = part;
    this.world.add(part);
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
    const plane = what.plane === undefined ? null : report.planes[what.plane];
    if (plane && plane.outline && this.planes().includes(plane))
      this.marks.add(
        planeFace(plane.outline, new THREE.Color(color('accent')), 0.3),
        lineObject(outlineOf(plane.outline), 'accent'),
      );
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
      if (this.measuring.isOn) {
        this.measuring.pick(at);
        return;
      }
      const k = this.cameraAt(at);
      const pair = k < 0 ? this.edgeAt(at) : null;
      select(k >= 0 ? { image: this.model.view[k] } : pair !== null ? { pair } : {});
      if (isNarrow()) this.stage.scrollIntoView({ block: 'start', behavior: 'instant' });
    });
    canvas.addEventListener('dblclick', () => this.home());
    canvas.addEventListener('keydown', (event) => this.key(event));
  }

  /* Cameras by key. */
  key(event) {
    const at = this.place.get(lookedAt().image);
    const { view } = this.model;
    const steps = { PageDown: 1, PageUp: -1 };
    if (steps[event.key]) {
      const next = at === undefined ? 0 : (at + steps[event.key] + view.length) % view.length;
      select({ image: view[next] });
      if (this.flight.isOn) this.flight.enter(view[next]);
    } else if (event.key === 'Enter' && at !== undefined) this.flight.enter(view[at]);
    else return;
    event.preventDefault();
  }
}

function highlight3d(what) {
  if (view3d) view3d.highlight(what);
}
