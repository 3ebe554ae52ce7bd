"""Camera poses of a sports hall from a handful of labelled court points per camera, without any photograph.

    PYTHONPATH=python python3 python/examples/court_points.py FOLDER

FOLDER has court_points.json (per image: world_xyz_m and pixels of the same points) and gt, a COLMAP model with the
intrinsics, whose poses the result is compared with. Points of two cameras are matched by label: the same place on the
court, within 0.6 m. The places themselves are used at the end only, to put the model into the court's frame."""
# %%
import itertools
import json
import sys

import numpy as np

import planarsfm

folder = sys.argv[1]
truth = planarsfm.read_model(folder + "/gt")
keypoints, places = {}, {}
for name, points in json.load(open(folder + "/court_points.json")).items():
    pixels = next(values for key, values in points.items() if key.startswith("image_px_undistorted"))
    keypoints[name] = np.array(pixels) + 0.5  # these count from the first pixel's centre
    places[name] = np.array(points["world_xyz_m"])

# %% Matches by label.
matches = {}
for a, b in itertools.combinations(sorted(keypoints), 2):
    apart = np.linalg.norm(places[a][:, None] - places[b][None], axis=2)
    i, j = np.nonzero((apart < 0.6) & (apart == apart.min(axis=1, keepdims=True)))
    matches[a, b] = np.column_stack([i, j])

# %% Poses.
cameras = {name: truth.cameras[truth.images[name].camera_id] for name in keypoints}
result = planarsfm.reconstruct(cameras, matches, keypoints)
print(result)
for name, image in result.images.items():
    print(name, "%d points," % len(keypoints[name]), image.state, image.advice)
scores = planarsfm.evaluate(truth, result)
print("rotation: median %.2f degrees, AUC %s at %s degrees" % (
    scores["median_rotation_deg"], scores["auc_rotation"].round(1), scores["thresholds"]))

# %% Files for `planarsfm align court_model -o court_metric --gcp court_gcp.txt` and `planarsfm compare`.
result.write("court_model")
with open("court_gcp.txt", "w") as file:
    for name in sorted(keypoints):
        for (X, Y, Z), (x, y) in zip(places[name], keypoints[name]):
            file.write("%g %g %g %.2f %.2f %s\n" % (X, Y, Z, x, y, name))
