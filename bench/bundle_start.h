/* A bundle adjustment problem from a synthetic scene: true tracks, noisy pixels, moved start. */
#ifndef PSFM_BENCH_BUNDLE_START_H
#define PSFM_BENCH_BUNDLE_START_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "core/bundle/bundle.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "synth/scene.h"

typedef struct {
    psfm_scene scene;
    psfm_bundle_problem problem;
    uint32_t *image_camera, *obs_image, *obs_point;
    double (*R)[9], (*c)[3], (*points)[3], (*obs_xy)[2];
    int32_t *point_plane;
    psfm_bundle_plane *planes;
} bundle_start;

static inline void bench_check(psfm_context *ctx, psfm_status status) {
    if (status == PSFM_OK)
        return;
    fprintf(stderr, "%s: %s\n", psfm_status_name(status), psfm_context_message(ctx));
    exit(1);
}

/* Processor seconds of this process. */
static inline double bench_cpu(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec +
           (double)usage.ru_stime.tv_sec + 1e-6 * (double)usage.ru_stime.tv_usec;
}

static inline void *bench_alloc(psfm_context *ctx, size_t count, size_t size) {
    void *memory;
    bench_check(ctx, psfm_alloc(ctx, count, size, &memory));
    return memory;
}

static inline void bundle_start_free(bundle_start *s) {
    free(s->image_camera);
    free(s->obs_image);
    free(s->obs_point);
    free(s->R);
    free(s->c);
    free(s->points);
    free(s->obs_xy);
    free(s->point_plane);
    free(s->planes);
    psfm_scene_free(&s->scene);
}

/* Takes the points that a single image sees out of the truth. */
static inline void drop_short_tracks(psfm_scene *scene) {
    psfm_model *truth = &scene->truth;
    size_t kept = 0;
    for (size_t k = 0; k < truth->num_points; ++k) {
        psfm_model_point *point = &truth->points[k];
        if (point->track_length >= 2) {
            scene->point_plane[kept] = scene->point_plane[k];
            truth->points[kept++] = *point;
            continue;
        }
        for (size_t e = 0; e < point->track_length; ++e)
            truth->images[point->track[e].image_id - 1].point3D_ids[point->track[e].keypoint_idx] =
                PSFM_NO_POINT; /* images have the ids 1, 2, ... */
        free(point->track);
    }
    truth->num_points = kept;
}

static inline void copy_observations(bundle_start *s) {
    const psfm_model *truth = &s->scene.truth;
    size_t o = 0;
    for (size_t i = 0; i < truth->num_images; ++i) {
        const psfm_model_image *image = &truth->images[i];
        for (size_t k = 0; k < image->num_keypoints; ++k) {
            if (image->point3D_ids[k] == PSFM_NO_POINT)
                continue;
            size_t low = 0, high = truth->num_points; /* points are sorted by id */
            while (high - low > 1) {
                size_t middle = (low + high) / 2;
                if (truth->points[middle].id <= image->point3D_ids[k])
                    low = middle;
                else
                    high = middle;
            }
            s->obs_image[o] = (uint32_t)i;
            s->obs_point[o] = (uint32_t)low;
            memcpy(s->obs_xy[o++], image->keypoints[k], sizeof *s->obs_xy);
        }
    }
    s->problem.num_observations = o;
}

/* Least squares plane of the true points with this index. */
static inline void fit_plane(const bundle_start *s, int plane, psfm_bundle_plane *out) {
    double mean[3] = {0}, C[9] = {0}, w[3], V[9], num = 0.0;
    for (int pass = 0; pass < 2; ++pass)
        for (size_t k = 0; k < s->problem.num_points; ++k) {
            if (s->point_plane[k] != plane)
                continue;
            const double *X = s->scene.truth.points[k].xyz;
            double D[3] = {X[0] - mean[0], X[1] - mean[1], X[2] - mean[2]};
            for (int r = 0; pass == 1 && r < 3; ++r)
                for (int c = 0; c < 3; ++c)
                    C[3 * r + c] += D[r] * D[c];
            if (pass == 0) {
                num += 1.0;
                psfm_axpy3(mean, 1.0 / num, D, mean);
            }
        }
    psfm_mat3_eigen_symmetric(C, w, V);
    *out = (psfm_bundle_plane){.normal = {V[0], V[3], V[6]},
                               .distance = V[0] * mean[0] + V[3] * mean[1] + V[6] * mean[2]};
}

