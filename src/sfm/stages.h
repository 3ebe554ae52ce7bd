/* The stages of a reconstruction, in their order. Each takes the state. Its row names the members
 * that it only reads and those that it writes, which it may read too; `asked`, the folders and the
 * database are read by all, `stats` is written by all, `stage` by psfm_sfm_advance alone.
 * tests/stages.py compares the rows with the code, and with docs/pipeline.md, which follows one
 * photograph through the stages. A stage that has nothing to do (no drawing, all cameras given, no
 * photographs) leaves everything as it is. */
#ifndef PSFM_SFM_STAGES_H
#define PSFM_SFM_STAGES_H

#include "sfm/state.h"

/* What cannot work is said before hours are spent: options, weights, the rule of pairs, the
 * drawing, the folder of results.
 * reads: nothing; writes: target, results */
psfm_status psfm_stage_check(psfm_context *ctx, psfm_sfm *s);

/* Photographs to features and matches in the database, with as much effort as they need.
 * reads: nothing; writes: front, kept */
psfm_status psfm_stage_extract_and_match(psfm_context *ctx, psfm_sfm *s);

/* Cameras, keypoints and matches of the database, in an order of their own.
 * reads: nothing; writes: set */
psfm_status psfm_stage_read(psfm_context *ctx, psfm_sfm *s);

/* Begins to read photographs in the background for colours and thumbnails.
 * reads: set; writes: prefetch */
psfm_status psfm_stage_start_prefetch(psfm_context *ctx, psfm_sfm *s);

/* Registers the photographs to the drawing; uncalibrated cameras get the focal lengths that its
 * lines show.
 * reads: nothing; writes: court, target, set */
psfm_status psfm_stage_register_court(psfm_context *ctx, psfm_sfm *s);

/* Intrinsics of uncalibrated cameras from homographies and fundamental matrices.
 * reads: nothing; writes: set */
psfm_status psfm_stage_calibrate(psfm_context *ctx, psfm_sfm *s);

/* Intrinsics that these leave open, from a first reconstruction of the matches alone: pairs are
 * then verified, and homographies decomposed, with those of its adjustment.
 * reads: nothing; writes: set */
psfm_status psfm_stage_presolve_cameras(psfm_context *ctx, psfm_sfm *s);

/* The noise of the keypoints, and thresholds that follow it.
 * reads: set; writes: noise, scaled */
psfm_status psfm_stage_measure_noise(psfm_context *ctx, psfm_sfm *s);

/* Homographies and the essential matrix of every pair (Eq. 1), or those that the database kept.
 * reads: set, scaled; writes: two_views */
psfm_status psfm_stage_verify(psfm_context *ctx, psfm_sfm *s);

/* Planes of pairs aligned in the photographs: keypoints and matches are added, and homographies get
 * new inliers and motions.
 * reads: nothing; writes: photos, kept, set, two_views */
psfm_status psfm_stage_align_planes(psfm_context *ctx, psfm_sfm *s);

/* The pose graph, with every hypothesis of every pair.
 * reads: set, two_views; writes: graph */
psfm_status psfm_stage_build_graph(psfm_context *ctx, psfm_sfm *s);

/* Rotations and positions of all components (Eq. 2 to 7, Algorithm 1), as published or robustly;
 * weights of hypotheses end as the final choice.
 * reads: scaled; writes: solution, edges, graph, court */
psfm_status psfm_stage_solve_poses(psfm_context *ctx, psfm_sfm *s);

/* Rounds of triangulation and bundle adjustment, points sought in the photographs, uncertainty;
 * then views whose distance nothing determines lose their pose.
 * reads: two_views, graph, edges, scaled; writes: refined, undetermined, solution, set, photos */
psfm_status psfm_stage_refine(psfm_context *ctx, psfm_sfm *s);

/* The frame of the results: that of the drawing, whose lines join the adjustment, or upright over
 * the dominant plane.
 * reads: scaled; writes: solution, refined, court, target, set, drawn */
psfm_status psfm_stage_place_in_world(psfm_context *ctx, psfm_sfm *s);

/* How likely each model is right, what became of each image, and the models.
 * reads: set, front, two_views, noise, scaled, graph, edges, court, undetermined; writes: solution,
 * refined, verdicts, outcome, models, headline */
psfm_status psfm_stage_judge(psfm_context *ctx, psfm_sfm *s);

/* Colours of the points, and thumbnails.
 * reads: nothing; writes: prefetch, models */
psfm_status psfm_stage_colour(psfm_context *ctx, psfm_sfm *s);

/* All results, swapped in together. Nothing posed is an error, with the results written.
 * reads: set, front, court, noise, two_views, graph, solution, edges, refined, verdicts, outcome,
 * models, headline; writes: prefetch, results, summary */
psfm_status psfm_stage_write(psfm_context *ctx, psfm_sfm *s);

/* ---- the two questions of the loop, and what it does then ---- */

/* Whether photographs are weakly connected although their planes are aligned, asked once.
 * reads: set, noise; writes: front, kept */
psfm_status psfm_need_after_alignment(psfm_context *ctx, psfm_sfm *s, bool *more);

/* Whether photographs can be given more features where the verdict on the largest model is
 * doubtful, or there is no model; asked once.
 * reads: models, verdicts; writes: front */
psfm_status psfm_need_after_verdict(psfm_context *ctx, psfm_sfm *s, bool *more);

/* Extracts and matches again the photographs that were found to need it.
 * reads: nothing; writes: front */
psfm_status psfm_give_more_features(psfm_context *ctx, psfm_sfm *s);

#endif
