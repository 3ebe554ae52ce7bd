"""One photograph in, its camera's pose over a court or drawing out."""
from __future__ import annotations

import ctypes as c
from typing import Any, Mapping, Optional

import numpy as np

from . import _library, checks
from ._library import lib
from .context import Context
from .camera import Camera
from .model import rotation_from_quaternion
from .settings import apply

__all__ = ["Registration", "register"]


class Registration:
    """What the lines of a photograph say: `accepted` and `verdict`; `R`, `t`, `q` (X_cam = R X + t, metres, z up)
    and `center`; `camera`, with the focal length found if it was unknown; `rotation_sigma_deg`, `center_sigma`,
    `focal_sigma` (relative, 0: known); `score`, `runner_up`, `num_lines`, `confirmed`, `rms_px`; `num_turns` poses
    that the drawing does not tell apart; `size`, length and width of the drawing, and `size_sigma` (0: known);
    `distortion_sigma` (0: not refined; settings {"court.distortion": "on"}). Without any pose R, t, q, center and
    camera are None."""

    def __init__(self, found: Any) -> None:
        self.accepted, self.verdict = bool(found.is_accepted), found.verdict.decode()
        self.R = self.t = self.q = self.center = self.camera = None
        self.num_turns, self.num_lines = found.num_turns, found.num_lines
        for name in ("rotation_sigma_deg", "focal_sigma", "score", "runner_up", "confirmed", "rms_px",
                     "distortion_sigma"):
            setattr(self, name, getattr(found, name))
        self.center_sigma = np.array(found.center_sigma)
        self.size, self.size_sigma = np.array(found.size), np.array(found.size_sigma)
        if found.num_turns > 0:
            self.q, self.t, self.center = np.array(found.q), np.array(found.t), np.array(found.center)
            self.R, self.camera = rotation_from_quaternion(self.q), Camera._from_c(found.camera)

    def __repr__(self) -> str:
        return "Registration(%r, score %.0f)" % (self.verdict, self.score)


def register(pixels: Any, court: Optional[str] = None, camera: Optional[Camera] = None, size: Any = None,
             drawing: Any = None, settings: Optional[Mapping[str, Any]] = None, seed: int = 0) -> Registration:
    """Registers a photograph to a court, without labels and without matches.

    pixels    array of uint8, height x width (gray) or height x width x 3 (red, green, blue)
    court     a name of docs/courts.md, such as "basketball"; size (length, width) if it is not the usual one
    drawing   path of a drawing's file instead of a court
    camera    a Camera of the photograph's size; None: its focal length is searched
    settings  options by name, e.g. {"court.max-height": 12}

    Returns a Registration, accepted or not. Raises Error.

    >>> planarsfm.register(np.full((200, 300), 90, np.uint8), "tennis").accepted
    False
    """
    pixels = checks.photograph(pixels)
    options = dict(settings or {})
    if court is not None:
        options["court"] = court
    if size is not None:
        options["court-size"] = "%.17g,%.17g" % tuple(size)
    if drawing is not None:
        options["drawing"] = drawing
    known = None if camera is None else camera._to_c(1)
    photograph = _library.Photograph(c.sizeof(_library.Photograph), pixels.shape[1], pixels.shape[0],
                                     1 if pixels.ndim == 2 else pixels.shape[2],
                                     pixels.ctypes.data_as(c.POINTER(c.c_uint8)),
                                     None if known is None else c.pointer(known))
    found = _library.Registration(struct_size=c.sizeof(_library.Registration))
    with Context(1, seed) as context:
        handle = c.c_void_p(lib.psfm_settings_create())
        try:
            apply(context, lib.psfm_settings_set, handle, options)
            context.check(lib.psfm_register_photograph(context.handle, c.byref(photograph), handle, c.byref(found)))
        finally:
            lib.psfm_settings_destroy(c.byref(handle))
    return Registration(found)
