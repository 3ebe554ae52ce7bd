"""Photographs with truth, whole and spoilt, as databases of keypoints and matches for
bench/accuracy/verdict. Features and matches are made once per set; whatever is spoilt is spoilt in
the database, so that a model costs its reconstruction alone."""

import array
import math
import os
import random
import sqlite3
import struct
import subprocess

MAX_ID = 2147483647
SIMPLE_RADIAL = 2
MOST = 3000  # keypoints of a photograph, the largest: more tell no more of a verdict
FOCALS = {0: 1, 1: 2, 2: 1, 3: 1, 4: 2}  # of COLMAP's models by number
SETS = [
    "strecha_HerzJesus_P8", "strecha_fountain_P11", "strecha_entry_P10", "lund_door12", "strecha_castle_P19",
    "robot_prints42", "fox25", "monstree23", "chessking23", "rendered_arena46", "tandt_train30",
]  # fmt: skip
SCHEMA = """
CREATE TABLE cameras (camera_id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, model INTEGER NOT NULL,
  width INTEGER NOT NULL, height INTEGER NOT NULL, params BLOB, prior_focal_length INTEGER NOT NULL);
CREATE TABLE images (image_id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, name TEXT NOT NULL UNIQUE,
  camera_id INTEGER NOT NULL, prior_qw REAL, prior_qx REAL, prior_qy REAL, prior_qz REAL, prior_tx REAL,
  prior_ty REAL, prior_tz REAL);
CREATE TABLE keypoints (image_id INTEGER PRIMARY KEY NOT NULL, rows INTEGER NOT NULL, cols INTEGER NOT NULL, data BLOB);
CREATE TABLE descriptors (image_id INTEGER PRIMARY KEY NOT NULL, rows INTEGER NOT NULL, cols INTEGER NOT NULL, data BLOB);
CREATE TABLE matches (pair_id INTEGER PRIMARY KEY NOT NULL, rows INTEGER NOT NULL, cols INTEGER NOT NULL, data BLOB);
CREATE TABLE two_view_geometries (pair_id INTEGER PRIMARY KEY NOT NULL, rows INTEGER NOT NULL, cols INTEGER NOT NULL,
  data BLOB, config INTEGER NOT NULL, F BLOB, E BLOB, H BLOB, qvec BLOB, tvec BLOB);
"""


def keep_largest(values, rows, cols):
    """Whether a keypoint is among the MOST that are largest; all if their sizes are not known."""
    if cols < 4 or rows <= MOST:
        return [True] * rows
    size = [math.hypot(*values[cols * k + 2 : cols * k + (4 if cols > 4 else 3)]) for k in range(rows)]
    least = sorted(size)[-MOST]
    return [s >= least for s in size]


class Matches:
    """A database in memory. cameras: id to [model, width, height, parameters, is given]; images: id
    to [name, camera id]; keypoints: id to a list of [x, y]; pairs: (id, id) to a list of (k, l)."""

    def __init__(self, path=None):
        self.cameras, self.images, self.keypoints, self.pairs = {}, {}, {}, {}
        if path:
            with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
                self.read(db)

    def read(self, db):
        large = {}
        for c, model, width, height, params, given in db.execute(
            "SELECT camera_id, model, width, height, params, prior_focal_length FROM cameras"
        ):
            self.cameras[c] = [model, width, height, list(struct.unpack(f"<{len(params) // 8}d", params)), given]
        for i, name, camera in db.execute("SELECT image_id, name, camera_id FROM images"):
            self.images[i] = [name, camera]
        for i, rows, cols, data in db.execute("SELECT image_id, rows, cols, data FROM keypoints"):
            values = array.array("f", data or b"")
            self.keypoints[i] = [[values[cols * k], values[cols * k + 1]] for k in range(rows)]
            large[i] = keep_largest(values, rows, cols)
        for pair, rows, data in db.execute("SELECT pair_id, rows, data FROM matches WHERE rows > 0"):
            values = array.array("I", data)
            i, j = pair // MAX_ID, pair % MAX_ID
            self.pairs[i, j] = [(k, l) for k, l in zip(values[0::2], values[1::2]) if large[i][k] and large[j][l]]

    def write(self, path):
        if os.path.exists(path):
            os.remove(path)
        with sqlite3.connect(path) as db:
            db.executescript(SCHEMA)
            for c, (model, width, height, params, given) in self.cameras.items():
                db.execute("INSERT INTO cameras VALUES(?, ?, ?, ?, ?, ?)",
                           (c, model, width, height, struct.pack(f"<{len(params)}d", *params), given))  # fmt: skip
            for i, (name, camera) in self.images.items():
                db.execute("INSERT INTO images(image_id, name, camera_id) VALUES(?, ?, ?)", (i, name, camera))
                flat = array.array("f", [x for xy in self.keypoints[i] for x in xy])
                db.execute("INSERT INTO keypoints VALUES(?, ?, 2, ?)", (i, len(self.keypoints[i]), flat.tobytes()))
            for (i, j), pairs in self.pairs.items():
                flat = array.array("I", [k for pair in pairs for k in pair])
                db.execute("INSERT INTO matches VALUES(?, ?, 2, ?)", (MAX_ID * i + j, len(pairs), flat.tobytes()))

    def camera_of(self, image):
        return self.cameras[self.images[image][1]]

    def keep_matches(self, good):
        """Those for which good(i, k, j, l)."""
        for (i, j), pairs in list(self.pairs.items()):
            self.pairs[i, j] = [(k, l) for k, l in pairs if good(i, k, j, l)]

    def keep_images(self, kept):
        self.images = {i: image for i, image in self.images.items() if i in kept}
        self.keypoints = {i: self.keypoints[i] for i in kept}
        self.pairs = {(i, j): pairs for (i, j), pairs in self.pairs.items() if i in kept and j in kept}

    def own_camera(self, image):
        """Gives an image a camera of its own, and returns it."""
        made = max(self.cameras) + 1
        model, width, height, params, given = self.camera_of(image)
        self.cameras[made] = [model, width, height, list(params), given]
        self.images[image][1] = made
        return self.cameras[made]


