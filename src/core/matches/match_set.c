/* The match set: cameras, views with keypoints, pairs with matches; and the rays of keypoints.
 *
 * A keypoint's ray and the derivative of its pixel by the ray are computed once; all geometry
 * works on them, whatever the lens. A keypoint that has no ray (outside what the lens can image)
 * gets zeros and is left out where correspondences are made. */
#include "core/matches/match_set.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/linalg/order_statistics.h"
#include "core/linalg/vec3.h"

int psfm_match_pair_compare(const void *a, const void *b) {
    const psfm_match_pair *x = a, *y = b;
    if (x->view1 != y->view1)
        return x->view1 < y->view1 ? -1 : 1;
    return x->view2 < y->view2 ? -1 : x->view2 > y->view2;
}

typedef struct {
    psfm_match_set *set;
    bool only_missing;       /* views that have rays, or no keypoints, stay as they are */
    size_t *num_without_ray; /* per view */
} ray_job;

static bool find_ray(const psfm_camera *camera, const double xy[2], double ray[3],
                     double px_from_ray[6]) {
    double again[2];
    return psfm_camera_unproject(camera, xy, ray) &&
           psfm_camera_project_jacobian(camera, ray, again, px_from_ray);
}

/* Whether a keypoint's ray is wanted in memory: it is matched, or was asked for. */
static bool is_stored(const psfm_view *view, size_t k) {
    return view->origin == NULL || k < view->num_matched ||
           (view->rays != NULL && psfm_dot3(view->rays[k], view->rays[k]) > 0.0);
}

bool psfm_view_has_ray(const psfm_view *view, const psfm_camera *camera, uint32_t k) {
    double ray[3], px_from_ray[6];
    return is_stored(view, k) ? psfm_dot3(view->rays[k], view->rays[k]) > 0.0
                              : find_ray(camera, view->keypoints[k], ray, px_from_ray);
}

void psfm_view_need_ray(const psfm_view *view, const psfm_camera *camera, uint32_t k) {
    double ray[3], px_from_ray[6];
    if (is_stored(view, k) || !find_ray(camera, view->keypoints[k], ray, px_from_ray))
        return;
    memcpy(view->rays[k], ray, sizeof ray);
    memcpy(view->px_from_ray[k], px_from_ray, sizeof px_from_ray);
}

/* Task of one view: rays and derivatives of its keypoints. */
static psfm_status compute_view_rays(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    ray_job *job = user;
    psfm_view *view = &job->set->views[index];
    if (job->only_missing && (view->keypoints == NULL || view->rays != NULL))
        return PSFM_OK;
    const psfm_camera *camera = &job->set->cameras[view->camera_idx];
    double(*rays)[3] = NULL, (*px_from_ray)[6] = NULL;
    psfm_status status = PSFM_ALLOC(ctx, view->num_keypoints, &rays);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, view->num_keypoints, &px_from_ray);
    if (status != PSFM_OK) {
        free(rays);
        return status;
    }
    const psfm_view before = *view;
    view->rays = rays;
    view->px_from_ray = px_from_ray;
    for (size_t k = 0; k < view->num_keypoints; ++k) {
        double ray[3], derivative[6];
        const bool has_ray = find_ray(camera, view->keypoints[k], ray, derivative);
        job->num_without_ray[index] += !has_ray;
        if (has_ray && is_stored(&before, k)) {
            memcpy(rays[k], ray, sizeof ray);
            memcpy(px_from_ray[k], derivative, sizeof derivative);
        }
    }
    free(before.rays);
    free(before.px_from_ray);
    return PSFM_OK;
}

static psfm_status compute_rays(psfm_context *ctx, psfm_match_set *set, bool only_missing,
                                size_t *num_without_ray) {
    size_t *counts = NULL;
    psfm_status status = PSFM_ALLOC(ctx, set->num_views, &counts);
    if (status != PSFM_OK)
        return status;
    ray_job job = {set, only_missing, counts};
    status = psfm_parallel_for(ctx, NULL, set->num_views, compute_view_rays, &job);
    if (status == PSFM_OK && num_without_ray != NULL) {
        *num_without_ray = 0;
        for (size_t k = 0; k < set->num_views; ++k)
            *num_without_ray += job.num_without_ray[k];
    }
    free(counts);
    return status;
}

