/* How well the model fits what is known of the world: positions, control points or a court, after
 * `align`. */

const FIRST_ITEMS = 200;

function startWorld() {
  const { alignment, models } = report;
  if (!alignment) return;
  $('world').hidden = $('worldLink').hidden = false;
  const items = alignment.items || [];
  const isPoints = items.some((item) => item.views !== undefined);
  const size = (x) => (x === null || x === undefined ? '' : lengthText(x, models[0]));
  $('worldNote').textContent =
    `Aligned with ${alignment.to}` +
    (items.length
      ? `: ${alignment.used} of ${items.length} used, root mean square ${size(alignment.rms)}` +
        (alignment.rms_px ? ` (${shortNumber(alignment.rms_px)} px)` : '') +
        `, median of all ${size(alignment.median)}. ` +
        (alignment.rms_xyz
          ? `Along x, y and z: ${alignment.rms_xyz.map(size).join(', ')}. `
          : '')
      : '. ') +
    `A unit of the run is ${shortNumber(alignment.scale, 6)} ${alignment.unit === 'm' ? 'm' : 'units'} here.`;
  if (alignment.verdict)
    $('worldVerdict').textContent =
      `The alignment is ${alignment.verdict}: places at random would fit as well once in ` +
      `10^${Math.round(-alignment.chance_log10)} tries.`;
  if (items.length === 0) return;
  const largest = Math.max(...items.map((item) => item.residual || 0)) || 1;
  const row = (item) => {
    const bar = el('i');
    bar.style.width = `${(100 * (item.residual || 0)) / largest}%`;
    return el(
      'tr',
      { class: item.used ? null : 'left-out' },
      el('td', { title: item.label }, item.label),
      el('td', {}, size(item.residual)),
      ...[0, 1, 2].map((k) => el('td', {}, size(item.offset && item.offset[k]))),
      ...(isPoints
        ? [el('td', {}, shortNumber(item.residual_px, 2)), el('td', {}, String(item.views))]
        : []),
      el(
        'td',
        { class: 'left' },
        item.used ? 'used' : item.residual === null ? 'not placed' : 'left out',
      ),
      el('td', { class: 'meter' }, bar),
    );
  };
  const order = [...items].sort((a, b) => (b.residual ?? Infinity) - (a.residual ?? Infinity));
  $('worldTable').append(
    el('caption', {}, 'Residuals of the alignment, largest first'),
    el(
      'thead',
      {},
      el(
        'tr',
        {},
        ...[
          isPoints ? 'point' : 'image',
          'off by',
          'x',
          'y',
          'z',
          ...(isPoints ? ['off by, px', 'views'] : []),
          '',
          '',
        ].map((name) => el('th', { scope: 'col' }, name)),
      ),
    ),
    el('tbody', {}, ...order.slice(0, FIRST_ITEMS).map(row)),
  );
  if (items.length > FIRST_ITEMS)
    $('worldNote').textContent += ` The ${FIRST_ITEMS} largest are shown.`;
}
