/* What the photographs say before there are poses, handed from stage to stage. */
#ifndef PSFM_REFINE_EVIDENCE_H
#define PSFM_REFINE_EVIDENCE_H

#include "court/court_evidence.h"
#include "photo/photo_cache.h"
#include "refine/kept_pairs.h"
#include "twoview/noise_level.h"
#include "twoview/two_view.h"

/* Four stages change it, nothing else does:
 * - psfm_evidence_measure says how noisy the keypoints are;
 * - psfm_evidence_verify fills two_views from the matches;
 * - psfm_refine_matches adds the keypoints of aligned patches to the set, with their matches, and
 *   gives homographies new inliers and motions;
 * - psfm_refine_poses, at its end, moves keypoints to where their points were found in the
 *   photographs, and adds keypoints where they had not been matched. */
typedef struct {
    psfm_match_set *set;        /* rays computed; not owned */
    psfm_two_view *two_views;   /* per pair of the set; NULL: not verified yet; owned */
    size_t num_pairs;           /* of two_views */
    psfm_photo_cache *photos;   /* of the set's views; NULL: there are none; not owned */
    psfm_court_evidence *court; /* what a drawing says; NULL: there is none; not owned */
    psfm_noise_level noise;
    bool is_measured; /* the noise is what psfm_evidence_measure found */
    /* Alignments of an earlier psfm_refine_matches, which keeps its own there; NULL: there will be
     * no other one. Not owned. */
    psfm_kept_pairs *kept;
} psfm_evidence;

/* The noise of the keypoints, unless it is measured already. */
psfm_status psfm_evidence_measure(psfm_context *ctx, const psfm_two_view_options *options,
                                  psfm_evidence *evidence);
/* The two-view geometry of all pairs; two_views is NULL on entry. */
psfm_status psfm_evidence_verify(psfm_context *ctx, const psfm_two_view_options *options,
                                 psfm_evidence *evidence);
/* Frees what it owns. */
void psfm_evidence_free(psfm_evidence *evidence);

#endif
