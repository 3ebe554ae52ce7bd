/* The front of planarsfm/structure.h.
 *
 * Observations of a scene come in any order; they are sorted by point once, so that the points,
 * each with a random stream of its own, can be found in parallel. */
#include "planarsfm/structure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/base/public_input.h"
#include "core/linalg/mat3.h"
#include "core/structure/resection.h"
#include "core/structure/triangulate.h"
#include "core/structure/triangulate_point.h"

#define POINTS_PER_TASK 256

/* ---- poses ---- */

psfm_status psfm_find_p3p_poses(psfm_context *ctx, const double *rays, const double *points,
                                double *cam_from_world, double *centers, size_t *num_poses) {
    double unit[3][3], at[3][3];
    psfm_status status;
    if ((status = PSFM_REQUIRE(ctx, ctx)) || (status = PSFM_REQUIRE(ctx, rays)) ||
        (status = PSFM_REQUIRE(ctx, points)) || (status = PSFM_REQUIRE(ctx, cam_from_world)) ||
        (status = PSFM_REQUIRE(ctx, centers)) || (status = PSFM_REQUIRE(ctx, num_poses)) ||
        (status = psfm_require_finite(ctx, rays, 9, "rays")) ||
        (status = psfm_require_finite(ctx, points, 9, "points")))
        return status;
    memcpy(unit, rays, sizeof unit);
    memcpy(at, points, sizeof at);
    for (int k = 0; k < 3; ++k)
        psfm_normalize3(unit[k]);
    *num_poses = (size_t)psfm_p3p((const double(*)[3])unit, (const double(*)[3])at,
                                  (double(*)[9])cam_from_world, (double(*)[3])centers);
    return PSFM_OK;
}

static psfm_status take_resect_options(psfm_context *ctx, const psfm_resect_options *given,
                                       psfm_resection_options *o) {
    psfm_resect_options known;
    psfm_status status = psfm_take_input(ctx, given, &known, sizeof known);
    psfm_options_init(&psfm_resection_option_table, o);
    o->max_error_px = psfm_value_or(known.max_error_px, o->max_error_px);
    o->min_inliers = psfm_int_or(known.min_inliers, o->min_inliers);
    if (status == PSFM_OK && o->min_inliers < 4)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%d inliers do not make a pose", o->min_inliers);
    return status == PSFM_OK ? psfm_options_check(ctx, &psfm_resection_option_table, o) : status;
}

psfm_status psfm_resect_image(psfm_context *ctx, const psfm_camera *camera, size_t num,
                              const double *xy, const double *points,
                              const psfm_resect_options *options, bool *inlier,
                              psfm_resect_result *result) {
    psfm_resection_options o;
    psfm_resection made;
    psfm_status status;
    if ((status = PSFM_REQUIRE(ctx, ctx)) || (status = PSFM_REQUIRE(ctx, camera)) ||
        (status = psfm_camera_check(ctx, camera)) || (status = PSFM_REQUIRE_ARRAY(ctx, xy, num)) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, points, num)) || (status = PSFM_REQUIRE(ctx, result)) ||
        (status = take_resect_options(ctx, options, &o)))
        return status;
    psfm_seen_points seen = {camera, num, (const double(*)[2])xy, (const double(*)[3])points};
    status = psfm_resection_estimate(ctx, &seen, 0, &o, &made, inlier);
    if (status != PSFM_OK)
        return status;
    psfm_resect_result out = {.struct_size = sizeof out,
                              .found = made.found,
                              .num_inliers = made.num_inliers,
                              .rms_px = made.rms_px};
    if (made.found) {
        memcpy(out.cam_from_world, made.cam_from_world, sizeof out.cam_from_world);
        memcpy(out.center, made.center, sizeof out.center);
    }
    psfm_give_output(&out, result);
    return PSFM_OK;
}

/* ---- points ---- */

typedef struct {
    psfm_bundle_scene scene;
    psfm_triangulate_options options;
    size_t *begin, *order; /* observations of point k: order[begin[k] .. begin[k + 1]) */
    double (*ray)[3], (*px_from_ray)[6]; /* per observation; ray 0: none */
    psfm_ray_observation **scratch;      /* per worker */
    uint64_t seed;
    bool *found, *inlier;
} triangulation;

