/* The C library without files: a problem is compiled, solved, and the result kept with arrays in
 * the shape that the interface promises. Structs of results carry their size, so that a caller that
 * was compiled with an older header gets the fields that it knows. */
#include "planarsfm/solve.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/path.h"
#include "core/base/public_input.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"
#include "core/matches/canonical_order.h"
#include "formats/json.h"
#include "sfm/problem.h"
#include "sfm/run.h"
#include "sfm/summary.h"

/* Sizes in the first version, the least that a caller's struct can have. When a struct grows, its
 * line here becomes the offset of the first new field. */
#define FIRST_IMAGE_SIZE offsetof(psfm_image_result, probability)
#define FIRST_EDGE_SIZE sizeof(psfm_edge_result)
#define FIRST_PLANE_SIZE sizeof(psfm_plane_result)
#define FIRST_POINTS_SIZE sizeof(psfm_points_result)
#define FIRST_VERDICT_SIZE sizeof(psfm_verdict_result)

/* An edge by the places of its images in the order of names. */
typedef struct {
    uint32_t image1, image2, edge;
} ordered_edge;

struct psfm_result {
    psfm_sfm sfm;
    uint32_t *by_name;   /* views, as images are handed out */
    ordered_edge *edges; /* of the graph, as they are handed out */
    int32_t *point_model, *point_plane;
    uint64_t *track_begin;
    uint32_t *track_image_id, *track_keypoint;
    char *summary;
};

void psfm_result_destroy(psfm_result **result) {
    if (result == NULL || *result == NULL)
        return;
    psfm_result *r = *result;
    psfm_sfm_close(&r->sfm);
    free(r->by_name);
    free(r->edges);
    free(r->point_model);
    free(r->point_plane);
    free(r->track_begin);
    free(r->track_image_id);
    free(r->track_keypoint);
    cJSON_free(r->summary);
    free(r);
    *result = NULL;
}

/* Index of a view's model, -1 without a pose: models are the components, in their order. */
static int32_t model_of_view(const psfm_result *r, size_t v) {
    uint32_t component = r->sfm.solution.poses.component[v];
    return component == UINT32_MAX ? -1 : (int32_t)component;
}

/* Callers know images by name: their order is that of names, and edges lead from the earlier image
 * to the later one. */
static psfm_status order_by_name(psfm_context *ctx, psfm_result *r) {
    const psfm_pose_graph *graph = &r->sfm.graph;
    uint32_t *place = NULL;
    psfm_status status = psfm_match_set_by_name(ctx, &r->sfm.set, &r->by_name);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, graph->num_edges, &r->edges);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, r->sfm.set.num_views, &place);
    for (uint32_t k = 0; status == PSFM_OK && k < r->sfm.set.num_views; ++k)
        place[r->by_name[k]] = k;
    for (uint32_t e = 0; status == PSFM_OK && e < graph->num_edges; ++e) {
        uint32_t a = place[graph->edges[e].node1], b = place[graph->edges[e].node2];
        r->edges[e] = (ordered_edge){a < b ? a : b, a < b ? b : a, e};
    }
    if (status == PSFM_OK && graph->num_edges > 0)
        qsort(r->edges, graph->num_edges, sizeof *r->edges, psfm_compare_u32_pair);
    free(place);
    return status;
}

/* Arrays that the structure holds in another shape. */
static psfm_status reshape_points(psfm_context *ctx, psfm_result *r) {
    const psfm_structure *st = &r->sfm.refined.structure;
    const psfm_scene_planes *planes = &r->sfm.refined.planes;
    size_t num = st->num_points, elements = num == 0 ? 0 : st->tracks.begin[num];
    psfm_status status = PSFM_ALLOC(ctx, num, &r->point_model);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num, &r->point_plane);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num + 1, &r->track_begin);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, elements, &r->track_image_id);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, elements, &r->track_keypoint);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < num; ++k) {
        r->point_model[k] = (int32_t)st->component[k];
        r->point_plane[k] = planes->point_plane == NULL ? -1 : planes->point_plane[k];
        r->track_begin[k + 1] = st->tracks.begin[k + 1];
        for (size_t e = st->tracks.begin[k]; e < st->tracks.begin[k + 1]; ++e) {
            const psfm_view *view = &r->sfm.set.views[st->tracks.view[e]];
            r->track_image_id[e] = view->id;
            r->track_keypoint[e] = psfm_view_origin(view, st->tracks.keypoint[e]);
        }
    }
    return PSFM_OK;
}

