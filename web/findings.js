/* What went wrong, or might have, and what to try: rules over the summary, worst first. */

/* Buttons that select what they name: an image, or a pair. */
const imageChip = (image) => ({ name: image.name, target: { image: image.index } });

function listChips(chips) {
  const place = el('div', { class: 'names' });
  for (const { name, target } of chips.slice(0, 300))
    place.append(
      el('button', { class: 'chip', type: 'button', onclick: () => select(target) }, name),
    );
  if (chips.length > 300)
    place.append(el('span', { class: 'soft' }, `and ${chips.length - 300} more, in summary.json`));
  return place;
}

const sentence = (text) =>
  text ? text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.') : '';

function unplacedFindings(add) {
  const groups = new Map();
  for (const image of report.images) {
    if (image.state === 'posed') continue;
    if (!groups.has(image.state)) groups.set(image.state, []);
    groups.get(image.state).push(image);
  }
  for (const [state, images] of [...groups].sort((a, b) => b[1].length - a[1].length))
    add(
      'bad',
      `${count(images.length, 'image')} without a pose: ${STATES[state] || state}`,
      sentence(images[0].advice || ''),
      images.map(imageChip),
    );
  const photographs = report.summary.photographs;
  for (const photo of (photographs && photographs.left_out) || [])
    add('bad', `${photo.name} could not be used`, sentence(photo.reason));
}

/* A pair as a button; without a target if the page has left the pair out. */
function pairChip({ image1, image2 }, byName) {
  const a = byName.get(image1),
    b = byName.get(image2);
  const pair = a && b ? a.pairs.find((p) => otherImage(p, a.index) === b.index) : undefined;
  return { name: `${image1} – ${image2}`, target: pair === undefined ? {} : { pair } };
}

/* What hangs on single pairs or single images. Two images have but one pair. */
function cutFindings(add, name, model, byName) {
  const bridges = model.images > 2 ? model.bridges || [] : [];
  const cuts = (model.cut_images || []).map((n) => byName.get(n)).filter((image) => image);
  const hold = (n) => (n === 1 ? 'holds' : 'hold');
  if (bridges.length)
    add(
      'warn',
      `${name}${count(bridges.length, 'pair')} alone ${hold(bridges.length)} the model together`,
      'If one of them is wrong, everything behind it is.',
      bridges.map((bridge) => pairChip(bridge, byName)),
    );
  if (cuts.length)
    add(
      'warn',
      `${name}${count(cuts.length, 'image')} alone ${hold(cuts.length)} the model together`,
      'If one of them is wrong, everything behind it is.',
      cuts.map(imageChip),
    );
}

/* The verdict of the run: what speaks against models that are not called right. */
function verdictFindings(add) {
  const { summary, images, models } = report;
  const name = (model) => (models.length > 1 ? `Model ${model + 1}: ` : '');
  const byName = new Map(images.map((image) => [image.name, image]));
  const word = (verdict) => (verdict === 'plausible' ? 'Plausible' : 'Doubtful');
  const kind = (verdict) => (verdict === 'plausible' ? 'warn' : 'bad');
  for (const warning of summary.warnings || []) {
    const { model, verdict, text, images: names = [], num_images: num = 0 } = warning;
    const chips = names.map((n) => byName.get(n)).filter((image) => image);
    const more = num > names.length ? ` ${names.length} of ${num} images:` : '';
    add(
      kind(verdict),
      `${word(verdict)}: ${name(model)}${text}`,
      chips.length ? more : '',
      chips.map(imageChip),
    );
  }
  (summary.models || []).forEach((model, k) => {
    if (model.verdict === 'right' || !model.verdict || (summary.warnings || []).some((w) => w.model === k)) return;
    const text = `${name(k)}nothing stands out, but too little speaks for it`;
    add(kind(model.verdict), `${word(model.verdict)}: ${text}`, '');
  });
  const weak = images.filter(
    (image) => typeof image.probability === 'number' && image.probability < 0.95,
  );
  if (weak.length)
    add(
      'warn',
      `${count(weak.length, 'pose')} may be off by more than a degree`,
      'The verdict gives them a probability below 95 %.',
      weak.map(imageChip),
    );
}

