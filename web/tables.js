/* The table of images, the times and the options. */

const FIRST_ROWS = 150;

const COLUMNS = [
  ['image', (image) => image.name, (image) => image.name],
  ['state', (image) => image.state, null],
  [
    'model',
    (image) => image.model ?? Infinity,
    (image) => (image.model === undefined ? '' : String(image.model + 1)),
  ],
  [
    'points',
    (image) => image.points ?? -1,
    (image) => (image.points === undefined ? '' : image.points.toLocaleString('en')),
  ],
  [
    'error, px',
    (image) => image.mean_error_px ?? -1,
    (image) => (image.mean_error_px === undefined ? '' : shortNumber(image.mean_error_px)),
  ],
  [
    'rotation ±, °',
    (image) => image.rotation_sigma_deg ?? -1,
    (image) =>
      image.rotation_sigma_deg === undefined ? '' : shortNumber(image.rotation_sigma_deg, 2),
  ],
  [
    'centre ±',
    (image) => image.center_sigma ?? -1,
    (image) =>
      image.center_sigma ? lengthText(image.center_sigma, report.models[image.model]) : '',
  ],
  ['pairs kept', (image) => image.kept, (image) => `${image.kept} / ${image.edges}`],
  ['matches', (image) => image.matches, (image) => image.matches.toLocaleString('en')],
  ['keypoints', (image) => image.keypoints, (image) => image.keypoints.toLocaleString('en')],
];

function stateCell(image) {
  return el(
    'td',
    { class: 'left' },
    el(
      'span',
      { class: 'state ' + (image.state === 'posed' ? 'good' : 'bad') },
      STATES[image.state] || image.state,
    ),
  );
}

function startImageTable() {
  const sort = { column: -1, down: false };
  let all = false;
  const used = COLUMNS.filter(
    ([name, value]) =>
      name === 'image' ||
      name === 'state' ||
      (name === 'model'
        ? report.models.length > 1
        : report.images.some((image) => value(image) > 0)),
  );
  const head = el('tr'),
    body = el('tbody');
  $('imageTable').append(el('caption', {}, 'Images'), el('thead', {}, head), body);

  const rows = () => {
    const words = $('filter').value.trim().toLowerCase();
    const list = report.images.filter(
      (image) =>
        !words || (image.name + ' ' + (STATES[image.state] || '')).toLowerCase().includes(words),
    );
    if (sort.column < 0) return list;
    const value = used[sort.column][1];
    const order = (a, b) =>
      typeof a === 'string' ? a.localeCompare(b, 'en', { numeric: true }) : a - b;
    return list.sort(
      (a, b) => (sort.down ? -1 : 1) * order(value(a), value(b)) || a.index - b.index,
    );
  };
  const fill = () => {
    const list = rows(),
      shown = all ? list : list.slice(0, FIRST_ROWS);
    const { image: selected } = lookedAt();
    body.replaceChildren(
      ...shown.map((image) =>
        el(
          'tr',
          {
            'data-image': image.index,
            tabindex: 0,
            class: image.index === selected ? 'selected' : null,
          },
          ...used.map(([name, , text]) =>
            name === 'state'
              ? stateCell(image)
              : name === 'image'
                ? el('td', { title: image.name }, smallPhotograph(image.index), image.name)
                : el('td', {}, text(image)),
          ),
        ),
      ),
    );
    $('moreRows').hidden = shown.length === list.length;
    $('moreRows').textContent = `show all ${list.length.toLocaleString('en')}`;
  };
  used.forEach(([name], k) => {
    const cell = el(
      'th',
      { class: name === 'state' ? 'left' : null, scope: 'col' },
      el(
        'button',
        {
          type: 'button',
          onclick: () => {
            sort.down = sort.column === k ? !sort.down : name !== 'image' && name !== 'state';
            sort.column = k;
            [...head.children].forEach((other) => other.removeAttribute('aria-sort'));
            cell.setAttribute('aria-sort', sort.down ? 'descending' : 'ascending');
            fill();
          },
        },
        name,
      ),
    );
    head.append(cell);
  });
  const open = (event) => {
    const row = event.target.closest('tr[data-image]');
    if (row && (event.type === 'click' || event.key === 'Enter'))
      select({ image: +row.dataset.image });
  };
  body.addEventListener('click', open);
  body.addEventListener('keydown', open);
  $('filter').addEventListener('input', fill);
  $('moreRows').addEventListener('click', () => {
    all = true;
    fill();
  });
  selection.listeners.push(({ image }) => {
    for (const row of body.querySelectorAll('tr.selected')) row.classList.remove('selected');
    const row = image === undefined ? null : body.querySelector(`tr[data-image="${image}"]`);
    if (row) row.classList.add('selected');
  });
  fill();
}

const seconds = (s) =>
  s >= 100 ? `${Math.round(s)} s` : s >= 1 ? `${s.toFixed(1)} s` : `${Math.round(1000 * s)} ms`;

function startTimings() {
  const entries = Object.entries(report.summary.seconds || {}).filter(([, s]) =>
    Number.isFinite(s),
  );
  const longest = Math.max(1e-9, ...entries.map(([, s]) => s));
  for (const [name, s] of entries) {
    const bar = el('i');
    bar.style.width = `${(100 * s) / longest}%`;
    $('timings').append(
      el(
        'div',
        { class: 'bar' },
        el('span', {}, name),
        el('div', {}, bar),
        el('b', {}, seconds(s)),
      ),
    );
  }
  const total = entries.reduce((sum, [, s]) => sum + s, 0);
  $('timings').append(
    el('p', { class: 'soft small' }, `${seconds(total)} in all, without this page.`),
  );
}

function startOptions() {
  const { summary } = report;
  const groups = Object.entries(summary.options || {});
  const { photographs, matching } = summary;
  $('options').append(
    facts([
      ['mode', summary.mode],
      ['intrinsics', photographs && photographs.intrinsics],
      ['pairs', matching && matching.pairs_rule],
    ]),
  );
  for (const [group, values] of groups) {
    const body = el('tbody');
    for (const [name, value] of Object.entries(values || {}))
      body.append(
        el(
          'tr',
          {},
          el('td', { class: 'mono' }, `--${group}.${name}`),
          el('td', {}, typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value)),
        ),
      );
    $('options').append(
      el('details', { class: 'group' }, el('summary', {}, group), el('table', {}, body)),
    );
  }
}
