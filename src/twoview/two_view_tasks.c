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
    psfm_status status = psfm_packet_put(ctx, packet, images, sizeof *images);
    if (status == PSFM_OK)
        status = psfm_packet_put_array(ctx, packet, c->ray1, c->num, sizeof *c->ray1);
    if (status == PSFM_OK)
        status = psfm_packet_put_array(ctx, packet, c->ray2, c->num, sizeof *c->ray2);
    if (status == PSFM_OK)
        status = psfm_packet_put_array(ctx, packet, c->px1, c->num, sizeof *c->px1);
    if (status == PSFM_OK)
        status = psfm_packet_put_array(ctx, packet, c->px2, c->num, sizeof *c->px2);
    if (status == PSFM_OK)
        status = psfm_packet_put_array(ctx, packet, c->match_idx, c->num, sizeof *c->match_idx);
    return status;
}

/* An array that must be as long as the first one. */
static psfm_status get_array(psfm_context *ctx, psfm_packet_reader *reader, size_t num, size_t size,
                             void *out) {
    size_t found;
    psfm_status status = psfm_packet_get_array(ctx, reader, size, out, &found);
    if (status == PSFM_OK && found != num)
        status = psfm_fail(ctx, PSFM_ERR_FORMAT, "%zu of %zu matches in a packet", found, num);
    return status;
}

/* The caller frees *c in any case. */
static psfm_status unpack_pair(psfm_context *ctx, psfm_packet_reader *reader,
                               psfm_image_pair *images, psfm_correspondences *c) {
    psfm_status status = psfm_packet_get(ctx, reader, images, sizeof *images);
    if (status == PSFM_OK)
        status = psfm_packet_get_array(ctx, reader, sizeof *c->ray1, &c->ray1, &c->num);
    if (status == PSFM_OK)
        status = get_array(ctx, reader, c->num, sizeof *c->ray2, &c->ray2);
    if (status == PSFM_OK)
        status = get_array(ctx, reader, c->num, sizeof *c->px1, &c->px1);
    if (status == PSFM_OK)
        status = get_array(ctx, reader, c->num, sizeof *c->px2, &c->px2);
    if (status == PSFM_OK)
        status = get_array(ctx, reader, c->num, sizeof *c->match_idx, &c->match_idx);
    return status;
}

static psfm_status pack_result(psfm_context *ctx, const psfm_two_view *view, psfm_packet *packet) {
    const psfm_essential *e = &view->essential;
    psfm_status status = psfm_packet_put(ctx, packet, &view->kind, sizeof view->kind);
    if (status == PSFM_OK)
        status = psfm_packet_put(ctx, packet, e, sizeof *e);
    if (status == PSFM_OK)
        status = psfm_packet_put_array(ctx, packet, e->inliers, e->num_inliers, sizeof *e->inliers);
    if (status == PSFM_OK)
        status = psfm_packet_put_array(ctx, packet, view->homographies, view->num_homographies,
                                       sizeof *view->homographies);
    for (size_t k = 0; status == PSFM_OK && k < view->num_homographies; ++k) {
        const psfm_homography *h = &view->homographies[k];
        status = psfm_packet_put_array(ctx, packet, h->inliers, h->num_inliers, sizeof *h->inliers);
    }
    return status;
}

static psfm_status unpack_result(psfm_context *ctx, psfm_packet_reader *reader,
                                 psfm_two_view *view) {
    psfm_essential *e = &view->essential;
    psfm_status status = psfm_packet_get(ctx, reader, &view->kind, sizeof view->kind);
    if (status == PSFM_OK)
        status = psfm_packet_get(ctx, reader, e, sizeof *e);
    e->inliers = NULL; /* that was where it came from */
    if (status == PSFM_OK)
        status =
            psfm_packet_get_array(ctx, reader, sizeof *e->inliers, &e->inliers, &e->num_inliers);
    if (status == PSFM_OK)
        status = psfm_packet_get_array(ctx, reader, sizeof *view->homographies, &view->homographies,
                                       &view->num_homographies);
    for (size_t k = 0; k < view->num_homographies; ++k)
        view->homographies[k].inliers = NULL;
    for (size_t k = 0; status == PSFM_OK && k < view->num_homographies; ++k) {
        psfm_homography *h = &view->homographies[k];
        status =
            psfm_packet_get_array(ctx, reader, sizeof *h->inliers, &h->inliers, &h->num_inliers);
    }
    if (status != PSFM_OK)
        psfm_two_view_free(view);
    return status;
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
