/* What the drawings share: colours, canvases, the tooltip, and what is selected. */

const color = (name) =>
  getComputedStyle(document.documentElement)
    .getPropertyValue('--' + name)
    .trim();

/* A canvas that fills `parent`. draw(context, width, height), in CSS pixels, is called when its size
 * or the colours change, or by `redraw`; mark(...), on top of that, also by `remark`, which is cheap
 * however much there is to draw. */
const canvases = [];
function makeCanvas(parent, label, draw, mark = () => {}) {
  const canvas = el('canvas', { role: 'img', 'aria-label': label });
  const base = document.createElement('canvas');
  parent.append(canvas);
  let asked = false,
    isStale = true;
  const prepare = (target, width, height) => {
    const ratio = Math.min(window.devicePixelRatio || 1, 3);
    target.width = Math.round(width * ratio);
    target.height = Math.round(height * ratio);
    const context = target.getContext('2d');
    context.scale(ratio, ratio);
    return context;
  };
  const paint = () => {
    asked = false;
    const width = parent.clientWidth,
      height = parent.clientHeight;
    if (width === 0 || height === 0) return;
    if (isStale) draw(prepare(base, width, height), width, height);
    isStale = false;
    const context = prepare(canvas, width, height);
    context.drawImage(base, 0, 0, width, height);
    mark(context, width, height);
  };
  const remark = () => {
    if (!asked) requestAnimationFrame(paint);
    asked = true;
  };
  const redraw = () => {
    isStale = true;
    remark();
  };
  new ResizeObserver(redraw).observe(parent);
  canvases.push(redraw);
  redraw();
  return { canvas, redraw, remark };
}

/* The panel is a sheet at the foot of the page. */
const isNarrow = () => matchMedia('(max-width: 1080px)').matches;

function pointerOn(canvas, event) {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

function showTip(text, event) {
  const tip = $('tip');
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const right = event.clientX + 14 + tip.offsetWidth > window.innerWidth;
  tip.style.left =
    Math.max(4, right ? event.clientX - tip.offsetWidth - 12 : event.clientX + 14) + 'px';
  tip.style.top =
    Math.max(4, Math.min(event.clientY + 14, window.innerHeight - tip.offsetHeight - 4)) + 'px';
}

/* A button that switches something on and off. */
function chip(parent, text, on, change, dotColor) {
  const button = el('button', { class: 'chip', type: 'button', 'aria-pressed': String(on) });
  if (dotColor) button.append(statusDot(dotColor));
  button.append(text);
  button.addEventListener('click', () => {
    const now = button.getAttribute('aria-pressed') !== 'true';
    button.setAttribute('aria-pressed', String(now));
    change(now);
  });
  parent.append(button);
  return button;
}

/* What is looked at: an image or a pair, pinned by a click or, while the pointer is on it, hovered.
 * Listeners get { image }, { pair }, { plane } or {}. */
const selection = { pinned: {}, hovered: null, listeners: [] };
const lookedAt = () => selection.hovered || selection.pinned;
const tellSelection = () => selection.listeners.forEach((listener) => listener(lookedAt()));
function select(what) {
  selection.pinned = what;
  selection.hovered = null;
  tellSelection();
}
function hover(what) {
  const same = (a, b) =>
    (a === null) === (b === null) &&
    (a === null || (a.image === b.image && a.pair === b.pair && a.plane === b.plane));
  if (same(selection.hovered, what)) return;
  selection.hovered = what;
  tellSelection();
}

/* Makes a drawing of pairs usable by keys: arrows select the next or the last of list(). */
function stepByKeys(canvas, list) {
  canvas.tabIndex = 0;
  canvas.setAttribute('role', 'application');
  canvas.setAttribute(
    'aria-label',
    canvas.getAttribute('aria-label') + '; arrow keys select a pair',
  );
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  canvas.addEventListener('keydown', (event) => {
    const pairs = steps[event.key] ? list() : [];
    if (pairs.length === 0) return;
    event.preventDefault();
    const at = pairs.indexOf(lookedAt().pair);
    const next = at < 0 ? 0 : (at + steps[event.key] + pairs.length) % pairs.length;
    select({ pair: pairs[next] });
  });
}

/* A dot in the colour of what became of a pair. */
function statusDot(status) {
  const dot = el('span', { class: 'dot' });
  dot.style.background = `var(--${status})`;
  return dot;
}

function pairTitle(p) {
  const { image1, image2, matches } = report.pairs;
  const planes = report.pairs.first[p + 1] - report.pairs.first[p];
  return (
    `${report.images[image1[p]].name} – ${report.images[image2[p]].name}\n` +
    `${count(matches[p], 'match')}, ${pairInliers(p).toLocaleString('en')} on ${count(planes, 'plane')}; ${pairWords(p)}`
  );
}

/* Round numbers from low to high, about `wanted` of them. */
function ticks(low, high, wanted) {
  const span = high - low || 1;
  const raw = span / wanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
  const out = [];
  for (let k = Math.ceil(low / step); k * step <= high + 1e-9 * span; ++k)
    out.push(+(k * step).toPrecision(12));
  return out;
}
