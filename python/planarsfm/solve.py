"""Poses from matches in memory."""
from __future__ import annotations

import ctypes as c
import json
import os
from typing import Any, Dict, Mapping, Optional

import numpy as np

from . import _library
from ._library import lib
from .camera import Camera, camera_of
from .checks import indices, pair_names, pixels
from .context import Context, Log, Progress
from .model import Image, Model, array
from .settings import apply
from .tables import Tables


class PosedImage(Image):
    """What was found out about an image. model is the index of its model, -1 without a pose; state is "posed" or the
    reason, advice what to try. pose_covariance (6 x 6) is of w in radians, R_true = exp(w) R, in the camera's axes, and
    then of the centre; NaN if not computed."""

    def __init__(self, found: Any, camera: Camera) -> None:
        posed = found.model >= 0
        super().__init__(found.image_id, found.name.decode(errors="surrogateescape"), 0,
                         found.q[:] if posed else (1, 0, 0, 0), found.t[:])
        self.camera = camera
        self.posed, self.model = posed, found.model
        self.state, self.advice = found.state.decode(), found.advice.decode()
        self.num_points, self.mean_error_px = found.num_points, found.mean_error_px
        self.rotation_sigma_deg, self.center_sigma = found.rotation_sigma_deg, found.center_sigma
        self.probability = found.probability
        self.pose_covariance = np.reshape(found.pose_covariance, (6, 6)) if posed else np.full((6, 6), np.nan)


class Plane:
    """normal . X = distance, the normal towards the cameras; corners (N x 3) is the hull of its points."""

    def __init__(self, p: Any) -> None:
        self.normal, self.distance, self.sigma, self.area = np.array(p.normal[:]), p.distance, p.sigma, p.area
        self.num_points, self.model = p.num_points, p.model
        self.corners = array(p.corners, (p.num_corners, 3), float)


class Points:
    """xyz (N x 3), error_px, model and plane (-1: none) of every point; point k is seen by the rows
    track_begin[k] .. track_begin[k + 1] - 1 of track_image (index into `names`) and track_keypoint."""

    def __init__(self, p: Any, index_of_id: np.ndarray) -> None:
        n = p.num_points
        self.xyz = array(p.xyz, (n, 3), float)
        self.error_px = array(p.error_px, (n,), float)
        self.model, self.plane = array(p.model, (n,), np.int32), array(p.plane, (n,), np.int32)
        self.track_begin = array(p.track_begin, (n + 1,), np.int64)
        size = int(self.track_begin[-1])
        ids = array(p.track_image_id, (size,), np.uint32)
        self.track_image = index_of_id[ids] if size else np.zeros(0, dtype=np.int64)
        self.track_keypoint = array(p.track_keypoint, (size,), np.uint32)


EDGE = np.dtype([("image1", np.int64), ("image2", np.int64), ("num_planes", np.int64), ("num_inliers", np.int64),
                 ("accepted", bool), ("in_tree", bool), ("embedding", float), ("residual_deg", float),
                 ("q", float, 4), ("t", float, 3)])


