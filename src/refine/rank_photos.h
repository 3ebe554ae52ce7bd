/* The photographs of a run on any of its ranks, which reads them by itself from the shared folder.
 */
#ifndef PSFM_REFINE_RANK_PHOTOS_H
#define PSFM_REFINE_RANK_PHOTOS_H

#include "photo/patch.h"
#include "photo/photo_cache.h"
#include "tasks/packet.h"

/* Photographs of the views that the rank was told of, read when they are first wanted, and an
 * aligner for each worker. */
typedef struct psfm_rank_photos psfm_rank_photos;

/* A file as the first rank sees it. */
typedef struct {
    const char *name;
    uint64_t print; /* intake/file_print.h */
} psfm_photo_print;

/* What all views share, as the first rank packs it: the folder and the size of its cache; some
 * files that a rank compares before it begins. */
psfm_status psfm_rank_photos_pack(psfm_context *ctx, const psfm_photo_cache *cache,
                                  size_t num_views, const psfm_patch_options *patch,
                                  const psfm_photo_print *compared, size_t num_compared,
                                  psfm_packet *packet);
/* Photographs take at most a quarter of the context's memory. A compared file that is another one
 * here is PSFM_ERR_DATA. */
psfm_status psfm_rank_photos_open(psfm_context *ctx, psfm_packet_reader *reader, int num_workers,
                                  psfm_rank_photos **photos);
void psfm_rank_photos_close(psfm_rank_photos **photos);

/* One view. */
psfm_status psfm_rank_photos_pack_view(psfm_context *ctx, const psfm_photo_print *photo,
                                       const psfm_camera *camera, psfm_packet *packet);
psfm_status psfm_rank_photos_take_view(psfm_context *ctx, psfm_rank_photos *photos, uint32_t view,
                                       psfm_packet_reader *reader);
/* Forgets what the views are, not their photographs. */
void psfm_rank_photos_forget(psfm_rank_photos *photos);

/* The photograph of a view, as of psfm_photo_cache_get. A view that the rank does not know, and a
 * file that is not the first rank's, are failures. */
psfm_status psfm_rank_photos_get(psfm_context *ctx, psfm_rank_photos *photos, uint32_t view,
                                 const psfm_pyramid **photo);
void psfm_rank_photos_release(psfm_rank_photos *photos, uint32_t view);
/* Both photographs of a pair; *both is false if one cannot be used, and then none is held. */
psfm_status psfm_rank_photos_get_pair(psfm_context *ctx, psfm_rank_photos *photos,
                                      const uint32_t views[2], const psfm_pyramid *pair[2],
                                      bool *both);
void psfm_rank_photos_release_pair(psfm_rank_photos *photos, const uint32_t views[2]);

const char *psfm_rank_photos_problem(const psfm_rank_photos *photos, uint32_t view);
const psfm_camera *psfm_rank_photos_camera(const psfm_rank_photos *photos, uint32_t view);
psfm_patch_aligner *psfm_rank_photos_aligner(const psfm_rank_photos *photos, int worker);
size_t psfm_rank_photos_num_views(const psfm_rank_photos *photos);

#endif
