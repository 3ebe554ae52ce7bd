"""COLMAP models as numpy arrays."""
from __future__ import annotations

import ctypes as c
import importlib
import os
import tempfile
from typing import Any, Dict, List, Mapping, Sequence

import numpy as np

from . import _library, checks
from ._library import lib
from .camera import Camera
from .context import Context
from .similarity import Similarity, fit_similarity

NO_POINT = np.uint64(_library.NO_POINT)


def rotation_from_quaternion(q: Any) -> np.ndarray:
    """3 x 3 rotation of (w, x, y, z), which need not be normalised.

    >>> planarsfm.rotation_from_quaternion([1, 0, 0, 1]).round(9)[0]
    array([ 0., -1.,  0.])
    """
    q = checks.array(q, (4,), "quaternion")
    w, x, y, z = q / np.linalg.norm(q)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])


def quaternion_from_rotation(R: Any) -> np.ndarray:
    """(w, x, y, z) of a 3 x 3 rotation, with w >= 0.

    >>> planarsfm.quaternion_from_rotation(np.diag([1, -1, -1]))
    array([0., 1., 0., 0.])
    """
    R = checks.array(R, (3, 3), "R")
    # the four squares; the largest component is found by its own, the others by products with it
    four = 1 + np.array([R[0, 0] + R[1, 1] + R[2, 2], R[0, 0] - R[1, 1] - R[2, 2],
                         R[1, 1] - R[0, 0] - R[2, 2], R[2, 2] - R[0, 0] - R[1, 1]])
    products = np.array([
        [0, R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
        [0, 0, R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
        [0, 0, 0, R[1, 2] + R[2, 1]],
        [0, 0, 0, 0]])
    k = int(np.argmax(four))
    q = (products + products.T + np.diag(four))[k]
    q = q / np.linalg.norm(q)
    return np.where(q == 0, 0.0, -q if q[0] < 0 else q)


def look_at(center: Any, target: Any, up: Any = (0, 0, 1)) -> np.ndarray:
    """The rotation R (3 x 3) of a camera at `center` that looks at `target` with `up` upwards in the image.

    >>> planarsfm.look_at([0, -5, 0], [0, 0, 0])
    array([[ 1.,  0.,  0.],
           [ 0.,  0., -1.],
           [ 0.,  1.,  0.]])
    """
    ahead = checks.array(target, (3,), "target") - checks.array(center, (3,), "center")
    right = np.cross(ahead, checks.array(up, (3,), "up"))
    if not np.linalg.norm(right) > 0:
        raise ValueError("up: a direction across the view is wanted")
    ahead, right = ahead / np.linalg.norm(ahead), right / np.linalg.norm(right)
    return np.array([right, np.cross(ahead, right), ahead]) + 0.0


class Image:
    """An image and its pose: X_cam = R X_world + t (R 3 x 3, t in units of the model); q is R as (w, x, y, z),
    center is -R^T t. keypoints (N x 2, pixels) and point_ids (N; Model.NO_POINT for none).

    >>> planarsfm.Image(1, "a.jpg", 1, [1, 0, 0, 0], [0, 0, 5]).center
    array([ 0.,  0., -5.])
    """

    def __init__(self, image_id: int, name: str, camera_id: int, q: Any, t: Any) -> None:
        self.id, self.name, self.camera_id = image_id, name, camera_id
        self.q, self.t = np.array(q, float), np.array(t, float)
        self.R = rotation_from_quaternion(self.q)
        self.center = -self.R.T @ self.t
        self.keypoints = np.zeros((0, 2))
        self.point_ids = np.zeros(0, dtype=np.uint64)

    def __repr__(self) -> str:
        return "Image(%r, center=%s)" % (self.name, np.array2string(self.center, precision=4))


def array(pointer: Any, shape: tuple, dtype: Any) -> np.ndarray:
    """A copy of C memory."""
    if int(np.prod(shape)) == 0:
        return np.zeros(shape, dtype)
    return np.ctypeslib.as_array(pointer, shape).astype(dtype, copy=True)


def _records(pointer: Any, count: int, *fields: tuple) -> np.ndarray:
    """A view of an array of C structs as a numpy record array of some of their fields."""
    struct = pointer._type_
    dtype = np.dtype({"names": [f[0] for f in fields], "formats": [(f[1], f[2]) for f in fields],
                      "offsets": [getattr(struct, f[0]).offset for f in fields], "itemsize": c.sizeof(struct)})
    if count == 0:
        return np.zeros(0, dtype)
    buffer = (c.c_char * (count * c.sizeof(struct))).from_address(c.addressof(pointer.contents))
    return np.frombuffer(buffer, dtype)


def _centers(known: Any) -> Dict[str, np.ndarray]:
    """Places by image name: of a Model, a Result, or a dict of images or of places."""
    images = getattr(known, "images", known)
    if not isinstance(images, Mapping):
        raise TypeError("to: a model, or a dict from image names to places, is wanted, not a %s" % type(known).__name__)
    return {name: checks.array(getattr(image, "center", image), (3,), "place of %s" % name)
            for name, image in images.items() if getattr(image, "posed", True)}


class Model:
    """cameras by id, images by name, and points as arrays: point_ids (N), xyz (N x 3), rgb (N x 3, uint8), error
    (pixels, negative if unknown), tracks (list of M x 2 arrays: image id, index of a keypoint).

    >>> camera = planarsfm.Camera("SIMPLE_PINHOLE", 640, 480, [500, 320, 240])
    >>> image = planarsfm.Image(1, "a.jpg", 1, [1, 0, 0, 0], [0, 0, 5])
    >>> model = planarsfm.Model({1: camera}, [image], xyz=[[0, 0, 0], [1, 0, 0]])
    >>> model.project("a.jpg")
    array([[320., 240.],
           [420., 240.]])
    """

    NO_POINT = NO_POINT

    def __init__(self, cameras: Mapping[int, Camera], images: Sequence[Image], point_ids: Any = None, xyz: Any = (),
                 rgb: Any = None, error: Any = None, tracks: Any = None) -> None:
        self.cameras: Dict[int, Camera] = dict(cameras)
        self.images: Dict[str, Image] = {image.name: image for image in images}
        self.xyz = checks.array(xyz, (-1, 3), "xyz")
        n = len(self.xyz)
        self.point_ids = np.arange(1, n + 1, dtype=np.uint64) if point_ids is None else np.array(point_ids, np.uint64)
        self.rgb = np.zeros((n, 3), np.uint8) if rgb is None else np.array(rgb, np.uint8).reshape(n, 3)
        self.error = np.full(n, -1.0) if error is None else checks.array(error, (n,), "error")
        self.tracks: List[np.ndarray] = [np.zeros((0, 2), np.uint32)] * n if tracks is None else list(tracks)

    @classmethod
    def _from_c(cls, model: Any) -> Model:
        images = []
        for m in model.images[:model.num_images]:
            image = Image(m.id, m.name.decode(errors="surrogateescape"), m.camera_id, m.q[:], m.t[:])
            if m.num_keypoints > 0:
                image.keypoints = array(m.keypoints, (m.num_keypoints, 2), float)
                image.point_ids = array(m.point3D_ids, (m.num_keypoints,), np.uint64)
            images.append(image)
        points = _records(model.points, model.num_points, ("id", np.uint64, ()), ("xyz", float, (3,)),
                          ("rgb", np.uint8, (3,)), ("error", float, ()), ("track_length", np.uint64, ()),
                          ("track", np.uintp, ()))
        size = c.sizeof(_library.TrackElement)
        tracks = [np.frombuffer(c.string_at(int(at), int(n) * size), np.uint32).reshape(-1, 2)
                  for at, n in zip(points["track"], points["track_length"])]
        return cls({m.id: Camera._from_c(m) for m in model.cameras[:model.num_cameras]}, images, points["id"],
                   points["xyz"], points["rgb"], points["error"], tracks)

    @classmethod
    def read(cls, folder: Any) -> Model:
        """Reads a COLMAP model, text or binary; of the OUT folder of a run the largest one.

        >>> planarsfm.Model({}, []).write("empty")
        >>> planarsfm.Model.read("empty")
        Model(0 cameras, 0 images, 0 points)
        """
        folder = os.fspath(folder)
        for inside in ("", "0", os.path.join("model", "0")):
            path = os.path.join(folder, inside) if inside else folder
            if any(os.path.exists(os.path.join(path, "cameras" + suffix)) for suffix in (".bin", ".txt")):
                folder = path
                break
        model = _library.Model()
        with Context() as context:
            context.check(lib.psfm_model_read(context.handle, os.fsencode(folder), c.byref(model)))
            try:
                return cls._from_c(model)
            finally:
                lib.psfm_model_free(c.byref(model))

    def write(self, folder: Any, binary: bool = False) -> None:
        """Writes cameras, images and points3D (COLMAP text or binary) into a folder, which is made if need be. What
        contradicts itself (a track of an image that is not there) raises Error, and nothing is written."""
        model, _kept = self._to_c()
        with Context() as context:
            context.check(lib.psfm_model_write(context.handle, c.byref(model), int(binary), os.fsencode(folder)))

    def _to_c(self) -> tuple:
        """The model as C structs, and the arrays that these point into."""
        kept: List[Any] = []

        def point_to(values: Any, dtype: Any, to: Any) -> Any:
            kept.append(np.ascontiguousarray(values, dtype))
            return kept[-1].ctypes.data_as(c.POINTER(to))

        cameras = [self.cameras[k]._to_c(k) for k in sorted(self.cameras)]
        images = [_library.ModelImage(
            m.id, m.camera_id, str(m.name).encode(errors="surrogateescape"), tuple(m.q), tuple(m.t), len(m.keypoints),
            point_to(m.keypoints, float, c.c_double), point_to(m.point_ids, np.uint64, c.c_uint64))
            for m in sorted(self.images.values(), key=lambda image: image.id)]
        points = [_library.ModelPoint(
            int(self.point_ids[k]), tuple(self.xyz[k]), tuple(int(v) for v in self.rgb[k]), self.error[k],
            len(self.tracks[k]), point_to(self.tracks[k], np.uint32, _library.TrackElement))
            for k in np.argsort(self.point_ids, kind="stable")]
        blocks = [(kind * len(items))(*items) for kind, items in (
            (_library.Camera, cameras), (_library.ModelImage, images), (_library.ModelPoint, points))]
        return _library.Model(blocks[0], len(cameras), blocks[1], len(images), blocks[2], len(points)), (kept, blocks)

    def project(self, name: str, points: Any = None) -> np.ndarray:
        """Pixels (N x 2) in the image of this name: of points of the world (N x 3), or of all points of the model.
        NaN where a point has no image; whether something hides it, or it is outside the photograph, is not asked."""
        image = self.images[name]
        xyz = self.xyz if points is None else checks.array(points, (-1, 3), "points")
        return self.cameras[image.camera_id].project(xyz @ image.R.T + image.t)

    def transform(self, similarity: Similarity) -> Model:
        """The same model in another frame: X becomes scale R X + t. Arrays that do not change are shared.

        >>> image = planarsfm.Image(1, "a.jpg", 1, [1, 0, 0, 0], [0, 0, 5])
        >>> twice = planarsfm.Model({}, [image]).transform(planarsfm.Similarity(2, np.eye(3), [0, 0, 1]))
        >>> twice.images["a.jpg"].center
        array([ 0.,  0., -9.])
        """
        moved = []
        for image in self.images.values():
            R = image.R @ similarity.R.T
            t = similarity.scale * image.t - R @ similarity.t
            copy = Image(image.id, image.name, image.camera_id, quaternion_from_rotation(R), t)
            copy.keypoints, copy.point_ids = image.keypoints, image.point_ids
            moved.append(copy)
        return Model(self.cameras, moved, self.point_ids, similarity.apply(self.xyz), self.rgb, self.error, self.tracks)

    def align(self, to: Any) -> Similarity:
        """The similarity that takes this model's frame to another one's, for `transform`: by the camera centres of
        the images that both have. `to` is a Model, a Result, or a dict from image names to places (x, y, z). Robust:
        up to 40 % of the places may be wrong. Raises Error if the centres are fewer than three or on a line.

        >>> images = [planarsfm.Image(k, "%d.jpg" % k, 1, [1, 0, 0, 0], np.eye(4)[k, :3]) for k in range(4)]
        >>> model = planarsfm.Model({}, images)
        >>> places = {name: 10 * image.center for name, image in model.images.items()}
        >>> round(model.align(places).scale, 9)
        10.0
        """
        known = _centers(to)
        names = [name for name in self.images if name in known]
        if not names:
            raise ValueError("to: no image of the model is in it")
        return fit_similarity([self.images[name].center for name in names], [known[name] for name in names])

    def to_pycolmap(self) -> Any:
        """The model as a pycolmap.Reconstruction. Raises ImportError if pycolmap is not installed."""
        try:
            pycolmap = importlib.import_module("pycolmap")
        except ImportError:
            raise ImportError("to_pycolmap needs the package pycolmap, which is not installed; `write` makes files "
                              "that it reads") from None
        with tempfile.TemporaryDirectory(prefix="planarsfm-") as folder:  # a format that all its versions read
            self.write(folder, binary=True)
            return pycolmap.Reconstruction(folder)

    def __repr__(self) -> str:
        return "Model(%d cameras, %d images, %d points)" % (len(self.cameras), len(self.images), len(self.xyz))


def read_model(folder: Any) -> Model:
    """`Model.read`: a COLMAP model, text or binary; of the OUT folder of a run the largest one.

    >>> planarsfm.read_model("gt")
    Model(1 cameras, 6 images, ... points)
    """
    return Model.read(folder)
