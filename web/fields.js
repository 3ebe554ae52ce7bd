/* The mean residual over the sensor of each camera: what is left there is not noise but the lens, or a
 * pose. Arrows are means of the cells of a grid, enlarged; a cell with few observations is pale. */

const FEW = 8; // observations of a cell

function fieldZoom(field, cellPx) {
  const lengths = [];
  for (let k = 0; k < field.mean.length; k += 3)
    if (field.mean[k] >= FEW) lengths.push(Math.hypot(field.mean[k + 1], field.mean[k + 2]));
  lengths.sort((a, b) => a - b);
  const large = lengths[Math.floor(0.9 * lengths.length)] || 0;
  return large > 0 ? +((0.9 * cellPx) / large).toPrecision(1) : 1;
}

function drawArrow(context, x, y, dx, dy) {
  const length = Math.hypot(dx, dy);
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x + dx, y + dy);
  if (length > 3) {
    const [ux, uy] = [(dx / length) * 4, (dy / length) * 4];
    context.moveTo(x + dx - ux - uy * 0.6, y + dy - uy + ux * 0.6);
    context.lineTo(x + dx, y + dy);
    context.lineTo(x + dx - ux + uy * 0.6, y + dy - uy - ux * 0.6);
  }
  context.stroke();
}

function drawField(context, width, height, field) {
  const { columns, rows, mean } = field;
  const scale = Math.min(width / field.width, height / field.height);
  const [left, top] = [(width - scale * field.width) / 2, (height - scale * field.height) / 2];
  const zoom = fieldZoom(field, field.width / columns);
  context.strokeStyle = color('line');
  context.strokeRect(left + 0.5, top + 0.5, scale * field.width - 1, scale * field.height - 1);
  context.lineWidth = 1.5;
  for (let j = 0; j < rows; ++j)
    for (let i = 0; i < columns; ++i) {
      const at = 3 * (j * columns + i);
      const [n, dx, dy] = [mean[at], mean[at + 1], mean[at + 2]];
      if (n === 0) continue;
      const x = left + ((i + 0.5) / columns) * field.width * scale,
        y = top + ((j + 0.5) / rows) * field.height * scale;
      const size = Math.hypot(dx, dy);
      const long = Math.min(zoom, (2 * field.width) / columns / (size || 1)) * scale;
      context.globalAlpha = n >= FEW ? 1 : 0.3;
      context.strokeStyle = cssColor(ramp(AGREES, size));
      drawArrow(context, x, y, dx * long, dy * long);
    }
  context.globalAlpha = 1;
  return zoom;
}

/* Root mean square of the mean residuals, weighted by observations: what a better lens could explain. */
function fieldSize({ mean }) {
  let sum = 0,
    num = 0;
  for (let k = 0; k < mean.length; k += 3) {
    if (mean[k] < FEW) continue;
    sum += mean[k] * (mean[k + 1] ** 2 + mean[k + 2] ** 2);
    num += mean[k];
  }
  return num > 0 ? Math.sqrt(sum / num) : 0;
}

function startFields() {
  const { fields, fieldsTotal } = report.residuals;
  if (!fields || fields.length === 0) return;
  $('fields').hidden = false;
  const order = fields
    .map((field) => ({ field, size: fieldSize(field) }))
    .sort((a, b) => b.size - a.size);
  const list = $('fieldCamera');
  order.forEach(({ field, size }, k) =>
    list.append(
      el(
        'option',
        { value: k },
        `camera ${field.camera}: ${shortNumber(size, 2)} px, ${count(field.images, 'image')}`,
      ),
    ),
  );
  let shown = order[0].field;
  const { redraw } = makeCanvas(
    $('field'),
    'Mean residuals over the sensor',
    (context, width, height) => {
      const zoom = drawField(context, width, height, shown);
      $('fieldNote').textContent =
        `Mean residual of each cell, ${shortNumber(zoom)} times as long; blue is nothing, orange a pixel. ` +
        `Arrows that turn or grow together are the lens; those of noise are short and point anywhere.` +
        (fieldsTotal > fields.length
          ? ` The ${fields.length} of ${count(fieldsTotal, 'camera')} with most observations are here.`
          : '');
    },
  );
  const place = () => {
    $('field').style.aspectRatio = `${shown.width} / ${shown.height}`;
    redraw();
  };
  list.addEventListener('change', () => {
    shown = order[+list.value].field;
    place();
  });
  place();
}
