/* Edges beyond the spanning tree, those first that widen the range of its weights least: how far a
 * weight lies outside the range, ties by index. One sort, O(E log E). */
#include "graph/widening.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

typedef struct {
    double widening;
    uint32_t edge;
} candidate;

static int by_widening(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    if (x->widening != y->widening)
        return x->widening < y->widening ? -1 : 1;
    return x->edge < y->edge ? -1 : x->edge > y->edge;
}

psfm_status psfm_widening_order(psfm_context *ctx, const psfm_edge_list *graph, double low,
                                double high, const bool *is_used, uint32_t **order, size_t *num) {
    candidate *list = NULL;
    psfm_status status = PSFM_ALLOC(ctx, graph->num_edges, &list);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, graph->num_edges, order);
    *num = 0;
    if (status != PSFM_OK)
        goto cleanup;
    for (uint32_t e = 0; e < graph->num_edges; ++e) {
        double w = graph->weight[e];
        if (!is_used[e])
            list[(*num)++] = (candidate){fmax(0.0, fmax(low - w, w - high)), e};
    }
    qsort(list, *num, sizeof *list, by_widening);
    for (size_t k = 0; k < *num; ++k)
        (*order)[k] = list[k].edge;

cleanup:
    free(list);
    return status;
}
