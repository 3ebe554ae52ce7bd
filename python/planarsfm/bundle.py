"""Bundle adjustment, triangulation and resection: poses, points, planes and intrinsics that explain observed pixels.

Poses are X_cam = R (X - center). Costs and errors are in pixels; the frame and its scale are those of what comes in.
"""
from __future__ import annotations

import copy
import ctypes as c
from typing import Any, List, NamedTuple, Optional, Tuple

import numpy as np

from . import _library, checks
from ._library import lib
from .camera import Camera
from .parts import call, filled, pointer, whole

__all__ = ["Adjustment", "Resection", "Scene", "adjust", "covariance", "p3p", "reprojection_errors", "resect",
           "triangulate"]

_LOSSES = {"cauchy": 0, "squared": 1, "huber": 2}
_PLANES = {"soft": 0, "hard": 1, "free": 2}
_REFINE = {"none": 0, "focal": 1, "focal-distortion": 2, "all": 3}
_SOLVERS = {"auto": 0, "direct": 1, "iterative": 2}
STATES = np.array(["adjusted", "fixed", "datum", "left out"])


class Scene:
    """What is adjusted, with arrays as attributes of these names:

    cameras       Camera, or a list of them
    R, centers    N x 3 x 3 and N x 3: poses of the images
    points        P x 3
    obs_image, obs_point, obs_xy
                  M, M and M x 2: image, point and pixel of each observation; an image sees a point at most once
    image_camera  N: index into cameras; None: all images have the first
    image_fixed, point_fixed
                  masks of poses and points that stay; None: none
    planes, point_plane
                  K x 4: n, d with n . X = d, and for each point the index of its plane, -1 for none; None: no planes
    obs_sqrt_info M x 3: (s00, s01, s11), upper triangular root of the information, per pixel; None: (1, 0, 1)

    >>> camera = planarsfm.Camera("SIMPLE_PINHOLE", 640, 480, [500, 320, 240])
    >>> scene = planarsfm.bundle.Scene(camera, [np.eye(3)], [[0, 0, 0]], [[0, 0, 5]], [0], [0], [[321, 240]])
    >>> planarsfm.bundle.reprojection_errors(scene)
    array([1.])
    """

    def __init__(self, cameras: Any, R: Any, centers: Any, points: Any, obs_image: Any, obs_point: Any, obs_xy: Any,
                 image_camera: Any = None, image_fixed: Any = None, point_fixed: Any = None, planes: Any = None,
                 point_plane: Any = None, obs_sqrt_info: Any = None) -> None:
        self.cameras: List[Camera] = [cameras] if isinstance(cameras, Camera) else list(cameras)
        self.R, self.points = checks.array(R, (-1, 3, 3), "R").copy(), checks.array(points, (-1, 3), "points").copy()
        n, p = len(self.R), len(self.points)
        self.centers = checks.array(centers, (n, 3), "centers").copy()
        self.obs_image = whole(obs_image, (-1,), "obs_image", n)
        m = len(self.obs_image)
        self.obs_point = whole(obs_point, (m,), "obs_point", p)
        self.obs_xy = checks.array(obs_xy, (m, 2), "obs_xy")
        self.image_camera = whole(np.zeros(n, int) if image_camera is None else image_camera, (n,), "image_camera",
                                  len(self.cameras))
        self.image_fixed, self.point_fixed = _mask(image_fixed, n, "image_fixed"), _mask(point_fixed, p, "point_fixed")
        self.planes = checks.array(() if planes is None else planes, (-1, 4), "planes").copy()
        self.point_plane = None if point_plane is None else checks.array(point_plane, (p,), "point_plane").astype(
            np.int32)
        self.obs_sqrt_info = None if obs_sqrt_info is None else checks.array(obs_sqrt_info, (m, 3), "obs_sqrt_info")

    def copy(self) -> Scene:
        """One with its own poses, points and planes."""
        made = copy.copy(self)
        made.cameras = list(self.cameras)
        for name in ("R", "centers", "points", "planes"):
            setattr(made, name, getattr(self, name).copy())
        return made

    def _to_c(self) -> Any:
        """A struct over the arrays; the cameras are copies."""
        cameras = (_library.Camera * len(self.cameras))(*[camera._to_c(k + 1) for k, camera in enumerate(self.cameras)])
        return filled(
            _library.BundleScene, num_cameras=len(self.cameras), cameras=cameras, num_images=len(self.R),
            image_camera=pointer(self.image_camera), cam_from_world=pointer(self.R), centers=pointer(self.centers),
            image_fixed=pointer(self.image_fixed), num_points=len(self.points), points=pointer(self.points),
            point_fixed=pointer(self.point_fixed), point_plane=pointer(self.point_plane),
            num_planes=len(self.planes), planes=pointer(self.planes), num_observations=len(self.obs_image),
            obs_image=pointer(self.obs_image), obs_point=pointer(self.obs_point), obs_xy=pointer(self.obs_xy),
            obs_sqrt_info=pointer(self.obs_sqrt_info))

    def __repr__(self) -> str:
        return "Scene(%d images, %d points, %d observations)" % (len(self.R), len(self.points), len(self.obs_image))


