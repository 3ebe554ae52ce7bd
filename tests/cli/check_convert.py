"""Makes a small model and checks what `planarsfm convert` writes of it, with readers of its own.

make FOLDER: a COLMAP text model of a pinhole, a radial and an OPENCV camera (FOLDER/all), one of a
fisheye (FOLDER/fish), and one of what COLMAP's converter is given (FOLDER/plain). check FOLDER FORMAT OUT: projects
every point through the written file by that format's own definition and compares with the model.
"""
import json
import math
import os
import re
import sys

import numpy as np

CAMERAS = {
    1: ("SIMPLE_PINHOLE", 640, 480, [500.0, 320.0, 240.0]),
    2: ("RADIAL", 800, 600, [620.0, 400.0, 300.0, -0.08, 0.01]),
    3: ("OPENCV", 1000, 700, [700.0, 712.5, 505.25, 344.75, -0.1, 0.02, 0.001, -0.002]),
    4: ("FULL_OPENCV", 1000, 700, [700.0, 712.5, 505.25, 344.75, -0.1, 0.02, 0.001, -0.002, 0.003, 0.01, 0.002, 0.001]),
    5: ("OPENCV_FISHEYE", 900, 900, [300.0, 301.0, 450.0, 449.0, 0.02, -0.003, 0.001, -0.0002]),
}


def quat_to_matrix(w, x, y, z):
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])


def rodrigues(v):
    angle = np.linalg.norm(v)
    if angle < 1e-12:
        return np.eye(3)
    x, y, z = v / angle
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * K @ K


def project(camera, X):
    """COLMAP's models, X in camera coordinates."""
    model, _, _, p = camera
    u, v = X[0] / X[2], X[1] / X[2]
    r2 = u * u + v * v
    if model == "SIMPLE_PINHOLE":
        return np.array([p[0] * u + p[1], p[0] * v + p[2]])
    if model == "RADIAL":
        f = 1 + p[3] * r2 + p[4] * r2 * r2
        return np.array([p[0] * u * f + p[1], p[0] * v * f + p[2]])
    if model == "OPENCV_FISHEYE":
        r = math.sqrt(r2)
        t = math.atan(r)
        s = t * (1 + p[4] * t**2 + p[5] * t**4 + p[6] * t**6 + p[7] * t**8) / r if r > 1e-9 else 1.0
        return np.array([p[0] * u * s + p[2], p[1] * v * s + p[3]])
    f = 1 + p[4] * r2 + p[5] * r2**2
    if model == "FULL_OPENCV":
        f = (f + p[8] * r2**3) / (1 + p[9] * r2 + p[10] * r2**2 + p[11] * r2**3)
    x = u * f + 2 * p[6] * u * v + p[7] * (r2 + 2 * u * u)
    y = v * f + 2 * p[7] * u * v + p[6] * (r2 + 2 * v * v)
    return np.array([p[0] * x + p[2], p[1] * y + p[3]])


def make_model(folder, camera_ids):
    os.makedirs(folder)
    rng = np.random.default_rng(7)
    points = rng.uniform([-2, -2, 0], [2, 2, 0.5], (30, 3))
    images = []
    for k in range(6):
        angle = 2 * math.pi * k / 6
        center = np.array([5 * math.cos(angle), 4 * math.sin(angle), 6 + 0.3 * k])
        z = -center / np.linalg.norm(center)
        x = np.cross(z, [0.1, 0, 1.0])
        x /= np.linalg.norm(x)
        R = np.vstack([x, np.cross(z, x), z])
        w = math.sqrt(max(0, 1 + R[0, 0] + R[1, 1] + R[2, 2])) / 2
        q = [w, (R[2, 1] - R[1, 2]) / (4 * w), (R[0, 2] - R[2, 0]) / (4 * w), (R[1, 0] - R[0, 1]) / (4 * w)]
        images.append((k + 3, q, -R @ center, camera_ids[k % len(camera_ids)], "cam%d/view %d.jpg" % (k % 2, k)))
    with open(folder + "/cameras.txt", "w") as f:
        for i in camera_ids:
            model, w, h, p = CAMERAS[i]
            f.write("%d %s %d %d %s\n" % (i, model, w, h, " ".join(map(repr, p))))
    with open(folder + "/images.txt", "w") as f:
        for i, q, t, c, name in images:
            f.write("%d %s %s %d %s\n" % (i, " ".join(map(repr, q)), " ".join(map(repr, map(float, t))), c, name))
            R = quat_to_matrix(*q)
            row = []
            for n, X in enumerate(points):
                x, y = project(CAMERAS[c], R @ X + t)
                row.append("%r %r %d" % (float(x), float(y), n + 11))
            f.write(" ".join(row) + "\n")
    with open(folder + "/points3D.txt", "w") as f:
        for n, X in enumerate(points):
            track = " ".join("%d %d" % (i, n) for i, *_ in images)
            f.write("%d %r %r %r %d %d %d 0.1 %s\n" % (n + 11, *map(float, X), n, 2 * n, 255 - n, track))


