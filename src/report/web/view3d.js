/* The 3D view: cameras as frusta, points, planes, the pose graph. Everything of a kind is one
 * object of merged geometry, and a frame is drawn only when something has changed, so that
 * thousands of cameras stay light. */

const view3d = { ready: false, layers: { cameras: true, photos: false, points: true, planes: true, tree: true, kept: true, pruned: false }, colorBy: 'photo', up: 'auto', size: 1 };

/* What tests and the page itself may ask for. */
function highlight3d(what) {
  if (view3d.ready) view3d.highlight(what);
}

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

const middleOf = (values) => { const sorted = Float64Array.from(values).sort(); return sorted.length ? sorted[sorted.length >> 1] : 0; };
function column(array, d) {
  const out = [];
  for (let k = d; k < array.length; k += 3) out.push(array[k]);
  return out;
}

/* Typical distance from a camera to the nearest other one. */
function spacing(model) {
  const n = model.view.length, step = Math.max(1, Math.floor(n / 150)), found = [];
  for (let a = 0; a < n; a += step) {
    let nearest = Infinity;
    for (let b = 0; b < n; ++b) {
      if (a === b) continue;
      const d = Math.hypot(...[0, 1, 2].map((c) => model.center[3 * a + c] - model.center[3 * b + c]));
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
  for (let k = 0; k < model.view.length; ++k) up.sub(new THREE.Vector3(...rotationRows(model.rotation, 4 * k)[1]));
  up.divideScalar(model.view.length);
  const agree = up.length();
  if (agree < 1e-3) return new THREE.Vector3(0, 0, 1);
  up.normalize();
  const isWall = agree > .8 && Math.abs(up.z) < .5;
  return choice === 'cameras' || (choice !== 'plane' && (!hasPlanes || isWall)) ? up : new THREE.Vector3(0, 0, 1);
}

/* Whether a point of the world lies on a plane, inside its polygon or hardly outside. */
function onPlane(plane, x, y, z) {
  const [a, b, c] = plane.normal;
  if (Math.abs(a * x + b * y + c * z - plane.distance) > 4 * plane.sigma + 1e-9) return false;
  const poly = plane.polygon;
  for (let k = 0; k < poly.length; ++k) {
    const p = poly[k], q = poly[(k + 1) % poly.length];
    const [ex, ey, ez] = [q[0] - p[0], q[1] - p[1], q[2] - p[2]];
    const side = (b * ez - c * ey) * (x - p[0]) + (c * ex - a * ez) * (y - p[1]) + (a * ey - b * ex) * (z - p[2]);
    if (side < -1e-6 * Math.hypot(ex, ey, ez)) return false;
  }
  return true;
}

function lineObject(positions, colorName, opacity = 1) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.Float32BufferAttribute(positions, 3));
  const material = new THREE.LineBasicMaterial({ color: color(colorName), transparent: opacity < 1, opacity });
  return new THREE.LineSegments(geometry, material);
}

function pointColors(model, planes, colorBy) {
  const n = model.xyz.length / 3, out = new Float32Array(3 * n);
  const plain = new THREE.Color(color('point'));
  const inks = planes.map((plane) => new THREE.Color().fromArray(plane.color.map((c) => c / 255)));
  const ink = new THREE.Color();
  for (let k = 0; k < n; ++k) {
    if (colorBy === 'photo') ink.setRGB(model.rgb[3 * k] / 255, model.rgb[3 * k + 1] / 255, model.rgb[3 * k + 2] / 255);
    else if (colorBy === 'error') ink.setHSL(Math.max(0, .42 - model.error[k] / 64 * .42), .85, .5);
    else {
      const on = planes.findIndex((plane) => onPlane(plane, model.xyz[3 * k], model.xyz[3 * k + 1], model.xyz[3 * k + 2]));
      ink.copy(on < 0 ? plain : inks[on]);
    }
    ink.toArray(out, 3 * k);
  }
  return out;
}

function makePoints(model, planes) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.BufferAttribute(model.xyz, 3));
  geometry.setAttribute('color', new THREE.BufferAttribute(pointColors(model, planes, view3d.colorBy), 3));
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  const material = new THREE.PointsMaterial({ size: (model.xyz.length > 90000 ? 1.6 : 2.4) * ratio, sizeAttenuation: false, vertexColors: THREE.VertexColors || true });
  return new THREE.Points(geometry, material);
}

