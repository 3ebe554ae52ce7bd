/* Disjoint sets of [0, n), and the labels of the sets by decreasing size. */
#ifndef PSFM_BASE_UNION_FIND_H
#define PSFM_BASE_UNION_FIND_H

#include <stdint.h>

#include "core/base/context.h"

/* parent[v] leads to the root of v's set, which is its own parent: the smallest element where
 * psfm_sets_unite does the joining. */
static inline void psfm_sets_init(uint32_t *parent, uint32_t n) {
    for (uint32_t v = 0; v < n; ++v)
        parent[v] = v;
}

/* The root of v's set; halves the path on the way. */
static inline uint32_t psfm_sets_find(uint32_t *parent, uint32_t v) {
    while (parent[v] != v) {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }
    return v;
}

/* Unites two sets; false if they were one already. */
static inline bool psfm_sets_unite(uint32_t *parent, uint32_t u, uint32_t v) {
    u = psfm_sets_find(parent, u);
    v = psfm_sets_find(parent, v);
    if (u == v)
        return false;
    if (u < v)
        parent[v] = u;
    else
        parent[u] = v;
    return true;
}

/* Numbers the sets by decreasing size, ties by smallest element: label[v] in [0, *num). label may
 * be `parent` itself. O(n log n) at worst. */
psfm_status psfm_sets_label(psfm_context *ctx, uint32_t *parent, uint32_t n, uint32_t *label,
                            uint32_t *num);

/* Elements by a label in [0, num): member[begin[a] .. begin[a + 1]) has label a, ascending. begin
 * has num + 1 entries, member n. */
void psfm_list_labelled(const uint32_t *label, uint32_t n, uint32_t num, uint32_t *begin,
                        uint32_t *member);

#endif