static psfm_status check_observations(psfm_context *ctx, const psfm_bundle_scene *s) {
    for (size_t k = 0; k < s->num_cameras; ++k) {
        psfm_status status = psfm_camera_check(ctx, &s->cameras[k]);
        if (status != PSFM_OK)
            return status;
    }
    for (size_t k = 0; k < s->num_images; ++k)
        if (s->image_camera[k] >= s->num_cameras)
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "image %zu: camera %u of %zu", k,
                             s->image_camera[k], s->num_cameras);
    for (size_t k = 0; k < s->num_observations; ++k)
        if (s->obs_image[k] >= s->num_images || s->obs_point[k] >= s->num_points)
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                             "observation %zu is of image %u and point %u, of %zu and %zu", k,
                             s->obs_image[k], s->obs_point[k], s->num_images, s->num_points);
    psfm_status status =
        psfm_require_finite(ctx, s->cam_from_world, 9 * s->num_images, "cam_from_world");
    return status == PSFM_OK ? psfm_require_finite(ctx, s->centers, 3 * s->num_images, "centers")
                             : status;
}

static psfm_status take_scene(psfm_context *ctx, const psfm_bundle_scene *given,
                              psfm_bundle_scene *s) {
    psfm_status status;
    if ((status = PSFM_REQUIRE(ctx, ctx)) || (status = PSFM_REQUIRE(ctx, given)) ||
        (status = psfm_take_input(ctx, given, s, sizeof *s)) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, s->cameras, s->num_cameras)) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, s->image_camera, s->num_images)) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, s->cam_from_world, s->num_images)) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, s->centers, s->num_images)) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, s->points, s->num_points)) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, s->obs_image, s->num_observations)) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, s->obs_point, s->num_observations)) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, s->obs_xy, s->num_observations)))
        return status;
    return check_observations(ctx, s);
}

static psfm_status take_options(psfm_context *ctx, const psfm_triangulation_options *given,
                                psfm_triangulate_options *o) {
    psfm_triangulation_options known;
    psfm_status status = psfm_take_input(ctx, given, &known, sizeof known);
    psfm_options_init(&psfm_triangulate_option_table, o);
    o->max_error_px = psfm_value_or(known.max_error_px, o->max_error_px);
    o->min_angle_deg =
        known.min_angle_deg < 0.0 ? 0.0 : psfm_value_or(known.min_angle_deg, o->min_angle_deg);
    return status == PSFM_OK ? psfm_options_check(ctx, &psfm_triangulate_option_table, o) : status;
}

/* Sorts the observations by their points; those of one point stay in order. */
static void sort_by_point(triangulation *t) {
    const psfm_bundle_scene *s = &t->scene;
    for (size_t k = 0; k < s->num_observations; ++k)
        ++t->begin[s->obs_point[k] + 1];
    for (size_t k = 0; k < s->num_points; ++k)
        t->begin[k + 1] += t->begin[k];
    for (size_t k = s->num_observations; k-- > 0;)
        t->order[--t->begin[s->obs_point[k] + 1]] = k;
    /* begin[k + 1] is where point k starts now. */
    for (size_t k = 0; k < s->num_points; ++k)
        t->begin[k] = t->begin[k + 1];
    t->begin[s->num_points] = s->num_observations;
}

static void compute_rays(triangulation *t) {
    const psfm_bundle_scene *s = &t->scene;
    for (size_t k = 0; k < s->num_observations; ++k) {
        const psfm_camera *camera = &s->cameras[s->image_camera[s->obs_image[k]]];
        double xy[2];
        if (!psfm_camera_unproject(camera, s->obs_xy + 2 * k, t->ray[k]) ||
            !psfm_camera_project_jacobian(camera, t->ray[k], xy, t->px_from_ray[k]))
            memset(t->ray[k], 0, sizeof t->ray[k]);
    }
}

