/* A text list of matches into a database, in one transaction: all pairs or none. Indices are
 * checked against the keypoints before anything is written. */
#include "frontend/import_matches.h"

#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/path.h"
#include "images/match/match_file.h"
#include "store/feature_store.h"

#define MAX_FILE ((size_t)1 << 32)

/* Stores a pair with the lower id first; the list is turned round if need be. */
static psfm_status put_pair(psfm_feature_store *store, const psfm_stored_photos *photos,
                            const psfm_file_pair *pair, bool verified) {
    uint32_t id1 = photos->photos[pair->image1].image_id;
    uint32_t id2 = photos->photos[pair->image2].image_id;
    for (size_t k = 0; id1 > id2 && k < pair->list.num; ++k) {
        uint32_t first = pair->list.matches[k][0];
        pair->list.matches[k][0] = pair->list.matches[k][1];
        pair->list.matches[k][1] = first;
    }
    uint32_t low = id1 < id2 ? id1 : id2, high = id1 < id2 ? id2 : id1;
    return verified ? psfm_store_put_inliers(store, low, high, &pair->list)
                    : psfm_store_put_matches(store, low, high, &pair->list, 0);
}

static psfm_status check_indices(psfm_context *ctx, const char *path,
                                 const psfm_stored_photos *photos, const psfm_file_pair *pair) {
    const psfm_stored_photo *a = &photos->photos[pair->image1], *b = &photos->photos[pair->image2];
    for (size_t k = 0; k < pair->list.num; ++k)
        if (pair->list.matches[k][0] >= a->num_keypoints ||
            pair->list.matches[k][1] >= b->num_keypoints)
            return psfm_fail(ctx, PSFM_ERR_DATA,
                             "%s: pair %s, %s: match %zu joins keypoints %u and %u, but there are "
                             "%zu and %zu",
                             path, a->name, b->name, k + 1, pair->list.matches[k][0],
                             pair->list.matches[k][1], a->num_keypoints, b->num_keypoints);
    return PSFM_OK;
}

static psfm_status parse_list(psfm_context *ctx, const char *path, const psfm_stored_photos *photos,
                              psfm_match_file *file) {
    const char **names = NULL;
    char *bytes = NULL;
    size_t size = 0;
    psfm_status status = psfm_read_file(ctx, path, MAX_FILE, &bytes, &size);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, photos->num, &names);
    for (size_t k = 0; status == PSFM_OK && k < photos->num; ++k)
        names[k] = photos->photos[k].name;
    if (status == PSFM_OK)
        status = psfm_match_file_parse(ctx, bytes, size, path, names, photos->num, file);
    for (size_t k = 0; status == PSFM_OK && k < file->num; ++k)
        status = check_indices(ctx, path, photos, &file->pairs[k]);
    free((void *)names);
    free(bytes);
    return status;
}

psfm_status psfm_import_match_file(psfm_context *ctx, const char *database, const char *path,
                                   bool verified, psfm_import_stats *stats) {
    psfm_import_stats facts = {0};
    psfm_feature_store store = {0};
    psfm_stored_photos photos = {0};
    psfm_match_file file = {0};
    psfm_status status = psfm_store_open(ctx, database, false, &store);
    if (status == PSFM_OK)
        status = psfm_store_list(&store, &photos);
    if (status == PSFM_OK)
        status = parse_list(ctx, path, &photos, &file);
    if (status == PSFM_OK)
        status = psfm_store_begin(&store);
    for (size_t k = 0; status == PSFM_OK && k < file.num; ++k) {
        status = put_pair(&store, &photos, &file.pairs[k], verified);
        ++facts.num_pairs;
        facts.num_matches += file.pairs[k].list.num;
    }
    if (status == PSFM_OK)
        status = psfm_store_commit(&store);
    psfm_match_file_free(&file);
    psfm_stored_photos_free(&photos);
    psfm_store_close(&store);
    if (stats != NULL)
        *stats = facts;
    return status;
}
