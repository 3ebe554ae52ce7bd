/* Searches of points as tasks: groups of searches between the same two views, whose poses the ranks
 * get once. Only what was found comes back whole, of the rest its outcome. */
#include "refine/track_tasks.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* A tenth of a second or so. */
#define SEARCHES_PER_TASK 4000

/* ---- any rank's side ---- */

typedef struct {
    double cam_from_world[9], center[3];
} view_pose;

typedef struct {
    psfm_rank_photos *photos;
    view_pose *poses; /* per view */
    double max_shift_px;
} track_state;

static void close_tracks(void *state) {
    track_state *s = state;
    psfm_rank_photos_close(&s->photos);
    free(s->poses);
    free(s);
}

static psfm_status open_tracks(psfm_context *ctx, psfm_packet_reader *reader, int num_workers,
                               void **state) {
    track_state *s = NULL;
    psfm_status status = PSFM_ALLOC(ctx, 1, &s);
    if (status != PSFM_OK)
        return status;
    status = psfm_rank_photos_open(ctx, reader, num_workers, &s->photos);
    if (status == PSFM_OK)
        status = psfm_packet_get(ctx, reader, &s->max_shift_px, sizeof s->max_shift_px);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, psfm_rank_photos_num_views(s->photos), &s->poses);
    if (status == PSFM_OK)
        *state = s;
    else
        close_tracks(s);
    return status;
}

static psfm_status take_view(psfm_context *ctx, void *state, uint32_t view,
                             psfm_packet_reader *reader) {
    const track_state *s = state;
    psfm_status status = psfm_rank_photos_take_view(ctx, s->photos, view, reader);
    return status == PSFM_OK ? psfm_packet_get(ctx, reader, &s->poses[view], sizeof s->poses[view])
                             : status;
}

static void forget_views(void *state) {
    const track_state *s = state;
    psfm_rank_photos_forget(s->photos);
}

static psfm_status seek(psfm_context *ctx, const track_state *s, int worker, const uint32_t ends[2],
                        const psfm_track_sight *sights, size_t num, psfm_patch_match *found) {
    const psfm_pyramid *photos[2];
    psfm_track_view views[2];
    bool both = false;
    psfm_status status = psfm_rank_photos_get_pair(ctx, s->photos, ends, photos, &both);
    for (size_t k = 0; k < num; ++k)
        found[k].outcome = PSFM_PATCH_OUTSIDE;
    if (!both)
        return status;
    for (int k = 0; k < 2; ++k)
        views[k] = (psfm_track_view){{psfm_rank_photos_camera(s->photos, ends[k]), photos[k]},
                                     s->poses[ends[k]].cam_from_world,
                                     s->poses[ends[k]].center};
    for (size_t k = 0; k < num; ++k)
        psfm_track_sight_seek(psfm_rank_photos_aligner(s->photos, worker), views, &sights[k],
                              s->max_shift_px, &found[k]);
    psfm_rank_photos_release_pair(s->photos, ends);
    return PSFM_OK;
}

/* Outcomes of all searches, and what was found. Sorts what was found to the front. */
static psfm_status pack_found(psfm_context *ctx, psfm_patch_match *found, size_t num,
                              psfm_packet *result) {
    psfm_packing p = {.ctx = ctx, .packet = result};
    size_t num_aligned = 0;
    psfm_pack(&p, &num, sizeof num);
    for (size_t k = 0; k < num; ++k) {
        const uint8_t outcome = (uint8_t)found[k].outcome;
        psfm_pack(&p, &outcome, sizeof outcome);
        if (found[k].outcome == PSFM_PATCH_ALIGNED)
            found[num_aligned++] = found[k];
    }
    psfm_pack_array(&p, found, num_aligned, sizeof *found);
    return p.status;
}

static psfm_status run_group(psfm_context *ctx, const track_state *s, int worker,
                             psfm_packet_reader *input, psfm_packet *result) {
    uint32_t ends[2];
    psfm_track_sight *sights = NULL;
    psfm_patch_match *found = NULL;
    size_t num = 0;
    psfm_unpacking u = {.ctx = ctx, .reader = input};
    psfm_unpack(&u, ends, sizeof ends);
    psfm_unpack_array(&u, sizeof *sights, &sights, &num);
    psfm_status status = u.status;
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num, &found);
    if (status == PSFM_OK)
        status = seek(ctx, s, worker, ends, sights, num, found);
    if (status == PSFM_OK)
        status = pack_found(ctx, found, num, result);
    free(sights);
    free(found);
    return status;
}

static psfm_status run_groups(psfm_context *ctx, void *state, int worker, psfm_packet_reader *input,
                              psfm_packet *result) {
    psfm_status status = PSFM_OK;
    while (status == PSFM_OK && input->at < input->size)
        status = run_group(ctx, state, worker, input, result);
    return status;
}

const psfm_task_kind psfm_track_tasks = {.name = "tracks",
                                         .open = open_tracks,
                                         .take_part = take_view,
                                         .forget_parts = forget_views,
                                         .run = run_groups,
                                         .close = close_tracks};

