/* What a set of matches can give at best: an adjustment that starts at the true poses, from the
 * right matches only.
 *
 *   build/bench/bench_limit [--flat x|y|z] DATABASE GT OUT [START]
 *
 * GT is the true model of a synthetic scene, whose keypoints are those of the database and know the
 * point they show; a match is right if both show the same. Writes the adjusted poses as a COLMAP
 * model to OUT, for `planarsfm eval GT OUT`, and prints the cost. With START, a model of the same
 * images, the same observations are adjusted from its poses instead: where that ends no higher and
 * no nearer to the truth, no better start would have helped. With --flat the points whose true
 * coordinate is 0 are known to be on one plane (y for a facade, z for fields and arenas), and
 * pulled to it as `reconstruct` does it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/bundle/bundle.h"
#include "core/linalg/mat3.h"
#include "core/structure/planes.h"
#include "core/structure/triangulate.h"
#include "formats/colmap_model.h"
#include "store/colmap_database.h"

static void check(psfm_context *ctx, psfm_status status) {
    if (status == PSFM_OK)
        return;
    fprintf(stderr, "bench_limit: %s\n", psfm_context_message(ctx));
    exit(1);
}

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    if (memory == NULL)
        exit(1);
    return memory;
}

/* Marks the matches whose two keypoints show one true point. */
static bool *find_right_matches(const psfm_match_set *set, const psfm_model *truth) {
    bool *right = allocate(psfm_match_set_total(set), sizeof *right), *next = right;
    for (size_t p = 0; p < set->num_pairs; ++p) {
        const psfm_match_pair *pair = &set->pairs[p];
        const psfm_model_image *a = psfm_model_image_by_id(truth, set->views[pair->view1].id);
        const psfm_model_image *b = psfm_model_image_by_id(truth, set->views[pair->view2].id);
        for (size_t k = 0; k < pair->num_matches; ++k, ++next) {
            uint64_t point = a->point3D_ids[pair->matches[k][0]];
            *next = point != PSFM_NO_POINT && point == b->point3D_ids[pair->matches[k][1]];
        }
    }
    return right;
}

/* The poses of a model that has all images. */
static void take_poses(psfm_context *ctx, const psfm_match_set *set, const psfm_model *model,
                       psfm_poses *poses) {
    check(ctx, psfm_poses_init(ctx, (uint32_t)set->num_views, poses));
    for (uint32_t v = 0; v < poses->num_views; ++v) {
        const psfm_model_image *image = psfm_model_image_by_id(model, set->views[v].id);
        if (image == NULL) {
            fprintf(stderr, "bench_limit: image %u has no pose to start from\n", set->views[v].id);
            exit(1);
        }
        psfm_rotation_from_quat(image->cam_from_world_q, poses->cam_from_world[v]);
        psfm_model_image_center(image, poses->center[v]);
    }
}

static int by_id(const void *key, const void *item) {
    uint64_t id = *(const uint64_t *)key, other = ((const psfm_model_point *)item)->id;
    return id < other ? -1 : id > other;
}

/* Which points are on the plane where true coordinates of that axis are 0: 0 for those, else -1. */
static int32_t *find_flat_points(const psfm_match_set *set, const psfm_model *truth,
                                 const psfm_structure *st, int axis) {
    int32_t *plane = allocate(st->num_points, sizeof *plane);
    for (size_t p = 0; p < st->num_points; ++p) {
        size_t k = st->tracks.begin[p];
        const psfm_model_image *image =
            psfm_model_image_by_id(truth, set->views[st->tracks.view[k]].id);
        uint64_t id = image->point3D_ids[st->tracks.keypoint[k]];
        const psfm_model_point *point =
            bsearch(&id, truth->points, truth->num_points, sizeof *point, by_id);
        plane[p] = point != NULL && fabs(point->xyz[axis]) < 1e-6 ? 0 : -1;
    }
    return plane;
}

/* The plane through the points on it. */
static psfm_bundle_plane fit_plane(psfm_context *ctx, const psfm_structure *st,
                                   const int32_t *on_plane, const psfm_poses *poses) {
    psfm_scene_planes planes;
    psfm_bundle_plane plane = {{0.0, 0.0, 1.0}, 0.0, 0.0};
    psfm_labelled_points points = {st->num_points, (const double(*)[3])st->points, st->component,
                                   on_plane, 1};
    check(ctx, psfm_scene_planes_fit(ctx, &points, poses, &planes));
    if (planes.num_planes != 1) {
        fprintf(stderr, "bench_limit: the points of the plane are not flat\n");
        exit(1);
    }
    memcpy(plane.normal, planes.planes[0].normal, sizeof plane.normal);
    plane.distance = planes.planes[0].distance;
    psfm_scene_planes_free(&planes);
    return plane;
}

/* Least squares over all poses and points: the noise is normal. `flat` says which points are on a
 * plane; NULL: none. */
