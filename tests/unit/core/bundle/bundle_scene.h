/* A small scene for the tests of bundle adjustment, covariance and resection: cameras in a ring
 * that look at points near the origin, on a plane, two planes or in space. */
#ifndef PSFM_TEST_BUNDLE_SCENE_H
#define PSFM_TEST_BUNDLE_SCENE_H

#include "test_util.h"

#include "core/base/rng.h"
#include "core/bundle/bundle.h"
#include "core/camera/camera_model.h"
#include "core/linalg/mat3.h"

enum { SCENE_MAX_IMAGES = 16, SCENE_MAX_POINTS = 400 };

typedef struct {
    size_t num_images, num_points, num_cameras;
    psfm_camera_model model;
    double noise_px;
    double visible;  /* share of the points that an image sees */
    int num_planes;  /* points k % num_planes; 0: in space */
    double bumps;    /* how far the points of plane 0 are off it */
    bool from_above; /* cameras look down, but for some degrees, instead of standing in a ring */
    uint64_t seed;
} scene_options;

/* What tests of intrinsics look at: two cameras, five images each, noise of half a pixel. */
static const scene_options scene_of_two_cameras = {.num_images = 10,
                                                   .num_points = 200,
                                                   .num_cameras = 2,
                                                   .model = PSFM_CAMERA_PINHOLE,
                                                   .noise_px = 0.5,
                                                   .visible = 0.8,
                                                   .seed = 4};

typedef struct {
    psfm_bundle_problem problem;
    psfm_camera cameras[SCENE_MAX_IMAGES];
    uint32_t image_camera[SCENE_MAX_IMAGES];
    double R[SCENE_MAX_IMAGES][9], c[SCENE_MAX_IMAGES][3];
    double points[SCENE_MAX_POINTS][3];
    int32_t point_plane[SCENE_MAX_POINTS];
    psfm_bundle_plane planes[2];
    uint32_t obs_image[SCENE_MAX_IMAGES * SCENE_MAX_POINTS];
    uint32_t obs_point[SCENE_MAX_IMAGES * SCENE_MAX_POINTS];
    double obs_xy[SCENE_MAX_IMAGES * SCENE_MAX_POINTS][2];
    double true_R[SCENE_MAX_IMAGES][9], true_c[SCENE_MAX_IMAGES][3];
    double true_points[SCENE_MAX_POINTS][3];
    psfm_bundle_plane true_planes[2];
} scene;

/* Sets the parameters at these indices, 0 for those that a model has not. */
static inline void scene_set(psfm_camera *camera, int num, const int *index, const double *value) {
    for (int k = 0; k < num; ++k)
        if (index[k] != 0)
            camera->params[index[k]] = value[k];
}

/* A camera of the model with a moderate distortion, 1280 x 720. */
static inline psfm_camera scene_camera(psfm_camera_model model) {
    const psfm_camera_model_info *info = psfm_camera_model_get(model);
    psfm_camera camera = {.id = 1, .model = model, .width = 1280, .height = 720};
    camera.params[0] = 1000;
    if (info->focal[1] != 0)
        camera.params[info->focal[1]] = 1010;
    scene_set(&camera, 2, info->center, (const double[]){640, 360});
    scene_set(&camera, 6, info->radial,
              info->is_fisheye ? (const double[]){0.05, -0.01, 0.002, -0.001, 4e-4, -1e-4}
                               : (const double[]){-0.1, 0.02, 0.003, 0, 0, 0});
    scene_set(&camera, 3, info->denominator, (const double[]){0.01, 0.005, 0.001});
    scene_set(&camera, 2, info->tangential, (const double[]){0.001, -0.002});
    scene_set(&camera, 4, info->prism, (const double[]){0.001, -0.0005, 0.0003, -0.0002});
    scene_set(&camera, 1, &info->omega, (const double[]){0.7});
    scene_set(&camera, 1, &info->division, (const double[]){-0.1});
    scene_set(&camera, 2, info->unified, (const double[]){0.5, 1.1});
    return camera;
}

/* Rotation of a camera at c that looks at `at`, x to the right of the world's z up. */
static inline void scene_look_at(const double c[3], const double at[3], double R[9]) {
    double up[3] = {0, 0, 1};
    psfm_sub3(at, c, R + 6);
    psfm_normalize3(R + 6);
    psfm_cross3(R + 6, up, R);
    psfm_normalize3(R);
    psfm_cross3(R + 6, R, R + 3);
}

static inline void scene_make_point(scene *s, size_t k, int num_planes, double bumps,
                                    psfm_rng *rng) {
    double a = psfm_rng_range(rng, -3, 3), b = psfm_rng_range(rng, -3, 3), *X = s->true_points[k];
    int plane = num_planes == 0 ? -1 : (int)(k % (size_t)num_planes);
    s->point_plane[k] = plane;
    X[0] = a;
    X[1] = b;
    X[2] = plane == 0 ? 0.5 : psfm_rng_range(rng, -2, 2);
    if (plane == 1)
        X[1] = 3.0 + 0.2 * X[2];
    if (plane == 0 && bumps > 0.0)
        X[2] += bumps * psfm_rng_normal(rng);
}

