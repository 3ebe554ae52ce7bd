/* What photographs are registered to: a drawing, and those it could be taken for. */
#ifndef PSFM_COURT_TARGET_H
#define PSFM_COURT_TARGET_H

#include "court/registration.h"

#define PSFM_MAX_RIVALS 8

/* Owns its drawings. */
typedef struct {
    psfm_drawing drawing;
    psfm_drawing rivals[PSFM_MAX_RIVALS]; /* courts of the same game */
    size_t num_rivals;
} psfm_court_target;

/* A court and its relatives. Free in any case. */
psfm_status psfm_court_target_of_court(psfm_context *ctx, const psfm_court *court,
                                       psfm_court_target *target);
/* A drawing, which the target owns from now on. */
void psfm_court_target_of_drawing(psfm_drawing *drawing, psfm_court_target *target);
void psfm_court_target_free(psfm_court_target *target);

/* What is known of a photograph's camera. */
typedef struct {
    const psfm_camera *camera; /* NULL: nothing */
    psfm_focal_use focal;
} psfm_photo_camera;

/* Registers a photograph that was made ready and holds the pose against the rivals. The pose is
 * canonical (court/court_evidence.h). Options NULL are the defaults. Free *pose in any case. */
psfm_status psfm_court_target_register_view(psfm_context *ctx, const psfm_court_target *target,
                                            const psfm_court_view *view,
                                            const psfm_court_options *options,
                                            psfm_court_pose *pose);

/* The same for a photograph that is looked at only once. */
psfm_status psfm_court_target_register(psfm_context *ctx, const psfm_court_target *target,
                                       const psfm_image *image, psfm_photo_camera camera,
                                       const psfm_court_options *options, psfm_court_pose *pose);

#endif