def focal_of(camera):
    return camera[3][0]


def center_index(camera):
    return FOCALS[camera[0]]


# ---- the truth and points in it ------------------------------------------------------------------


def rotation(q):
    w, x, y, z = q
    return [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]


def lines_of(path):
    with open(path) as file:
        return [line for line in file if not line.startswith("#")]


def read_truth(folder):
    """Name to [quaternion, t]."""
    truth = {}
    for line in lines_of(folder + "/images.txt")[::2]:
        words = line.split()
        truth[words[9]] = [[float(w) for w in words[1:5]], [float(w) for w in words[5:8]]]
    return truth


def write_truth(truth, folder):
    os.makedirs(folder, exist_ok=True)
    with open(folder + "/images.txt", "w") as file:
        for k, (name, (q, t)) in enumerate(sorted(truth.items())):
            print(k + 1, *q, *t, 1, name, file=file)
            print(file=file)


def in_camera(pose, X):
    R, t = rotation(pose[0]), pose[1]
    return [sum(R[r][k] * X[k] for k in range(3)) + t[r] for r in range(3)]


def project(camera, pose, X):
    """Without distortion; None behind the camera."""
    x, y, z = in_camera(pose, X)
    c = center_index(camera)
    if z <= 0:
        return None
    return [camera[3][0] * x / z + camera[3][c], camera[3][c - 1] * y / z + camera[3][c + 1]]


def points_of(model, m):
    """The points of a reconstruction of the set: place, and keypoints as (image, keypoint)."""
    ids = {image[0]: i for i, image in m.images.items()}
    names = {int(line.split()[0]): line.split()[9] for line in lines_of(model + "/images.txt")[::2]}
    points = []
    for line in lines_of(model + "/points3D.txt"):
        words = line.split()
        track = [(ids[names[int(i)]], int(k)) for i, k in zip(words[8::2], words[9::2])]
        points.append(([float(w) for w in words[1:4]], track))
    return points


# ---- what may be done to a set ---------------------------------------------------------------------


class Made:
    """What a kind makes of a set: m the matches, truth, and what is drawn, for the record."""

    def __init__(self, source, rng):
        self.m, self.truth = Matches(source.database), read_truth(source.truth)
        self.source, self.rng, self.drawn = source, rng, None


def guess(made):
    """No intrinsics, a camera each."""
    for i in made.m.images:
        camera = made.m.own_camera(i)
        width, height = camera[1:3]
        camera[:] = [SIMPLE_RADIAL, width, height, [1.2 * max(width, height), width / 2, height / 2, 0.0], 0]


def share(made):
    """No intrinsics, one camera for photographs of a size."""
    guess(made)
    first = {}
    for i in sorted(made.m.images):
        size = tuple(made.m.camera_of(i)[1:3])
        made.m.images[i][1] = first.setdefault(size, made.m.images[i][1])


def known(made):
    pass


def thin_out(made):
    made.drawn = made.rng.uniform(0.3, 0.7)
    made.m.pairs = {key: pairs for key, pairs in made.m.pairs.items() if made.rng.random() < made.drawn}


