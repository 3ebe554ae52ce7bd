"""The parts of the method on numpy arrays, against truth and against numpy: test_parts.py EXAMPLE"""
import contextlib
import io
import itertools
import runpy
import sys
import unittest

try:
    import numpy as np
except ImportError:
    sys.exit(77)
import planarsfm
from planarsfm import bundle, calibration, graph, homography, position, rotation

EXAMPLE = sys.argv[1]


def angle_deg(A, B):
    return np.degrees(np.arccos(np.clip((np.trace(A.T @ B) - 1) / 2, -1, 1)))


class Scene:
    """Cameras in a ring round a floor and a slope, exact pixels."""

    def __init__(self, num=8, seed=0):
        rng = np.random.default_rng(seed)
        self.camera = planarsfm.Camera("SIMPLE_RADIAL", 1280, 720, [900, 640, 360, -0.05])
        angles = 2 * np.pi * np.arange(num) / num
        self.centers = np.column_stack([12 * np.cos(angles), 10 * np.sin(angles), 6 + np.sin(2 * angles)])
        self.R = np.array([planarsfm.look_at(C, [0, 0, 1]) for C in self.centers])
        floor = np.column_stack([rng.uniform(-4, 4, (120, 2)), np.zeros(120)])
        slope = np.column_stack([rng.uniform(-3, 3, (80, 2)), np.zeros(80)])
        slope[:, 2] = 2.5 + 0.5 * slope[:, 0] + 0.2 * slope[:, 1]
        self.world, self.plane = np.vstack([floor, slope]), np.repeat([0, 1], [120, 80])
        self.xy = [self.camera.project((self.world - C) @ R.T) for R, C in zip(self.R, self.centers)]
        self.edges = [(i, j) for i in range(num) for j in range(i + 1, num) if (j - i) % num in (1, 2, num - 2, num - 1)]

    def relative(self, i, j):
        R = self.R[j] @ self.R[i].T
        return R, self.R[j] @ (self.centers[i] - self.centers[j])


class TestHomography(unittest.TestCase):
    def test_planes_among_wrong_matches(self):
        s, rng = Scene(), np.random.default_rng(1)
        other = np.arange(200)
        wrong = rng.choice(200, 60, replace=False)
        other[wrong] = rng.permutation(wrong)
        H, plane = homography.find(s.xy[0], s.xy[1][other], s.camera, s.camera)
        self.assertEqual(len(H), 2)
        right = other == np.arange(200)
        np.testing.assert_array_equal(plane[right], s.plane[right])
        R, t = s.relative(0, 1)
        for k in range(2):
            self.assertAlmostEqual(np.linalg.svd(H[k])[1][1], 1, 9)
            rays = [s.camera.unproject(xy[right & (plane == k)]) for xy in s.xy[:2]]
            motions = homography.decompose(-7 * H[k], *rays)
            best = min(motions, key=lambda m: angle_deg(m.R, R))
            self.assertLess(np.abs(best.R - R).max(), 1e-7)
            self.assertLess(np.abs(best.t / np.linalg.norm(best.t) - t / np.linalg.norm(t)).max(), 1e-6)
            np.testing.assert_allclose(best.n2, best.R @ best.n1, atol=1e-12)
            for m in motions:
                np.testing.assert_allclose(m.H / np.linalg.svd(m.H)[1][1], H[k], atol=1e-7)

    def test_between_pixels(self):
        s = Scene()
        flat = s.plane == 0
        camera = planarsfm.Camera("SIMPLE_PINHOLE", 1280, 720, [900, 640, 360])
        a, b = (camera.project((s.world[flat] - s.centers[k]) @ s.R[k].T) for k in (0, 1))
        H, plane = homography.find(a, b)
        moved = np.column_stack([a, np.ones(len(a))]) @ H[0].T
        np.testing.assert_allclose(moved[:, :2] / moved[:, 2:], b, atol=1e-6)
        self.assertTrue((plane == 0).all())

    def test_refusals(self):
        with self.assertRaisesRegex(ValueError, "3 and 4 pixels"):
            homography.find(np.zeros((3, 2)), np.zeros((4, 2)))
        with self.assertRaisesRegex(ValueError, r"H: shape \(3, 3\) is wanted"):
            homography.decompose(np.eye(4))
        with self.assertRaisesRegex(ValueError, "go together"):
            homography.decompose(np.eye(3), np.ones((5, 3)))
        with self.assertRaises(planarsfm.Error) as caught:
            homography.decompose(np.zeros((3, 3)))
        self.assertEqual(caught.exception.status, "data")
        with self.assertRaisesRegex(TypeError, "masked"):
            homography.decompose(np.ma.zeros((3, 3)))
        self.assertEqual(len(homography.find(np.zeros((0, 2)), np.zeros((0, 2)))[0]), 0)


