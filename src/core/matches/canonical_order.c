/* One order for one input.
 *
 * Sums are rounded and ties are broken in the order of views, pairs and matches, and random samples
 * are drawn by place in a list. So two databases that say the same in another order would give
 * poses that differ by the scatter of the estimates. Sorting once, by what is in the images and not
 * by what they are called or how a database came about, removes all of that. */
#include "core/matches/canonical_order.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"

/* Two numbers as 64 well mixed bits. */
static uint64_t mix_bits(const double xy[2]) {
    uint64_t bits[2];
    memcpy(bits, xy, sizeof bits);
    uint64_t z = bits[0] * 0x9e3779b97f4a7c15u ^ (bits[1] << 32 | bits[1] >> 32);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint64_t psfm_view_stream(const psfm_view *view) {
    uint64_t sum = view->num_keypoints;
    for (size_t k = 0; k < view->num_keypoints; ++k)
        sum += mix_bits(view->keypoints[k]);
    return sum;
}

/* ---- views and cameras ---- */

typedef struct {
    psfm_view view;
    const psfm_camera *camera;
    uint64_t stream;
    uint32_t before; /* its index before */
} ranked_view;

/* Any order will do that knows nothing of ids. */
static int compare_cameras(const psfm_camera *a, const psfm_camera *b) {
    if (a->model != b->model)
        return a->model < b->model ? -1 : 1;
    if (a->width != b->width)
        return a->width < b->width ? -1 : 1;
    if (a->height != b->height)
        return a->height < b->height ? -1 : 1;
    for (size_t k = 0; k < sizeof a->params / sizeof *a->params; ++k)
        if (a->params[k] != b->params[k])
            return a->params[k] < b->params[k] ? -1 : 1;
    return 0;
}

/* Names decide between images of the same content alone: they may be exchanged. */
static int by_content(const void *a, const void *b) {
    const ranked_view *x = a, *y = b;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    int order = compare_cameras(x->camera, y->camera);
    if (order == 0)
        order = strcmp(x->view.name, y->view.name);
    return order != 0 ? order : (x->before > y->before) - (x->before < y->before);
}

/* A pair as one of its images sees it; images by their rank. */
typedef struct {
    uint32_t from, to;
    size_t num_matches;
} link;

static int by_strength(const void *a, const void *b) {
    const link *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->num_matches != y->num_matches)
        return x->num_matches > y->num_matches ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

/* Both links of every pair, those from one image together; begin[v] is the first one from v. */
static void sort_links(const psfm_match_set *set, const uint32_t *rank, link *links,
                       size_t *begin) {
    size_t num = 2 * set->num_pairs;
    for (size_t p = 0; p < set->num_pairs; ++p) {
        const psfm_match_pair *pair = &set->pairs[p];
        uint32_t a = rank[pair->view1], b = rank[pair->view2];
        links[2 * p] = (link){a, b, pair->num_matches};
        links[2 * p + 1] = (link){b, a, pair->num_matches};
    }
    if (num > 0)
        qsort(links, num, sizeof *links, by_strength);
    for (size_t k = 0; k < num; ++k)
        ++begin[links[k].from + 1];
    for (size_t v = 0; v < set->num_views; ++v)
        begin[v + 1] += begin[v];
}

/* The ranks in the order of a walk from image to image over the pairs, breadth first, the strongest
 * pair of each image first: images that see the same are near each other in memory. */
static psfm_status walk_pairs(psfm_context *ctx, const psfm_match_set *set, const uint32_t *rank,
                              uint32_t *walked) {
    size_t *begin = NULL, end = 0;
    link *links = NULL;
    bool *seen = NULL;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, set->num_views + 1, &begin)) ||
        (status = PSFM_ALLOC(ctx, 2 * set->num_pairs, &links)) ||
        (status = PSFM_ALLOC(ctx, set->num_views, &seen)))
        goto cleanup;
    sort_links(set, rank, links, begin);
    for (uint32_t start = 0; start < set->num_views; ++start) {
        size_t at = end;
        if (seen[start])
            continue;
        seen[start] = true;
        walked[end++] = start;
        for (; at < end; ++at) {
            for (size_t k = begin[walked[at]]; k < begin[walked[at] + 1]; ++k) {
                if (seen[links[k].to])
                    continue;
                seen[links[k].to] = true;
                walked[end++] = links[k].to;
            }
        }
    }
cleanup:
    free(begin);
    free(links);
    free(seen);
    return status;
}

/* Sorts the views; now_at[v] is where view v has gone. */
static psfm_status sort_views(psfm_context *ctx, psfm_match_set *set, uint32_t *now_at) {
    size_t n = set->num_views;
    ranked_view *ranked = NULL;
    uint32_t *rank = NULL, *walked = NULL;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, n, &ranked)) || (status = PSFM_ALLOC(ctx, n, &rank)) ||
        (status = PSFM_ALLOC(ctx, n, &walked)))
        goto cleanup;
    for (size_t v = 0; v < n; ++v)
        ranked[v] = (ranked_view){set->views[v], &set->cameras[set->views[v].camera_idx],
                                  psfm_view_stream(&set->views[v]), (uint32_t)v};
    if (n > 0)
        qsort(ranked, n, sizeof *ranked, by_content);
    for (size_t k = 0; k < n; ++k)
        rank[ranked[k].before] = (uint32_t)k;
    status = walk_pairs(ctx, set, rank, walked);
    for (size_t k = 0; status == PSFM_OK && k < n; ++k) {
        set->views[k] = ranked[walked[k]].view;
        now_at[ranked[walked[k]].before] = (uint32_t)k;
    }