psfm_status psfm_match_set_compute_rays(psfm_context *ctx, psfm_match_set *set,
                                        size_t *num_without_ray) {
    return compute_rays(ctx, set, false, num_without_ray);
}

psfm_status psfm_match_set_add_rays(psfm_context *ctx, psfm_match_set *set) {
    return compute_rays(ctx, set, true, NULL);
}

/* ---- matched keypoints first ---- */

/* now_at[k]: where keypoint k goes; it comes with 1 for matched ones, 0 for others. */
static psfm_status sort_view(psfm_context *ctx, psfm_view *view, uint32_t *now_at) {
    double(*sorted)[2] = NULL;
    psfm_status status = PSFM_ALLOC(ctx, view->num_keypoints, &view->origin);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, view->num_keypoints, &sorted);
    if (status != PSFM_OK)
        return status;
    size_t num_matched = 0, num_others = 0;
    for (size_t k = 0; k < view->num_keypoints; ++k)
        num_matched += now_at[k];
    for (size_t k = 0, first = 0; k < view->num_keypoints; ++k) {
        now_at[k] = (uint32_t)(now_at[k] != 0 ? first++ : num_matched + num_others++);
        view->origin[now_at[k]] = (uint32_t)k;
        memcpy(sorted[now_at[k]], view->keypoints[k], sizeof *sorted);
    }
    free(view->keypoints);
    view->keypoints = sorted;
    view->num_matched = num_matched;
    return PSFM_OK;
}

psfm_status psfm_match_set_sort_matched(psfm_context *ctx, psfm_match_set *set) {
    uint32_t **now_at = NULL;
    psfm_status status = PSFM_ALLOC(ctx, set->num_views, &now_at);
    for (size_t v = 0; status == PSFM_OK && v < set->num_views; ++v)
        status = PSFM_ALLOC(ctx, set->views[v].num_keypoints, &now_at[v]);
    for (size_t p = 0; status == PSFM_OK && p < set->num_pairs; ++p)
        for (size_t m = 0; m < set->pairs[p].num_matches; ++m) {
            now_at[set->pairs[p].view1][set->pairs[p].matches[m][0]] = 1;
            now_at[set->pairs[p].view2][set->pairs[p].matches[m][1]] = 1;
        }
    for (size_t v = 0; status == PSFM_OK && v < set->num_views; ++v)
        status = sort_view(ctx, &set->views[v], now_at[v]);
    for (size_t p = 0; status == PSFM_OK && p < set->num_pairs; ++p)
        for (size_t m = 0; m < set->pairs[p].num_matches; ++m) {
            uint32_t *match = set->pairs[p].matches[m];
            match[0] = now_at[set->pairs[p].view1][match[0]];
            match[1] = now_at[set->pairs[p].view2][match[1]];
        }
    for (size_t v = 0; now_at != NULL && v < set->num_views; ++v)
        free(now_at[v]);
    free((void *)now_at);
    return status;
}

static psfm_status check_views(psfm_context *ctx, const psfm_match_set *set) {
    for (size_t k = 0; k < set->num_views; ++k) {
        const psfm_view *view = &set->views[k];
        if (view->name == NULL)
            return psfm_fail(ctx, PSFM_ERR_DATA, "image %" PRIu32 " has no name", view->id);
        if (k > 0 && view[-1].id >= view->id)
            return psfm_fail(ctx, PSFM_ERR_DATA,
                             "%s: image id %" PRIu32 " comes after %" PRIu32
                             "; ids must ascend and be unique",
                             view->name, view->id, view[-1].id);
        if (view->camera_idx >= set->num_cameras)
            return psfm_fail(ctx, PSFM_ERR_DATA, "%s: camera index %" PRIu32 " of %zu cameras",
                             view->name, view->camera_idx, set->num_cameras);
        if (view->num_keypoints > UINT32_MAX ||
            (view->num_keypoints > 0 && view->keypoints == NULL))
            return psfm_fail(ctx, PSFM_ERR_DATA, "%s: %zu keypoints cannot be right", view->name,
                             view->num_keypoints);
    }
    return PSFM_OK;
}

