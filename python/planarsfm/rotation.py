"""Absolute rotations from relative ones: propagation, chordal relaxation, averaging, consensus.

Edge e joins the nodes edges[e] = (1, 2) and says R_2 = R_21 R_1 of their rotations, camera from world.
"""
from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple

import ctypes as c
import numpy as np

from . import _library, checks
from ._library import lib
from .parts import Graph, call, filled, pointer, whole

__all__ = ["average", "chordal", "consensus", "propagate"]

_LOSSES = {"robust": 0, "angle": 1, "chordal": 2}


def propagate(num_nodes: int, edges: Any, R_21: Any, tree: Any, root: int = 0) -> np.ndarray:
    """Rotations (N x 3 x 3) along the edges of a tree (indices) from `root`, whose rotation is the identity, as is that
    of a node that the tree does not reach.

    >>> quarter = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1.0]])
    >>> planarsfm.rotation.propagate(3, [[0, 1], [1, 2]], [quarter, quarter], [0, 1])[2].round()
    array([[-1.,  0.,  0.],
           [ 0., -1.,  0.],
           [ 0.,  0.,  1.]])
    """
    graph = Graph(num_nodes, edges)
    relative, tree = graph.rotations(R_21), whole(tree, (-1,), "tree", graph.num_edges)
    R = np.zeros((graph.num_nodes, 3, 3))
    call(lib.psfm_propagate_rotations, graph.struct, pointer(relative), len(tree), pointer(tree), root, pointer(R),
         None)
    return R


def chordal(num_nodes: int, edges: Any, R_21: Any, weights: Any = None) -> np.ndarray:
    """Rotations (N x 3 x 3) by the chordal relaxation, the first node of each component the identity. Needs no start; a
    good one for `average` where no edge is wrong by much.

    >>> quarter = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1.0]])
    >>> planarsfm.rotation.chordal(2, [[0, 1]], [quarter])[1].round()
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    graph = Graph(num_nodes, edges, weights)
    relative, R = graph.rotations(R_21), np.zeros((graph.num_nodes, 3, 3))
    call(lib.psfm_chordal_rotations, graph.struct, pointer(relative), pointer(R))
    return R


def average(num_nodes: int, edges: Any, R_21: Any, start: Any = None, weights: Any = None, loss: str = "robust",
            max_iterations: Optional[int] = None, tolerance_deg: Optional[float] = None) -> Tuple[np.ndarray,
                                                                                                 np.ndarray]:
    """Rotations over all edges at once.

    start    N x 3 x 3; None: those of `chordal`
    weights  of the edges; None: all 1
    loss     "robust" (the sum of angles, then Geman and McClure's loss: edges may be wrong), "angle" (sum of squared
             angles) or "chordal" (sum of ||R_2 - R_21 R_1||^2)

    Returns rotations (N x 3 x 3) and the residual of each edge in degrees.

    >>> R = [planarsfm.look_at([3, 0.1 * k, k], [0, 0, 0]) for k in range(4)]
    >>> edges = [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]]
    >>> relative = [R[j] @ R[i].T for i, j in edges]
    >>> found, residual_deg = planarsfm.rotation.average(4, edges, relative)
    >>> np.abs(found[2] - R[2] @ R[0].T).max() < 1e-9, residual_deg.max() < 1e-6
    (True, True)
    """
    if loss not in _LOSSES:
        raise ValueError("loss: '%s' is not one of %s" % (loss, ", ".join(_LOSSES)))
    graph = Graph(num_nodes, edges, weights)
    relative = graph.rotations(R_21)
    first = chordal(num_nodes, edges, R_21, weights) if start is None else start
    R = checks.array(first, (graph.num_nodes, 3, 3), "start").copy()
    residual = np.zeros(graph.num_edges)
    options = filled(_library.AveragingOptions, loss=_LOSSES[loss], max_iterations=max_iterations,
                     tolerance_deg=tolerance_deg)
    call(lib.psfm_average_rotations, graph.struct, pointer(relative), options, pointer(R), pointer(residual), None)
    return R, np.degrees(residual)


def consensus(num_nodes: int, edges: Any, candidates: Sequence[Any], start: Any,
              confidences: Optional[Sequence[Any]] = None, sigmas_deg: Optional[Sequence[Any]] = None,
              weights: Any = None, seed: int = 0) -> Tuple[np.ndarray, np.ndarray]:
    """The rotations that the largest weight of edges agrees with, where each edge has several candidates of which one
    at most is right: single images are moved, and whole sets of them by one gauge rotation, which is what false edges
    to duplicate structure ask for.

    candidates   for each edge its rotations (K x 3 x 3)
    start        N x 3 x 3
    confidences  for each edge K numbers from 0 to 1; None: all 1
    sigmas_deg   for each edge K standard deviations; None: 0

    Returns rotations (N x 3 x 3) and for each edge the candidate it agrees with, -1 if none.

    >>> R = [planarsfm.look_at([3, 0.1 * k, k], [0, 0, 0]) for k in range(4)]
    >>> edges = [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]]
    >>> two = [[np.diag([1.0, -1, -1]), R[j] @ R[i].T] for i, j in edges]
    >>> start = planarsfm.rotation.propagate(4, edges, [pair[1] for pair in two], [0, 1, 2])
    >>> planarsfm.rotation.consensus(4, edges, two, start)[1]
    array([1, 1, 1, 1, 1])
    """
    graph = Graph(num_nodes, edges, weights)
    if len(candidates) != graph.num_edges:
        raise ValueError("candidates: %d edges are wanted, not %d" % (graph.num_edges, len(candidates)))
    rows = [checks.array(R, (-1, 3, 3), "candidates of edge %d" % e) for e, R in enumerate(candidates)]
    begin = np.concatenate([[0], np.cumsum([len(R) for R in rows])]).astype(np.uint32)

    def flat(values: Optional[Sequence[Any]], what: str) -> Optional[np.ndarray]:
        return None if values is None else checks.array(
            np.concatenate([checks.array(v, (-1,), what) for v in values]), (int(begin[-1]),), what)

    R_21 = np.concatenate(rows) if rows else np.zeros((0, 3, 3))
    confidence, sigma = flat(confidences, "confidences"), flat(sigmas_deg, "sigmas_deg")
    sigma = None if sigma is None else np.radians(sigma)
    given = filled(_library.EdgeCandidates, begin=pointer(begin), R_21=pointer(R_21), confidence=pointer(confidence),
                   sigma_rad=pointer(sigma))
    R = checks.array(start, (graph.num_nodes, 3, 3), "start").copy()
    chosen, num = np.zeros(graph.num_edges, np.uint32), c.c_uint32()
    call(lib.psfm_find_rotation_consensus, graph.struct, given, pointer(R), pointer(chosen), c.byref(num), seed=seed)
    return R, np.where(chosen == 2**32 - 1, -1, chosen.astype(np.int64) - begin[:-1])
