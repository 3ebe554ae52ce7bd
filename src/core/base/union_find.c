/* Labels of disjoint sets: sets are counted at their roots, sorted by size (ties by the smallest
 * element, so that labels do not depend on the order of joining), and handed down to the elements.
 * O(n log n) for the sort at worst. */
#include "core/base/union_find.h"

#include <stdlib.h>

#include "core/base/alloc.h"

typedef struct {
    uint32_t size, smallest;
} set_info;

static int by_size(const void *a, const void *b) {
    const set_info *x = a, *y = b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return x->smallest < y->smallest ? -1 : x->smallest > y->smallest;
}

psfm_status psfm_sets_label(psfm_context *ctx, uint32_t *parent, uint32_t n, uint32_t *label,
                            uint32_t *num) {
    set_info *sets = NULL;
    uint32_t *label_of = NULL; /* by smallest element */
    psfm_status status = PSFM_ALLOC(ctx, n, &sets);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, n, &label_of);
    if (status != PSFM_OK)
        goto cleanup;
    uint32_t count = 0;
    for (uint32_t v = 0; v < n; ++v) {
        uint32_t smallest = psfm_sets_find(parent, v);
        if (smallest == v) {
            label_of[v] = count;
            sets[count++] = (set_info){0, v};
        }
        ++sets[label_of[smallest]].size;
    }
    qsort(sets, count, sizeof *sets, by_size);
    for (uint32_t k = 0; k < count; ++k)
        label_of[sets[k].smallest] = k;
    /* Ends of paths come last, so that label may overwrite parent. */
    for (uint32_t v = n; v-- > 0;)
        label[v] = label_of[psfm_sets_find(parent, v)];
    *num = count;

cleanup:
    free(sets);
    free(label_of);
    return status;
}

void psfm_list_labelled(const uint32_t *label, uint32_t n, uint32_t num, uint32_t *begin,
                        uint32_t *member) {
    for (uint32_t a = 0; a <= num; ++a)
        begin[a] = 0;
    for (uint32_t v = 0; v < n; ++v)
        ++begin[label[v]];
    for (uint32_t a = 0; a < num; ++a)
        begin[a + 1] += begin[a];
    for (uint32_t v = n; v-- > 0;)
        member[--begin[label[v]]] = v;
}
