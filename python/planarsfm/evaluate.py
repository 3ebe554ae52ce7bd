"""Comparison with ground truth: what `planarsfm eval` prints."""
from __future__ import annotations

from typing import Any, Dict, Iterable, List, Optional, Sequence

import numpy as np

from . import checks
from .context import Error
from .similarity import fit_similarity

THRESHOLDS = (0.5, 1, 3, 5, 10)


def auc(errors: Any, thresholds: Sequence[float] = THRESHOLDS) -> np.ndarray:
    """Area under the curve of recall over error up to each threshold, in per cent, as SuperGlue's evaluation
    defines it. Errors that are not finite count as failed; no errors at all give 0.

    >>> planarsfm.auc([0.5, 2.0], [1])
    array([37.5])
    """
    errors = checks.numbers(errors, "errors").astype(float).reshape(-1)
    n = len(errors)
    if n == 0:
        return np.zeros(len(thresholds))
    errors = np.sort(np.where(np.isnan(errors), np.inf, errors))
    areas = []
    for threshold in thresholds:
        below = errors[errors < threshold]
        k = len(below)
        x = np.concatenate([[0.0], below, [threshold]])
        y = np.concatenate([[0.0], np.arange(1, k + 1), [k]])
        areas.append(100 * np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2) / (n * threshold))
    return np.array(areas)


def recall(errors: Any, thresholds: Sequence[float] = THRESHOLDS) -> np.ndarray:
    """Share of the errors below each threshold, in per cent. Errors that are not finite count as failed.

    >>> planarsfm.recall([0.5, 2.0, np.inf, np.nan], [1, 3])
    array([25., 50.])
    """
    errors = checks.numbers(errors, "errors").astype(float).reshape(-1)
    return np.array([100 * np.mean(errors < t) if len(errors) else 0.0 for t in thresholds])


def _images(model: Any) -> Dict[str, Any]:
    """Images by name of a Model, a Result's posed images, or a dict."""
    images = getattr(model, "images", model)
    return {name: image for name, image in images.items() if getattr(image, "posed", True)}


def _models(estimate: Any) -> List[Dict[str, Any]]:
    """A list of image dicts, largest first: of a Model, a Result, a dict or a list of these."""
    if isinstance(estimate, (list, tuple)):
        return [_images(model) for model in estimate]
    return [_images(model) for model in getattr(estimate, "models", [estimate])]


