/* Where cameras see only a part of a large scene, points are sorted into square buckets of the
 * ground plan, as wide as a camera reaches, so that a camera looks into nine of them. */
#include "synth/observe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "linalg/mat3.h"

#define NEAREST 0.3 /* metres in front of a camera */

/* The points of bucket (i, j) are order[begin[j * columns + i]] up to the next bucket's begin. */
typedef struct {
    double low[2], width;
    size_t columns, rows;
    uint32_t *begin, *order;
} buckets;

static size_t bucket_of(const buckets *b, const double point[3]) {
    size_t i = (size_t)((point[0] - b->low[0]) / b->width);
    size_t j = (size_t)((point[1] - b->low[1]) / b->width);
    return j * b->columns + i;
}

static void buckets_free(buckets *b) {
    free(b->begin);
    free(b->order);
}

static psfm_status buckets_init(psfm_context *ctx, const psfm_world *world, buckets *b) {
    memset(b, 0, sizeof *b);
    double high[2] = {-HUGE_VAL, -HUGE_VAL};
    b->low[0] = b->low[1] = HUGE_VAL;
    for (size_t k = 0; k < world->num_points; ++k) {
        for (int c = 0; c < 2; ++c) {
            b->low[c] = fmin(b->low[c], world->points[k][c]);
            high[c] = fmax(high[c], world->points[k][c]);
        }
    }
    b->width = world->plan.reach;
    b->columns = 1 + (size_t)((high[0] - b->low[0]) / b->width);
    b->rows = 1 + (size_t)((high[1] - b->low[1]) / b->width);
    void *begin = NULL, *order = NULL;
    psfm_status status = psfm_alloc(ctx, b->columns * b->rows + 1, sizeof *b->begin, &begin);
    if (status == PSFM_OK)
        status = psfm_alloc(ctx, world->num_points, sizeof *b->order, &order);
    b->begin = begin;
    b->order = order;
    if (status != PSFM_OK)
        return status;
    /* Counting sort: counts, running sums, then filled from the back. */
    for (size_t k = 0; k < world->num_points; ++k)
        ++b->begin[bucket_of(b, world->points[k])];
    for (size_t k = 1; k <= b->columns * b->rows; ++k)
        b->begin[k] += b->begin[k - 1];
    for (size_t k = world->num_points; k-- > 0;)
        b->order[--b->begin[bucket_of(b, world->points[k])]] = (uint32_t)k;
    return PSFM_OK;
}

