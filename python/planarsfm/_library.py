"""The shared library by ctypes: structs and functions as in include/planarsfm."""
from __future__ import annotations

import ctypes as c
import ctypes.util
import os
from typing import List

MAX_PARAMS = 24
NO_POINT = 2**64 - 1


class Camera(c.Structure):
    _fields_ = [("id", c.c_uint32), ("model", c.c_int), ("width", c.c_uint64), ("height", c.c_uint64),
                ("params", c.c_double * MAX_PARAMS), ("has_prior_focal_length", c.c_bool)]


class ModelImage(c.Structure):
    _fields_ = [("id", c.c_uint32), ("camera_id", c.c_uint32), ("name", c.c_char_p),
                ("q", c.c_double * 4), ("t", c.c_double * 3), ("num_keypoints", c.c_size_t),
                ("keypoints", c.POINTER(c.c_double)), ("point3D_ids", c.POINTER(c.c_uint64))]


class TrackElement(c.Structure):
    _fields_ = [("image_id", c.c_uint32), ("keypoint_idx", c.c_uint32)]


class ModelPoint(c.Structure):
    _fields_ = [("id", c.c_uint64), ("xyz", c.c_double * 3), ("rgb", c.c_uint8 * 3), ("error", c.c_double),
                ("track_length", c.c_size_t), ("track", c.POINTER(TrackElement))]


class Model(c.Structure):
    _fields_ = [("cameras", c.POINTER(Camera)), ("num_cameras", c.c_size_t),
                ("images", c.POINTER(ModelImage)), ("num_images", c.c_size_t),
                ("points", c.POINTER(ModelPoint)), ("num_points", c.c_size_t)]


class Sim3(c.Structure):
    _fields_ = [("scale", c.c_double), ("R", c.c_double * 9), ("t", c.c_double * 3)]


class ImageResult(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("image_id", c.c_uint32), ("model", c.c_int32),
                ("name", c.c_char_p), ("state", c.c_char_p), ("advice", c.c_char_p),
                ("q", c.c_double * 4), ("t", c.c_double * 3), ("center", c.c_double * 3),
                ("num_points", c.c_uint32), ("mean_error_px", c.c_double),
                ("rotation_sigma_deg", c.c_double), ("center_sigma", c.c_double),
                ("probability", c.c_double), ("pose_covariance", c.c_double * 36)]


class EdgeResult(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("image_id1", c.c_uint32), ("image_id2", c.c_uint32),
                ("num_planes", c.c_uint32), ("num_inliers", c.c_uint32), ("is_accepted", c.c_bool),
                ("is_in_tree", c.c_bool), ("embedding", c.c_double), ("residual_deg", c.c_double),
                ("q", c.c_double * 4), ("t", c.c_double * 3)]


class PlaneResult(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("normal", c.c_double * 3), ("distance", c.c_double),
                ("sigma", c.c_double), ("area", c.c_double), ("num_points", c.c_uint32),
                ("num_corners", c.c_uint32), ("model", c.c_int32), ("corners", c.POINTER(c.c_double))]


class PointsResult(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("num_points", c.c_size_t), ("xyz", c.POINTER(c.c_double)),
                ("error_px", c.POINTER(c.c_double)), ("model", c.POINTER(c.c_int32)),
                ("plane", c.POINTER(c.c_int32)), ("track_begin", c.POINTER(c.c_uint64)),
                ("track_image_id", c.POINTER(c.c_uint32)), ("track_keypoint", c.POINTER(c.c_uint32))]


class Photograph(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("width", c.c_int), ("height", c.c_int), ("channels", c.c_int),
                ("pixels", c.POINTER(c.c_uint8)), ("camera", c.POINTER(Camera))]