class TestGraph(unittest.TestCase):
    def test_minimum_range_tree_is_the_best_of_all(self):
        rng = np.random.default_rng(0)
        for _ in range(30):
            edges = np.array([(i, j) for i in range(5) for j in range(i)] + [(0, 1)])
            weights = rng.normal(size=len(edges))
            ranges = [np.ptp(weights[list(t)]) for t in itertools.combinations(range(len(edges)), 4)
                      if (graph.components(5, edges[list(t)]) == 0).all()]
            tree = graph.minimum_range_tree(5, edges, weights)
            self.assertEqual(np.ptp(weights[tree]), min(ranges))

    def test_embedding_is_numpy_s(self):
        rng = np.random.default_rng(0)
        S = np.exp(-np.abs(rng.normal(size=(12, 12))))
        S = S + S.T
        D = S.sum(axis=1)
        vector = np.linalg.eigh(np.eye(12) - S / np.sqrt(np.outer(D, D)))[1][:, 1] / np.sqrt(D)
        vector *= np.sign(vector[np.argmax(np.abs(vector))])
        np.testing.assert_allclose(graph.embed(S), vector, atol=1e-7)
        np.testing.assert_array_equal(graph.embed(graph.Csr.from_dense(S)), graph.embed(S))
        np.testing.assert_array_equal(graph.Csr.from_dense(S).dense(), S)

    def test_rigidity(self):
        s = Scene()
        component, free = graph.rigid_components(8, s.edges)
        self.assertEqual((component.max(), free), (0, 0))
        ring = [(k, (k + 1) % 8) for k in range(8)]
        self.assertEqual(graph.rigid_components(8, ring)[1], 3 * 8 - 4 - 2 * 8)
        edges, weights = np.array(s.edges), np.arange(16.0)
        tree = graph.minimum_range_tree(8, edges, weights)
        in_graph, cut, bridges = graph.biconnected_extension(8, edges, weights, tree)
        self.assertFalse(cut.any() or bridges.any())
        rigid = graph.extend_rigidly(8, edges, weights, in_graph)
        self.assertTrue((rigid | ~in_graph).all())
        self.assertEqual(graph.rigid_components(8, edges[rigid])[1], 0)

    def test_refusals(self):
        with self.assertRaisesRegex(ValueError, "edges: 4 is out of range, there are 4"):
            graph.components(4, [[0, 4]])
        with self.assertRaisesRegex(ValueError, "edges: -1 is out of range"):
            graph.components(4, [[0, -1]])
        with self.assertRaisesRegex(TypeError, "edges: whole numbers"):
            graph.components(4, [[0.0, 1.0]])
        with self.assertRaises(planarsfm.Error) as caught:
            graph.minimum_range_tree(4, [[0, 1]], [1])
        self.assertIn("connected", str(caught.exception))
        with self.assertRaisesRegex(ValueError, "weights: shape"):
            graph.minimum_range_tree(2, [[0, 1]], [1, 2])
        with self.assertRaises(planarsfm.Error):
            graph.minimum_range_tree(2, [[0, 1]], [np.nan])
        with self.assertRaisesRegex(ValueError, "square"):
            graph.embed(np.ones((2, 3)))