static psfm_status print_summary(psfm_context *ctx, psfm_result *r) {
    cJSON *tree = psfm_summary_make(&r->sfm);
    r->summary = psfm_json_print(tree);
    cJSON_Delete(tree);
    return r->summary != NULL ? PSFM_OK : psfm_fail_memory(ctx);
}

/* Runs the stages and brings what they found into the shape that is handed out. */
static psfm_status run_to_result(psfm_context *ctx, psfm_result *made) {
    psfm_status status = psfm_sfm_run(ctx, &made->sfm);
    if (status == PSFM_OK)
        status = order_by_name(ctx, made);
    if (status == PSFM_OK)
        status = reshape_points(ctx, made);
    return status == PSFM_OK ? print_summary(ctx, made) : status;
}

psfm_status psfm_solve(psfm_context *ctx, const psfm_problem *problem,
                       const psfm_settings *settings, psfm_result **result) {
    psfm_result *made = NULL;
    psfm_status status =
        psfm_check_given(ctx, "psfm_solve", ctx != NULL && problem != NULL && result != NULL);
    if (status != PSFM_OK)
        return status;
    *result = NULL;
    status = PSFM_ALLOC(ctx, 1, &made);
    if (status != PSFM_OK)
        return status;
    psfm_sfm_open(NULL, &made->sfm);
    if (settings != NULL)
        made->sfm.asked.settings = (psfm_settings){.options = settings->options};
    made->sfm.stage = PSFM_AT_SET;
    size_t without_ray;
    status = psfm_problem_compile(ctx, problem, &made->sfm.set);
    if (status == PSFM_OK)
        status = psfm_match_set_sort_matched(ctx, &made->sfm.set);
    if (status == PSFM_OK)
        status = psfm_match_set_compute_rays(ctx, &made->sfm.set, &without_ray);
    if (status == PSFM_OK)
        status = psfm_match_set_canonical(ctx, &made->sfm.set);
    if (status == PSFM_OK)
        status = run_to_result(ctx, made);
    if (status == PSFM_OK)
        *result = made;
    else
        psfm_result_destroy(&made);
    return status;
}

/* A new folder for the database of a run that keeps nothing. */
static psfm_status make_scratch(psfm_context *ctx, char **scratch) {
    const char *top = getenv("TMPDIR");
    psfm_status status = psfm_path_join(ctx, top != NULL && top[0] != '\0' ? top : "/tmp",
                                        "planarsfm-XXXXXX", scratch);
    if (status == PSFM_OK && mkdtemp(*scratch) == NULL) {
        status = psfm_fail(ctx, PSFM_ERR_IO, "%s: no folder can be made there: %s", *scratch,
                           strerror(errno));
        free(*scratch);
        *scratch = NULL;
    }
    return status;
}

psfm_status psfm_solve_photographs(psfm_context *ctx, const char *folder,
                                   const psfm_run_settings *settings, psfm_result **result) {
    psfm_result *made = NULL;
    char *scratch = NULL, *database = NULL;
    psfm_status status;
    if ((status = PSFM_REQUIRE(ctx, ctx)) || (status = PSFM_REQUIRE(ctx, folder)) ||
        (status = PSFM_REQUIRE(ctx, result)))
        return status;
    *result = NULL;
    if ((status = PSFM_ALLOC(ctx, 1, &made)))
        return status;
    psfm_sfm_open(settings, &made->sfm);
    if ((status = make_scratch(ctx, &scratch)) ||
        (status = psfm_path_join(ctx, scratch, "database.db", &database)))
        goto cleanup;
    made->sfm.photo_folder = folder;
    made->sfm.database = database;
    made->sfm.asked.settings.no_report = true;
    status = run_to_result(ctx, made);
    made->sfm.photo_folder = made->sfm.database = NULL; /* the caller's, and gone */

cleanup:
    if (status == PSFM_OK)
        *result = made;
    else
        psfm_result_destroy(&made);
    if (scratch != NULL)
        (void)!psfm_remove_all(NULL, scratch);
    free(scratch);
    free(database);
    return status;
}

