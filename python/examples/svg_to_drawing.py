"""An SVG plan as a drawing for `planarsfm court --drawing`: svg_to_drawing.py PLAN.svg > plan.json

Lines, rectangles, circles, polylines, polygons and paths (M L H V Z A C), under their transforms; y goes up. The middle of a
stroke counts. Nine points and more on one circle become an arc, so do curves; other curves become chords. What else is drawn is
refused by its name. A unit is a metre, unless the file's width is in m, cm or mm; `--drawing-scale` overrides it."""
import cmath
import json
import re
import sys
import xml.etree.ElementTree as tree

NUMBER, DEGREE = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", cmath.pi / 180
ARC = r"[\s,]*".join(["(" + NUMBER + ")"] * 3 + ["([01])"] * 2 + ["(" + NUMBER + ")"] * 2)
PASSED = {"defs", "metadata", "style", "text", "image", "title", "desc", "namedview", "symbol", "clipPath", "marker"}
numbers = lambda text: [float(n) for n in re.findall(NUMBER, text)]
points = lambda v: [complex(x, y) for x, y in zip(v[::2], v[1::2])]


def read_transform(text, outer):
    """Maps of the plane are p, q, t: z -> p z + q conj(z) + t."""
    for name, inner in re.findall(r"(\w+)\s*\(([^)]*)\)", text):
        v = numbers(inner)
        turn, about = cmath.exp(1j * DEGREE * v[0]), complex(*v[1:3])
        x, y, t = {"rotate": lambda: (turn, 1j * turn, about - turn * about), "scale": lambda: (v[0], 1j * v[-1], 0),
                   "translate": lambda: (1, 1j, complex(*v)), "matrix": lambda: points(v)}[name]()  # where 1, i, 0 go
        p, q = (x - 1j * y) / 2, (x + 1j * y) / 2
        P, Q, _ = outer
        outer = P * p + Q * q.conjugate(), P * q + Q * p.conjugate(), apply(outer, t)
    return outer


def apply(m, z):
    return m[0] * z + m[1] * complex(z).conjugate() + m[2]


def add_lines(out, zs):
    out["lines"] += [[a.real, a.imag, b.real, b.imag] for a, b in zip(zs, zs[1:]) if abs(b - a) * out["unit"] >= 1e-3]


def add_curve(out, zs):
    """An arc if the points keep to the circle through the first, the middle and the last; chords otherwise."""
    m, e = zs[len(zs) // 2] - zs[0], zs[-1] - zs[0]
    cross = 2 * (m.conjugate() * e).imag
    center = zs[0] + 1j * (m * abs(e) ** 2 - e * abs(m) ** 2) / cross if abs(cross) > 1e-9 * abs(e) ** 2 else cmath.inf
    r = abs(zs[0] - center)
    if not cmath.isfinite(center) or max(abs(abs(z - center) - r) for z in zs) > 2e-3 * r:
        return add_lines(out, zs)
    span = sum(cmath.phase((b - center) / (a - center)) for a, b in zip(zs, zs[1:])) / DEGREE
    first = cmath.phase((zs[0] if span > 0 else zs[-1]) - center) / DEGREE
    out["arcs"].append([center.real, center.imag, r, first, first + abs(span)])


def trace_arc(a, rx, ry, _, large, sweep, b):
    if rx != ry or not rx or a == b:
        raise ValueError("an arc that is no part of a circle")
    half = (b - a) / 2
    r = max(rx, abs(half))
    center = a + half + 1j * half / abs(half) * (r**2 - abs(half) ** 2) ** 0.5 * (1 if large != sweep else -1)
    span = cmath.phase((b - center) / (a - center)) % (2 * cmath.pi) - (0 if sweep else 2 * cmath.pi)
    return [center + (a - center) * cmath.exp(1j * span * k / 32) for k in range(33)]


def trace_path(text):
    """Points of one stroke after the other."""
    at = start = 0j
    for name, rest in re.findall(r"([A-DF-Za-df-z])([^A-DF-Za-df-z]*)", text):
        kind, size = name.upper(), {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "A": 7, "Z": 1}[name.upper()]
        v = [float(n) for m in re.findall(ARC, rest) for n in m] if kind == "A" else numbers(rest)
        v = [0.0] if kind == "Z" else v
        if len(v) % size or not v:
            raise ValueError("%s of a path without its numbers" % name)
        for k in range(0, len(v), size):
            base, step = at if name.islower() else 0j, v[k:k + size]
            *inner, to = {"H": lambda: [complex(base.real + step[0], at.imag)], "Z": lambda: [start],
                          "V": lambda: [complex(at.real, base.imag + step[0])],
                          "A": lambda: [base + complex(*step[5:])]}.get(kind, lambda: [base + z for z in points(step)])()
            if kind == "M" and k == 0:
                start = to
            elif kind == "C":
                yield [(1 - t) ** 3 * at + 3 * (1 - t) ** 2 * t * inner[0] + 3 * (1 - t) * t**2 * inner[1] + t**3 * to
                       for t in (i / 32 for i in range(33))]
            else:
                yield trace_arc(at, *step[:5], to) if kind == "A" else [at, to]
            at = to


def trace_shape(tag, node):
    value = lambda name: float(node.get(name, "0"))
    if tag == "line":
        return [[complex(value("x1"), value("y1")), complex(value("x2"), value("y2"))]]
    if tag == "rect" and not value("rx") and not value("ry"):
        a, w, h = complex(value("x"), value("y")), value("width"), 1j * value("height")
        return [[a, a + w, a + w + h, a + h, a]]
    if tag == "circle":
        return [[complex(value("cx"), value("cy")) + value("r") * cmath.exp(1j * cmath.pi * (k / 32 + half)) for k in range(33)]
                for half in (0, 1)]
    if tag in ("polyline", "polygon"):
        zs = points(numbers(node.get("points", "")))
        return [zs + zs[:tag == "polygon"]]
    if tag == "path":
        return trace_path(node.get("d", ""))
    if tag in ("svg", "g", "a"):
        return []
    raise ValueError("%s: draw it as a path in its place" % tag)


def add(out, node, outer):
    tag = node.tag.rpartition("}")[2] if isinstance(node.tag, str) else "desc"
    style = dict(re.findall(r"([\w-]+)\s*:\s*([^;\s]+)", node.get("style", "")))
    if tag in PASSED or "none" in [source.get(key) for source in (node, style) for key in ("display", "stroke")]:
        return
    here = read_transform(node.get("transform", ""), outer)
    for zs in trace_shape(tag, node):
        (add_curve if len(zs) >= 9 else add_lines)(out, [apply(here, z) for z in zs])
    for child in node:
        add(out, child, here)


def convert(path):
    root = tree.parse(path).getroot()
    size, box = re.fullmatch("(" + NUMBER + ")(m|cm|mm)", root.get("width", "")), numbers(root.get("viewBox", ""))
    unit = {"m": 1.0, "cm": 0.01, "mm": 0.001}[size[2]] if size else 1.0
    out = {"name": path, "unit": unit * float(size[1]) / box[2] if size and box else unit, "lines": [], "arcs": []}
    add(out, root, (0, 1, 0))
    return out


if __name__ == "__main__":
    try:
        print(json.dumps(convert(sys.argv[1])))
    except (OSError, ValueError, KeyError, tree.ParseError) as error:
        sys.exit("%s: %s" % (sys.argv[1], error))
