/* Found places into the set and the tracks.
 *
 * A keypoint that was found moves, a place where there was none becomes a new keypoint at the end
 * of its view and a new element of the track. Both carry the covariance C of their alignment as the
 * root of its inverse. The keypoint that gave the patch does not move: it is where the point is by
 * definition. Its own noise is in all alignments with it, and a patch that is aligned has the noise
 * of two, so that it counts with half of the geometric mean of theirs,
 *   sigma^2 = 1/2 exp(mean of log sqrt(det C)).
 *
 * The new tracks are built beside the old ones and exchanged at the end: the plan refers to the
 * old elements. */
#include "images/photometric/track_results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/refine/observation_noise.h"

typedef struct {
    const psfm_track_plan *plan;
    const psfm_camera *cameras;
    psfm_match_set *set;
    const psfm_tracks *old;        /* tracks */
    psfm_precise_keypoints *added; /* per view */
    double *sum_log;               /* per point, of the areas of the covariances */
    uint32_t *count;               /* per point, of searches that found it */
    psfm_tracks tracks;
    uint32_t *length; /* per track: elements so far */
} results;

static bool is_found(const psfm_track_search *s) {
    return s->found.outcome == PSFM_PATCH_ALIGNED;
}

static const psfm_camera *camera_of(const results *r, const psfm_view *view) {
    return &r->cameras[view->camera_idx];
}

/* How often and how well each point was found; room for its new elements in tracks.begin. */
static void count_found(results *r) {
    for (size_t k = 0; k < r->plan->num_searches; ++k) {
        const psfm_track_search *s = &r->plan->searches[k];
        const double *c = s->found.cov2;
        if (!is_found(s))
            continue;
        r->sum_log[s->point] += 0.5 * log(c[0] * c[2] - c[1] * c[1]);
        ++r->count[s->point];
        r->tracks.begin[s->point + 1] += s->keypoint == UINT32_MAX;
    }
    const size_t *begin = r->old->begin;
    for (size_t p = 0; p < r->old->num_tracks; ++p)
        r->tracks.begin[p + 1] += r->tracks.begin[p] + begin[p + 1] - begin[p];
}

static psfm_status begin_results(psfm_context *ctx, results *r) {
    size_t num_points = r->old->num_tracks;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, r->set->num_views, &r->added)) ||
        (status = PSFM_ALLOC(ctx, num_points, &r->sum_log)) ||
        (status = PSFM_ALLOC(ctx, num_points, &r->count)) ||
        (status = PSFM_ALLOC(ctx, num_points, &r->length)) ||
        (status = PSFM_ALLOC(ctx, num_points + 1, &r->tracks.begin)))
        return status;
    count_found(r);
    r->tracks.num_tracks = num_points;
    if ((status = PSFM_ALLOC(ctx, r->tracks.begin[num_points], &r->tracks.view)))
        return status;
    return PSFM_ALLOC(ctx, r->tracks.begin[num_points], &r->tracks.keypoint);
}

/* The elements that there are already. */
static void copy_tracks(results *r) {
    for (size_t p = 0; p < r->old->num_tracks; ++p) {
        size_t from = r->old->begin[p], to = r->tracks.begin[p], n = r->old->begin[p + 1] - from;
        memcpy(r->tracks.view + to, r->old->view + from, n * sizeof *r->old->view);
        memcpy(r->tracks.keypoint + to, r->old->keypoint + from, n * sizeof *r->old->keypoint);
        r->length[p] = (uint32_t)n;
    }
}

/* Appends the keypoints that were added; without any, the view still gets to know the information
 * of those it has. */
static psfm_status append_keypoints(psfm_context *ctx, results *r) {
    psfm_status status = PSFM_OK;
    for (size_t v = 0; status == PSFM_OK && v < r->set->num_views; ++v) {
        psfm_view *view = &r->set->views[v];
        status = psfm_view_append(ctx, camera_of(r, view), &r->added[v], view);
    }
    return status;
}

/* The keypoints that gave the patches stay, but are known better now. */
static void weigh_references(results *r) {
    for (size_t p = 0; p < r->old->num_tracks; ++p) {
        if (r->count[p] == 0)
            continue;
        double variance = 0.5 * exp(r->sum_log[p] / r->count[p]);
        const double cov[3] = {variance, 0.0, variance};
        uint32_t keypoint = r->old->keypoint[r->plan->reference[p]];
        psfm_view *view = &r->set->views[r->old->view[r->plan->reference[p]]];
        const double xy[2] = {view->keypoints[keypoint][0], view->keypoints[keypoint][1]};
        psfm_view_move(camera_of(r, view), keypoint, xy, cov, view);
    }
}

/* Puts an element into its track, views ascending. */
static void insert_element(results *r, size_t point, uint32_t view, uint32_t keypoint) {
    size_t first = r->tracks.begin[point], k = first + r->length[point]++;
    for (; k > first && r->tracks.view[k - 1] > view; --k) {
        r->tracks.view[k] = r->tracks.view[k - 1];
        r->tracks.keypoint[k] = r->tracks.keypoint[k - 1];
    }
    r->tracks.view[k] = view;
    r->tracks.keypoint[k] = keypoint;
}

static psfm_status take_search(psfm_context *ctx, results *r, const psfm_track_search *s) {
    psfm_view *view = &r->set->views[s->to];
    if (s->keypoint != UINT32_MAX) {
        psfm_view_move(camera_of(r, view), s->keypoint, s->found.xy2, s->found.cov2, view);
        return PSFM_OK;
    }
    psfm_precise_keypoints *added = &r->added[s->to];
    insert_element(r, s->point, s->to, (uint32_t)(view->num_keypoints + added->num));
    return psfm_precise_keypoints_add(ctx, added, s->found.xy2, s->found.cov2);
}

static void free_results(results *r) {
    for (size_t v = 0; r->added != NULL && v < r->set->num_views; ++v)
        psfm_precise_keypoints_free(&r->added[v]);
    free(r->added);
    free(r->sum_log);
    free(r->count);
    free(r->length);
    psfm_tracks_free(&r->tracks);
}

psfm_status psfm_track_results_take(psfm_context *ctx, const psfm_track_plan *plan,
                                    const psfm_camera *cameras, psfm_match_set *set,
                                    psfm_structure *structure) {
    results r = {.plan = plan, .cameras = cameras, .set = set, .old = &structure->tracks};
    psfm_status status = begin_results(ctx, &r);
    if (status == PSFM_OK) {
        copy_tracks(&r);
        status = append_keypoints(ctx, &r); /* none yet: all know their information */
    }
    if (status == PSFM_OK)
        weigh_references(&r);
    for (size_t k = 0; status == PSFM_OK && k < plan->num_searches; ++k)
        if (is_found(&plan->searches[k]))
            status = take_search(ctx, &r, &plan->searches[k]);
    if (status == PSFM_OK)
        status = append_keypoints(ctx, &r);
    if (status == PSFM_OK) {
        psfm_tracks old = structure->tracks;
        structure->tracks = r.tracks;
        r.tracks = old;
    }
    free_results(&r);
    return status;
}