function makePlanes(planes) {
  const group = new THREE.Group();
  for (const plane of planes) {
    if (plane.polygon.length < 3) continue;
    const faces = [], edges = [];
    plane.polygon.forEach((corner, k) => {
      const next = plane.polygon[(k + 1) % plane.polygon.length];
      edges.push(...corner, ...next);
      if (k >= 1 && k + 1 < plane.polygon.length) faces.push(...plane.polygon[0], ...corner, ...next);
    });
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', new THREE.Float32BufferAttribute(faces, 3));
    const ink = new THREE.Color().fromArray(plane.color.map((c) => c / 255));
    const material = new THREE.MeshBasicMaterial({ color: ink, transparent: true, opacity: .16, side: THREE.DoubleSide, depthWrite: false });
    group.add(new THREE.Mesh(geometry, material));
    const outline = lineObject(edges, 'soft', .8);
    outline.material.color.copy(ink);
    group.add(outline);
  }
  return group;
}

/* Edges of the pose graph between cameras of this model, by what became of them. */
function makeGraph(model, place) {
  const lines = { tree: [], kept: [], pruned: [] }, pairsOf = { tree: [], kept: [], pruned: [] };
  const { pairs } = report;
  for (let p = 0; p < pairs.num; ++p) {
    const status = pairStatus(p), a = place.get(pairs.image1[p]), b = place.get(pairs.image2[p]);
    if (status === 'none' || a === undefined || b === undefined) continue;
    for (const k of [a, b]) lines[status].push(model.center[3 * k], model.center[3 * k + 1], model.center[3 * k + 2]);
    pairsOf[status].push(p);
  }
  const many = pairs.num > 3000;
  return {
    pairsOf, tree: lineObject(lines.tree, 'tree', many ? .6 : .9), kept: lineObject(lines.kept, 'kept', many ? .25 : .5),
    pruned: lineObject(lines.pruned, 'pruned', many ? .25 : .6),
  };
}

/* The photographs on the image planes: all thumbnails in one texture, all rectangles in one mesh. */
function makePhotos(model, depth, redraw) {
  const n = model.view.length, side = Math.ceil(Math.sqrt(n)), cell = Math.min(256, Math.floor(4096 / side));
  const sheet = document.createElement('canvas');
  sheet.width = sheet.height = side * cell;
  const context = sheet.getContext('2d');
  const texture = new THREE.CanvasTexture(sheet);
  texture.generateMipmaps = false;
  texture.minFilter = THREE.LinearFilter;
  const positions = [], uvs = [];
  for (let k = 0; k < n; ++k) {
    const [x, y] = [k % side * cell, Math.floor(k / side) * cell];
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
    const corner = (c) => [(x + (c === 2 || c === 3 ? cell : 0)) / sheet.width, 1 - (y + (c >= 3 ? cell : 0)) / sheet.height];
    for (const c of [1, 2, 3, 1, 3, 4]) {
      positions.push(...f[c]);
      uvs.push(...corner(c));
    }
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.Float32BufferAttribute(positions, 3));
  geometry.setAttribute('uv', new THREE.Float32BufferAttribute(uvs, 2));
  return new THREE.Mesh(geometry, new THREE.MeshBasicMaterial({ map: texture, side: THREE.DoubleSide, transparent: true, opacity: .92 }));
}

