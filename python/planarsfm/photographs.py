"""From photographs to poses."""
from __future__ import annotations

import ctypes as c
import html
import json
import os
import shutil
import tempfile
import weakref
from typing import Any, Mapping, Optional

import numpy as np

from ._library import lib
from .camera import Camera
from .context import Context, Error, Log, Progress
from .model import Image, read_model
from .settings import apply
from .tables import Tables

LARGEST_PAGE = 30e6  # bytes of a report that is shown within a notebook

PAIR = np.dtype([("image1", np.int64), ("image2", np.int64), ("num_matches", np.int64), ("num_planes", np.int64),
                 ("num_inliers", np.int64), ("accepted", bool), ("in_tree", bool), ("residual_deg", float)])


def _or_nan(value: Any) -> Any:
    return np.nan if value is None else value


class RunImage(Image):
    """What a run found out about an image; the same names as of `reconstruct`."""

    def __init__(self, facts: Mapping[str, Any], pose: Optional[Image]) -> None:
        super().__init__(pose.id if pose else 0, facts["name"], pose.camera_id if pose else 0,
                         pose.q if pose else (1, 0, 0, 0), pose.t if pose else (0, 0, 0))
        if pose:
            self.keypoints, self.point_ids = pose.keypoints, pose.point_ids
        self.posed, self.state, self.advice = pose is not None, facts["state"], facts.get("advice", "")
        self.model = facts.get("model", -1) if pose else -1
        self.num_points = facts.get("points", 0)
        for name in ("mean_error_px", "rotation_sigma_deg", "center_sigma", "probability"):
            setattr(self, name, _or_nan(facts.get(name)))