def _mask(values: Any, n: int, what: str) -> Optional[np.ndarray]:
    if values is None:
        return None
    mask = np.array(values, bool)
    if mask.shape != (n,):
        raise ValueError("%s: a mask of %d is wanted, not %s" % (what, n, mask.shape))
    return mask


def _choose(table: dict, value: str, what: str) -> int:
    if value not in table:
        raise ValueError("%s: '%s' is not one of %s" % (what, value, ", ".join(table)))
    return table[value]


def _options(loss: str, loss_scale_px: Optional[float], planes: str, plane_sigma_px: Optional[float], refine: str,
             **others: Any) -> Any:
    return filled(_library.AdjustOptions, loss=_choose(_LOSSES, loss, "loss"), loss_scale_px=loss_scale_px,
                  planes=_choose(_PLANES, planes, "planes"), plane_sigma_px=plane_sigma_px,
                  refine=_choose(_REFINE, refine, "refine"), **others)


class Adjustment(NamedTuple):
    """What an adjustment found: the scene, for each image "adjusted", "fixed", "datum" (it holds the frame) or "left
    out" (too few observations), half the sum of the losses before and after, steps, whether it converged, and mean and
    root mean square of the reprojection errors in pixels.

    >>> planarsfm.bundle.Adjustment._fields[0]
    'scene'
    """
    scene: Scene
    states: np.ndarray
    initial_cost: float
    final_cost: float
    iterations: int
    converged: bool
    mean_px: float
    rms_px: float


def adjust(scene: Scene, loss: str = "cauchy", loss_scale_px: Optional[float] = None, planes: str = "soft",
           plane_sigma_px: Optional[float] = None, refine: str = "none", solver: str = "auto",
           max_iterations: Optional[int] = None, tolerance: Optional[float] = None, converged: Optional[float] = None,
           min_observations: Optional[int] = None, threads: int = 0) -> Adjustment:
    """Bundle adjustment by Levenberg and Marquardt's method. The scene that comes in stays as it is.

    loss            "cauchy", "squared" or "huber", from loss_scale_px on (default 2)
    planes          "soft" (the distance from its plane is one more residual of a point; plane_sigma_px, by default
                    estimated), "hard" (points stay in their plane) or "free" (planes are ignored)
    refine          "none", "focal", "focal-distortion" or "all" intrinsics
    solver          "auto", "direct" (sparse factor) or "iterative" (conjugate gradients)
    max_iterations  default 100; tolerance (default 1e-6) and converged (default 0.1 standard deviations; negative: to
                    the end) say when to stop
    min_observations  an image with fewer is left out (default 4)

    Without a fixed image, the image with most observations and the distance to the one farthest from it are fixed.

    >>> rng = np.random.default_rng(0)
    >>> camera = planarsfm.Camera("SIMPLE_PINHOLE", 640, 480, [500, 320, 240])
    >>> X = rng.uniform(-1, 1, (40, 3))
    >>> C = np.array([[4, 0, 2], [0, 4, 2], [-4, 0, 2], [0, -4, 2.0]])
    >>> R = np.array([planarsfm.look_at(c, [0, 0, 0]) for c in C])
    >>> xy = np.array([camera.project((X - c) @ r.T) for r, c in zip(R, C)])
    >>> i, p = np.repeat(np.arange(4), 40), np.tile(np.arange(40), 4)
    >>> start = planarsfm.bundle.Scene(camera, R, C, X + rng.normal(0, 0.02, X.shape), i, p, xy.reshape(-1, 2))
    >>> done = planarsfm.bundle.adjust(start, converged=-1)
    >>> done.converged, done.rms_px < 1e-3, list(done.states).count("datum")
    (True, True, 1)
    """
    moved = scene.copy()
    struct = moved._to_c()
    state, result = np.zeros(len(moved.R), np.int32), filled(_library.AdjustResult)
    options = _options(loss, loss_scale_px, planes, plane_sigma_px, refine,
                       solver=_choose(_SOLVERS, solver, "solver"), max_iterations=max_iterations, tolerance=tolerance,
                       converged=converged, min_observations=min_observations)
    call(lib.psfm_adjust_bundle, struct, options, pointer(state), result, threads=threads)
    if refine != "none":
        moved.cameras = [Camera._from_c(camera) for camera in struct.cameras[:struct.num_cameras]]
    return Adjustment(moved, STATES[state], result.initial_cost, result.final_cost, result.iterations,
                      bool(result.converged), result.mean_px, result.rms_px)


