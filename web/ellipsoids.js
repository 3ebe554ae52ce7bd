/* How uncertain the centres are: for each camera the ellipsoid of its covariance at one standard
 * deviation, enlarged by one factor for all so that the typical one is as large as a frustum. */

/* L with C = L L^T of a symmetric matrix given as xx, xy, xz, yy, yz, zz; rows of three. */
function cholesky([xx, xy, xz, yy, yz, zz]) {
  const root = (x) => Math.sqrt(Math.max(0, x));
  const over = (x, y) => (y > 0 ? x / y : 0);
  const a = root(xx),
    b = over(xy, a),
    c = over(xz, a);
  const d = root(yy - b * b),
    e = over(yz - b * c, d);
  return [
    [a, 0, 0],
    [b, d, 0],
    [c, e, root(zz - c * c - e * e)],
  ];
}

const sigmaOf = (view) => report.images[view].center_sigma || 0;
const hasSigmas = (model) =>
  model.view.some((view) => report.images[view].center_covariance && sigmaOf(view) > 0);

/* A round factor that makes the median ellipsoid `size` large. */
function ellipsoidFactor(model, size) {
  const typical = middleOf(Array.from(model.view, sigmaOf).filter((s) => s > 0));
  return typical > 0 ? roundUp(size / typical / 2) : 1;
}

/* Three ellipses on each ellipsoid, as lines; userData.factor. */
function makeEllipsoids(model, factor) {
  const steps = model.view.length > 1000 ? 12 : 28;
  const lines = [];
  model.view.forEach((view, k) => {
    const C = report.images[view].center_covariance;
    if (!C) return;
    const L = cholesky(C);
    for (let circle = 0; circle < 3; ++circle)
      for (let i = 0; i < 2 * steps; ++i) {
        const angle = (2 * Math.PI * ((i + 1) >> 1)) / steps;
        const s = [0, 0, 0];
        s[circle] = Math.cos(angle);
        s[(circle + 1) % 3] = Math.sin(angle);
        for (let d = 0; d < 3; ++d)
          lines.push(
            model.center[3 * k + d] + factor * (L[d][0] * s[0] + L[d][1] * s[1] + L[d][2] * s[2]),
          );
      }
  });
  const object = lineObject(lines, 'sigma', model.view.length > 500 ? 0.5 : 0.85);
  object.userData.factor = factor;
  return object;
}