function modelFindings(add) {
  const { summary, models } = report;
  const byName = new Map(report.images.map((image) => [image.name, image]));
  if (models.length > 1)
    add(
      'warn',
      `The images fall into ${models.length} models`,
      'No kept pair joins them, so each has a frame and a scale of its own.',
    );
  (summary.models || []).forEach((model, k) => {
    const name = models.length > 1 ? `Model ${k + 1}: ` : '';
    cutFindings(add, name, model, byName);
    if (model.lud_converged === false && model.lud_iterations > 0)
      add(
        'warn',
        `${name}the positions had not converged`,
        'Directions contradict each other, or hardly determine them.',
      );
  });
}

function pairFindings(add) {
  const { pairs, summary } = report;
  let edges = 0,
    pruned = 0;
  for (let p = 0; p < pairs.num; ++p) {
    if (!(pairs.flags[p] & IS_EDGE)) continue;
    ++edges;
    if (!(pairs.flags[p] & IS_KEPT)) ++pruned;
  }
  if (edges === 0 && pairs.total > 0)
    add(
      'bad',
      'No pair of images shows a plane with parallax',
      'The matches may be wrong, or the cameras share one centre. Look at the matrix below.',
    );
  if (pairs.total === 0)
    add(
      'bad',
      'No two images have matches',
      'They may show different scenes, or one from too far apart.',
    );
  const byLines = ((summary.court && summary.court.photographs) || []).some((p) => p.in_model);
  if (summary.mode === 'robust' && edges > 0 && pruned / edges > 0.3 && !byLines)
    add(
      'warn',
      `${Math.round((100 * pruned) / edges)} % of the pairs contradict the poses`,
      'Repeated structure is the usual reason: a court that looks the same from both ends, the bays of a facade.',
    );
  const kinds = summary.pairs || {};
  if (kinds.rotation > 0.3 * pairs.total)
    add(
      'warn',
      `${count(kinds.rotation, 'pair')} ${kinds.rotation === 1 ? 'shows' : 'show'} rotation only`,
      'Their cameras share a centre as far as the matches tell; such pairs hold rotations and give no distance.',
    );
  if (summary.mode === 'paper')
    add(
      'info',
      'This is the published method alone',
      'Without --mode paper hypotheses are chosen jointly, rotations averaged over all pairs and everything refined, which is more accurate on nearly all scenes.',
    );
}

/* What is known of the cameras, and what is not. */
function cameraFindings(add) {
  const { calibration, camera_groups: groups, cameras, given_intrinsics: given } = report.summary;
  const percent = (share) => `${share > 0 ? '+' : ''}${shortNumber(100 * share)} %`;
  const named = (id) => {
    const camera = (cameras || []).find((c) => c.id === id);
    return camera && camera.first_image ? `${id} (${camera.first_image})` : `${id}`;
  };
  if (given && given.wrong > 0)
    add(
      'warn',
      `The focal ${plural(given.wrong, 'length')} of ${count(given.wrong, 'camera')} ${given.wrong === 1 ? 'wants' : 'want'} to change`,
      `Camera ${named(given.worst_camera)} by ${percent(given.wanted_change)}, which takes the error from ` +
        `${shortNumber(given.mean_error_px)} to ${shortNumber(given.mean_error_px_if_free)} px.`,
    );
  if (groups)
    add(
      'info',
      `${count(groups.images, 'photograph')} of ${count(groups.cameras, 'camera')}`,
      `${groups.text}. --share-cameras image|folder|all says otherwise.`,
    );
  if (!calibration) return;
  const open = calibration.unknown - calibration.determined;
  if (open > 0)
    add(
      'warn',
      `The focal ${plural(open, 'length')} of ${count(open, 'camera')} ${open === 1 ? 'is' : 'are'} not determined by planes or pairs`,
      'They are guesses, and distances from the camera with them.',
    );
  else
    add(
      'info',
      `${count(calibration.determined, 'focal length')} estimated from planes${calibration.determined_by_pairs > 0 ? ' and pairs' : ''}`,
      `Known to ${shortNumber(100 * median((cameras || []).map((c) => c.focal_sigma)))} % (median).`,
    );
}

