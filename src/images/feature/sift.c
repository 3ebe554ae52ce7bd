/* SIFT from an image to keypoints and descriptors, as COLMAP (VLFeat) extracts it: the scale space
 * octave by octave, extrema of the differences of Gaussians, then orientation and descriptor of
 * each point. Of too many points the coarse levels are kept, each level as a whole. The parts are
 * in sift_scale_space.c and sift_describe.c. */
#include "images/feature/sift.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "images/feature/sift_describe.h"

static const psfm_option rows[] = {
    PSFM_OPTION_INT(psfm_sift_options, max_num_features, "max-num-features", 8192, 1, 10000000,
                    "keypoints to keep, largest scales first; the last level is kept whole"),
    PSFM_OPTION_DOUBLE(psfm_sift_options, peak_threshold, "peak-threshold", 0.02 / 3.0, 0.0, 1.0,
                       "smallest difference of Gaussians, for gray values from 0 to 1"),
    PSFM_OPTION_BOOL(psfm_sift_options, upright, "upright", false, "take the image as upright"),
};
/* The doubled image has two thirds of all features; efforts say which photographs do without. */
static const psfm_sift_options unlisted = {.first_octave = -1};
const psfm_option_table psfm_sift_option_table = PSFM_OPTION_TABLE_FROM("sift", rows, unlisted);

/* Index of the first point to keep: whole levels from the coarse end until the number passes
 * max_num_features, as COLMAP does; so more than that may be kept. */
static size_t first_to_keep(const psfm_sift_points *points, int max_num_features) {
    size_t first = points->num;
    while (first > 0) {
        size_t begin = first - 1;
        const psfm_sift_point *last = &points->points[begin];
        while (begin > 0 && points->points[begin - 1].octave == last->octave &&
               points->points[begin - 1].level == last->level)
            --begin;
        first = begin;
        if (points->num - first > (size_t)max_num_features)
            break;
    }
    return first;
}

typedef struct {
    psfm_keypoint_set set;
    size_t keypoint_capacity, descriptor_capacity;
} builder;

static psfm_status append_keypoint(psfm_context *ctx, builder *b, const psfm_sift_octave *octave,
                                   const psfm_sift_point *point, double angle,
                                   uint8_t **descriptor) {
    size_t num = b->set.num + 1;
    psfm_status status = PSFM_RESERVE(ctx, &b->set.keypoints, &b->keypoint_capacity, num);
    if (status == PSFM_OK)
        status = psfm_reserve(ctx, &b->set.descriptors_u8, &b->descriptor_capacity, num, 128);
    if (status != PSFM_OK)
        return status;
    float scale = (float)exp2(octave->index);
    b->set.keypoints[b->set.num] = psfm_keypoint_make(
        point->x * scale + 0.5F, point->y * scale + 0.5F, point->sigma * scale, (float)angle);
    *descriptor = b->set.descriptors_u8 + 128 * b->set.num;
    b->set.num = num;
    return PSFM_OK;
}

static psfm_status describe_point(psfm_context *ctx, const psfm_sift_octave *octave,
                                  const psfm_sift_point *point, const psfm_sift_options *options,
                                  psfm_sift_patch *patch, builder *b) {
    double angles[PSFM_SIFT_MAX_ORIENTATIONS] = {0.0};
    int num = 1;
    psfm_status status = psfm_sift_patch_load(ctx, octave, point, patch);
    if (status == PSFM_OK && !options->upright)
        num = psfm_sift_orientations(patch, angles);
    for (int k = 0; status == PSFM_OK && k < num; ++k) {
        uint8_t *descriptor = NULL;
        status = append_keypoint(ctx, b, octave, point, angles[k], &descriptor);
        if (status == PSFM_OK)
            psfm_sift_describe(patch, angles[k], descriptor);
    }
    return status;
}

/* Points that are described together. */
#define POINTS_PER_TASK 64

typedef struct {
    const psfm_sift_space *space;
    const psfm_sift_points *points;
    size_t first; /* point to describe */
    const psfm_sift_options *options;
    psfm_sift_patch *patches; /* per worker */
    builder *parts;           /* per task */
} description;