/* Makes the scene and copies truth into the problem. */
static inline void bundle_start_make(psfm_context *ctx, psfm_scene_kind kind, uint64_t seed,
                                     const psfm_scene_options *options, bundle_start *s) {
    memset(s, 0, sizeof *s);
    bench_check(ctx, psfm_scene_make(ctx, kind, seed, options, &s->scene));
    drop_short_tracks(&s->scene);
    const psfm_model *truth = &s->scene.truth;
    size_t num_obs = 0;
    for (size_t k = 0; k < truth->num_points; ++k)
        num_obs += truth->points[k].track_length;
    s->image_camera = bench_alloc(ctx, truth->num_images, sizeof *s->image_camera);
    s->R = bench_alloc(ctx, truth->num_images, sizeof *s->R);
    s->c = bench_alloc(ctx, truth->num_images, sizeof *s->c);
    s->points = bench_alloc(ctx, truth->num_points, sizeof *s->points);
    s->point_plane = bench_alloc(ctx, truth->num_points, sizeof *s->point_plane);
    s->obs_image = bench_alloc(ctx, num_obs, sizeof *s->obs_image);
    s->obs_point = bench_alloc(ctx, num_obs, sizeof *s->obs_point);
    s->obs_xy = bench_alloc(ctx, num_obs, sizeof *s->obs_xy);
    for (size_t i = 0; i < truth->num_images; ++i) {
        psfm_rotation_from_quat(truth->images[i].cam_from_world_q, s->R[i]);
        psfm_model_image_center(&truth->images[i], s->c[i]);
    }
    int num_planes = 0;
    for (size_t k = 0; k < truth->num_points; ++k) {
        memcpy(s->points[k], truth->points[k].xyz, sizeof *s->points);
        s->point_plane[k] = s->scene.point_plane[k];
        num_planes = s->point_plane[k] >= num_planes ? s->point_plane[k] + 1 : num_planes;
    }
    s->planes = bench_alloc(ctx, (size_t)num_planes, sizeof *s->planes);
    s->problem = (psfm_bundle_problem){.num_cameras = truth->num_cameras,
                                       .cameras = truth->cameras,
                                       .num_images = truth->num_images,
                                       .image_camera = s->image_camera,
                                       .cam_from_world = s->R,
                                       .centers = s->c,
                                       .num_points = truth->num_points,
                                       .points = s->points,
                                       .point_plane = s->point_plane,
                                       .num_planes = (size_t)num_planes,
                                       .planes = s->planes,
                                       .obs_image = s->obs_image,
                                       .obs_point = s->obs_point,
                                       .obs_xy = (const double(*)[2])s->obs_xy};
    copy_observations(s);
    for (int k = 0; k < num_planes; ++k)
        fit_plane(s, k, &s->planes[k]);
}

/* Turns poses by `angle_deg` and moves them and the points by `shift` metres, per axis. */
static inline void bundle_start_move(bundle_start *s, uint64_t seed, double angle_deg,
                                     double shift) {
    psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_BENCH, 1, 0);
    for (size_t i = 0; i < s->problem.num_images; ++i) {
        double w[3], E[9], R[9];
        for (int k = 0; k < 3; ++k) {
            w[k] = psfm_radians(angle_deg) * psfm_rng_normal(&rng);
            s->c[i][k] += shift * psfm_rng_normal(&rng);
        }
        psfm_rotation_exp(w, E);
        psfm_mat3_mul(E, s->R[i], R);
        memcpy(s->R[i], R, sizeof R);
    }
    for (size_t k = 0; k < s->problem.num_points; ++k)
        for (int a = 0; a < 3; ++a)
            s->points[k][a] += shift * psfm_rng_normal(&rng);
    for (size_t k = 0; k < s->problem.num_planes; ++k) {
        double tilt[3];
        for (int a = 0; a < 3; ++a)
            tilt[a] = 0.01 * psfm_rng_normal(&rng);
        psfm_axpy3(s->planes[k].normal, 1.0, tilt, s->planes[k].normal);
        psfm_normalize3(s->planes[k].normal);
        s->planes[k].distance += shift * psfm_rng_normal(&rng);
    }
}

#endif
