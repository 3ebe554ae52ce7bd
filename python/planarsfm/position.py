"""Positions from directions: least unsquared deviations (LUD)."""
from __future__ import annotations

from typing import Any, Optional

import numpy as np

from . import _library, checks
from ._library import lib
from .parts import Graph, call, filled, pointer

__all__ = ["directions", "lud"]


def directions(edges: Any, R: Any, t_21: Any) -> np.ndarray:
    """The unit vector (E x 3) of each edge (1, 2) in the world, from the centre of node 2 to that of node 1: of the
    relative poses X2 = R_21 X1 + t_21 with rotations R (N x 3 x 3, camera from world) it is R_2^T t_21.

    >>> planarsfm.position.directions([[0, 1]], [np.eye(3), np.eye(3)], [[0, 0, 2]])
    array([[0., 0., 1.]])
    """
    R = checks.array(R, (-1, 3, 3), "R")
    graph = Graph(len(R), edges)
    t = checks.array(t_21, (graph.num_edges, 3), "t_21")
    g = np.einsum("eji,ej->ei", R[graph.edges[:, 1]], t)
    return g / np.maximum(np.linalg.norm(g, axis=1, keepdims=True), np.finfo(float).tiny)


def lud(num_nodes: int, edges: Any, direction: Any, rounds: Optional[int] = None, angle_deg: Optional[float] = None,
        max_iterations: Optional[int] = None, tolerance: Optional[float] = None) -> np.ndarray:
    """Centres (N x 3, their sum 0, up to scale) by least unsquared deviations: minimises sum ||c_1 - c_2 - s g|| with
    s >= 1 over centres and scales. The graph must be connected, and parallel rigid for a unique result
    (`planarsfm.graph.rigid_components`).

    direction  E x 3: the unit vector of each edge in the world, from node 2 to node 1 (`directions`)
    rounds     further solves with edges weighed down by the angle they are off (default 3; negative: none)

    >>> C = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    >>> edges = [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2], [1, 3]]
    >>> g = np.array([(C[i] - C[j]) / np.linalg.norm(C[i] - C[j]) for i, j in edges])
    >>> found = planarsfm.position.lud(4, edges, g)
    >>> np.abs(planarsfm.fit_similarity(found, C).apply(found) - C).max() < 1e-6
    True
    """
    graph = Graph(num_nodes, edges)
    g, centers = checks.array(direction, (graph.num_edges, 3), "direction"), np.zeros((graph.num_nodes, 3))
    options = filled(_library.LudSettings, rounds=rounds, angle_deg=angle_deg, max_iterations=max_iterations,
                     tolerance=tolerance)
    call(lib.psfm_lud_positions, graph.struct, pointer(g), options, pointer(centers), None)
    return centers