static psfm_status check_pair(psfm_context *ctx, const psfm_match_set *set,
                              const psfm_match_pair *pair) {
    if (pair->view1 >= pair->view2 || pair->view2 >= set->num_views)
        return psfm_fail(ctx, PSFM_ERR_DATA,
                         "pair of views %" PRIu32 " and %" PRIu32
                         ": the first must be the lower, and both below %zu",
                         pair->view1, pair->view2, set->num_views);
    const psfm_view *view1 = &set->views[pair->view1], *view2 = &set->views[pair->view2];
    if (pair->num_matches > 0 && pair->matches == NULL)
        return psfm_fail(ctx, PSFM_ERR_DATA, "pair %s, %s: %zu matches cannot be right",
                         view1->name, view2->name, pair->num_matches);
    for (size_t m = 0; m < pair->num_matches; ++m)
        if (pair->matches[m][0] >= view1->num_keypoints ||
            pair->matches[m][1] >= view2->num_keypoints)
            return psfm_fail(ctx, PSFM_ERR_DATA,
                             "pair %s, %s: match %zu joins keypoints %" PRIu32 " and %" PRIu32
                             ", but there are %zu and %zu",
                             view1->name, view2->name, m, pair->matches[m][0], pair->matches[m][1],
                             view1->num_keypoints, view2->num_keypoints);
    return PSFM_OK;
}

psfm_status psfm_match_set_check(psfm_context *ctx, const psfm_match_set *set) {
    psfm_status status = PSFM_OK;
    for (size_t k = 0; k < set->num_cameras && status == PSFM_OK; ++k)
        status = psfm_camera_check(ctx, &set->cameras[k]);
    if (status == PSFM_OK)
        status = check_views(ctx, set);
    for (size_t k = 0; k < set->num_pairs && status == PSFM_OK; ++k) {
        const psfm_match_pair *pair = &set->pairs[k];
        status = check_pair(ctx, set, pair);
        if (status != PSFM_OK || k == 0)
            continue;
        const psfm_match_pair *last = pair - 1;
        if (last->view1 > pair->view1 || (last->view1 == pair->view1 && last->view2 >= pair->view2))
            status = psfm_fail(ctx, PSFM_ERR_DATA,
                               "pair %s, %s: pairs must be sorted and each given once",
                               set->views[pair->view1].name, set->views[pair->view2].name);
    }
    return status;
}

void psfm_match_set_free(psfm_match_set *set) {
    for (size_t k = 0; set->views != NULL && k < set->num_views; ++k) {
        free(set->views[k].name);
        free(set->views[k].keypoints);
        free(set->views[k].rays);
        free(set->views[k].px_from_ray);
        free(set->views[k].sqrt_info);
        free(set->views[k].origin);
    }
    for (size_t k = 0; set->pairs != NULL && k < set->num_pairs; ++k)
        free(set->pairs[k].matches);
    free(set->cameras);
    free(set->origins);
    free(set->views);
    free(set->pairs);
    memset(set, 0, sizeof *set);
}

static psfm_status allocate_correspondences(psfm_context *ctx, size_t n, psfm_correspondences *c) {
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, n, &c->ray1)) || (status = PSFM_ALLOC(ctx, n, &c->ray2)) ||
        (status = PSFM_ALLOC(ctx, n, &c->px1)) || (status = PSFM_ALLOC(ctx, n, &c->px2)) ||
        (status = PSFM_ALLOC(ctx, n, &c->match_idx)))
        psfm_correspondences_free(c);
    return status;
}

static bool has_ray(const psfm_view *view, uint32_t keypoint) {
    return psfm_dot3(view->rays[keypoint], view->rays[keypoint]) > 0.0;
}