def _angle_deg(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Angle between rows, accurate for small ones."""
    return np.degrees(np.arctan2(np.linalg.norm(np.cross(a, b), axis=-1), np.sum(a * b, axis=-1)))


def _rotation_deg(R: np.ndarray) -> np.ndarray:
    """Angle of rotation matrices (..., 3, 3), accurate near 0 and pi."""
    axis = np.stack([R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]], axis=-1)
    return np.degrees(np.arctan2(np.linalg.norm(axis, axis=-1), np.trace(R, axis1=-2, axis2=-1) - 1))


def _median(values: np.ndarray) -> float:
    return float(np.sort(values)[(len(values) - 1) // 2]) if len(values) else float("nan")


class _Poses:
    """Poses of the truth and of the estimate, image by image; model is the index of the estimated one, -1 without."""

    def __init__(self, truth: Any, estimate: Any, names: Optional[Iterable[str]]) -> None:
        true, models = _images(truth), _models(estimate)
        self.names = list(true) if names is None else list(names)
        unknown = [name for name in self.names if name not in true]
        if unknown:
            raise ValueError("images: the truth has no %s" % unknown[0])
        if not self.names:
            raise ValueError("truth: there is no image in it" if names is None else "images: an empty list")
        if not any(models):
            raise ValueError("estimate: there is no image in it")
        if not any(name in images for name in true for images in models):
            raise ValueError("no image is in both models")
        n = len(self.names)
        self.R = np.array([checks.array(true[name].R, (3, 3), "R of %s" % name) for name in self.names])
        self.center = np.array([checks.array(true[name].center, (3,), "center of %s" % name) for name in self.names])
        self.model = np.full(n, -1)
        self.R_found, self.center_found = np.tile(np.eye(3), (n, 1, 1)), np.full((n, 3), np.nan)
        for m, images in enumerate(models):
            for k, name in enumerate(self.names):
                if self.model[k] < 0 and name in images:
                    self.model[k] = m
                    self.R_found[k] = checks.array(images[name].R, (3, 3), "R of %s" % name)
                    self.center_found[k] = checks.array(images[name].center, (3,), "center of %s" % name)

    def pair_errors(self) -> tuple:
        """i, j, rotation and direction errors in degrees of all pairs i < j: inf if it failed, NaN where the true
        centres coincide."""
        # A[k] turns the estimate's world into the truth's as image k sees it
        A = np.einsum("kji,kjl->kil", self.R, self.R_found)
        i, j = np.triu_indices(len(self.names), 1)
        rotation, translation = np.zeros(len(i)), np.zeros(len(i))
        for k in range(len(self.names) - 1):
            row = slice(np.searchsorted(i, k), np.searchsorted(i, k + 1))
            others = j[row]
            failed = (self.model[others] != self.model[k]) | (self.model[k] < 0)
            rotation[row] = np.where(failed, np.inf, _rotation_deg(np.einsum("ab,ncb->nac", A[k], A[others])))
            wanted = self.center[k] - self.center[others]
            found = np.einsum("nab,nb->na", A[others], self.center_found[k] - self.center_found[others])
            direction = np.where(failed | ~(np.linalg.norm(found, axis=1) > 0), np.inf, _angle_deg(found, wanted))
            translation[row] = np.where(np.linalg.norm(wanted, axis=1) > 0, direction, np.nan)
        return i, j, rotation, translation

    def position_errors(self) -> np.ndarray:
        """Distances of the largest model's centres from the true ones after a robust similarity, in the truth's units;
        NaN for other images, and for all if it is not determined."""
        errors, inside = np.full(len(self.names), np.nan), self.model == 0
        try:
            similarity = fit_similarity(self.center_found[inside], self.center[inside])
        except Error:
            return errors
        errors[inside] = np.linalg.norm(similarity.apply(self.center_found[inside]) - self.center[inside], axis=1)
        return errors


def evaluate(truth: Any, estimate: Any, thresholds: Sequence[float] = THRESHOLDS,
             images: Optional[Iterable[str]] = None) -> Dict[str, Any]:
    """Errors of relative poses over all pairs of the truth's images, by name.

    truth       a Model, or a dict from names to objects with R (3 x 3) and center (3)
    estimate    the same, a list of such (largest first), or a Result; a pair whose images are not in one model failed
    thresholds  degrees
    images      names: only the pairs of these count. None: all

    Returns a dict: auc_rotation, auc_translation (direction), auc_max (the larger of both), recall_rotation and
    recall_max, in per cent at the thresholds; median_rotation_deg, median_translation_deg; position_median,
    position_p90 and position_max (units of the truth, of the largest model after a similarity); num_images,
    num_registered.

    >>> images = [planarsfm.Image(k, "%d.jpg" % k, 1, [1, 0, 0, 0], np.eye(4)[k, :3]) for k in range(4)]
    >>> truth = planarsfm.Model({}, images)
    >>> planarsfm.evaluate(truth, truth)["auc_rotation"]
    array([100., 100., 100., 100., 100.])
    >>> found = planarsfm.Model({}, images[:2])
    >>> planarsfm.evaluate(truth, found, [1], images=["0.jpg", "1.jpg", "2.jpg"])["recall_max"]
    array([33.33333333])
    """
    poses = _Poses(truth, estimate, images)
    _, _, rotation, translation = poses.pair_errors()
    told = translation[~np.isnan(translation)]
    position = np.sort(poses.position_errors()[poses.model == 0])
    return {
        "num_images": len(poses.names), "num_registered": int((poses.model >= 0).sum()),
        "thresholds": tuple(thresholds),
        "auc_rotation": auc(rotation, thresholds), "auc_translation": auc(told, thresholds),
        "auc_max": auc(np.fmax(rotation, translation), thresholds),
        "recall_rotation": recall(rotation, thresholds),
        "recall_max": recall(np.fmax(rotation, translation), thresholds),
        "median_rotation_deg": _median(rotation), "median_translation_deg": _median(told),
        "position_median": _median(position), "position_max": float(position[-1]) if len(position) else float("nan"),
        "position_p90": float(position[int(np.ceil(0.9 * len(position))) - 1]) if len(position) else float("nan"),
    }


def evaluate_images(truth: Any, estimate: Any, thresholds: Sequence[float] = THRESHOLDS,
                    images: Optional[Iterable[str]] = None) -> np.ndarray:
    """The same image by image: a record array in the order of the truth's images with name, model (index of the
    estimated one, -1 without a pose), median_rotation_deg and median_translation_deg over the image's pairs,
    auc_rotation (per cent at the thresholds), and position_error (units of the truth; NaN outside the largest model).

    >>> images = [planarsfm.Image(k, "%d.jpg" % k, 1, [1, 0, 0, 0], np.eye(4)[k, :3]) for k in range(4)]
    >>> truth = planarsfm.Model({}, images)
    >>> table = planarsfm.evaluate_images(truth, planarsfm.Model({}, images[:3]))
    >>> table["model"], table["median_rotation_deg"]
    (array([ 0,  0,  0, -1]), array([ 0.,  0.,  0., inf]))
    """
    poses = _Poses(truth, estimate, images)
    i, j, rotation, translation = poses.pair_errors()
    longest = max(len(str(name)) for name in poses.names)
    table = np.zeros(len(poses.names), dtype=[
        ("name", "U%d" % longest), ("model", int), ("median_rotation_deg", float), ("median_translation_deg", float),
        ("auc_rotation", float, len(thresholds)), ("position_error", float)])
    table["name"], table["model"], table["position_error"] = poses.names, poses.model, poses.position_errors()
    for k, row in enumerate(table):
        its = (i == k) | (j == k)
        row["median_rotation_deg"] = _median(rotation[its])
        row["median_translation_deg"] = _median(translation[its & ~np.isnan(translation)])
        row["auc_rotation"] = auc(rotation[its], thresholds)
    return table