def reprojection_errors(scene: Scene) -> np.ndarray:
    """The reprojection error of each observation in pixels (M); infinite where the point has no image.

    >>> camera = planarsfm.Camera("SIMPLE_PINHOLE", 640, 480, [500, 320, 240])
    >>> scene = planarsfm.bundle.Scene(camera, [np.eye(3)], [[0, 0, 0]], [[0, 0, -5]], [0], [0], [[321, 240]])
    >>> planarsfm.bundle.reprojection_errors(scene)
    array([inf])
    """
    error = np.zeros(len(scene.obs_image))
    call(lib.psfm_reprojection_errors, scene._to_c(), pointer(error))
    return error


def covariance(scene: Scene, loss: str = "cauchy", loss_scale_px: Optional[float] = None, planes: str = "soft",
               plane_sigma_px: Optional[float] = None, refine: str = "none",
               known_sigma: bool = False) -> Tuple[np.ndarray, float]:
    """The covariance of each pose of an adjusted scene, with the options of the adjustment: N x 6 x 6 of w, in radians
    and in the axes of the camera, R_true = exp(w) R, and then of the centre. Zero for what the gauge fixes, NaN for
    images that were left out. Then the standard deviation of a residual that it is scaled by, estimated from the
    residuals; known_sigma: it is 1. Raises Error if poses are not determined.

    >>> camera = planarsfm.Camera("SIMPLE_PINHOLE", 640, 480, [500, 320, 240])
    >>> X = np.random.default_rng(0).uniform(-1, 1, (40, 3))
    >>> C = np.array([[4, 0, 2], [0, 4, 2], [-4, 0, 2], [0, -4, 2.0]])
    >>> R = np.array([planarsfm.look_at(c, [0, 0, 0]) for c in C])
    >>> xy = np.array([camera.project((X - c) @ r.T) for r, c in zip(R, C)]).reshape(-1, 2)
    >>> scene = planarsfm.bundle.Scene(camera, R, C, X, np.repeat(np.arange(4), 40), np.tile(np.arange(40), 4), xy)
    >>> each, sigma = planarsfm.bundle.covariance(scene, known_sigma=True)
    >>> each.shape, sigma, (np.sqrt(each[:, 0, 0]) < 0.01).all()
    ((4, 6, 6), 1.0, True)
    """
    each, sigma = np.zeros((len(scene.R), 6, 6)), c.c_double()
    call(lib.psfm_bundle_covariance, scene._to_c(), _options(loss, loss_scale_px, planes, plane_sigma_px, refine),
         known_sigma, pointer(each), c.byref(sigma))
    return each, sigma.value


