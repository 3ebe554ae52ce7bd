"""Poses of cameras round a court, step by step; every cell (# %%) can be run on its own in an editor that
knows cells, or all of it by `PYTHONPATH=python python3 python/examples/arena.py`."""
# %% Twelve cameras round a 28 x 15 m court, in a ring, looking at its middle.
import numpy as np

import planarsfm

rng = np.random.default_rng(0)
camera = planarsfm.Camera("PINHOLE", 1280, 720, [1000, 1000, 640, 360])
court = np.column_stack([rng.uniform(-14, 14, 300), rng.uniform(-7.5, 7.5, 300), np.zeros(300)])


def look_at(center, target):
    z = (target - center) / np.linalg.norm(target - center)
    x = np.cross(z, [0, 0, 1])
    x /= np.linalg.norm(x)
    return np.vstack([x, np.cross(z, x), z])


class Pose:
    def __init__(self, angle):
        self.center = np.array([24 * np.cos(angle), 18 * np.sin(angle), 8])
        self.R = look_at(self.center, np.array([4 * np.cos(angle), 2 * np.sin(angle), 0]))


truth = {"cam%02d" % k: Pose(2 * np.pi * k / 12) for k in range(12)}

# %% What each camera sees of the court, with half a pixel of noise.
pixels, visible = {}, {}
for name, pose in truth.items():
    X = (court - pose.center) @ pose.R.T
    xy = 1000 * X[:, :2] / X[:, 2:] + [640, 360]
    visible[name] = (X[:, 2] > 0) & (xy > 0).all(axis=1) & (xy < [1280, 720]).all(axis=1)
    pixels[name] = xy + rng.normal(0, 0.5, xy.shape)

# %% Matches of each camera with its two neighbours on either side; one in ten is wrong.
matches = {}
names = list(truth)
for k, a in enumerate(names):
    for b in (names[(k + 1) % 12], names[(k + 2) % 12]):
        both = np.flatnonzero(visible[a] & visible[b])
        wrong = rng.permutation(both)
        other = np.where(rng.random(len(both)) < 0.1, wrong, both)
        matches[a, b] = (pixels[a][both], pixels[b][other])

# %% Poses. All points are on one plane, where the epipolar geometry of a pair tells nothing.
result = planarsfm.reconstruct(camera, matches)
print(result)
for name, image in result.images.items():
    print(name, image.state, image.center.round(3), "+- %.4f deg" % image.rotation_sigma_deg)

# %% How good are they?
scores = planarsfm.evaluate(truth, result)
print("rotation AUC at", scores["thresholds"], "degrees:", scores["auc_rotation"].round(1))

# %% The plane, and the pose graph: which pairs were believed, and their place on the real line.
print("plane with %d points, normal %s" % (result.planes[0].num_points, result.planes[0].normal.round(6)))
for edge in np.sort(result.edges, order="embedding")[:5]:
    print(names[edge["image1"]], names[edge["image2"]], "h = %.4f" % edge["embedding"],
          "tree" if edge["in_tree"] else "", "accepted" if edge["accepted"] else "rejected")

# %% For COLMAP and everything that reads its models.
result.write("arena_model")
