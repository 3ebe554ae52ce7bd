/* The list of runner-ups of all kinds. */
#include "core/ambiguity/ambiguity.h"

#include <stdlib.h>

#include "core/base/alloc.h"

double psfm_ambiguity_ratio(const psfm_ambiguity *ambiguity) {
    return psfm_evidence_ratio(ambiguity->cut.agreeing, ambiguity->cut.opposing);
}

psfm_status psfm_ambiguities_add(psfm_context *ctx, psfm_ambiguity *item, psfm_ambiguities *list) {
    psfm_status status = PSFM_RESERVE(ctx, &list->item, &list->room, list->num + 1);
    if (status != PSFM_OK)
        return status;
    list->item[list->num++] = *item;
    item->cut = (psfm_runner_up){0};
    return PSFM_OK;
}

void psfm_ambiguities_free(psfm_ambiguities *list) {
    for (size_t k = 0; k < list->num; ++k)
        psfm_runner_up_free(&list->item[k].cut);
    free(list->item);
    free(list->part);
    *list = (psfm_ambiguities){0};
}
