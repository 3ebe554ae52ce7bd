/* Searches of points as tasks: groups of searches between the same two views, whose poses the ranks
 * get once. Only what was found comes back whole, of the rest its outcome. */
#include "images/photometric/track_tasks.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "images/photometric/photo_cache.h"
#include "images/photometric/track_search.h"

/* A tenth of a second or so. */
#define SEARCHES_PER_TASK 4000

typedef struct {
    uint32_t ends[2]; /* views */
    size_t num;
    psfm_track_patch *patches;
} group_item;

typedef struct {
    size_t num, num_aligned;
    uint8_t *outcomes; /* of all patches */
    psfm_patch_match *aligned;
} group_result;

/* ---- any rank's side ---- */

static void move_group(psfm_transfer *t, void *value) {
    group_item *item = value;
    psfm_move(t, item, sizeof *item);
    psfm_move_array(t, &item->patches, &item->num, sizeof *item->patches);
}

static void free_group(void *value) {
    free(((group_item *)value)->patches);
}

static void move_found(psfm_transfer *t, void *value) {
    group_result *result = value;
    psfm_move(t, result, sizeof *result);
    psfm_move_array(t, &result->outcomes, &result->num, sizeof *result->outcomes);
    psfm_move_array(t, &result->aligned, &result->num_aligned, sizeof *result->aligned);
}

static void free_found(void *value) {
    group_result *result = value;
    free(result->outcomes);
    free(result->aligned);
}

static psfm_status seek_group(psfm_context *ctx, void *state, int worker, void *value,
                              void *result) {
    const psfm_photo_state *s = state;
    const group_item *item = value;
    group_result *out = result;
    const psfm_pyramid *photos[2];
    psfm_track_view views[2];
    bool both;
    psfm_status status = PSFM_ALLOC(ctx, item->num, &out->outcomes);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, item->num, &out->aligned);
    if (status == PSFM_OK)
        status = psfm_photos_get(ctx, s, item->ends, 2, photos, &both);
    if (status != PSFM_OK)
        return status;
    out->num = item->num;
    memset(out->outcomes, PSFM_PATCH_OUTSIDE, item->num);
    if (!both)
        return PSFM_OK;
    for (int k = 0; k < 2; ++k) {
        const psfm_photo_view *view = &s->views[item->ends[k]];
        views[k] =
            (psfm_track_view){{&view->camera, photos[k]}, view->cam_from_world, view->center};
    }
    for (size_t k = 0; k < item->num; ++k) {
        psfm_patch_match *found = &out->aligned[out->num_aligned];
        psfm_track_patch_find(s->aligners[worker], views, &item->patches[k], s->setup->max_shift_px,
                              found);
        out->outcomes[k] = (uint8_t)found->outcome;
        out->num_aligned += found->outcome == PSFM_PATCH_ALIGNED;
    }
    psfm_photos_release(s, item->ends, 2);
    return PSFM_OK;
}

const psfm_task_kind psfm_track_tasks = {
    .name = "tracks",
    .setup = {sizeof(psfm_photo_setup), psfm_photo_setup_move, psfm_photo_setup_free},
    .part = {sizeof(psfm_photo_view), psfm_photo_view_move, NULL},
    .item = {sizeof(group_item), move_group, free_group},
    .result = {sizeof(group_result), move_found, free_found},
    .open = psfm_photo_state_open,
    .take_part = psfm_photo_state_take,
    .forget_parts = psfm_photo_state_forget,
    .compute = seek_group,
    .close = psfm_photo_state_close};

/* ---- the first rank's side ---- */

typedef struct {
    const psfm_match_set *set;
    const psfm_structure *structure;
    psfm_track_plan *plan;
    size_t *order;   /* of the groups */
    size_t *weights; /* searches of each, in this order */
    uint32_t *ends;  /* its two views, likewise */
} track_work;

/* The searches of the group that is the index-th in the order. */
static psfm_track_search *group_of(const track_work *w, size_t index) {
    return &w->plan->searches[w->plan->groups[w->order[index]]];
}

static psfm_status describe_group(psfm_context *ctx, size_t index, void *user, void *value) {
    const track_work *w = user;
    const psfm_track_search *searches = group_of(w, index);
    group_item *item = value;
    memcpy(item->ends, &w->ends[2 * index], sizeof item->ends);
    item->num = w->weights[index];
    psfm_status status = PSFM_ALLOC(ctx, item->num, &item->patches);
    for (size_t k = 0; status == PSFM_OK && k < item->num; ++k)
        item->patches[k] = psfm_track_patch_of(w->set, w->structure, w->plan, &searches[k]);
    return status;
}

static psfm_status take_found(psfm_context *ctx, size_t index, void *user, void *value) {
    (void)ctx;
    const track_work *w = user;
    psfm_track_search *searches = group_of(w, index);
    const group_result *result = value;
    const psfm_patch_match *next = result->aligned;
    for (size_t k = 0; k < result->num; ++k)
        if (result->outcomes[k] == PSFM_PATCH_ALIGNED)
            searches[k].found = *next++;
        else
            searches[k].found.outcome = result->outcomes[k];
    return PSFM_OK;
}

static psfm_status order_groups(psfm_context *ctx, const psfm_photo_cache *photos, track_work *w) {
    const psfm_track_plan *plan = w->plan;
    const size_t n = plan->num_groups;
    uint32_t *ends = NULL;
    psfm_status status = PSFM_ALLOC(ctx, 2 * n, &ends);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, n, &w->order);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, n, &w->weights);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, 2 * n, &w->ends);
    for (size_t g = 0; status == PSFM_OK && g < n; ++g) {
        ends[g] = plan->searches[plan->groups[g]].from;
        ends[n + g] = plan->searches[plan->groups[g]].to;
    }
    if (status == PSFM_OK)
        status = psfm_photo_order(ctx, photos, ends, ends + n, n, w->order);
    for (size_t k = 0; status == PSFM_OK && k < n; ++k) {
        const size_t g = w->order[k];
        w->weights[k] = plan->groups[g + 1] - plan->groups[g];
        w->ends[2 * k] = ends[g];
        w->ends[2 * k + 1] = ends[n + g];
    }
    free(ends);
    return status;
}

psfm_status psfm_tracks_run(psfm_context *ctx, psfm_photo_setup *setup,
                            const psfm_structure *structure, psfm_track_plan *plan) {
    track_work work = {.set = setup->set, .structure = structure, .plan = plan};
    psfm_status status = order_groups(ctx, setup->photos, &work);
    psfm_task_list list = {.kind = &psfm_track_tasks,
                           .stage = "align tracks",
                           .num = plan->num_groups,
                           .weights = work.weights,
                           .task_weight = SEARCHES_PER_TASK,
                           .describe = describe_group,
                           .parts = work.ends,
                           .parts_each = 2,
                           .commit = take_found,
                           .user = &work};
    if (status == PSFM_OK)
        status = psfm_photo_tasks_run(ctx, setup, &list);
    free(work.order);
    free(work.weights);
    free(work.ends);
    return status;
}
