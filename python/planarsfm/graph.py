"""Weighted graphs and the pose multigraph: similarity, embedding, minimum-range tree (Eq. 2 to 7, Algorithm 1).

A graph is a number of nodes and its edges, E x 2 indices of nodes; parallel edges are allowed.
"""
from __future__ import annotations

import ctypes as c
from typing import Any, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import _library, checks
from ._library import lib
from .homography import Motion
from .parts import Graph, call, filled, pointer, whole

__all__ = ["Csr", "Multigraph", "biconnected_extension", "components", "embed", "extend_rigidly", "minimum_range_tree",
           "rigid_components"]


def components(num_nodes: int, edges: Any) -> np.ndarray:
    """The connected component of each node, numbered by their lowest node.

    >>> planarsfm.graph.components(4, [[0, 1], [2, 3]])
    array([0, 0, 1, 1], dtype=uint32)
    """
    graph, num = Graph(num_nodes, edges), c.c_uint32()
    label = np.zeros(graph.num_nodes, np.uint32)
    call(lib.psfm_graph_components, graph.struct, pointer(label), c.byref(num))
    return label


def minimum_range_tree(num_nodes: int, edges: Any, weights: Any) -> np.ndarray:
    """The spanning tree with the smallest difference between its largest and smallest weight (Eq. 6, Algorithm 1), as
    ascending indices of its edges. Exact. Raises Error if the graph is not connected.

    >>> planarsfm.graph.minimum_range_tree(3, [[0, 1], [1, 2], [0, 2], [0, 1]], [1.0, 5.0, 6.0, 5.5])
    array([1, 3], dtype=uint32)
    """
    graph = Graph(num_nodes, edges, weights)
    tree = np.zeros(max(graph.num_nodes - 1, 0), np.uint32)
    call(lib.psfm_min_range_tree, graph.struct, pointer(tree), None)
    return tree


def biconnected_extension(num_nodes: int, edges: Any, weights: Any, tree: Any) -> Tuple[np.ndarray, np.ndarray,
                                                                                     np.ndarray]:
    """Adds edges to a spanning tree (indices), those that widen the range of its weights least, until no single node
    holds the graph together. Returns three masks: of the edges of tree and extension, of nodes and of edges without
    which it still falls apart.

    >>> edges = [[0, 1], [1, 2], [2, 3], [3, 0]]
    >>> in_graph, cut_nodes, bridges = planarsfm.graph.biconnected_extension(4, edges, [1, 2, 3, 9], [0, 1, 2])
    >>> in_graph.all(), cut_nodes.any(), bridges.any()
    (True, False, False)
    """
    graph = Graph(num_nodes, edges, weights)
    tree = whole(tree, (max(graph.num_nodes - 1, 0),), "tree", graph.num_edges)
    in_graph, bridges = np.zeros(graph.num_edges, bool), np.zeros(graph.num_edges, bool)
    cut_nodes = np.zeros(graph.num_nodes, bool)
    call(lib.psfm_biconnected_extension, graph.struct, pointer(tree), pointer(in_graph), pointer(cut_nodes),
         pointer(bridges), None)
    return in_graph, cut_nodes, bridges


def extend_rigidly(num_nodes: int, edges: Any, weights: Any, in_graph: Any) -> np.ndarray:
    """Goes on adding edges to the mask `in_graph`, in the same order, until directions along them determine all
    positions up to translation and scale (parallel rigid), or no edge is left. Returns the new mask.

    >>> ring = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]]
    >>> planarsfm.graph.extend_rigidly(5, ring + [[0, 2], [1, 3]], [1, 2, 3, 4, 5, 9, 6], [True] * 5 + [False] * 2)
    array([ True,  True,  True,  True,  True, False,  True])
    """
    graph = Graph(num_nodes, edges, weights)
    marked = np.array(in_graph, bool)
    if marked.shape != (graph.num_edges,):
        raise ValueError("in_graph: a mask of %d edges is wanted" % graph.num_edges)
    call(lib.psfm_extend_rigidly, graph.struct, pointer(marked))
    return marked


def rigid_components(num_nodes: int, edges: Any) -> Tuple[np.ndarray, int]:
    """The maximal rigid component of each edge, the one of most nodes first, and the degrees of freedom of all
    positions beyond translation and scale: 0 if directions along the edges determine them.

    >>> planarsfm.graph.rigid_components(3, [[0, 1], [1, 2], [0, 2]])
    (array([0, 0, 0], dtype=uint32), 0)
    """
    graph, num, num_free = Graph(num_nodes, edges), c.c_uint32(), c.c_uint64()
    component = np.zeros(graph.num_edges, np.uint32)
    call(lib.psfm_find_rigid_components, graph.struct, pointer(component), c.byref(num), c.byref(num_free))
    return component, num_free.value


