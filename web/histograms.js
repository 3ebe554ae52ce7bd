/* Distributions: how well points, pairs and planes agree. */

/* Bars with a title above and a note below. bins: [{ from, to, counts: [per series] }], or with a
 * `label` each instead of a range; series: names of colours. */
class Histogram {
  constructor(parent, { title, bins, series, unit, note }) {
    Object.assign(this, { bins, series, unit, pointed: -1 });
    this.sums = bins.map((bin) => bin.counts.reduce((a, b) => a + b, 0));
    this.top = Math.max(1, ...this.sums);
    this.place = el('div', { class: 'plot bars' });
    parent.append(el('h3', {}, title), this.place);
    if (note) parent.append(el('p', { class: 'soft small' }, note));
    const draw = (context, width, height) => this.draw(context, width, height - 17);
    const { canvas, redraw } = makeCanvas(this.place, title, draw);
    canvas.addEventListener('pointermove', (event) => {
      const bin = Math.floor((pointerOn(canvas, event)[0] / this.place.clientWidth) * bins.length);
      this.pointed = Math.max(0, Math.min(bins.length - 1, bin));
      showTip(this.words(this.pointed), event);
      redraw();
    });
    canvas.addEventListener('pointerleave', () => {
      this.pointed = -1;
      showTip('');
      redraw();
    });
  }

  words(k) {
    const { from, to, label } = this.bins[k];
    const high = to === Infinity ? 'more' : shortNumber(to);
    const range = label || `${shortNumber(from)} to ${high}`;
    return `${range} ${this.unit}: ${this.sums[k].toLocaleString('en')}`;
  }

  draw(context, width, base) {
    const step = width / this.bins.length;
    this.bins.forEach((bin, k) => {
      let y = base;
      context.globalAlpha = this.pointed < 0 || this.pointed === k ? 1 : 0.45;
      bin.counts.forEach((n, s) => {
        const size = (n / this.top) * (base - 4);
        context.fillStyle = color(this.series[s]);
        context.fillRect(k * step + 0.5, y - size, Math.max(1, step - 1), size);
        y -= size;
      });
    });
    context.globalAlpha = 1;
    context.fillStyle = color('line');
    context.fillRect(0, base, width, 1);
    this.drawLabels(context, width, base);
  }

  drawLabels(context, width, base) {
    const { bins } = this;
    const step = width / bins.length;
    context.font = '11px system-ui, sans-serif';
    context.fillStyle = color('soft');
    context.textAlign = 'center';
    if (bins[0].label) {
      const every = Math.max(1, Math.ceil(bins.length / (width / 50)));
      for (let k = 0; k < bins.length; k += every)
        context.fillText(bins[k].label, (k + 0.5) * step, base + 14);
      return;
    }
    const wide = bins[1].from - bins[0].from;
    for (const t of ticks(0, wide * bins.length, width / 70)) {
      const x = (t / wide) * step;
      context.textAlign = x < 12 ? 'left' : x > width - 12 ? 'right' : 'center';
      context.fillRect(Math.min(x, width - 1), base, 1, 3);
      context.fillText(shortNumber(t), x, base + 14);
    }
  }
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

function reprojectionHistogram(place) {
  const { bins: counts, limit, above, observations } = report.residuals;
  if (observations === 0) return;
  const step = limit / counts.length;
  const bins = counts.map((n, k) => ({ from: k * step, to: (k + 1) * step, counts: [n] }));
  const beyond = above > 0 ? `; ${above.toLocaleString('en')} beyond ${limit} px` : '';
  const note = `${count(observations, 'observation')}${beyond}.`;
  new Histogram(place, {
    title: 'Reprojection error, pixels',
    bins,
    series: ['accent'],
    unit: 'px',
    note,
  });
}

function rotationHistogram(place) {
  const { pairs } = report;
  const kept = [],
    pruned = [];
  for (let p = 0; p < pairs.num; ++p)
    if (pairs.flags[p] & IS_EDGE && Number.isFinite(pairs.rotation[p]))
      (pairs.flags[p] & IS_KEPT ? kept : pruned).push(pairs.rotation[p]);
  const bins = binValues([kept], 36);
  if (bins.length === 0) return;
  const others = `; that of the ${count(pruned.length, 'pruned pair')} is ${shortNumber(median(pruned), 2)}°`;
  const note = `Median ${shortNumber(median(kept), 2)}°${pruned.length ? others : ''}.`;
  const title = 'Rotation of kept pairs against the poses, degrees';
  new Histogram(place, { title, bins, series: ['kept'], unit: '°', note });
}

function homographyHistogram(place) {
  const { rms, flags } = report.homographies;
  const used = [],
    unused = [];
  rms.forEach((x, h) => {
    if (Number.isFinite(x)) (flags[h] & 2 ? used : unused).push(x);
  });
  const bins = binValues([used, unused], 36);
  if (bins.length === 0) return;
  const others = unused.length ? `, ${unused.length.toLocaleString('en')} not (grey)` : '';
  const note = `${used.length.toLocaleString('en')} are used${others}.`;
  const title = 'Homographies: transfer error, pixels';
  new Histogram(place, { title, bins, series: ['kept', 'none'], unit: 'px', note });
}

function trackHistogram(place) {
  const { lengths } = report.residuals;
  const last = lengths.reduce((best, n, k) => (n > 0 ? k : best), 0);
  if (last < 2) return;
  const label = (k) => (k === lengths.length - 1 ? `${k}+` : String(k));
  const bins = lengths.slice(2, last + 1).map((n, k) => ({ label: label(k + 2), counts: [n] }));
  new Histogram(place, { title: 'Images per point', bins, series: ['accent'], unit: 'images' });
}

function startHistograms() {
  const place = $('histograms');
  for (const make of [
    reprojectionHistogram,
    rotationHistogram,
    homographyHistogram,
    trackHistogram,
  ])
    make(place);
  if (place.children.length === 0)
    place.append(el('p', { class: 'soft' }, 'Nothing was placed, so there are no residuals.'));
}