static void adjust(psfm_context *ctx, psfm_match_set *set, psfm_structure *st, const int32_t *flat,
                   psfm_poses *poses) {
    size_t num = st->num_points == 0 ? 0 : st->tracks.begin[st->num_points];
    uint32_t *camera = allocate(set->num_views, sizeof *camera);
    uint32_t *point = allocate(num, sizeof *point);
    double(*xy)[2] = allocate(num, sizeof *xy);
    psfm_bundle_options options;
    psfm_options_init(&psfm_bundle_option_table, &options);
    options.loss = PSFM_LOSS_SQUARED;
    for (size_t v = 0; v < set->num_views; ++v)
        camera[v] = set->views[v].camera_idx;
    for (size_t p = 0; p < st->num_points; ++p)
        for (size_t k = st->tracks.begin[p]; k < st->tracks.begin[p + 1]; ++k) {
            const psfm_view *view = &set->views[st->tracks.view[k]];
            point[k] = (uint32_t)p;
            memcpy(xy[k], view->keypoints[st->tracks.keypoint[k]], sizeof xy[k]);
        }
    psfm_bundle_plane plane = {{0.0, 0.0, 1.0}, 0.0, 0.0};
    if (flat != NULL)
        plane = fit_plane(ctx, st, flat, poses);
    psfm_bundle_problem problem = {.num_cameras = set->num_cameras,
                                   .cameras = set->cameras,
                                   .num_images = set->num_views,
                                   .image_camera = camera,
                                   .cam_from_world = poses->cam_from_world,
                                   .centers = poses->center,
                                   .num_points = st->num_points,
                                   .points = st->points,
                                   .point_plane = flat,
                                   .num_planes = flat != NULL ? 1 : 0,
                                   .planes = &plane,
                                   .num_observations = num,
                                   .obs_image = st->tracks.view,
                                   .obs_point = point,
                                   .obs_xy = (const double(*)[2])xy};
    psfm_bundle_stats stats;
    check(ctx, psfm_bundle_adjust(ctx, &problem, &options, &stats));
    printf("cost %.4f -> %.4f, %.5f px rms, %zu observations, %d steps, %s\n", stats.initial_cost,
           stats.final_cost, stats.rms_px, stats.num_observations, stats.iterations,
           psfm_bundle_stop_name(stats.stop));
    psfm_bundle_stats_free(&stats);
    free(camera);
    free(point);
    free(xy);
}

/* The true model with the adjusted poses and without points. */
static void write_poses(psfm_context *ctx, const psfm_match_set *set, const psfm_poses *poses,
                        psfm_model *model, const char *folder) {
    for (uint32_t v = 0; v < poses->num_views; ++v) {
        psfm_model_image *image =
            &model->images[psfm_model_image_by_id(model, set->views[v].id) - model->images];
        psfm_rotation_to_quat(poses->cam_from_world[v], image->cam_from_world_q);
        psfm_mat3_mul_vec(poses->cam_from_world[v], poses->center[v], image->cam_from_world_t);
        psfm_scale3(-1.0, image->cam_from_world_t, image->cam_from_world_t);
        image->num_keypoints = 0;
    }
    for (size_t p = 0; p < model->num_points; ++p)
        free(model->points[p].track);
    model->num_points = 0;
    check(ctx, psfm_model_write(ctx, model, PSFM_MODEL_TEXT, folder));
}

int main(int argc, char **argv) {
    psfm_context *ctx = psfm_context_create();
    psfm_match_set set = {0};
    psfm_model truth = {0}, start = {0};
    psfm_tracks tracks;
    psfm_structure structure;
    psfm_triangulate_options options;
    psfm_poses poses;
    int axis = argc > 2 && strcmp(argv[1], "--flat") == 0 ? argv[2][0] - 'x' : -1;
    if (axis >= 0) {
        argv += 2;
        argc -= 2;
    }
    if ((argc != 4 && argc != 5) || axis > 2) {
        fprintf(stderr, "usage: bench_limit [--flat x|y|z] DATABASE GT OUT [START]\n");
        return 2;
    }
    check(ctx, psfm_database_read(ctx, argv[1], &set, NULL));
    check(ctx, psfm_model_read(ctx, argv[2], &truth));
    if (argc == 5)
        check(ctx, psfm_model_read(ctx, argv[4], &start));
    take_poses(ctx, &set, argc == 5 ? &start : &truth, &poses);
    bool *right = find_right_matches(&set, &truth);
    psfm_options_init(&psfm_triangulate_option_table, &options);
    options.max_error_px = 1000.0; /* they are right, however noisy */
    check(ctx, psfm_tracks_build(ctx, &set, right, &tracks, NULL));
    check(ctx, psfm_triangulate(ctx, &set, &tracks, &poses, &options, &structure, NULL));
    int32_t *flat = axis >= 0 ? find_flat_points(&set, &truth, &structure, axis) : NULL;
    adjust(ctx, &set, &structure, flat, &poses);
    write_poses(ctx, &set, &poses, &truth, argv[3]);
    free(right);
    free(flat);
    psfm_structure_free(&structure);
    psfm_tracks_free(&tracks);
    psfm_poses_free(&poses);
    psfm_model_free(&truth);
    psfm_model_free(&start);
    psfm_match_set_free(&set);
    psfm_context_destroy(&ctx);
    return 0;
}
