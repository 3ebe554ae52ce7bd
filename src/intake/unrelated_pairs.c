/* What a pair came to without the finer features tells whether it is worth more: images that share
 * nothing that way hardly share anything, and with all pairs matched these are most of them. */
#include "intake/unrelated_pairs.h"

#include <stdlib.h>

#include "base/alloc.h"

psfm_status psfm_unrelated_pairs(psfm_context *ctx, psfm_feature_store *store,
                                 const psfm_stored_photos *photos, const psfm_pair_list *list,
                                 bool *unrelated) {
    psfm_need *needs = NULL;
    uint64_t key;
    psfm_status status = PSFM_ALLOC(ctx, photos->num, &needs);
    if (status == PSFM_OK)
        status = psfm_store_needs(store, photos, &key, needs);
    for (size_t k = 0; status == PSFM_OK && k < list->num; ++k) {
        uint32_t a = list->pairs[k][0], b = list->pairs[k][1];
        uint32_t id1 = photos->photos[a].image_id, id2 = photos->photos[b].image_id;
        unrelated[k] = false;
        if (needs[a] != PSFM_NEED_NEIGHBOURS && needs[b] != PSFM_NEED_NEIGHBOURS)
            status = psfm_store_is_unrelated(store, id1 < id2 ? id1 : id2, id1 < id2 ? id2 : id1,
                                             &unrelated[k]);
    }
    free(needs);
    return status;
}
