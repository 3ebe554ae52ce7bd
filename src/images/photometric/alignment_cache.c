/* Where some photographs get more features after the alignment of planes, all pairs are verified
 * and aligned once more. Pairs of photographs that got none have the same planes as before, to the
 * bit, and so would have the same patches. What they came to is kept by a hash of what it was made
 * from, and taken over. Corners do not depend on features at all. */
#include "images/photometric/alignment_cache.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/hash.h"
#include "core/linalg/order_statistics.h"
#include "core/matches/canonical_order.h"

static uint64_t hash_view(uint64_t hash, const psfm_match_set *set, uint32_t v) {
    const psfm_view *view = &set->views[v];
    const psfm_camera *camera = &set->cameras[view->camera_idx];
    const uint64_t stream = psfm_view_stream(view);
    hash = psfm_hash(hash, &stream, sizeof stream);
    hash = psfm_hash(hash, &camera->model, sizeof camera->model);
    return psfm_hash(hash, camera->params, sizeof camera->params);
}

static uint64_t hash_plane(uint64_t hash, const psfm_raw_plane *plane) {
    hash = psfm_hash(hash, plane->H_21, sizeof plane->H_21);
    hash = psfm_hash(hash, &plane->num_inliers, sizeof plane->num_inliers);
    hash = psfm_hash(hash, plane->xy1, plane->num_inliers * sizeof *plane->xy1);
    return psfm_hash(hash, plane->xy2, plane->num_inliers * sizeof *plane->xy2);
}

psfm_status psfm_kept_pair_key(psfm_context *ctx, const psfm_match_set *set,
                               const psfm_match_pair *pair, const psfm_two_view *view,
                               uint64_t *key) {
    psfm_raw_planes raw = {0};
    psfm_status status = psfm_raw_planes_list(ctx, set, pair, view, &raw);
    *key = hash_view(hash_view(PSFM_HASH_START, set, pair->view1), set, pair->view2);
    for (size_t h = 0; status == PSFM_OK && h < raw.num; ++h)
        *key = hash_plane(*key, &raw.planes[h]);
    psfm_raw_planes_free(&raw);
    return status;
}

psfm_status psfm_kept_pairs_add(psfm_context *ctx, psfm_kept_pairs *kept, uint64_t key,
                                psfm_pair_refined *refined) {
    psfm_status status = PSFM_RESERVE(ctx, &kept->pairs, &kept->capacity, kept->num + 1);
    if (status != PSFM_OK)
        return status;
    kept->pairs[kept->num++] = (psfm_kept_pair){key, *refined};
    kept->is_sorted = false;
    *refined = (psfm_pair_refined){0};
    return PSFM_OK;
}

bool psfm_kept_pairs_take(psfm_kept_pairs *kept, uint64_t key, psfm_pair_refined *refined) {
    if (kept->num == 0)
        return false;
    if (!kept->is_sorted)
        qsort(kept->pairs, kept->num, sizeof *kept->pairs, psfm_compare_u64);
    kept->is_sorted = true;
    psfm_kept_pair *found =
        bsearch(&key, kept->pairs, kept->num, sizeof *kept->pairs, psfm_compare_u64);
    if (found == NULL || found->refined.planes == NULL)
        return false;
    *refined = found->refined;
    found->refined = (psfm_pair_refined){0};
    return true;
}

static uint64_t hash_name(const psfm_view *view) {
    return psfm_hash(PSFM_HASH_START, view->name, strlen(view->name));
}

psfm_status psfm_kept_corners_add(psfm_context *ctx, psfm_kept_pairs *kept,
                                  const psfm_match_set *set, psfm_view_corners *corners) {
    psfm_status status = PSFM_ALLOC(ctx, set->num_views, &kept->corners);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, set->num_views, &kept->names);
    if (status != PSFM_OK)
        return status;
    kept->num_views = set->num_views;
    for (size_t v = 0; v < set->num_views; ++v) {
        kept->names[v] = hash_name(&set->views[v]);
        kept->corners[v] = corners[v];
        corners[v] = (psfm_view_corners){0};
    }
    return PSFM_OK;
}

/* Most views are where they were, so that the search starts there. */
void psfm_kept_corners_take(psfm_kept_pairs *kept, const psfm_match_set *set,
                            psfm_view_corners *corners) {
    for (size_t v = 0; v < set->num_views; ++v) {
        const uint64_t name = hash_name(&set->views[v]);
        size_t tried = 0, k = 0;
        for (; tried < kept->num_views; ++tried)
            if (kept->names[k = (v + tried) % kept->num_views] == name)
                break;
        if (tried == kept->num_views)
            continue;
        corners[v] = kept->corners[k];
        kept->corners[k] = (psfm_view_corners){0};
    }
}

void psfm_kept_pairs_free(psfm_kept_pairs *kept) {
    for (size_t v = 0; v < kept->num_views; ++v)
        psfm_view_corners_free(&kept->corners[v]);
    free(kept->corners);
    free(kept->names);
    for (size_t k = 0; k < kept->num; ++k)
        psfm_pair_refined_free(&kept->pairs[k].refined);
    free(kept->pairs);
    *kept = (psfm_kept_pairs){0};
}

/* ---- weights of patches ---- */

/* Patches beside keypoints.
 *
 * A match says how far two positions are from what a motion and a plane predict, and its variance
 * is the sum of theirs. With the information i = 1 / variance of a coordinate, the mean of both, a
 * match of patches has 1 / (1 / i1 + 1 / i2), and one of keypoints 1 / (2 noise^2). Their ratio is
 * how many of the other one counts for: at 0.1 px beside 0.3 px, nine. Correlations between
 * patches, which share the errors of a plane that is not quite flat, are not known here. */

/* Mean information of a coordinate; 0 for a keypoint as a detector finds it. */
static double patch_information(const psfm_view *view, uint32_t keypoint) {
    if (view->sqrt_info == NULL)
        return 0.0;
    const double *s = view->sqrt_info[keypoint];
    const bool is_detected = s[0] == 1.0 && s[1] == 0.0 && s[2] == 1.0;
    return is_detected ? 0.0 : 0.5 * (s[0] * s[0] + s[1] * s[1] + s[2] * s[2]);
}

double psfm_patch_weight(const psfm_match_set *set, const psfm_match_pair *pair, double noise_px) {
    const psfm_view *view1 = &set->views[pair->view1], *view2 = &set->views[pair->view2];
    double sum = 0.0;
    for (size_t k = 0; k < pair->num_matches; ++k) {
        const double i1 = patch_information(view1, pair->matches[k][0]);
        const double i2 = patch_information(view2, pair->matches[k][1]);
        if (i1 > 0.0 && i2 > 0.0)
            sum += i1 * i2 / (i1 + i2);
    }
    return 2.0 * noise_px * noise_px * sum;
}
