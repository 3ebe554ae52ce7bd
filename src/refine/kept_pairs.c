/* Where some photographs get more features after the alignment of planes, all pairs are verified
 * and aligned once more. Pairs of photographs that got none have the same planes as before, to the
 * bit, and so would have the same patches. What they came to is kept by a hash of what it was made
 * from, and taken over. Corners do not depend on features at all. */
#include "refine/kept_pairs.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "view/canonical.h"

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

static int by_key(const void *a, const void *b) {
    const psfm_kept_pair *p = a, *q = b;
    return p->key < q->key ? -1 : p->key > q->key;
}

bool psfm_kept_pairs_take(psfm_kept_pairs *kept, uint64_t key, psfm_pair_refined *refined) {
    const psfm_kept_pair wanted = {.key = key};
    if (kept->num == 0)
        return false;
    if (!kept->is_sorted)
        qsort(kept->pairs, kept->num, sizeof *kept->pairs, by_key);
    kept->is_sorted = true;
    psfm_kept_pair *found = bsearch(&wanted, kept->pairs, kept->num, sizeof *kept->pairs, by_key);
    if (found == NULL || found->refined.planes == NULL)
        return false;
    *refined = found->refined;
    found->refined = (psfm_pair_refined){0};
    return true;
}

psfm_status psfm_kept_corners_add(psfm_context *ctx, psfm_kept_pairs *kept,
                                  const psfm_match_set *set, psfm_view_corners *corners) {
    psfm_status status = PSFM_ALLOC(ctx, set->num_views, &kept->corners);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, set->num_views, &kept->streams);
    if (status != PSFM_OK)
        return status;
    kept->num_views = set->num_views;
    for (size_t v = 0; v < set->num_views; ++v) {
        kept->streams[v] = psfm_view_stream(&set->views[v]);
        kept->corners[v] = corners[v];
        corners[v] = (psfm_view_corners){0};
    }
    return PSFM_OK;
}

void psfm_kept_corners_take(psfm_kept_pairs *kept, const psfm_match_set *set,
                            psfm_view_corners *corners) {
    for (size_t v = 0; v < set->num_views && v < kept->num_views; ++v) {
        if (kept->streams[v] != psfm_view_stream(&set->views[v]))
            continue;
        corners[v] = kept->corners[v];
        kept->corners[v] = (psfm_view_corners){0};
    }
}

void psfm_kept_pairs_free(psfm_kept_pairs *kept) {
    for (size_t v = 0; v < kept->num_views; ++v)
        psfm_view_corners_free(&kept->corners[v]);
    free(kept->corners);
    free(kept->streams);
    for (size_t k = 0; k < kept->num; ++k)
        psfm_pair_refined_free(&kept->pairs[k].refined);
    free(kept->pairs);
    *kept = (psfm_kept_pairs){0};
}