/* Turning, shifting and zooming round a target; z is up. */
function orbit(canvas, camera, changed) {
  const state = { azimuth: -2.2, elevation: .55, distance: 10, target: new THREE.Vector3() };
  const pointers = new Map();
  let armed = false, moved = 0;
  const place = () => {
    const c = Math.cos(state.elevation);
    camera.position.set(Math.cos(state.azimuth) * c, Math.sin(state.azimuth) * c, Math.sin(state.elevation)).multiplyScalar(state.distance).add(state.target);
    camera.near = state.distance / 500;
    camera.far = state.distance * 60;
    camera.up.set(0, 0, 1);
    camera.lookAt(state.target);
    camera.updateProjectionMatrix();
    camera.updateMatrixWorld();
    changed();
  };
  const turn = (dx, dy) => {
    state.azimuth -= dx * .006;
    state.elevation = Math.max(-1.55, Math.min(1.55, state.elevation + dy * .006));
  };
  const shift = (dx, dy) => {
    const scale = 2 * state.distance * Math.tan(camera.fov * Math.PI / 360) / canvas.clientHeight;
    const e = camera.matrixWorld.elements;
    state.target.add(new THREE.Vector3(e[0], e[1], e[2]).multiplyScalar(-dx * scale)).add(new THREE.Vector3(e[4], e[5], e[6]).multiplyScalar(dy * scale));
  };
  const zoom = (factor) => { state.distance *= Math.max(.2, Math.min(5, factor)); };
  canvas.addEventListener('pointerdown', (event) => {
    pointers.set(event.pointerId, [event.clientX, event.clientY]);
    canvas.setPointerCapture(event.pointerId);
    moved = 0;
  });
  canvas.addEventListener('pointermove', (event) => {
    armed = true;
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const [dx, dy] = [event.clientX - before[0], event.clientY - before[1]];
    moved += Math.abs(dx) + Math.abs(dy);
    if (pointers.size === 1 && (event.shiftKey || event.buttons & 6)) shift(dx, dy);
    else if (pointers.size === 1) turn(dx, event.pointerType === 'touch' ? 0 : dy);
    else if (pointers.size === 2) {
      const other = [...pointers.entries()].find(([id]) => id !== event.pointerId)[1];
      const span = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
      zoom(span(before) / span([event.clientX, event.clientY]));
      turn(0, dy / 2);
    }
    pointers.set(event.pointerId, [event.clientX, event.clientY]);
    place();
  });
  for (const end of ['pointerup', 'pointercancel']) canvas.addEventListener(end, (event) => pointers.delete(event.pointerId));
  /* The wheel zooms only after the pointer has moved here: who scrolls past keeps scrolling. */
  window.addEventListener('scroll', () => { armed = false; }, { passive: true });
  canvas.addEventListener('wheel', (event) => {
    if (!armed) return;
    event.preventDefault();
    zoom(Math.exp(event.deltaY * (event.deltaMode === 1 ? .03 : .0015)));
    place();
  }, { passive: false });
  canvas.addEventListener('contextmenu', (event) => event.preventDefault());
  canvas.addEventListener('keydown', (event) => {
    const moves = { ArrowLeft: () => turn(20, 0), ArrowRight: () => turn(-20, 0), ArrowUp: () => turn(0, 20), ArrowDown: () => turn(0, -20), '+': () => zoom(.85), '-': () => zoom(1.18) };
    if (!moves[event.key]) return;
    event.preventDefault();
    moves[event.key]();
    place();
  });
  return { state, place, wasDrag: () => moved > 6 };
}

function start3d() {
  const stage = $('stage');
  const refuse = (text) => stage.append(el('div', { class: 'empty' }, el('p', {}, text)));
  if (typeof THREE === 'undefined') return refuse('This program was built without three.js (Debian: libjs-three), so there is no 3D view. Everything else is below.');
  if (report.models.length === 0) return refuse('No image could be placed, so there is nothing to see in 3D. The reasons are above.');
  let renderer;
  try {
    renderer = new THREE.WebGLRenderer({ antialias: true });
  } catch (error) {
    return refuse('This browser offers no WebGL, which the 3D view needs. Everything else is below.');
  }
  run3d(stage, renderer);
}