class Result(Tables):
    """names (the images' order), images (by name), models, points, planes, edges (a record array over the
    pose graph; image1 and image2 index `names`, q and t are camera 2 from camera 1), summary (a dict),
    verdict ("right", "plausible", "doubtful", "unknown" or "none") and warnings (a list of dicts with text and images);
    image_table, camera_table, plane_table and poses (record arrays, and a dict of arrays)."""

    def __init__(self, handle: Any, names: list, cameras: list) -> None:
        self._handle = handle
        self.names = names
        self.images = {}
        for k, name in enumerate(names):
            found = _library.ImageResult(struct_size=c.sizeof(_library.ImageResult))
            lib.psfm_result_image(handle, k, c.byref(found))
            self.images[name] = PosedImage(found, cameras[k])
        index = np.arange(-1, len(names), dtype=np.int64)  # ids count from 1
        points = _library.PointsResult(struct_size=c.sizeof(_library.PointsResult))
        lib.psfm_result_points(handle, c.byref(points))
        self.points = Points(points, index)
        self.planes = [self._plane(k) for k in range(lib.psfm_result_num_planes(handle))]
        self.edges = np.array([self._edge(k) for k in range(lib.psfm_result_num_edges(handle))], dtype=EDGE)
        self.num_models = lib.psfm_result_num_models(handle)
        self.models = [Model._from_c(lib.psfm_result_model(handle, k).contents) for k in range(self.num_models)]
        self.summary = json.loads(lib.psfm_result_summary(handle))
        self.verdict, self.warnings = self.summary["verdict"], self.summary["warnings"]

    def _plane(self, k: int) -> Plane:
        plane = _library.PlaneResult(struct_size=c.sizeof(_library.PlaneResult))
        lib.psfm_result_plane(self._handle, k, c.byref(plane))
        return Plane(plane)

    def _edge(self, k: int) -> tuple:
        e = _library.EdgeResult(struct_size=c.sizeof(_library.EdgeResult))
        lib.psfm_result_edge(self._handle, k, c.byref(e))
        return (e.image_id1 - 1, e.image_id2 - 1, e.num_planes, e.num_inliers, e.is_accepted, e.is_in_tree,
                e.embedding, e.residual_deg, tuple(e.q), tuple(e.t))

    def write(self, folder: Any, binary: bool = False) -> None:
        """Writes the models to folder/0, 1, ... (COLMAP text or binary), largest first."""
        with Context() as context:
            for k in range(self.num_models):
                path = os.path.join(os.fspath(folder), str(k))
                context.check(lib.psfm_model_write(context.handle, lib.psfm_result_model(self._handle, k),
                                                   1 if binary else 0, os.fsencode(path)))

    def __del__(self) -> None:
        if self._handle:
            lib.psfm_result_destroy(c.byref(self._handle))

    def __repr__(self) -> str:
        posed = sum(image.posed for image in self.images.values())
        return "Result(%d of %d images posed, %d models, %d points, %d planes, verdict: %s)" % (
            posed, len(self.images), self.num_models, len(self.points.xyz), len(self.planes), self.verdict)


def _two_arrays(a: Any, b: Any, value: Any) -> tuple:
    """The pixels of a pair's matches."""
    if not isinstance(value, (tuple, list, np.ndarray)) or len(value) != 2:
        raise ValueError("matches of %s and %s: two arrays of pixels are wanted, one for each image" % (a, b))
    xy_a, xy_b = (pixels(xy, "%s, matched with %s" % names) for xy, names in zip(value, ((a, b), (b, a))))
    if len(xy_a) != len(xy_b):
        raise ValueError("matches of %s and %s: %d and %d pixels do not make matches" % (a, b, len(xy_a), len(xy_b)))
    return xy_a, xy_b


def _index_matches(matches: Mapping[tuple, Any]) -> tuple:
    """Keypoints and index matches from pairs of pixel arrays: equal pixels of an image are one keypoint."""
    parts, keypoints, indices = {}, {}, {}
    for (a, b), value in matches.items():
        xy_a, xy_b = _two_arrays(a, b, value)
        parts.setdefault(a, []).append(((a, b), 0, xy_a))
        parts.setdefault(b, []).append(((a, b), 1, xy_b))
    columns = {pair: [None, None] for pair in matches}
    for name, list_of_parts in parts.items():
        keypoints[name], inverse = np.unique(np.vstack([xy for _, _, xy in list_of_parts]), axis=0, return_inverse=True)
        at = 0
        for pair, side, xy in list_of_parts:
            columns[pair][side] = inverse.reshape(-1)[at:at + len(xy)]
            at += len(xy)
    for pair, (first, second) in columns.items():
        indices[pair] = np.stack([first, second], axis=1)
    return keypoints, indices


def named_matches(matches: Mapping[tuple, Any], keypoints: Optional[Mapping[Any, Any]]) -> tuple:
    """The images' names, their keypoints, and matches by indices of keypoints."""
    matches = {pair_names(pair): value for pair, value in matches.items()}
    if keypoints is None:
        keypoints, matches = _index_matches(matches)
    keypoints = {name: pixels(xy, "keypoints of %s" % (name,)) for name, xy in keypoints.items()}
    names = sorted(keypoints, key=str)
    if not names:
        raise ValueError("matches: there is no image in them")
    unknown = {name for pair in matches for name in pair} - set(names)
    if unknown:
        raise ValueError("no keypoints of %s" % ", ".join(sorted(map(str, unknown))))
    return names, keypoints, matches


