"""What comes in is looked at before the library sees it: messages name the image."""
from __future__ import annotations

from typing import Any

import numpy as np


def _refuse_mask(values: Any, what: str) -> None:
    """A mask would be lost on the way to an array."""
    masked = isinstance(values, np.ma.MaskedArray) or (
        isinstance(values, (list, tuple)) and any(isinstance(row, np.ma.MaskedArray) for row in values))
    if masked:
        raise TypeError("%s: a masked array is not taken; leave masked rows out" % what)


def numbers(values: Any, what: str) -> np.ndarray:
    """An array of real numbers."""
    _refuse_mask(values, what)
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        raise ValueError("%s: rows of one length are wanted" % what) from None
    if array.dtype == object or array.dtype.kind not in "fiu":
        raise TypeError("%s: an array of real numbers is wanted, not of %s" % (what, array.dtype))
    return array


def array(values: Any, shape: tuple, what: str) -> np.ndarray:
    """Doubles of a shape, in which -1 stands for any length."""
    found = numbers(values, what)
    if found.size == 0 and -1 in shape:
        return np.zeros([0 if n == -1 else n for n in shape])
    if found.ndim != len(shape) or any(n not in (-1, m) for n, m in zip(shape, found.shape)):
        wanted = ", ".join("N" if n == -1 else str(n) for n in shape) + ("," if len(shape) == 1 else "")
        raise ValueError("%s: shape (%s) is wanted, not %s" % (what, wanted, found.shape))
    return np.ascontiguousarray(found, dtype=float)


def pixels(values: Any, what: str) -> np.ndarray:
    """Rows of x, y as doubles. COLMAP's further columns (scale and orientation, or shape) are passed over."""
    xy = numbers(values, what)
    if xy.size == 0:
        return np.zeros((0, 2))
    if xy.ndim != 2 or xy.shape[1] not in (2, 4, 6):
        hint = "; is it transposed?" if xy.ndim == 2 and xy.shape[0] == 2 else ""
        raise ValueError("%s: pixels of shape (N, 2) are wanted, not %s%s" % (what, xy.shape, hint))
    return np.ascontiguousarray(xy[:, :2], dtype=float)


def indices(values: Any, a: Any, b: Any, num_a: int, num_b: int) -> np.ndarray:
    """Rows of two keypoint indices."""
    what = "matches of %s and %s" % (a, b)
    rows = numbers(values, what)
    if rows.size == 0:
        return np.zeros((0, 2), np.uint32)
    if rows.dtype.kind == "f":
        raise TypeError("%s: whole numbers are wanted, not %s; pixels go without `keypoints`" % (what, rows.dtype))
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise ValueError("%s: rows of two keypoint indices, shape (N, 2), are wanted, not %s" % (what, rows.shape))
    for column, (name, num) in enumerate(((a, num_a), (b, num_b))):
        bad = np.flatnonzero((rows[:, column] < 0) | (rows[:, column] >= num))
        if len(bad):
            raise ValueError("%s: row %d names keypoint %d of %s, which has %d" % (
                what, bad[0], rows[bad[0], column], name, num))
    return np.ascontiguousarray(rows, dtype=np.uint32)


def pair_names(pair: Any) -> tuple:
    """The two names of a key of `matches`."""
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise TypeError("matches: keys are pairs of image names, not %r" % (pair,))
    if pair[0] == pair[1]:
        raise ValueError("matches: %s is matched with itself" % (pair[0],))
    return pair


def photograph(values: Any) -> np.ndarray:
    """Gray or colour pixels of one photograph, uint8."""
    _refuse_mask(values, "pixels")
    image = np.asarray(values)
    if image.dtype != np.uint8:
        raise TypeError("pixels: uint8 is wanted, not %s" % image.dtype)
    if image.ndim not in (2, 3) or (image.ndim == 3 and image.shape[2] not in (1, 3)):
        raise ValueError("pixels: height x width, or height x width x 3, is wanted, not %s" % (image.shape,))
    return np.ascontiguousarray(image)
