/* Guided matching of many pairs: the homographies of each are estimated from its matches, and the
 * matches found along them are merged into its list. One task a pair. */
#include "frontend/guide_matches.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"

typedef struct {
    const psfm_match_set *views;
    const psfm_keypoint_set *sets;
    const psfm_pair_list *pairs;
    const psfm_two_view_options *two_view;
    psfm_match_list *lists;
    size_t *verified;
} guidance;

static psfm_status find_homographies(psfm_context *ctx, const guidance *g,
                                     const psfm_match_pair *pair, psfm_two_view *out) {
    const psfm_image_pair images = psfm_image_pair_of(g->views, pair);
    psfm_correspondences c = {0};
    psfm_status status = psfm_correspondences_init(ctx, g->views, pair, &c);
    if (status == PSFM_OK)
        status = psfm_two_view_estimate(ctx, &c, &images, g->two_view, out);
    psfm_correspondences_free(&c);
    return status;
}

/* Both lists are sorted by the first keypoint and share none. */
static psfm_status merge_matches(psfm_context *ctx, psfm_match_list *list,
                                 const psfm_guided_matches *add) {
    psfm_match_list all = {NULL, list->num + add->num};
    psfm_status status = PSFM_ALLOC(ctx, all.num, &all.matches);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0, a = 0, b = 0; k < all.num; ++k) {
        bool first = b == add->num || (a < list->num && list->matches[a][0] < add->matches[b][0]);
        memcpy(all.matches[k], first ? list->matches[a] : add->matches[b], sizeof *all.matches);
        a += first;
        b += !first;
    }
    psfm_match_list_free(list);
    *list = all;
    return PSFM_OK;
}

static psfm_status follow_homographies(psfm_context *ctx, const guidance *g,
                                       const psfm_match_pair *pair, const psfm_two_view *found,
                                       psfm_match_list *list) {
    psfm_guide *guides = NULL;
    psfm_guided_matches add = {0};
    psfm_status status = PSFM_ALLOC(ctx, found->num_homographies, &guides);
    for (size_t k = 0; status == PSFM_OK && k < found->num_homographies; ++k) {
        const psfm_homography *h = &found->homographies[k];
        memcpy(guides[k].H_21, h->H_21, sizeof h->H_21);
        guides[k].inliers = h->inliers;
        guides[k].num_inliers = h->num_inliers;
    }
    const psfm_guided_pair input = {.view1 = &g->views->views[pair->view1],
                                    .view2 = &g->views->views[pair->view2],
                                    .pair = pair,
                                    .descriptors1 = g->sets[pair->view1].descriptors_u8,
                                    .descriptors2 = g->sets[pair->view2].descriptors_u8,
                                    .guides = guides,
                                    .num_guides = found->num_homographies};
    if (status == PSFM_OK)
        status = psfm_guided_match(ctx, &input, &add);
    if (status == PSFM_OK && add.num > 0)
        status = merge_matches(ctx, list, &add);
    psfm_guided_matches_free(&add);
    free(guides);
    return status;
}

static psfm_status guide_pair(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    const guidance *g = user;
    psfm_match_list *list = &g->lists[index];
    size_t before = list->num;
    const uint32_t *views = g->pairs->pairs[index];
    psfm_match_pair pair = {views[0], views[1], list->num, list->matches};
    psfm_two_view found = {0};
    g->verified[index] = 0;
    if (list->num < PSFM_GUIDE_MIN_INLIERS)
        return PSFM_OK;
    psfm_status status = find_homographies(ctx, g, &pair, &found);
    if (status == PSFM_OK && found.num_homographies > 0)
        status = follow_homographies(ctx, g, &pair, &found, list);
    g->verified[index] = psfm_two_view_explained(&found) + list->num - before;
    psfm_two_view_free(&found);
    return status;
}

psfm_status psfm_guide_matches(psfm_context *ctx, const psfm_match_set *views,
                               const psfm_keypoint_set *sets, const psfm_pair_list *pairs,
                               const psfm_two_view_options *two_view, psfm_match_list *lists,
                               size_t *verified) {
    guidance g = {.views = views,
                  .sets = sets,
                  .pairs = pairs,
                  .two_view = two_view,
                  .lists = lists,
                  .verified = verified};
    return psfm_parallel_for(ctx, NULL, pairs->num, guide_pair, &g);
}
