/* Pairs of photographs as tasks.
 *
 * The corners of each photograph are found first, by whichever rank reads it, and go to the first
 * rank, which numbers them. With a view they come back to the ranks that align its pairs; the
 * planes of a pair, some inliers, come with the pair. */
#include "images/photometric/pair_tasks.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

/* A tenth of a second or so beside reading: a photograph of some megapixels takes as long, a pair
 * 5 milliseconds. */
enum { VIEWS_PER_TASK = 4, PAIRS_PER_TASK = 16 };

/* ---- corners ---- */

static void move_corners(psfm_transfer *t, void *result) {
    psfm_view_corners *corners = result;
    psfm_move(t, corners, sizeof *corners);
    psfm_move_text(t, &corners->problem);
    psfm_move_array(t, &corners->corners, &corners->num, sizeof *corners->corners);
}

static void free_corners(void *result) {
    psfm_view_corners_free(result);
}

static psfm_status find_corners(psfm_context *ctx, void *state, int worker, void *item,
                                void *result) {
    (void)worker;
    const psfm_photo_state *s = state;
    const uint32_t view = *(const uint32_t *)item;
    const psfm_pyramid *photo;
    psfm_view_corners *corners = result;
    bool is_there;
    psfm_status status = psfm_photos_get(ctx, s, &view, 1, &photo, &is_there);
    if (status != PSFM_OK)
        return status;
    if (!is_there)
        return psfm_strdup(ctx, psfm_photo_cache_problem(s->photos, view), &corners->problem);
    status = psfm_view_corners_find(ctx, &s->setup->planes, &s->setup->patch, photo, corners);
    psfm_photos_release(s, &view, 1);
    return status;
}

const psfm_task_kind psfm_corner_tasks = {
    .name = "corners",
    .setup = {sizeof(psfm_photo_setup), psfm_photo_setup_move, psfm_photo_setup_free},
    .part = {sizeof(psfm_photo_view), psfm_photo_view_move, NULL},
    .item = {.size = sizeof(uint32_t)},
    .result = {sizeof(psfm_view_corners), move_corners, free_corners},
    .open = psfm_photo_state_open,
    .take_part = psfm_photo_state_take,
    .forget_parts = psfm_photo_state_forget,
    .compute = find_corners,
    .close = psfm_photo_state_close};

typedef struct {
    const uint32_t *views;
    psfm_view_corners *corners;
} corner_work;

static psfm_status describe_view(psfm_context *ctx, size_t index, void *user, void *item) {
    (void)ctx;
    const corner_work *w = user;
    memcpy(item, &w->views[index], sizeof *w->views);
    return PSFM_OK;
}

static psfm_status take_corners(psfm_context *ctx, size_t index, void *user, void *result) {
    (void)ctx;
    const corner_work *w = user;
    psfm_view_corners *found = result;
    w->corners[w->views[index]] = *found;
    *found = (psfm_view_corners){0};
    return PSFM_OK;
}

psfm_status psfm_corners_run(psfm_context *ctx, psfm_photo_setup *setup, const uint32_t *views,
                             size_t num, psfm_view_corners *corners) {
    corner_work work = {views, corners};
    psfm_task_list list = {.kind = &psfm_corner_tasks,
                           .num = num,
                           .task_weight = VIEWS_PER_TASK,
                           .describe = describe_view,
                           .parts = views,
                           .parts_each = 1,
                           .commit = take_corners,
                           .user = &work};
    setup->corners = NULL;
    return psfm_photo_tasks_run(ctx, setup, &list);
}

/* ---- pairs ---- */

typedef struct {
    uint32_t ends[2]; /* views */
    psfm_raw_planes raw;
} pair_item;

typedef struct {
    size_t num_planes; /* if the pair could be aligned */
    psfm_pair_refined refined;
} pair_result;

/* The inliers of the planes stand one after the other, those of image 1 first. */
static void move_pair(psfm_transfer *t, void *value) {
    pair_item *item = value;
    psfm_raw_planes *raw = &item->raw;
    size_t num = 0;
    psfm_move(t, item, sizeof *item);
    psfm_move_array(t, &raw->planes, &raw->num, sizeof *raw->planes);
    for (size_t h = 0; h < raw->num; ++h)
        num += 2 * raw->planes[h].num_inliers;
    psfm_move_array(t, &raw->xy, &num, sizeof *raw->xy);
    psfm_raw_planes_share(raw);
}