static int compare_indices(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The range of buckets along one axis that a reach around `view` touches; empty if low > high. */
static void bucket_range(const buckets *b, int axis, double view, long *low, long *high) {
    long count = (long)(axis == 0 ? b->columns : b->rows);
    double at = floor((view - b->low[axis]) / b->width);
    *low = (long)fmax(at - 1.0, 0.0);
    *high = (long)fmin(at + 1.0, (double)(count - 1));
}

/* Points that may be in view, ascending; *candidates is allocated. */
static psfm_status find_candidates(psfm_context *ctx, const psfm_world *world, const buckets *b,
                                   const psfm_synth_pose *pose, uint32_t **candidates,
                                   size_t *num) {
    size_t capacity = 0;
    void *out = NULL;
    psfm_status status = PSFM_OK;
    *num = 0;
    if (b->begin == NULL) {
        status = psfm_reserve(ctx, &out, &capacity, world->num_points, sizeof(uint32_t));
        for (size_t k = 0; k < world->num_points && status == PSFM_OK; ++k)
            ((uint32_t *)out)[(*num)++] = (uint32_t)k;
    } else {
        long i0, i1, j0, j1;
        bucket_range(b, 0, pose->view[0], &i0, &i1);
        bucket_range(b, 1, pose->view[1], &j0, &j1);
        for (long j = j0; j <= j1 && i0 <= i1 && status == PSFM_OK; ++j) {
            size_t first = b->begin[(size_t)j * b->columns + (size_t)i0];
            size_t last = b->begin[(size_t)j * b->columns + (size_t)i1 + 1];
            status = psfm_reserve(ctx, &out, &capacity, *num + last - first, sizeof(uint32_t));
            if (status == PSFM_OK && last > first)
                memcpy((uint32_t *)out + *num, b->order + first, (last - first) * sizeof(uint32_t));
            *num += last - first;
        }
        if (status == PSFM_OK && *num > 0)
            qsort(out, *num, sizeof(uint32_t), compare_indices);
    }
    if (status != PSFM_OK) {
        free(out);
        out = NULL;
    }
    *candidates = out;
    return status;
}

/* The keypoint of a point, noise included; false if it is not in the image. */
static bool see(const psfm_world *world, const psfm_synth_pose *pose, const double point[3],
                psfm_rng *rng, double xy[2]) {
    const psfm_plan *plan = &world->plan;
    double ray[3];
    psfm_mat3_mul_vec(pose->R, point, ray);
    for (int k = 0; k < 3; ++k)
        ray[k] += pose->t[k];
    if (plan->reach > 0.0 &&
        hypot(point[0] - pose->view[0], point[1] - pose->view[1]) > plan->reach)
        return false;
    if (!(ray[2] > NEAREST) || !psfm_camera_project(&plan->camera, ray, xy))
        return false;
    if (plan->options->noise_px > 0.0)
        for (int k = 0; k < 2; ++k)
            xy[k] += plan->options->noise_px * psfm_rng_normal(rng);
    return xy[0] >= 0.0 && xy[1] >= 0.0 && xy[0] <= (double)plan->camera.width &&
           xy[1] <= (double)plan->camera.height;
}

typedef struct {
    const psfm_world *world;
    const buckets *index;
    psfm_sight *sights;
} sight_job;

/* Allocates a sight for up to `capacity` points. */
static psfm_status sight_init(psfm_context *ctx, size_t capacity, psfm_sight *sight) {
    void *points = NULL, *keypoints = NULL, *xy = NULL;
    psfm_status status = psfm_alloc(ctx, capacity, sizeof *sight->points, &points);
    if (status == PSFM_OK)
        status = psfm_alloc(ctx, capacity, sizeof *sight->keypoints, &keypoints);
    if (status == PSFM_OK)
        status = psfm_alloc(ctx, capacity, sizeof *sight->xy, &xy);
    *sight = (psfm_sight){0, points, keypoints, xy};
    return status;
}

/* Task of one camera. */
static psfm_status observe(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    sight_job *job = user;
    const psfm_synth_pose *pose = &job->world->poses[index];
    psfm_rng noise = psfm_synth_rng(&job->world->plan, PSFM_STREAM_NOISE, index);
    psfm_rng order = psfm_synth_rng(&job->world->plan, PSFM_STREAM_ORDER, index);
    uint32_t *seen = NULL;
    double(*unordered)[2] = NULL;
    void *memory = NULL;
    size_t num_candidates = 0, num = 0;
    psfm_sight *sight = &job->sights[index];
    psfm_status status = find_candidates(ctx, job->world, job->index, pose, &seen, &num_candidates);
    if (status == PSFM_OK)
        status = psfm_alloc(ctx, num_candidates, sizeof *unordered, &memory);
    if (status != PSFM_OK)
        goto cleanup;
    unordered = memory;
    for (size_t k = 0; k < num_candidates; ++k) {
        double xy[2];
        if (!see(job->world, pose, job->world->points[seen[k]], &noise, xy))
            continue;
        memcpy(unordered[num], xy, sizeof xy);
        seen[num++] = seen[k];
    }
    status = sight_init(ctx, num, sight);
    if (status != PSFM_OK)
        goto cleanup;
    sight->num = num;
    for (size_t k = 0; k < num; ++k)
        sight->keypoints[k] = (uint32_t)k;
    psfm_rng_shuffle(&order, sight->keypoints, num);
    for (size_t k = 0; k < num; ++k) {
        sight->points[k] = seen[k];
        memcpy(sight->xy[sight->keypoints[k]], unordered[k], sizeof *unordered);
    }
cleanup:
    free(seen);
    free(memory);
    return status;
}

psfm_status psfm_sights_make(psfm_context *ctx, const psfm_world *world, psfm_sight *sights) {
    buckets index = {0};
    psfm_status status = PSFM_OK;
    if (world->plan.reach > 0.0 && world->num_points > 0)
        status = buckets_init(ctx, world, &index);
    if (status == PSFM_OK) {
        sight_job job = {world, &index, sights};
        status = psfm_parallel_for(ctx, NULL, world->plan.num_cameras, observe, &job);
    }
    buckets_free(&index);
    return status;
}

void psfm_sights_free(psfm_sight *sights, size_t num) {
    for (size_t k = 0; sights != NULL && k < num; ++k) {
        free(sights[k].points);
        free(sights[k].keypoints);
        free(sights[k].xy);
    }
    free(sights);
}
