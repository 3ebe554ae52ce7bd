/* Pairs of photographs as tasks.
 *
 * The corners of each photograph are found first, by whichever rank reads it, and go to the first
 * rank, which numbers them. With a view they come back to the ranks that align its pairs; the
 * planes of a pair, some inliers, come with the pair. */
#include "refine/pair_tasks.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "refine/pair_packets.h"
#include "view/canonical.h"

/* A tenth of a second or so beside reading: a photograph of some megapixels takes as long, a pair
 * 5 milliseconds. */
enum { VIEWS_PER_TASK = 4, PAIRS_PER_TASK = 16 };

typedef struct {
    psfm_pair_plane_options planes;
    psfm_patch_options patch;
} pair_setup;

/* ---- any rank's side ---- */

typedef struct {
    psfm_rank_photos *photos;
    pair_setup setup;
    psfm_view_corners *corners; /* per view; empty where only corners are sought */
    uint64_t *streams;
} pair_state;

static void forget_views(void *state) {
    pair_state *s = state;
    for (size_t v = 0; s->corners != NULL && v < psfm_rank_photos_num_views(s->photos); ++v)
        psfm_view_corners_free(&s->corners[v]);
    psfm_rank_photos_forget(s->photos);
}

static void close_pairs(void *state) {
    pair_state *s = state;
    if (s->photos != NULL)
        forget_views(s);
    psfm_rank_photos_close(&s->photos);
    free(s->corners);
    free(s->streams);
    free(s);
}

static psfm_status open_pairs(psfm_context *ctx, psfm_packet_reader *reader, int num_workers,
                              void **state) {
    pair_state *s = NULL;
    psfm_status status = PSFM_ALLOC(ctx, 1, &s);
    if (status != PSFM_OK)
        return status;
    status = psfm_rank_photos_open(ctx, reader, num_workers, &s->photos);
    const size_t num = status == PSFM_OK ? psfm_rank_photos_num_views(s->photos) : 0;
    if (status == PSFM_OK)
        status = psfm_packet_get(ctx, reader, &s->setup, sizeof s->setup);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num, &s->corners);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num, &s->streams);
    if (status == PSFM_OK)
        *state = s;
    else
        close_pairs(s);
    return status;
}

static psfm_status take_view(psfm_context *ctx, void *state, uint32_t view,
                             psfm_packet_reader *reader) {
    const pair_state *s = state;
    psfm_view_corners *c = &s->corners[view];
    psfm_unpacking u = {.ctx = ctx, .reader = reader};
    u.status = psfm_rank_photos_take_view(ctx, s->photos, view, reader);
    if (reader->at < reader->size) {
        psfm_unpack(&u, &s->streams[view], sizeof *s->streams);
        psfm_unpack_array(&u, sizeof *c->corners, &c->corners, &c->num);
    }
    return u.status;
}

static psfm_status find_corners(psfm_context *ctx, const pair_state *s, uint32_t view,
                                psfm_view_corners *out) {
    const psfm_pyramid *photo;
    psfm_status status = psfm_rank_photos_get(ctx, s->photos, view, &photo);
    if (status != PSFM_OK)
        return status;
    if (photo == NULL)
        return psfm_strdup(ctx, psfm_rank_photos_problem(s->photos, view), &out->problem);
    status = psfm_view_corners_find(ctx, &s->setup.planes, &s->setup.patch, photo, out);
    psfm_rank_photos_release(s->photos, view);
    return status;
}

static psfm_status run_corners(psfm_context *ctx, void *state, int worker,
                               psfm_packet_reader *input, psfm_packet *result) {
    (void)worker;
    psfm_status status = PSFM_OK;
    while (status == PSFM_OK && input->at < input->size) {
        uint32_t view;
        psfm_view_corners found = {0};
        status = psfm_packet_get(ctx, input, &view, sizeof view);
        if (status == PSFM_OK)
            status = find_corners(ctx, state, view, &found);
        if (status == PSFM_OK)
            status = psfm_view_corners_pack(ctx, &found, result);
        psfm_view_corners_free(&found);
    }
    return status;
}

/* ---- one pair, on any rank ---- */

static psfm_status align_pair(psfm_context *ctx, const pair_state *s, int worker,
                              const uint32_t ends[2], const psfm_raw_planes *raw,
                              psfm_pair_refined *out) {
    const psfm_pyramid *photos[2];
    bool both = false;
    psfm_pair_photos in = {.raw = raw->planes, .num_planes = raw->num};
    psfm_status status = psfm_rank_photos_get_pair(ctx, s->photos, ends, photos, &both);
    if (!both)
        return status;
    for (int k = 0; k < 2; ++k) {
        const psfm_view_corners *c = &s->corners[ends[k]];
        in.sides[k] = (psfm_pair_side){
            {psfm_rank_photos_camera(s->photos, ends[k]), photos[k]}, c->corners, c->num};
        in.stream[k] = s->streams[ends[k]];
    }
    status = psfm_pair_planes_refine(ctx, psfm_rank_photos_aligner(s->photos, worker), &in,
                                     &s->setup.planes, out);
    psfm_rank_photos_release_pair(s->photos, ends);
    return status;
}

static psfm_status run_pairs(psfm_context *ctx, void *state, int worker, psfm_packet_reader *input,
                             psfm_packet *result) {
    psfm_status status = PSFM_OK;
    while (status == PSFM_OK && input->at < input->size) {
        uint32_t ends[2];
        psfm_raw_planes raw = {0};
        psfm_pair_refined refined = {0};
        status = psfm_packet_get(ctx, input, ends, sizeof ends);
        if (status == PSFM_OK)
            status = psfm_raw_planes_unpack(ctx, input, &raw);
        if (status == PSFM_OK)
            status = align_pair(ctx, state, worker, ends, &raw, &refined);
        if (status == PSFM_OK)
            status = psfm_pair_refined_pack(ctx, &refined, raw.num, result);
        psfm_pair_refined_free(&refined);
        psfm_raw_planes_free(&raw);
    }
    return status;
}

