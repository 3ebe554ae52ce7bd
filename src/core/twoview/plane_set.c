/* Which match belongs to which of a pair's homographies. Every match goes to the homography with
 * the smallest error, so that planes share no inliers; labels beyond the planes' numbers are free
 * for other uses and are kept. */
#include "core/twoview/plane_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/twoview/homography.h"

psfm_status psfm_plane_set_init(psfm_context *ctx, size_t num_pairs, size_t capacity,
                                psfm_plane_set *set) {
    memset(set, 0, sizeof *set);
    psfm_status status = PSFM_ALLOC(ctx, capacity, &set->H_21);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, capacity, &set->num_inliers);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, capacity, &set->obeys);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num_pairs, &set->plane);
    if (status != PSFM_OK) {
        psfm_plane_set_free(set);
        return status;
    }
    set->capacity = capacity;
    for (size_t i = 0; i < num_pairs; ++i)
        set->plane[i] = PSFM_NO_PLANE;
    return PSFM_OK;
}

void psfm_plane_set_free(psfm_plane_set *set) {
    free(set->H_21);
    free(set->num_inliers);
    free(set->obeys);
    free(set->plane);
    memset(set, 0, sizeof *set);
}

size_t psfm_plane_set_gather(const psfm_plane_set *set, size_t num_pairs, uint32_t p,
                             uint32_t *idx) {
    size_t num = 0;
    for (size_t i = 0; i < num_pairs; ++i)
        if (set->plane[i] == p)
            idx[num++] = (uint32_t)i;
    return num;
}

bool psfm_plane_set_assign(psfm_plane_set *set, const psfm_ray_pairs *pairs, double max_squared,
                           double *nearest, double *squared, uint32_t *best) {
    bool changed = false;
    for (size_t i = 0; i < pairs->num; ++i) {
        nearest[i] = INFINITY;
        best[i] = set->plane[i] < set->num_planes ? PSFM_NO_PLANE : set->plane[i];
    }
    for (uint32_t p = 0; p < set->num_planes; ++p) {
        set->num_inliers[p] = 0;
        psfm_homography_errors(pairs, set->H_21[p], squared);
        for (size_t i = 0; i < pairs->num; ++i) {
            if (!(squared[i] < nearest[i]))
                continue;
            nearest[i] = squared[i];
            if (squared[i] < max_squared)
                best[i] = p;
        }
    }
    for (size_t i = 0; i < pairs->num; ++i) {
        changed = changed || set->plane[i] != best[i];
        set->plane[i] = best[i];
        if (best[i] < set->num_planes)
            ++set->num_inliers[best[i]];
    }
    return changed;
}

void psfm_plane_set_remove(psfm_plane_set *set, size_t num_pairs, uint32_t p, uint32_t heir) {
    for (size_t i = 0; i < num_pairs; ++i) {
        uint32_t *plane = &set->plane[i];
        if (*plane == p)
            *plane = heir;
        if (*plane<set->num_planes && * plane> p)
            --*plane;
    }
    --set->num_planes;
    for (size_t k = p; k < set->num_planes; ++k) {
        memcpy(set->H_21[k], set->H_21[k + 1], sizeof set->H_21[k]);
        set->num_inliers[k] = set->num_inliers[k + 1];
        set->obeys[k] = set->obeys[k + 1];
    }
}

static void swap_planes(psfm_plane_set *set, size_t num_pairs, uint32_t a, uint32_t b) {
    double H[9];
    size_t num = set->num_inliers[a];
    bool obeys = set->obeys[a];
    memcpy(H, set->H_21[a], sizeof H);
    memcpy(set->H_21[a], set->H_21[b], sizeof H);
    memcpy(set->H_21[b], H, sizeof H);
    set->num_inliers[a] = set->num_inliers[b];
    set->num_inliers[b] = num;
    set->obeys[a] = set->obeys[b];
    set->obeys[b] = obeys;
    for (size_t i = 0; i < num_pairs; ++i) {
        if (set->plane[i] == a)
            set->plane[i] = b;
        else if (set->plane[i] == b)
            set->plane[i] = a;
    }
}

void psfm_plane_set_sort(psfm_plane_set *set, size_t num_pairs) {
    for (uint32_t p = 1; p < set->num_planes; ++p)
        for (uint32_t q = p; q > 0 && set->num_inliers[q] > set->num_inliers[q - 1]; --q)
            swap_planes(set, num_pairs, q, q - 1);
}
