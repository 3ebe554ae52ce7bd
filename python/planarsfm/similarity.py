"""Similarities of space: from one model's frame to another's."""
from __future__ import annotations

import ctypes as c
from typing import Any

import numpy as np

from . import _library, checks
from ._library import lib
from .context import Context


class Similarity:
    """y = scale R x + t, with R a rotation (3 x 3).

    >>> s = planarsfm.Similarity(2, np.eye(3), [1, 0, 0])
    >>> s.apply([[1, 1, 1]])
    array([[3., 2., 2.]])
    >>> s.inverse().apply(s.apply([1, 2, 3]))
    array([1., 2., 3.])
    """

    def __init__(self, scale: float, R: Any, t: Any) -> None:
        self.scale, self.R, self.t = float(scale), checks.array(R, (3, 3), "R"), checks.array(t, (3,), "t")

    def apply(self, points: Any) -> np.ndarray:
        """Points (N x 3, or one) of the one frame in the other."""
        return self.scale * checks.numbers(points, "points") @ self.R.T + self.t

    def inverse(self) -> Similarity:
        """The way back."""
        return Similarity(1 / self.scale, self.R.T, -self.R.T @ self.t / self.scale)

    def __repr__(self) -> str:
        return "Similarity(scale=%.9g, t=%s)" % (self.scale, np.array2string(self.t, precision=4))


def fit_similarity(x: Any, y: Any, seed: int = 0) -> Similarity:
    """The similarity that takes points x to points y (N x 3 each); robust: up to 40 % of the pairs may be wrong.
    Raises Error if fewer than three points, or points on a line, do not determine it.

    >>> x = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    >>> planarsfm.fit_similarity(x, 3 * x + [0, 0, 5]).scale.__round__(9)
    3.0
    """
    x, y = checks.array(x, (-1, 3), "x"), checks.array(y, (-1, 3), "y")
    if len(x) != len(y):
        raise ValueError("%d and %d points do not make pairs" % (len(x), len(y)))
    found = _library.Sim3()
    with Context(1, seed) as context:
        context.check(lib.psfm_sim3_fit_robust(context.handle, len(x), x.ctypes.data, y.ctypes.data, c.byref(found)))
    return Similarity(found.scale, np.reshape(found.R, (3, 3)), found.t[:])
