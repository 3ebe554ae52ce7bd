"""What the modules of parts share: numpy arrays as the structs of C, and calls with a context."""
from __future__ import annotations

import ctypes as c
from typing import Any, Optional

import numpy as np

from . import _library, checks
from .context import Context


def filled(struct: Any, **values: Any) -> Any:
    """A struct that begins with its size; what is None stays 0, which stands for the default."""
    made = struct(struct_size=c.sizeof(struct))
    for name, value in values.items():
        if value is not None:
            setattr(made, name, value)
    return made


def pointer(array: Optional[np.ndarray]) -> Optional[int]:
    """The address of an array's numbers; the array must outlive the call."""
    return None if array is None else array.ctypes.data


def whole(values: Any, shape: tuple, what: str, below: Optional[int] = None) -> np.ndarray:
    """Whole numbers of a shape, from 0 to below `below`."""
    found = checks.numbers(values, what)
    if found.size and found.dtype.kind == "f":
        raise TypeError("%s: whole numbers are wanted, not %s" % (what, found.dtype))
    found = checks.array(found, shape, what)
    if found.size and (found.min() < 0 or found.max() >= (2**32 - 1 if below is None else below)):
        bad = found.min() if found.min() < 0 else found.max()
        raise ValueError("%s: %d is out of range%s" % (what, bad, "" if below is None else ", there are %d" % below))
    return found.astype(np.uint32)


class Graph:
    """A psfm_graph that keeps its arrays."""

    def __init__(self, num_nodes: int, edges: Any, weights: Any = None) -> None:
        self.num_nodes = int(num_nodes)
        self.edges = whole(edges, (-1, 2), "edges", self.num_nodes)
        self.num_edges = len(self.edges)
        self.weights = None if weights is None else checks.array(weights, (self.num_edges,), "weights")
        self.struct = filled(_library.Graph, num_nodes=self.num_nodes, num_edges=self.num_edges,
                             edges=pointer(self.edges), weight=pointer(self.weights))

    def rotations(self, R: Any) -> np.ndarray:
        """One for each edge."""
        return checks.array(R, (self.num_edges, 3, 3), "R_21")


def call(function: Any, *arguments: Any, seed: int = 0, threads: int = 1) -> None:
    """Calls a function with a context of its own; raises what it reports. Structs go as pointers to them."""
    given = [c.byref(a) if isinstance(a, c.Structure) else a for a in arguments]
    with Context(threads, seed) as context:
        context.check(function(context.handle, *given))
