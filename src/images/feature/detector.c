/* The detectors that are networks behind one interface.
 *
 * A network is not safe for two calls at once, so there are several copies, one per thread as far
 * as half of the memory holds their maps; threads without a copy help with the loops of the others.
 */
#include "images/feature/detector.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

#define BYTES_PER_PIXEL 200.0 /* of maps that a network keeps, at most */

const char *const psfm_feature_names[] = {"sift", "superpoint", "xfeat", "edgepoint2", NULL};

static const psfm_option rows[] = {
    PSFM_OPTION_CHOICE(psfm_detector_options, kind, "features", PSFM_FEATURES_SIFT,
                       psfm_feature_names, "kind of features; all but sift need --weights"),
};
const psfm_option_table psfm_feature_option_table = PSFM_OPTION_TABLE("", rows);

psfm_feature_kind psfm_feature_kind_find(const char *name) {
    int kind = 0;
    while (kind < PSFM_NUM_FEATURE_KINDS && strcmp(psfm_feature_names[kind], name) != 0)
        ++kind;
    return (psfm_feature_kind)kind;
}

struct psfm_detectors {
    const psfm_neural_detector *detector;
    psfm_neural_options options;
    psfm_networks networks;
};

static const psfm_neural_detector *const networks[PSFM_NUM_FEATURE_KINDS] = {
    [PSFM_FEATURES_SUPERPOINT] = &psfm_superpoint_detector,
    [PSFM_FEATURES_XFEAT] = &psfm_xfeat_detector,
    [PSFM_FEATURES_EDGEPOINT2] = &psfm_edgepoint2_detector,
};

const psfm_neural_detector *psfm_detector_get(psfm_feature_kind kind) {
    return networks[kind];
}

static int count_networks(const psfm_context *ctx, int num_wanted, double max_pixels) {
    double budget = 0.5 * (double)psfm_context_memory(ctx);
    double fitting = budget / (BYTES_PER_PIXEL * max_pixels);
    return fitting < 1 ? 1 : fitting < num_wanted ? (int)fitting : num_wanted;
}

psfm_status psfm_detectors_create(psfm_context *ctx, const psfm_detector_options *options,
                                  const char *path, int num_wanted, double max_pixels,
                                  psfm_detectors **out) {
    const psfm_neural_detector *detector = networks[options->kind];
    int num = count_networks(ctx, num_wanted, max_pixels);
    *out = NULL;
    psfm_status status =
        psfm_options_check(ctx, detector->options, &options->neural[options->kind]);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, 1, out);
    if (status != PSFM_OK)
        return status;
    (*out)->detector = detector;
    (*out)->options = options->neural[options->kind];
    status = psfm_networks_make(ctx, detector->network, path, num, &(*out)->networks);
    if (status != PSFM_OK)
        psfm_detectors_destroy(out);
    return status;
}

void psfm_detectors_destroy(psfm_detectors **detectors) {
    if (detectors == NULL || *detectors == NULL)
        return;
    psfm_networks_free(&(*detectors)->networks);
    free(*detectors);
    *detectors = NULL;
}

int psfm_detectors_num(const psfm_detectors *detectors) {
    return detectors->networks.num;
}

psfm_status psfm_detectors_extract(psfm_context *ctx, psfm_detectors *detectors, int worker,
                                   const psfm_gray_view *image, psfm_keypoint_set *features) {
    const psfm_neural_detector *detector = detectors->detector;
    *features = (psfm_keypoint_set){0};
    if (image->width < detector->min_side || image->height < detector->min_side)
        return psfm_fail(ctx, PSFM_ERR_DATA,
                         "%zu x %zu pixels are too small for %s, which needs %zu", image->width,
                         image->height, detector->network->file->name, detector->min_side);
    return psfm_neural_extract(ctx, detector, detectors->networks.models[worker], image,
                               &detectors->options, features);
}
