/* Pairs by the neighbour rule, and their matches: the common points less those missed, a share of
 * them joined to a wrong keypoint. In a duplicate pair each point is joined to its duplicate
 * instead of itself, so that the matches agree with a wrong relative pose. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/linalg/order_statistics.h"
#include "synth/observe.h"

/* A pair that shows fewer duplicates is not made a duplicate pair: it would mislead no solver. */
#define MIN_DUPLICATE_MATCHES 20

typedef struct {
    psfm_match_pair *pairs;
    size_t num, capacity;
} pair_list;

static psfm_status add_pair(psfm_context *ctx, pair_list *list, size_t i, size_t j) {
    psfm_status status = PSFM_RESERVE(ctx, &list->pairs, &list->capacity, list->num + 1);
    if (status == PSFM_OK) {
        uint32_t a = (uint32_t)(i < j ? i : j), b = (uint32_t)(i < j ? j : i);
        list->pairs[list->num++] = (psfm_match_pair){.view1 = a, .view2 = b};
    }
    return status;
}

static psfm_status list_chain(psfm_context *ctx, const psfm_plan *plan, pair_list *list) {
    size_t n = plan->num_cameras, reach = (size_t)plan->options->neighbours;
    bool open = plan->options->open_chain || plan->layout->never_wraps;
    psfm_status status = PSFM_OK;
    for (size_t i = 0; i < n; ++i)
        for (size_t d = 1; d <= reach && d < n && status == PSFM_OK; ++d)
            if (!open || i + d < n)
                status = add_pair(ctx, list, i, (i + d) % n);
    return status;
}

/* The camera at a place of the grid, where every other line is flown backwards; n or more if there
 * is none. */
static size_t grid_camera(const psfm_plan *plan, long line, long column) {
    long columns = plan->columns;
    if (line < 0 || column < 0 || column >= columns)
        return plan->num_cameras;
    return (size_t)(line * columns + (line % 2 == 1 ? columns - 1 - column : column));
}

static psfm_status list_grid(psfm_context *ctx, const psfm_plan *plan, pair_list *list) {
    long columns = plan->columns, reach = plan->options->neighbours;
    psfm_status status = PSFM_OK;
    for (size_t i = 0; i < plan->num_cameras; ++i) {
        long line = (long)i / columns, column = (long)i % columns;
        if (line % 2 == 1)
            column = columns - 1 - column;
        for (long down = 0; down <= reach; ++down) {
            for (long right = -reach; right <= reach && status == PSFM_OK; ++right) {
                bool near = down * down + right * right <= reach * reach + 1;
                size_t j = grid_camera(plan, line + down, column + right);
                if (near && (down > 0 || right > 0) && j < plan->num_cameras)
                    status = add_pair(ctx, list, i, j);
            }
        }
    }
    return status;
}

/* Where an image looks, on the ground plan. */
typedef struct {
    double view[2];
    uint32_t image;
} looked_at;

static int compare_looked_at(const void *a, const void *b) {
    const looked_at *p = a, *q = b;
    if (p->view[0] != q->view[0])
        return p->view[0] < q->view[0] ? -1 : 1;
    return (p->image > q->image) - (p->image < q->image);
}

/* Images that look at places near each other, by a sweep along x. */
static psfm_status list_near(psfm_context *ctx, const psfm_plan *plan, pair_list *list) {
    size_t n = plan->num_cameras;
    looked_at *place = NULL;
    psfm_status status = PSFM_ALLOC(ctx, n, &place);
    if (status != PSFM_OK)
        return status;
    for (size_t i = 0; i < n; ++i) {
        psfm_synth_pose pose;
        plan->layout->place(plan, i, &pose);
        place[i] = (looked_at){{pose.view[0], pose.view[1]}, (uint32_t)i};
    }
    qsort(place, n, sizeof *place, compare_looked_at);
    for (size_t i = 0; i < n; ++i) {
        const double *a = place[i].view;
        for (size_t j = i + 1; j < n && place[j].view[0] - a[0] <= plan->pair_reach; ++j) {
            const double *b = place[j].view;
            if (status == PSFM_OK && hypot(b[0] - a[0], b[1] - a[1]) <= plan->pair_reach)
                status = add_pair(ctx, list, place[i].image, place[j].image);
        }
    }
    free(place);
    return status;
}