cleanup:
    free(ranked);
    free(rank);
    free(walked);
    return status;
}

/* The order in which the views meet the cameras: order[k] is the camera that comes k-th. */
static void find_camera_order(const psfm_match_set *set, uint32_t *order, uint32_t *now_at) {
    uint32_t num = 0;
    for (size_t c = 0; c < set->num_cameras; ++c)
        now_at[c] = UINT32_MAX;
    for (size_t v = 0; v < set->num_views; ++v) {
        uint32_t c = set->views[v].camera_idx;
        if (now_at[c] == UINT32_MAX) {
            now_at[c] = num;
            order[num++] = c;
        }
    }
    for (uint32_t c = 0; c < set->num_cameras; ++c) {
        if (now_at[c] == UINT32_MAX) {
            now_at[c] = num;
            order[num++] = c;
        }
    }
}

static psfm_status sort_cameras(psfm_context *ctx, psfm_match_set *set) {
    size_t n = set->num_cameras;
    uint32_t *order = NULL, *now_at = NULL;
    psfm_camera *cameras = NULL;
    psfm_camera_origin *origins = NULL;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, n, &order)) || (status = PSFM_ALLOC(ctx, n, &now_at)) ||
        (status = PSFM_ALLOC(ctx, n, &cameras)) || (status = PSFM_ALLOC(ctx, n, &origins)))
        goto cleanup;
    find_camera_order(set, order, now_at);
    for (size_t k = 0; k < n; ++k) {
        cameras[k] = set->cameras[order[k]];
        if (set->origins != NULL)
            origins[k] = set->origins[order[k]];
    }
    memcpy(set->cameras, cameras, n * sizeof *cameras);
    if (set->origins != NULL)
        memcpy(set->origins, origins, n * sizeof *origins);
    for (size_t v = 0; v < set->num_views; ++v)
        set->views[v].camera_idx = now_at[set->views[v].camera_idx];
cleanup:
    free(order);
    free(now_at);
    free(cameras);
    free(origins);
    return status;
}

/* ---- pairs ---- */

static void turn_pair(psfm_match_pair *pair, const uint32_t *now_at) {
    uint32_t a = now_at[pair->view1], b = now_at[pair->view2];
    pair->view1 = a < b ? a : b;
    pair->view2 = a < b ? b : a;
    for (size_t m = 0; a > b && m < pair->num_matches; ++m) {
        uint32_t first = pair->matches[m][0];
        pair->matches[m][0] = pair->matches[m][1];
        pair->matches[m][1] = first;
    }
}

typedef struct {
    double place[4]; /* x and y in the one image, in the other */
    uint32_t match[2];
} placed_match;

static int by_place(const void *a, const void *b) {
    const placed_match *x = a, *y = b;
    for (int k = 0; k < 4; ++k)
        if (x->place[k] != y->place[k])
            return x->place[k] < y->place[k] ? -1 : 1;
    for (int k = 0; k < 2; ++k)
        if (x->match[k] != y->match[k])
            return x->match[k] < y->match[k] ? -1 : 1;
    return 0;
}

/* Keypoints that are no numbers sort as zeros. */
static double make_number(double x) {
    return x == x ? x : 0.0;
}

static psfm_status sort_matches(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    const psfm_match_set *set = user;
    psfm_match_pair *pair = &set->pairs[index];
    placed_match *placed = NULL;
    psfm_status status = PSFM_ALLOC(ctx, pair->num_matches, &placed);
    if (status != PSFM_OK)
        return status;
    for (size_t m = 0; m < pair->num_matches; ++m) {
        const double *a = set->views[pair->view1].keypoints[pair->matches[m][0]];
        const double *b = set->views[pair->view2].keypoints[pair->matches[m][1]];
        placed[m] = (placed_match){
            {make_number(a[0]), make_number(a[1]), make_number(b[0]), make_number(b[1])},
            {pair->matches[m][0], pair->matches[m][1]}};
    }
    if (pair->num_matches > 0)
        qsort(placed, pair->num_matches, sizeof *placed, by_place);
    for (size_t m = 0; m < pair->num_matches; ++m)
        memcpy(pair->matches[m], placed[m].match, sizeof placed[m].match);
    free(placed);
    return PSFM_OK;
}

psfm_status psfm_match_set_canonical(psfm_context *ctx, psfm_match_set *set) {
    uint32_t *now_at = NULL;
    psfm_status status = PSFM_ALLOC(ctx, set->num_views, &now_at);
    if (status == PSFM_OK)
        status = sort_views(ctx, set, now_at);
    if (status == PSFM_OK)
        status = sort_cameras(ctx, set);
    for (size_t p = 0; status == PSFM_OK && p < set->num_pairs; ++p)
        turn_pair(&set->pairs[p], now_at);
    if (status == PSFM_OK && set->num_pairs > 0)
        qsort(set->pairs, set->num_pairs, sizeof *set->pairs, psfm_match_pair_compare);
    if (status == PSFM_OK)
        status = psfm_parallel_for(ctx, NULL, set->num_pairs, sort_matches, set);
    free(now_at);
    return status;
}
