/* The choice of features. Its key is the hash of the options, of the weights and of this version:
 * features with another key are extracted again. */
#include "frontend/feature_choice.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "planarsfm/version.h"

/* Carries a key on over the options of SIFT and over what the effort makes of it. */
static uint64_t hash_sift(const psfm_sift_options *sift, uint64_t key) {
    const int effort[] = {sift->first_octave, sift->max_image_size, sift->reduced_decoding};
    key = psfm_hash(key, effort, sizeof effort);
    return psfm_options_hash(&psfm_sift_option_table, sift, key);
}

/* What SIFT may do within each effort. */
static void limit_efforts(const psfm_folder_options *options, psfm_feature_choice *choice) {
    for (int level = PSFM_EFFORT_AUTO; level <= PSFM_EFFORT_HIGH; ++level) {
        psfm_sift_options *sift = &choice->sift[level];
        *sift = options->sift;
        psfm_effort_limit((psfm_effort)level, options->extract.max_image_size, sift);
        choice->second_pass_keys[level] = hash_sift(sift, PSFM_HASH_START);
    }
    choice->key = hash_sift(&choice->sift[choice->effort], choice->key);
}

psfm_status psfm_feature_choice_make(psfm_context *ctx, const psfm_folder_options *options,
                                     psfm_feature_choice *choice) {
    psfm_feature_kind kind = (psfm_feature_kind)options->detector.kind;
    const char *name = psfm_feature_names[kind];
    uint64_t fingerprint = 0;
    *choice =
        (psfm_feature_choice){.effort = (psfm_effort)options->effort.level,
                              .key = psfm_hash(PSFM_HASH_START, PSFM_VERSION, sizeof PSFM_VERSION)};
    psfm_status status = PSFM_OK;
    choice->key = psfm_options_hash(&psfm_extract_option_table, &options->extract, choice->key);
    if (kind != PSFM_FEATURES_SIFT || options->sift.upright) /* photographs are turned for them */
        choice->key = psfm_hash(choice->key, "upright", strlen("upright"));
    if (kind == PSFM_FEATURES_SIFT) {
        limit_efforts(options, choice);
    } else {
        choice->key = psfm_options_hash(psfm_detector_get(kind)->options,
                                        &options->detector.neural[kind], choice->key);
        status = psfm_weights_find(ctx, &options->weights, psfm_detector_get(kind)->network->file,
                                   &choice->weights, &fingerprint);
    }
    choice->key = psfm_hash(choice->key, name, strlen(name));
    choice->key = psfm_hash(choice->key, &fingerprint, sizeof fingerprint);
    return status;
}

void psfm_feature_choice_free(psfm_feature_choice *choice) {
    free(choice->weights);
    *choice = (psfm_feature_choice){0};
}
