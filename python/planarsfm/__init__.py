"""Camera poses from photographs of flat things.

    import planarsfm
    camera = planarsfm.Camera("PINHOLE", 1280, 720, [1200, 1200, 640, 360])
    result = planarsfm.reconstruct(camera, {("a", "b"): (points_in_a, points_in_b), ...})
    result.images["a"].center

    result = planarsfm.run("photos", "out")     # from photographs; in a notebook it shows its report
    result.poses["center"], result.image_table

Arrays are numpy's. A pose is camera from world: X_cam = R X_world + t. Pixels are COLMAP's: the centre of
the first pixel is (0.5, 0.5). See docs/python.md.
"""
from . import bundle, calibration, court, graph, homography, position, rotation
from ._library import lib as _lib
from .camera import Camera
from .context import Cancelled, Error
from .court import Registration, register
from .evaluate import auc, evaluate, evaluate_images, recall
from .model import (Image, Model, look_at, quaternion_from_rotation, read_model, rotation_from_quaternion)
from .photographs import Run, read_run, run
from .similarity import Similarity, fit_similarity
from .solve import Result, reconstruct
from .stages import align, convert, extract, match, report, verify

__version__ = _lib.psfm_version().decode()
__all__ = ["Camera", "Cancelled", "Error", "Image", "Model", "Registration", "Result", "Run", "Similarity", "align",
           "auc", "bundle", "calibration", "convert", "court", "evaluate", "evaluate_images", "extract",
           "fit_similarity", "graph", "homography", "look_at", "match", "position", "quaternion_from_rotation",
           "read_model", "read_run", "recall", "reconstruct", "register", "report", "rotation",
           "rotation_from_quaternion", "run", "verify"]
