/* Two-view geometries as tasks: some pairs each.
 *
 * A task has all that it needs with it, the rays of its matches: that is 150 bytes a match, some
 * ten times less to send than what estimating takes. Within one process the pairs are read where
 * they are, without tasks (twoview/two_view.c). */
#include "twoview/two_view_tasks.h"

#include <stdlib.h>

#include "base/alloc.h"

enum { PAIRS_PER_TASK = 16 };

/* ---- packets ---- */

static psfm_status pack_pair(psfm_context *ctx, const psfm_image_pair *images,
                             const psfm_correspondences *c, psfm_packet *packet) {
    psfm_packing p = {.ctx = ctx, .packet = packet};
    psfm_pack(&p, images, sizeof *images);
    psfm_pack(&p, &c->num, sizeof c->num);
    psfm_pack_array(&p, c->ray1, c->num, sizeof *c->ray1);
    psfm_pack_array(&p, c->ray2, c->num, sizeof *c->ray2);
    psfm_pack_array(&p, c->px1, c->num, sizeof *c->px1);
    psfm_pack_array(&p, c->px2, c->num, sizeof *c->px2);
    psfm_pack_array(&p, c->match_idx, c->num, sizeof *c->match_idx);
    return p.status;
}

/* The caller frees *c in any case. */
static psfm_status unpack_pair(psfm_context *ctx, psfm_packet_reader *reader,
                               psfm_image_pair *images, psfm_correspondences *c) {
    psfm_unpacking u = {.ctx = ctx, .reader = reader};
    psfm_unpack(&u, images, sizeof *images);
    psfm_unpack(&u, &c->num, sizeof c->num);
    psfm_unpack_known(&u, sizeof *c->ray1, c->num, &c->ray1);
    psfm_unpack_known(&u, sizeof *c->ray2, c->num, &c->ray2);
    psfm_unpack_known(&u, sizeof *c->px1, c->num, &c->px1);
    psfm_unpack_known(&u, sizeof *c->px2, c->num, &c->px2);
    psfm_unpack_known(&u, sizeof *c->match_idx, c->num, &c->match_idx);
    return u.status;
}

static psfm_status pack_result(psfm_context *ctx, const psfm_two_view *view, psfm_packet *packet) {
    const psfm_essential *e = &view->essential;
    psfm_packing p = {.ctx = ctx, .packet = packet};
    psfm_pack(&p, &view->kind, sizeof view->kind);
    psfm_pack(&p, e, sizeof *e);
    psfm_pack_array(&p, e->inliers, e->num_inliers, sizeof *e->inliers);
    psfm_pack_array(&p, view->homographies, view->num_homographies, sizeof *view->homographies);
    for (size_t k = 0; k < view->num_homographies; ++k) {
        const psfm_homography *h = &view->homographies[k];
        psfm_pack_array(&p, h->inliers, h->num_inliers, sizeof *h->inliers);
    }
    return p.status;
}

static psfm_status unpack_result(psfm_context *ctx, psfm_packet_reader *reader,
                                 psfm_two_view *view) {
    psfm_essential *e = &view->essential;
    psfm_unpacking u = {.ctx = ctx, .reader = reader};
    psfm_unpack(&u, &view->kind, sizeof view->kind);
    psfm_unpack(&u, e, sizeof *e);
    e->inliers = NULL; /* that was where it came from */
    psfm_unpack_array(&u, sizeof *e->inliers, &e->inliers, &e->num_inliers);
    psfm_unpack_array(&u, sizeof *view->homographies, &view->homographies, &view->num_homographies);
    for (size_t k = 0; k < view->num_homographies; ++k)
        view->homographies[k].inliers = NULL;
    for (size_t k = 0; k < view->num_homographies; ++k) {
        psfm_homography *h = &view->homographies[k];
        psfm_unpack_array(&u, sizeof *h->inliers, &h->inliers, &h->num_inliers);
    }
    if (u.status != PSFM_OK)
        psfm_two_view_free(view);
    return u.status;
}

/* ---- any rank's side ---- */

