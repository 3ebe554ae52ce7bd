"""The stages of a run one by one, from files to files. `run` goes through all of them."""
from __future__ import annotations

import ctypes as c
import json
import os
import tempfile
from typing import Any, Callable, Dict, Mapping, Optional, Sequence

import numpy as np

from . import _library, checks
from ._library import lib
from .context import Context, Log, Progress
from .parts import filled
from .settings import apply
from .similarity import Similarity

_RUN = (lib.psfm_run_settings_create, lib.psfm_run_settings_set, lib.psfm_run_settings_destroy)
_POSES = (lib.psfm_settings_create, lib.psfm_settings_set, lib.psfm_settings_destroy)


def _path(path: Any) -> Optional[bytes]:
    return None if path is None else os.fsencode(path)


def _call(context: Context, function: Callable[..., int], *arguments: Any) -> Dict[str, Any]:
    """Calls what hands out facts at its end."""
    facts = c.c_void_p()
    context.check(function(context.handle, *arguments, c.byref(facts)))
    try:
        return json.loads(c.string_at(facts.value).decode(errors="surrogateescape"))
    finally:
        lib.psfm_text_free(c.byref(facts))


def _call_with(kind: tuple, options: Mapping[str, Any], context: Context, function: Callable[..., int],
               *arguments: Any) -> Dict[str, Any]:
    """The same with settings before the facts."""
    create, setter, destroy = kind
    handle = c.c_void_p(create())
    try:
        apply(context, setter, handle, options)
        return _call(context, function, *arguments, handle)
    finally:
        destroy(c.byref(handle))


def extract(photos: Any, database: Any, settings: Optional[Mapping[str, Any]] = None, threads: int = 0,
            progress: Progress = None, log: Log = None, **options: Any) -> Dict[str, Any]:
    """Features of the photographs below a folder into a COLMAP database, which is made if need be.

    settings  options of `planarsfm extract` by name: {"sift.max-num-features": 4000, "cameras": "gt"}
    options   the same as arguments, underscores for dashes and dots

    Returns what was done: images, extracted, unchanged, features, ...

    >>> facts = planarsfm.extract("photos", "stages.db", cameras="gt", effort="low")
    >>> facts["images"], facts["features"] > 500
    (6, True)
    """
    with Context(threads, 0, progress, log) as context:
        return _call_with(_RUN, {**(settings or {}), **options}, context, lib.psfm_extract_features, _path(photos),
                          _path(database))


def match(database: Any, pairs: Optional[str] = None, settings: Optional[Mapping[str, Any]] = None, threads: int = 0,
          seed: int = 0, progress: Progress = None, log: Log = None, **options: Any) -> Dict[str, Any]:
    """Raw matches of the features in a database. `pairs` is a rule of --pairs ("exhaustive", "ring:2", ...); settings
    and options are those of `planarsfm match`. Returns what was done: pairs, matched, kept, matches, ...

    >>> facts = planarsfm.extract("photos", "stages.db", cameras="gt", effort="low")
    >>> planarsfm.match("stages.db", pairs="ring:1")["pairs"]
    6
    """
    given = {**(settings or {}), **options, **({} if pairs is None else {"pairs": pairs})}
    with Context(threads, seed, progress, log) as context:
        return _call_with(_RUN, given, context, lib.psfm_match_features, _path(database))


def verify(database: Any, settings: Optional[Mapping[str, Any]] = None, threads: int = 0, seed: int = 0,
           progress: Progress = None, log: Log = None, **options: Any) -> Dict[str, int]:
    """Homographies and essential matrices of the matches in a database. They are kept there for a reconstruction
    with the same settings and, with geometries=True, in COLMAP's two_view_geometries, too. Settings and options are
    those of `planarsfm reconstruct`. Returns counts: pairs; of these planar (with a homography that shows parallax),
    rotations (without parallax) and essential (with an essential matrix); homographies; inliers.

    >>> planarsfm.verify("arena/database.db")["planar"] > 10
    True
    """
    with Context(threads, seed, progress, log) as context:
        return _call_with(_POSES, {**(settings or {}), **options}, context, lib.psfm_verify_matches, _path(database))


