"""Tables of results as numpy record arrays, and results as HTML for notebooks."""
from __future__ import annotations

import html
from typing import Any, Dict, Iterable, Mapping

import numpy as np

_IMAGE = [("posed", bool), ("model", np.int32), ("q", float, 4), ("t", float, 3), ("center", float, 3),
          ("num_points", np.int64), ("mean_error_px", float), ("rotation_sigma_deg", float), ("center_sigma", float),
          ("probability", float)]
_PLANE = [("normal", float, 3), ("distance", float), ("sigma", float), ("area", float), ("num_points", np.int64),
          ("model", np.int32)]


def _text(values: list) -> str:
    """A field type that holds the longest of the texts."""
    return "U%d" % max([1] + [len(value) for value in values])


def _number(value: Any) -> Any:
    return np.nan if value is None else value


def _concerned(warning: Mapping[str, Any]) -> str:
    """The first images that a warning is about, in brackets."""
    names = warning.get("images", [])[:3]
    more = warning.get("num_images", 0) - len(names)
    return " (%s%s)" % (", ".join(names), " and %d more" % more if more > 0 else "") if names else ""


def image_table(images: Iterable[Any]) -> np.ndarray:
    """A row per image, in their order; without a pose q, t and center are NaN."""
    images = list(images)
    names, states = [image.name for image in images], [image.state for image in images]
    table = np.zeros(len(images), dtype=[("name", _text(names)), ("state", _text(states))] + _IMAGE)
    table["name"], table["state"] = names, states
    for field, *_ in _IMAGE:
        for row, image in zip(table, images):
            unknown = not image.posed and field in ("q", "t", "center")
            row[field] = np.nan if unknown else getattr(image, field)
    return table


def camera_table(summary: Mapping[str, Any]) -> np.ndarray:
    """A row per camera of a summary: model, where its focal length comes from, before and after, in pixels."""
    cameras = summary.get("cameras", [])
    texts = [("model", [camera["model"] for camera in cameras]), ("source", [camera["source"] for camera in cameras])]
    numbers = ("focal_px_before", "focal_px", "focal_sigma")
    most = max([1] + [len(camera.get("params", [])) for camera in cameras])
    table = np.zeros(len(cameras), dtype=[("id", np.int64)] + [(name, _text(values)) for name, values in texts]
                     + [(name, float) for name in numbers] + [("params", float, most)])
    table["params"] = np.nan
    for row, camera in zip(table, cameras):
        row["id"], row["model"], row["source"] = camera["id"], camera["model"], camera["source"]
        for name in numbers:
            row[name] = _number(camera.get(name))
        row["params"][:len(camera.get("params", []))] = camera.get("params", [])
    return table


def plane_table(planes: list) -> np.ndarray:
    table = np.zeros(len(planes), dtype=_PLANE)
    for row, plane in zip(table, planes):
        for field, *_ in _PLANE:
            row[field] = getattr(plane, field)
    return table


class Tables:
    """What all results have: `image_table`, `camera_table`, `plane_table` (record arrays), `poses` (a dict of arrays
    over the posed images: name, R, t, center), and a picture of themselves for notebooks. Needs names, images, planes
    and summary."""

    @property
    def image_table(self) -> np.ndarray:
        """A row per image: name, state, posed, model, q, t, center, num_points, mean_error_px, rotation_sigma_deg,
        center_sigma, probability."""
        return image_table(self.images[name] for name in self.names)

    @property
    def camera_table(self) -> np.ndarray:
        """A row per camera: id, model, source of its focal length, focal_px_before, focal_px, focal_sigma, params."""
        return camera_table(self.summary)

    @property
    def plane_table(self) -> np.ndarray:
        """A row per plane: normal (towards the cameras), distance, sigma, area, num_points, model."""
        return plane_table(self.planes)

    @property
    def poses(self) -> Dict[str, np.ndarray]:
        """Arrays over the posed images: name (N), R (N x 3 x 3), t and center (N x 3)."""
        posed = [self.images[name] for name in self.names if self.images[name].posed]
        return {"name": np.array([image.name for image in posed], dtype=_text([image.name for image in posed])),
                "R": np.array([image.R for image in posed]).reshape(-1, 3, 3),
                "t": np.array([image.t for image in posed]).reshape(-1, 3),
                "center": np.array([image.center for image in posed]).reshape(-1, 3)}

    def _repr_html_(self) -> str:
        rows = "".join(
            "<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>" % (
                html.escape(image.name), html.escape(image.state), image.num_points,
                html.escape(np.array2string(image.center, precision=3)) if image.posed else html.escape(image.advice))
            for image in (self.images[name] for name in self.names))
        doubts = "".join("<li>%s%s</li>" % (html.escape(w["text"]), html.escape(_concerned(w))) for w in self.warnings)
        diagnosis = self.summary.get("diagnosis")
        if diagnosis is not None:
            doubts += "<li>%s; %s</li>" % (html.escape(diagnosis["text"]), html.escape(diagnosis["advice"]))
        return ("<p><b>%s</b> (verdict: %s)</p><ul>%s</ul><table><tr><th>image</th><th>state</th><th>points</th>"
                "<th>centre, or what to try</th></tr>%s</table>" % (
                    html.escape(self.summary.get("headline", "")), html.escape(self.verdict), doubts, rows))
