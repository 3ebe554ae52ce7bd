/* The embedding: a dot for every edge at its h, the range of the tree as a band, and the tree as
 * arcs below the line. */

const embedding = {
  component: 0,
  byRank: false,
  shows: { tree: true, kept: true, pruned: true },
  dots: [], // { pair, x, y } as drawn
  arcs: [], // [pair, pair]: tree edges that meet in a camera
  scale: null, // of the last drawing
  order: [], // pairs of the component by h
};

/* Walks the tree from its first camera; each edge is joined to the one that led to it. */
function treeArcs(edges) {
  const { image1, image2 } = report.pairs;
  const at = new Map();
  for (const p of edges)
    for (const v of [image1[p], image2[p]]) {
      if (!at.has(v)) at.set(v, []);
      at.get(v).push(p);
    }
  const arcs = [],
    reached = new Set();
  for (const start of at.keys()) {
    if (reached.has(start)) continue;
    reached.add(start);
    const queue = [[start, null]];
    for (let k = 0; k < queue.length; ++k) {
      const [v, from] = queue[k];
      for (const p of at.get(v)) {
        const next = otherImage(p, v);
        if (reached.has(next)) continue;
        reached.add(next);
        if (from !== null) arcs.push([from, p]);
        queue.push([next, p]);
      }
    }
  }
  return arcs;
}

function loadComponent(component) {
  const { pairs } = report;
  embedding.component = component;
  embedding.order = [];
  for (let p = 0; p < pairs.num; ++p)
    if (pairs.flags[p] & IS_EDGE && pairs.component[p] === component) embedding.order.push(p);
  embedding.order.sort((a, b) => pairs.h[a] - pairs.h[b] || a - b);
  embedding.arcs = treeArcs(embedding.order.filter((p) => pairs.flags[p] & IN_TREE));
  const parts = new Set(embedding.order.map((p) => pairs.embeddingComponent[p])).size;
  const facts = report.components[component];
  $('embeddingNote').textContent = facts
    ? `${count(facts.images, 'image')}, ${count(facts.edges, 'edge')}; the tree spans h from ${shortNumber(facts.low)} to ${shortNumber(facts.high)}.` +
      (parts > 1
        ? ` The planes of these pairs fall into ${parts} parts that share no keypoints; each was embedded apart, so that h cannot be compared between them.`
        : '')
    : 'No pair of images gave an edge, so there is nothing to embed.';
}

/* The range of sorted values without the few that are so far off that all others would fall
 * together; these stand at its ends. */
function usualRange(values) {
  const at = (share) => values[Math.round(share * (values.length - 1))];
  const reach = 10 * (at(0.95) - at(0.05));
  const inside = values.filter((x) => reach === 0 || Math.abs(x - at(0.5)) <= reach);
  return [inside[0], inside[inside.length - 1]];
}

function embeddingScale(width) {
  const { order, byRank } = embedding;
  const { h } = report.pairs;
  const margin = 26;
  if (byRank) {
    const rank = new Map(order.map((p, k) => [p, k]));
    const x = (p) => margin + ((width - 2 * margin) * (rank.get(p) + 0.5)) / order.length;
    const facts = report.components[embedding.component];
    const inside = order.filter(
      (p) => h[p] >= Math.fround(facts.low) && h[p] <= Math.fround(facts.high),
    );
    return {
      x,
      band: inside.length ? [x(inside[0]), x(inside[inside.length - 1])] : [0, 0],
      ticks: [],
    };
  }
  const [low, high] = usualRange(order.map((p) => h[p]));
  const share = (value) =>
    high > low ? Math.max(0, Math.min(1, (value - low) / (high - low))) : 0.5;
  const at = (value) => margin + (width - 2 * margin) * share(value);
  const facts = report.components[embedding.component];
  return {
    x: (p) => at(h[p]),
    band: [at(facts.low), at(facts.high)],
    ticks: ticks(low, high, width / 110).map((t) => [at(t), shortNumber(t)]),
  };
}

/* Stacks dots that would cover each other, the tree at the bottom. */
function placeDots(x, axis, size) {
  const { order, shows } = embedding;
  const rank = { tree: 0, kept: 1, pruned: 2 };
  const columns = new Map();
  for (const p of order) {
    if (!shows[pairStatus(p)]) continue;
    const column = Math.round(x(p) / size);
    if (!columns.has(column)) columns.set(column, []);
    columns.get(column).push(p);
  }
  embedding.dots = [];
  for (const [column, list] of columns) {
    list.sort((a, b) => rank[pairStatus(a)] - rank[pairStatus(b)] || a - b);
    const step = Math.min(size, (axis - 22) / list.length);
    const exact = list.length === 1;
    list.forEach((pair, k) =>
      embedding.dots.push({
        pair,
        x: exact ? x(pair) : column * size,
        y: axis - size / 2 - 2 - k * step,
      }),
    );
  }
}

