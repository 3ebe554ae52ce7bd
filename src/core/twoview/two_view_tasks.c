/* The geometries of all pairs as tasks.
 *
 * A task has all that it needs with it, the rays of its matches: that is 150 bytes a match, some
 * ten times less to send than what estimating takes. */
#include "core/twoview/two_view_tasks.h"

#include "core/twoview/two_view.h"

enum { PAIRS_PER_TASK = 16 };

typedef struct {
    psfm_image_pair images;
    psfm_correspondences matches;
} pair_item;

/* ---- any rank's side ---- */

static void move_pair(psfm_transfer *t, void *item) {
    psfm_correspondences *c = &((pair_item *)item)->matches;
    psfm_move(t, item, sizeof(pair_item));
    psfm_move_array(t, &c->ray1, &c->num, sizeof *c->ray1);
    psfm_move_array(t, &c->ray2, &c->num, sizeof *c->ray2);
    psfm_move_array(t, &c->px1, &c->num, sizeof *c->px1);
    psfm_move_array(t, &c->px2, &c->num, sizeof *c->px2);
    psfm_move_array(t, &c->match_idx, &c->num, sizeof *c->match_idx);
}

static void free_pair(void *item) {
    psfm_correspondences_free(&((pair_item *)item)->matches);
}

static psfm_status estimate_pair(psfm_context *ctx, void *options, int worker, void *item,
                                 void *result) {
    (void)worker;
    const pair_item *pair = item;
    return psfm_two_view_estimate(ctx, &pair->matches, &pair->images, options, result);
}

static void move_geometry(psfm_transfer *t, void *result) {
    psfm_two_view *view = result;
    psfm_essential *e = &view->essential;
    psfm_move(t, view, sizeof *view);
    psfm_move_array(t, &e->inliers, &e->num_inliers, sizeof *e->inliers);
    psfm_move_array(t, &view->homographies, &view->num_homographies, sizeof *view->homographies);
    for (size_t k = 0; k < view->num_homographies; ++k) {
        psfm_homography *h = &view->homographies[k];
        psfm_move_array(t, &h->inliers, &h->num_inliers, sizeof *h->inliers);
    }
}

static void free_geometry(void *result) {
    psfm_two_view_free(result);
}

const psfm_task_kind psfm_two_view_tasks = {
    .name = "two-view geometry",
    .setup = {.size = sizeof(psfm_two_view_options)},
    .item = {sizeof(pair_item), move_pair, free_pair},
    .result = {sizeof(psfm_two_view), move_geometry, free_geometry},
    .compute = estimate_pair};

/* ---- the first rank's side ---- */

typedef struct {
    const psfm_match_set *set;
    psfm_two_view *out;
} all_pairs;

static psfm_status describe_pair(psfm_context *ctx, size_t index, void *user, void *item) {
    const all_pairs *all = user;
    const psfm_match_pair *pair = &all->set->pairs[index];
    pair_item *out = item;
    out->images = psfm_image_pair_of(all->set, pair);
    return psfm_correspondences_init(ctx, all->set, pair, &out->matches);
}

static psfm_status take_geometry(psfm_context *ctx, size_t index, void *user, void *result) {
    (void)ctx;
    const all_pairs *all = user;
    psfm_two_view *found = result;
    all->out[index] = *found;
    *found = (psfm_two_view){0};
    return PSFM_OK;
}

psfm_status psfm_two_view_estimate_all(psfm_context *ctx, const psfm_match_set *set,
                                       const psfm_two_view_options *options, psfm_two_view *out) {
    all_pairs all = {set, out};
    psfm_two_view_options setup;
    psfm_options_init(&psfm_two_view_option_table, &setup);
    setup = options == NULL ? setup : *options;
    const psfm_task_list list = {.kind = &psfm_two_view_tasks,
                                 .stage = "two-view geometry",
                                 .setup = &setup,
                                 .num = set->num_pairs,
                                 .task_weight = PAIRS_PER_TASK,
                                 .describe = describe_pair,
                                 .commit = take_geometry,
                                 .user = &all};
    psfm_status status = psfm_tasks_run(ctx, &list);
    for (size_t k = 0; status != PSFM_OK && k < set->num_pairs; ++k)
        psfm_two_view_free(&out[k]);
    return status;
}
