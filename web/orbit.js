/* Turning, shifting and zooming round a target with a mouse, fingers or keys; z is up. */

class Orbit {
  constructor(canvas, camera, changed) {
    Object.assign(this, { canvas, camera, changed });
    this.state = { azimuth: 0, elevation: 0, distance: 10, target: new THREE.Vector3() };
    this.pointers = new Map(); // where each finger or button is
    this.moved = 0; // pixels since it went down
    this.armed = false; // the wheel zooms
    this.listen();
  }

  /* Puts the camera where the state says. */
  place() {
    const { azimuth, elevation, distance, target } = this.state;
    const flat = Math.cos(elevation);
    const { camera } = this;
    camera.position
      .set(Math.cos(azimuth) * flat, Math.sin(azimuth) * flat, Math.sin(elevation))
      .multiplyScalar(distance)
      .add(target);
    camera.near = distance / 500;
    camera.far = distance * 60;
    camera.up.set(0, 0, 1);
    camera.lookAt(target);
    camera.updateProjectionMatrix();
    camera.updateMatrixWorld();
    this.changed();
  }

  /* Right, up and backward of the camera in the world. */
  axes() {
    const e = this.camera.matrixWorld.elements;
    return [0, 4, 8].map((k) => new THREE.Vector3(e[k], e[k + 1], e[k + 2]));
  }

  turn(dx, dy) {
    this.state.azimuth -= dx * 0.006;
    this.state.elevation = Math.max(-1.55, Math.min(1.55, this.state.elevation + dy * 0.006));
  }

  shift(dx, dy) {
    const tall = 2 * this.state.distance * Math.tan((this.camera.fov * Math.PI) / 360);
    const scale = tall / this.canvas.clientHeight;
    const [right, up] = this.axes();
    this.state.target.addScaledVector(right, -dx * scale).addScaledVector(up, dy * scale);
  }

  zoom(factor) {
    this.state.distance *= Math.max(0.2, Math.min(5, factor));
  }

  wasDrag() {
    return this.moved > 6;
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener('pointerdown', (event) => {
      this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
      canvas.setPointerCapture(event.pointerId);
      this.moved = 0;
    });
    canvas.addEventListener('pointermove', (event) => this.move(event));
    for (const end of ['pointerup', 'pointercancel'])
      canvas.addEventListener(end, (event) => this.pointers.delete(event.pointerId));
    /* The wheel zooms only after the pointer has moved here: who scrolls past keeps scrolling. */
    const disarm = () => {
      this.armed = false;
    };
    window.addEventListener('scroll', disarm, { passive: true });
    canvas.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    canvas.addEventListener('contextmenu', (event) => event.preventDefault());
    canvas.addEventListener('keydown', (event) => this.key(event));
  }

  move(event) {
    this.armed = true;
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
    this.moved += Math.abs(dx) + Math.abs(dy);
    if (this.pointers.size === 2) {
      const other = [...this.pointers].find(([id]) => id !== event.pointerId)[1];
      const span = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
      this.zoom(span(before) / span(now));
      this.turn(0, dy / 2);
    } else if (event.shiftKey || event.buttons & 6) this.shift(dx, dy);
    else this.turn(dx, event.pointerType === 'touch' ? 0 : dy); // up and down scrolls the page
    this.pointers.set(event.pointerId, now);
    this.place();
  }

  wheel(event) {
    if (!this.armed) return;
    event.preventDefault();
    this.zoom(Math.exp(event.deltaY * (event.deltaMode === 1 ? 0.03 : 0.0015)));
    this.place();
  }

  key(event) {
    const moves = {
      ArrowLeft: () => this.turn(20, 0),
      ArrowRight: () => this.turn(-20, 0),
      ArrowUp: () => this.turn(0, 20),
      ArrowDown: () => this.turn(0, -20),
      '+': () => this.zoom(0.85),
      '-': () => this.zoom(1.18),
    };
    if (!moves[event.key]) return;
    event.preventDefault();
    moves[event.key]();
    this.place();
  }
}
