/* On paper: the 3D view and the other drawings as they are now, in light colours; everything folded is
 * open. */

function startPrint() {
  let before = null;
  addEventListener('beforeprint', () => {
    before = {
      theme: document.documentElement.dataset.theme,
      folded: [...document.querySelectorAll('.finding:not([open])')].filter(
        (node) => node.tagName === 'DETAILS',
      ),
    };
    applyTheme(false);
    for (const node of before.folded) node.open = true;
    document.querySelectorAll('#imageTable .thumb:not([src])').forEach(showSmall);
    if (!view3d) return;
    view3d.render();
    const picture = el('img', {
      class: 'printed',
      alt: 'The 3D view',
      src: view3d.canvas.toDataURL('image/jpeg', 0.9),
    });
    $('stage').prepend(picture);
  });
  addEventListener('afterprint', () => {
    for (const picture of document.querySelectorAll('.printed')) picture.remove();
    if (!before) return;
    for (const node of before.folded) node.open = false;
    applyTheme(before.theme === 'dark');
  });
  $('print').addEventListener('click', () => window.print());
}
