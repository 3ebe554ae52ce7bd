/* What the page leaves out of the run, so that nobody looks for it here. */

function leftOut() {
  const { models, pairs, images, residuals, thumbnails } = report;
  const points = models.reduce((sum, model) => sum + model.numPoints, 0);
  const shown = models.reduce((sum, model) => sum + model.xyz.length / 3, 0);
  const samples = residuals.samples.length / 4;
  const photographs = thumbnails.filter((text) => text).length;
  const some = (few, all, what) =>
    few < all ? `${few.toLocaleString('en')} of ${all.toLocaleString('en')} ${what}` : null;
  return [
    some(shown, points, 'points'),
    some(pairs.num, pairs.total, 'pairs'),
    some(samples, residuals.observations, 'residuals'),
    photographs > 0 ? some(photographs, images.length, 'photographs') : null,
  ].filter((text) => text);
}

function startLeftOut() {
  const list = leftOut();
  $('leftOut').textContent = list.length
    ? `To stay small this page holds ${list.join(', ')}, evenly picked; numbers and histograms count all.`
    : '';
}
