/* Distributions: how well points, pairs and planes agree. */

/* bins: [{ from, to, counts: [per series] }]; series: names of colours. */
function histogram(parent, title, bins, series, unit, note) {
  if (bins.length === 0) return;
  parent.append(el('h3', {}, title));
  const place = el('div', { class: 'plot bars' });
  parent.append(place);
  if (note) parent.append(el('p', { class: 'soft small' }, note));
  const sums = bins.map((bin) => bin.counts.reduce((a, b) => a + b, 0));
  const top = Math.max(1, ...sums);
  let pointed = -1;
  const draw = (context, width, height) => {
    const base = height - 17,
      step = width / bins.length;
    context.font = '11px system-ui, sans-serif';
    bins.forEach((bin, k) => {
      let y = base;
      bin.counts.forEach((n, s) => {
        const size = (n / top) * (base - 4);
        context.fillStyle = color(series[s]);
        context.globalAlpha = pointed < 0 || pointed === k ? 1 : 0.45;
        context.fillRect(k * step + 0.5, y - size, Math.max(1, step - 1), size);
        y -= size;
      });
    });
    context.globalAlpha = 1;
    context.fillStyle = color('line');
    context.fillRect(0, base, width, 1);
    context.fillStyle = color('soft');
    const every = Math.max(1, Math.ceil(bins.length / (width / 62)));
    for (let k = 0; k < bins.length; k += every) {
      context.textAlign = k === 0 ? 'left' : 'center';
      context.fillText(
        bins[k].label || shortNumber(bins[k].from, 2),
        bins[k].label ? (k + 0.5) * step : k * step,
        height - 3,
      );
    }
  };
  const { canvas, redraw } = makeCanvas(place, title, draw);
  canvas.addEventListener('pointermove', (event) => {
    pointed = Math.max(
      0,
      Math.min(
        bins.length - 1,
        Math.floor((pointerOn(canvas, event)[0] / place.clientWidth) * bins.length),
      ),
    );
    const bin = bins[pointed];
    const range = bin.label
      ? `${bin.label} ${unit}`
      : `${shortNumber(bin.from)} to ${bin.to === Infinity ? 'more' : shortNumber(bin.to)} ${unit}`;
    showTip(`${range}: ${sums[pointed].toLocaleString('en')}`, event);
    redraw();
  });
  canvas.addEventListener('pointerleave', () => {
    pointed = -1;
    showTip('');
    redraw();
  });
}

/* Bins of equal width up to where all but two per cent of the values lie. groups: arrays. */
function binValues(groups, num) {
  const all = groups.flat().sort((a, b) => a - b);
  if (all.length === 0) return [];
  const high = all[Math.floor(0.98 * (all.length - 1))] || all[all.length - 1] || 1;
  const bins = Array.from({ length: num }, (_, k) => ({
    from: (high * k) / num,
    to: k + 1 < num ? (high * (k + 1)) / num : Infinity,
    counts: groups.map(() => 0),
  }));
  groups.forEach((values, s) =>
    values.forEach((x) => ++bins[Math.min(num - 1, Math.floor((x / high) * num))].counts[s]),
  );
  return bins;
}

const median = (values) =>
  values.length ? [...values].sort((a, b) => a - b)[values.length >> 1] : NaN;

function startHistograms() {
  const { pairs, homographies, residuals } = report;
  const place = $('histograms');
  if (residuals.observations > 0) {
    const step = residuals.limit / residuals.bins.length;
    const bins = residuals.bins.map((n, k) => ({
      from: k * step,
      to: (k + 1) * step,
      counts: [n],
    }));
    const beyond =
      residuals.above > 0
        ? `; ${residuals.above.toLocaleString('en')} beyond ${residuals.limit} px`
        : '';
    histogram(
      place,
      'Reprojection error, pixels',
      bins,
      ['accent'],
      'px',
      `${count(residuals.observations, 'observation')}${beyond}.`,
    );
  }
  const kept = [],
    pruned = [];
  for (let p = 0; p < pairs.num; ++p)
    if (pairs.flags[p] & IS_EDGE && Number.isFinite(pairs.rotation[p]))
      (pairs.flags[p] & IS_KEPT ? kept : pruned).push(pairs.rotation[p]);
  const keptBins = binValues([kept], 36);
  histogram(
    place,
    'Rotation of kept pairs against the poses, degrees',
    keptBins,
    ['kept'],
    '°',
    `Median ${shortNumber(median(kept), 2)}°` +
      (pruned.length
        ? `; that of the ${count(pruned.length, 'pruned pair')} is ${shortNumber(median(pruned), 2)}°.`
        : '.'),
  );
  const used = [],
    unused = [];
  homographies.rms.forEach((x, h) => {
    if (Number.isFinite(x)) (homographies.flags[h] & 2 ? used : unused).push(x);
  });
  histogram(
    place,
    'Homographies: transfer error, pixels',
    binValues([used, unused], 36),
    ['kept', 'none'],
    'px',
    `${count(used.length, 'homography').replace(/ys$/, 'ies')} used${unused.length ? `, ${unused.length.toLocaleString('en')} not (grey)` : ''}.`,
  );
  const last = residuals.lengths.reduce((best, n, k) => (n > 0 ? k : best), 0);
  if (last >= 2) {
    const bins = residuals.lengths.slice(2, last + 1).map((n, k) => ({
      label: k + 2 === residuals.lengths.length - 1 ? `${k + 2}+` : String(k + 2),
      counts: [n],
    }));
    histogram(place, 'Images per point', bins, ['accent'], 'images');
  }
  if (place.children.length === 0)
    place.append(el('p', { class: 'soft' }, 'Nothing was placed, so there are no residuals.'));
}
