/* The table of planes. */

function planeDot(plane) {
  const dot = el('span', { class: 'dot' });
  dot.style.background = cssColor(plane.color.map((c) => c / 255));
  return dot;
}

const areaText = (area, model) =>
  unitOf(model) === 'm' ? `${shortNumber(area)} m²` : `${shortNumber(area)} units²`;

/* Angle between the normals of a plane and of the main plane of its model. */
function tiltOf(k) {
  const first = report.planeModels.indexOf(report.planeModels[k]);
  const [a, b] = [report.planes[first].normal, report.planes[k].normal];
  const cosine = Math.abs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
  return (180 / Math.PI) * Math.acos(Math.min(1, cosine));
}

function startPlanes() {
  const { planes, planeModels, models } = report;
  if (planes.length === 0) return;
  $('planes').hidden = $('planesLink').hidden = false;
  const several = models.length > 1;
  const names = [
    'plane',
    ...(several ? ['model'] : []),
    'points',
    'points off it by ±',
    'area',
    'to the main plane, °',
  ];
  const open = (k) => select({ plane: k });
  const rows = planes.map((plane, k) => {
    const model = models[planeModels[k]];
    const values = [
      ...(several ? [String(planeModels[k] + 1)] : []),
      plane.points.toLocaleString('en'),
      lengthText(plane.sigma, model),
      areaText(plane.area, model),
      shortNumber(tiltOf(k), 3),
    ];
    return el(
      'tr',
      {
        'data-plane': k,
        tabindex: 0,
        onclick: () => open(k),
        onkeydown: (event) => event.key === 'Enter' && open(k),
      },
      el('td', {}, planeDot(plane), String(k + 1)),
      ...values.map((text) => el('td', {}, text)),
    );
  });
  $('planeTable').append(
    el('caption', {}, 'Planes'),
    el('thead', {}, el('tr', {}, ...names.map((name) => el('th', { scope: 'col' }, name)))),
    el('tbody', {}, ...rows),
  );
}
