/* What an adjusted bundle becomes when intrinsics are freed. */
#ifndef PSFM_REFINE_FOCAL_STABILITY_H
#define PSFM_REFINE_FOCAL_STABILITY_H

#include "core/bundle/bundle.h"
#include "core/matches/match_set.h"
#include "core/refine/bundle_copy.h"

/* Owns its arrays. */
typedef struct {
    psfm_bundle_copy copy; /* adjusted */
    psfm_bundle_options options;
    psfm_bundle_stats stats;
    bool *is_given;   /* per camera: its focal length was fixed */
    size_t num_given; /* of these */
    size_t num_freed; /* parameters that were fixed before; 0: nothing was adjusted */
} psfm_free_intrinsics;

/* Frees both focal lengths of all cameras, and their principal points as far as a prior that suits
 * most cameras lets them, and adjusts a copy until its poses have converged. Free it in any case.
 * Cost: an adjustment of some ten steps. */
psfm_status psfm_free_intrinsics_make(psfm_context *ctx, const psfm_bundle_problem *problem,
                                      const psfm_bundle_options *options,
                                      psfm_free_intrinsics *out);
void psfm_free_intrinsics_free(psfm_free_intrinsics *focals);

typedef struct {
    size_t num_checked, num_wrong; /* cameras */
    uint32_t worst;                /* index of the camera that is off by most standard deviations */
    double change;                 /* of its focal length: what it wants, as a share */
    double sigma;                  /* standard deviation of that */
    double before_px, after_px;    /* mean reprojection error of all, as given and with it free */
} psfm_intrinsics_check;

/* Judges the given focal lengths of a problem by what they do when they are free. One that wants to
 * change by more than its standard deviation allows is wrong. */
psfm_status psfm_check_intrinsics(psfm_context *ctx, const psfm_bundle_problem *problem,
                                  const psfm_free_intrinsics *focals, psfm_intrinsics_check *out);

/* The priors of all cameras of a set, malloc'ed, by where their focal lengths come from. With
 * PSFM_REFINE_AUTO given cameras do not move and the others do; any other value is for all. */
psfm_status psfm_camera_priors_make(psfm_context *ctx, const psfm_match_set *set,
                                    const psfm_bundle_options *options, psfm_camera_prior **out);

/* Takes over adjusted cameras: where one has moved, the rays of all keypoints are computed anew. */
psfm_status psfm_take_cameras(psfm_context *ctx, const psfm_camera *cameras, psfm_match_set *set);

#endif
