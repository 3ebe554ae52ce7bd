/* The order of pairs for a cache: views in blocks of half its size, pairs sorted by their blocks
 * (blocking, as for matrix products). */
#include "photo/photo_order.h"

#include <stdlib.h>

#include "base/alloc.h"

typedef struct {
    size_t block1, block2;
    uint32_t view1, view2;
    size_t index;
} place;

static int compare(const void *a, const void *b) {
    const place *p = a, *q = b;
    if (p->block1 != q->block1)
        return p->block1 < q->block1 ? -1 : 1;
    if (p->block2 != q->block2)
        return p->block2 < q->block2 ? -1 : 1;
    if (p->view1 != q->view1)
        return p->view1 < q->view1 ? -1 : 1;
    if (p->view2 != q->view2)
        return p->view2 < q->view2 ? -1 : 1;
    return p->index < q->index ? -1 : p->index > q->index;
}

psfm_status psfm_photo_order(psfm_context *ctx, const psfm_photo_cache *cache,
                             const uint32_t *view1, const uint32_t *view2, size_t num,
                             size_t *order) {
    size_t size = psfm_photo_cache_room(cache) / 2;
    place *places = NULL;
    psfm_status status = PSFM_ALLOC(ctx, num, &places);
    if (status != PSFM_OK)
        return status;
    size = size > 0 ? size : 1;
    for (size_t k = 0; k < num; ++k)
        places[k] = (place){view1[k] / size, view2[k] / size, view1[k], view2[k], k};
    if (num > 0)
        qsort(places, num, sizeof *places, compare);
    for (size_t k = 0; k < num; ++k)
        order[k] = places[k].index;
    free(places);
    return PSFM_OK;
}
