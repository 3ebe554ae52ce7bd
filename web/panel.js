/* The panel beside the page (at its foot on a phone): one image, or one pair. */

/* Colours of the homographies of a pair, and of planes. */
const hueOf = (k) => `hsl(${Math.round(((0.08 + 0.6180339887498949 * k) % 1) * 360)} 82% 58%)`;

function paintThumbnail(context, view, x, y, width, height, again) {
  const image = thumbnail(view, again);
  const turn = turnOf(view);
  context.fillStyle = color('hover');
  context.fillRect(x, y, width, height);
  if (image && image.complete && image.naturalWidth > 0) {
    const [w, h] = turn % 2 ? [height, width] : [width, height];
    context.save();
    context.translate(x + width / 2, y + height / 2);
    context.rotate((turn * Math.PI) / 2);
    context.drawImage(image, -w / 2, -h / 2, w, h);
    context.restore();
  } else {
    context.strokeStyle = color('line');
    context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
  }
}

/* A canvas of the panel with the given shape; draw(context, width, height) is repeated when a
 * thumbnail has loaded. */
function panelCanvas(aspect, draw, label) {
  const canvas = el('canvas', { role: 'img', 'aria-label': label });
  const paint = () => {
    if (!canvas.isConnected) return;
    const ratio = Math.min(window.devicePixelRatio || 1, 3);
    const width = canvas.clientWidth,
      height = Math.round(width * aspect);
    canvas.style.height = height + 'px';
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = canvas.getContext('2d');
    context.scale(ratio, ratio);
    draw(context, width, height, paint);
  };
  requestAnimationFrame(paint);
  return canvas;
}

/* The photograph with its residuals, drawn `zoom` times as long as they are. */
function residualCanvas(image) {
  const { first, samples, unit } = report.residuals;
  const lengths = [];
  for (let k = first[image.index]; k < first[image.index + 1]; ++k)
    lengths.push(Math.hypot(samples[4 * k + 2], samples[4 * k + 3]) / unit);
  lengths.sort((a, b) => a - b);
  const typical = lengths.length ? lengths[Math.floor(lengths.length * 0.75)] : 0;
  const [wide, high] = uprightSize(image);
  const aim = 0.02 * wide;
  const zoom = typical > 0 ? Math.max(1, +(aim / typical).toPrecision(1)) : 1;
  const draw = (context, width, height, again) => {
    paintThumbnail(context, image.index, 0, 0, width, height, again);
    const scale = width / wide;
    const turn = turnOf(image.index);
    for (let k = first[image.index]; k < first[image.index + 1]; ++k) {
      const [x, y] = uprightPixel(image, samples[4 * k], samples[4 * k + 1]).map((p) => p * scale);
      const [dx, dy] = turnVector(turn, samples[4 * k + 2] / unit, samples[4 * k + 3] / unit);
      const bad = Math.min(1, Math.hypot(dx, dy) / (2.5 * typical || 1));
      context.strokeStyle = context.fillStyle = cssColor(ramp(AGREES, bad));
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(x + dx * scale * zoom, y + dy * scale * zoom);
      context.stroke();
      context.fillRect(x - 1.2, y - 1.2, 2.4, 2.4);
    }
  };
  const canvas = panelCanvas(high / wide || 0.75, draw, 'Photograph with residuals');
  const note = lengths.length
    ? `Lines: from the keypoint to where its point projects, ${shortNumber(zoom)} times as long.`
    : null;
  return { canvas, note };
}

function facts(rows) {
  const list = el('dl', { class: 'facts' });
  for (const [name, value] of rows)
    if (value !== null && value !== undefined)
      list.append(el('dt', {}, name), el('dd', {}, String(value)));
  return list;
}

function neighbourTable(image) {
  const rank = { tree: 0, kept: 1, pruned: 2, none: 3 };
  const order = [...image.pairs].sort(
    (a, b) => rank[pairStatus(a)] - rank[pairStatus(b)] || pairInliers(b) - pairInliers(a) || a - b,
  );
  const body = el('tbody');
  for (const p of order.slice(0, 60)) {
    const dot = statusDot(pairStatus(p));
    body.append(
      el(
        'tr',
        {
          'data-pair': p,
          tabindex: 0,
          title: pairWords(p),
          onclick: () => select({ pair: p }),
          onkeydown: (event) => {
            if (event.key === 'Enter') select({ pair: p });
          },
          onmouseenter: () => highlight3d({ pair: p }),
          onmouseleave: () => highlight3d(lookedAt()),
        },
        el('td', {}, dot, report.images[otherImage(p, image.index)].name),
        el('td', {}, String(report.pairs.matches[p])),
        el('td', {}, String(pairInliers(p))),
        el(
          'td',
          {},
          report.pairs.flags[p] & IS_EDGE ? shortNumber(report.pairs.rotation[p], 2) : '',
        ),
      ),
    );
  }
  const head = el(
    'tr',
    {},
    el('th', {}, 'image'),
    el('th', {}, 'matches'),
    el('th', {}, 'on planes'),
    el('th', { title: "angle between the pair's rotation and that of the poses" }, 'off, °'),
  );
  const more =
    order.length > 60 ? el('p', { class: 'soft small' }, `and ${order.length - 60} more`) : null;
  return [
    el('h3', {}, `${count(order.length, 'neighbour')}`),
    el('table', {}, el('thead', {}, head), body),
    more,
  ];
}