def convert(model: Any, to: str, out: Any, images: Any = None, planes: Any = None) -> None:
    """Writes a model in another format: colmap-text, colmap-bin, transforms.json, tum, ply, opencv-yaml, kml, geojson.

    model   a COLMAP model, or the results of a run, whose largest is taken
    images  put before the images' names in transforms.json; None: "images"
    planes  file of planes for ply; None: planes.json of the results

    >>> planarsfm.convert("gt", "tum", "poses.txt")
    >>> np.loadtxt("poses.txt").shape
    (6, 8)
    """
    with Context(1) as context:
        context.check(lib.psfm_convert_model(context.handle, _path(model), to.encode(), _path(out), _path(images),
                                             _path(planes)))


def report(out: Any, photos: Any = None) -> str:
    """Makes OUT/report.html of the results of a run, of `align` or of a COLMAP model, and returns its path. `photos`
    is the folder of the photographs, if they are no longer where they were.

    >>> result = planarsfm.run("photos", "out", cameras="gt", pairs="ring:2")
    >>> planarsfm.report("out")
    'out/report.html'
    """
    with Context() as context:
        context.check(lib.psfm_make_report(context.handle, _path(out), _path(photos)))
    return os.path.join(os.fspath(out), "report.html")


def align(model: Any, out: Any, positions: Any = None, geo_positions: Any = None, exif: Any = None, gcp: Any = None,
          court: Optional[str] = None, court_points: Any = None, court_size: Any = None, images: Any = None,
          distance: Optional[Sequence[Any]] = None, upright: bool = False, opencv_pixels: bool = False,
          planes: Any = None, report: bool = True) -> Dict[str, Any]:
    """Moves a model (a COLMAP model, or the results of a run) into a known world, robustly, and writes it to `out` with
    planes.json, alignment.json and report.html. Exactly one of these says where, or `upright`, which goes with
    distance:

    positions      file of camera positions (lines IMAGE x y z), or a dict from image names to x, y, z
    geo_positions  file of positions on the earth (lines IMAGE latitude longitude altitude)
    exif           folder of the photographs: positions from their GPS data
    gcp            file of control points (lines X Y Z x y IMAGE [LABEL])
    court          a court, with court_points (file of lines LABEL IMAGE x y) or images (folder of the photographs);
                   court_size (length, width) in metres if it is not the usual one
    distance       (end, end, metres); an end is IMAGE (its camera) or IMAGE:x,y (a pixel on the dominant plane)
    upright        the dominant plane becomes z = 0 with the cameras above it

    opencv_pixels: given pixels have the first pixel's centre at 0, 0. planes: planes.json, if it is elsewhere. report:
    whether to write the page.

    Returns rotation, translation and scale of the world from the model, used, rms, median and items with residuals; and
    similarity, a Similarity of the first three.

    >>> places = {name: 10 * image.center for name, image in planarsfm.read_model("gt").images.items()}
    >>> facts = planarsfm.align("gt", "metric", positions=places)
    >>> round(facts["scale"], 6), facts["used"]
    (10.0, 6)
    """
    with tempfile.TemporaryDirectory(prefix="planarsfm-") as scratch, Context() as context:
        if isinstance(positions, Mapping):
            positions = _write_positions(os.path.join(scratch, "positions.txt"), positions)
        request = filled(
            _library.AlignRequest, positions=_path(positions), geo_positions=_path(geo_positions), exif=_path(exif),
            gcp=_path(gcp), court=_path(court), court_points=_path(court_points), images=_path(images),
            court_size=None if court_size is None else ("%.17g,%.17g" % tuple(court_size)).encode(), upright=upright,
            opencv_pixels=opencv_pixels, planes=_path(planes), no_report=not report,
            distance=None if distance is None else (c.c_char_p * 3)(*[os.fsencode(str(part)) for part in distance]))
        facts = _call(context, lib.psfm_align_model, _path(model), c.byref(request), _path(out))
    facts["similarity"] = Similarity(facts["scale"], np.reshape(facts["rotation"], (3, 3)), facts["translation"])
    return facts


def _write_positions(path: str, places: Mapping[Any, Any]) -> str:
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        for name, place in places.items():
            file.write("%s %.17g %.17g %.17g\n" % (name, *checks.array(place, (3,), "place of %s" % name)))
    return path
