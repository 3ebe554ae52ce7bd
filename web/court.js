/* The drawing on the floor, laid over each photograph. */

const FIRST_PHOTOGRAPHS = 60;

/* The drawing as a photograph sees it: strokes that lines confirm, and those that none does. */
function drawingOver(photograph) {
  const space = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(space, 'svg');
  svg.setAttribute('viewBox', `0 0 ${photograph.width} ${photograph.height}`);
  for (const stroke of photograph.drawing || []) {
    const line = document.createElementNS(space, 'polyline');
    line.setAttribute('points', stroke.xy.join(' '));
    line.setAttribute('class', stroke.found ? 'found' : 'missed');
    line.setAttribute('stroke-width', String(Math.max(photograph.width / 400, 1)));
    svg.append(line);
  }
  return svg;
}

function courtFigure(photograph, view) {
  const frame = el('div', { class: 'frame' });
  const inside = el('div', { class: 'stored' });
  const [w, h] = [photograph.width || 16, photograph.height || 9];
  const turn = turnOf(view);
  const place = () => {
    const image = thumbnail(view, place);
    if (image && !frame.querySelector('img'))
      inside.prepend(el('img', { src: image.src, alt: '' }));
  };
  frame.style.aspectRatio = turn % 2 ? `${h} / ${w}` : `${w} / ${h}`;
  inside.style.aspectRatio = `${w} / ${h}`;
  inside.style.width = `${turn % 2 ? (100 * w) / h : 100}%`;
  inside.style.transform = `translate(-50%, -50%) rotate(${90 * turn}deg)`;
  inside.append(drawingOver(photograph));
  frame.append(inside);
  place();
  const facts =
    photograph.score === undefined
      ? photograph.registration
      : `${photograph.in_model ? 'holds the model' : photograph.registration}; ` +
        `${count(photograph.lines, 'line')}, ${Math.round(100 * photograph.confirmed)} % confirmed, ` +
        `score ${Math.round(photograph.score).toLocaleString('en')}` +
        (photograph.turn_deg ? `, turned by ${photograph.turn_deg}°` : '');
  return el(
    'figure',
    {},
    frame,
    el('figcaption', { class: 'small' }, el('b', {}, photograph.name), ' ', facts),
  );
}

/* Length and width as the lines have them. */
function courtSize(court) {
  const metres = (k) =>
    `${court.size[k].toFixed(3)}` +
    (court.sigma_size[k] > 0 ? ` ± ${court.sigma_size[k].toFixed(3)}` : '');
  return (
    ` It is ${metres(0)} m long and ${metres(1)} m wide; ` +
    `${court.expected_size.map((size) => size.toFixed(2)).join(' x ')} m were expected.`
  );
}

function startCourt() {
  const court = report.summary.court;
  if (!court) return;
  const view = new Map(report.images.map((image, k) => [image.name, k]));
  const shown = court.photographs.slice(0, FIRST_PHOTOGRAPHS);
  $('court').hidden = $('courtLink').hidden = false;
  $('courtNote').textContent =
    `${court.drawing}: ${court.registered} of ${count(court.photographs.length, 'photograph')} ` +
    `registered by lines, ${court.in_model} ${court.in_model === 1 ? 'holds' : 'hold'} the model. Bright strokes were found, dim ones not.` +
    courtSize(court) +
    (shown.length < court.photographs.length ? ` The first ${shown.length} are shown.` : '');
  for (const photograph of shown)
    $('courtPhotographs').append(courtFigure(photograph, view.get(photograph.name)));
}