static inline void scene_make(const scene_options *o, scene *s) {
    psfm_rng rng = psfm_rng_make(o->seed, PSFM_RNG_TEST, 7, 0);
    memset(s, 0, sizeof *s);
    s->true_planes[0] = (psfm_bundle_plane){.normal = {0, 0, 1}, .distance = 0.5};
    double n[3] = {0, 1, -0.2}, length = psfm_normalize3(n);
    s->true_planes[1] = (psfm_bundle_plane){.normal = {n[0], n[1], n[2]}, .distance = 3.0 / length};
    for (size_t k = 0; k < o->num_points; ++k)
        scene_make_point(s, k, o->num_planes, o->bumps, &rng);
    for (size_t k = 0; k < o->num_cameras; ++k)
        s->cameras[k] = scene_camera(o->model);
    size_t num_obs = 0;
    for (size_t i = 0; i < o->num_images; ++i) {
        double angle = 1.9 * 3.14159265358979 * (double)i / (double)o->num_images;
        double c[3] = {9 * cos(angle), 9 * sin(angle), 3.5 + sin(2 * angle)};
        double at[3] = {psfm_rng_range(&rng, -0.5, 0.5), psfm_rng_range(&rng, -0.5, 0.5), 0};
        if (o->from_above) {
            c[0] *= 0.2;
            c[1] *= 0.2;
            c[2] = 9.0;
            at[0] += c[0];
            at[1] += c[1];
        }
        memcpy(s->true_c[i], c, sizeof c);
        scene_look_at(c, at, s->true_R[i]);
        s->image_camera[i] = (uint32_t)(i % o->num_cameras);
        for (size_t k = 0; k < o->num_points; ++k) {
            double D[3], Y[3];
            psfm_sub3(s->true_points[k], c, D);
            psfm_mat3_mul_vec(s->true_R[i], D, Y);
            if (psfm_rng_uniform(&rng) >= o->visible ||
                !psfm_camera_project(&s->cameras[s->image_camera[i]], Y, s->obs_xy[num_obs]))
                continue;
            s->obs_xy[num_obs][0] += o->noise_px * psfm_rng_normal(&rng);
            s->obs_xy[num_obs][1] += o->noise_px * psfm_rng_normal(&rng);
            s->obs_image[num_obs] = (uint32_t)i;
            s->obs_point[num_obs++] = (uint32_t)k;
        }
    }
    memcpy(s->R, s->true_R, sizeof s->R);
    memcpy(s->c, s->true_c, sizeof s->c);
    memcpy(s->points, s->true_points, sizeof s->points);
    memcpy(s->planes, s->true_planes, sizeof s->planes);
    s->problem = (psfm_bundle_problem){.num_cameras = o->num_cameras,
                                       .cameras = s->cameras,
                                       .num_images = o->num_images,
                                       .image_camera = s->image_camera,
                                       .cam_from_world = s->R,
                                       .centers = s->c,
                                       .num_points = o->num_points,
                                       .points = s->points,
                                       .point_plane = s->point_plane,
                                       .num_planes = 2,
                                       .planes = s->planes,
                                       .num_observations = num_obs,
                                       .obs_image = s->obs_image,
                                       .obs_point = s->obs_point,
                                       .obs_xy = (const double(*)[2])s->obs_xy};
}

/* Moves poses by about `angle` radians and `shift` units, points and planes by `shift`. Images
 * `fixed` (a mask) stay. */
static inline void scene_perturb(scene *s, uint64_t seed, double angle, double shift,
                                 const bool *fixed) {
    psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 8, 0);
    for (size_t i = 0; i < s->problem.num_images; ++i) {
        double w[3], E[9], R[9], d[3];
        for (int k = 0; k < 3; ++k) {
            w[k] = angle * psfm_rng_normal(&rng);
            d[k] = shift * psfm_rng_normal(&rng);
        }
        if (fixed != NULL && fixed[i])
            continue;
        psfm_rotation_exp(w, E);
        psfm_mat3_mul(E, s->R[i], R);
        memcpy(s->R[i], R, sizeof R);
        psfm_axpy3(s->c[i], 1.0, d, s->c[i]);
    }
    for (size_t k = 0; k < s->problem.num_points; ++k)
        for (int a = 0; a < 3; ++a)
            s->points[k][a] += shift * psfm_rng_normal(&rng);
    for (int k = 0; k < 2; ++k) {
        for (int a = 0; a < 3; ++a)
            s->planes[k].normal[a] += 0.1 * shift * psfm_rng_normal(&rng);
        psfm_normalize3(s->planes[k].normal);
        s->planes[k].distance += shift * psfm_rng_normal(&rng);
    }
}

#endif
