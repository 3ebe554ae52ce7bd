/* Pairs by what their images came to.
 *
 * Ground with relief is flat in no pair: its patches spread about every plane that keypoints fit to
 * it, and all that was aligned is given up again. Where each image is matched with dozens of others
 * that is most of the work, all of it for nothing. So the pairs that tell most go first, those with
 * most matches on planes: near pairs see the least parallax from relief, and most patches. A pair
 * beside them is aligned only if one of its images had a plane that came out better among its own
 * first ones. */
#include "images/photometric/pair_order.h"

#include <stdlib.h>

#include "core/base/alloc.h"

#define NUM_FIRST 6  /* pairs of an image */
#define NUM_TRIED 16 /* images whose best pairs are tried */

typedef struct {
    size_t pair, num_on_planes;
} candidate;

static int most_first(const void *a, const void *b) {
    const candidate *c = a, *d = b;
    if (c->num_on_planes != d->num_on_planes)
        return c->num_on_planes > d->num_on_planes ? -1 : 1;
    return c->pair < d->pair ? -1 : c->pair > d->pair;
}

static size_t count_on_planes(const psfm_two_view *view) {
    size_t num = 0;
    for (size_t h = 0; h < view->num_homographies; ++h)
        num += view->homographies[h].num_inliers;
    return num;
}

void psfm_pairs_trial(const psfm_match_set *set, const psfm_two_view *two_views,
                      const bool *can_align, bool *trial) {
    for (size_t p = 0; p < set->num_pairs; ++p)
        trial[p] = false;
    for (size_t k = 0; k < NUM_TRIED; ++k) {
        const size_t view = (2 * k + 1) * set->num_views / (2 * NUM_TRIED);
        size_t best = SIZE_MAX, most = 0;
        for (size_t p = 0; p < set->num_pairs; ++p) {
            const psfm_match_pair *pair = &set->pairs[p];
            const size_t num = can_align[p] && (pair->view1 == view || pair->view2 == view)
                                   ? count_on_planes(&two_views[p])
                                   : 0;
            best = num > most ? p : best;
            most = num > most ? num : most;
        }
        if (best != SIZE_MAX)
            trial[best] = true;
    }
}

psfm_status psfm_pairs_first(psfm_context *ctx, const psfm_match_set *set,
                             const psfm_two_view *two_views, const bool *can_align, bool *first) {
    candidate *candidates = NULL;
    size_t *num_seen = NULL, num = 0; /* per view */
    psfm_status status = PSFM_ALLOC(ctx, set->num_pairs, &candidates);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, set->num_views, &num_seen);
    for (size_t p = 0; status == PSFM_OK && p < set->num_pairs; ++p) {
        first[p] = false;
        if (can_align[p])
            candidates[num++] = (candidate){p, count_on_planes(&two_views[p])};
    }
    if (num > 0)
        qsort(candidates, num, sizeof *candidates, most_first);
    for (size_t k = 0; k < num; ++k) {
        const psfm_match_pair *pair = &set->pairs[candidates[k].pair];
        size_t *seen1 = &num_seen[pair->view1], *seen2 = &num_seen[pair->view2];
        first[candidates[k].pair] = *seen1 < NUM_FIRST || *seen2 < NUM_FIRST;
        ++*seen1;
        ++*seen2;
    }
    free(num_seen);
    free(candidates);
    return status;
}