def _camera_ids(cameras: Any, names: list) -> tuple:
    """The different cameras, and the number (from 1) of each image's."""
    per_image = [camera_of(cameras, name) for name in names]
    different = {}
    ids = [different.setdefault(id(camera), len(different) + 1) for camera in per_image]
    ordered = {}
    for camera, number in zip(per_image, ids):
        ordered[number] = camera
    return per_image, ordered, ids


def _fill(context: Context, problem: Any, names: list, ordered: Dict[int, Camera], ids: list,
          keypoints: Dict[Any, np.ndarray], matches: Mapping[tuple, Any]) -> None:
    number = {name: k + 1 for k, name in enumerate(names)}
    for camera_id, camera in sorted(ordered.items()):
        context.check(lib.psfm_problem_add_camera(context.handle, problem, c.byref(camera._to_c(camera_id))))
    for name, camera_id in zip(names, ids):
        xy = keypoints[name]
        context.check(lib.psfm_problem_add_image(context.handle, problem, number[name], camera_id,
                                                 str(name).encode(errors="surrogateescape"), len(xy), xy.ctypes.data))
    for (a, b), pairs in matches.items():
        pairs = indices(pairs, a, b, len(keypoints[a]), len(keypoints[b]))
        context.check(lib.psfm_problem_add_matches(context.handle, problem, number[a], number[b], len(pairs),
                                                   pairs.ctypes.data))


def reconstruct(cameras: Any, matches: Mapping[tuple, Any], keypoints: Optional[Mapping[Any, Any]] = None,
                settings: Optional[Mapping[str, Any]] = None, threads: int = 0, seed: int = 0,
                progress: Progress = None, log: Log = None, **options: Any) -> Result:
    """Camera poses from matches.

    cameras    a Camera for all images, or a dict from image names to Cameras; images that share a Camera
               object share its intrinsics
    matches    a dict from pairs of image names to (xy_a, xy_b), two arrays of matched pixels (N x 2 each);
               or, with keypoints, to rows of keypoint indices (N x 2)
    keypoints  a dict from image names to arrays of pixels (N x 2); images that no match names may be here
    settings   options by name as of `planarsfm reconstruct`, e.g. {"mode": "paper"} or
               {"twoview.max-error-px": 3}
    options    the same as arguments, underscores for dashes and dots: twoview_max_error_px=3
    progress   progress(stage, done, total) is called now and then; a true result cancels
    log        log(level, text)

    Returns a Result. Raises Error, or Cancelled. The result is the same for any number of threads.

    >>> rng = np.random.default_rng(0)
    >>> camera = planarsfm.Camera("SIMPLE_PINHOLE", 640, 480, [500, 320, 240])
    >>> floor = np.column_stack([rng.uniform(-2, 2, (150, 2)), np.zeros(150)])
    >>> centers = {"abcde"[k]: np.array([3 * np.cos(k), 3 * np.sin(k), 5]) for k in range(5)}
    >>> pixels = {k: camera.project((floor - C) @ planarsfm.look_at(C, [0, 0, 0]).T) for k, C in centers.items()}
    >>> matches = {(a, b): (pixels[a], pixels[b]) for a in centers for b in centers if a < b}
    >>> result = planarsfm.reconstruct(camera, matches)
    >>> result.poses["center"].shape, len(result.planes)
    ((5, 3), 1)
    >>> model = result.models[0]
    >>> np.abs(model.transform(model.align(centers)).images["a"].center - centers["a"]).max() < 1e-6
    True
    """
    names, keypoints, matches = named_matches(matches, keypoints)
    per_image, ordered, ids = _camera_ids(cameras, names)
    with Context(threads, seed, progress, log) as context:
        problem, asked = c.c_void_p(lib.psfm_problem_create()), c.c_void_p(lib.psfm_settings_create())
        handle = c.c_void_p()
        try:
            apply(context, lib.psfm_settings_set, asked, {**(settings or {}), **options})
            _fill(context, problem, names, ordered, ids, keypoints, matches)
            context.check(lib.psfm_solve(context.handle, problem, asked, c.byref(handle)))
        finally:
            lib.psfm_problem_destroy(c.byref(problem))
            lib.psfm_settings_destroy(c.byref(asked))
    return Result(handle, names, per_image)