function qualityFindings(add) {
  const { summary, images } = report;
  const robust = summary.robust || {};
  if (robust.mean_error_px > 1.5)
    add(
      'warn',
      `The mean reprojection error is ${shortNumber(robust.mean_error_px)} px`,
      'Above about one pixel the intrinsics are the first suspect.',
    );
  if (robust.bundle_stop === 'max_iterations')
    add(
      'warn',
      'The bundle adjustment stopped before it had converged',
      'Something is weakly determined.',
    );
  const errors = images.filter((image) => image.mean_error_px > 0);
  const typical = median(errors.map((image) => image.mean_error_px));
  const high = errors.filter(
    (image) => image.mean_error_px > 2.5 * typical && image.mean_error_px > 0.7,
  );
  if (high.length)
    add(
      'warn',
      `${count(high.length, 'image')} fit${high.length === 1 ? 's' : ''} much worse than the others`,
      'A wrong focal length, motion blur, or a pose that is off.',
      high.map(imageChip),
    );
  const partial = summary.standard_deviations || summary.deviations; // its name in 0.1 runs
  if (partial)
    add(
      'info',
      sentence(partial.text),
      'All at once would have taken too long or too much memory. Those of images nearby are a good guess.',
    );
  const weak = images.filter((image) => image.rotation_sigma_deg > 1);
  if (weak.length)
    add(
      'warn',
      `${count(weak.length, 'image')} with an uncertain pose`,
      'The standard deviation of the rotation is above 1°: few points, or all in one spot.',
      weak.map(imageChip),
    );
}

/* Each level has a sign beside its colour. */
const SIGNS = {
  bad: ['✕', 'problem'],
  warn: ['!', 'warning'],
  info: ['i', 'note'],
  good: ['✓', 'good'],
};

const BARE = {
  level: 'info',
  title: 'A model alone',
  text: 'Its pairs and the verdict on it are not known here. The page of a run shows them.',
};

/* The one thing to do next, and the command for it. */
function showDiagnosis() {
  const { diagnosis, command } = report.summary;
  if (!diagnosis) return;
  const { text, advice, flag, value } = diagnosis;
  const card = el(
    'div',
    { class: 'finding bad next' },
    el('b', {}, sentence(text)),
    el('p', {}, `Next: ${advice}.`),
  );
  if (flag) card.append(el('code', {}, `${command ? `${command} ` : '... '}${flag} ${value}`));
  $('findings').append(card);
}

function startFindings() {
  const found = [];
  const add = (level, title, text, chips) => found.push({ level, title, text, chips });
  verdictFindings(add);
  unplacedFindings(add);
  modelFindings(add);
  if (!report.isBare) pairFindings(add);
  cameraFindings(add);
  qualityFindings(add);
  const rank = { bad: 0, warn: 1, info: 2, good: 3 };
  found.sort((a, b) => rank[a.level] - rank[b.level]);
  const judged = report.summary.verdict === 'right';
  if (!found.some((f) => f.level === 'bad' || f.level === 'warn'))
    found.unshift(
      report.isBare
        ? BARE
        : {
            level: judged ? 'good' : 'info',
            title: judged
              ? 'Nothing stands out'
              : 'Nothing stands out, but nobody judged the poses',
            text: judged
              ? 'Every image has a pose, no check of matches, graph or residuals complains, and the verdict is that the poses are right to a degree.'
              : 'Every image has a pose, and no check of matches, graph or residuals complains. The robust method with refinement also gives a verdict on the poses.',
          },
    );
  showDiagnosis();
  for (const { level, title, text, chips } of found) {
    const [sign, word] = SIGNS[level];
    const mark = el('span', { class: 'sign', role: 'img', 'aria-label': word }, sign);
    const body = [el('p', { class: 'soft' }, text), chips ? listChips(chips) : null];
    $('findings').append(
      chips
        ? el(
            'details',
            { class: 'finding ' + level, open: level === 'bad' && chips.length <= 40 },
            el('summary', {}, mark, title),
            ...body,
          )
        : el('div', { class: 'finding ' + level }, mark, el('b', {}, title), ...body),
    );
  }
}