class Csr(NamedTuple):
    """A square sparse matrix: row r has the values row_begin[r] .. row_begin[r + 1] - 1 in the columns `col`. The
    arrays are what scipy.sparse.csr_matrix takes as (value, col, row_begin).

    >>> planarsfm.graph.Csr.from_dense([[1, 0.5], [0.5, 1]]).dense()
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    row_begin: np.ndarray
    col: np.ndarray
    value: np.ndarray

    @staticmethod
    def from_dense(matrix: Any) -> Csr:
        """Of the entries that are not 0."""
        matrix = checks.numbers(matrix, "S").astype(float)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError("S: a square matrix is wanted, not %s" % (matrix.shape,))
        rows, col = np.nonzero(matrix)
        counts = np.bincount(rows, minlength=len(matrix))
        return Csr(np.concatenate([[0], np.cumsum(counts)]).astype(np.uintp), col.astype(np.uint32), matrix[rows, col])

    def dense(self) -> np.ndarray:
        """As a numpy matrix."""
        n = len(self.row_begin) - 1
        matrix = np.zeros((n, n))
        matrix[np.repeat(np.arange(n), np.diff(self.row_begin.astype(np.int64))), self.col] = self.value
        return matrix


def embed(S: Any) -> np.ndarray:
    """One number for each row of a symmetric similarity matrix S >= 0 (a Csr, a scipy.sparse matrix, or dense), so that
    similar ones get similar numbers (Eq. 5): in each connected component the eigenvector of the second-smallest
    eigenvalue of I - D^-1 S, D the row sums, with h^T D h = 1 and its largest entry positive.

    >>> S = np.kron(np.eye(2), np.ones((2, 2))) + 0.1
    >>> planarsfm.graph.embed(S).round(3)
    array([ 0.323,  0.323, -0.323, -0.323])
    """
    if hasattr(S, "tocsr"):
        S = S.tocsr()
        S.sort_indices()
        S = Csr(S.indptr, S.indices, S.data)
    S = S if isinstance(S, Csr) else Csr.from_dense(S)
    begin, col = np.ascontiguousarray(S.row_begin, np.uintp), np.ascontiguousarray(S.col, np.uint32)
    value = checks.array(S.value, (len(col),), "S")
    matrix = _library.Csr(len(begin) - 1, pointer(begin), pointer(col), pointer(value))
    h = np.zeros(len(begin) - 1)
    call(lib.psfm_embed_similarity, matrix, pointer(h), None)
    return h


HYPOTHESIS = np.dtype([("edge", np.uint32), ("homography", np.uint32), ("R", float, (3, 3)), ("t", float, 3),
                       ("n1", float, 3), ("n2", float, 3), ("weight", float)])


class Multigraph:
    """The pose multigraph: images, edges between two of them, and every hypothesis about each edge's relative pose.

    >>> graph = planarsfm.graph.Multigraph(3)
    >>> H = np.eye(3) + np.outer([0.2, 0, 0], [0, 0.6, 0.8])
    >>> for i, j in ((0, 1), (1, 2), (0, 2)):
    ...     edge = graph.add_edge(i, j, np.eye(3))
    ...     graph.add_homography(planarsfm.homography.decompose(H), [[k, k] for k in range(20)])
    >>> graph.weigh_by_confidence()
    >>> graph.hypotheses()["weight"].round(3)
    array([1., 0., 1., 0., 1., 0.])
    >>> h = planarsfm.graph.embed(graph.similarity())
    >>> planarsfm.graph.minimum_range_tree(3, graph.edges, h).shape
    (2,)
    >>> R, t = graph.relative_poses()
    >>> np.abs(R[0] - np.eye(3)).max() < 1e-9, np.abs(t[0] - [1, 0, 0]).max() < 1e-9
    (True, True)
    """

    def __init__(self, num_images: int) -> None:
        self.num_images = int(num_images)
        self._handle = c.c_void_p(lib.psfm_multigraph_create(self.num_images))
        if not self._handle:
            raise MemoryError

    def add_edge(self, image1: int, image2: int, R: Any = None) -> int:
        """Adds an edge between image1 < image2 and returns its index. R (3 x 3) is the rotation of their essential
        matrix, which confidence is measured by; None if there is none."""
        rotation = None if R is None else checks.array(R, (3, 3), "R")
        self._call(lib.psfm_multigraph_add_edge, image1, image2, pointer(rotation))
        return lib.psfm_multigraph_num_edges(self._handle) - 1

    def add_homography(self, motions: Sequence[Motion], keypoints: Any) -> None:
        """Adds a homography to the last edge: its motions (`planarsfm.homography.decompose`) and its inliers (N x 2:
        indices of keypoints in image1 and image2)."""
        inliers = whole(keypoints, (-1, 2), "keypoints")
        structs = (_library.PlaneMotion * len(motions))(*[
            _library.PlaneMotion(tuple(np.ravel(m.R)), tuple(m.t), tuple(m.n1), tuple(m.n2), m.d2_over_d1)
            for m in motions])
        self._call(lib.psfm_multigraph_add_homography, len(motions), structs, len(inliers), pointer(inliers))

    @property
    def edges(self) -> np.ndarray:
        """E x 2: the images of each edge."""
        edges = np.zeros((lib.psfm_multigraph_num_edges(self._handle), 2), np.uint32)
        self._call(lib.psfm_multigraph_edges, pointer(edges))
        return edges

    def hypotheses(self) -> np.ndarray:
        """A record array in the order in which they were added: edge, homography (0, 1, ... within the edge), R
        (3 x 3), t, n1, n2, weight."""
        num = lib.psfm_multigraph_num_hypotheses(self._handle)
        edge, homography, weight = np.zeros(num, np.uint32), np.zeros(num, np.uint32), np.zeros(num)
        motions = (_library.PlaneMotion * num)()
        self._call(lib.psfm_multigraph_hypotheses, pointer(edge), pointer(homography), motions, pointer(weight))
        table = np.zeros(num, HYPOTHESIS)
        table["edge"], table["homography"], table["weight"] = edge, homography, weight
        for row, motion in zip(table, motions):
            row["R"], row["t"] = np.reshape(motion.R_21, (3, 3)), motion.t_21
            row["n1"], row["n2"] = motion.n1, motion.n2
        return table

    def set_weights(self, weights: Any) -> None:
        """Sets the weights of all hypotheses; 0: not chosen."""
        weights = checks.array(weights, (lib.psfm_multigraph_num_hypotheses(self._handle),), "weights")
        self._call(lib.psfm_multigraph_set_weights, pointer(weights))

    def weigh_by_confidence(self, rotation_bandwidth_deg: Optional[float] = None, floor: Optional[float] = None,
                            inlier_power: Optional[float] = None) -> None:
        """Sets the weights to the confidences (Eq. 4): how near a hypothesis' rotation is to the essential matrix's. Of
        the two motions of a homography the nearer one is kept.

        rotation_bandwidth_deg  difference at which confidence is down to 1/e (default 1)
        floor                   least confidence (default 1e-3)
        inlier_power            confidence is multiplied by inliers to this power (default 2; negative: not)
        """
        self._call(lib.psfm_confidence, filled(
            _library.ConfidenceOptions, rotation_bandwidth_deg=rotation_bandwidth_deg, floor=floor,
            inlier_power=inlier_power))

    def similarity(self, normal_bandwidth_rad: Optional[float] = None, self_similarity: Optional[float] = None,
                   floor: Optional[float] = None) -> Csr:
        """The similarity of edges (Eq. 2 and 3), E x E: of two that share an image, how well the normals of their
        hypotheses agree there, by weight and by shared inliers.

        normal_bandwidth_rad  angle of normals at which similarity is down to 1/e (default 0.14)
        self_similarity       of an edge with itself (default 1; negative: 0)
        floor                 least similarity of two edges that share an image (default 1e-5; negative: 0)
        """
        S = _library.Csr()
        options = filled(_library.SimilaritySettings, normal_bandwidth_rad=normal_bandwidth_rad, self=self_similarity,
                         floor=floor)
        self._call(lib.psfm_similarity, options, S)
        try:
            begin = np.array((c.c_size_t * (S.n + 1)).from_address(S.row_begin), np.uintp)
            size = int(begin[-1])
            col = np.array((c.c_uint32 * size).from_address(S.col) if size else (), np.uint32)
            return Csr(begin, col, np.array((c.c_double * size).from_address(S.value) if size else (), float))
        finally:
            lib.psfm_csr_free(c.byref(S))

    def relative_poses(self) -> Tuple[np.ndarray, np.ndarray]:
        """One relative pose for each edge (Eq. 7): R (E x 3 x 3) and the direction t (E x 3, unit length; zero if not
        determined), X2 = R X1 + t."""
        num = lib.psfm_multigraph_num_edges(self._handle)
        R, t = np.zeros((num, 3, 3)), np.zeros((num, 3))
        self._call(lib.psfm_relative_poses, pointer(R), pointer(t))
        return R, t

    def _call(self, function: Any, *arguments: Any) -> None:
        call(function, self._handle, *arguments)

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            lib.psfm_multigraph_destroy(c.byref(self._handle))

    def __repr__(self) -> str:
        return "Multigraph(%d images, %d edges, %d hypotheses)" % (
            self.num_images, lib.psfm_multigraph_num_edges(self._handle),
            lib.psfm_multigraph_num_hypotheses(self._handle))
