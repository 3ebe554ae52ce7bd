/* Which pairs of a database's images are to be matched, and which of them are there. */
#ifndef PSFM_FRONTEND_PAIR_PLAN_H
#define PSFM_FRONTEND_PAIR_PLAN_H

#include "frontend/match_images.h"
#include "images/match/pair_select.h"
#include "store/feature_store.h"

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

/* What pairs are chosen from. Owns the places; the rest must outlive it. */
typedef struct {
    psfm_context *ctx;
    psfm_feature_store *store;
    const psfm_stored_photos *images;
    const psfm_match_options *options;
    psfm_places places;
    const char *rule; /* that the options stand for with these images */
} psfm_pair_plan;

psfm_status psfm_pair_plan_init(psfm_context *ctx, psfm_feature_store *store,
                                const psfm_stored_photos *images, const psfm_match_options *options,
                                psfm_pair_plan *plan);
void psfm_pair_plan_free(psfm_pair_plan *plan);

/* Whether the rule goes by the features: by retrieval, also where places are missing. */
bool psfm_pair_plan_by_retrieval(const psfm_pair_plan *plan);
/* The pairs of the rule. The caller frees *list. */
psfm_status psfm_wanted_pairs(const psfm_pair_plan *plan, psfm_pair_list *list);
/* Pairs to be matched beside `wanted`, which are in the database, by what these came to
 * (psfm_pair_expand); none unless the options ask for it. The caller frees *added. */
psfm_status psfm_wanted_more(const psfm_pair_plan *plan, const psfm_pair_list *wanted,
                             psfm_pair_list *added);
/* Removes pairs of ours that are not wanted. */
psfm_status psfm_drop_unwanted(const psfm_pair_plan *plan, const psfm_pair_list *wanted,
                               size_t *num_dropped);

#endif
