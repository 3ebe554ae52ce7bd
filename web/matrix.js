/* The match matrix: one cell per pair of images, symmetric. Many images share a cell; of its pairs
 * the edge of the graph with most matches is seen then. */

const MAX_CELLS = 900;

function hexToRgb(text) {
  const n = parseInt(text.slice(1), 16);
  return [(n >> 16) & 255, (n >> 8) & 255, n & 255];
}

class Matrix {
  constructor() {
    this.num = report.images.length;
    this.cells = Math.max(1, Math.min(this.num, MAX_CELLS));
    this.most = report.pairs.matches.reduce((a, b) => Math.max(a, b), 1);
    this.shown = this.choose();
    const draw = (context, width, height) => this.draw(context, Math.min(width, height));
    const mark = (context, width, height) => this.mark(context, Math.min(width, height));
    Object.assign(this, makeCanvas($('matrix'), 'Match matrix', draw, mark));
    this.listen();
    this.legend();
  }

  cellOf(view) {
    return Math.min(this.cells - 1, Math.floor((view * this.cells) / this.num));
  }

  imageOf(cell) {
    return report.images[Math.ceil((cell * this.num) / this.cells)];
  }

  /* The pair that each cell shows, -1 for none. */
  choose() {
    const { pairs } = report;
    const { cells } = this;
    const shown = new Int32Array(cells * cells).fill(-1);
    const level = (p) => (pairStatus(p) === 'none' ? 0 : 1e9) + pairs.matches[p];
    for (let p = 0; p < pairs.num; ++p) {
      const [a, b] = [this.cellOf(pairs.image1[p]), this.cellOf(pairs.image2[p])];
      for (const k of [a * cells + b, b * cells + a])
        if (shown[k] < 0 || level(p) > level(shown[k])) shown[k] = p;
    }
    return shown;
  }

  /* One pixel per cell. */
  sheet() {
    const sheet = document.createElement('canvas');
    sheet.width = sheet.height = this.cells;
    const context = sheet.getContext('2d');
    const data = context.createImageData(this.cells, this.cells);
    const inks = {};
    for (const name of ['tree', 'kept', 'pruned', 'none', 'stage'])
      inks[name] = hexToRgb(color(name));
    this.shown.forEach((p, k) => {
      const ink = p < 0 ? inks.stage : inks[pairStatus(p)];
      const share = p < 0 ? 1 : Math.log1p(report.pairs.matches[p]) / Math.log1p(this.most);
      for (let c = 0; c < 3; ++c)
        data.data[4 * k + c] = inks.stage[c] + (0.3 + 0.7 * share) * (ink[c] - inks.stage[c]);
      data.data[4 * k + 3] = 255;
    });
    context.putImageData(data, 0, 0);
    return sheet;
  }

  draw(context, size) {
    context.imageSmoothingEnabled = false;
    context.drawImage(this.sheet(), 0, 0, size, size);
  }

  mark(context, size) {
    const { pair, image } = lookedAt();
    const { image1, image2 } = report.pairs;
    const cell = size / this.cells;
    context.strokeStyle = color('ink');
    context.lineWidth = 1.5;
    if (image !== undefined) {
      const at = this.cellOf(image) * cell;
      context.strokeRect(0, at, size, Math.max(cell, 2));
      context.strokeRect(at, 0, Math.max(cell, 2), size);
    } else if (pair !== undefined) {
      const side = Math.max(cell, 7);
      const [a, b] = [image1[pair], image2[pair]].map(
        (view) => this.cellOf(view) * cell - (side - cell) / 2,
      );
      context.strokeRect(b, a, side, side);
      context.strokeRect(a, b, side, side);
    }
  }

  /* Row, column and pair under the pointer, or null. */
  at(event) {
    const [x, y] = pointerOn(this.canvas, event);
    const cell = Math.min(this.canvas.clientWidth, this.canvas.clientHeight) / this.cells;
    const [row, column] = [Math.floor(y / cell), Math.floor(x / cell)];
    if (row < 0 || column < 0 || row >= this.cells || column >= this.cells) return null;
    return { row, column, pair: this.shown[row * this.cells + column] };
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener('pointermove', (event) => {
      if (event.pointerType !== 'mouse') return;
      const cell = this.at(event);
      hover(cell && cell.pair >= 0 ? { pair: cell.pair } : null);
      showTip(cell ? this.words(cell) : '', event);
    });
    canvas.addEventListener('pointerleave', () => {
      hover(null);
      showTip('');
    });
    canvas.addEventListener('click', (event) => {
      const cell = this.at(event);
      if (cell && cell.pair >= 0) select({ pair: cell.pair });
      else if (cell && cell.row === cell.column) select({ image: this.imageOf(cell.row).index });
    });
    stepByKeys(canvas, () => [...new Set(this.shown)].filter((p) => p >= 0));
    selection.listeners.push(this.remark);
  }

  words({ row, column, pair }) {
    if (pair >= 0) return pairTitle(pair);
    const name = this.imageOf(row).name;
    return row === column ? name : `${name} – ${this.imageOf(column).name}\nno matches`;
  }

  legend() {
    const { pairs } = report;
    const tally = { tree: 0, kept: 0, pruned: 0, none: 0 };
    for (let p = 0; p < pairs.num; ++p) ++tally[pairStatus(p)];
    const words = { ...STATUS_WORDS, none: 'no plane, or too few matches' };
    for (const [name, text] of Object.entries(words))
      $('matrixLegend').append(
        el('span', {}, statusDot(name), `${text}: ${tally[name].toLocaleString('en')}`),
      );
    const few = `(${pairs.num.toLocaleString('en')} of ${pairs.total.toLocaleString('en')} pairs)`;
    if (pairs.total > pairs.num) $('matrixLegend').append(el('span', {}, few));
  }
}
