/* Photographs by view, read when they are first wanted, in bounded memory. */
#ifndef PSFM_PHOTOMETRIC_PHOTO_CACHE_H
#define PSFM_PHOTOMETRIC_PHOTO_CACHE_H

#include <stddef.h>

#include "core/matches/match_set.h"
#include "images/photometric/pyramid.h"

typedef struct psfm_photo_cache psfm_photo_cache;

/* Photographs of the set's views in `folder`, by their names. Those not in use are forgotten,
 * longest unused first, when all together take more than max_bytes; those in use always stay. The
 * set and the folder's name must outlive the cache. */
psfm_status psfm_photo_cache_create(psfm_context *ctx, const psfm_match_set *set,
                                    const char *folder, size_t max_bytes, psfm_photo_cache **cache);

/* The photograph of a view, read if need be; *photo is NULL if it cannot be read or does not fit
 * its camera (psfm_photo_cache_problem tells why). Every call that gives one is followed by a
 * psfm_photo_cache_release of the view. May be called by several threads at once. Fails only when
 * memory is out. */
psfm_status psfm_photo_cache_get(psfm_context *ctx, psfm_photo_cache *cache, uint32_t view,
                                 const psfm_pyramid **photo);
void psfm_photo_cache_release(psfm_photo_cache *cache, uint32_t view);

/* How many of the set's photographs fit into the cache at once, by the largest of them. */
size_t psfm_photo_cache_room(const psfm_photo_cache *cache);

/* Where the photographs are, and the bytes that they may take. */
const char *psfm_photo_cache_folder(const psfm_photo_cache *cache);
size_t psfm_photo_cache_limit(const psfm_photo_cache *cache);

/* Why a view's photograph could not be used; NULL if it could or was not tried. */
const char *psfm_photo_cache_problem(const psfm_photo_cache *cache, uint32_t view);

void psfm_photo_cache_destroy(psfm_photo_cache **cache);

/* Sets order[0 .. num) to the indices of pairs (view1[k], view2[k]) such that a cache reads its
 * photographs seldom: views are cut into blocks of which two fit into it, and pairs of the same two
 * blocks follow each other. 200 photographs of which 32 fit, all with all, are so read 1,500 times
 * instead of 20,000. Ties by views, then by index. */
psfm_status psfm_photo_order(psfm_context *ctx, const psfm_photo_cache *cache,
                             const uint32_t *view1, const uint32_t *view2, size_t num,
                             size_t *order);

#endif
