/* The choice of features. Its key is the hash of the options, of the weights and of this version:
 * features with another key are extracted again. */
#include "intake/feature_choice.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "planarsfm/version.h"

/* What SIFT may do within each effort. */
static psfm_status limit_efforts(psfm_context *ctx, const psfm_folder_options *options,
                                 psfm_feature_choice *choice) {
    psfm_status status = PSFM_OK;
    for (int level = PSFM_EFFORT_AUTO; status == PSFM_OK && level <= PSFM_EFFORT_HIGH; ++level) {
        psfm_sift_options *sift = &choice->sift[level];
        *sift = options->sift;
        psfm_effort_limit((psfm_effort)level, options->extract.max_image_size, sift);
        choice->raised_keys[level] = PSFM_HASH_START;
        status = psfm_options_hash(ctx, &psfm_sift_option_table, sift, &choice->raised_keys[level]);
    }
    return status == PSFM_OK ? psfm_options_hash(ctx, &psfm_sift_option_table,
                                                 &choice->sift[choice->effort], &choice->key)
                             : status;
}

psfm_status psfm_feature_choice_make(psfm_context *ctx, const psfm_folder_options *options,
                                     psfm_feature_choice *choice) {
    psfm_feature_kind kind = (psfm_feature_kind)options->detector.kind;
    const char *name = psfm_feature_names[kind];
    uint64_t fingerprint = 0;
    *choice =
        (psfm_feature_choice){.effort = (psfm_effort)options->effort.level,
                              .key = psfm_hash(PSFM_HASH_START, PSFM_VERSION, sizeof PSFM_VERSION)};
    psfm_status status =
        psfm_options_hash(ctx, &psfm_extract_option_table, &options->extract, &choice->key);
    if (status == PSFM_OK && kind == PSFM_FEATURES_SIFT)
        status = limit_efforts(ctx, options, choice);
    else if (status == PSFM_OK)
        status = psfm_options_hash(ctx, psfm_detector_table(kind),
                                   psfm_detector_network_options(&options->detector), &choice->key);
    if (status == PSFM_OK && kind != PSFM_FEATURES_SIFT)
        status = psfm_weights_find(ctx, &options->weights, psfm_detector_file(kind),
                                   &choice->weights, &fingerprint);
    choice->key = psfm_hash(choice->key, name, strlen(name));
    choice->key = psfm_hash(choice->key, &fingerprint, sizeof fingerprint);
    return status;
}

void psfm_feature_choice_free(psfm_feature_choice *choice) {
    free(choice->weights);
    *choice = (psfm_feature_choice){0};
}