static psfm_status open_options(psfm_context *ctx, psfm_packet_reader *setup, int num_workers,
                                void **state) {
    (void)num_workers;
    psfm_two_view_options *options = NULL;
    psfm_status status = PSFM_ALLOC(ctx, 1, &options);
    if (status == PSFM_OK)
        status = psfm_packet_get(ctx, setup, options, sizeof *options);
    if (status != PSFM_OK) {
        free(options);
        return status;
    }
    *state = options;
    return PSFM_OK;
}

static psfm_status estimate(psfm_context *ctx, const psfm_two_view_options *options,
                            psfm_packet_reader *input, psfm_packet *result) {
    psfm_image_pair images;
    psfm_correspondences c = {0};
    psfm_two_view view = {0};
    psfm_status status = unpack_pair(ctx, input, &images, &c);
    if (status == PSFM_OK)
        status = psfm_two_view_estimate(ctx, &c, &images, options, &view);
    if (status == PSFM_OK)
        status = pack_result(ctx, &view, result);
    psfm_two_view_free(&view);
    psfm_correspondences_free(&c);
    return status;
}

static psfm_status estimate_pairs(psfm_context *ctx, void *state, int worker,
                                  psfm_packet_reader *input, psfm_packet *result) {
    (void)worker;
    psfm_status status = PSFM_OK;
    while (status == PSFM_OK && input->at < input->size)
        status = estimate(ctx, state, input, result);
    return status;
}

const psfm_task_kind psfm_two_view_tasks = {
    .name = "two-view geometry", .open = open_options, .run = estimate_pairs, .close = free};

/* ---- the first rank's side ---- */

typedef struct {
    const psfm_match_set *set;
    psfm_two_view *out;
} all_pairs;

static size_t end_of(const all_pairs *all, size_t index) {
    size_t end = (index + 1) * PAIRS_PER_TASK;
    return end < all->set->num_pairs ? end : all->set->num_pairs;
}

static psfm_status describe(psfm_context *ctx, size_t index, void *user, psfm_packet *input) {
    const all_pairs *all = user;
    psfm_status status = PSFM_OK;
    for (size_t k = index * PAIRS_PER_TASK; status == PSFM_OK && k < end_of(all, index); ++k) {
        const psfm_match_pair *pair = &all->set->pairs[k];
        const psfm_image_pair images = psfm_image_pair_of(all->set, pair);
        psfm_correspondences c = {0};
        status = psfm_correspondences_init(ctx, all->set, pair, &c);
        if (status == PSFM_OK)
            status = pack_pair(ctx, &images, &c, input);
        psfm_correspondences_free(&c);
    }
    return status;
}

static psfm_status take(psfm_context *ctx, size_t index, void *user, psfm_packet_reader *result) {
    const all_pairs *all = user;
    psfm_status status = PSFM_OK;
    for (size_t k = index * PAIRS_PER_TASK; status == PSFM_OK && k < end_of(all, index); ++k)
        status = unpack_result(ctx, result, &all->out[k]);
    return status == PSFM_OK
               ? psfm_progress(ctx, "two-view geometry", end_of(all, index), all->set->num_pairs)
               : status;
}

psfm_status psfm_two_view_spread(psfm_context *ctx, const psfm_match_set *set,
                                 const psfm_two_view_options *options, psfm_two_view *out) {
    all_pairs all = {set, out};
    psfm_two_view_options defaults;
    psfm_packet setup = {0};
    const psfm_task_list list = {.kind = &psfm_two_view_tasks,
                                 .num = (set->num_pairs + PAIRS_PER_TASK - 1) / PAIRS_PER_TASK,
                                 .setup = &setup,
                                 .describe = describe,
                                 .commit = take,
                                 .user = &all};
    psfm_options_init(&psfm_two_view_option_table, &defaults);
    psfm_status status =
        psfm_packet_put(ctx, &setup, options == NULL ? &defaults : options, sizeof defaults);
    if (status == PSFM_OK)
        status = psfm_progress(ctx, "two-view geometry", 0, set->num_pairs);
    if (status == PSFM_OK)
        status = psfm_tasks_run(ctx, &list);
    psfm_packet_free(&setup);
    return status;
}
