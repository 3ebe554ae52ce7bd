/* One camera until the photographs contradict it.
 *
 * Photographs of one size, whose EXIF data tell the same or nothing, mostly come from one camera
 * with one zoom. Taken for that, its focal length is determined by all of them together; taken for
 * a camera each, every image has a focal length of its own that takes up whatever else is wrong.
 * But a zoom may have turned, or two bodies were used. So each image's own focal length is
 * estimated as well, where that is possible, as a logarithm x_v with its standard deviation s_v.
 * Images v of one camera scatter about their mean m by these alone, and
 *
 *     cost(C) = sum over v in C of ((x_v - m_C) / s_v)^2,   m_C = sum(x_v / s_v^2) / sum(1 / s_v^2)
 *
 * is minus twice the logarithm of their likelihood. That an image is of C, of n_C images among n,
 * has the likelihood n_C / n. So a partition into cameras costs
 *
 *     sum over C of cost(C) - 2 n_C log(n_C / n) + PENALTY,
 *
 * the last for the degree of freedom and for having been chosen among many. An image goes if it is
 * some five standard deviations off, and many go together if together they are. On a line the best
 * partition is into intervals of the sorted x_v, to which others are not worth comparing. So it is
 * found by dynamic programming from left to right, with sums over prefixes in O(1) a step:
 *
 *     best(j) = min over i < j of best(i) + what {i, ..., j - 1} cost.
 *
 * Where all of them cost no more than a second camera would, nothing is to be done, which is the
 * usual case.
 *
 * Where the zoom turned between all photographs, such intervals are arbitrary. So if one camera is
 * split, or the images of all groups together scatter by more than chance, the zoom did turn, and
 * the partition of each is compared with an own camera for each image by what they explain: with
 * focal lengths that could be anywhere within the range R that they have, each image alone has the
 * likelihood 1 / R, and so has the mean m_C, whose standard deviation is s_C:
 *
 *     alone: 2 n log R
 *     parted: sum over C of cost(C) - 2 n_C log(n_C / n) + 2 log R - log(2 pi s_C^2)
 *             + sum over v of log(2 pi s_v^2)
 *
 * Small groups hardly tell that by themselves. Whoever turns the zoom in one group mostly does so
 * in all, so that what the others say counts too, as far as a prior of 20 to 1 would. */
#include "core/matches/camera_groups.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

#define PENALTY 25.0       /* of a camera: five standard deviations of one image */
#define SCATTER 2.0        /* of all images of many small groups together, in variances */
#define SAID_BY_OTHERS 6.0 /* at most, for or against own cameras: as if 20 to 1 */

typedef struct {
    double x, weight; /* 1 / s^2 */
    uint32_t view;
} own_focal;

static size_t count_views(const psfm_match_set *set, size_t camera) {
    size_t num = 0;
    for (size_t v = 0; v < set->num_views; ++v)
        num += set->views[v].camera_idx == camera;
    return num;
}

bool psfm_camera_may_split(const psfm_match_set *set, size_t camera) {
    return set->origins != NULL && set->origins[camera].group != 0 && count_views(set, camera) > 1;
}

static int by_focal(const void *a, const void *b) {
    const own_focal *p = a, *q = b;
    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return (p->view > q->view) - (p->view < q->view);
}

/* Sums over the first k images: of weights, and of x and x^2 with them. */
typedef struct {
    double weight, x, xx;
} prefix;

static double cost_of(const prefix *sums, size_t from, size_t to) {
    double weight = sums[to].weight - sums[from].weight, x = sums[to].x - sums[from].x;
    return fmax(sums[to].xx - sums[from].xx - x * x / weight, 0.0);
}

/* What being of this camera and no other costs its images. */
static double choice_of(size_t from, size_t to, size_t num) {
    double n = (double)(to - from);
    return -2.0 * n * log(n / (double)num);
}

static double mean_of(const prefix *sums, size_t from, size_t to) {
    return (sums[to].x - sums[from].x) / (sums[to].weight - sums[from].weight);
}

