/* Outlines of planes without their strays. The polygon of a plane is the hull of all its points, and
 * one wrong point far out makes it meet half the scene. Here points lie in square cells; only groups of
 * neighbouring cells that hold a fair share of the points count, and the outline is their hull. */

const FAIR_SHARE = 0.02;
const POINTS_PER_CELL = 30;

/* Two directions along a plane. */
function planeAxes(normal) {
  const n = new THREE.Vector3(...normal).normalize();
  const u = new THREE.Vector3(1, 0, 0).addScaledVector(n, -n.x);
  if (u.length() < 0.1) u.set(0, 1, 0).addScaledVector(n, -n.y);
  u.normalize();
  return { n, u, v: new THREE.Vector3().crossVectors(n, u) };
}

/* The convex hull of points [x, y], counter-clockwise. */
function hullOf(points) {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const turn = (o, a, b) => (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
  const half = (list) => {
    const out = [];
    for (const p of list) {
      while (out.length > 1 && turn(out[out.length - 2], out[out.length - 1], p) <= 0) out.pop();
      out.push(p);
    }
    return out.slice(0, -1);
  };
  return sorted.length < 3 ? sorted : half(sorted).concat(half(sorted.reverse()));
}

/* Cells that touch, as groups of the points in them. */
function cellGroups(points, cell) {
  const cells = new Map();
  const key = (x, y) => `${x} ${y}`;
  for (const p of points) {
    const at = [Math.floor(p[0] / cell), Math.floor(p[1] / cell)];
    if (!cells.has(key(...at))) cells.set(key(...at), { at, points: [], seen: false });
    cells.get(key(...at)).points.push(p);
  }
  const groups = [];
  for (const start of cells.values()) {
    if (start.seen) continue;
    start.seen = true;
    const group = [],
      queue = [start];
    while (queue.length) {
      const { at, points: inside } = queue.pop();
      for (const p of inside) group.push(p);
      for (let k = 0; k < 9; ++k) {
        const next = cells.get(key(at[0] + (k % 3) - 1, at[1] + Math.floor(k / 3) - 1));
        if (!next || next.seen) continue;
        next.seen = true;
        queue.push(next);
      }
    }
    groups.push(group);
  }
  return groups;
}

/* The points that are not strays. */
function withoutStrays(points) {
  if (points.length < 12) return points;
  const middle = (d, share) =>
    points.map((p) => p[d]).sort((a, b) => a - b)[Math.floor(share * points.length)];
  const span = (d) => middle(d, 0.95) - middle(d, 0.05);
  const cell = Math.sqrt((span(0) * span(1) * POINTS_PER_CELL) / points.length);
  if (!(cell > 0)) return points;
  const large = cellGroups(points, cell).filter(
    (group) => group.length >= FAIR_SHARE * points.length,
  );
  return large.length ? large.flat() : points;
}

/* Sets `outline` of each plane, corners in the frame of the model. */
function outlinePlanes(model, planes) {
  const own = planes.map(() => []);
  for (const plane of planes) plane.slack = slackOf(model, plane);
  for (let k = 0; k < model.xyz.length; k += 3) {
    const at = planes.findIndex((plane) =>
      onPlane(plane, model.xyz[k], model.xyz[k + 1], model.xyz[k + 2]),
    );
    if (at >= 0) own[at].push(k);
  }
  planes.forEach((plane, index) => {
    const { n, u, v } = planeAxes(plane.normal);
    const point = new THREE.Vector3();
    const flat = own[index].map((k) => {
      point.set(model.xyz[k], model.xyz[k + 1], model.xyz[k + 2]);
      return [u.dot(point), v.dot(point)];
    });
    const hull = hullOf(withoutStrays(flat));
    plane.outline =
      hull.length < 3
        ? plane.polygon
        : hull.map(([x, y]) =>
            new THREE.Vector3()
              .addScaledVector(u, x)
              .addScaledVector(v, y)
              .addScaledVector(n, plane.distance)
              .toArray(),
          );
  });
}
