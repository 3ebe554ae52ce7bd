/* The convex hull by Andrew's monotone chain: the points sorted by x, then the lower and the upper
 * chain, each dropping points that do not turn left. Points on an edge are no corners. */
#include "core/linalg/convex_hull.h"

#include <stdlib.h>

#include "core/base/alloc.h"

typedef struct {
    double x, y;
    uint32_t index;
} point;

static int by_position(const void *a, const void *b) {
    const point *p = a, *q = b;
    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    if (p->y != q->y)
        return p->y < q->y ? -1 : 1;
    return p->index < q->index ? -1 : p->index > q->index;
}

/* Twice the area of the triangle o, a, b; positive if it turns left. */
static double turn_area(const point *o, const point *a, const point *b) {
    return (a->x - o->x) * (b->y - o->y) - (a->y - o->y) * (b->x - o->x);
}

psfm_status psfm_convex_hull(psfm_context *ctx, size_t num, const double (*xy)[2],
                             uint32_t **corners, uint32_t *num_corners) {
    point *sorted = NULL, *chain = NULL;
    uint32_t *out = NULL;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, num, &sorted)) ||
        (status = PSFM_ALLOC(ctx, 2 * num + 1, &chain)) ||
        (status = PSFM_ALLOC(ctx, 2 * num + 1, &out)))
        goto cleanup;
    for (size_t k = 0; k < num; ++k)
        sorted[k] = (point){xy[k][0], xy[k][1], (uint32_t)k};
    qsort(sorted, num, sizeof *sorted, by_position);
    size_t top = 0;
    for (size_t k = 0; k < num; ++k) { /* lower chain */
        while (top >= 2 && turn_area(&chain[top - 2], &chain[top - 1], &sorted[k]) <= 0.0)
            --top;
        chain[top++] = sorted[k];
    }
    size_t lower = top + 1;
    for (size_t k = num; k-- > 1;) { /* upper chain, from the second last back to the first */
        const point *p = &sorted[k - 1];
        while (top >= lower && turn_area(&chain[top - 2], &chain[top - 1], p) <= 0.0)
            --top;
        chain[top++] = *p;
    }
    *num_corners = (uint32_t)(top > 1 ? top - 1 : top); /* the first point closes the chain */
    for (uint32_t k = 0; k < *num_corners; ++k)
        out[k] = chain[k].index;
    *corners = out;
    out = NULL;

cleanup:
    free(sorted);
    free(chain);
    free(out);
    return status;
}

double psfm_polygon_area(const double (*xy)[2], const uint32_t *corners, uint32_t num_corners) {
    double twice = 0.0;
    for (uint32_t k = 0; k < num_corners; ++k) {
        const double *a = xy[corners[k]], *b = xy[corners[(k + 1) % num_corners]];
        twice += a[0] * b[1] - a[1] * b[0];
    }
    return 0.5 * twice;
}
