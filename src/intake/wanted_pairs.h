/* Which pairs of a database's images are to be matched, and which of them are there. */
#ifndef PSFM_INTAKE_WANTED_PAIRS_H
#define PSFM_INTAKE_WANTED_PAIRS_H

#include "intake/match_images.h"
#include "io/feature_store.h"
#include "match/pair_select.h"

/* Pairs of a database, sorted by the ids of their images. Owns its array. */
typedef struct {
    psfm_stored_pair *pairs;
    size_t num;
} psfm_stored_pairs;

psfm_status psfm_stored_pairs_read(psfm_feature_store *store, psfm_stored_pairs *out);
void psfm_stored_pairs_free(psfm_stored_pairs *pairs);

/* A pair is stored with the lower id first, in whatever order its images are given. */
bool psfm_pair_is_turned(const psfm_stored_photos *images, const uint32_t pair[2]);
psfm_stored_pair psfm_pair_ids(const psfm_stored_photos *images, const uint32_t pair[2]);
/* The stored pair of two images, or NULL. */
const psfm_stored_pair *psfm_stored_pairs_find(const psfm_stored_pairs *pairs,
                                               const psfm_stored_photos *images,
                                               const uint32_t pair[2]);

/* The rule that options stand for with these images. */
const char *psfm_wanted_rule(const psfm_match_options *options, const psfm_stored_photos *images);
/* The pairs of that rule. The caller frees *list. */
psfm_status psfm_wanted_pairs(psfm_context *ctx, psfm_feature_store *store,
                              const psfm_stored_photos *images, const psfm_match_options *options,
                              psfm_pair_list *list);
/* Pairs to be matched beside `wanted`, which are in the database, by what these came to
 * (psfm_pair_expand); none unless the options ask for it. The caller frees *added. */
psfm_status psfm_wanted_more(psfm_context *ctx, psfm_feature_store *store,
                             const psfm_stored_photos *images, const psfm_match_options *options,
                             const psfm_pair_list *wanted, psfm_pair_list *added);
/* Removes pairs of ours that are not wanted. */
psfm_status psfm_drop_unwanted(psfm_context *ctx, psfm_feature_store *store,
                               const psfm_stored_photos *images, const psfm_pair_list *wanted,
                               size_t *num_dropped);

#endif
