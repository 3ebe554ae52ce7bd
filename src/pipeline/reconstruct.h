/* From matches to poses: the stages tied together. */
#ifndef PSFM_PIPELINE_RECONSTRUCT_H
#define PSFM_PIPELINE_RECONSTRUCT_H

#include "calib/calibrate.h"
#include "engine/paper.h"
#include "engine/robust.h"
#include "planarsfm/model.h"
#include "refine/refine_matches.h"
#include "refine/refine_poses.h"
#include "twoview/two_view.h"
#include "verdict/verdict.h"
#include "world/frame.h"

typedef enum {
    PSFM_MODE_ROBUST, /* joint choice, cycles, averaging, plane scale, bundle adjustment */
    PSFM_MODE_PAPER,  /* the published method */
} psfm_mode;

#define PSFM_MODE_DEFAULT PSFM_MODE_ROBUST
#define PSFM_MODE_CHOICES "robust | paper"

/* Thresholds in pixels are stated for keypoints whose coordinates are off by a pixel (standard
 * deviation) at most, and grow with the noise where it is larger. */
typedef struct {
    double px; /* the noise; 0: measured */
} psfm_noise_options;

extern const psfm_option_table psfm_noise_option_table;

typedef struct {
    int mode; /* psfm_mode */
    psfm_calibrate_options calibrate;
    psfm_focal_options focal;
    psfm_noise_options noise;
    psfm_two_view_options two_view;
    psfm_photo_options photo;
    psfm_skeleton_options skeleton; /* what both modes share */
    psfm_paper_options paper;
    psfm_robust_options robust;
    psfm_refine_options refine;
    psfm_frame_options frame;
    psfm_court_options court; /* if there is a drawing */
} psfm_reconstruct_options;

/* The tables behind psfm_reconstruct_options, each with the place of its struct in it. */
typedef struct {
    const psfm_option_table *table;
    size_t offset;
} psfm_option_group;

/* NULL-terminated (table == NULL). */
extern const psfm_option_group psfm_reconstruct_option_groups[];

/* Defaults of a mode. */
void psfm_reconstruct_options_init(psfm_mode mode, psfm_reconstruct_options *options);

/* "robust", "paper" and back; false if the name is unknown. */
const char *psfm_mode_name(psfm_mode mode);
bool psfm_mode_from_name(const char *name, psfm_mode *mode);

/* Why an image has no pose, or that it has one. */
typedef enum {
    PSFM_OUTCOME_POSED,
    PSFM_OUTCOME_NO_KEYPOINTS,
    PSFM_OUTCOME_NO_MATCHES,    /* no pair with this image has a match */
    PSFM_OUTCOME_FEW_MATCHES,   /* its pairs have too few matches for a homography */
    PSFM_OUTCOME_NO_HOMOGRAPHY, /* enough matches, but no plane was found in any pair */
    PSFM_OUTCOME_ROTATION,      /* its pairs show no parallax: same centre as its neighbours */
    PSFM_OUTCOME_CONTRADICTION, /* its pairs contradict the other images */
    PSFM_OUTCOME_FEW_POINTS,    /* too few points agree with the pose that its pairs gave */
    PSFM_OUTCOME_UNDETERMINED,  /* its direction is known, its distance is not */
} psfm_outcome;

/* A word for JSON, e.g. "few_matches"; the cause in a few words; and a sentence that says what to
 * try. */
const char *psfm_outcome_name(psfm_outcome state);
const char *psfm_outcome_cause(psfm_outcome state);
const char *psfm_outcome_advice(psfm_outcome state);

#define PSFM_HEADLINE_SIZE 1024

/* What comes out. Owns its parts. */
typedef struct {
    psfm_pose_graph graph;
    psfm_pose_solution solution;
    psfm_robust_edges edges; /* robust mode */
    psfm_refined refined;    /* robust mode */
    psfm_verdicts verdicts;  /* robust mode with refinement */
    psfm_outcome *outcome;   /* per view */
    psfm_model *models;      /* one per component, largest first */
    size_t num_models;
    char headline[PSFM_HEADLINE_SIZE]; /* see pipeline/headline.h */
} psfm_reconstruction;

/* What the stages counted, and where the time went. */
typedef struct {
    psfm_calibrate_stats calibration;  /* if there was a camera to calibrate */
    psfm_refine_matches_stats matches; /* if there were photographs */
    psfm_timings timings;
} psfm_reconstruct_stats;

/* The stages before the graph, for callers that do something between them: intrinsics of cameras
 * that nobody gave (evidence that is verified stays as it is), the noise of the keypoints, the
 * verification of the pairs, the alignment of their planes in the photographs. */
psfm_status psfm_reconstruct_calibrate(psfm_context *ctx, const psfm_reconstruct_options *options,
                                       psfm_evidence *evidence, psfm_reconstruct_stats *stats);
psfm_status psfm_reconstruct_measure(psfm_context *ctx, const psfm_reconstruct_options *options,
                                     psfm_evidence *evidence, psfm_reconstruct_stats *stats);
psfm_status psfm_reconstruct_verify(psfm_context *ctx, const psfm_reconstruct_options *options,
                                    psfm_evidence *evidence, psfm_reconstruct_stats *stats);
psfm_status psfm_reconstruct_align(psfm_context *ctx, const psfm_reconstruct_options *options,
                                   psfm_evidence *evidence, psfm_reconstruct_stats *stats);

/* Options with the thresholds that the noise of measured evidence asks for; every stage takes the
 * options as they were given and does this itself. */
psfm_reconstruct_options psfm_reconstruct_options_for(const psfm_reconstruct_options *options,
                                                      const psfm_evidence *evidence);

/* From evidence to models; it is measured and verified first if it is not yet, and
 * refine/evidence.h says how it changes. Nothing posed is not an error: the result then has no
 * models and every image has a reason. `out` is zeroed; free it with psfm_reconstruction_free in
 * any case. */
psfm_status psfm_reconstruct(psfm_context *ctx, const psfm_reconstruct_options *options,
                             psfm_evidence *evidence, psfm_reconstruct_stats *stats,
                             psfm_reconstruction *out);
void psfm_reconstruction_free(psfm_reconstruction *reconstruction);

#endif
