"""The notebook runs, and what it shows is so: test_notebook.py RUN_NOTEBOOK NOTEBOOK"""
import json
import runpy
import sys
import unittest

try:
    import numpy as np
    import matplotlib  # noqa: F401
except ImportError as error:
    print("skipped: %s" % error)
    sys.exit(77)

RUNNER, NOTEBOOK = sys.argv[1:3]


class TestNotebook(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(NOTEBOOK, encoding="utf-8") as file:
            cls.notebook = json.load(file)
        cls.stored = [len(cell.get("outputs", [])) for cell in cls.notebook["cells"]]
        cls.found = runpy.run_path(RUNNER)["run_cells"](cls.notebook)

    def test_pictures_are_in_the_file(self):
        self.assertEqual(self.stored, [len(cell.get("outputs", [])) for cell in self.notebook["cells"]])
        self.assertEqual(self.notebook["nbformat"], 4)

    def test_formulas(self):
        f = self.found
        for i, j in f["edges"]:
            for H, inliers in f["homographies"][i, j]:
                x = f["rays"][i][f["matches"][i, j][inliers, 0]]
                for R, t, n in f["decompose"](H, x):
                    np.testing.assert_allclose(R + np.outer(t, n), H, atol=1e-8)
                    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-8)
        D, h, S = f["D"], f["h"], f["S"]
        np.testing.assert_allclose(h @ (D * h), 1, atol=1e-9)
        rayleigh = [h @ ((np.diag(D) - S) @ h), f["values"][1]]
        self.assertAlmostEqual(*rayleigh, 9)
        tree = f["tree"]
        for seed in range(200):  # no spanning tree has a smaller range
            other = f["spanning_tree"](np.random.default_rng(seed).permutation(len(f["edges"])))
            self.assertLessEqual(np.ptp(h[tree]), np.ptp(h[other]) + 1e-12)

    def test_results(self):
        f = self.found
        self.assertGreaterEqual(f["is_bad"].sum(), 3)          # wrong edges, of which the tree has none
        self.assertEqual(f["is_bad"][f["tree"]].sum(), 0)
        best = f["errors_deg"](f["R"]).mean()
        self.assertLess(4 * best, np.mean([f["errors_deg"](r).mean() for r in f["random_trees"]]))
        self.assertLess(np.linalg.norm(f["found"] - f["centers"], axis=1).max(), 1)
        self.assertLess(f["off"].max(), 0.5)                   # by the parts of the library
        self.assertEqual(f["scores"]["num_registered"], 10)
        self.assertGreater(f["scores"]["auc_rotation"][0], 95)


unittest.main(argv=sys.argv[:1] + sys.argv[3:])
