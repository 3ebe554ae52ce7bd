/* Evaluation of a model against ground truth. */
#ifndef PSFM_EVAL_EVALUATE_H
#define PSFM_EVAL_EVALUATE_H

#include <cjson/cJSON.h>

#include "eval/track_fit.h"

#define PSFM_NUM_AUC 5 /* thresholds 0.5, 1, 3, 5, 10 degrees */
extern const double psfm_auc_thresholds_deg[PSFM_NUM_AUC];

/* Area under the cumulative error curve up to each threshold, in per cent: sorted errors,
 * trapezoid, as SuperGlue's evaluation does. Errors in degrees; a failed pair is INFINITY. Sorts
 * `errors` in place. No errors: 0. */
void psfm_auc(double *errors, size_t num_errors, const double *thresholds, size_t num_thresholds,
              double *auc);

/* Share of the errors below each threshold, in per cent; 0 without errors. */
void psfm_recall(const double *errors, size_t num_errors, const double *thresholds,
                 size_t num_thresholds, double *recall);

typedef struct {
    size_t num_images;     /* of the ground truth */
    size_t num_registered; /* of those, with a pose in any estimated model */
    size_t num_components; /* estimated models */
    size_t num_pairs;      /* that were compared */
    double auc_rotation[PSFM_NUM_AUC];
    double auc_translation[PSFM_NUM_AUC];               /* direction */
    double auc_max[PSFM_NUM_AUC];                       /* max of both */
    double median_rotation_deg, median_translation_deg; /* INFINITY if most pairs failed */
    /* Position error of the largest component after a robust similarity alignment, in units of
     * the ground truth, and as a share of its extent. NAN if it cannot be aligned. */
    double position_median, position_p90, position_max;
    double scene_extent;                  /* largest distance between two true centres */
    double recall_rotation[PSFM_NUM_AUC]; /* share of the pairs below each threshold, per cent */
    double recall_max[PSFM_NUM_AUC];
    size_t pair_step; /* one in so many pairs was compared; 1: all */
} psfm_evaluation;

/* Compares estimated models (largest first) with the truth. Images are matched by name. A pair
 * whose images are not both in one model counts as failed; an image in several models counts in
 * the first. The direction from camera 1 to camera 2 is compared in camera 2; pairs with one true
 * centre have none and count for rotation only. Names twice in a model, or no common name, are
 * PSFM_ERR_DATA. Of more than about 4 million pairs so many are compared: of pair_step consecutive
 * partners of an image one at random. Parallel; memory 24 bytes a pair compared. */
psfm_status psfm_evaluate(psfm_context *ctx, const psfm_model *truth, const psfm_model *models,
                          size_t num_models, psfm_evaluation *out);

/* An object with all of it, the position errors as shares of the extent, and the fit (NULL: left
 * out); what is not finite is null. NULL when memory is out. */
cJSON *psfm_evaluation_to_json(const psfm_evaluation *e, const psfm_track_fit *fit);

#endif