class Model:
    def __init__(self, folder):
        lines = lambda name: [l.rstrip("\n") for l in open(folder + "/" + name) if not l.startswith("#")]
        self.cameras = {}
        for line in lines("cameras.txt"):
            i, model, w, h, *p = line.split()
            self.cameras[int(i)] = (model, int(w), int(h), list(map(float, p)))
        self.images = {}
        rows = lines("images.txt")
        for head, keys in zip(rows[0::2], rows[1::2]):
            f = head.split(" ", 9)
            q = np.array(list(map(float, f[1:5])))
            R = quat_to_matrix(*(q / np.linalg.norm(q)))
            t = np.array(list(map(float, f[5:8])))
            k = keys.split()
            points = {int(k[j + 2]): (float(k[j]), float(k[j + 1])) for j in range(0, len(k), 3)}
            self.images[int(f[0])] = dict(R=R, t=t, center=-R.T @ t, camera=int(f[8]), name=f[9], points=points)
        self.points = {}
        for line in lines("points3D.txt"):
            f = line.split()
            self.points[int(f[0])] = (np.array(list(map(float, f[1:4]))), list(map(int, f[4:7])))
        assert self.images and self.points

    def by_name(self, name):
        return next(i for i in self.images.values() if i["name"] == name)


def near(a, b, tolerance=1e-6):
    a, b = np.asarray(a, float), np.asarray(b, float)
    assert a.shape == b.shape, (a.shape, b.shape)
    assert np.abs(a - b).max() <= tolerance, "apart by %g" % np.abs(a - b).max()


def check_transforms(model, path, folder="images/"):
    data = json.load(open(path))
    fish = data["camera_model"] == "OPENCV_FISHEYE"
    assert data["camera_model"] in ("OPENCV", "OPENCV_FISHEYE")
    near(data["applied_transform"], np.eye(4)[:3])
    assert len(data["frames"]) == len(model.images)
    shared = len(model.cameras) == 1
    assert ("fl_x" in data) == shared
    for frame in data["frames"]:
        assert ("fl_x" in frame) != shared
        i = data if shared else frame
        assert frame["file_path"].startswith(folder)
        image = model.by_name(frame["file_path"][len(folder):])
        M = np.array(frame["transform_matrix"])
        assert abs(np.linalg.det(M[:3, :3]) - 1) < 1e-9
        near(M[:3, 3], image["center"], 1e-9)
        assert (i["w"], i["h"]) == model.cameras[image["camera"]][1:3]
        for n, xy in image["points"].items():
            # OpenGL camera: the scene is at negative z, y is up
            X = np.linalg.inv(M) @ np.append(model.points[n][0], 1)
            assert X[2] < 0
            x, y = X[0] / -X[2], -X[1] / -X[2]
            r2 = x * x + y * y
            if fish:
                r = math.sqrt(r2)
                t = math.atan(r)
                s = t * (1 + i["k1"] * t**2 + i["k2"] * t**4 + i["k3"] * t**6 + i["k4"] * t**8) / r
                u, v = x * s, y * s
            else:
                assert "k4" not in i
                s = 1 + i["k1"] * r2 + i["k2"] * r2**2 + i["k3"] * r2**3
                u = x * s + 2 * i["p1"] * x * y + i["p2"] * (r2 + 2 * x * x)
                v = y * s + 2 * i["p2"] * x * y + i["p1"] * (r2 + 2 * y * y)
            near([i["fl_x"] * u + i["cx"], i["fl_y"] * v + i["cy"]], xy)
    vertices, faces = read_ply(os.path.join(os.path.dirname(path), data["ply_file_path"]))
    assert not faces
    near([v[:3] for v in vertices], [p[0] for p in model.points.values()], 1e-5)


