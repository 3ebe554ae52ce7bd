/* A photograph as it was held: searches for courts take up to be up. */
#ifndef PSFM_COURT_UPRIGHT_H
#define PSFM_COURT_UPRIGHT_H

#include "court/registration.h"

/* The photograph and its camera turned upright; the image is the given one where nothing is to be
 * turned. */
typedef struct {
    const psfm_image *image;
    const psfm_camera *camera; /* NULL: unknown */
    int quarters;
    psfm_image turned;
    psfm_camera turned_camera;
} psfm_upright;

/* Pointers of *out lead into *out and to what was given. Free in any case. */
psfm_status psfm_upright_init(psfm_context *ctx, const psfm_image *image, const psfm_camera *camera,
                              psfm_upright *out);
void psfm_upright_free(psfm_upright *upright);

/* Takes a pose that was found upright back to the pixels as they are stored. */
void psfm_upright_undo(const psfm_upright *upright, psfm_court_pose *pose);

#endif
