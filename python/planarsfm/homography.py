"""Homographies of two images, and the motions behind them (Eq. 1).

A plane that two cameras see maps the rays of one to those of the other, ray2 ~ H_21 ray1, with H_21 = R + t n1^T and
n1 . X1 = 1 on the plane: lengths are in units of its distance from camera 1. X2 = R X1 + t.
"""
from __future__ import annotations

import ctypes as c
from typing import Any, List, NamedTuple, Optional, Tuple

import numpy as np

from . import _library, checks
from ._library import lib
from .camera import Camera
from .parts import call, filled, pointer

__all__ = ["Motion", "decompose", "find"]


class Motion(NamedTuple):
    """One motion behind a homography: X2 = R X1 + t (R 3 x 3, t in units of the plane's distance from camera 1; zero
    for a rotation), the plane's normal in either camera, n1 and n2 = R n1, away from it, and its distances d2 / d1.

    >>> R = planarsfm.look_at([0, -5, 0], [0, 0, 0])
    >>> motion = planarsfm.homography.Motion(np.eye(3), np.array([1, 0, 0]), R[0], R[0], 1.0)
    >>> motion.H
    array([[2., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    R: np.ndarray
    t: np.ndarray
    n1: np.ndarray
    n2: np.ndarray
    d2_over_d1: float

    @property
    def H(self) -> np.ndarray:
        """The homography that it makes, R + t n1^T."""
        return self.R + np.outer(self.t, self.n1)


def find(xy1: Any, xy2: Any, camera1: Optional[Camera] = None, camera2: Optional[Camera] = None, most: int = 5,
         max_error_px: Optional[float] = None, min_inliers: Optional[int] = None, min_area: Optional[float] = None,
         max_iterations: Optional[int] = None, seed: int = 0) -> Tuple[np.ndarray, np.ndarray]:
    """Homographies among matches of which many may be wrong, up to `most`, each beyond chance.

    xy1, xy2         N x 2 each: matched pixels
    camera1, camera2 Cameras; without them lens and focal lengths are not known, and homographies are between pixels
    max_error_px     how far a match's two points must move together to agree (default 4)
    min_inliers      default 8; of many matches more are asked for
    min_area         share of either image that the inliers' hull covers (default 0.005)

    Returns H (K x 3 x 3, most inliers first; between rays with middle singular value 1 and det > 0, or between pixels
    with unit norm) and for each match the index of its homography, -1 for none.

    >>> rng = np.random.default_rng(0)
    >>> camera = planarsfm.Camera("SIMPLE_PINHOLE", 640, 480, [500, 320, 240])
    >>> floor = np.column_stack([rng.uniform(-2, 2, (100, 2)), np.full(100, 5)])
    >>> H, plane = planarsfm.homography.find(camera.project(floor), camera.project(floor + [0.5, 0, 0]), camera, camera)
    >>> len(H), (plane == 0).all(), np.abs(H[0] - [[1, 0, 0.1], [0, 1, 0], [0, 0, 1]]).max() < 1e-9
    (1, True, True)
    """
    xy1, xy2 = checks.array(xy1, (-1, 2), "xy1"), checks.array(xy2, (-1, 2), "xy2")
    if len(xy1) != len(xy2):
        raise ValueError("%d and %d pixels do not make matches" % (len(xy1), len(xy2)))
    cameras = [None if camera is None else c.pointer(camera._to_c(k)) for k, camera in ((1, camera1), (2, camera2))]
    points = filled(_library.MatchedPoints, num=len(xy1), xy1=pointer(xy1), xy2=pointer(xy2), camera1=cameras[0],
                    camera2=cameras[1])
    options = filled(_library.HomographyOptions, max_error_px=max_error_px, min_inliers=min_inliers, min_area=min_area,
                     max_iterations=max_iterations)
    H, plane, num = np.zeros((most, 3, 3)), np.full(len(xy1), -1, np.int32), c.c_size_t()
    call(lib.psfm_find_homographies, points, options, most, pointer(H), pointer(plane), c.byref(num), seed=seed)
    return H[:num.value], plane


def decompose(H: Any, rays1: Any = None, rays2: Any = None) -> List[Motion]:
    """The motions behind a homography between rays (3 x 3, of any scale and sign): two, or one if it is a rotation or
    the camera moved along the plane's normal. Rays (N x 3 each) of points on the plane say which side is seen: a motion
    that hides points which the other shows is dropped, and the better one comes first. Raises Error if H is singular.

    >>> H = np.eye(3) + np.outer([0.2, 0, 0], [0, 0.6, 0.8])
    >>> motions = planarsfm.homography.decompose(3 * H)
    >>> len(motions), min(np.abs(m.t - [0.2, 0, 0]).max() for m in motions) < 1e-9
    (2, True)
    """
    H = checks.array(H, (3, 3), "H")
    if (rays1 is None) != (rays2 is None):
        raise ValueError("rays1 and rays2 go together")
    rays1 = checks.array(() if rays1 is None else rays1, (-1, 3), "rays1")
    rays2 = checks.array(() if rays2 is None else rays2, (len(rays1), 3) if len(rays1) else (-1, 3), "rays2")
    motions, num = (_library.PlaneMotion * 2)(), c.c_size_t()
    call(lib.psfm_decompose_homography, pointer(H), len(rays1), pointer(rays1), pointer(rays2), motions, c.byref(num))
    return [motion_from_c(motion) for motion in motions[:num.value]]


def motion_from_c(motion: Any) -> Motion:
    """What C says of a motion."""
    return Motion(np.reshape(motion.R_21, (3, 3)), np.array(motion.t_21), np.array(motion.n1), np.array(motion.n2),
                  motion.d2_over_d1)
