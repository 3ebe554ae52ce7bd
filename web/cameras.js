/* The table of cameras: where their intrinsics come from, before and after. */

const FIRST_CAMERAS = 100;

/* Where a focal length came from. */
const SOURCES = {
  given: 'given',
  exif: 'EXIF data',
  planes: 'planes',
  points: 'the adjustment',
  hint: 'planes, not surely',
  lines: 'lines of the court',
  guess: 'a guess',
};

const exactly = (x) => String(+x.toPrecision(6));

const parameterName = (camera, k) =>
  (report.parameters[camera.model] || '').split(' ')[k] || `p${k + 1}`;

/* Distortion (and whatever is neither a focal length nor the principal point), before and after with
 * its deviation. */
function distortionText(camera) {
  const parts = [];
  camera.params.forEach((value, k) => {
    const name = parameterName(camera, k);
    if (/^(f|c)[xy]?$/.test(name)) return;
    const before = camera.params_before ? camera.params_before[k] : value;
    const sigma = camera.params_sigma ? camera.params_sigma[k] : null;
    parts.push(
      `${name} ${before !== value ? `${shortNumber(before)} → ` : ''}${shortNumber(value)}` +
        (sigma ? ` ± ${shortNumber(sigma, 1)}` : ''),
    );
  });
  return parts.join(', ') || 'none';
}

const CAMERA_COLUMNS = [
  ['camera', (camera) => String(camera.id)],
  ['model', (camera) => camera.model],
  ['focal length from', (camera) => SOURCES[camera.source] || camera.source],
  ['before, px', (camera) => exactly(camera.focal_px_before)],
  ['after, px', (camera) => exactly(camera.focal_px)],
  ['change, %', (camera) => shortNumber(100 * (camera.focal_px / camera.focal_px_before - 1), 2)],
  [
    '±, %',
    (camera) => (camera.focal_sigma > 0 ? shortNumber(100 * camera.focal_sigma, 2) : 'held'),
  ],
  ['distortion', distortionText],
  ['parameters', (camera) => camera.params.map(exactly).join(', ')],
];

function startCameras() {
  const cameras = report.summary.cameras || [];
  const body = el('tbody'),
    more = $('moreCameras');
  const fill = (number) => {
    body.replaceChildren(
      ...cameras
        .slice(0, number)
        .map((camera) =>
          el('tr', {}, ...CAMERA_COLUMNS.map(([, text]) => el('td', {}, text(camera)))),
        ),
    );
    more.hidden = number >= cameras.length;
  };
  $('cameras').hidden = $('camerasLink').hidden = cameras.length === 0;
  $('cameraTable').append(
    el('caption', {}, 'Cameras'),
    el(
      'thead',
      {},
      el('tr', {}, ...CAMERA_COLUMNS.map(([name]) => el('th', { scope: 'col' }, name))),
    ),
    body,
  );
  startFields();
  more.textContent = `show all ${cameras.length.toLocaleString('en')}`;
  more.addEventListener('click', () => fill(cameras.length));
  fill(FIRST_CAMERAS);
}
