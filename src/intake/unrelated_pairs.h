/* Pairs that are not worth matching again. */
#ifndef PSFM_INTAKE_UNRELATED_PAIRS_H
#define PSFM_INTAKE_UNRELATED_PAIRS_H

#include "io/feature_store.h"
#include "match/pair_select.h"

/* Marks the pairs of images (indices into `photos`) that had no verified match before their images
 * got new features, and neither of whose images needs neighbours by the decision in the database.
 */
psfm_status psfm_unrelated_pairs(psfm_context *ctx, psfm_feature_store *store,
                                 const psfm_stored_photos *photos, const psfm_pair_list *list,
                                 bool *unrelated);

#endif