static void free_pair(void *value) {
    psfm_raw_planes_free(&((pair_item *)value)->raw);
}

static void move_refined(psfm_transfer *t, void *value) {
    pair_result *result = value;
    psfm_pair_refined *refined = &result->refined;
    psfm_move(t, result, sizeof *result);
    psfm_move_array(t, &refined->planes, &result->num_planes, sizeof *refined->planes);
    psfm_move_array(t, &refined->matches, &refined->num_matches, sizeof *refined->matches);
}

static void free_refined(void *value) {
    psfm_pair_refined_free(&((pair_result *)value)->refined);
}

static psfm_status align_pair(psfm_context *ctx, void *state, int worker, void *value,
                              void *result) {
    const psfm_photo_state *s = state;
    const pair_item *item = value;
    pair_result *out = result;
    psfm_pair_photos in = {.raw = item->raw.planes, .num_planes = item->raw.num};
    const psfm_pyramid *photos[2];
    bool both;
    psfm_status status = psfm_photos_get(ctx, s, item->ends, 2, photos, &both);
    if (!both)
        return status;
    for (int k = 0; k < 2; ++k) {
        const psfm_photo_view *view = &s->views[item->ends[k]];
        in.sides[k] =
            (psfm_pair_side){{&view->camera, photos[k]}, view->corners, view->num_corners};
        in.stream[k] = view->stream;
    }
    out->num_planes = item->raw.num;
    status =
        psfm_pair_planes_refine(ctx, s->aligners[worker], &in, &s->setup->planes, &out->refined);
    psfm_photos_release(s, item->ends, 2);
    return status;
}

const psfm_task_kind psfm_pair_tasks = {
    .name = "pairs of photographs",
    .setup = {sizeof(psfm_photo_setup), psfm_photo_setup_move, psfm_photo_setup_free},
    .part = {sizeof(psfm_photo_view), psfm_photo_view_move, NULL},
    .item = {sizeof(pair_item), move_pair, free_pair},
    .result = {sizeof(pair_result), move_refined, free_refined},
    .open = psfm_photo_state_open,
    .take_part = psfm_photo_state_take,
    .forget_parts = psfm_photo_state_forget,
    .compute = align_pair,
    .close = psfm_photo_state_close};

typedef struct {
    const psfm_match_set *set;
    const psfm_two_view *two_views;
    const size_t *pairs;
    psfm_pair_refined *refined;
} pair_work;

static psfm_status describe_pair(psfm_context *ctx, size_t index, void *user, void *value) {
    const pair_work *w = user;
    const psfm_match_pair *pair = &w->set->pairs[w->pairs[index]];
    pair_item *item = value;
    item->ends[0] = pair->view1;
    item->ends[1] = pair->view2;
    return psfm_raw_planes_list(ctx, w->set, pair, &w->two_views[w->pairs[index]], &item->raw);
}

static psfm_status take_pair(psfm_context *ctx, size_t index, void *user, void *value) {
    (void)ctx;
    const pair_work *w = user;
    pair_result *result = value;
    w->refined[w->pairs[index]] = result->refined;
    result->refined = (psfm_pair_refined){0};
    return PSFM_OK;
}

psfm_status psfm_pairs_run(psfm_context *ctx, psfm_photo_setup *setup,
                           const psfm_two_view *two_views, const size_t *pairs, size_t num,
                           psfm_pair_refined *out) {
    pair_work work = {setup->set, two_views, pairs, out};
    uint32_t *ends = NULL;
    psfm_status status = PSFM_ALLOC(ctx, 2 * num, &ends);
    for (size_t k = 0; status == PSFM_OK && k < num; ++k) {
        ends[2 * k] = setup->set->pairs[pairs[k]].view1;
        ends[2 * k + 1] = setup->set->pairs[pairs[k]].view2;
    }
    psfm_task_list list = {.kind = &psfm_pair_tasks,
                           .stage = "refine matches",
                           .num = num,
                           .task_weight = PAIRS_PER_TASK,
                           .describe = describe_pair,
                           .parts = ends,
                           .parts_each = 2,
                           .commit = take_pair,
                           .user = &work};
    if (status == PSFM_OK)
        status = psfm_photo_tasks_run(ctx, setup, &list);
    free(ends);
    return status;
}
