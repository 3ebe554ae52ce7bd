/* The controls of the 3D view, and its start. */

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
  if (report.models.some((_, k) => strokesOf(k))) toggle('drawing', 'drawing', 'drawing');
  toggle('ground', 'grid and axes');
  if (report.planes.length) toggle('overlap', 'overlap');
  if (report.models.some(hasSigmas)) toggle('ellipsoids', 'uncertainty', 'sigma');
  if (report.other) toggle('other', 'other run', 'other');
  if (report.pairs.num) {
    toggle('tree', 'tree', 'tree');
    toggle('kept', 'kept pairs', 'kept');
    toggle('pruned', 'pruned pairs', 'pruned');
  }
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
  chip(place, 'measure', false, (on) => view3d.measuring.toggle(on));
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
  layers.tree = report.images.length <= 500;
  view3d = new View3d($('stage'), renderer);
  layerControls(hasThumbnails, isColored);
  modelChoice();
  canvases.push(() => view3d.applyTheme());
  selection.listeners.push((what) => {
    const model =
      what.plane !== undefined
        ? report.planeModels[what.plane]
        : what.image === undefined
          ? undefined
          : report.images[what.image].model;
    if (model !== undefined && report.models[model] && report.models[model] !== view3d.model) {
      $('model').value = model;
      view3d.load(model);
    }
    view3d.highlight(what);
  });
}