psfm_status psfm_synth_list_pairs(psfm_context *ctx, const psfm_plan *plan, psfm_match_pair **pairs,
                                  size_t *num_pairs) {
    pair_list list = {0};
    psfm_status status = plan->columns > 0        ? list_grid(ctx, plan, &list)
                         : plan->pair_reach > 0.0 ? list_near(ctx, plan, &list)
                                                  : list_chain(ctx, plan, &list);
    if (status != PSFM_OK) {
        free(list.pairs);
        return status;
    }
    if (list.num > 0)
        qsort(list.pairs, list.num, sizeof *list.pairs, psfm_match_pair_compare);
    size_t num = 0; /* in a small ring a pair is its own neighbour on both sides */
    for (size_t k = 0; k < list.num; ++k)
        if (num == 0 || psfm_match_pair_compare(&list.pairs[num - 1], &list.pairs[k]) != 0)
            list.pairs[num++] = list.pairs[k];
    *pairs = list.pairs;
    *num_pairs = num;
    return PSFM_OK;
}

typedef struct {
    const psfm_world *world;
    const psfm_synth_view *views;
    psfm_match_pair *pairs;
    size_t *num_duplicates; /* per pair: points whose duplicate the second image shows */
    bool *is_duplicate;
} match_job;

/* The place of a point in a view, or PSFM_NO_INDEX. */
static uint32_t find_in_view(const psfm_synth_view *view, uint32_t point) {
    if (view->num == 0)
        return PSFM_NO_INDEX;
    const uint32_t *found =
        bsearch(&point, view->points, view->num, sizeof point, psfm_compare_u32);
    return found == NULL ? PSFM_NO_INDEX : (uint32_t)(found - view->points);
}

/* Where the second image shows each point of the first; as find_duplicates, by one pass over both.
 */
static size_t find_same(const psfm_synth_view *a, const psfm_synth_view *b, uint32_t *partner) {
    size_t num = 0, at = 0;
    for (size_t k = 0; k < a->num; ++k) {
        while (at < b->num && b->points[at] < a->points[k])
            ++at;
        bool found = at < b->num && b->points[at] == a->points[k];
        partner[k] = found ? (uint32_t)at : PSFM_NO_INDEX;
        num += found;
    }
    return num;
}

/* Where the second image shows the duplicate of each point of the first: partner has one entry per
 * point of the first view, a place in the second or PSFM_NO_INDEX. Returns how many are found. */
static size_t find_duplicates(const match_job *job, const psfm_match_pair *pair,
                              uint32_t *partner) {
    const psfm_synth_view *a = &job->views[pair->view1], *b = &job->views[pair->view2];
    const double *view1 = job->world->poses[pair->view1].view;
    const double *view2 = job->world->poses[pair->view2].view;
    const double middle[2] = {0.5 * (view1[0] + view2[0]), 0.5 * (view1[1] + view2[1])};
    size_t num = 0;
    for (size_t k = 0; k < a->num; ++k) {
        partner[k] = find_in_view(b, psfm_world_duplicate(job->world, middle, a->points[k]));
        num += partner[k] != PSFM_NO_INDEX;
    }
    return num;
}

static psfm_status count_duplicates(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    match_job *job = user;
    const psfm_match_pair *pair = &job->pairs[index];
    uint32_t *partner = NULL;
    psfm_status status = PSFM_ALLOC(ctx, job->views[pair->view1].num, &partner);
    if (status == PSFM_OK)
        job->num_duplicates[index] = find_duplicates(job, pair, partner);
    free(partner);
    return status;
}

/* Picks the duplicate pairs among those that show enough duplicates. */
static psfm_status choose_duplicate_pairs(psfm_context *ctx, match_job *job, size_t num_pairs) {
    const psfm_plan *plan = &job->world->plan;
    size_t wanted = (size_t)lround(plan->options->duplicates * (double)num_pairs);
    if (wanted == 0)
        return PSFM_OK;
    uint32_t *eligible = NULL;
    psfm_status status = PSFM_ALLOC(ctx, num_pairs, &job->num_duplicates);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num_pairs, &eligible);
    if (status == PSFM_OK)
        status = psfm_parallel_for(ctx, NULL, num_pairs, count_duplicates, job);
    if (status == PSFM_OK) {
        size_t num = 0;
        for (size_t k = 0; k < num_pairs; ++k)
            if (job->num_duplicates[k] >= MIN_DUPLICATE_MATCHES)
                eligible[num++] = (uint32_t)k;
        psfm_rng rng = psfm_synth_rng(plan, PSFM_STREAM_DUPLICATE, 0);
        psfm_rng_shuffle(&rng, eligible, num);
        for (size_t k = 0; k < wanted && k < num; ++k)
            job->is_duplicate[eligible[k]] = true;
        if (num < wanted)
            status =
                psfm_fail(ctx, PSFM_ERR_DATA,
                          "scene %s: %zu of %zu pairs shall be matched to the duplicate, but only "
                          "%zu show at least %d of its points",
                          plan->layout->name, wanted, num_pairs, num, MIN_DUPLICATE_MATCHES);
    }
    free(job->num_duplicates);
    free(eligible);
    return status;
}

