/* Photographs that were taken for those of one camera, and are split where their focal lengths
 * differ. */
#ifndef PSFM_MATCHES_CAMERA_GROUPS_H
#define PSFM_MATCHES_CAMERA_GROUPS_H

#include "core/matches/match_set.h"

/* Whether a camera may be split: it was guessed that its photographs share it, and there are two or
 * more. */
bool psfm_camera_may_split(const psfm_match_set *set, size_t camera);

/* Whether images differ enough for the function below to split a camera. Arguments as there. */
bool psfm_camera_groups_differ(const psfm_match_set *set, const double *log_focal,
                               const double *sigma);

/* Splits cameras that may be split. log_focal[v], per view, is how much longer than its camera's
 * the focal length of view v is by itself, as a logarithm, and sigma[v] its standard deviation; not
 * finite: nothing is known, and the view stays where most others do, or is alone. New cameras are
 * copies with ids of their own at the end of set->cameras and set->origins. Then log_focal[v] is
 * what the views of its camera now agree on, 0 where nothing was split. *num is the number of new
 * cameras. Cost: O(n) for n views of one focal length, else O(n^2). */
psfm_status psfm_camera_groups_split(psfm_context *ctx, psfm_match_set *set, double *log_focal,
                                     const double *sigma, size_t *num);

/* What has become of groups of photographs. */
typedef struct {
    size_t num_images;  /* whose camera was guessed to be that of others, */
    size_t num_groups;  /* in so many groups */
    size_t num_cameras; /* that they are of in the end */
    size_t num_alone;   /* of the images: with a camera of their own, that was split off */
} psfm_camera_groups;

psfm_camera_groups psfm_camera_groups_count(const psfm_match_set *set);

/* One sentence about them; empty if nothing was grouped. */
void psfm_camera_groups_describe(const psfm_camera_groups *groups, char *text, size_t size);

#endif