function lookThrough(image) {
  const fly = () => {
    $('scene').scrollIntoView({ block: 'start' });
    view3d.flight.enter(image.index);
  };
  return el('button', { class: 'chip', type: 'button', onclick: fly }, 'look through this camera');
}

function imagePanel(image) {
  const posed = image.state === 'posed';
  const { canvas, note } = residualCanvas(image);
  const focal = focalOf(image);
  const nodes = [
    el('h2', {}, image.name),
    el('span', { class: 'state ' + (posed ? 'good' : 'bad') }, STATES[image.state] || image.state),
    canvas,
    note ? el('p', { class: 'soft small' }, note) : null,
    posed && view3d ? lookThrough(image) : null,
  ];
  if (!posed)
    nodes.push(el('p', {}, 'No pose: ' + (image.advice || 'no reason was recorded') + '.'));
  nodes.push(
    facts([
      ['model', posed && report.models.length > 1 ? image.model + 1 : null],
      ['size', `${image.width} × ${image.height}`],
      ['focal length', focal === undefined ? null : shortNumber(focal, 5) + ' px'],
      ['keypoints', image.keypoints.toLocaleString('en')],
      ['points', image.points === undefined ? null : image.points.toLocaleString('en')],
      [
        'mean error',
        image.mean_error_px === undefined ? null : shortNumber(image.mean_error_px) + ' px',
      ],
      [
        'rotation ±',
        image.rotation_sigma_deg ? shortNumber(image.rotation_sigma_deg, 2) + '°' : null,
      ],
      [
        'centre ±',
        image.center_sigma ? lengthText(image.center_sigma, report.models[image.model]) : null,
      ],
      [
        'right to 1°',
        typeof image.probability === 'number' ? `${(100 * image.probability).toFixed(0)} %` : null,
      ],
      ['pairs kept', `${image.kept} of ${image.edges}`],
      [
        'placed by',
        posed && image.points !== undefined
          ? image.resected
            ? 'its points (resection)'
            : 'the pose graph'
          : null,
      ],
    ]),
  );
  if (image.pairs.length > 0) nodes.push(...neighbourTable(image));
  return nodes;
}

/* Places for two photographs in a canvas of width 1: one above the other in the panel at the side,
 * beside each other in the sheet at the foot of a narrow page. */
function pairPlaces(a, b) {
  const gap = 0.015;
  const [ha, hb] = [a, b].map((image) => {
    const [width, height] = uprightSize(image);
    return height / width || 0.75;
  });
  if (!isNarrow())
    return {
      places: [
        [0, 0, 1, ha],
        [0, ha + gap, 1, hb],
      ],
      height: ha + hb + gap,
    };
  const w = (1 - gap) / 2;
  return {
    places: [
      [0, 0, w, w * ha],
      [w + gap, 0, w, w * hb],
    ],
    height: w * Math.max(ha, hb),
  };
}

/* Draws inliers of homography h of a pair: lines, then dots at both ends. */
function paintInliers(context, h, ends) {
  const { first, samples } = report.homographies;
  context.globalAlpha = 0.22;
  context.beginPath();
  for (let k = first[h]; k < first[h + 1]; ++k) {
    context.moveTo(...ends[0](samples[4 * k], samples[4 * k + 1]));
    context.lineTo(...ends[1](samples[4 * k + 2], samples[4 * k + 3]));
  }
  context.stroke();
  context.globalAlpha = 1;
  for (let k = 2 * first[h]; k < 2 * first[h + 1]; ++k) {
    const [x, y] = ends[k % 2](samples[2 * k], samples[2 * k + 1]);
    context.beginPath();
    context.arc(x, y, 2.3, 0, 7);
    context.fill();
  }
}

/* Both photographs with the inliers of each homography, or of one, in its colour. */
function pairCanvas(p, only) {
  const { image1, image2, first } = report.pairs;
  const images = [report.images[image1[p]], report.images[image2[p]]];
  const { places, height: aspect } = pairPlaces(...images);
  const draw = (context, width, height, again) => {
    const boxes = places.map((place) => place.map((x) => x * width));
    images.forEach((image, k) => paintThumbnail(context, image.index, ...boxes[k], again));
    const ends = boxes.map(([left, top, wide], k) => (x, y) => {
      const scale = wide / uprightSize(images[k])[0];
      const [px, py] = uprightPixel(images[k], x, y);
      return [left + px * scale, top + py * scale];
    });
    for (let h = first[p]; h < first[p + 1]; ++h) {
      if (only !== null && only !== h) continue;
      context.strokeStyle = context.fillStyle = hueOf(h - first[p]);
      paintInliers(context, h, ends);
    }
  };
  return panelCanvas(aspect, draw, 'The two photographs with the inliers of their homographies');
}

