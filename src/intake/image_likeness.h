/* How alike the images of a database look, from the features that they have. */
#ifndef PSFM_INTAKE_IMAGE_LIKENESS_H
#define PSFM_INTAKE_IMAGE_LIKENESS_H

#include "io/feature_store.h"
#include "match/likeness.h"

/* Vectors of all photographs, in their order (match/vlad.h): the codebook is learnt from the
 * photographs themselves. All must have descriptors of one kind. Names and order of the photographs
 * do not change the vectors. Features are loaded a few images at a time, twice at least. Needs
 * 2 kB an image, and some 100 MB. */
psfm_status psfm_image_likeness_find(psfm_context *ctx, psfm_feature_store *store,
                                     const psfm_stored_photos *photos, psfm_likeness *out);

#endif