static psfm_status prepare_triangulation(psfm_context *ctx, triangulation *t, int num_workers) {
    size_t n = t->scene.num_observations, longest = 1;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, t->scene.num_points + 1, &t->begin)) ||
        (status = PSFM_ALLOC(ctx, n, &t->order)) || (status = PSFM_ALLOC(ctx, n, &t->ray)) ||
        (status = PSFM_ALLOC(ctx, n, &t->px_from_ray)) ||
        (status = psfm_alloc(ctx, (size_t)num_workers, sizeof *t->scratch, &t->scratch)))
        return status;
    sort_by_point(t);
    compute_rays(t);
    for (size_t k = 0; k < t->scene.num_points; ++k)
        if (t->begin[k + 1] - t->begin[k] > longest)
            longest = t->begin[k + 1] - t->begin[k];
    for (int w = 0; status == PSFM_OK && w < num_workers; ++w)
        status = PSFM_ALLOC(ctx, longest, &t->scratch[w]);
    return status;
}

static void free_triangulation(triangulation *t, int num_workers) {
    for (int w = 0; t->scratch != NULL && w < num_workers; ++w)
        free(t->scratch[w]);
    free(t->scratch);
    free(t->begin);
    free(t->order);
    free(t->ray);
    free(t->px_from_ray);
}

static void find_point(const triangulation *t, size_t point, psfm_ray_observation *list) {
    const psfm_bundle_scene *s = &t->scene;
    psfm_rng rng = psfm_rng_make(t->seed, PSFM_RNG_TRIANGULATE, point, 0);
    psfm_triangulated_point made;
    size_t num = 0;
    for (size_t k = t->begin[point]; k < t->begin[point + 1]; ++k) {
        size_t o = t->order[k], image = s->obs_image[o];
        if (psfm_dot3(t->ray[o], t->ray[o]) == 0.0)
            continue;
        list[num] = (psfm_ray_observation){.element = o,
                                           .camera = &s->cameras[s->image_camera[image]],
                                           .R = s->cam_from_world + 9 * image,
                                           .c = s->centers + 3 * image,
                                           .ray = t->ray[o],
                                           .px_from_ray = t->px_from_ray[o],
                                           .xy = s->obs_xy + 2 * o};
        psfm_mat3_tmul_vec(list[num].R, list[num].ray, list[num].direction);
        ++num;
    }
    t->found[point] =
        psfm_triangulate_point(list, num, 2, t->options.max_error_px, t->options.min_angle_deg,
                               &rng, &made) == PSFM_POINT_FOUND;
    if (t->found[point])
        memcpy(s->points + 3 * point, made.X, sizeof made.X);
    for (size_t k = 0; t->inlier != NULL && k < num; ++k)
        t->inlier[list[k].element] = t->found[point] && list[k].inlier;
}

static psfm_status find_points(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx;
    const triangulation *t = user;
    size_t last = (index + 1) * POINTS_PER_TASK;
    for (size_t k = index * POINTS_PER_TASK; k < last && k < t->scene.num_points; ++k)
        find_point(t, k, t->scratch[worker]);
    return PSFM_OK;
}

psfm_status psfm_triangulate_scene(psfm_context *ctx, const psfm_bundle_scene *scene,
                                   const psfm_triangulation_options *options, bool *found,
                                   bool *inlier) {
    triangulation t = {.found = found, .inlier = inlier};
    psfm_status status;
    if ((status = take_scene(ctx, scene, &t.scene)) ||
        (status = take_options(ctx, options, &t.options)) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, found, t.scene.num_points)))
        return status;
    size_t num_tasks = (t.scene.num_points + POINTS_PER_TASK - 1) / POINTS_PER_TASK;
    int num_workers = psfm_parallel_workers(ctx, num_tasks);
    t.seed = psfm_context_seed(ctx);
    status = prepare_triangulation(ctx, &t, num_workers);
    if (status == PSFM_OK && inlier != NULL)
        memset(inlier, 0, t.scene.num_observations * sizeof *inlier);
    if (status == PSFM_OK)
        status = psfm_parallel_for(ctx, NULL, num_tasks, find_points, &t);
    free_triangulation(&t, num_workers);
    return status;
}
