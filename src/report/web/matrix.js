/* The match matrix: one cell per pair of images, symmetric. Many images share a pixel; the pair
 * with most matches is seen then. */

const MAX_CELLS = 900;

function hexToRgb(text) {
  const n = parseInt(text.slice(1), 16);
  return [n >> 16 & 255, n >> 8 & 255, n & 255];
}

function startMatrix() {
  const { pairs, images } = report;
  const n = images.length;
  const cells = Math.max(1, Math.min(n, MAX_CELLS));
  const cellOf = (view) => Math.min(cells - 1, Math.floor(view * cells / n));
  const shown = new Int32Array(cells * cells).fill(-1);
  const level = (p) => (pairStatus(p) === 'none' ? 0 : 1e9) + pairs.matches[p];
  let most = 1;
  for (let p = 0; p < pairs.num; ++p) {
    const [a, b] = [cellOf(pairs.image1[p]), cellOf(pairs.image2[p])];
    most = Math.max(most, pairs.matches[p]);
    for (const k of [a * cells + b, b * cells + a]) if (shown[k] < 0 || level(p) > level(shown[k])) shown[k] = p;
  }

  const sheet = document.createElement('canvas');
  sheet.width = sheet.height = cells;
  const paintSheet = () => {
    const context = sheet.getContext('2d');
    const data = context.createImageData(cells, cells);
    const inks = {};
    for (const name of ['tree', 'kept', 'pruned', 'none', 'stage']) inks[name] = hexToRgb(color(name));
    for (let k = 0; k < shown.length; ++k) {
      const p = shown[k];
      const ink = p < 0 ? inks.stage : inks[pairStatus(p)];
      const strength = p < 0 ? 1 : .3 + .7 * Math.log1p(pairs.matches[p]) / Math.log1p(most);
      for (let c = 0; c < 3; ++c) data.data[4 * k + c] = inks.stage[c] + strength * (ink[c] - inks.stage[c]);
      data.data[4 * k + 3] = 255;
    }
    context.putImageData(data, 0, 0);
  };

  const draw = (context, width, height) => {
    const size = Math.min(width, height), cell = size / cells;
    paintSheet();
    context.imageSmoothingEnabled = false;
    context.drawImage(sheet, 0, 0, size, size);
    const { pair, image } = lookedAt();
    context.strokeStyle = color('ink');
    context.lineWidth = 1.5;
    if (image !== undefined) {
      context.strokeRect(0, cellOf(image) * cell, size, Math.max(cell, 2));
      context.strokeRect(cellOf(image) * cell, 0, Math.max(cell, 2), size);
    } else if (pair !== undefined) {
      const [a, b] = [cellOf(pairs.image1[pair]), cellOf(pairs.image2[pair])];
      const side = Math.max(cell, 7), shift = (side - cell) / 2;
      context.strokeRect(b * cell - shift, a * cell - shift, side, side);
      context.strokeRect(a * cell - shift, b * cell - shift, side, side);
    }
  };
  const { canvas, redraw } = makeCanvas($('matrix'), draw, 'Match matrix');

  const at = (event) => {
    const [x, y] = pointerOn(canvas, event);
    const size = Math.min(canvas.clientWidth, canvas.clientHeight);
    const [a, b] = [Math.floor(y / size * cells), Math.floor(x / size * cells)];
    if (a < 0 || b < 0 || a >= cells || b >= cells) return null;
    return { a, b, pair: shown[a * cells + b] };
  };
  canvas.addEventListener('pointermove', (event) => {
    if (event.pointerType !== 'mouse') return;
    const cell = at(event);
    if (!cell) return showTip('');
    hover(cell.pair >= 0 ? { pair: cell.pair } : null);
    const name = (k) => images[Math.floor(k * n / cells)].name;
    showTip(cell.pair >= 0 ? pairTitle(cell.pair) : cell.a === cell.b ? name(cell.a) : `${name(cell.a)} – ${name(cell.b)}\nno matches`, event);
  });
  canvas.addEventListener('pointerleave', () => { hover(null); showTip(''); });
  canvas.addEventListener('click', (event) => {
    const cell = at(event);
    if (cell && cell.pair >= 0) select({ pair: cell.pair });
    else if (cell && cell.a === cell.b) select({ image: Math.floor(cell.a * n / cells) });
  });
  selection.listeners.push(redraw);

  const tally = { tree: 0, kept: 0, pruned: 0, none: 0 };
  for (let p = 0; p < pairs.num; ++p) ++tally[pairStatus(p)];
  for (const [name, text] of [['tree', 'kept, in the tree'], ['kept', 'kept'], ['pruned', 'pruned'], ['none', 'no plane, or too few matches']]) {
    const dot = el('span', { class: 'dot' });
    dot.style.background = `var(--${name})`;
    $('matrixLegend').append(el('span', {}, dot, `${text}: ${tally[name].toLocaleString('en')}`));
  }
  if (pairs.total > pairs.num)
    $('matrixLegend').append(el('span', {}, `(${pairs.num.toLocaleString('en')} of ${pairs.total.toLocaleString('en')} pairs are shown)`));
}