/* x is counted from the first one, so that little is lost in the sums. */
static void add_up(const own_focal *sorted, size_t num, prefix *sums) {
    for (size_t k = 0; k < num; ++k) {
        double x = sorted[k].x - sorted[0].x, weight = sorted[k].weight;
        sums[k + 1] =
            (prefix){sums[k].weight + weight, sums[k].x + weight * x, sums[k].xx + weight * x * x};
    }
}

/* begin[k] is where the best camera that ends before image k begins. */
static psfm_status find_intervals(psfm_context *ctx, const prefix *sums, size_t num,
                                  size_t *begin) {
    double *best = NULL;
    psfm_status status = PSFM_ALLOC(ctx, num + 1, &best);
    for (size_t j = 1; status == PSFM_OK && j <= num; ++j) {
        best[j] = INFINITY;
        for (size_t i = 0; i < j; ++i) {
            double cost = best[i] + cost_of(sums, i, j) + choice_of(i, j, num) + PENALTY;
            if (cost < best[j]) {
                best[j] = cost;
                begin[j] = i;
            }
        }
    }
    free(best);
    return status;
}

/* A copy of a camera under the next free id. */
static psfm_status add_camera(psfm_context *ctx, psfm_match_set *set, size_t from) {
    size_t cameras = set->num_cameras, origins = set->num_cameras;
    uint32_t last = 0;
    for (size_t c = 0; c < set->num_cameras; ++c)
        last = set->cameras[c].id > last ? set->cameras[c].id : last;
    psfm_status status = PSFM_RESERVE(ctx, &set->cameras, &cameras, set->num_cameras + 1);
    if (status == PSFM_OK)
        status = PSFM_RESERVE(ctx, &set->origins, &origins, set->num_cameras + 1);
    if (status != PSFM_OK)
        return status;
    set->cameras[set->num_cameras] = set->cameras[from];
    set->cameras[set->num_cameras].id = last + 1;
    set->origins[set->num_cameras++] = set->origins[from];
    return PSFM_OK;
}

/* The interval of most images keeps the camera. */
static size_t find_largest(const size_t *begin, size_t num) {
    size_t largest = num;
    for (size_t j = num; j > 0; j = begin[j])
        if (j - begin[j] > largest - begin[largest])
            largest = j;
    return largest;
}

/* The range that focal lengths could be in. */
static double find_range(const own_focal *sorted, const prefix *sums, size_t num) {
    return sorted[num - 1].x - sorted[0].x + sqrt((double)num / sums[num].weight);
}

/* Gives some images a camera of their own. */
static psfm_status move_images(psfm_context *ctx, psfm_match_set *set, size_t camera,
                               const own_focal *images, size_t num) {
    psfm_status status = add_camera(ctx, set, camera);
    for (size_t k = 0; status == PSFM_OK && k < num; ++k)
        set->views[images[k].view].camera_idx = (uint32_t)(set->num_cameras - 1);
    return status;
}

/* Images of a split camera that nothing is known about: they stay if most others do, else each is
 * alone. Theirs are no numbers in log_focal. */
static psfm_status place_unknown(psfm_context *ctx, psfm_match_set *set, size_t camera,
                                 bool most_stay, double kept, double *log_focal) {
    psfm_status status = PSFM_OK;
    for (size_t v = 0; status == PSFM_OK && v < set->num_views; ++v) {
        if (set->views[v].camera_idx != camera || !isnan(log_focal[v]))
            continue;
        log_focal[v] = most_stay ? kept : 0.0;
        if (!most_stay)
            status = move_images(ctx, set, camera, &(own_focal){.view = (uint32_t)v}, 1);
    }
    return status;
}

/* One camera that may be split: its images with known focal lengths, sorted, and intervals of them.
 */
typedef struct {
    size_t camera, num;
    own_focal *sorted;
    prefix *sums;
    size_t *begin;
} partition;

static void partition_free(partition *p) {
    free(p->sorted);
    free(p->sums);
    free(p->begin);
}

