"""Intrinsics of uncalibrated cameras from matches, before there are poses."""
from __future__ import annotations

from typing import Any, Collection, Dict, Mapping, Optional, Tuple, Union

import numpy as np

from . import _library
from ._library import lib
from .camera import Camera, camera_of
from .checks import indices
from .parts import call, filled, pointer
from .solve import named_matches

__all__ = ["calibrate"]


def calibrate(cameras: Any, matches: Mapping[tuple, Any], keypoints: Optional[Mapping[Any, Any]] = None,
              known: Collection[Camera] = (), max_error_px: Optional[float] = None, max_sigma: Optional[float] = None,
              distortion: bool = True, seed: int = 0) -> Tuple[Union[Camera, Dict[Any, Camera]], Any]:
    """Focal lengths, and radial distortion where a model has it, of cameras that are not known: from planes that
    several images show, or from the epipolar geometry of pairs where planes do not tell.

    cameras     a Camera for all images, or a dict from image names to Cameras; their focal lengths may be any guess.
                Images that share a Camera object share its intrinsics
    matches, keypoints  as of `planarsfm.reconstruct`
    known       those of the Camera objects that are calibrated
    max_error_px  of an inlier of a homography (default 4)
    max_sigma   standard deviation of log f below which a focal length is determined (default 0.02)

    Returns what was given as `cameras` with the Cameras found, and with the standard deviation of log f in place of the
    Cameras: 0 of known ones, inf where nothing is known; such cameras stay as they were.

    >>> rng = np.random.default_rng(0)
    >>> camera = planarsfm.Camera("SIMPLE_PINHOLE", 640, 480, [500, 320, 240])
    >>> floor = np.column_stack([rng.uniform(-2, 2, (150, 2)), np.zeros(150)])
    >>> centers = {k: np.array([3 * np.cos(k), 3 * np.sin(k), 3 + k % 3]) for k in range(6)}
    >>> xy = {k: camera.project((floor - C) @ planarsfm.look_at(C, [0, 0, 0]).T) for k, C in centers.items()}
    >>> matches = {(a, b): (xy[a], xy[b]) for a in xy for b in xy if a < b}
    >>> guess = planarsfm.Camera("SIMPLE_PINHOLE", 640, 480, [800, 320, 240])
    >>> found, sigma = planarsfm.calibration.calibrate(guess, matches)
    >>> abs(found.params[0] - 500) < 1, sigma < 0.02
    (True, True)
    """
    given = _Images(cameras, matches, keypoints)
    is_known = np.array([any(camera is k for k in known) for camera in given.cameras], bool)
    structs = (_library.Camera * len(given.cameras))(*[camera._to_c(k + 1) for k, camera in enumerate(given.cameras)])
    options = filled(_library.CalibrationOptions, max_error_px=max_error_px, max_sigma=max_sigma,
                     distortion=0 if distortion else -1)
    sigma = np.zeros(len(given.cameras))
    call(lib.psfm_calibrate_cameras, given.to_c(structs, is_known), options, pointer(sigma), None, seed=seed)
    found = [Camera._from_c(struct) for struct in structs]
    if isinstance(cameras, Camera):
        return found[0], float(sigma[0])
    return ({name: found[k] for name, k in zip(given.names, given.image_camera)},
            {name: float(sigma[k]) for name, k in zip(given.names, given.image_camera)})


class _Images:
    """Images by name as arrays of numbers: a psfm_matched_images that keeps them."""

    def __init__(self, cameras: Any, matches: Mapping[tuple, Any], keypoints: Optional[Mapping[Any, Any]]) -> None:
        self.names, xy, matches = named_matches(matches, keypoints)
        each = [camera_of(cameras, name) for name in self.names]
        self.cameras = list({id(camera): camera for camera in each}.values())
        number = {id(camera): k for k, camera in enumerate(self.cameras)}
        self.image_camera = np.array([number[id(camera)] for camera in each], np.uint32)
        place = {name: k for k, name in enumerate(self.names)}
        rows = [(place[a], place[b], indices(m, a, b, len(xy[a]), len(xy[b]))) for (a, b), m in matches.items()]
        rows = sorted([(a, b, m) if a < b else (b, a, m[:, ::-1]) for a, b, m in rows], key=lambda row: row[:2])
        self.keypoint_begin = _begins([xy[name] for name in self.names])
        self.keypoints = np.ascontiguousarray(np.vstack([xy[name] for name in self.names]))
        self.pairs = np.array([row[:2] for row in rows], np.uint32).reshape(-1, 2)
        self.match_begin = _begins([m for _, _, m in rows])
        self.matches = np.vstack([m for _, _, m in rows] + [np.zeros((0, 2), np.uint32)]).astype(np.uint32)

    def to_c(self, structs: Any, is_known: np.ndarray) -> Any:
        """With these cameras, which the library changes."""
        return filled(
            _library.MatchedImages, num_cameras=len(structs), cameras=structs, camera_known=pointer(is_known),
            num_images=len(self.names), image_camera=pointer(self.image_camera),
            keypoint_begin=pointer(self.keypoint_begin), keypoints=pointer(self.keypoints),
            num_pairs=len(self.pairs), pairs=pointer(self.pairs), match_begin=pointer(self.match_begin),
            matches=pointer(self.matches))


def _begins(rows: list) -> np.ndarray:
    """Where each one begins if they follow each other, and where the last ends."""
    return np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.uintp)