/* Moves num_wrong matches, drawn at random, to the front. */
static void draw_wrong(psfm_rng *rng, psfm_match_pair *pair, size_t num_wrong) {
    for (size_t k = 0; k < num_wrong; ++k) {
        size_t other = k + psfm_rng_below(rng, pair->num_matches - k);
        uint32_t swap[2];
        memcpy(swap, pair->matches[k], sizeof swap);
        memcpy(pair->matches[k], pair->matches[other], sizeof swap);
        memcpy(pair->matches[other], swap, sizeof swap);
    }
}

/* Gives num_wrong of the matches a wrong keypoint of the second image: one that no match uses, or
 * that of another wrong match, so that keypoints stay matched at most once. `keypoints` has room
 * for all of the second image. */
static void spoil_matches(psfm_rng *rng, psfm_match_pair *pair, size_t num_wrong,
                          size_t num_keypoints2, uint32_t *keypoints) {
    draw_wrong(rng, pair, num_wrong);
    memset(keypoints, 0, num_keypoints2 * sizeof *keypoints);
    for (size_t k = num_wrong; k < pair->num_matches; ++k)
        keypoints[pair->matches[k][1]] = 1;
    size_t num_free = 0; /* never ahead of k, so the list can grow over the marks */
    for (uint32_t k = 0; k < num_keypoints2; ++k)
        if (keypoints[k] == 0)
            keypoints[num_free++] = k;
    if (num_free < 2)
        return; /* one match and no other keypoint */
    psfm_rng_shuffle(rng, keypoints, num_free);
    /* Swapping a right keypoint with any other leaves both places wrong, as all are different. */
    for (size_t k = 0; k < num_wrong; ++k) {
        if (keypoints[k] == pair->matches[k][1]) {
            size_t other = (k + 1) % num_free;
            keypoints[k] = keypoints[other];
            keypoints[other] = pair->matches[k][1];
        }
    }
    for (size_t k = 0; k < num_wrong; ++k)
        pair->matches[k][1] = keypoints[k];
}

/* Task of one pair. */
static psfm_status match_pair(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    match_job *job = user;
    psfm_match_pair *pair = &job->pairs[index];
    const psfm_scene_options *options = job->world->plan.options;
    const psfm_synth_view *a = &job->views[pair->view1], *b = &job->views[pair->view2];
    psfm_rng rng = psfm_synth_rng(&job->world->plan, PSFM_STREAM_MATCH,
                                  (uint64_t)pair->view1 << 32 | pair->view2);
    uint32_t *partner = NULL, *keypoints = NULL;
    psfm_status status = PSFM_ALLOC(ctx, a->num, &partner);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, b->num, &keypoints);
    if (status != PSFM_OK)
        goto cleanup;
    size_t num =
        job->is_duplicate[index] ? find_duplicates(job, pair, partner) : find_same(a, b, partner);
    status = PSFM_ALLOC(ctx, num, &pair->matches);
    if (status != PSFM_OK)
        goto cleanup;
    for (size_t k = 0; k < a->num; ++k) {
        uint32_t at = partner[k];
        if (at == PSFM_NO_INDEX || psfm_rng_uniform(&rng) < options->miss)
            continue;
        pair->matches[pair->num_matches][0] = a->keypoints[k];
        pair->matches[pair->num_matches++][1] = b->keypoints[at];
    }
    size_t num_wrong = (size_t)lround(options->outliers * (double)pair->num_matches);
    if (num_wrong > 0)
        spoil_matches(&rng, pair, num_wrong, b->num, keypoints);
    /* by the first keypoint, which is unique */
    qsort(pair->matches, pair->num_matches, sizeof *pair->matches, psfm_compare_u32);
cleanup:
    free(partner);
    free(keypoints);
    return status;
}

psfm_status psfm_synth_match(psfm_context *ctx, const psfm_world *world,
                             const psfm_synth_view *views, psfm_match_pair *pairs, size_t num_pairs,
                             bool **is_duplicate) {
    match_job job = {.world = world, .views = views, .pairs = pairs};
    psfm_status status = PSFM_ALLOC(ctx, num_pairs, is_duplicate);
    if (status != PSFM_OK)
        return status;
    job.is_duplicate = *is_duplicate;
    status = choose_duplicate_pairs(ctx, &job, num_pairs);
    if (status == PSFM_OK)
        status = psfm_parallel_for(ctx, NULL, num_pairs, match_pair, &job);
    return status;
}