class RunPlane:
    """normal . X = distance, the normal towards the cameras; corners (N x 3) is the hull of its points."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self.normal, self.distance = np.array(facts["normal"], float), facts["distance"]
        self.sigma, self.area = _or_nan(facts.get("sigma")), _or_nan(facts.get("area"))
        self.num_points, self.model = facts["points"], facts.get("model", 0)
        self.corners = np.array(facts.get("polygon", []), float).reshape(-1, 3)


def _pair(pair: Mapping[str, Any]) -> tuple:
    edge, planes = pair.get("edge") or {}, pair.get("homographies", [])
    return (pair["image1"], pair["image2"], pair["matches"], len(planes),
            sum(plane["inliers"] for plane in planes) or pair.get("essential_inliers") or 0,
            bool(edge.get("kept", False)), bool(edge.get("tree", False)), _or_nan(edge.get("rotation_deg")))


class Run(Tables):
    """The results of a run in its folder `out`: names (the images' order), images (by name), models (with points),
    planes, pairs (a record array; image1 and image2 index `names`), summary (a dict), headline, verdict, warnings,
    and report, the path of the page. In a notebook it shows that page."""

    def __init__(self, out: Any) -> None:
        self.out = os.fspath(out)
        self.summary = self._json("summary.json")
        if self.summary is None:
            raise Error("io", "%s: no results of a run in it" % self.out)
        self.headline, self.verdict = self.summary["headline"], self.summary["verdict"]
        self.warnings = self.summary["warnings"]
        self.models = [read_model(os.path.join(self.out, "model", str(k))) for k in range(len(self.summary["models"]))]
        self.num_models = len(self.models)
        poses = {name: image for model in self.models for name, image in model.images.items()}
        self.images = {f["name"]: RunImage(f, poses.get(f["name"])) for f in self.summary["images"]}
        self.names = list(self.images)
        self.planes = [RunPlane(p) for p in (self._json("planes.json") or {"planes": []})["planes"]]
        self.pairs = self._read_pairs()
        page = os.path.join(self.out, "report.html")
        self.report = page if os.path.exists(page) else None

    def _json(self, name: str) -> Any:
        path = os.path.join(self.out, name)
        if not os.path.exists(path):
            return None
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return json.load(file)

    def _read_pairs(self) -> np.ndarray:
        graph = self._json("graph.json") or {"pairs": [], "images": []}
        place = {name: k for k, name in enumerate(self.names)}
        index = [place.get(image["name"], -1) for image in graph["images"]]
        pairs = np.array([_pair(pair) for pair in graph["pairs"]], dtype=PAIR)
        for side in ("image1", "image2"):
            pairs[side] = [index[k] for k in pairs[side]]
        return pairs

    def _repr_html_(self) -> str:
        if self.report is None or os.path.getsize(self.report) > LARGEST_PAGE:
            return super()._repr_html_()
        with open(self.report, encoding="utf-8", errors="replace") as file:
            page = html.escape(file.read())
        return '<iframe srcdoc="%s" style="width: 100%%; height: 720px; border: 0" title="report"></iframe>' % page

    def __repr__(self) -> str:
        return "Run(%s; verdict: %s; %s)" % (self.headline, self.verdict, self.out)


def read_run(out: Any) -> Run:
    """The results that `planarsfm run` or `reconstruct` left in a folder: a Run.

    >>> planarsfm.run("photos", "out", cameras="gt", pairs="ring:2").names == planarsfm.read_run("out").names
    True
    """
    return Run(out)


def _list_files(photos: Any, scratch: str) -> tuple:
    """The folder that holds all files of a list, and a file that names them."""
    files = [os.path.abspath(os.fspath(photo)) for photo in photos]
    if not files:
        raise ValueError("photos: an empty list")
    for path in files:
        if not os.path.isfile(path):
            raise FileNotFoundError("%s: there is no such photograph" % path)
    folder = os.path.commonpath([os.path.dirname(path) for path in files])
    path = os.path.join(scratch, "images.txt")
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write("".join(os.path.relpath(path, folder) + "\n" for path in files))
    return folder, path


def _camera_text(camera: Any) -> str:
    if not isinstance(camera, Camera):
        return str(camera)
    return ",".join([camera.model, str(camera.width), str(camera.height)] + ["%.17g" % p for p in camera.params])


def _run(context: Context, folder: Any, out: str, settings: Mapping[str, Any]) -> None:
    """Runs; results without a single pose are results."""
    summary = os.path.join(out, "summary.json")
    before = os.stat(summary).st_mtime_ns if os.path.exists(summary) else None
    options = c.c_void_p(lib.psfm_run_settings_create())
    try:
        apply(context, lib.psfm_run_settings_set, options, settings)
        context.check(lib.psfm_run_photographs(context.handle, os.fsencode(folder), options, os.fsencode(out)))
    except Error as error:
        written = os.path.exists(summary) and os.stat(summary).st_mtime_ns != before
        if error.status != "data" or not written:
            raise
    finally:
        lib.psfm_run_settings_destroy(c.byref(options))


def run(photos: Any, out: Any = None, camera: Any = None, cameras: Any = None, pairs: Optional[str] = None,
        settings: Optional[Mapping[str, Any]] = None, threads: int = 0, seed: int = 0, progress: Progress = None,
        log: Log = None, **options: Any) -> Run:
    """Camera poses from photographs: what `planarsfm run` does.

    photos    a folder, or a list of files; images are named relative to the folder that holds them all
    out       folder for the results; the next run with the same one goes on where this one stopped. None: a
              temporary folder, which is gone when the result is
    camera    a Camera for all photographs; None: focal lengths come from EXIF data, planes and pairs
    cameras   or a COLMAP model, or the results of a run, that has a camera for each photograph
    pairs     which pairs are matched, a rule of --pairs: "exhaustive", "ring:2", "file:PATH", ...
    settings  all other options of `planarsfm run` by name, e.g. {"court": "basketball", "sift.max-num-features": 4000}
    options   the same as arguments, underscores for dashes and dots: court="basketball", sift_max_num_features=4000
    progress  progress(stage, done, total) is called now and then; a true result cancels
    log       log(level, text)

    Returns a Run, also if no image could be posed. Raises Error, or Cancelled.

    >>> result = planarsfm.run("photos", "out", cameras="gt", pairs="ring:2")
    >>> result.poses["R"].shape, result.pairs["in_tree"].sum()
    ((6, 3, 3), 5)
    >>> planarsfm.evaluate(planarsfm.read_model("gt"), result)["num_registered"]
    6
    """
    given = {**(settings or {}), **options}
    for name, value in (("camera", camera and _camera_text(camera)), ("cameras", cameras and os.fspath(cameras)),
                        ("pairs", pairs)):
        if value:
            given[name] = value
    scratch = tempfile.mkdtemp(prefix="planarsfm-")
    try:
        target = os.path.join(scratch, "out") if out is None else os.fspath(out)
        folder = photos
        if not isinstance(photos, (str, bytes, os.PathLike)):
            folder, given["images-list"] = _list_files(photos, scratch)
        with Context(threads, seed, progress, log) as context:
            _run(context, folder, target, given)
        result = Run(target)
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
    if out is None:
        weakref.finalize(result, shutil.rmtree, scratch, ignore_errors=True)
    else:
        shutil.rmtree(scratch, ignore_errors=True)
    return result