function arcPath(context, { x, axis, depth }, arcs) {
  context.beginPath();
  for (const [a, b] of arcs) {
    const [xa, xb] = [x(a), x(b)];
    const r = Math.abs(xb - xa) / 2;
    context.moveTo(Math.min(xa, xb), axis);
    const deep = Math.min(depth, 4 + r * 0.55);
    context.ellipse((xa + xb) / 2, axis, r, deep, 0, Math.PI, 0, true);
  }
  context.stroke();
}

function drawAxis(context, { axis, ticks: marks, band, size }, width, height) {
  context.font = '11px system-ui, sans-serif';
  context.fillStyle = color('band');
  context.fillRect(band[0] - size / 2, 4, Math.max(2, band[1] - band[0] + size), height - 24);
  context.fillStyle = color('none');
  context.fillRect(8, axis, width - 16, 1);
  context.textAlign = 'center';
  context.fillStyle = color('soft');
  for (const [x, text] of marks) {
    context.fillRect(x, axis - 3, 1, 6);
    context.fillText(text, x, height - 6);
  }
  if (marks.length === 0) context.fillText('rank of h', width / 2, height - 6);
}

function drawEmbedding(context, width, height) {
  embedding.dots = [];
  if (embedding.order.length === 0) return;
  const axis = Math.round(height * 0.66);
  const crowd = embedding.order.length / width;
  const size = crowd < 0.15 ? 11 : crowd < 0.6 ? 8 : 6;
  const scale = { ...embeddingScale(width), axis, size, depth: height - axis - 26 };
  embedding.scale = scale;
  drawAxis(context, scale, width, height);
  context.strokeStyle = color('tree');
  context.globalAlpha = embedding.arcs.length > 400 ? 0.18 : 0.38;
  if (embedding.shows.tree) arcPath(context, scale, embedding.arcs);
  context.globalAlpha = 1;
  placeDots(scale.x, axis, size);
  for (const status of ['pruned', 'kept', 'tree']) {
    context.fillStyle = color(status);
    for (const dot of embedding.dots) {
      if (pairStatus(dot.pair) !== status) continue;
      context.beginPath();
      context.arc(dot.x, dot.y, size / 2 - 0.6, 0, 7);
      context.fill();
    }
  }
}

/* The pair that is looked at, or those of the image, with the arcs of the tree at them. */
function markEmbedding(context) {
  const { pair, image } = lookedAt();
  const { image1, image2 } = report.pairs;
  const isMeant = (p) =>
    p === pair || (image !== undefined && (image1[p] === image || image2[p] === image));
  if (!embedding.scale || (pair === undefined && image === undefined)) return;
  context.lineWidth = 2;
  context.strokeStyle = color('tree');
  if (embedding.shows.tree)
    arcPath(
      context,
      embedding.scale,
      embedding.arcs.filter(([a, b]) => isMeant(a) || isMeant(b)),
    );
  context.strokeStyle = color('ink');
  for (const dot of embedding.dots) {
    if (!isMeant(dot.pair)) continue;
    context.beginPath();
    context.arc(dot.x, dot.y, embedding.scale.size / 2 + (dot.pair === pair ? 2.5 : 1), 0, 7);
    context.stroke();
  }
}

function dotAt([x, y]) {
  let best = null,
    nearest = 14 ** 2;
  for (const dot of embedding.dots) {
    const d = (dot.x - x) ** 2 + (dot.y - y) ** 2;
    if (d < nearest) [best, nearest] = [dot, d];
  }
  return best;
}

function startEmbedding() {
  const { components } = report;
  loadComponent(0);
  const { canvas, redraw, remark } = makeCanvas(
    $('line'),
    'Embedding of the edges of the pose graph on a line',
    drawEmbedding,
    markEmbedding,
  );
  const place = $('embeddingChips');
  for (const [name, text] of [
    ['tree', 'tree'],
    ['kept', 'kept'],
    ['pruned', 'pruned'],
  ])
    chip(
      place,
      text,
      true,
      (on) => {
        embedding.shows[name] = on;
        redraw();
      },
      name,
    );
  chip(place, 'spread evenly', false, (on) => {
    embedding.byRank = on;
    redraw();
  });
  if (components.length > 1) {
    const choice = $('component');
    choice.hidden = false;
    components.forEach((c, k) =>
      choice.append(el('option', { value: k }, `component ${k + 1}: ${count(c.images, 'image')}`)),
    );
    choice.addEventListener('change', () => {
      loadComponent(+choice.value);
      redraw();
    });
  }
  canvas.addEventListener('pointermove', (event) => {
    const dot = dotAt(pointerOn(canvas, event));
    canvas.style.cursor = dot ? 'pointer' : '';
    if (event.pointerType === 'mouse') {
      hover(dot ? { pair: dot.pair } : null);
      showTip(
        dot ? pairTitle(dot.pair) + `\nh = ${shortNumber(report.pairs.h[dot.pair], 4)}` : '',
        event,
      );
    }
  });
  canvas.addEventListener('pointerleave', () => {
    hover(null);
    showTip('');
  });
  canvas.addEventListener('click', (event) => {
    const dot = dotAt(pointerOn(canvas, event));
    if (dot) select({ pair: dot.pair });
  });
  stepByKeys(canvas, () => embedding.order);
  selection.listeners.push(remark);
}