psfm_status psfm_correspondences_init(psfm_context *ctx, const psfm_match_set *set,
                                      const psfm_match_pair *pair, psfm_correspondences *out) {
    memset(out, 0, sizeof *out);
    const psfm_view *view1 = &set->views[pair->view1], *view2 = &set->views[pair->view2];
    if (pair->num_matches > 0 && (view1->rays == NULL || view2->rays == NULL))
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "pair %s, %s: the rays are not computed yet",
                         view1->name, view2->name);
    psfm_status status = allocate_correspondences(ctx, pair->num_matches, out);
    if (status != PSFM_OK)
        return status;
    for (size_t m = 0; m < pair->num_matches; ++m) {
        uint32_t k1 = pair->matches[m][0], k2 = pair->matches[m][1];
        if (!has_ray(view1, k1) || !has_ray(view2, k2))
            continue;
        memcpy(out->ray1[out->num], view1->rays[k1], sizeof *out->ray1);
        memcpy(out->ray2[out->num], view2->rays[k2], sizeof *out->ray2);
        memcpy(out->px1[out->num], view1->px_from_ray[k1], sizeof *out->px1);
        memcpy(out->px2[out->num], view2->px_from_ray[k2], sizeof *out->px2);
        out->match_idx[out->num++] = (uint32_t)m;
    }
    return PSFM_OK;
}

void psfm_correspondences_free(psfm_correspondences *c) {
    free(c->ray1);
    free(c->ray2);
    free(c->px1);
    free(c->px2);
    free(c->match_idx);
    memset(c, 0, sizeof *c);
}

bool psfm_match_set_find_camera(const psfm_match_set *set, uint32_t id, uint32_t *idx) {
    *idx = (uint32_t)psfm_lower_bound(&id, set->cameras, set->num_cameras, sizeof *set->cameras,
                                      psfm_compare_u32);
    return *idx < set->num_cameras && set->cameras[*idx].id == id;
}

bool psfm_match_set_find_view(const psfm_match_set *set, uint32_t id, uint32_t *idx) {
    *idx = (uint32_t)psfm_lower_bound(&id, set->views, set->num_views, sizeof *set->views,
                                      psfm_compare_u32);
    return *idx < set->num_views && set->views[*idx].id == id;
}

static int compare_names(const void *a, const void *b) {
    const psfm_view *x = *(const psfm_view *const *)a, *y = *(const psfm_view *const *)b;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->id > y->id) - (x->id < y->id);
}

psfm_status psfm_match_set_by_name(psfm_context *ctx, const psfm_match_set *set,
                                   uint32_t **by_name) {
    const psfm_view **sorted = NULL;
    *by_name = NULL;
    psfm_status status = PSFM_ALLOC(ctx, set->num_views, &sorted);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, set->num_views, by_name);
    for (size_t v = 0; status == PSFM_OK && v < set->num_views; ++v)
        sorted[v] = &set->views[v];
    if (status == PSFM_OK && set->num_views > 0)
        qsort((void *)sorted, set->num_views, sizeof *sorted, compare_names);
    for (size_t k = 0; status == PSFM_OK && k < set->num_views; ++k)
        (*by_name)[k] = (uint32_t)(sorted[k] - set->views);
    free((void *)sorted);
    return status;
}

psfm_status psfm_match_set_find_namesakes(psfm_context *ctx, const psfm_match_set *set,
                                          const psfm_view *namesakes[2]) {
    uint32_t *sorted = NULL;
    namesakes[0] = namesakes[1] = NULL;
    psfm_status status = psfm_match_set_by_name(ctx, set, &sorted);
    for (size_t k = 1; status == PSFM_OK && namesakes[0] == NULL && k < set->num_views; ++k) {
        const psfm_view *a = &set->views[sorted[k - 1]], *b = &set->views[sorted[k]];
        if (strcmp(a->name, b->name) == 0) {
            namesakes[0] = a;
            namesakes[1] = b;
        }
    }
    free(sorted);
    return status;
}
