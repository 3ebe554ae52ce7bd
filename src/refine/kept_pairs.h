/* Alignments of pairs that stay valid when photographs get more features. */
#ifndef PSFM_REFINE_KEPT_PAIRS_H
#define PSFM_REFINE_KEPT_PAIRS_H

#include "refine/pair_input.h"

typedef struct {
    uint64_t key; /* of all that the alignment started from */
    psfm_pair_refined refined;
} psfm_kept_pair;

/* Owns its pairs. {0} is empty. */
typedef struct {
    psfm_kept_pair *pairs;
    size_t num, capacity;
    bool is_sorted;
} psfm_kept_pairs;

/* A number of the cameras, the names and the planes of a pair; corners and photographs are those of
 * the names. */
psfm_status psfm_kept_pair_key(psfm_context *ctx, const psfm_match_set *set,
                               const psfm_match_pair *pair, const psfm_two_view *view,
                               uint64_t *key);

/* Takes *refined over, which is empty then. */
psfm_status psfm_kept_pairs_add(psfm_context *ctx, psfm_kept_pairs *kept, uint64_t key,
                                psfm_pair_refined *refined);

/* Hands the alignment with this key out again, once; false if there is none. */
bool psfm_kept_pairs_take(psfm_kept_pairs *kept, uint64_t key, psfm_pair_refined *refined);

void psfm_kept_pairs_free(psfm_kept_pairs *kept);

#endif