static psfm_status describe_some(psfm_context *ctx, size_t index, int worker, void *user) {
    const description *d = user;
    builder *part = &d->parts[index];
    const size_t first = d->first + index * POINTS_PER_TASK;
    psfm_status status = PSFM_OK;
    part->set.descriptor_size = 128;
    for (size_t k = first; status == PSFM_OK && k < d->points->num && k < first + POINTS_PER_TASK;
         ++k) {
        const psfm_sift_point *point = &d->points->points[k];
        status = describe_point(ctx, &d->space->octaves[point->octave], point, d->options,
                                &d->patches[worker], part);
    }
    return status;
}

/* Puts the parts one after the other. */
static psfm_status join_parts(psfm_context *ctx, const description *d, size_t num_parts,
                              psfm_keypoint_set *out) {
    size_t num = 0;
    for (size_t k = 0; k < num_parts; ++k)
        num += d->parts[k].set.num;
    out->descriptor_size = 128;
    psfm_status status = PSFM_ALLOC(ctx, num, &out->keypoints);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, 128 * num, &out->descriptors_u8);
    for (size_t k = 0; status == PSFM_OK && k < num_parts; ++k) {
        const psfm_keypoint_set *part = &d->parts[k].set;
        if (part->num == 0)
            continue;
        memcpy(out->keypoints + out->num, part->keypoints, part->num * sizeof *part->keypoints);
        memcpy(out->descriptors_u8 + 128 * out->num, part->descriptors_u8, 128 * part->num);
        out->num += part->num;
    }
    if (status != PSFM_OK)
        psfm_keypoint_set_free(out);
    return status;
}

static psfm_status describe_all(psfm_context *ctx, const psfm_sift_space *space,
                                const psfm_sift_points *points, const psfm_sift_options *options,
                                psfm_keypoint_set *out) {
    description d = {space,   points, first_to_keep(points, options->max_num_features),
                     options, NULL,   NULL};
    const size_t num_parts = (points->num - d.first + POINTS_PER_TASK - 1) / POINTS_PER_TASK;
    const int num_workers = psfm_parallel_workers(ctx, num_parts);
    psfm_status status = PSFM_ALLOC(ctx, (size_t)num_workers, &d.patches);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num_parts, &d.parts);
    if (status == PSFM_OK)
        status = psfm_parallel_for(ctx, NULL, num_parts, describe_some, &d);
    if (status == PSFM_OK)
        status = join_parts(ctx, &d, num_parts, out);
    for (size_t k = 0; d.parts != NULL && k < num_parts; ++k)
        psfm_keypoint_set_free(&d.parts[k].set);
    for (int k = 0; d.patches != NULL && k < num_workers; ++k)
        psfm_sift_patch_free(&d.patches[k]);
    free(d.parts);
    free(d.patches);
    return status;
}

psfm_status psfm_sift_extract(psfm_context *ctx, const psfm_image *image,
                              const psfm_sift_options *options, psfm_sift_workspace *workspace,
                              psfm_keypoint_set *out) {
    psfm_sift_options defaults;
    psfm_sift_workspace own = {0};
    psfm_sift_points points = {0};
    psfm_sift_space space;
    psfm_options_init(&psfm_sift_option_table, &defaults);
    const psfm_sift_options *o = options == NULL ? &defaults : options;
    *out = (psfm_keypoint_set){0};
    psfm_status status = psfm_options_check(ctx, &psfm_sift_option_table, o);
    if (status == PSFM_OK)
        status = psfm_sift_space_init(ctx, image, o, workspace != NULL ? workspace : &own, &space);
    while (status == PSFM_OK) {
        const psfm_sift_octave *octave = psfm_sift_space_next(&space);
        if (octave == NULL)
            break;
        status = psfm_sift_detect(ctx, octave, space.num_built - 1, o, &points);
    }
    if (status == PSFM_OK)
        status = describe_all(ctx, &space, &points, o, out);
    free(points.points);
    psfm_sift_workspace_free(&own);
    return status;
}