const psfm_task_kind psfm_corner_tasks = {.name = "corners",
                                          .open = open_pairs,
                                          .take_part = take_view,
                                          .forget_parts = forget_views,
                                          .run = run_corners,
                                          .close = close_pairs};
const psfm_task_kind psfm_pair_tasks = {.name = "pairs of photographs",
                                        .open = open_pairs,
                                        .take_part = take_view,
                                        .forget_parts = forget_views,
                                        .run = run_pairs,
                                        .close = close_pairs};

/* ---- the first rank's side ---- */

typedef struct {
    const psfm_pair_spread *spread;
    const uint32_t *views; /* of the corners; NULL: pairs are aligned */
    psfm_view_corners *corners;
    const size_t *pairs;
    const psfm_view_corners *known;
    psfm_pair_refined *refined;
} pair_work;

static psfm_photo_work start_work(const psfm_pair_spread *spread, const pair_setup *setup,
                                  pair_work *user) {
    return (psfm_photo_work){.photos = spread->photos,
                             .set = spread->set,
                             .cameras = spread->set->cameras,
                             .patch = spread->patch,
                             .setup = setup,
                             .setup_size = sizeof *setup,
                             .user = user};
}

static psfm_status pack_view(psfm_context *ctx, size_t piece, void *user, psfm_packet *input) {
    const pair_work *w = user;
    return psfm_packet_put(ctx, input, &w->views[piece], sizeof *w->views);
}

static psfm_status take_corners(psfm_context *ctx, size_t piece, void *user,
                                psfm_packet_reader *result) {
    const pair_work *w = user;
    return psfm_view_corners_unpack(ctx, result, &w->corners[w->views[piece]]);
}

psfm_status psfm_corners_spread(psfm_context *ctx, const psfm_pair_spread *spread,
                                const uint32_t *views, size_t num, psfm_view_corners *corners) {
    const pair_setup setup = {*spread->planes, *spread->patch};
    pair_work user = {.spread = spread, .views = views, .corners = corners};
    psfm_photo_work work = start_work(spread, &setup, &user);
    work.kind = &psfm_corner_tasks;
    work.num = num;
    work.views = views;
    work.views_each = 1;
    work.task_weight = VIEWS_PER_TASK;
    work.pack = pack_view;
    work.take = take_corners;
    return psfm_photo_work_spread(ctx, &work);
}

static psfm_status pack_known(psfm_context *ctx, uint32_t view, void *user, psfm_packet *content) {
    const pair_work *w = user;
    const uint64_t stream = psfm_view_stream(&w->spread->set->views[view]);
    psfm_packing p = {.ctx = ctx, .packet = content};
    psfm_pack(&p, &stream, sizeof stream);
    psfm_pack_array(&p, w->known[view].corners, w->known[view].num, sizeof *w->known->corners);
    return p.status;
}

static psfm_status pack_pair(psfm_context *ctx, size_t piece, void *user, psfm_packet *input) {
    const pair_work *w = user;
    const size_t index = w->pairs[piece];
    const psfm_match_pair *pair = &w->spread->set->pairs[index];
    const uint32_t ends[2] = {pair->view1, pair->view2};
    psfm_raw_planes raw = {0};
    psfm_status status = psfm_packet_put(ctx, input, ends, sizeof ends);
    if (status == PSFM_OK)
        status =
            psfm_raw_planes_list(ctx, w->spread->set, pair, &w->spread->two_views[index], &raw);
    if (status == PSFM_OK)
        status = psfm_raw_planes_pack(ctx, &raw, input);
    psfm_raw_planes_free(&raw);
    return status;
}

static psfm_status take_pair(psfm_context *ctx, size_t piece, void *user,
                             psfm_packet_reader *result) {
    const pair_work *w = user;
    const size_t index = w->pairs[piece];
    const psfm_match_pair *pair = &w->spread->set->pairs[index];
    const size_t num_corners[2] = {w->known[pair->view1].num, w->known[pair->view2].num};
    return psfm_pair_refined_unpack(ctx, result, w->spread->two_views[index].num_homographies,
                                    num_corners, &w->refined[index]);
}

psfm_status psfm_pairs_spread(psfm_context *ctx, const psfm_pair_spread *spread,
                              const size_t *pairs, size_t num, const psfm_view_corners *corners,
                              psfm_pair_refined *out) {
    const pair_setup setup = {*spread->planes, *spread->patch};
    pair_work user = {.spread = spread, .pairs = pairs, .known = corners, .refined = out};
    psfm_photo_work work = start_work(spread, &setup, &user);
    uint32_t *ends = NULL;
    psfm_status status = PSFM_ALLOC(ctx, 2 * num, &ends);
    for (size_t k = 0; status == PSFM_OK && k < num; ++k) {
        ends[2 * k] = spread->set->pairs[pairs[k]].view1;
        ends[2 * k + 1] = spread->set->pairs[pairs[k]].view2;
    }
    work.kind = &psfm_pair_tasks;
    work.stage = "refine matches";
    work.num = num;
    work.views = ends;
    work.views_each = 2;
    work.task_weight = PAIRS_PER_TASK;
    work.pack = pack_pair;
    work.take = take_pair;
    work.pack_view = pack_known;
    if (status == PSFM_OK)
        status = psfm_photo_work_spread(ctx, &work);
    free(ends);
    return status;
}
