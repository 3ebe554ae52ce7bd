/* Blocks of the reduced system, and which of them meet: two blocks do if some point is seen
 * through both. */
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/bundle/bundle_internal.h"

#define NONE PSFM_BUNDLE_NONE

typedef struct {
    psfm_bundle *b;
    uint32_t **mark; /* per worker and block: row + 1 that met it last */
    bool fill;       /* second pass: write the columns, not only count them */
} pattern_job;

static psfm_status number_blocks(psfm_context *ctx, psfm_bundle *b) {
    const psfm_bundle_problem *p = b->problem;
    size_t most = p->num_images + p->num_cameras + p->num_planes;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, p->num_images, &b->image_block)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_cameras, &b->camera_block)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_planes, &b->plane_block)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, most, &b->block_source)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, most + 1, &b->pattern.scalar_begin)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, most + 1, &b->pattern.row_begin)) != PSFM_OK)
        return status;
    uint32_t next = 0, *scalar = b->pattern.scalar_begin;
    memset(b->image_block, 0xff, p->num_images * sizeof *b->image_block);
    memset(b->camera_block, 0xff, p->num_cameras * sizeof *b->camera_block);
    memset(b->plane_block, 0xff, p->num_planes * sizeof *b->plane_block);
    for (uint32_t i = 0; i < p->num_images; ++i)
        if (b->image_state[i] == PSFM_IMAGE_ADJUSTED) {
            scalar[next + 1] = scalar[next] + 6;
            b->block_source[next] = i;
            b->image_block[i] = next++;
        }
    b->num_pose_blocks = next;
    for (uint32_t c = 0; c < p->num_cameras; ++c)
        if (b->num_free_params[c] > 0) {
            scalar[next + 1] = scalar[next] + b->num_free_params[c];
            b->block_source[next] = c;
            b->camera_block[c] = next++;
        }
    b->num_camera_blocks = next - b->num_pose_blocks;
    for (uint32_t k = 0; k < p->num_planes; ++k)
        if (b->plane_begin[k] < b->plane_begin[k + 1]) {
            scalar[next + 1] = scalar[next] + 3;
            b->block_source[next] = k;
            b->plane_block[k] = next++;
        }
    b->num_plane_blocks = next - b->num_pose_blocks - b->num_camera_blocks;
    b->pattern.num_blocks = next;
    return PSFM_OK;
}

static psfm_status list_camera_images(psfm_context *ctx, psfm_bundle *b) {
    const psfm_bundle_problem *p = b->problem;
    psfm_status status = PSFM_ALLOC(ctx, p->num_cameras + 2, &b->camera_images_begin);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, p->num_images, &b->camera_images);
    if (status != PSFM_OK)
        return status;
    uint32_t *place = b->camera_images_begin + 1;
    for (size_t i = 0; i < p->num_images; ++i)
        ++place[p->image_camera[i] + 1];
    for (size_t c = 0; c < p->num_cameras; ++c)
        place[c + 1] += place[c];
    for (uint32_t i = 0; i < p->num_images; ++i)
        b->camera_images[place[p->image_camera[i]]++] = i;
    return PSFM_OK;
}

static void mark_point(const psfm_bundle *b, uint32_t p, uint32_t stamp, uint32_t *mark) {
    for (uint32_t o = b->point_begin[p]; o < b->point_begin[p + 1]; ++o) {
        uint32_t pose = b->image_block[b->obs_image[o]];
        uint32_t camera = b->camera_block[b->problem->image_camera[b->obs_image[o]]];
        if (pose != NONE)
            mark[pose] = stamp;
        if (camera != NONE)
            mark[camera] = stamp;
    }
    if (b->point_plane[p] != NONE)
        mark[b->plane_block[b->point_plane[p]]] = stamp;
}

static void mark_image(const psfm_bundle *b, uint32_t image, uint32_t stamp, uint32_t *mark) {
    for (uint32_t k = b->image_begin[image]; k < b->image_begin[image + 1]; ++k)
        mark_point(b, b->obs_point[b->image_obs[k]], stamp, mark);
}

/* Counts or writes the columns of one row, itself and those after it. */
static psfm_status find_columns(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx;
    pattern_job *job = user;
    psfm_bundle *b = job->b;
    uint32_t *mark = job->mark[worker], row = (uint32_t)index, stamp = row + 1;
    uint32_t source = b->block_source[row];
    if (row < b->num_pose_blocks)
        mark_image(b, source, stamp, mark);
    else if (row < b->num_pose_blocks + b->num_camera_blocks)
        for (uint32_t k = b->camera_images_begin[source]; k < b->camera_images_begin[source + 1];
             ++k)
            mark_image(b, b->camera_images[k], stamp, mark);
    mark[row] = stamp;
    size_t num = 0;
    for (uint32_t c = row; c < b->pattern.num_blocks; ++c) {
        if (mark[c] != stamp)
            continue;
        if (job->fill)
            b->pattern.col[b->pattern.row_begin[row] + num] = c;
        ++num;
    }
    if (!job->fill)
        b->pattern.row_begin[row + 1] = num;
    return PSFM_OK;
}

psfm_status psfm_bundle_make_pattern(psfm_context *ctx, psfm_bundle *b) {
    pattern_job job = {.b = b};
    int num_workers = 0;
    psfm_status status = number_blocks(ctx, b);
    if (status == PSFM_OK)
        status = list_camera_images(ctx, b);
    if (status != PSFM_OK || b->pattern.num_blocks == 0)
        return status;
    uint32_t n = b->pattern.num_blocks;
    num_workers = psfm_parallel_workers(ctx, n);
    status = PSFM_ALLOC(ctx, (size_t)num_workers, &job.mark);
    for (int w = 0; status == PSFM_OK && w < num_workers; ++w)
        status = PSFM_ALLOC(ctx, n, &job.mark[w]);
    if (status != PSFM_OK || (status = psfm_bundle_for(ctx, b, n, find_columns, &job)) != PSFM_OK)
        goto cleanup;
    for (uint32_t r = 0; r < n; ++r)
        b->pattern.row_begin[r + 1] += b->pattern.row_begin[r];
    if (psfm_bundle_can_form(b)) {
        status = PSFM_ALLOC(ctx, b->pattern.row_begin[n], &b->pattern.col);
        job.fill = true;
        if (status == PSFM_OK)
            status = psfm_bundle_for(ctx, b, n, find_columns, &job);
    }
    if (status == PSFM_OK)
        status = psfm_bundle_make_solver(ctx, b);

cleanup:
    for (int w = 0; job.mark != NULL && w < num_workers; ++w)
        free(job.mark[w]);
    free(job.mark);
    return status;
}