/* By how much a camera for each image explains them better than the intervals do. */
static double gain_of_alone(const partition *p, double range) {
    const double two_pi = 6.283185307179586, anywhere = 2.0 * log(range);
    double parted = 0.0;
    if (p->num < 2)
        return 0.0;
    for (size_t k = 0; k < p->num; ++k)
        parted += log(two_pi / p->sorted[k].weight);
    for (size_t i, j = p->num; j > 0; j = i) {
        i = p->begin[j];
        double weight = p->sums[j].weight - p->sums[i].weight;
        parted +=
            cost_of(p->sums, i, j) + choice_of(i, j, p->num) + anywhere - log(two_pi / weight);
    }
    return parted - (double)p->num * anywhere;
}

/* Gives the intervals but the largest cameras of their own. */
static psfm_status part_camera(psfm_context *ctx, psfm_match_set *set, const partition *p,
                               double *log_focal) {
    const own_focal *sorted = p->sorted;
    const size_t largest = find_largest(p->begin, p->num), first = p->begin[largest];
    const double kept = sorted[0].x + mean_of(p->sums, first, largest);
    psfm_status status = PSFM_OK;
    for (size_t v = 0; v < set->num_views; ++v)
        if (set->views[v].camera_idx == p->camera)
            log_focal[v] = NAN;
    for (size_t i, j = p->num; status == PSFM_OK && j > 0; j = i) {
        i = p->begin[j];
        for (size_t k = i; k < j; ++k)
            log_focal[sorted[k].view] = sorted[0].x + mean_of(p->sums, i, j);
        if (j != largest)
            status = move_images(ctx, set, p->camera, sorted + i, j - i);
    }
    return status == PSFM_OK
               ? place_unknown(ctx, set, p->camera, 2 * (largest - first) > p->num, kept, log_focal)
               : status;
}

/* The images of a camera whose own focal lengths are known. */
static size_t list_images(const psfm_match_set *set, size_t camera, const double *log_focal,
                          const double *sigma, own_focal *list) {
    size_t num = 0;
    for (size_t v = 0; v < set->num_views; ++v) {
        if (set->views[v].camera_idx != camera)
            continue;
        if (isfinite(log_focal[v]) && isfinite(sigma[v]) && sigma[v] > 0.0)
            list[num++] = (own_focal){log_focal[v], 1.0 / (sigma[v] * sigma[v]), (uint32_t)v};
    }
    return num;
}

/* The best intervals of a camera's images. */
static psfm_status find_partition(psfm_context *ctx, const psfm_match_set *set,
                                  const double *log_focal, const double *sigma, partition *p) {
    psfm_status status = PSFM_ALLOC(ctx, set->num_views, &p->sorted);
    if (status == PSFM_OK)
        p->num = list_images(set, p->camera, log_focal, sigma, p->sorted);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, p->num + 1, &p->sums);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, p->num + 1, &p->begin);
    if (status != PSFM_OK || p->num < 2)
        return status;
    qsort(p->sorted, p->num, sizeof *p->sorted, by_focal);
    add_up(p->sorted, p->num, p->sums);
    return cost_of(p->sums, 0, p->num) > PENALTY ? find_intervals(ctx, p->sums, p->num, p->begin)
                                                 : PSFM_OK;
}

/* Each image of a camera gets its own where that explains them better, what the other cameras say
 * included. */
static void leave_alone(partition *p, double range, double gain_of_all) {
    const double own = gain_of_alone(p, range), others = gain_of_all - own;
    if (own + fmin(fmax(others, -SAID_BY_OTHERS), SAID_BY_OTHERS) > 0.0)
        for (size_t j = 1; j <= p->num; ++j)
            p->begin[j] = j - 1;
}

/* Splits the cameras as their partitions say, or into one for each image. */
static psfm_status use_partitions(psfm_context *ctx, psfm_match_set *set, partition *partitions,
                                  size_t num, double range, double *log_focal) {
    psfm_status status = PSFM_OK;
    double gain = 0.0;
    for (size_t c = 0; c < num; ++c)
        gain += gain_of_alone(&partitions[c], range);
    for (size_t c = 0; status == PSFM_OK && c < num; ++c) {
        partition *p = &partitions[c];
        if (p->num < 2)
            continue;
        leave_alone(p, range, gain);
        if (p->begin[p->num] > 0)
            status = part_camera(ctx, set, p, log_focal);
    }
    return status;
}