class TestMethod(unittest.TestCase):
    """From pixels to poses by the parts, as the paper goes."""

    @classmethod
    def setUpClass(cls):
        cls.scene = s = Scene()
        cls.graph = graph.Multigraph(8)
        for i, j in s.edges:
            cls.graph.add_edge(i, j, s.relative(i, j)[0])
            H, plane = homography.find(s.xy[i], s.xy[j], s.camera, s.camera)
            for k, h in enumerate(H):
                inliers = np.flatnonzero(plane == k)
                rays = [s.camera.unproject(s.xy[v][inliers]) for v in (i, j)]
                cls.graph.add_homography(homography.decompose(h, *rays), np.column_stack([inliers, inliers]))

    def test_all_of_it(self):
        s, g = self.scene, self.graph
        np.testing.assert_array_equal(g.edges, s.edges)
        g.weigh_by_confidence()
        table = g.hypotheses()
        np.testing.assert_allclose(np.bincount(table["edge"], table["weight"]), 1, atol=1e-12)
        self.assertGreater((table["homography"] == 1).sum(), 4)  # the slope, too, where it is not seen edge-on
        S = g.similarity()
        dense = S.dense()
        np.testing.assert_array_equal(dense, dense.T)
        share = np.array([[len(set(a) & set(b)) for b in s.edges] for a in s.edges])
        self.assertTrue(((dense > 0) == (share > 0)).all())
        self.assertGreater(dense[share == 1].min(), 0.99)  # exact homographies of the same two planes
        tree = graph.minimum_range_tree(8, s.edges, graph.embed(S))
        R_21, t_21 = g.relative_poses()
        R = rotation.propagate(8, s.edges, R_21, tree)
        np.testing.assert_allclose(R, s.R @ s.R[0].T, atol=1e-6)
        found = position.lud(8, s.edges, position.directions(s.edges, R, t_21))
        fit = planarsfm.fit_similarity(found, s.centers)
        np.testing.assert_allclose(fit.apply(found), s.centers, atol=1e-5)

    def test_weights_can_be_set(self):
        g = self.graph
        weights = np.linspace(0, 1, len(g.hypotheses()))
        g.set_weights(weights)
        np.testing.assert_array_equal(g.hypotheses()["weight"], weights)
        with self.assertRaisesRegex(ValueError, "weights: shape"):
            g.set_weights(weights[1:])
        with self.assertRaises(planarsfm.Error):
            g.set_weights(-weights)
        with self.assertRaises(planarsfm.Error):
            graph.Multigraph(2).add_edge(1, 0)
        with self.assertRaises(planarsfm.Error):
            graph.Multigraph(2).add_homography(homography.decompose(np.eye(3)), [[0, 0]])


class TestRotation(unittest.TestCase):
    def setUp(self):
        s = Scene()
        self.edges, self.R = s.edges, s.R @ s.R[0].T
        self.relative = np.array([s.relative(i, j)[0] for i, j in s.edges])

    def test_exact(self):
        for loss in ("robust", "angle", "chordal"):
            R, residual = rotation.average(8, self.edges, self.relative, loss=loss)
            np.testing.assert_allclose(R, self.R, atol=1e-8)
            self.assertLess(residual.max(), 1e-5)

    def test_a_wrong_edge_is_outvoted(self):
        relative = self.relative.copy()
        relative[3] = relative[3] @ planarsfm.rotation_from_quaternion([1, 0.2, 0, 0])
        R, residual = rotation.average(8, self.edges, relative)
        np.testing.assert_allclose(R, self.R, atol=2e-2)
        self.assertEqual(residual.argmax(), 3)
        self.assertGreater(residual[3], 20)

    def test_consensus(self):
        turn = np.diag([-1.0, -1, 1])
        candidates = [[R @ turn, R] if e % 2 else [R] for e, R in enumerate(self.relative)]
        start = rotation.propagate(8, self.edges, [c[-1] for c in candidates], [0, 3, 4])
        found, chosen = rotation.consensus(8, self.edges, candidates, self.R, seed=3)
        np.testing.assert_array_equal(chosen, [len(c) - 1 for c in candidates])
        np.testing.assert_allclose(found, self.R, atol=1e-6)
        with self.assertRaisesRegex(ValueError, "16 edges are wanted, not 15"):
            rotation.consensus(8, self.edges, candidates[1:], start)

    def test_refusals(self):
        with self.assertRaisesRegex(ValueError, "loss: 'l2'"):
            rotation.average(8, self.edges, self.relative, loss="l2")
        with self.assertRaisesRegex(ValueError, r"R_21: shape \(16, 3, 3\)"):
            rotation.chordal(8, self.edges, self.relative[1:])
        with self.assertRaises(planarsfm.Error):
            rotation.propagate(8, self.edges, self.relative, [0], root=8)


