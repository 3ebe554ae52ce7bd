/* The panel while nothing is selected: images, pairs and planes, those that need a look first. */

const LISTED = 60;
const lists = { shown: 'images' };

/* A small photograph that is decoded when it comes into view; null without one. */
function showSmall(image) {
  image.src = 'data:image/jpeg;base64,' + report.thumbnails[+image.dataset.view];
  inSight.unobserve(image);
}
const inSight = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) if (isIntersecting) showSmall(target);
});
function smallPhotograph(view) {
  if (!report.thumbnails[view]) return null;
  const { width, height } = report.images[view];
  const turn = turnOf(view);
  const image = el('img', {
    class: 'thumb',
    alt: '',
    'data-view': view,
    width: 44,
    height: Math.round((44 * height) / width) || 33,
  });
  const fits = turn % 2 && width && height ? Math.min(width, height) / Math.max(width, height) : 1;
  if (turn) image.style.transform = `rotate(${90 * turn}deg) scale(${fits})`;
  if (turn % 2 && width && height)
    image.style.marginBlock = `${(44 * (fits * width - height)) / width / 2}px`;
  inSight.observe(image);
  return image;
}

/* How much an image needs a look: those without a pose, then doubtful poses, then large errors. */
function concernOf(image) {
  if (image.state !== 'posed') return 3;
  if (typeof image.probability === 'number' && image.probability < 0.95)
    return 2 - image.probability;
  return Math.min(0.99, (image.mean_error_px || 0) / 100);
}

function imageWords(image) {
  if (image.state !== 'posed') return STATES[image.state] || image.state;
  const words = [];
  if (typeof image.probability === 'number' && image.probability < 0.95)
    words.push(`right with ${(100 * image.probability).toFixed(0)} %`);
  if (image.mean_error_px !== undefined && image.mean_error_px !== null)
    words.push(`${shortNumber(image.mean_error_px, 2)} px`);
  return words.join(', ') || 'posed';
}

function listRow(target, picture, name, words) {
  return el(
    'li',
    {},
    el(
      'button',
      { type: 'button', onclick: () => select(target) },
      picture,
      el('span', { class: 'name', title: name }, name),
      el('span', { class: 'soft' }, words),
    ),
  );
}

function imageList() {
  const order = [...report.images].sort((a, b) => concernOf(b) - concernOf(a) || a.index - b.index);
  return order.map(
    (image) => () =>
      listRow({ image: image.index }, smallPhotograph(image.index), image.name, imageWords(image)),
  );
}

function pairList() {
  const { pairs } = report;
  const rank = { pruned: 0, none: 1, kept: 2, tree: 2 };
  const off = (p) => (Number.isFinite(pairs.rotation[p]) ? pairs.rotation[p] : 0);
  const order = Array.from({ length: pairs.num }, (_, p) => p).sort(
    (a, b) => rank[pairStatus(a)] - rank[pairStatus(b)] || off(b) - off(a) || a - b,
  );
  return order.map((p) => () => {
    const [a, b] = [report.images[pairs.image1[p]], report.images[pairs.image2[p]]];
    const angle =
      pairs.flags[p] & IS_EDGE && Number.isFinite(pairs.rotation[p])
        ? `, ${shortNumber(pairs.rotation[p], 2)}° off`
        : '';
    return listRow(
      { pair: p },
      statusDot(pairStatus(p)),
      `${a.name} – ${b.name}`,
      pairWords(p) + angle,
    );
  });
}

function planeList() {
  return report.planes.map(
    (plane, k) => () =>
      listRow(
        { plane: k },
        planeDot(plane),
        k === 0 ? 'plane 1, the main one' : `plane ${k + 1}`,
        count(plane.points, 'point'),
      ),
  );
}

function listPanel() {
  const kinds = [
    ['images', 'Images', imageList, report.images.length],
    ['pairs', 'Pairs', pairList, report.pairs.num],
    ['planes', 'Planes', planeList, report.planes.length],
  ].filter(([, , , num]) => num > 0);
  const place = el('div');
  const tabs = el('div', { class: 'chips', role: 'group', 'aria-label': 'What is listed' });
  const show = (name) => {
    lists.shown = name;
    const kind = kinds.find(([key]) => key === name) || kinds[0];
    if (!kind) return;
    for (const tab of tabs.children)
      tab.setAttribute('aria-pressed', String(tab.dataset.list === kind[0]));
    const rows = kind[2]();
    const more = rows.length - LISTED;
    place.replaceChildren(
      el('ul', { class: 'list' }, ...rows.slice(0, LISTED).map((make) => make())),
      ...(more > 0
        ? [
            el(
              'p',
              { class: 'soft small' },
              `and ${more.toLocaleString('en')} more${kind[0] === 'images' ? ', in the table below' : ''}`,
            ),
          ]
        : []),
    );
  };
  for (const [key, text, , num] of kinds)
    tabs.append(
      el(
        'button',
        {
          class: 'chip',
          type: 'button',
          'data-list': key,
          'aria-pressed': 'false',
          onclick: () => show(key),
        },
        `${text} ${num.toLocaleString('en')}`,
      ),
    );
  show(lists.shown);
  return [
    el('h2', {}, 'Look closer'),
    el('p', { class: 'soft small' }, 'What needs a look comes first.'),
    tabs,
    place,
  ];
}
