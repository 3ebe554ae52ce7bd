/* Measuring between two points of the 3D view: points of the model, camera centres or, where there is
 * neither, the ground. */

const SNAP_PX = 12;

class Measure {
  constructor(view) {
    this.view = view;
    this.isOn = false;
    this.ends = [];
  }

  toggle(on) {
    this.isOn = on;
    this.clear();
    this.view.canvas.classList.toggle('measuring', on);
    $('measured').hidden = !on;
    this.say();
  }

  clear() {
    this.ends = [];
    if (!this.mark) return;
    this.view.world.remove(this.mark);
    disposeOf(this.mark);
    this.mark = null;
    this.view.redraw();
  }

  /* The nearest of some points (x, y, z, ...) of the model to a place on the canvas, within reach. */
  nearest(xyz, at) {
    const { camera, canvas, world } = this.view;
    const matrix = new THREE.Matrix4()
      .multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse)
      .multiply(world.matrixWorld);
    const e = matrix.elements;
    let best = -1,
      closest = SNAP_PX ** 2;
    for (let k = 0; k + 2 < xyz.length; k += 3) {
      const [x, y, z] = [xyz[k], xyz[k + 1], xyz[k + 2]];
      const w = e[3] * x + e[7] * y + e[11] * z + e[15];
      if (w <= 0) continue;
      const sx = (((e[0] * x + e[4] * y + e[8] * z + e[12]) / w + 1) / 2) * canvas.clientWidth;
      const sy = ((1 - (e[1] * x + e[5] * y + e[9] * z + e[13]) / w) / 2) * canvas.clientHeight;
      const d = (sx - at[0]) ** 2 + (sy - at[1]) ** 2;
      if (d < closest) [best, closest] = [k, d];
    }
    return best < 0
      ? null
      : { at: new THREE.Vector3(xyz[best], xyz[best + 1], xyz[best + 2]), distance: closest };
  }

  /* Where the ray through a place on the canvas meets the ground; null if it does not. */
  ground([x, y]) {
    const { camera, canvas, world, ground } = this.view;
    const back = world.quaternion.clone().conjugate();
    const from = camera.position.clone().applyQuaternion(back);
    const through = new THREE.Vector3(
      (2 * x) / canvas.clientWidth - 1,
      1 - (2 * y) / canvas.clientHeight,
      0.5,
    )
      .unproject(camera)
      .applyQuaternion(back)
      .sub(from);
    const t = (ground.height - ground.n.dot(from)) / ground.n.dot(through);
    return t > 0 && Number.isFinite(t) ? from.addScaledVector(through, t) : null;
  }

  pick(at) {
    const { model } = this.view;
    const found = [
      layers.points ? this.nearest(model.xyz, at) : null,
      layers.cameras && !this.view.flight.isOn ? this.nearest(model.center, at) : null,
    ].filter((end) => end);
    found.sort((a, b) => a.distance - b.distance);
    const end = found.length ? found[0].at : this.ground(at);
    if (!end) return;
    if (this.ends.length === 2) this.clear();
    this.ends.push(end);
    this.draw();
    this.say();
  }

  draw() {
    const { view } = this;
    if (this.mark) view.world.remove(this.mark);
    this.mark = new THREE.Group();
    const geometry = new THREE.BufferGeometry().setFromPoints(this.ends);
    const dots = new THREE.PointsMaterial({
      map: discTexture(),
      alphaTest: 0.4,
      color: color('drawing'),
      size: 9 * view.ratio(),
      sizeAttenuation: false,
      depthTest: false,
    });
    this.mark.add(new THREE.Points(geometry, dots));
    if (this.ends.length === 2)
      this.mark.add(lineObject(this.ends.map((p) => p.toArray()).flat(), 'drawing'));
    for (const part of this.mark.children) {
      part.material.depthTest = false;
      part.renderOrder = 4;
    }
    view.world.add(this.mark);
    view.redraw();
  }

  say() {
    const { model } = this.view;
    const [a, b] = this.ends;
    if (!a) return ($('measured').textContent = 'Click the first of two points.');
    if (!b) return ($('measured').textContent = 'Click the second point.');
    const along = ['x', 'y', 'z']
      .map((d) => `${d} ${lengthText(Math.abs(b[d] - a[d]), model)}`)
      .join(', ');
    return ($('measured').textContent = `${lengthText(a.distanceTo(b), model)} (${along})`);
  }
}