class TestBundle(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        s = cls.scene = Scene()
        see = [(v, k) for v in range(8) for k in range(200) if (s.xy[v][k] > 0).all() and (s.xy[v][k] < [1280, 720]).all()]
        cls.image, cls.point = np.array(see).T
        cls.xy = np.array([s.xy[v][k] for v, k in see])

    def make(self, xy=None, points=None, **more):
        s = self.scene
        return bundle.Scene(s.camera, s.R, s.centers, s.world if points is None else points, self.image, self.point,
                            self.xy if xy is None else xy, **more)

    def test_triangulation(self):
        xy = self.xy.copy()
        xy[::17] += 60  # wrong ones
        done, found, inlier = bundle.triangulate(self.make(xy, np.zeros((200, 3))))
        self.assertTrue(found.all())
        np.testing.assert_allclose(done.points, self.scene.world, atol=1e-6)
        self.assertEqual(inlier.sum(), len(xy) - len(xy[::17]))
        self.assertFalse(inlier[::17].any())

    def test_adjustment_finds_truth(self):
        s, rng = self.scene, np.random.default_rng(0)
        start = self.make(points=s.world + rng.normal(0, 0.01, s.world.shape))
        start.centers[1:] += rng.normal(0, 0.01, (7, 3))
        before = start.centers.copy()
        done = bundle.adjust(start, loss="squared", converged=-1, tolerance=1e-15)
        np.testing.assert_array_equal(start.centers, before)
        self.assertLess(done.rms_px, 1e-6)
        self.assertLess(done.final_cost, done.initial_cost)
        self.assertEqual(sorted(set(done.states)), ["adjusted", "datum"])
        fit = planarsfm.fit_similarity(done.scene.centers, s.centers)
        np.testing.assert_allclose(fit.apply(done.scene.centers), s.centers, atol=1e-7)
        np.testing.assert_allclose(fit.apply(done.scene.points), s.world, atol=1e-7)
        self.assertLess(bundle.reprojection_errors(done.scene).max(), 1e-5)

    def test_intrinsics_planes_and_fixed_images(self):
        s = self.scene
        plane = [[0, 0, 1, 0], np.array([-0.5, -0.2, 1, 2.5]) / np.linalg.norm([0.5, 0.2, 1])]
        start = self.make(planes=plane, point_plane=s.plane, image_fixed=[True, True] + [False] * 6)
        start.cameras = [planarsfm.Camera("SIMPLE_RADIAL", 1280, 720, [880, 640, 360, 0])]
        done = bundle.adjust(start, planes="hard", refine="focal-distortion", converged=-1, tolerance=1e-15)
        np.testing.assert_allclose(done.scene.cameras[0].params, s.camera.params, atol=5e-3)
        self.assertEqual(list(done.states[:3]), ["fixed", "fixed", "adjusted"])
        np.testing.assert_array_equal(done.scene.centers[:2], s.centers[:2])
        np.testing.assert_allclose(done.scene.planes[1] * np.sign(done.scene.planes[1][3]), plane[1], atol=1e-6)

    def test_covariance_is_what_noise_does(self):
        rng, fixed = np.random.default_rng(0), [True, True] + [False] * 6
        covariance, sigma = bundle.covariance(self.make(image_fixed=fixed), loss="squared", known_sigma=True)
        self.assertEqual(sigma, 1)
        self.assertTrue((covariance[:2] == 0).all())
        off = [bundle.adjust(self.make(self.xy + rng.normal(size=self.xy.shape), image_fixed=fixed), loss="squared",
                             converged=-1).scene.centers - self.scene.centers for _ in range(60)]
        measured = np.std(off, axis=0)[2:]
        told = np.sqrt(np.array([np.diag(each)[3:] for each in covariance[2:]]))
        self.assertLess(abs(np.log(np.mean(measured / told))), 0.15)

    def test_resection(self):
        s, rng = self.scene, np.random.default_rng(0)
        xy = s.xy[2].copy()
        wrong = rng.choice(200, 80, replace=False)
        xy[wrong] += rng.uniform(50, 200, (80, 2))
        found = bundle.resect(s.camera, xy, s.world)
        np.testing.assert_allclose(found.center, s.centers[2], atol=1e-6)
        np.testing.assert_allclose(found.R, s.R[2], atol=1e-7)
        self.assertFalse(found.inlier[wrong].any())
        self.assertEqual(found.inlier.sum(), 120)
        self.assertIsNone(bundle.resect(s.camera, rng.uniform(0, 700, (30, 2)), s.world[:30]))
        rays = (s.world[[0, 50, 150]] - s.centers[4]) @ s.R[4].T
        self.assertLess(min(np.abs(C - s.centers[4]).max() for _, C in bundle.p3p(rays, s.world[[0, 50, 150]])), 1e-7)

    def test_refusals(self):
        s = self.scene
        with self.assertRaisesRegex(ValueError, "obs_point: 200 is out of range, there are 200"):
            bundle.Scene(s.camera, s.R, s.centers, s.world, [0], [200], [[1, 1]])
        with self.assertRaisesRegex(ValueError, r"centers: shape \(8, 3\) is wanted"):
            bundle.Scene(s.camera, s.R, s.centers[1:], s.world, [0], [0], [[1, 1]])
        with self.assertRaisesRegex(ValueError, "refine: 'lens' is not one of none, focal"):
            bundle.adjust(self.make(), refine="lens")
        with self.assertRaisesRegex(ValueError, "image_fixed: a mask of 8"):
            self.make(image_fixed=[True])
        with self.assertRaisesRegex(ValueError, "3 pixels and 4 points"):
            bundle.resect(s.camera, np.zeros((3, 2)), np.zeros((4, 3)))


class TestCalibration(unittest.TestCase):
    def test_focal_lengths_from_planes(self):
        s = Scene()
        matches = {(i, j): (s.xy[i], s.xy[j]) for i, j in s.edges}
        guess = planarsfm.Camera("SIMPLE_RADIAL", 1280, 720, [1500, 640, 360, 0])
        found, sigma = calibration.calibrate(guess, matches)
        self.assertLess(abs(found.params[0] / 900 - 1), 0.01)
        self.assertLess(sigma, 0.02)
        cameras = {k: s.camera if k % 2 else guess for k in range(8)}
        found, sigma = calibration.calibrate(cameras, matches, known=[s.camera])
        self.assertEqual(found[1].params.tolist(), s.camera.params.tolist())
        self.assertEqual(sigma[1], 0)
        self.assertLess(abs(found[2].params[0] / 900 - 1), 0.01)
        self.assertIs(type(found[2]), planarsfm.Camera)

    def test_nothing_determined(self):
        guess = planarsfm.Camera("SIMPLE_PINHOLE", 640, 480, [800, 320, 240])
        found, sigma = calibration.calibrate(guess, {("a", "b"): (np.zeros((0, 2)), np.zeros((0, 2)))})
        self.assertEqual((found.params[0], sigma), (800, np.inf))
        with self.assertRaisesRegex(ValueError, "no image"):
            calibration.calibrate(guess, {})


class TestExample(unittest.TestCase):
    def test_four_cameras(self):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            runpy.run_path(EXAMPLE)
        self.assertEqual(printed.getvalue().splitlines(), [
            "tree: edges 2, 4, 5", "camera 0 at 0.00 0.00 0.00", "camera 1 at 2.00 0.00 0.30",
            "camera 2 at 2.00 2.00 -0.20", "camera 3 at 0.00 2.00 0.10"])
        with open(EXAMPLE) as file:
            self.assertLess(len(file.readlines()), 40)


unittest.main(argv=sys.argv[:1] + sys.argv[2:])
