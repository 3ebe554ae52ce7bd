"""The Python module against the command and the truth: test_planarsfm.py COMMAND SCRATCH_FOLDER"""
import ctypes
import json
import locale
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import types
import unittest
import unittest.mock

try:
    import numpy as np
except ImportError:
    sys.exit(77)
import planarsfm
from planarsfm.context import Context
from planarsfm._library import lib
from planarsfm.settings import apply

COMMAND, SCRATCH = sys.argv[1:3]


def run(*arguments):
    return subprocess.run([COMMAND, *arguments], check=True, capture_output=True, text=True).stdout


def read_database(path):
    """Keypoints and index matches by image name."""
    db = sqlite3.connect(path)
    names = dict(db.execute("SELECT image_id, name FROM images"))
    keypoints = {names[i]: np.frombuffer(data, np.float32).reshape(rows, cols)[:, :2].astype(float)
                 for i, rows, cols, data in db.execute("SELECT image_id, rows, cols, data FROM keypoints")}
    matches = {}
    for pair, rows, data in db.execute("SELECT pair_id, rows, data FROM matches"):
        matches[names[pair // 2147483647], names[pair % 2147483647]] = np.frombuffer(data, np.uint32).reshape(rows, 2)
    db.close()
    return keypoints, matches


def flags_of(command):
    """The flags of a command in the manual, each with a value that it takes."""
    placeholders = {"": "on", "N": 800, "S": 2, "METRES": 2, "WHICH": "auto", "WHAT": "auto", "MODEL": "auto",
                    "MODE": "robust", "PHOTOS": ".", "IMAGE:x,y IMAGE:x,y METRES": "a.jpg:1,2 b c.jpg:3,4 5"}
    section = run("help", "--markdown").split("\n## planarsfm %s\n" % command)[1].split("\n## ")[0]
    for flag, what, default in re.findall(r"^\| `(-[^ `]*) ?([^`]*)` \| ([^|]*(?:\\\|[^|]*)*) \|", section, re.M):
        known = re.search("default ([^,]*)", default)
        value = placeholders.get(what, what.split("\\|")[0])
        yield flag.lstrip("-"), known.group(1).strip() if known else value


class TestOptions(unittest.TestCase):
    """Settings take what the command takes, by the same names."""

    # What is no setting: where results go is an argument of the call, and so is what is printed of them.
    NO_SETTINGS = {"run": {"o", "json"}, "reconstruct": {"o"}}

    def take_all(self, command, create, setter, destroy):
        flags = {name: value for name, value in flags_of(command) if name not in self.NO_SETTINGS[command]}
        self.assertGreater(len(flags), 60)
        with Context() as context:
            handle = ctypes.c_void_p(create())
            try:
                apply(context, setter, handle, flags)
                plain = {re.sub("[-.]", "_", name): value for name, value in flags.items()}
                apply(context, setter, handle, plain)
            finally:
                destroy(ctypes.byref(handle))

    def test_run(self):
        self.take_all("run", lib.psfm_run_settings_create, lib.psfm_run_settings_set, lib.psfm_run_settings_destroy)

    def test_reconstruct(self):
        self.take_all("reconstruct", lib.psfm_settings_create, lib.psfm_settings_set, lib.psfm_settings_destroy)


class TestModule(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(SCRATCH, ignore_errors=True)
        os.makedirs(SCRATCH)
        os.chdir(SCRATCH)
        run("synth", "arena", "-o", "arena", "--matches-only", "--cameras", "12", "--points", "300", "--off-plane", "0.3")
        run("reconstruct", "arena/database.db", "-o", "arena/out", "--quiet")
        cls.keypoints, cls.matches = read_database("arena/database.db")
        cls.truth = planarsfm.read_model("arena/gt")
        cls.camera = cls.truth.cameras[1]
        cls.result = planarsfm.reconstruct(cls.camera, cls.matches, cls.keypoints, threads=1)

    def test_same_as_the_command(self):
        model = planarsfm.read_model("arena/out")
        self.assertEqual(list(model.images), self.result.names)
        for name, image in model.images.items():
            ours = self.result.images[name]
            self.assertTrue(ours.posed)
            np.testing.assert_array_equal(ours.q, image.q)
            np.testing.assert_array_equal(ours.t, image.t)
            np.testing.assert_allclose(ours.R @ ours.center + ours.t, 0, atol=1e-12)
        np.testing.assert_array_equal(self.result.models[0].xyz, model.xyz)

    def test_points_planes_edges(self):
        points = self.result.points
        self.assertGreater(len(points.xyz), 200)
        fx, fy, cx, cy = self.camera.params
        for k in (0, len(points.xyz) // 2, len(points.xyz) - 1):
            for e in range(points.track_begin[k], points.track_begin[k + 1]):
                name = self.result.names[points.track_image[e]]
                image = self.result.images[name]
                X = image.R @ points.xyz[k] + image.t
                seen = self.keypoints[name][points.track_keypoint[e]]
                self.assertLess(np.hypot(*(np.array([fx * X[0] / X[2] + cx, fy * X[1] / X[2] + cy]) - seen)), 4.5)
        plane = self.result.planes[0]
        np.testing.assert_allclose(plane.corners @ plane.normal, plane.distance, atol=1e-9)
        self.assertEqual(plane.num_points, np.sum(points.plane == 0))
        edges = self.result.edges
        self.assertEqual(edges["in_tree"].sum(), 11)
        for e in edges[edges["accepted"]]:
            a, b = (self.result.images[self.result.names[e[side]]] for side in ("image1", "image2"))
            R = planarsfm.model.rotation_from_quaternion(e["q"])
            cosine = (np.trace(b.R @ a.R.T @ R.T) - 1) / 2
            self.assertLess(np.degrees(np.arccos(np.clip(cosine, -1, 1))), 5)
        self.assertEqual(self.result.summary["images_posed"], 12)

    def test_covariances(self):
        for name in self.result.names:
            image = self.result.images[name]
            covariance = image.pose_covariance
            if image.rotation_sigma_deg == 0:  # it holds the frame
                self.assertTrue((covariance[:3] == 0).all())
                continue
            np.testing.assert_allclose(covariance, covariance.T, atol=1e-12)
            self.assertGreaterEqual(np.linalg.eigvalsh(covariance).min(), -1e-12)
            told = np.degrees(np.sqrt(np.diag(covariance)[:3]))
            self.assertLess(abs(np.log(np.linalg.norm(told) / image.rotation_sigma_deg)), 1.2, name)

    def test_pixel_matches(self):
        matches = {(a, b): (self.keypoints[a][m[:, 0]], self.keypoints[b][m[:, 1]]) for (a, b), m in self.matches.items()}
        cameras = {name: self.camera for name in self.keypoints}
        result = planarsfm.reconstruct(cameras, matches, threads=2, seed=1)
        scores = planarsfm.evaluate(self.truth, result)
        self.assertEqual(scores["num_registered"], 12)
        self.assertGreater(scores["auc_rotation"][2], 97)

    def test_evaluation_is_the_command_s(self):
        said = json.loads(run("eval", "arena/gt", "arena/out/model", "--json"))
        ours = planarsfm.evaluate(self.truth, planarsfm.read_model("arena/out"))
        for key in ("auc_rotation", "auc_translation", "auc_max", "recall_rotation", "recall_max", "position_median",
                    "position_p90", "position_max"):
            theirs = said[key].values() if isinstance(said[key], dict) else said[key]
            theirs = [theirs] if isinstance(theirs, float) else list(theirs)
            np.testing.assert_allclose(np.atleast_1d(ours[key]), theirs, atol=1e-7, err_msg=key)
        self.assertAlmostEqual(ours["median_rotation_deg"], said["median_rotation_deg"], 9)

    def test_evaluation_of_failures(self):
        images = dict(self.result.images)
        half = dict(list(images.items())[:6])
        scores = planarsfm.evaluate(self.truth, half)
        self.assertEqual(scores["num_registered"], 6)
        self.assertLess(scores["auc_rotation"][-1], 100 * 15 / 66 + 1e-9)  # 15 of 66 pairs are there
        both = planarsfm.evaluate(self.truth, [half, dict(list(images.items())[6:])])
        self.assertAlmostEqual(both["auc_rotation"][-1] / scores["auc_rotation"][-1], 2, 1)
        with self.assertRaises(ValueError):
            planarsfm.evaluate(self.truth, {"nobody": images["cam_0001.jpg"]})
        np.testing.assert_allclose(planarsfm.auc([1, np.inf], [2]), [100 * (0.5 * 0.5 + 0.5) / 2])
        np.testing.assert_array_equal(planarsfm.auc([], [1, 2]), [0, 0])
        np.testing.assert_array_equal(planarsfm.recall([1, 3, 3.5, np.inf], [1, 3.2, 9]), [0, 50, 75])
        np.testing.assert_array_equal(planarsfm.recall([], [1, 2]), [0, 0])

    def test_write_and_read(self):
        self.result.write("written", binary=True)
        self.assertTrue(os.path.exists("written/0/images.bin"))
        again = planarsfm.read_model("written")
        for name, image in again.images.items():
            np.testing.assert_array_equal(image.q, self.result.images[name].q)
        self.assertEqual(repr(again), "Model(1 cameras, 12 images, %d points)" % len(again.xyz))
        track = again.tracks[0]
        image = next(i for i in again.images.values() if i.id == track[0, 0])
        self.assertEqual(image.point_ids[track[0, 1]], again.point_ids[0])

    def test_settings(self):
        paper = planarsfm.reconstruct(self.camera, self.matches, self.keypoints,
                                      settings={"twoview.estimate-essential": True}, mode="paper")
        self.assertEqual(paper.summary["mode"], "paper")
        self.assertEqual(len(paper.points.xyz), 0)
        with self.assertRaises(planarsfm.Error) as caught:
            planarsfm.reconstruct(self.camera, self.matches, self.keypoints, settings={"no.such": 1})
        self.assertEqual(caught.exception.status, "argument")
        self.assertIn("no.such", str(caught.exception))

    def test_a_decimal_comma_changes_nothing(self):
        folder = os.path.join(SCRATCH, "locales")
        os.makedirs(folder)
        subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", folder + "/de_DE.UTF-8"], stderr=subprocess.DEVNULL)
        settings = {"twoview.max-error-px": 2.5, "scale": 12.5}
        planarsfm.reconstruct(self.camera, self.matches, self.keypoints, settings=settings).write("point")
        os.environ["LOCPATH"] = folder
        try:
            locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
        except locale.Error:
            self.skipTest("no locale with a decimal comma can be had")
        try:
            found = planarsfm.reconstruct(self.camera, self.matches, self.keypoints, settings=settings)
            found.write("comma")
            again = planarsfm.read_model("comma")
        finally:
            locale.setlocale(locale.LC_ALL, "C")
            del os.environ["LOCPATH"]
        self.assertEqual(found.summary["options"]["twoview"]["max-error-px"], 2.5)
        for name, image in again.images.items():
            np.testing.assert_array_equal(image.q, found.images[name].q)
        for name in "cameras.txt", "images.txt", "points3D.txt":
            with open("point/0/" + name, "rb") as one, open("comma/0/" + name, "rb") as other:
                self.assertEqual(one.read(), other.read(), name)

    def test_progress_and_cancel(self):
        stages = set()
        planarsfm.reconstruct(self.camera, self.matches, self.keypoints,
                              progress=lambda stage, done, total: stages.add(stage))
        self.assertGreater(len(stages), 1)
        with self.assertRaises(planarsfm.Cancelled):
            planarsfm.reconstruct(self.camera, self.matches, self.keypoints, progress=lambda *_: True)

        def fail(stage, done, total):
            raise KeyError("mine")
        with self.assertRaises(KeyError):
            planarsfm.reconstruct(self.camera, self.matches, self.keypoints, progress=fail)

    def test_bad_input(self):
        with self.assertRaises(ValueError):
            planarsfm.Camera("SPHERE", 10, 10, [1])
        with self.assertRaises(ValueError):
            planarsfm.Camera("PINHOLE", 10, 10, [1])
        with self.assertRaises(planarsfm.Error):  # a negative focal length
            planarsfm.reconstruct(planarsfm.Camera("SIMPLE_PINHOLE", 10, 10, [-1, 5, 5]), self.matches, self.keypoints)
        with self.assertRaises(ValueError):
            planarsfm.reconstruct(self.camera, {("a", "b"): (np.zeros((3, 2)), np.zeros((4, 2)))})
        with self.assertRaises(ValueError):
            planarsfm.reconstruct(self.camera, {("a", "b"): [[0, 0]]}, {"a": np.zeros((1, 2))})
        with self.assertRaises(ValueError):
            planarsfm.reconstruct(self.camera, {("a", "b"): [[0, -1]]}, {"a": np.zeros((1, 2)), "b": np.zeros((1, 2))})
        with self.assertRaises(planarsfm.Error) as caught:
            planarsfm.read_model("nowhere")
        self.assertIn("nowhere", str(caught.exception))
        with self.assertRaisesRegex(ValueError, "there is no image"):
            planarsfm.reconstruct(self.camera, {})

    def test_masked_arrays_are_refused(self):
        """Their masks would be lost without a word."""
        good = np.zeros((5, 2))
        masked = np.ma.masked_array(good, mask=np.eye(5, 2, dtype=bool))
        pair, both = ("a.jpg", "b.jpg"), {"a.jpg": good, "b.jpg": good}
        text = "masked array is not taken"
        self.refuses(TypeError, "keypoints of b.jpg: a " + text, self.camera, {pair: [[0, 0]]}, {**both, "b.jpg": masked})
        self.refuses(TypeError, "b.jpg, matched with a.jpg: a " + text, self.camera, {pair: (good, masked)})
        self.refuses(TypeError, text, self.camera, {pair: list(masked[:2])}, both)
        self.refuses(TypeError, "matches of a.jpg and b.jpg: a " + text, self.camera,
                     {pair: np.ma.masked_array([[0, 0]], mask=[[True, False]])}, both)
        for call in (lambda: planarsfm.auc(masked), lambda: planarsfm.Camera("SIMPLE_PINHOLE", 9, 9, masked[0]),
                     lambda: planarsfm.register(np.ma.zeros((20, 30), np.uint8), "tennis"),
                     lambda: self.camera.project(np.ma.zeros((4, 3))),
                     lambda: planarsfm.fit_similarity(np.ma.zeros((4, 3)), np.zeros((4, 3)))):
            with self.assertRaisesRegex(TypeError, text):
                call()

    def test_nothing_to_evaluate(self):
        images = self.result.images
        for truth, estimate, text in (({}, {}, "truth: there is no image"), ({}, images, "truth: there is no image"),
                                      (images, {}, "estimate: there is no image"), (images, [], "estimate: there is")):
            with self.assertRaisesRegex(ValueError, text):
                planarsfm.evaluate(truth, estimate)
        with self.assertRaisesRegex(ValueError, "images: an empty list"):
            planarsfm.evaluate(images, images, images=[])
        with self.assertRaisesRegex(ValueError, "images: the truth has no nobody"):
            planarsfm.evaluate(images, images, images=["nobody"])

    def test_evaluation_of_subsets_and_images(self):
        names = list(self.truth.images)
        half = {name: self.result.images[name] for name in names[:6]}
        few = planarsfm.evaluate(self.truth, half, images=names[:4])
        self.assertEqual(few["num_images"], 4)
        only = {name: self.truth.images[name] for name in names[:4]}
        for key, value in planarsfm.evaluate(only, half).items():
            np.testing.assert_array_equal(value, few[key])
        table = planarsfm.evaluate_images(self.truth, half)
        self.assertEqual(table["name"].tolist(), names)
        self.assertEqual(table["model"].tolist(), [0] * 6 + [-1] * 6)
        self.assertTrue((table["auc_rotation"][6:] == 0).all() and np.isnan(table["position_error"][6:]).all())
        self.assertLess(table["position_error"][:6].max(), 0.1)
        # each pair is one of two images: the tables agree but for where a curve begins, below its first error
        whole = planarsfm.evaluate(self.truth, half)["auc_rotation"]
        np.testing.assert_allclose(table["auc_rotation"].mean(axis=0), whole, atol=0.2)

    def test_cameras_over_arrays(self):
        rng = np.random.default_rng(0)
        panorama = planarsfm.Camera("EQUIRECTANGULAR", 640, 320, [640, 320])
        for camera in (self.camera, planarsfm.Camera("OPENCV_FISHEYE", 640, 480, [300, 310, 320, 240, .01, .02, 0, 0]),
                       planarsfm.Camera("EUCM", 640, 480, [300, 310, 320, 240, .6, 1.1]),
                       planarsfm.Camera("DIVISION", 640, 480, [300, 310, 320, 240, -.1]),
                       planarsfm.Camera("RAD_TAN_THIN_PRISM_FISHEYE", 640, 480, [300, 310, 320, 240] + 12 * [1e-3]), panorama):
            xy = rng.uniform([0, 0], [camera.width, camera.height], (500, 2))
            rays = camera.unproject(xy)
            np.testing.assert_allclose(np.linalg.norm(rays, axis=1), 1, atol=1e-12)
            np.testing.assert_allclose(camera.project(7 * rays), xy, atol=1e-8)
            np.testing.assert_array_equal(camera.project(rays[3]), camera.project(rays)[3])
        fx, fy, cx, cy = self.camera.params
        np.testing.assert_array_equal(self.camera.K, [[fx, 0, cx], [0, fy, cy], [0, 0, 1]])
        with self.assertRaisesRegex(ValueError, "EQUIRECTANGULAR cameras have no matrix"):
            panorama.K
        X = np.array([0.2, -0.1, 2.0])
        np.testing.assert_allclose((self.camera.K @ X)[:2] / 2, self.camera.project(X))
        self.assertEqual(self.camera.project(np.zeros((0, 3))).shape, (0, 2))
        with self.assertRaisesRegex(ValueError, r"rays: shape \(N, 3\) is wanted, not \(4, 2\)"):
            self.camera.project(np.zeros((4, 2)))

    def test_models_project_their_points(self):
        model = self.result.models[0]
        for name, image in model.images.items():
            place = {int(k): n for n, k in enumerate(model.point_ids)}
            seen = np.flatnonzero(image.point_ids != model.NO_POINT)
            rows = [place[int(k)] for k in image.point_ids[seen]]
            off = np.linalg.norm(model.project(name)[rows] - image.keypoints[seen], axis=1)
            self.assertLess(np.median(off), 1.5)
            np.testing.assert_array_equal(model.project(name, model.xyz[:3]), model.project(name)[:3])

    def test_models_move(self):
        model = self.result.models[0]
        to_truth = model.align(self.truth)
        moved = model.transform(to_truth)
        self.assertLess(planarsfm.evaluate(self.truth, model)["position_median"], 0.05)
        for name, image in moved.images.items():
            self.assertLess(np.linalg.norm(image.center - self.truth.images[name].center), 0.2)
            np.testing.assert_allclose(to_truth.apply(model.images[name].center), image.center, atol=1e-9)
            np.testing.assert_allclose(moved.project(name), model.project(name), atol=1e-6)
        back = moved.transform(to_truth.inverse())
        np.testing.assert_allclose(back.xyz, model.xyz, atol=1e-9)
        places = {name: image.center for name, image in self.truth.images.items()}
        self.assertEqual(model.align(places).scale, to_truth.scale)
        places["cam_0001.jpg"] = [1000, 0, 0]
        self.assertAlmostEqual(model.align(places).scale, to_truth.scale, 2)
        with self.assertRaisesRegex(ValueError, "no image of the model"):
            model.align({"nobody": [0, 0, 0]})
        with self.assertRaises(planarsfm.Error):
            model.align({name: image.center for name, image in list(self.truth.images.items())[:2]})

    def test_models_are_written_from_arrays(self):
        model = self.result.models[0]
        self.result.write("as_result")
        model.write("as_model")
        for name in "cameras.txt", "images.txt", "points3D.txt":
            with open("as_result/0/" + name, "rb") as one, open("as_model/" + name, "rb") as other:
                self.assertEqual(one.read(), other.read(), name)
        lost = planarsfm.Model.read("as_model")
        lost.tracks[0] = np.array([[99, 0]], np.uint32)
        with self.assertRaises(planarsfm.Error):
            lost.write("contradiction")
        self.assertFalse(os.path.exists("contradiction/images.txt"))

    def test_pycolmap(self):
        model = self.result.models[0]
        with unittest.mock.patch.dict(sys.modules, {"pycolmap": None}):
            with self.assertRaisesRegex(ImportError, "needs the package pycolmap"):
                model.to_pycolmap()

        class Reconstruction:
            """Reads the folder that its constructor names, as pycolmap's does."""
            def __init__(self, path):
                self.model = planarsfm.read_model(path)
                self.files = sorted(os.listdir(path))

        stand_in = types.ModuleType("pycolmap")
        stand_in.Reconstruction = Reconstruction
        with unittest.mock.patch.dict(sys.modules, {"pycolmap": stand_in}):
            made = model.to_pycolmap()
        self.assertLessEqual({"cameras.bin", "images.bin", "points3D.bin"}, set(made.files))
        np.testing.assert_array_equal(made.model.xyz, model.xyz)
        self.assertEqual(list(made.model.images), list(model.images))

    def test_rotations(self):
        rng = np.random.default_rng(0)
        for q in [*rng.normal(size=(50, 4)), *np.eye(4), [1e-9, 1, 0, 0]]:
            q = np.array(q) / np.linalg.norm(q)
            R = planarsfm.rotation_from_quaternion(q)
            back = planarsfm.quaternion_from_rotation(R)
            np.testing.assert_allclose(back * np.sign(back @ q), q, atol=1e-12)

    def refuses(self, kind, text, *arguments):
        with self.assertRaises(kind) as caught:
            planarsfm.reconstruct(*arguments)
        self.assertIn(text, str(caught.exception))

    def test_messages_name_the_image(self):
        good, one = np.zeros((5, 2)), [[0, 0]]
        pair, both = ("a.jpg", "b.jpg"), {"a.jpg": good, "b.jpg": good}
        camera = self.camera
        self.refuses(ValueError, "keypoints of b.jpg: pixels of shape (N, 2) are wanted, not (2, 5); is it transposed?",
                     camera, {pair: one}, {"a.jpg": good, "b.jpg": good.T})
        self.refuses(ValueError, "keypoints of b.jpg: pixels of shape (N, 2)", camera, {pair: one},
                     {"a.jpg": good, "b.jpg": np.zeros(7)})
        for wrong in ([["x", "y"]], np.ones((3, 2), complex), np.ones((3, 2), bool), [[None, 1]]):
            self.refuses(TypeError, "keypoints of b.jpg: an array of real numbers", camera, {pair: one},
                         {"a.jpg": good, "b.jpg": wrong})
        self.refuses(ValueError, "keypoints of a.jpg", camera, {pair: one}, {"a.jpg": [[1, 2], [3]], "b.jpg": good})
        self.refuses(ValueError, "row 1 names keypoint 7 of b.jpg, which has 5", camera, {pair: [[0, 0], [1, 7]]}, both)
        self.refuses(TypeError, "matches of a.jpg and b.jpg: whole numbers", camera, {pair: [[0.0, 1.5]]}, both)
        self.refuses(ValueError, "matches of a.jpg and b.jpg: rows of two", camera, {pair: [[0, 1, 2]]}, both)
        self.refuses(ValueError, "matches of a.jpg and b.jpg: two arrays", camera, {pair: good})
        self.refuses(ValueError, "b.jpg, matched with a.jpg: pixels of shape", camera, {pair: (good, np.zeros((5, 3)))})
        self.refuses(ValueError, "matches of a.jpg and b.jpg: 5 and 4", camera, {pair: (good, good[:4])})
        self.refuses(TypeError, "keys are pairs of image names", camera, {"a.jpg": (good, good)})
        self.refuses(ValueError, "a.jpg is matched with itself", camera, {("a.jpg", "a.jpg"): (good, good)})
        self.refuses(ValueError, "b.jpg: no camera is given", {"a.jpg": camera}, {pair: one}, both)
        self.refuses(TypeError, "a.jpg: its camera is a list", {"a.jpg": [1], "b.jpg": camera}, {pair: one}, both)
        with self.assertRaises(TypeError):
            planarsfm.register(np.zeros((20, 30)), "tennis")

    def test_tables(self):
        images = self.result.image_table
        self.assertEqual(list(images["name"]), self.result.names)
        self.assertTrue(images["posed"].all() and (images["num_points"] > 0).all())
        for k, name in enumerate(self.result.names):
            np.testing.assert_array_equal(images["center"][k], self.result.images[name].center)
        poses = self.result.poses
        self.assertEqual(poses["R"].shape, (12, 3, 3))
        np.testing.assert_allclose(np.einsum("nij,nj->ni", poses["R"], poses["center"]), -poses["t"], atol=1e-12)
        self.assertEqual(self.result.camera_table["params"][0].tolist()[:4], self.camera.params.tolist())
        self.assertEqual(self.result.plane_table["num_points"][0], self.result.planes[0].num_points)
        shown = self.result._repr_html_()
        self.assertIn("12 of 12 images posed", shown)
        self.assertIn("<td>cam_0001.jpg</td><td>posed</td>", shown)

    def test_why_not(self):
        result = planarsfm.reconstruct(self.camera, {}, {"a": np.zeros((0, 2)), "b": np.full((3, 2), np.nan)})
        self.assertFalse(result.images["a"].posed)
        self.assertEqual(result.images["a"].state, "no_keypoints")
        self.assertTrue(result.images["b"].advice)
        self.assertTrue(np.isnan(result.image_table["center"]).all())
        self.assertEqual(result.poses["R"].shape, (0, 3, 3))
        self.assertIn("no_keypoints", result._repr_html_())


class TestRegister(unittest.TestCase):
    LINES = [[-8, -5, 8, -5], [-8, 5, 8, 5], [-8, -5, -8, 5], [8, -5, 8, 5], [0, -5, 0, 5], [-8, 2, 0, 2],
             [-5, -5, -5, 2], [3, -5, 3, 5], [3, -1, 8, -1]]

    def photograph(self, R, center, focal, width, height):
        """Gray pixels of the lines on the floor, 10 cm wide, four samples a pixel."""
        total = np.zeros((height, width))
        for du in (0.25, 0.75):
            for dv in (0.25, 0.75):
                u, v = np.meshgrid(np.arange(width) + du, np.arange(height) + dv)
                rays = np.stack([(u - width / 2) / focal, (v - height / 2) / focal, np.ones_like(u)], -1) @ R
                scale = np.where(rays[..., 2] < -1e-3, -center[2] / np.minimum(rays[..., 2], -1e-3), np.inf)
                x, y = center[0] + scale * rays[..., 0], center[1] + scale * rays[..., 1]
                on = np.zeros(x.shape, bool)
                for a, b, c, d in self.LINES:
                    on |= ((x > min(a, c) - 0.05) & (x < max(a, c) + 0.05) & (y > min(b, d) - 0.05)
                           & (y < max(b, d) + 0.05))
                total += np.where(on, 200, 110)
        noise = np.random.default_rng(1).normal(0, 2, total.shape)
        return np.clip(total / 4 + noise, 0, 255).astype(np.uint8)

    def test_register(self):
        center = np.array([-7.0, -13.0, 7.0])
        ahead = np.array([0.5, 0.0, 0.0]) - center
        ahead /= np.linalg.norm(ahead)
        right = np.cross(ahead, [0, 0, 1])
        right /= np.linalg.norm(right)
        R = np.stack([right, np.cross(ahead, right), ahead])
        path = os.path.join(SCRATCH, "floor.json")
        with open(path, "w") as file:
            json.dump({"name": "floor", "paint": "light", "lines": self.LINES}, file)
        pixels = self.photograph(R, center, 800, 960, 540)
        camera = planarsfm.Camera("SIMPLE_PINHOLE", 960, 540, [800, 480, 270])
        found = planarsfm.register(pixels, drawing=path, camera=camera)
        self.assertTrue(found.accepted, found.verdict)
        self.assertEqual(found.num_turns, 1)
        self.assertLess(np.linalg.norm(found.center - center), 0.05)
        self.assertLess(np.abs(found.R - R).max(), 0.003)
        self.assertGreater(found.score, found.runner_up)

    def test_refused(self):
        blank = planarsfm.register(np.full((200, 300), 90, np.uint8), "tennis")
        self.assertFalse(blank.accepted)
        self.assertTrue(blank.verdict)
        self.assertIsNone(blank.R)
        with self.assertRaises(planarsfm.Error):
            planarsfm.register(np.zeros((200, 300), np.uint8), "chess")
        with self.assertRaises(ValueError):
            planarsfm.register(np.zeros(300, np.uint8), "tennis")


class TestRun(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = os.path.join(SCRATCH, "ring")
        run("synth", "field", "-o", cls.folder, "--cameras", "6", "--render.width", "400", "--quiet")
        cls.photos = os.path.join(cls.folder, "images")
        cls.out = os.path.join(SCRATCH, "ring_out")
        stages = set()
        cls.result = planarsfm.run(cls.photos, cls.out, cameras=cls.folder + "/gt", pairs="ring:2",
                                   progress=lambda stage, done, total: stages.add(stage))
        cls.stages = stages

    def test_same_as_the_command(self):
        out = os.path.join(SCRATCH, "ring_command")
        run("run", self.photos, "-o", out, "--cameras", self.folder + "/gt", "--pairs", "ring:2", "--quiet")
        with open(out + "/model/0/images.txt", "rb") as one, open(self.out + "/model/0/images.txt", "rb") as other:
            self.assertEqual(one.read(), other.read())
        self.assertLessEqual({"features", "matching", "refinement"}, self.stages)
        again = planarsfm.read_run(out)
        self.assertEqual(again.names, self.result.names)
        np.testing.assert_array_equal(again.poses["R"], self.result.poses["R"])

    def test_truth(self):
        scores = planarsfm.evaluate(planarsfm.read_model(self.folder + "/gt"), self.result)
        self.assertEqual(scores["num_registered"], 6)
        self.assertLess(scores["median_rotation_deg"], 0.5)

    def test_result(self):
        result = self.result
        self.assertEqual(len(result.names), 6)
        self.assertEqual(result.headline, result.summary["headline"])
        self.assertGreater(len(result.models[0].xyz), 50)
        self.assertEqual(len(result.pairs), 12)
        self.assertEqual(result.pairs["in_tree"].sum(), 5)
        self.assertEqual(result.image_table["num_points"].tolist(),
                         [image["points"] for image in result.summary["images"]])
        plane = result.planes[0]
        np.testing.assert_allclose(plane.corners @ plane.normal, plane.distance, atol=1e-6)
        self.assertIn("6 of 6 images posed", repr(result))

    def test_notebook(self):
        shown = self.result._repr_html_()
        self.assertTrue(shown.startswith("<iframe srcdoc=\"&lt;!"))
        self.assertNotIn('"', shown[len('<iframe srcdoc="'):shown.index('" style=')])
        self.assertTrue(os.path.samefile(self.result.report, self.out + "/report.html"))

    def test_stages(self):
        """One by one they do what the commands do, and leave the same files."""
        ours, theirs = os.path.join(SCRATCH, "stages"), os.path.join(SCRATCH, "stage_commands")
        os.makedirs(ours)
        database = ours + "/database.db"
        facts = planarsfm.extract(self.photos, database, cameras=self.folder + "/gt")
        said = json.loads(run("extract", self.photos, "-o", theirs, "--cameras", self.folder + "/gt", "--json"))
        self.assertEqual(facts, said)
        self.assertEqual(facts["images"], 6)
        facts = planarsfm.match(database, pairs="ring:2", guided_enabled=False)
        said = json.loads(run("match", theirs, "--pairs", "ring:2", "--guided.enabled", "off", "--json"))
        self.assertEqual(facts, said)
        facts = planarsfm.verify(database, geometries=True)
        self.assertEqual(facts["pairs"], 12)
        self.assertGreater(facts["planar"], 5)
        self.assertGreater(facts["inliers"], 30 * facts["planar"])
        db = sqlite3.connect(database)
        kept = db.execute("SELECT count(*), sum(rows) FROM two_view_geometries WHERE rows > 0").fetchone()
        db.close()
        self.assertGreaterEqual(kept[0], facts["planar"])
        with self.assertRaises(planarsfm.Error) as caught:
            planarsfm.match(database, settings={"no.such": 1})
        self.assertIn("no.such", str(caught.exception))
        with self.assertRaises(planarsfm.Error) as caught:
            planarsfm.verify(ours + "/none.db")
        self.assertIn("none.db", str(caught.exception))
        with self.assertRaises(planarsfm.Cancelled):
            planarsfm.verify(database, settings={"twoview.max-error-px": 3}, progress=lambda *_: True)

    def test_convert_align_report(self):
        places = {name: 5 * image.center + [1, 2, 3] for name, image in self.result.models[0].images.items()}
        facts = planarsfm.align(self.out, os.path.join(SCRATCH, "moved"), positions=places, report=False)
        self.assertAlmostEqual(facts["scale"], 5, 6)
        self.assertEqual(facts["used"], 6)
        np.testing.assert_allclose(facts["similarity"].t, [1, 2, 3], atol=1e-6)
        moved = planarsfm.read_model(os.path.join(SCRATCH, "moved"))
        for name, image in moved.images.items():
            np.testing.assert_allclose(image.center, places[name], atol=1e-6)
        self.assertFalse(os.path.exists(os.path.join(SCRATCH, "moved/report.html")))
        self.assertTrue(os.path.exists(planarsfm.report(os.path.join(SCRATCH, "moved"))))
        path = os.path.join(SCRATCH, "positions.txt")
        with open(path, "w") as file:
            file.writelines("%s %.17g %.17g %.17g\n" % (name, *place) for name, place in places.items())
        said = json.loads(run("align", self.out, "-o", os.path.join(SCRATCH, "moved_command"), "--positions", path,
                              "--no-report", "--json"))
        self.assertEqual({key: facts[key] for key in said}, said)
        with self.assertRaises(planarsfm.Error) as caught:
            planarsfm.align(self.out, "unused")
        self.assertIn("is wanted", str(caught.exception))
        with self.assertRaises(ValueError):
            planarsfm.align(self.out, "unused", positions={"a.jpg": [1, 2]})
        ours, theirs = os.path.join(SCRATCH, "ours.json"), os.path.join(SCRATCH, "theirs.json")
        planarsfm.convert(self.out, "transforms.json", ours)
        run("convert", self.out, "--to", "transforms.json", "-o", theirs)
        with open(ours, "rb") as one, open(theirs, "rb") as other:
            self.assertEqual(one.read(), other.read())
        with self.assertRaises(planarsfm.Error) as caught:
            planarsfm.convert(self.out, "betamax", ours)
        self.assertIn("betamax", str(caught.exception))
        with self.assertRaises(planarsfm.Error) as caught:
            planarsfm.report("nowhere")
        self.assertIn("nowhere", str(caught.exception))

    def test_list_of_files_and_a_folder_of_its_own(self):
        files = sorted(os.listdir(self.photos))[:4]
        camera = planarsfm.read_model(self.folder + "/gt").cameras[1]
        result = planarsfm.run([os.path.join(self.photos, name) for name in files], camera=camera,
                               settings={"no_report": True}, sift_max_num_features=1500)
        self.assertEqual(result.names, files)
        self.assertEqual(result.summary["photographs"]["images"], 4)
        self.assertLess(result.summary["photographs"]["features"], 12000)
        self.assertIsNone(result.report)
        self.assertIn("<table>", result._repr_html_())
        folder = result.out
        self.assertTrue(os.path.exists(folder))
        del result
        self.assertFalse(os.path.exists(folder))

    def test_failures(self):
        with self.assertRaises(planarsfm.Error) as caught:
            planarsfm.run("nowhere", os.path.join(SCRATCH, "none"))
        self.assertIn("nowhere", str(caught.exception))
        with self.assertRaises(planarsfm.Error) as caught:
            planarsfm.run(self.photos, settings={"sift.max-num-features": "many"})
        self.assertIn("sift.max-num-features", str(caught.exception))
        with self.assertRaises(FileNotFoundError) as caught:
            planarsfm.run([self.photos + "/absent.jpg"])
        self.assertIn("absent.jpg", str(caught.exception))
        with self.assertRaises(planarsfm.Cancelled):
            planarsfm.run(self.photos, progress=lambda *_: True)
        with self.assertRaises(planarsfm.Error) as caught:
            planarsfm.read_run(self.photos)
        self.assertIn("no results", str(caught.exception))
        other = os.path.join(SCRATCH, "other")
        run("synth", "room", "-o", other, "--cameras", "3", "--render.width", "320", "--quiet")
        with self.assertRaises(planarsfm.Error) as caught:
            planarsfm.run(other + "/images", self.out)
        self.assertIn("--replace", str(caught.exception))


unittest.main(argv=sys.argv[:1] + sys.argv[3:])