size_t psfm_result_num_images(const psfm_result *result) {
    return result == NULL ? 0 : result->sfm.set.num_views;
}

size_t psfm_result_num_models(const psfm_result *result) {
    return result == NULL ? 0 : result->sfm.num_models;
}

size_t psfm_result_num_edges(const psfm_result *result) {
    return result == NULL ? 0 : result->sfm.graph.num_edges;
}

size_t psfm_result_num_planes(const psfm_result *result) {
    return result == NULL ? 0 : result->sfm.refined.planes.num_planes;
}

/* Hands out as much of a struct as the caller knows; its struct_size stays. */
static void hand_out(void *out, const void *full, size_t full_size, size_t struct_size) {
    memcpy(out, full, struct_size < full_size ? struct_size : full_size);
}

static void fill_covariance(const psfm_refined_image *image, double covariance[36]) {
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) {
            covariance[6 * r + c] = image->rotation_covariance[3 * r + c];
            covariance[6 * r + c + 3] = image->mixed_covariance[3 * r + c];
            covariance[6 * (r + 3) + c] = image->mixed_covariance[3 * c + r];
            covariance[6 * (r + 3) + c + 3] = image->center_covariance[3 * r + c];
        }
    }
}

bool psfm_result_image(const psfm_result *result, size_t idx, psfm_image_result *out) {
    if (result == NULL || out == NULL || idx >= result->sfm.set.num_views ||
        out->struct_size < FIRST_IMAGE_SIZE)
        return false;
    const psfm_sfm *found = &result->sfm;
    uint32_t v = result->by_name[idx];
    psfm_image_result image = {.struct_size = out->struct_size,
                               .image_id = result->sfm.set.views[v].id,
                               .model = model_of_view(result, v),
                               .name = result->sfm.set.views[v].name,
                               .state = psfm_outcome_name(found->outcome[v]),
                               .advice = psfm_outcome_advice(found->outcome[v]),
                               .mean_error_px = NAN,
                               .rotation_sigma_deg = NAN,
                               .center_sigma = NAN,
                               .probability = NAN};
    for (int k = 0; k < 36; ++k)
        image.pose_covariance[k] = NAN;
    if (image.model >= 0) {
        const double *R = found->solution.poses.cam_from_world[v];
        memcpy(image.center, found->solution.poses.center[v], sizeof image.center);
        psfm_rotation_to_quat(R, image.cam_from_world_q);
        psfm_mat3_mul_vec(R, image.center, image.cam_from_world_t);
        psfm_scale3(-1.0, image.cam_from_world_t, image.cam_from_world_t);
    }
    if (image.model >= 0 && found->refined.images != NULL) {
        const psfm_refined_image *refined = &found->refined.images[v];
        image.num_points = refined->num_points;
        image.mean_error_px = refined->mean_px;
        image.rotation_sigma_deg = refined->rotation_sigma_deg;
        image.center_sigma = refined->center_sigma;
        if (isfinite(refined->center_sigma))
            fill_covariance(refined, image.pose_covariance);
    }
    if (image.model >= 0 && found->verdicts.images != NULL)
        image.probability = found->verdicts.images[v].probability;
    hand_out(out, &image, sizeof image, out->struct_size);
    return true;
}

/* The motion of an edge, turned round if it leads from its second image to its first one. */
static void edge_motion(const psfm_relative_pose *pose, bool turned, psfm_edge_result *out) {
    double R_12[9];
    memcpy(out->cam2_from_cam1_t, pose->t_21, sizeof out->cam2_from_cam1_t);
    psfm_rotation_to_quat(pose->R_21, out->cam2_from_cam1_q);
    if (!turned)
        return;
    psfm_mat3_transpose(pose->R_21, R_12);
    psfm_rotation_to_quat(R_12, out->cam2_from_cam1_q);
    psfm_mat3_mul_vec(R_12, pose->t_21, out->cam2_from_cam1_t);
    psfm_scale3(-1.0, out->cam2_from_cam1_t, out->cam2_from_cam1_t);
}