def check_tum(model, path):
    rows, names = [], {}
    for line in open(path):
        if line.startswith("# ") and " is " in line:
            stamp, name = line[2:].rstrip("\n").split(" is ", 1)
            names[stamp] = name
        elif not line.startswith("#"):
            rows.append(line.split())
    assert len(rows) == len(model.images) and all(len(r) == 8 for r in rows)
    times = [float(r[0]) for r in rows]
    assert times == sorted(times) and len(set(times)) == len(times)
    for r in rows:
        image = model.by_name(names[r[0]])
        tx, ty, tz, qx, qy, qz, qw = map(float, r[1:])
        near([tx, ty, tz], image["center"], 1e-9)
        near(quat_to_matrix(qw, qx, qy, qz), image["R"].T, 1e-9)


def read_ply(path):
    lines = open(path).read().splitlines()
    end = lines.index("end_header")
    count = {m[1]: int(m[2]) for m in (re.match(r"element (\w+) (\d+)", l) for l in lines[:end]) if m}
    body = [list(map(float, l.split())) for l in lines[end + 1:]]
    v, f = count["vertex"], count.get("face", 0)
    assert len(body) == v + f
    faces = [list(map(int, l)) for l in body[v:]]
    assert all(l[0] == len(l) - 1 and max(l[1:]) < v for l in faces)
    return body[:v], faces


def check_ply(model, path):
    vertices, faces = read_ply(path)
    n = len(model.points)
    near([v[:3] for v in vertices[:n]], [p[0] for p in model.points.values()], 1e-5)
    near([v[3:] for v in vertices[:n]], [p[1] for p in model.points.values()])
    for k, image in enumerate(model.images.values()):
        near(vertices[n + 5 * k][:3], image["center"], 1e-5)
        w, h = model.cameras[image["camera"]][1:3]
        corners = [np.array(v[:3]) for v in vertices[n + 5 * k + 1:n + 5 * k + 5]]
        seen = [project(model.cameras[image["camera"]], image["R"] @ c + image["t"]) for c in corners]
        near(seen, [[0, 0], [w, 0], [w, h], [0, h]], 0.05)
    planes = json.load(open(sys.argv[5]))["planes"] if len(sys.argv) > 5 else []
    assert len(faces) == 5 * len(model.images) + len(planes)
    for plane, face in zip(planes, faces[5 * len(model.images):]):
        near([vertices[i][:3] for i in face[1:]], plane["polygon"], 1e-5)


def check_opencv(model, folder):
    import cv2
    assert len([name for name in os.listdir(folder) if name[0] != "."]) == len(model.cameras)
    for i, camera in model.cameras.items():
        file = cv2.FileStorage("%s/camera_%d.yml" % (folder, i), cv2.FILE_STORAGE_READ)
        assert (file.getNode("image_width").real(), file.getNode("image_height").real()) == camera[1:3]
        K, D = file.getNode("camera_matrix").mat(), file.getNode("distortion_coefficients").mat()
        fish = file.getNode("distortion_model").string() == "fisheye"
        images, seen = file.getNode("images"), 0
        for k in range(images.size()):
            node = images.at(k)
            image = model.by_name(node.getNode("name").string())
            assert image["camera"] == i
            rvec, tvec = node.getNode("rvec").mat(), node.getNode("tvec").mat()
            X = np.array([model.points[n][0] for n in image["points"]]).reshape(-1, 1, 3)
            xy = (cv2.fisheye.projectPoints(X, rvec, tvec, K, D) if fish else cv2.projectPoints(X, rvec, tvec, K, D))[0]
            # OpenCV counts pixels from the centre of the first one
            near(xy.reshape(-1, 2) + 0.5, list(image["points"].values()), 1e-6)
            seen += 1
        assert seen == sum(image["camera"] == i for image in model.images.values())