def triangulate(scene: Scene, max_error_px: Optional[float] = None, min_angle_deg: Optional[float] = None,
                seed: int = 0) -> Tuple[Scene, np.ndarray, np.ndarray]:
    """Points from the poses and observations of a scene: each from those of its observations that agree, in front of
    their cameras. The scene's own points are not looked at; those that are not found keep their values.

    max_error_px   largest reprojection error of an observation (default 4)
    min_angle_deg  a point whose rays all meet at less has no depth (default 1; negative: none)

    Returns the scene with these points, a mask of the points that were found, and one of the observations that agree.

    >>> camera = planarsfm.Camera("SIMPLE_PINHOLE", 640, 480, [500, 320, 240])
    >>> C = np.array([[0, 0, 0], [1, 0, 0.0]])
    >>> xy = [camera.project(np.array([0.5, 0.2, 5]) - c) for c in C]
    >>> scene = planarsfm.bundle.Scene(camera, [np.eye(3)] * 2, C, [[0, 0, 0]], [0, 1], [0, 0], xy)
    >>> done, found, inlier = planarsfm.bundle.triangulate(scene)
    >>> done.points.round(6), found, inlier
    (array([[0.5, 0.2, 5. ]]), array([ True]), array([ True,  True]))
    """
    moved = scene.copy()
    found, inlier = np.zeros(len(moved.points), bool), np.zeros(len(moved.obs_image), bool)
    options = filled(_library.TriangulationOptions, max_error_px=max_error_px, min_angle_deg=min_angle_deg)
    call(lib.psfm_triangulate_scene, moved._to_c(), options, pointer(found), pointer(inlier), seed=seed)
    return moved, found, inlier


class Resection(NamedTuple):
    """The pose of one image, X_cam = R (X - center), the mask of the points that agree, and the root mean square of
    their reprojection errors in pixels.

    >>> planarsfm.bundle.Resection._fields
    ('R', 'center', 'inlier', 'rms_px')
    """
    R: np.ndarray
    center: np.ndarray
    inlier: np.ndarray
    rms_px: float


def resect(camera: Camera, xy: Any, points: Any, max_error_px: Optional[float] = None,
           min_inliers: Optional[int] = None, seed: int = 0) -> Optional[Resection]:
    """The pose of an image that shows points (N x 3, which may lie in one plane) at pixels xy (N x 2), of which many
    may be wrong. None if there is no pose with which enough agree.

    max_error_px  largest reprojection error of an inlier (default 4)
    min_inliers   default 6; of many points more are asked for

    >>> camera = planarsfm.Camera("SIMPLE_PINHOLE", 640, 480, [500, 320, 240])
    >>> X = np.random.default_rng(0).uniform(-1, 1, (30, 3)) * [1, 1, 0]
    >>> R = planarsfm.look_at([3, 1, 4], [0, 0, 0])
    >>> found = planarsfm.bundle.resect(camera, camera.project((X - [3, 1, 4]) @ R.T), X)
    >>> found.center.round(6), found.inlier.sum()
    (array([3., 1., 4.]), 30)
    """
    xy, points = checks.array(xy, (-1, 2), "xy"), checks.array(points, (-1, 3), "points")
    if len(xy) != len(points):
        raise ValueError("%d pixels and %d points do not make pairs" % (len(xy), len(points)))
    inlier, result = np.zeros(len(xy), bool), filled(_library.ResectResult)
    options = filled(_library.ResectOptions, max_error_px=max_error_px, min_inliers=min_inliers)
    call(lib.psfm_resect_image, camera._to_c(1), len(xy), pointer(xy), pointer(points), options, pointer(inlier),
         result, seed=seed)
    if not result.found:
        return None
    return Resection(np.reshape(result.cam_from_world, (3, 3)), np.array(result.center), inlier, result.rms_px)


def p3p(rays: Any, points: Any) -> List[Tuple[np.ndarray, np.ndarray]]:
    """The poses (R, center), four at most, from which three rays (3 x 3, of any length) see three points (3 x 3).

    >>> X = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0.0]])
    >>> poses = planarsfm.bundle.p3p(X - [0.2, 0.3, -4], X)
    >>> min(np.abs(center - [0.2, 0.3, -4]).max() for _, center in poses) < 1e-9
    True
    """
    rays, points = checks.array(rays, (3, 3), "rays"), checks.array(points, (3, 3), "points")
    R, centers, num = np.zeros((4, 3, 3)), np.zeros((4, 3)), c.c_size_t()
    call(lib.psfm_find_p3p_poses, pointer(rays), pointer(points), pointer(R), pointer(centers), c.byref(num))
    return [(R[k], centers[k]) for k in range(num.value)]