function run3d(stage, renderer) {
  const canvas = renderer.domElement;
  const { layers } = view3d;
  canvas.tabIndex = 0;
  canvas.setAttribute('aria-label', '3D view; arrow keys turn, plus and minus zoom');
  stage.append(canvas);
  $('hint3d').textContent = matchMedia('(pointer: coarse)').matches ? 'swipe to turn, pinch to zoom, tap a camera' : 'drag to turn, shift-drag to move, wheel to zoom, click a camera or an edge';

  const scene = new THREE.Scene();
  const camera = new THREE.PerspectiveCamera(42, 1, .1, 1000);
  let asked = false;
  const draw = () => {
    asked = false;
    renderer.render(scene, camera);
  };
  const redraw = () => {
    if (!asked) requestAnimationFrame(draw);
    asked = true;
  };
  const controls = orbit(canvas, camera, redraw);
  let world, model, place, depth, parts, marks, screen, middle, extent, reach, azimuth;

  const resize = () => {
    const width = stage.clientWidth, height = stage.clientHeight;
    if (width === 0 || height === 0) return;
    renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2));
    renderer.setSize(width, height, false);
    camera.aspect = width / height;
    camera.updateProjectionMatrix();
    redraw();
  };

  const planesHere = () => report.planes.filter((_, k) => report.planeModels[k] === report.models.indexOf(model));

  const drop = (object) => object.traverse((node) => {
    if (node.geometry) node.geometry.dispose();
    if (node.material && node.material.map) node.material.map.dispose();
    if (node.material) node.material.dispose();
  });

  /* Frusta and photographs, anew when their size changes. */
  const buildCameras = () => {
    for (const name of ['cameras', 'photos']) {
      if (!parts[name]) continue;
      world.remove(parts[name]);
      drop(parts[name]);
      parts[name] = null;
    }
    const positions = new Float32Array(model.view.length * FRUSTUM_LINES.length * 3);
    let at = 0;
    for (let k = 0; k < model.view.length; ++k) {
      const f = frustum(model, k, depth * view3d.size);
      for (const c of FRUSTUM_LINES) for (let d = 0; d < 3; ++d) positions[at++] = f[c][d];
    }
    parts.cameras = lineObject(positions, 'ink', model.view.length > 500 ? .55 : .85);
    if (layers.photos) parts.photos = makePhotos(model, depth * view3d.size, redraw);
    world.add(parts.cameras);
    if (parts.photos) world.add(parts.photos);
    show();
  };

  const show = () => {
    for (const name of Object.keys(layers)) if (parts[name]) parts[name].visible = layers[name];
    redraw();
  };

  const load = (index) => {
    model = report.models[index];
    place = new Map(Array.from(model.view, (v, k) => [v, k]));
    if (world) {
      scene.remove(world);
      drop(world);
    }
    const planes = planesHere();
    world = new THREE.Group();
    world.quaternion.setFromUnitVectors(upOf(model, planes.length > 0, view3d.up), new THREE.Vector3(0, 0, 1));
    scene.add(world);
    const graph = makeGraph(model, place);
    parts = { tree: graph.tree, kept: graph.kept, pruned: graph.pruned, pairsOf: graph.pairsOf };
    if (model.xyz.length) parts.points = makePoints(model, planes);
    parts.planes = makePlanes(planes);
    for (const name of ['tree', 'kept', 'pruned', 'points', 'planes']) if (parts[name]) world.add(parts[name]);
    marks = new THREE.Group();
    world.add(marks);
    world.updateMatrixWorld(true);
    frameScene();
    buildCameras();
    home();
    view3d.highlight(lookedAt());
  };

  /* Where the scene is and how large, and with it the size of the frusta. */
  const frameScene = () => {
    const median3 = (array) => new THREE.Vector3(...[0, 1, 2].map((d) => middleOf(column(array, d))));
    const cameras = median3(model.center), points = model.xyz.length ? median3(model.xyz) : cameras;
    middle = cameras.clone().add(points).multiplyScalar(.5);
    const nearest = (array, share, most) => {
      const list = [], step = 3 * Math.ceil(array.length / 3 / 1500);
      for (let k = 0; k + 2 < array.length; k += step) list.push(new THREE.Vector3(array[k], array[k + 1], array[k + 2]));
      list.sort((a, b) => a.distanceTo(middle) - b.distanceTo(middle));
      return list.slice(0, Math.ceil(list.length * share)).filter((p) => p.distanceTo(middle) <= most);
    };
    const places = nearest(model.center, .98, Infinity);
    const far = places[places.length - 1].distanceTo(middle);
    extent = places.concat(nearest(model.xyz, .93, 2.5 * far));
    reach = Math.max(...extent.map((p) => p.distanceTo(middle))) || 1;
    depth = Math.max(.012 * reach, Math.min(.42 * spacing(model), .14 * reach));
    const behind = cameras.sub(points).applyQuaternion(world.quaternion);
    azimuth = Math.hypot(behind.x, behind.y) > .3 * reach ? Math.atan2(behind.y, behind.x) + .55 : -2.2;
    for (const point of [middle, ...extent]) point.applyQuaternion(world.quaternion);
  };

  /* Turns to the usual side, then moves so that the cameras and most points just fill the view. */
  const home = () => {
    const { state } = controls;
    state.azimuth = azimuth;
    state.elevation = .35;
    state.target.copy(middle);
    state.distance = 3 * reach;
    controls.place();
    const e = camera.matrixWorld.elements;
    const axes = [0, 4, 8].map((k) => new THREE.Vector3(e[k], e[k + 1], e[k + 2]));
    const seen = extent.map((point) => axes.map((axis) => axis.dot(point.clone().sub(middle))));
    const tall = Math.tan(camera.fov * Math.PI / 360), wide = tall * camera.aspect;
    let shift = [0, 0], distance = 0;
    for (let round = 0; round < 8; ++round) { // perspective: the middle depends on the distance
      distance = Math.max(...seen.map(([x, y, z]) => z + 1.08 * Math.max(Math.abs(x - shift[0]) / wide, Math.abs(y - shift[1]) / tall)));
      shift = [0, 1].map((d) => {
        const places = seen.map((p) => (p[d] - shift[d]) / Math.max(1e-9, distance - p[2]));
        return shift[d] + (Math.max(...places) + Math.min(...places)) / 2 * distance;
      });
    }
    state.target.addScaledVector(axes[0], shift[0]).addScaledVector(axes[1], shift[1]);
    state.distance = Math.max(distance, .2 * reach);
    controls.place();
  };

  /* Middle of each frustum on the canvas, in CSS pixels; behind the viewer it is far away. */
  const project = () => {
    const point = new THREE.Vector3();
    screen = new Float32Array(2 * model.view.length);
    for (let k = 0; k < model.view.length; ++k) {
      const f = frustum(model, k, depth * view3d.size);
      point.set(0, 0, 0);
      for (const c of f) point.add(new THREE.Vector3(...c));
      point.multiplyScalar(.2).applyMatrix4(world.matrixWorld).project(camera);
      const behind = point.z > 1 || point.z < -1;
      screen[2 * k] = behind ? 1e9 : (point.x + 1) / 2 * canvas.clientWidth;
      screen[2 * k + 1] = behind ? 1e9 : (1 - point.y) / 2 * canvas.clientHeight;
    }
    return screen;
  };

  const cameraAt = ([x, y]) => {
    project();
    let best = -1, nearest = 20 ** 2;
    for (let k = 0; k < model.view.length; ++k) {
      const d = (screen[2 * k] - x) ** 2 + (screen[2 * k + 1] - y) ** 2;
      if (d < nearest) [best, nearest] = [k, d];
    }
    return best;
  };

  const edgeAt = ([x, y]) => {
    let best = null, nearest = 7;
    for (const status of ['tree', 'kept', 'pruned']) {
      if (!layers[status]) continue;
      for (const p of parts.pairsOf[status]) {
        const [a, b] = [place.get(report.pairs.image1[p]), place.get(report.pairs.image2[p])];
        const [ax, ay, bx, by] = [screen[2 * a], screen[2 * a + 1], screen[2 * b], screen[2 * b + 1]];
        const t = Math.max(0, Math.min(1, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2 || 1)));
        const d = Math.hypot(ax + t * (bx - ax) - x, ay + t * (by - ay) - y);
        if (d < nearest) [best, nearest] = [p, d];
      }
    }
    return best;
  };

  /* A camera in the accent colour, filled, with a line to each neighbour. */
  const markCamera = (k) => {
    const f = frustum(model, k, depth * view3d.size * 1.25);
    const faces = [];
    for (const c of [0, 1, 2, 0, 2, 3, 0, 3, 4, 0, 4, 1, 1, 2, 3, 1, 3, 4]) faces.push(...f[c]);
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', new THREE.Float32BufferAttribute(faces, 3));
    marks.add(new THREE.Mesh(geometry, new THREE.MeshBasicMaterial({ color: color('accent'), transparent: true, opacity: .35, side: THREE.DoubleSide, depthWrite: false })));
    marks.add(lineObject(FRUSTUM_LINES.map((c) => f[c]).flat(), 'accent'));
  };
  const markPairs = (list) => {
    for (const status of ['tree', 'kept', 'pruned']) {
      const positions = [];
      for (const p of list.filter((q) => pairStatus(q) === status))
        for (const view of [report.pairs.image1[p], report.pairs.image2[p]]) {
          const k = place.get(view);
          if (k !== undefined) positions.push(model.center[3 * k], model.center[3 * k + 1], model.center[3 * k + 2]);
          else positions.length -= positions.length % 6;
        }
      positions.length -= positions.length % 6;
      const object = lineObject(positions, status);
      object.material.depthTest = false;
      object.renderOrder = 2;
      marks.add(object);
    }
  };

  view3d.highlight = (what) => {
    drop(marks);
    marks.remove(...marks.children);
    const views = what.image !== undefined ? [what.image] : what.pair !== undefined ? [report.pairs.image1[what.pair], report.pairs.image2[what.pair]] : [];
    for (const view of views) if (place.has(view)) markCamera(place.get(view));
    if (what.pair !== undefined) markPairs([what.pair]);
    else if (what.image !== undefined) markPairs(report.images[what.image].pairs);
    redraw();
  };

  canvas.addEventListener('pointermove', (event) => {
    if (event.pointerType !== 'mouse' || event.buttons) return showTip('');
    const k = cameraAt(pointerOn(canvas, event));
    canvas.style.cursor = k >= 0 ? 'pointer' : '';
    showTip(k >= 0 ? report.images[model.view[k]].name : '', event);
  });
  canvas.addEventListener('pointerleave', () => showTip(''));
  canvas.addEventListener('click', (event) => {
    if (controls.wasDrag()) return;
    const at = pointerOn(canvas, event);
    const k = cameraAt(at);
    const pair = k < 0 ? edgeAt(at) : null;
    select(k >= 0 ? { image: model.view[k] } : pair !== null ? { pair } : {});
  });
  canvas.addEventListener('dblclick', () => home());

  const hasThumbnails = report.thumbnails.some((text) => text);
  const colored = report.models.some((m) => m.rgb.some((c) => c !== m.rgb[0]));
  view3d.colorBy = colored ? 'photo' : report.planes.length ? 'plane' : 'error';
  layers.photos = hasThumbnails && report.images.length <= 60;
  layerChips(hasThumbnails, colored, { show, buildCameras, recolor: () => {
    if (parts.points) parts.points.geometry.setAttribute('color', new THREE.BufferAttribute(pointColors(model, planesHere(), view3d.colorBy), 3));
    redraw();
  }, home, reload: () => load(report.models.indexOf(model)) });

  const choice = $('model');
  if (report.models.length > 1) {
    choice.hidden = false;
    report.models.forEach((m, k) => choice.append(el('option', { value: k }, `model ${k + 1}: ${count(m.view.length, 'image')}`)));
    choice.addEventListener('change', () => load(+choice.value));
  }
  const applyTheme = () => {
    scene.background = new THREE.Color(color('stage'));
    const index = model ? report.models.indexOf(model) : 0;
    const keep = model ? { ...controls.state, target: controls.state.target.clone() } : null;
    load(index);
    if (keep) {
      Object.assign(controls.state, keep);
      controls.place();
    }
  };
  view3d.ready = true;
  view3d.screenOf = (view) => { project(); const k = place.get(view); return k === undefined ? null : [screen[2 * k], screen[2 * k + 1]]; };
  selection.listeners.push((what) => {
    const view = what.image;
    if (view !== undefined && !place.has(view) && report.images[view].model !== undefined) {
      choice.value = report.images[view].model;
      load(report.images[view].model);
    }
    view3d.highlight(what);
  });
  canvases.push(applyTheme);
  applyTheme();
  resize();
  home();
  new ResizeObserver(resize).observe(stage);
}