class Registration(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("is_accepted", c.c_bool), ("verdict", c.c_char_p),
                ("q", c.c_double * 4), ("t", c.c_double * 3), ("center", c.c_double * 3), ("num_turns", c.c_int),
                ("camera", Camera), ("rotation_sigma_deg", c.c_double), ("center_sigma", c.c_double * 3),
                ("focal_sigma", c.c_double), ("score", c.c_double), ("runner_up", c.c_double),
                ("num_lines", c.c_int), ("confirmed", c.c_double), ("rms_px", c.c_double),
                ("size", c.c_double * 2), ("size_sigma", c.c_double * 2),
                ("distortion_sigma", c.c_double)]


class AlignRequest(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("positions", c.c_char_p), ("geo_positions", c.c_char_p),
                ("exif", c.c_char_p), ("gcp", c.c_char_p), ("court", c.c_char_p), ("court_points", c.c_char_p),
                ("court_size", c.c_char_p), ("images", c.c_char_p), ("distance", c.c_char_p * 3),
                ("upright", c.c_bool), ("opencv_pixels", c.c_bool), ("planes", c.c_char_p), ("no_report", c.c_bool)]


_P = c.c_void_p


class MatchedPoints(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("num", c.c_size_t), ("xy1", _P), ("xy2", _P),
                ("camera1", c.POINTER(Camera)), ("camera2", c.POINTER(Camera))]


class HomographyOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("max_error_px", c.c_double), ("min_inliers", c.c_int),
                ("min_area", c.c_double), ("max_iterations", c.c_int)]


class PlaneMotion(c.Structure):
    _fields_ = [("R_21", c.c_double * 9), ("t_21", c.c_double * 3), ("n1", c.c_double * 3), ("n2", c.c_double * 3),
                ("d2_over_d1", c.c_double)]


class Graph(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("num_nodes", c.c_uint32), ("num_edges", c.c_uint32), ("edges", _P),
                ("weight", _P)]


class Csr(c.Structure):
    _fields_ = [("n", c.c_uint32), ("row_begin", _P), ("col", _P), ("value", _P)]


class ConfidenceOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("rotation_bandwidth_deg", c.c_double), ("floor", c.c_double),
                ("inlier_power", c.c_double)]


class SimilaritySettings(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("normal_bandwidth_rad", c.c_double), ("self", c.c_double),
                ("floor", c.c_double)]


class AveragingOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("loss", c.c_int), ("l1_iterations", c.c_int), ("max_iterations", c.c_int),
                ("tolerance_deg", c.c_double), ("max_scale_deg", c.c_double), ("min_scale_deg", c.c_double)]


class EdgeCandidates(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("begin", _P), ("R_21", _P), ("confidence", _P), ("sigma_rad", _P)]


class LudSettings(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("rounds", c.c_int), ("angle_deg", c.c_double),
                ("max_iterations", c.c_int), ("tolerance", c.c_double)]


class BundleScene(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("num_cameras", c.c_size_t), ("cameras", c.POINTER(Camera)),
                ("num_images", c.c_size_t), ("image_camera", _P), ("cam_from_world", _P), ("centers", _P),
                ("image_fixed", _P), ("num_points", c.c_size_t), ("points", _P), ("point_fixed", _P),
                ("point_plane", _P), ("num_planes", c.c_size_t), ("planes", _P), ("num_observations", c.c_size_t),
                ("obs_image", _P), ("obs_point", _P), ("obs_xy", _P), ("obs_sqrt_info", _P)]


class AdjustOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("loss", c.c_int), ("loss_scale_px", c.c_double), ("planes", c.c_int),
                ("plane_sigma_px", c.c_double), ("refine", c.c_int), ("solver", c.c_int), ("max_iterations", c.c_int),
                ("tolerance", c.c_double), ("converged", c.c_double), ("min_observations", c.c_int)]


class AdjustResult(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("initial_cost", c.c_double), ("final_cost", c.c_double),
                ("iterations", c.c_int), ("converged", c.c_bool), ("initial_mean_px", c.c_double),
                ("mean_px", c.c_double), ("rms_px", c.c_double), ("num_observations", c.c_size_t),
                ("num_points", c.c_size_t)]


class ResectOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("max_error_px", c.c_double), ("min_inliers", c.c_int)]


class ResectResult(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("found", c.c_bool), ("cam_from_world", c.c_double * 9),
                ("center", c.c_double * 3), ("num_inliers", c.c_size_t), ("rms_px", c.c_double)]


class TriangulationOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("max_error_px", c.c_double), ("min_angle_deg", c.c_double)]


class MatchedImages(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("num_cameras", c.c_size_t), ("cameras", c.POINTER(Camera)),
                ("camera_known", _P), ("num_images", c.c_size_t), ("image_camera", _P), ("keypoint_begin", _P),
                ("keypoints", _P), ("num_pairs", c.c_size_t), ("pairs", _P), ("match_begin", _P), ("matches", _P)]


class CalibrationOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("max_error_px", c.c_double), ("max_sigma", c.c_double),
                ("distortion", c.c_int)]


LOG = c.CFUNCTYPE(None, c.c_int, c.c_char_p, c.c_void_p)
PROGRESS = c.CFUNCTYPE(c.c_int, c.c_char_p, c.c_size_t, c.c_size_t, c.c_void_p)

_SIGNATURES = {
    "psfm_version": (c.c_char_p, []),
    "psfm_status_name": (c.c_char_p, [c.c_int]),
    "psfm_context_create": (_P, []),
    "psfm_context_destroy": (None, [c.POINTER(_P)]),
    "psfm_context_message": (c.c_char_p, [_P]),
    "psfm_context_set_threads": (None, [_P, c.c_int]),
    "psfm_context_set_seed": (None, [_P, c.c_uint64]),
    "psfm_context_set_progress": (None, [_P, PROGRESS, _P]),
    "psfm_context_set_log": (None, [_P, LOG, _P]),
    "psfm_camera_num_params": (c.c_int, [c.c_int]),
    "psfm_camera_model_name": (c.c_char_p, [c.c_int]),
    "psfm_camera_model_from_name": (c.c_bool, [c.c_char_p, c.POINTER(c.c_int)]),
    "psfm_camera_matrix": (c.c_bool, [c.POINTER(Camera), _P]),
    "psfm_camera_project_points": (None, [c.POINTER(Camera), c.c_size_t, _P, _P]),
    "psfm_camera_unproject_points": (None, [c.POINTER(Camera), c.c_size_t, _P, _P]),
    "psfm_sim3_fit_robust": (c.c_int, [_P, c.c_size_t, _P, _P, c.POINTER(Sim3)]),
    "psfm_settings_create": (_P, []),
    "psfm_settings_destroy": (None, [c.POINTER(_P)]),
    "psfm_settings_set": (c.c_int, [_P, _P, c.c_char_p, c.c_char_p]),
    "psfm_run_settings_create": (_P, []),
    "psfm_run_settings_destroy": (None, [c.POINTER(_P)]),
    "psfm_run_settings_set": (c.c_int, [_P, _P, c.c_char_p, c.c_char_p]),
    "psfm_run_photographs": (c.c_int, [_P, c.c_char_p, _P, c.c_char_p]),
    "psfm_text_free": (None, [c.POINTER(_P)]),
    "psfm_extract_features": (c.c_int, [_P, c.c_char_p, c.c_char_p, _P, c.POINTER(_P)]),
    "psfm_match_features": (c.c_int, [_P, c.c_char_p, _P, c.POINTER(_P)]),
    "psfm_verify_matches": (c.c_int, [_P, c.c_char_p, _P, c.POINTER(_P)]),
    "psfm_convert_model": (c.c_int, [_P, c.c_char_p, c.c_char_p, c.c_char_p, c.c_char_p, c.c_char_p]),
    "psfm_make_report": (c.c_int, [_P, c.c_char_p, c.c_char_p]),
    "psfm_align_model": (c.c_int, [_P, c.c_char_p, c.POINTER(AlignRequest), c.c_char_p, c.POINTER(_P)]),
    "psfm_problem_create": (_P, []),
    "psfm_problem_destroy": (None, [c.POINTER(_P)]),
    "psfm_problem_add_camera": (c.c_int, [_P, _P, c.POINTER(Camera)]),
    "psfm_problem_add_image": (c.c_int, [_P, _P, c.c_uint32, c.c_uint32, c.c_char_p, c.c_size_t, _P]),
    "psfm_problem_add_matches": (c.c_int, [_P, _P, c.c_uint32, c.c_uint32, c.c_size_t, _P]),
    "psfm_register_photograph": (c.c_int, [_P, c.POINTER(Photograph), _P, c.POINTER(Registration)]),
    "psfm_solve": (c.c_int, [_P, _P, _P, c.POINTER(_P)]),
    "psfm_result_destroy": (None, [c.POINTER(_P)]),
    "psfm_result_num_images": (c.c_size_t, [_P]),
    "psfm_result_num_models": (c.c_size_t, [_P]),
    "psfm_result_num_edges": (c.c_size_t, [_P]),
    "psfm_result_num_planes": (c.c_size_t, [_P]),
    "psfm_result_image": (c.c_bool, [_P, c.c_size_t, c.POINTER(ImageResult)]),
    "psfm_result_edge": (c.c_bool, [_P, c.c_size_t, c.POINTER(EdgeResult)]),
    "psfm_result_plane": (c.c_bool, [_P, c.c_size_t, c.POINTER(PlaneResult)]),
    "psfm_result_points": (c.c_bool, [_P, c.POINTER(PointsResult)]),
    "psfm_result_model": (c.POINTER(Model), [_P, c.c_size_t]),
    "psfm_result_summary": (c.c_char_p, [_P]),
    "psfm_model_read": (c.c_int, [_P, c.c_char_p, c.POINTER(Model)]),
    "psfm_model_write": (c.c_int, [_P, c.POINTER(Model), c.c_int, c.c_char_p]),
    "psfm_find_homographies": (c.c_int, [_P, c.POINTER(MatchedPoints), c.POINTER(HomographyOptions), c.c_size_t, _P, _P,
                                         c.POINTER(c.c_size_t)]),
    "psfm_decompose_homography": (c.c_int, [_P, _P, c.c_size_t, _P, _P, c.POINTER(PlaneMotion), c.POINTER(c.c_size_t)]),
    "psfm_graph_components": (c.c_int, [_P, c.POINTER(Graph), _P, c.POINTER(c.c_uint32)]),
    "psfm_min_range_tree": (c.c_int, [_P, c.POINTER(Graph), _P, _P]),
    "psfm_biconnected_extension": (c.c_int, [_P, c.POINTER(Graph), _P, _P, _P, _P, _P]),
    "psfm_extend_rigidly": (c.c_int, [_P, c.POINTER(Graph), _P]),
    "psfm_find_rigid_components": (c.c_int, [_P, c.POINTER(Graph), _P, c.POINTER(c.c_uint32), c.POINTER(c.c_uint64)]),
    "psfm_csr_free": (None, [c.POINTER(Csr)]),
    "psfm_embed_similarity": (c.c_int, [_P, c.POINTER(Csr), _P, _P]),
    "psfm_multigraph_create": (_P, [c.c_uint32]),
    "psfm_multigraph_destroy": (None, [c.POINTER(_P)]),
    "psfm_multigraph_add_edge": (c.c_int, [_P, _P, c.c_uint32, c.c_uint32, _P]),
    "psfm_multigraph_add_homography": (c.c_int, [_P, _P, c.c_size_t, c.POINTER(PlaneMotion), c.c_size_t, _P]),
    "psfm_multigraph_num_edges": (c.c_uint32, [_P]),
    "psfm_multigraph_num_hypotheses": (c.c_uint32, [_P]),
    "psfm_multigraph_edges": (c.c_int, [_P, _P, _P]),
    "psfm_multigraph_hypotheses": (c.c_int, [_P, _P, _P, _P, c.POINTER(PlaneMotion), _P]),
    "psfm_multigraph_set_weights": (c.c_int, [_P, _P, _P]),
    "psfm_confidence": (c.c_int, [_P, _P, c.POINTER(ConfidenceOptions)]),
    "psfm_similarity": (c.c_int, [_P, _P, c.POINTER(SimilaritySettings), c.POINTER(Csr)]),
    "psfm_relative_poses": (c.c_int, [_P, _P, _P, _P]),
    "psfm_propagate_rotations": (c.c_int, [_P, c.POINTER(Graph), _P, c.c_uint32, _P, c.c_uint32, _P, _P]),
    "psfm_chordal_rotations": (c.c_int, [_P, c.POINTER(Graph), _P, _P]),
    "psfm_average_rotations": (c.c_int, [_P, c.POINTER(Graph), _P, c.POINTER(AveragingOptions), _P, _P, _P]),
    "psfm_find_rotation_consensus": (c.c_int, [_P, c.POINTER(Graph), c.POINTER(EdgeCandidates), _P, _P,
                                               c.POINTER(c.c_uint32)]),
    "psfm_lud_positions": (c.c_int, [_P, c.POINTER(Graph), _P, c.POINTER(LudSettings), _P, _P]),
    "psfm_adjust_bundle": (c.c_int, [_P, c.POINTER(BundleScene), c.POINTER(AdjustOptions), _P,
                                     c.POINTER(AdjustResult)]),
    "psfm_reprojection_errors": (c.c_int, [_P, c.POINTER(BundleScene), _P]),
    "psfm_bundle_covariance": (c.c_int, [_P, c.POINTER(BundleScene), c.POINTER(AdjustOptions), c.c_bool, _P,
                                         c.POINTER(c.c_double)]),
    "psfm_find_p3p_poses": (c.c_int, [_P, _P, _P, _P, _P, c.POINTER(c.c_size_t)]),
    "psfm_resect_image": (c.c_int, [_P, c.POINTER(Camera), c.c_size_t, _P, _P, c.POINTER(ResectOptions), _P,
                                    c.POINTER(ResectResult)]),
    "psfm_triangulate_scene": (c.c_int, [_P, c.POINTER(BundleScene), c.POINTER(TriangulationOptions), _P, _P]),
    "psfm_calibrate_cameras": (c.c_int, [_P, c.POINTER(MatchedImages), c.POINTER(CalibrationOptions), _P, _P]),
    "psfm_model_free": (None, [c.POINTER(Model)]),
}


def _candidates() -> List[str]:
    """Where the library may be: told by the environment, in the build folder of the sources this file
    is in, with this module (a wheel), installed beside it, or where the system looks."""
    if "PLANARSFM_LIBRARY" in os.environ:
        return [os.environ["PLANARSFM_LIBRARY"]]
    here = os.path.dirname(os.path.abspath(__file__))
    found = [os.path.join(here, "../../build/libplanarsfm.so")]
    for folder in (".", "../../..", "../../../x86_64-linux-gnu", "../../../aarch64-linux-gnu"):
        found.append(os.path.join(here, folder, "libplanarsfm.so.0"))
    found = [path for path in found if os.path.exists(path)]
    return found + [ctypes.util.find_library("planarsfm") or "libplanarsfm.so.0"]


def _load() -> c.CDLL:
    for path in _candidates():
        try:
            library = c.CDLL(path)
            break
        except OSError as error:
            reason = error
    else:
        raise ImportError("libplanarsfm.so is not found (set PLANARSFM_LIBRARY to its path): %s" % reason)
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


lib = _load()
