"""Comparison with ground truth: what `planarsfm eval` prints."""
import numpy as np

THRESHOLDS = (0.5, 1, 3, 5, 10)


def auc(errors, thresholds=THRESHOLDS):
    """Area under the curve of recall over error up to each threshold, in per cent, as SuperGlue's evaluation
    defines it. Errors that are not finite count as failed."""
    errors = np.asarray(errors, float).reshape(-1)
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


def recall(errors, thresholds=THRESHOLDS):
    """Share of the errors below each threshold, in per cent. Errors that are not finite count as failed."""
    errors = np.asarray(errors, float).reshape(-1)
    return np.array([100 * np.mean(errors < t) if len(errors) else 0.0 for t in thresholds])


def _images(model):
    """Images by name of a Model, a Result's posed images, or a dict."""
    images = getattr(model, "images", model)
    return {name: image for name, image in images.items() if getattr(image, "posed", True)}


def _models(estimate):
    """A list of image dicts, largest first: of a Model, a Result, a dict or a list of these."""
    if isinstance(estimate, (list, tuple)):
        return [_images(model) for model in estimate]
    return [_images(model) for model in getattr(estimate, "models", [estimate])]


def _angle_deg(a, b):
    """Angle between rows, accurate for small ones."""
    return np.degrees(np.arctan2(np.linalg.norm(np.cross(a, b), axis=-1), np.sum(a * b, axis=-1)))


def _rotation_deg(R):
    """Angle of rotation matrices (..., 3, 3), accurate near 0 and pi."""
    axis = np.stack([R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]], axis=-1)
    return np.degrees(np.arctan2(np.linalg.norm(axis, axis=-1), np.trace(R, axis1=-2, axis2=-1) - 1))


def _median(values):
    return float(np.sort(values)[(len(values) - 1) // 2]) if len(values) else float("nan")


def evaluate(truth, estimate, thresholds=THRESHOLDS):
    """Errors of relative poses over all pairs of the truth's images, by name. truth: a Model or a dict from names
    to objects with R and center; estimate: the same, a list of such (largest first), or a Result. A pair whose
    images are not in one model has failed. Returns a dict: auc_rotation, auc_translation (direction), auc_max (the
    larger of both) at the thresholds in degrees, recall_rotation and recall_max, medians, num_images,
    num_registered."""
    true = _images(truth)
    names = list(true)
    R, C = np.array([true[n].R for n in names]), np.array([true[n].center for n in names])
    where = np.full(len(names), -1)
    E, D = np.tile(np.eye(3), (len(names), 1, 1)), np.zeros((len(names), 3))
    for m, images in enumerate(_models(estimate)):
        for k, name in enumerate(names):
            if where[k] < 0 and name in images:
                where[k], E[k], D[k] = m, images[name].R, images[name].center
    if len(names) and not (where >= 0).any():
        raise ValueError("no image is in both models")
    # A[k] turns the estimate's world into the truth's as image k sees it
    A = np.einsum("kji,kjl->kil", R, E)
    rotation, translation = [], []
    for i in range(len(names) - 1):
        j = np.arange(i + 1, len(names))
        failed = (where[j] != where[i]) | (where[i] < 0)
        angle = _rotation_deg(np.einsum("ab,jcb->jac", A[i], A[j]))
        true_direction = C[i] - C[j]
        direction = np.einsum("jab,jb->ja", A[j], D[i] - D[j])
        off = _angle_deg(direction, true_direction)
        off[failed | ~(np.linalg.norm(direction, axis=1) > 0)] = np.inf
        off[~(np.linalg.norm(true_direction, axis=1) > 0)] = np.nan
        rotation.append(np.where(failed, np.inf, angle))
        translation.append(off)
    rotation = np.concatenate(rotation) if rotation else np.zeros(0)
    translation = np.concatenate(translation) if translation else np.zeros(0)
    told = translation[~np.isnan(translation)]
    return {
        "num_images": len(names), "num_registered": int((where >= 0).sum()), "thresholds": tuple(thresholds),
        "auc_rotation": auc(rotation, thresholds), "auc_translation": auc(told, thresholds),
        "auc_max": auc(np.fmax(rotation, translation), thresholds),
        "recall_rotation": recall(rotation, thresholds),
        "recall_max": recall(np.fmax(rotation, translation), thresholds),
        "median_rotation_deg": _median(rotation), "median_translation_deg": _median(told),
    }
