/* Puts the page together. Numbers and text come first, the 3D view after the first paint. */

function startOverview() {
  const { summary, images, models, pairs } = report;
  const leftOut = ((summary.photographs && summary.photographs.left_out) || []).length;
  const posed = images.filter((image) => image.state === 'posed').length,
    total = images.length + leftOut;
  $('verdict').textContent =
    total === 0
      ? 'There were no images'
      : posed === total
        ? `All ${count(total, 'image')} ${total === 1 ? 'is' : 'are'} placed`
        : posed === 0
          ? `None of ${count(total, 'image')} could be placed`
          : `${posed.toLocaleString('en')} of ${count(total, 'image')} ${posed === 1 ? 'is' : 'are'} placed`;
  if (summary.verdict === 'doubtful')
    $('verdict').textContent += ', but it is doubtful that all are right';
  if (summary.verdict === 'plausible')
    $('verdict').textContent += '; nothing speaks against it, but little holds it';
  const place = ((summary.photographs && summary.photographs.folder) || '')
    .replace(/\/+$/, '')
    .split('/')
    .pop();
  document.title = `${place ? `${place}: ` : ''}${posed}/${total} placed – planarsfm`;
  let edges = 0,
    kept = 0;
  for (let p = 0; p < pairs.num; ++p) {
    if (pairs.flags[p] & IS_EDGE) ++edges;
    if (pairs.flags[p] & IS_KEPT) ++kept;
  }
  const robust = summary.robust || {};
  const points = models.reduce((sum, model) => sum + model.numPoints, 0);
  const time = Object.values(summary.seconds || {}).reduce((sum, s) => sum + (s || 0), 0);
  const method =
    summary.mode === 'paper' ? 'the published method (--mode paper)' : 'the robust method';
  $('lead').textContent =
    (report.isBare ? 'A model without the files of a run' : `By ${method}`) +
    (report.isBare ? '' : `, from ${count(pairs.total, 'matched pair')} of images`) +
    (models.length > 1 ? `, in ${models.length} models that nothing joins.` : '.');
  const tiles = [
    [`${posed.toLocaleString('en')} / ${total.toLocaleString('en')}`, 'images placed'],
    report.residuals.observations > 0
      ? [shortNumber(robust.mean_error_px ?? report.residuals.mean) + ' px', 'mean error']
      : null,
    points > 0 ? [points.toLocaleString('en'), 'points'] : null,
    report.planes.length
      ? [String(report.planes.length), report.planes.length === 1 ? 'plane' : 'planes']
      : null,
    report.isBare
      ? null
      : [`${kept.toLocaleString('en')} / ${edges.toLocaleString('en')}`, 'pairs kept'],
    models.length > 1 ? [String(models.length), 'models'] : null,
    time > 0 ? [seconds(time), 'run time'] : null,
  ];
  for (const tile of tiles)
    if (tile)
      $('tiles').append(
        el(
          'div',
          { class: tile[0].length > 11 ? 'tile long' : 'tile' },
          el('b', {}, tile[0]),
          el('span', {}, tile[1]),
        ),
      );
}

function applyTheme(isDark) {
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
  canvases.forEach((redraw) => redraw());
  const shown = panelShows;
  panelShows = null;
  if (shown !== null) showPanel(lookedAt());
}

function startTheme() {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  applyTheme(dark.matches);
  dark.addEventListener('change', () => applyTheme(dark.matches));
  $('theme').addEventListener('click', () =>
    applyTheme(document.documentElement.dataset.theme !== 'dark'),
  );
}

/* A model alone has neither pairs nor a run. */
function hideForBare() {
  if (!report.isBare) return;
  for (const id of ['embedding', 'embeddingLink', 'matches', 'matchesLink', 'run'])
    $(id).hidden = true;
  document.querySelector('#nav a[href="#run"]').hidden = true;
}

startTheme();
hideForBare();
startOverview();
startFindings();
startEmbedding();
new Matrix();
startHistograms();
startImageTable();
startCourt();
startWorld();
startPlanes();
startCameras();
startCompare();
startTimings();
startOptions();
selection.listeners.push(showPanel);
showPanel({});
$('closePanel').addEventListener('click', () => select({}));
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return;
  if (view3d && view3d.flight.isOn) view3d.flight.leave();
  else select({});
});
startLeftOut();
startPrint();
$('footer').textContent =
  `planarsfm ${report.version}. This page is one file; it loads nothing over the network.`;
requestAnimationFrame(() =>
  setTimeout(() => {
    start3d();
    performance.mark('ready');
    document.documentElement.dataset.ready = 'true';
  }, 0),
);
