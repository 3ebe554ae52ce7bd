"""From the six homographies of four cameras over one plane to the minimum-range spanning tree and the poses:
PYTHONPATH=python python3 python/examples/four_cameras.py"""
import numpy as np

from planarsfm import graph, homography, position, rotation

pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
H_21 = np.reshape([
    0.9752, -0.1935, -0.2889, 0.1977, 0.9798, -0.1065, -0.0998, 0.0497, 0.9741,
    0.9918, 0.0914, -0.3406, -0.0995, 0.9908, -0.2615, -0.0799, -0.0995, 1.1033,
    0.9536, -0.2900, 0.0369, 0.2950, 0.9537, -0.3240, 0.0600, -0.0798, 1.0070,
    0.9559, 0.2839, -0.0352, -0.3233, 0.9605, -0.2593, 0.0640, -0.1466, 1.1356,
    1.0340, -0.1086, 0.3326, 0.0795, 0.9992, -0.1998, 0.1920, -0.0983, 1.0800,
    0.9452, -0.3557, 0.2410, 0.3948, 0.9310, 0.0489, 0.1378, 0.0028, 0.9560], (6, 3, 3))
corners = [[k, k] for k in range(4)]                     # keypoints on the plane, the same in all images

hypotheses = graph.Multigraph(4)
for (i, j), H in zip(pairs, H_21):
    hypotheses.add_edge(i, j)
    hypotheses.add_homography(homography.decompose(H), corners)      # Eq. 1
hypotheses.weigh_by_confidence()                                     # Eq. 4
h = graph.embed(hypotheses.similarity())                             # Eq. 2, 3 and 5
tree = graph.minimum_range_tree(4, pairs, h)                         # Eq. 6, Algorithm 1
R_21, t_21 = hypotheses.relative_poses()                             # Eq. 7
R = rotation.propagate(4, pairs, R_21, tree)
centers = position.lud(4, pairs, position.directions(pairs, R, t_21))

print("tree: edges", ", ".join(map(str, tree)))
for k, place in enumerate(2 * (centers - centers[0]) / (centers[1] - centers[0])[0]):
    print("camera %d at" % k, " ".join("%.2f" % x for x in place.round(2) + 0.0))
