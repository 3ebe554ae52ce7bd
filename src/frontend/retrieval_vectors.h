/* Retrieval vectors of the images of a database, from the features that they have. */
#ifndef PSFM_FRONTEND_RETRIEVAL_VECTORS_H
#define PSFM_FRONTEND_RETRIEVAL_VECTORS_H

#include "images/match/geometric_ranking.h"
#include "store/feature_store.h"

/* Vectors of all photographs, in their order (images/match/vlad.h): the codebook is learnt from the
 * photographs themselves. All must have descriptors of one kind. Names and order of the photographs
 * do not change the vectors. Features are loaded a few images at a time, twice at least. Needs
 * 2 kB an image, and some 100 MB. */
psfm_status psfm_image_vectors_find(psfm_context *ctx, psfm_feature_store *store,
                                    const psfm_stored_photos *photos, psfm_image_vectors *out);

/* Sketches of all photographs, in their order; *out is NULL if not all have SIFT features. The
 * caller frees it. */
psfm_status psfm_image_sketches_draw(psfm_context *ctx, psfm_feature_store *store,
                                     const psfm_stored_photos *photos, psfm_sketch **out);

#endif
