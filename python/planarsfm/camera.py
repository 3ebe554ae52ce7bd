"""Cameras: pixels to rays and back."""
from __future__ import annotations

import ctypes as c
from typing import Any

import numpy as np

from . import _library, checks
from ._library import lib


class Camera:
    """Intrinsics: one of COLMAP's models by name, size in pixels, parameters in COLMAP's order (focal lengths and
    principal point in pixels, then distortion).

    >>> camera = planarsfm.Camera("SIMPLE_RADIAL", 640, 480, [500, 320, 240, -0.1])
    >>> camera.project([[0.1, 0.2, 1.0]]).round(3)
    array([[369.75, 339.5 ]])
    """

    def __init__(self, model: str, width: int, height: int, params: Any) -> None:
        self.model, self.width, self.height = model, int(width), int(height)
        self.params = checks.numbers(params, "params").astype(float).reshape(-1)
        number = c.c_int()
        if not lib.psfm_camera_model_from_name(model.encode(), c.byref(number)):
            raise ValueError("there is no camera model '%s'" % model)
        wanted = lib.psfm_camera_num_params(number.value)
        if len(self.params) != wanted:
            raise ValueError("%s has %d parameters, not %d" % (model, wanted, len(self.params)))
        self._number = number.value

    def __repr__(self) -> str:
        return "Camera(%r, %d, %d, %s)" % (self.model, self.width, self.height, self.params.tolist())

    @property
    def K(self) -> np.ndarray:
        """The 3 x 3 matrix of focal lengths and principal point, in pixels, without distortion; ValueError for a
        panorama, which has none.

        >>> planarsfm.Camera("PINHOLE", 640, 480, [500, 510, 320, 240]).K
        array([[500.,   0., 320.],
               [  0., 510., 240.],
               [  0.,   0.,   1.]])
        """
        K = np.zeros((3, 3))
        if not lib.psfm_camera_matrix(c.byref(self._to_c(1)), K.ctypes.data):
            raise ValueError("%s cameras have no matrix" % self.model)
        return K

    def project(self, rays: Any) -> np.ndarray:
        """Pixels (N x 2) of points or rays in camera coordinates (N x 3, of any length); or one pixel of one ray.
        What is behind the camera, or beyond the range in which the distortion is one-to-one, becomes NaN.

        >>> camera = planarsfm.Camera("SIMPLE_PINHOLE", 640, 480, [500, 320, 240])
        >>> camera.project([[0, 0, 1], [1, 0, 5], [0, 0, -1]])
        array([[320., 240.],
               [420., 240.],
               [ nan,  nan]])
        """
        return self._map(lib.psfm_camera_project_points, rays, 3, 2, "rays")

    def unproject(self, xy: Any) -> np.ndarray:
        """Unit rays (N x 3) of pixels (N x 2), or one ray of one pixel; NaN where there is none. The inverse of
        `project`.

        >>> camera = planarsfm.Camera("SIMPLE_PINHOLE", 640, 480, [500, 320, 240])
        >>> camera.unproject([320, 240])
        array([0., 0., 1.])
        """
        return self._map(lib.psfm_camera_unproject_points, xy, 2, 3, "pixels")

    def _map(self, function: Any, values: Any, columns: int, wanted: int, what: str) -> np.ndarray:
        is_one = checks.numbers(values, what).shape == (columns,)
        rows = checks.array(np.reshape(values, (1, columns)) if is_one else values, (-1, columns), what)
        found = np.zeros((len(rows), wanted))
        function(c.byref(self._to_c(1)), len(rows), rows.ctypes.data, found.ctypes.data)
        return found[0] if is_one else found

    def _to_c(self, camera_id: int) -> Any:
        params = np.zeros(_library.MAX_PARAMS)
        params[:len(self.params)] = self.params
        return _library.Camera(camera_id, self._number, self.width, self.height, tuple(params), False)

    @staticmethod
    def _from_c(camera: Any) -> Camera:
        name = lib.psfm_camera_model_name(camera.model).decode()
        return Camera(name, camera.width, camera.height, camera.params[:lib.psfm_camera_num_params(camera.model)])


def camera_of(cameras: Any, name: Any) -> Camera:
    """The camera of an image."""
    if isinstance(cameras, Camera):
        return cameras
    try:
        camera = cameras[name]
    except (KeyError, TypeError, IndexError):
        raise ValueError("%s: no camera is given for it" % (name,)) from None
    if not isinstance(camera, Camera):
        raise TypeError("%s: its camera is a %s, not a planarsfm.Camera" % (name, type(camera).__name__))
    return camera
