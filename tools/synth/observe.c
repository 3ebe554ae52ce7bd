/* Where cameras see only a part of a large scene, points are sorted into square buckets of the
 * ground plan, as wide as a camera reaches, so that a camera looks into nine of them. */
#include "synth/observe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"

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
    psfm_status status = PSFM_ALLOC(ctx, b->columns * b->rows + 1, &b->begin);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, world->num_points, &b->order);
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

/* The range of buckets along one axis that a reach around `view` touches; empty if low > high. */
static void bucket_range(const buckets *b, int axis, double view, long *low, long *high) {
    long count = (long)(axis == 0 ? b->columns : b->rows);
    double at = floor((view - b->low[axis]) / b->width);
    *low = (long)fmax(at - 1.0, 0.0);
    *high = (long)fmin(at + 1.0, (double)(count - 1));
}

/* The exact image of a point; false if the camera does not see it. */
static bool project_point(const psfm_plan *plan, const psfm_camera *camera,
                          const psfm_synth_pose *pose, const double point[3], double xy[2]) {
    double dx = point[0] - pose->view[0], dy = point[1] - pose->view[1], ray[3];
    if (plan->reach > 0.0 && dx * dx + dy * dy > plan->reach * plan->reach)
        return false;
    psfm_mat3_mul_vec(pose->R, point, ray);
    for (int k = 0; k < 3; ++k)
        ray[k] += pose->t[k];
    return ray[2] > NEAREST && psfm_camera_project(camera, ray, xy);
}

static bool is_hidden(const psfm_plan *plan, const psfm_synth_pose *pose, const double point[3]) {
    return plan->layout->hides != NULL && plan->layout->hides(plan, pose->center, point);
}

static bool in_image(const psfm_camera *camera, const double xy[2]) {
    return xy[0] >= 0.0 && xy[1] >= 0.0 && xy[0] <= (double)camera->width &&
           xy[1] <= (double)camera->height;
}

/* A growing list of points. */
typedef struct {
    uint32_t *points;
    size_t num, capacity;
} point_list;

/* Adds those of `count` points (the first ones if order is NULL) that the camera sees. */
static psfm_status add_seen(psfm_context *ctx, const psfm_world *world, size_t image,
                            const uint32_t *order, size_t count, point_list *list) {
    const psfm_camera camera = psfm_plan_camera(&world->plan, image);
    psfm_status status = PSFM_RESERVE(ctx, &list->points, &list->capacity, list->num + count);
    for (size_t k = 0; k < count && status == PSFM_OK; ++k) {
        uint32_t point = order == NULL ? (uint32_t)k : order[k];
        double xy[2];
        if (project_point(&world->plan, &camera, &world->poses[image], world->points[point], xy) &&
            in_image(&camera, xy) &&
            !is_hidden(&world->plan, &world->poses[image], world->points[point]))
            list->points[list->num++] = point;
    }
    return status;
}

/* The points that a camera sees, ascending. */
static psfm_status find_seen(psfm_context *ctx, const psfm_world *world, const buckets *b,
                             size_t image, point_list *list) {
    const psfm_synth_pose *pose = &world->poses[image];
    if (b->begin == NULL)
        return add_seen(ctx, world, image, NULL, world->num_points, list);
    long i0, i1, j0, j1;
    bucket_range(b, 0, pose->view[0], &i0, &i1);
    bucket_range(b, 1, pose->view[1], &j0, &j1);
    psfm_status status = PSFM_OK;
    for (long j = j0; j <= j1 && i0 <= i1 && status == PSFM_OK; ++j) {
        const uint32_t *row = b->begin + (size_t)j * b->columns;
        status = add_seen(ctx, world, image, b->order + row[i0], row[i1 + 1] - row[i0], list);
    }
    if (status == PSFM_OK && list->num > 0)
        qsort(list->points, list->num, sizeof *list->points, psfm_compare_u32);
    return status;
}

typedef struct {
    const psfm_world *world;
    const buckets *index;
    psfm_synth_view *views;
} view_job;

/* Allocates a view of `num` points. */
static psfm_status view_init(psfm_context *ctx, size_t num, psfm_synth_view *view) {
    psfm_status status = PSFM_ALLOC(ctx, num, &view->points);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num, &view->keypoints);
    return status == PSFM_OK ? PSFM_ALLOC(ctx, num, &view->xy) : status;
}

/* Keypoints of the points in the list, with noise; those that it moves out of the image are dropped
 * from the list. xy has room for all. */
static void draw_keypoints(const psfm_world *world, size_t camera, point_list *list,
                           double (*xy)[2]) {
    const psfm_plan *plan = &world->plan;
    const psfm_camera own = psfm_plan_camera(plan, camera);
    psfm_rng rng = psfm_synth_rng(plan, PSFM_STREAM_NOISE, camera);
    size_t num = 0;
    for (size_t k = 0; k < list->num; ++k) {
        uint32_t point = list->points[k];
        if (!project_point(plan, &own, &world->poses[camera], world->points[point], xy[num]))
            continue;
        if (plan->options->noise_px > 0.0)
            for (int c = 0; c < 2; ++c)
                xy[num][c] += plan->options->noise_px * psfm_rng_normal(&rng);
        if (in_image(&own, xy[num]))
            list->points[num++] = point;
    }
    list->num = num;
}

/* Task of one camera. */
static psfm_status observe_camera(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    view_job *job = user;
    psfm_synth_view *view = &job->views[index];
    point_list seen = {0};
    double(*xy)[2] = NULL;
    psfm_status status = find_seen(ctx, job->world, job->index, index, &seen);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, seen.num, &xy);
    if (status != PSFM_OK)
        goto cleanup;
    draw_keypoints(job->world, index, &seen, xy);
    status = view_init(ctx, seen.num, view);
    if (status != PSFM_OK)
        goto cleanup;
    view->num = seen.num;
    for (size_t k = 0; k < view->num; ++k)
        view->keypoints[k] = (uint32_t)k;
    psfm_rng rng = psfm_synth_rng(&job->world->plan, PSFM_STREAM_ORDER, index);
    psfm_rng_shuffle(&rng, view->keypoints, view->num);
    for (size_t k = 0; k < view->num; ++k) {
        view->points[k] = seen.points[k];
        memcpy(view->xy[view->keypoints[k]], xy[k], sizeof *xy);
    }
cleanup:
    free(seen.points);
    free(xy);
    return status;
}

psfm_status psfm_synth_views_make(psfm_context *ctx, const psfm_world *world,
                                  psfm_synth_view *views) {
    buckets index = {0};
    psfm_status status = PSFM_OK;
    if (world->plan.reach > 0.0 && world->num_points > 0)
        status = buckets_init(ctx, world, &index);
    if (status == PSFM_OK) {
        view_job job = {world, &index, views};
        status = psfm_parallel_for(ctx, NULL, world->plan.num_cameras, observe_camera, &job);
    }
    buckets_free(&index);
    return status;
}

void psfm_synth_views_free(psfm_synth_view *views, size_t num) {
    for (size_t k = 0; views != NULL && k < num; ++k) {
        free(views[k].points);
        free(views[k].keypoints);
        free(views[k].xy);
    }
    free(views);
}
