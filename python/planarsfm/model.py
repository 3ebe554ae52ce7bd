"""COLMAP models as numpy arrays."""
import ctypes as c
import os

import numpy as np

from . import _library
from ._library import lib
from .context import Context


class Camera:
    """Intrinsics: one of COLMAP's models by name, size in pixels, parameters in COLMAP's order."""

    def __init__(self, model, width, height, params):
        self.model, self.width, self.height = model, int(width), int(height)
        self.params = np.array(params, dtype=float).reshape(-1)
        number = c.c_int()
        if not lib.psfm_camera_model_from_name(model.encode(), c.byref(number)):
            raise ValueError("there is no camera model '%s'" % model)
        wanted = lib.psfm_camera_num_params(number.value)
        if len(self.params) != wanted:
            raise ValueError("%s has %d parameters, not %d" % (model, wanted, len(self.params)))
        self._number = number.value

    def __repr__(self):
        return "Camera(%r, %d, %d, %s)" % (self.model, self.width, self.height, self.params.tolist())

    def _to_c(self, camera_id):
        params = np.zeros(_library.MAX_PARAMS)
        params[:len(self.params)] = self.params
        return _library.Camera(camera_id, self._number, self.width, self.height, tuple(params), False)

    @staticmethod
    def _from_c(camera):
        name = lib.psfm_camera_model_name(camera.model).decode()
        return Camera(name, camera.width, camera.height, camera.params[:lib.psfm_camera_num_params(camera.model)])


def rotation_from_quaternion(q):
    """3 x 3 rotation of (w, x, y, z), which need not be normalised."""
    w, x, y, z = np.asarray(q, float) / np.linalg.norm(q)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])


class Image:
    """A pose: X_cam = R X_world + t; q is R as (w, x, y, z), center is -R^T t."""

    def __init__(self, image_id, name, camera_id, q, t):
        self.id, self.name, self.camera_id = image_id, name, camera_id
        self.q, self.t = np.array(q, float), np.array(t, float)
        self.R = rotation_from_quaternion(self.q)
        self.center = -self.R.T @ self.t
        self.keypoints = np.zeros((0, 2))             # pixels
        self.point_ids = np.zeros(0, dtype=np.uint64)  # per keypoint; NO_POINT for none

    def __repr__(self):
        return "Image(%r, center=%s)" % (self.name, np.array2string(self.center, precision=4))


def array(pointer, shape, dtype):
    """A copy of C memory."""
    if int(np.prod(shape)) == 0:
        return np.zeros(shape, dtype)
    return np.ctypeslib.as_array(pointer, shape).astype(dtype, copy=True)


def _records(pointer, count, *fields):
    """A view of an array of C structs as a numpy record array of some of their fields."""
    struct = pointer._type_
    dtype = np.dtype({"names": [f[0] for f in fields], "formats": [(f[1], f[2]) for f in fields],
                      "offsets": [getattr(struct, f[0]).offset for f in fields], "itemsize": c.sizeof(struct)})
    if count == 0:
        return np.zeros(0, dtype)
    buffer = (c.c_char * (count * c.sizeof(struct))).from_address(c.addressof(pointer.contents))
    return np.frombuffer(buffer, dtype)


class Model:
    """cameras by id, images by name, and points as arrays: point_ids, xyz (N x 3), rgb (N x 3), error (pixels,
    negative if unknown), tracks (list of M x 2 arrays: image id, keypoint index)."""

    NO_POINT = np.uint64(_library.NO_POINT)

    def __init__(self, model):
        self.cameras = {m.id: Camera._from_c(m) for m in model.cameras[:model.num_cameras]}
        self.images = {}
        for m in model.images[:model.num_images]:
            image = Image(m.id, m.name.decode(errors="surrogateescape"), m.camera_id, m.q[:], m.t[:])
            if m.num_keypoints > 0:
                image.keypoints = array(m.keypoints, (m.num_keypoints, 2), float)
                image.point_ids = array(m.point3D_ids, (m.num_keypoints,), np.uint64)
            self.images[image.name] = image
        points = _records(model.points, model.num_points, ("id", np.uint64, ()), ("xyz", float, (3,)),
                          ("rgb", np.uint8, (3,)), ("error", float, ()), ("track_length", np.uint64, ()),
                          ("track", np.uintp, ()))
        self.point_ids, self.xyz, self.rgb, self.error = (points[f].copy() for f in ("id", "xyz", "rgb", "error"))
        size = c.sizeof(_library.TrackElement)
        self.tracks = [np.frombuffer(c.string_at(int(at), int(n) * size), np.uint32).reshape(-1, 2)
                       for at, n in zip(points["track"], points["track_length"])]

    def __repr__(self):
        return "Model(%d cameras, %d images, %d points)" % (len(self.cameras), len(self.images), len(self.xyz))


def read_model(folder):
    """Reads a COLMAP model, text or binary; of the OUT folder of a run the largest one."""
    folder = os.fspath(folder)
    for inside in ("", "0", os.path.join("model", "0")):
        path = os.path.join(folder, inside) if inside else folder
        if any(os.path.exists(os.path.join(path, "cameras" + suffix)) for suffix in (".bin", ".txt")):
            folder = path
            break
    model = _library.Model()
    with Context() as context:
        context.check(lib.psfm_model_read(context.handle, os.fsencode(folder), c.byref(model)))
        try:
            return Model(model)
        finally:
            lib.psfm_model_free(c.byref(model))