/* Partitions of all cameras that may be split; whether one is, and the largest range. */
static psfm_status find_partitions(psfm_context *ctx, const psfm_match_set *set,
                                   const double *log_focal, const double *sigma,
                                   partition *partitions, bool *is_split, double *range) {
    psfm_status status = PSFM_OK;
    double cost = 0.0, freedom = 0.0; /* of all, each about the mean of its camera */
    *is_split = false;
    *range = 0.0;
    for (size_t c = 0; status == PSFM_OK && c < set->num_cameras; ++c) {
        partition *p = &partitions[c];
        p->camera = c;
        if (!psfm_camera_may_split(set, c))
            continue;
        status = find_partition(ctx, set, log_focal, sigma, p);
        if (status != PSFM_OK || p->num < 2)
            continue;
        *is_split = *is_split || p->begin[p->num] > 0;
        cost += cost_of(p->sums, 0, p->num);
        freedom += (double)(p->num - 1);
        *range = fmax(*range, find_range(p->sorted, p->sums, p->num));
    }
    *is_split = *is_split || cost > SCATTER * freedom + PENALTY;
    return status;
}

bool psfm_camera_groups_differ(const psfm_match_set *set, const double *log_focal,
                               const double *sigma) {
    double cost = 0.0;
    for (size_t c = 0; c < set->num_cameras; ++c) {
        double weights = 0.0, mean = 0.0;
        for (size_t v = 0; psfm_camera_may_split(set, c) && v < set->num_views; ++v) {
            double weight = 1.0 / (sigma[v] * sigma[v]), off = log_focal[v] - mean;
            if (set->views[v].camera_idx != c || !isfinite(log_focal[v]) || !(weight > 0.0))
                continue;
            weights += weight;
            mean += off * weight / weights;
            cost += weight * off * (log_focal[v] - mean);
        }
    }
    return cost > PENALTY;
}

psfm_status psfm_camera_groups_split(psfm_context *ctx, psfm_match_set *set, double *log_focal,
                                     const double *sigma, size_t *num) {
    const size_t before = set->num_cameras;
    partition *partitions = NULL;
    bool is_split = false;
    double range = 0.0;
    psfm_status status = PSFM_ALLOC(ctx, before, &partitions);
    if (status == PSFM_OK)
        status = find_partitions(ctx, set, log_focal, sigma, partitions, &is_split, &range);
    for (size_t v = 0; v < set->num_views; ++v)
        log_focal[v] = 0.0;
    if (status == PSFM_OK && is_split)
        status = use_partitions(ctx, set, partitions, before, range, log_focal);
    for (size_t c = 0; partitions != NULL && c < before; ++c)
        partition_free(&partitions[c]);
    *num = set->num_cameras - before;
    free(partitions);
    return status;
}

/* Whether a camera of a group is the first one of it, whose id it has. */
static bool is_first(const psfm_match_set *set, size_t camera) {
    return set->cameras[camera].id == set->origins[camera].group;
}

psfm_camera_groups psfm_camera_groups_count(const psfm_match_set *set) {
    psfm_camera_groups groups = {0};
    for (size_t c = 0; set->origins != NULL && c < set->num_cameras; ++c) {
        size_t num = set->origins[c].group == 0 ? 0 : count_views(set, c);
        groups.num_images += num;
        groups.num_cameras += num > 0;
        groups.num_groups += num > 0 && is_first(set, c);
        groups.num_alone += num == 1 && !is_first(set, c);
    }
    return groups;
}

void psfm_camera_groups_describe(const psfm_camera_groups *g, char *text, size_t size) {
    text[0] = '\0';
    if (g->num_groups == 0)
        return;
    int n = snprintf(text, size, "cameras: %zu, of %zu photographs in %zu %s by size and EXIF data",
                     g->num_cameras, g->num_images, g->num_groups,
                     g->num_groups == 1 ? "group" : "groups");
    if (g->num_cameras > g->num_groups && (size_t)n < size)
        snprintf(text + n, size - (size_t)n,
                 "; focal lengths differ by more than chance, %zu %s one of its own", g->num_alone,
                 g->num_alone == 1 ? "photograph has" : "photographs have each");
}