/* ---- the first rank's side ---- */

typedef struct {
    const psfm_track_spread *spread;
    const size_t *order;
} track_work;

/* The searches of a piece of work. */
static psfm_track_search *group_of(const track_work *w, size_t piece, size_t *num) {
    const psfm_track_plan *plan = w->spread->plan;
    const size_t *group = &plan->groups[w->order[piece]];
    *num = group[1] - group[0];
    return &plan->searches[group[0]];
}

static psfm_status pack_pose(psfm_context *ctx, uint32_t view, void *user, psfm_packet *content) {
    const track_work *w = user;
    const psfm_poses *poses = w->spread->scene->poses;
    view_pose pose;
    memcpy(pose.cam_from_world, poses->cam_from_world[view], sizeof pose.cam_from_world);
    memcpy(pose.center, poses->center[view], sizeof pose.center);
    return psfm_packet_put(ctx, content, &pose, sizeof pose);
}

static psfm_status pack_group(psfm_context *ctx, size_t piece, void *user, psfm_packet *input) {
    const track_work *w = user;
    const psfm_track_spread *s = w->spread;
    size_t num;
    const psfm_track_search *searches = group_of(w, piece, &num);
    const uint32_t ends[2] = {searches->from, searches->to};
    psfm_packing p = {.ctx = ctx, .packet = input};
    psfm_pack(&p, ends, sizeof ends);
    psfm_pack(&p, &num, sizeof num);
    for (size_t k = 0; k < num; ++k) {
        const psfm_track_sight sight =
            psfm_track_sight_of(s->set, s->structure, s->plan, &searches[k]);
        psfm_pack(&p, &sight, sizeof sight);
    }
    return p.status;
}

/* Gives each search its outcome, and those that found something what it is. */
static psfm_status take_found(psfm_context *ctx, const uint8_t *outcomes, size_t num,
                              const psfm_patch_match *aligned, size_t num_aligned,
                              psfm_track_search *searches) {
    size_t at = 0;
    for (size_t k = 0; k < num; ++k) {
        const bool is_aligned = outcomes[k] == PSFM_PATCH_ALIGNED;
        if (outcomes[k] >= PSFM_NUM_PATCH_OUTCOMES || (is_aligned && at == num_aligned))
            return psfm_fail(ctx, PSFM_ERR_FORMAT, "a packet with outcomes of other searches");
        searches[k].found = is_aligned ? aligned[at++] : (psfm_patch_match){0};
        searches[k].found.outcome = outcomes[k];
    }
    return at == num_aligned
               ? PSFM_OK
               : psfm_fail(ctx, PSFM_ERR_FORMAT, "a packet with more than was sought");
}

static psfm_status take_group(psfm_context *ctx, size_t piece, void *user,
                              psfm_packet_reader *result) {
    const track_work *w = user;
    uint8_t *outcomes = NULL;
    psfm_patch_match *aligned = NULL;
    size_t num, num_aligned = 0;
    psfm_track_search *searches = group_of(w, piece, &num);
    psfm_unpacking u = {.ctx = ctx, .reader = result};
    psfm_unpack_known(&u, sizeof *outcomes, num, &outcomes);
    psfm_unpack_array(&u, sizeof *aligned, &aligned, &num_aligned);
    if (u.status == PSFM_OK)
        u.status = take_found(ctx, outcomes, num, aligned, num_aligned, searches);
    free(outcomes);
    free(aligned);
    return u.status;
}

psfm_status psfm_tracks_spread(psfm_context *ctx, const psfm_track_spread *spread,
                               const size_t *order) {
    const size_t num = spread->plan->num_groups;
    track_work user = {spread, order};
    uint32_t *ends = NULL;
    size_t *weights = NULL;
    psfm_status status = PSFM_ALLOC(ctx, 2 * num, &ends);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num, &weights);
    for (size_t k = 0; status == PSFM_OK && k < num; ++k) {
        const psfm_track_search *first = group_of(&user, k, &weights[k]);
        ends[2 * k] = first->from;
        ends[2 * k + 1] = first->to;
    }
    const psfm_photo_work work = {.kind = &psfm_track_tasks,
                                  .stage = "align tracks",
                                  .photos = spread->scene->photos,
                                  .set = spread->set,
                                  .cameras = spread->scene->cameras,
                                  .patch = spread->patch,
                                  .setup = &spread->max_shift_px,
                                  .setup_size = sizeof spread->max_shift_px,
                                  .num = num,
                                  .views = ends,
                                  .views_each = 2,
                                  .weights = weights,
                                  .task_weight = SEARCHES_PER_TASK,
                                  .pack = pack_group,
                                  .take = take_group,
                                  .pack_view = pack_pose,
                                  .user = &user};
    if (status == PSFM_OK)
        status = psfm_photo_work_spread(ctx, &work);
    free(ends);
    free(weights);
    return status;
}
