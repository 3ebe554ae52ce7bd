/* Radial distortion from homographies alone, whatever the focal lengths. */
#ifndef PSFM_CALIBRATION_RADIAL_SEARCH_H
#define PSFM_CALIBRATION_RADIAL_SEARCH_H

#include "core/twoview/two_view.h"

/* Whether the distortion of a camera can be searched: a lens with a radial term, no fisheye. */
bool psfm_has_radial(const psfm_camera *camera);

/* Its first radial coefficient for a focal length of one longer side, and the camera with another
 * one. */
double psfm_radial_strength(const psfm_camera *camera);
void psfm_radial_set(psfm_camera *camera, double strength);

typedef struct {
    bool found;                       /* the matches ask for it, beyond chance */
    double value;                     /* what was searched */
    double sigma_before_px, sigma_px; /* scatter of the matches before and with it */
} psfm_radial_result;

/* Searches one number, common to all cameras that are free, the strength: the first radial
 * coefficient for a focal length of one longer side (k = strength * (f / longer)^2), which is the
 * same whatever focal lengths are assumed; or, with `same_coefficient`, k itself, for one kind of
 * lens at known focal lengths. On success the coefficients of the free cameras are set; rays are
 * not computed anew. Deterministic. */
psfm_status psfm_radial_search(psfm_context *ctx, psfm_match_set *set,
                               const psfm_two_view *two_views, const bool *is_free,
                               bool same_coefficient, psfm_radial_result *out);

/* Searches the focal length, in units of the longer side, of an equidistant fisheye that all free
 * cameras may be. Found if their matches scatter less, beyond chance, than with the cameras as they
 * are and than with any one radial coefficient; or, if they are such lenses already (`again`), than
 * with these. The free cameras then are SIMPLE_RADIAL_FISHEYE; rays are not computed anew.
 * Deterministic. */
psfm_status psfm_fisheye_search(psfm_context *ctx, psfm_match_set *set,
                                const psfm_two_view *two_views, const bool *is_free, bool again,
                                psfm_radial_result *out);

#endif
