/* A scene to hand to COLMAP: cameras on a ring about a cloud of points, exact projections. */
#ifndef PSFM_TEST_SCENE_UTIL_H
#define PSFM_TEST_SCENE_UTIL_H

#include "unit/formats/database_util.h"

#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "planarsfm/model.h"

enum { SCENE_VIEWS = 6, SCENE_POINTS = 120 };

/* Rotation of camera i: it stands at angle i * 20 degrees, 6 from the centre, and looks there. */
static inline void scene_pose(size_t i, double R[9], double center[3]) {
    double angle = psfm_radians(20.0 * (double)i);
    center[0] = 6.0 * sin(angle);
    center[1] = 0.3 * sin(3.0 * angle);
    center[2] = -6.0 * cos(angle);
    double w[3] = {0.0, angle, 0.0}; /* turns the view direction (0, 0, 1) inwards */
    psfm_rotation_exp(w, R);
}

/* All points in all views; keypoint k of every view is point k. `flat` puts them on one plane. */
static inline void make_scene(psfm_match_set *set, bool flat) {
    psfm_rng rng = psfm_rng_make(9, PSFM_RNG_TEST, flat, 0);
    make_set(set, SCENE_VIEWS, SCENE_POINTS);
    set->cameras[0] = (psfm_camera){3, PSFM_CAMERA_PINHOLE, 800, 600, {700, 720, 410, 290}, true};
    set->cameras[1] =
        (psfm_camera){8, PSFM_CAMERA_SIMPLE_RADIAL, 800, 600, {690, 400, 300, -0.02}, true};
    for (size_t k = 0; k < SCENE_POINTS; ++k) {
        double X[3] = {psfm_rng_range(&rng, -1.5, 1.5), psfm_rng_range(&rng, -1.5, 1.5),
                       psfm_rng_range(&rng, -1.5, 1.5)};
        if (flat)
            X[2] = 0.3 * X[1] - 0.2 * X[0];
        for (size_t i = 0; i < SCENE_VIEWS; ++i) {
            double R[9], center[3], ray[3], difference[3];
            scene_pose(i, R, center);
            for (int c = 0; c < 3; ++c)
                difference[c] = X[c] - center[c];
            psfm_mat3_mul_vec(R, difference, ray);
            psfm_view *view = &set->views[i];
            assert_true(
                psfm_camera_project(&set->cameras[view->camera_idx], ray, view->keypoints[k]));
        }
    }
    for (size_t p = 0; p < set->num_pairs; ++p)
        for (uint32_t k = 0; k < SCENE_POINTS; ++k)
            set->pairs[p].matches[k][0] = set->pairs[p].matches[k][1] = k;
    assert_int_equal(psfm_match_set_compute_rays(NULL, set, NULL), PSFM_OK);
}

/* Largest error of a relative rotation of the model, in degrees. */
static inline double worst_rotation_deg(const psfm_model *model) {
    double worst = 0.0;
    for (size_t i = 0; i < model->num_images; ++i)
        for (size_t j = i + 1; j < model->num_images; ++j) {
            double Ri[9], Rj[9], Ti[9], Tj[9], center[3], R[9], T[9];
            psfm_rotation_from_quat(model->images[i].cam_from_world_q, Ri);
            psfm_rotation_from_quat(model->images[j].cam_from_world_q, Rj);
            scene_pose((model->images[i].id - 1) / 2, Ti, center);
            scene_pose((model->images[j].id - 1) / 2, Tj, center);
            psfm_mat3_mul_t(Rj, Ri, R);
            psfm_mat3_mul_t(Tj, Ti, T);
            worst = fmax(worst, psfm_degrees(psfm_rotation_angle(R, T)));
        }
    return worst;
}

/* Runs COLMAP's mapper on FOLDER/d.db with the intrinsics fixed; the model is in FOLDER/out/0. */
static inline void run_mapper(const char *folder) {
    char path[MAX_PATH];
    join(path, folder, "out");
    mkdir(path, 0777);
    assert_true(run_colmap(folder, "mapper --database_path d.db --image_path . --output_path out "
                                   "--Mapper.extract_colors 0 --Mapper.ba_refine_focal_length 0 "
                                   "--Mapper.ba_refine_extra_params 0 --Mapper.min_model_size 3 "
                                   "--Mapper.num_threads 1"));
}

#endif