def take_some(made):
    ids = sorted(made.m.images)
    made.drawn = made.rng.randint(4, max(4, len(ids) * 2 // 3))
    start = made.rng.randint(0, len(ids) - made.drawn)
    made.m.keep_images(set(ids[start : start + made.drawn]))


def change_focals(made):
    made.drawn = made.rng.choice([0.8, 0.9, 0.95, 1.05, 1.1, 1.25])
    for camera in made.m.cameras.values():
        for k in range(FOCALS[camera[0]]):
            camera[3][k] *= made.drawn


def change_aspect(made):
    made.drawn = made.rng.choice([0.93, 0.97, 1.03, 1.08])
    for camera in made.m.cameras.values():
        if FOCALS[camera[0]] == 1:
            camera[0], camera[3] = 4, [camera[3][0], *camera[3], 0.0, 0.0, 0.0][:8]
        camera[3][1] = camera[3][0] * made.drawn


def change_centers(made):
    made.drawn = made.rng.choice([-0.12, -0.08, 0.05, 0.08, 0.12])
    for camera in made.m.cameras.values():
        camera[3][center_index(camera)] += made.drawn * camera[1]


def raise_centers(made):
    for camera in made.m.cameras.values():
        camera[3][center_index(camera) + 1] += 0.1 * camera[2]


def change_center_of_one(made):
    image = made.rng.choice(sorted(made.m.images))
    camera = made.m.own_camera(image)
    camera[3][center_index(camera)] += 0.125 * max(camera[1:3])  # 200 of 1,600 pixels


def crop(made):
    """The same cut off each photograph, nobody says so."""
    left, top = (made.rng.choice([0.0, 0.15, 0.3]) for _ in range(2))
    right, bottom = (made.rng.choice([0.0, 0.1]) for _ in range(2))
    made.drawn = [left, top, right, bottom]
    share(made)
    for i, points in made.m.keypoints.items():
        width, height = made.m.camera_of(i)[1:3]
        for xy in points:
            xy[0] -= left * width
            xy[1] -= top * height
    sizes = {i: made.m.camera_of(i)[1:3] for i in made.m.images}
    inside = lambda i, k: (0 < made.m.keypoints[i][k][0] < (1 - left - right) * sizes[i][0]
                           and 0 < made.m.keypoints[i][k][1] < (1 - top - bottom) * sizes[i][1])  # fmt: skip
    made.m.keep_matches(lambda i, k, j, l: inside(i, k) and inside(j, l))
    for c in {image[1] for image in made.m.images.values()}:
        camera = made.m.cameras[c]
        width, height = int((1 - left - right) * camera[1]), int((1 - top - bottom) * camera[2])
        camera[1:4] = [width, height, [1.2 * max(width, height), width / 2, height / 2, 0.0]]


def shear(made):
    """As a rolling shutter does it to a camera that turns: rows are shifted, by another amount in
    every photograph."""
    for i, points in made.m.keypoints.items():
        height, by = made.m.camera_of(i)[2], made.rng.choice([-1, 1]) * made.rng.uniform(0.02, 0.06)
        for xy in points:
            xy[0] += by * (xy[1] - height / 2)


def mirror_half(made):
    for i in made.rng.sample(sorted(made.m.images), len(made.m.images) // 2):
        width = made.m.camera_of(i)[1]
        made.truth.pop(made.m.images[i][0])
        for xy in made.m.keypoints[i]:
            xy[0] = width - xy[0]


def move_points(share_of_points):
    """Between two days a part of the scene has moved. The truth is that of what has not."""

    def move(made):
        m, rng = made.m, made.rng
        poses = read_truth(made.source.model)
        ids = sorted(i for i, image in m.images.items() if image[0] in poses)
        second_day = set(ids[len(ids) // 2 :])
        points = points_of(made.source.model, m)
        axis = [rng.gauss(0, 1) for _ in range(3)]
        along = sorted((sum(a * x for a, x in zip(axis, X)), k) for k, (X, _) in enumerate(points))
        moved = [k for _, k in along[: int(share_of_points * len(along))]]
        depth = sorted(in_camera(poses[m.images[i][0]], points[k][0])[2] for k in moved for i, _ in points[k][1][:1])
        step = [rng.gauss(0, 1) for _ in range(3)]
        by = rng.choice([0.03, 0.06, 0.12]) * depth[len(depth) // 2] / math.hypot(*step)
        made.drawn = by
        for k in moved:
            X, track = points[k]
            for i, keypoint in track:
                if i not in second_day:
                    continue
                pose, camera = poses[m.images[i][0]], m.camera_of(i)
                before, after = project(camera, pose, X), project(camera, pose, [x + by * s for x, s in zip(X, step)])
                if before and after:
                    for d in range(2):
                        m.keypoints[i][keypoint][d] += after[d] - before[d]

    return move


def take_few_matches(made):
    made.drawn = made.rng.choice([0.02, 0.04, 0.08])
    made.m.keep_matches(lambda i, k, j, l: made.rng.random() < made.drawn)


def add_noise(made):
    made.drawn = made.rng.choice([2.0, 4.0, 6.0])
    for i, points in made.m.keypoints.items():
        for xy in points:
            xy[0] += made.rng.gauss(0, made.drawn)
            xy[1] += made.rng.gauss(0, made.drawn)


def add_poster(made, corner, places):
    """Keypoints of one poster in the photographs `corner` of one scene: place by place."""
    m, truth = made.m, made.truth
    middle = corner[len(corner) // 2]
    R, t = rotation(truth[m.images[middle][0]][0]), truth[m.images[middle][0]][1]
    scale = made.size[middle]
    seen = {}
    for i in corner:
        camera = m.camera_of(i)
        for k, (u, v) in enumerate(places):
            Y = [scale * u - t[0], scale * v - t[1], scale * (1 + 0.2 * u) - t[2]]
            X = [sum(R[r][d] * Y[r] for r in range(3)) for d in range(3)]
            xy = project(camera, truth[m.images[i][0]], X)
            if xy and 0 < xy[0] < camera[1] and 0 < xy[1] < camera[2]:
                seen[i, k] = len(m.keypoints[i])
                m.keypoints[i].append([x + made.rng.gauss(0, 0.4) for x in xy])
    return seen


def two_scenes(made):
    """Another set, too, and one poster in both."""
    rng, m = made.rng, made.m
    other = Made(rng.choice([s for s in made.source.others if s.name != made.source.name]), rng)
    names = {"other_" + image[0]: i for i, image in other.m.images.items()}
    first, corner = max(m.images), [sorted(m.images)[:3], sorted(other.m.images)[:3]]
    step = max(m.cameras)
    made.size = {}
    for scene, shift in ((made, 0), (other, first)):
        for i, image in scene.m.images.items():
            centers = sorted(math.dist(scene.truth[image[0]][1], t) for _, t in scene.truth.values())
            made.size[i + shift] = 2.0 * centers[len(centers) // 2]
    made.drawn = other.source.name
    m.cameras.update({c + step: camera for c, camera in other.m.cameras.items()})
    m.images.update({i + first: [name, other.m.images[i][1] + step] for name, i in names.items()})
    m.keypoints.update({i + first: points for i, points in other.m.keypoints.items()})
    m.pairs.update({(i + first, j + first): pairs for (i, j), pairs in other.m.pairs.items()})
    made.truth.update({"other_" + name: pose for name, pose in other.truth.items()})
    places = [(rng.uniform(-0.3, 0.3), rng.uniform(-0.2, 0.2)) for _ in range(200)]
    seen = {**add_poster(made, corner[0], places), **add_poster(made, [i + first for i in corner[1]], places)}
    for i, k in seen:
        for j, l in seen:
            if i < j and k == l:
                m.pairs.setdefault((i, j), []).append((seen[i, k], seen[j, l]))


RIGHT = {"known": known, "unknown": guess, "shared": share, "thinned": thin_out, "subset": take_some}
SPOILT = {
    "wrong focal length": change_focals, "wrong aspect": change_aspect, "wrong principal point": change_centers,
    "principal points 10 % up": raise_centers, "one principal point": change_center_of_one, "cropped": crop,
    "rolling shutter": shear, "half mirrored": mirror_half, "half of the points moved": move_points(0.5),
    "moved object": move_points(0.2), "few matches": take_few_matches, "noise": add_noise, "two scenes, one poster": two_scenes,
}  # fmt: skip
KINDS = {**RIGHT, **SPOILT}


# ---- sources -----------------------------------------------------------------------------------------


class Source:
    """A set with its database, made once, and a reconstruction of it with its intrinsics."""

    def __init__(self, program, sets, name, cache):
        self.name, self.folder, self.truth = name, f"{cache}/{name}", f"{sets}/{name}/gt"
        self.database, self.model, self.others = self.folder + "/database.db", self.folder + "/model/0", []
        if not os.path.exists(self.model + "/points3D.txt"):
            self.make(program, f"{sets}/{name}/images", "ring:2" if "arena" in name else "exhaustive")

    def make(self, program, images, pairs):
        few = ["--effort", "normal", "--sift.max-num-features", "4000"]
        for words in (
            ["extract", images, "--cameras", self.truth, "-o", self.folder, *few],
            ["match", self.database, "--pairs", pairs],
            ["reconstruct", self.database, "-o", self.folder, "--no-report"],
        ):
            subprocess.run([program, *words, "--quiet", "--threads", "1"], capture_output=True)


def make(source, kind, number, folder):
    """Writes database and truth of a set of a kind; what was drawn."""
    made = Made(source, random.Random(f"{source.name} {kind} {number}"))
    KINDS[kind](made)
    os.makedirs(folder, exist_ok=True)
    made.m.write(folder + "/database.db")
    write_truth(made.truth, folder + "/gt")
    return made.drawn