function homographyTable(p, place) {
  const { first } = report.pairs;
  const body = el('tbody');
  const show = (only) => place.replaceChildren(pairCanvas(p, only));
  for (let h = first[p]; h < first[p + 1]; ++h) {
    const dot = el('span', { class: 'dot' });
    dot.style.background = hueOf(h - first[p]);
    const flags = report.homographies.flags[h];
    const H = Array.from(report.homographies.H.subarray(9 * h, 9 * h + 9), (x) => x.toFixed(4));
    body.append(
      el(
        'tr',
        {
          onmouseenter: () => show(h),
          onmouseleave: () => show(null),
          title: `H on rays:\n${H.slice(0, 3).join('  ')}\n${H.slice(3, 6).join('  ')}\n${H.slice(6).join('  ')}`,
        },
        el('td', {}, dot, `${h - first[p] + 1}`),
        el('td', {}, String(report.homographies.inliers[h])),
        el('td', {}, shortNumber(report.homographies.rms[h], 2)),
        el('td', { class: 'left' }, flags & 1 ? 'rotation only' : flags & 2 ? 'used' : 'not used'),
      ),
    );
  }
  const head = el(
    'tr',
    {},
    el('th', {}, 'plane'),
    el('th', {}, 'inliers'),
    el('th', {}, 'rms px'),
    el('th', { class: 'left' }, ''),
  );
  return el('table', {}, el('thead', {}, head), body);
}

function pairPanel(p) {
  const { pairs } = report;
  const a = report.images[pairs.image1[p]],
    b = report.images[pairs.image2[p]];
  const link = (image) =>
    el(
      'a',
      {
        href: '#',
        onclick: (event) => {
          event.preventDefault();
          select({ image: image.index });
        },
      },
      image.name,
    );
  const status = pairStatus(p);
  const dot = statusDot(status);
  const place = el('div', {}, pairCanvas(p, null));
  const edge = pairs.flags[p] & IS_EDGE;
  return [
    el('h2', {}, link(a), ' – ', link(b)),
    el('div', {}, dot, pairWords(p)),
    place,
    pairs.first[p + 1] > pairs.first[p]
      ? homographyTable(p, place)
      : el('p', { class: 'soft' }, KINDS[pairs.kind[p]] + '.'),
    facts([
      ['matches', pairs.matches[p].toLocaleString('en')],
      ['on planes', pairInliers(p).toLocaleString('en')],
      [
        'on the essential matrix',
        pairs.essential[p] ? pairs.essential[p].toLocaleString('en') : 'none',
      ],
      ['embedding h', edge ? shortNumber(pairs.h[p], 4) : null],
      [
        'rotation off the poses by',
        edge && Number.isFinite(pairs.rotation[p]) ? shortNumber(pairs.rotation[p], 2) + '°' : null,
      ],
    ]),
  ];
}

function planePanel(k) {
  const plane = report.planes[k];
  const model = report.models[report.planeModels[k]];
  return [
    el('h2', {}, planeDot(plane), k === 0 ? 'Plane 1, the main one' : `Plane ${k + 1}`),
    facts([
      ['model', report.models.length > 1 ? report.planeModels[k] + 1 : null],
      ['points', plane.points.toLocaleString('en')],
      ['points off it by ±', lengthText(plane.sigma, model)],
      ['area', areaText(plane.area, model)],
      ['normal', plane.normal.map((x) => x.toFixed(3)).join(', ')],
      ['distance from the origin', lengthText(plane.distance, model)],
    ]),
  ];
}

let panelShows = null;
function showPanel(what) {
  const key =
    what.image !== undefined
      ? 'i' + what.image
      : what.pair !== undefined
        ? 'p' + what.pair
        : what.plane !== undefined
          ? 's' + what.plane
          : '';
  $('panel').classList.toggle('open', key !== '');
  document.body.classList.toggle('sheet', key !== '');
  $('closePanel').hidden = key === '';
  if (key === panelShows) return;
  panelShows = key;
  const nodes =
    what.image !== undefined
      ? imagePanel(report.images[what.image])
      : what.pair !== undefined
        ? pairPanel(what.pair)
        : what.plane !== undefined
          ? planePanel(what.plane)
          : listPanel();
  $('panelBody').replaceChildren(...nodes.filter((node) => node));
  $('panel').scrollTop = 0;
}
