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
from ._library import lib as _lib
from .court import Registration, register
from .evaluate import auc, evaluate, recall
from .model import Camera, Image, Model, read_model
from .photographs import Run, read_run, run
from .solve import Cancelled, Error, Result, reconstruct

__version__ = _lib.psfm_version().decode()
__all__ = ["Camera", "Cancelled", "Error", "Image", "Model", "Registration", "Result", "Run", "auc", "evaluate",
           "read_model", "read_run", "recall", "reconstruct", "register", "run"]
