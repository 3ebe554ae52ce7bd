/* The detectors that are networks behind one interface: a table says which options, weights and
 * smallest image each kind has.
 *
 * A network is not safe for two calls at once, so a pool holds several copies, one per thread as
 * far as half of the memory holds their maps; the threads are shared out among the copies. */
#include "feature/detector.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "nn/pool.h"

#define BYTES_PER_PIXEL 200.0 /* of maps that a network keeps, at most */

const char *const psfm_feature_names[] = {"sift", "superpoint", "xfeat", "edgepoint2", NULL};

static const psfm_option rows[] = {
    PSFM_OPTION_CHOICE(psfm_detector_options, kind, "features", PSFM_FEATURES_SIFT,
                       psfm_feature_names, "kind of features; all but sift need --weights"),
};
const psfm_option_table psfm_feature_option_table = {"", rows, 1};

psfm_feature_kind psfm_feature_kind_find(const char *name) {
    int kind = 0;
    while (kind < PSFM_NUM_FEATURE_KINDS && strcmp(psfm_feature_names[kind], name) != 0)
        ++kind;
    return (psfm_feature_kind)kind;
}

/* One network in one of the places of the pool. */
typedef struct {
    psfm_engine *nn;
    psfm_superpoint *superpoint;
    psfm_xfeat *xfeat;
    psfm_edgepoint2 *edgepoint2;
} network;

struct psfm_detectors {
    psfm_detector_options options;
    psfm_pool pool;
    network *networks;
};

static const struct {
    const psfm_option_table *table;
    size_t offset;
    const psfm_network_file *file;
    size_t min_side;
} kinds[PSFM_NUM_FEATURE_KINDS] = {
    [PSFM_FEATURES_SUPERPOINT] = {&psfm_superpoint_option_table,
                                  offsetof(psfm_detector_options, superpoint),
                                  &psfm_superpoint_file, 16},
    [PSFM_FEATURES_XFEAT] = {&psfm_xfeat_option_table, offsetof(psfm_detector_options, xfeat),
                             &psfm_xfeat_file, 32},
    [PSFM_FEATURES_EDGEPOINT2] = {&psfm_edgepoint2_option_table,
                                  offsetof(psfm_detector_options, edgepoint2),
                                  &psfm_edgepoint2_file, 32},
};

void psfm_detector_options_init(psfm_detector_options *options) {
    *options = (psfm_detector_options){0};
    psfm_options_init(&psfm_feature_option_table, options);
    for (int k = PSFM_FEATURES_SIFT + 1; k < PSFM_NUM_FEATURE_KINDS; ++k)
        psfm_options_init(kinds[k].table, (char *)options + kinds[k].offset);
}

const psfm_option_table *psfm_detector_table(psfm_feature_kind kind) {
    return kinds[kind].table;
}

const void *psfm_detector_network_options(const psfm_detector_options *options) {
    return (const char *)options + kinds[options->kind].offset;
}

const psfm_network_file *psfm_detector_file(psfm_feature_kind kind) {
    return kinds[kind].file;
}

static psfm_status make_network(psfm_context *ctx, int kind, const char *path, int num_threads,
                                network *out) {
    psfm_status status = psfm_engine_create_sized(ctx, num_threads, &out->nn);
    if (status != PSFM_OK)
        return status;
    switch (kind) {
    case PSFM_FEATURES_SUPERPOINT:
        return psfm_superpoint_create(ctx, out->nn, path, &out->superpoint);
    case PSFM_FEATURES_XFEAT:
        return psfm_xfeat_create(ctx, out->nn, path, &out->xfeat);
    default:
        return psfm_edgepoint2_create(ctx, out->nn, path, &out->edgepoint2);
    }
}

static int count_networks(const psfm_context *ctx, size_t num_images, double max_pixels) {
    double budget = 0.5 * (double)psfm_context_memory(ctx);
    double fitting = budget / (BYTES_PER_PIXEL * max_pixels);
    int num = psfm_context_threads(ctx);
    if ((size_t)num > num_images)
        num = (int)num_images;
    if (num > fitting)
        num = (int)fitting;
    return num < 1 ? 1 : num;
}

psfm_status psfm_detectors_create(psfm_context *ctx, const psfm_detector_options *options,
                                  const char *path, size_t num_images, double max_pixels,
                                  psfm_detectors **out) {
    int num = count_networks(ctx, num_images, max_pixels);
    *out = NULL;
    psfm_status status =
        psfm_options_check(ctx, kinds[options->kind].table, psfm_detector_network_options(options));
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, 1, out);
    if (status != PSFM_OK)
        return status;
    (*out)->options = *options;
    status = psfm_pool_init(ctx, num, &(*out)->pool);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, (size_t)num, &(*out)->networks);
    for (int k = 0; status == PSFM_OK && k < num; ++k)
        status = make_network(ctx, options->kind, path, psfm_context_threads(ctx) / num,
                              &(*out)->networks[k]);
    if (status != PSFM_OK)
        psfm_detectors_destroy(out);
    return status;
}

void psfm_detectors_destroy(psfm_detectors **detectors) {
    if (detectors == NULL || *detectors == NULL)
        return;
    psfm_detectors *d = *detectors;
    for (int k = 0; d->networks != NULL && k < d->pool.num; ++k) {
        psfm_superpoint_destroy(&d->networks[k].superpoint);
        psfm_xfeat_destroy(&d->networks[k].xfeat);
        psfm_edgepoint2_destroy(&d->networks[k].edgepoint2);
        psfm_engine_destroy(&d->networks[k].nn);
    }
    free(d->networks);
    psfm_pool_free(&d->pool);
    free(d);
    *detectors = NULL;
}

static psfm_status run(psfm_context *ctx, const psfm_detector_options *options, network *net,
                       const psfm_gray_view *image, psfm_keypoint_set *features) {
    switch (options->kind) {
    case PSFM_FEATURES_SUPERPOINT:
        return psfm_superpoint_extract(ctx, net->superpoint, image, &options->superpoint, features);
    case PSFM_FEATURES_XFEAT:
        return psfm_xfeat_extract(ctx, net->xfeat, image, &options->xfeat, features);
    default:
        return psfm_edgepoint2_extract(ctx, net->edgepoint2, image, &options->edgepoint2, features);
    }
}

psfm_status psfm_detectors_extract(psfm_context *ctx, psfm_detectors *detectors,
                                   const psfm_gray_view *image, psfm_keypoint_set *features) {
    size_t min_side = kinds[detectors->options.kind].min_side;
    *features = (psfm_keypoint_set){0};
    if (image->width < min_side || image->height < min_side)
        return psfm_fail(ctx, PSFM_ERR_DATA,
                         "%zu x %zu pixels are too small for %s, which needs %zu", image->width,
                         image->height, kinds[detectors->options.kind].file->name, min_side);
    int place = psfm_pool_take(&detectors->pool);
    psfm_status status =
        run(ctx, &detectors->options, &detectors->networks[place], image, features);
    psfm_pool_give(&detectors->pool, place);
    return status;
}
