/* What the verdict was calibrated to: the tables for models and images. */
#ifndef PSFM_VERDICT_CALIBRATION_H
#define PSFM_VERDICT_CALIBRATION_H

#include "verdict/clue_table.h"

/* A model is called right from this probability on, if it is confirmed; an image of it, too. */
#define PSFM_CALLED_RIGHT 0.9
/* In a confirmed model the halves of the points agree to half of what is claimed. */
#define PSFM_HALVES_AGREE_DEG 0.5

/* ... and hardly any pair contradicts the positions alone, nor could a part as well be shifted. */
#define PSFM_MOST_SHIFTED 0.03
#define PSFM_MOST_FOR_SHIFT 0.5
/* ... and no joint has more pairs against it than for it. */
#define PSFM_MOST_AGAINST_JOINT 1.0

/* A model of fewer images that leaves out most of the photographs is a piece. It is too small to
 * contradict itself, and right so often at most. */
#define PSFM_FEW_IMAGES 5.0
#define PSFM_PIECE_RIGHT 0.75

/* About an image, put together from its features. */
typedef struct {
    double runner_up, joint, residual;
    double half_shift_deg, focal_shift_deg;
    double points;
    double model_doubt; /* what speaks against its model, in log-odds */
} psfm_image_case;

extern const psfm_clue_table psfm_model_calibration; /* of psfm_model_features */
extern const psfm_clue_table psfm_image_calibration; /* of psfm_image_case */

#endif