def geodetic_to_earth(lat, lon, h):
    a, f = 6378137.0, 1 / 298.257223563
    e2 = f * (2 - f)
    lat, lon = math.radians(lat), math.radians(lon)
    N = a / math.sqrt(1 - e2 * math.sin(lat)**2)
    return np.array([(N + h) * math.cos(lat) * math.cos(lon), (N + h) * math.cos(lat) * math.sin(lon),
                     (N * (1 - e2) + h) * math.sin(lat)])


def check_places(model, places, origin):
    lat, lon = math.radians(origin[0]), math.radians(origin[1])
    east = np.array([-math.sin(lon), math.cos(lon), 0])
    up = np.array([math.cos(lat) * math.cos(lon), math.cos(lat) * math.sin(lon), math.sin(lat)])
    axes = np.vstack([east, np.cross(up, east), up])
    assert len(places) == len(model.images)
    for name, (longitude, latitude, altitude) in places.items():
        enu = axes @ (geodetic_to_earth(latitude, longitude, altitude) - geodetic_to_earth(*origin))
        near(enu, model.by_name(name)["center"], 1e-3)


def check_geo(model, path):
    origin = [float(v) for v in sys.argv[5].split(",")]
    if path.endswith(".kml"):
        import xml.etree.ElementTree as tree
        k = "{http://www.opengis.net/kml/2.2}"
        places = {p.find(k + "name").text: tuple(map(float, p.find(k + "Point/" + k + "coordinates").text.split(",")))
                  for p in tree.parse(path).getroot().iter(k + "Placemark")}
    else:
        data = json.load(open(path))
        assert data["type"] == "FeatureCollection"
        places = {}
        for f in data["features"]:
            assert f["type"] == "Feature" and f["geometry"]["type"] == "Point"
            places[f["properties"]["name"]] = f["geometry"]["coordinates"]
            axis = model.by_name(f["properties"]["name"])["R"][2]
            near(math.cos(math.radians(f["properties"]["heading_deg"])), axis[1] / math.hypot(axis[0], axis[1]), 1e-9)
            near(math.sin(math.radians(f["properties"]["tilt_deg"])), axis[2], 1e-9)
    check_places(model, places, origin)


def check_colmap(model, folder):
    other = Model(folder)
    assert other.cameras == model.cameras and other.images.keys() == model.images.keys()
    for i, image in model.images.items():
        near(other.images[i]["R"], image["R"], 1e-9)
        near(other.images[i]["t"], image["t"], 1e-9)
        assert other.images[i]["points"].keys() == image["points"].keys()
    for n, (X, rgb) in model.points.items():
        near(other.points[n][0], X, 1e-9)
        assert other.points[n][1] == rgb


if sys.argv[1] == "make":
    make_model(sys.argv[2] + "/all", [1, 2, 3])
    make_model(sys.argv[2] + "/plain", [1, 2])
    make_model(sys.argv[2] + "/one", [3])
    make_model(sys.argv[2] + "/full", [4])
    make_model(sys.argv[2] + "/fish", [5])
    make_model(sys.argv[2] + "/mixed", [1, 5])
else:
    checks = {"transforms.json": check_transforms, "tum": check_tum, "ply": check_ply,
              "opencv-yaml": check_opencv, "kml": check_geo, "geojson": check_geo, "colmap-text": check_colmap}
    checks[sys.argv[3]](Model(sys.argv[2]), sys.argv[4])