function layerChips(hasThumbnails, colored, act) {
  const { layers } = view3d;
  const place = $('layers');
  const toggle = (name, text, dot) => chip(place, text, layers[name], (on) => { layers[name] = on; act.show(); }, dot);
  toggle('cameras', 'cameras', 'ink');
  if (hasThumbnails) chip(place, 'photographs', layers.photos, (on) => { layers.photos = on; act.buildCameras(); });
  if (report.models.some((m) => m.xyz.length)) toggle('points', 'points', 'point');
  if (report.planes.length) toggle('planes', 'planes', 'warn');
  toggle('tree', 'tree', 'tree');
  toggle('kept', 'kept pairs', 'kept');
  toggle('pruned', 'pruned pairs', 'pruned');
  if (report.models.some((m) => m.xyz.length)) {
    const choice = el('select', { 'aria-label': 'Colour of the points', onchange: () => { view3d.colorBy = choice.value; act.recolor(); } });
    for (const [value, text, there] of [['photo', 'colours of the photographs', colored], ['plane', 'coloured by plane', report.planes.length], ['error', 'coloured by error', true]])
      if (there) choice.append(el('option', { value, selected: value === view3d.colorBy }, text));
    place.append(choice);
  }
  if (report.planes.length) {
    const up = el('select', { 'aria-label': 'Which way is up', onchange: () => { view3d.up = up.value; act.reload(); } },
      el('option', { value: 'auto' }, 'upright'), el('option', { value: 'plane' }, 'main plane level'), el('option', { value: 'cameras' }, 'cameras upright'));
    place.append(up);
  }
  const slider = el('input', { type: 'range', min: -2, max: 2, step: .25, value: 0, 'aria-label': 'Size of the cameras', title: 'size of the cameras',
    oninput: () => { view3d.size = 2 ** slider.value; act.buildCameras(); highlight3d(lookedAt()); } });
  slider.style.cssText = 'width:80px;vertical-align:middle';
  place.append(el('label', { class: 'soft small' }, 'size ', slider), el('button', { class: 'chip', type: 'button', onclick: act.home }, 'reset view'));
}