bool psfm_result_edge(const psfm_result *result, size_t idx, psfm_edge_result *out) {
    if (result == NULL || out == NULL || idx >= result->sfm.graph.num_edges ||
        out->struct_size < FIRST_EDGE_SIZE)
        return false;
    const psfm_sfm *found = &result->sfm;
    const ordered_edge *place = &result->edges[idx];
    const psfm_edge *edge = &found->graph.edges[place->edge];
    const psfm_pose_solution *s = &found->solution;
    uint32_t view1 = result->by_name[place->image1], view2 = result->by_name[place->image2];
    psfm_edge_result e = {.struct_size = out->struct_size,
                          .image_id1 = result->sfm.set.views[view1].id,
                          .image_id2 = result->sfm.set.views[view2].id,
                          .num_planes = edge->is_rotation ? 0 : edge->plane_end - edge->plane_begin,
                          .is_in_tree = s->in_tree[place->edge],
                          .embedding = s->h[place->edge],
                          .residual_deg = NAN};
    for (uint32_t p = edge->plane_begin; p < edge->plane_end; ++p)
        e.num_inliers += found->graph.planes[p].num_inliers;
    if (edge->plane_begin == edge->plane_end)
        e.num_inliers = edge->essential_inliers;
    if (edge->is_rotation) /* also of those on none of its planes */
        e.num_inliers = (uint32_t)psfm_two_view_explained(&result->sfm.two_views[edge->pair]);
    e.is_accepted = found->edges.accepted != NULL ? found->edges.accepted[place->edge]
                                                  : s->in_graph[place->edge];
    if (found->edges.residual_deg != NULL)
        e.residual_deg = found->edges.residual_deg[place->edge];
    edge_motion(&s->edge_pose[place->edge], view1 != edge->node1, &e);
    hand_out(out, &e, sizeof e, out->struct_size);
    return true;
}

bool psfm_result_plane(const psfm_result *result, size_t idx, psfm_plane_result *out) {
    if (result == NULL || out == NULL || idx >= result->sfm.refined.planes.num_planes ||
        out->struct_size < FIRST_PLANE_SIZE)
        return false;
    const psfm_scene_plane *plane = &result->sfm.refined.planes.planes[idx];
    psfm_plane_result p = {.struct_size = out->struct_size,
                           .distance = plane->distance,
                           .sigma = plane->sigma,
                           .area = plane->area,
                           .num_points = plane->num_points,
                           .num_corners = plane->num_corners,
                           .model = (int32_t)plane->component,
                           .corners = (const double *)plane->polygon};
    memcpy(p.normal, plane->normal, sizeof p.normal);
    hand_out(out, &p, sizeof p, out->struct_size);
    return true;
}

bool psfm_result_points(const psfm_result *result, psfm_points_result *out) {
    if (result == NULL || out == NULL || out->struct_size < FIRST_POINTS_SIZE)
        return false;
    const psfm_structure *st = &result->sfm.refined.structure;
    psfm_points_result points = {.struct_size = out->struct_size,
                                 .num_points = st->num_points,
                                 .xyz = (const double *)st->points,
                                 .error_px = st->error_px,
                                 .model = result->point_model,
                                 .plane = result->point_plane,
                                 .track_begin = result->track_begin,
                                 .track_image_id = result->track_image_id,
                                 .track_keypoint = result->track_keypoint};
    hand_out(out, &points, sizeof points, out->struct_size);
    return true;
}

bool psfm_result_verdict(const psfm_result *result, size_t model, psfm_verdict_result *out) {
    if (result == NULL || out == NULL || model >= result->sfm.num_models ||
        out->struct_size < FIRST_VERDICT_SIZE)
        return false;
    const psfm_verdicts *verdicts = &result->sfm.verdicts;
    psfm_verdict_result verdict = {
        .struct_size = out->struct_size, .probability = NAN, .sigma_factor = NAN};
    if (verdicts->models != NULL) {
        verdict.probability = verdicts->models[model].probability;
        verdict.sigma_factor = verdicts->models[model].sigma_factor;
        verdict.word = psfm_verdict_word_name(psfm_model_word(&verdicts->models[model]));
        verdict.is_right = psfm_is_called_right(&verdicts->models[model]);
    }
    hand_out(out, &verdict, sizeof verdict, out->struct_size);
    return true;
}

const psfm_model *psfm_result_model(const psfm_result *result, size_t idx) {
    return result != NULL && idx < result->sfm.num_models ? &result->sfm.models[idx] : NULL;
}

const char *psfm_result_summary(const psfm_result *result) {
    return result == NULL ? NULL : result->summary;
}
