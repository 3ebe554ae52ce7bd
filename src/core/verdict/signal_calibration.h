/* What the verdict was calibrated to: the rows of a logistic regression, what is looked at, how it
 * counts, and what to say about it; for models and for images. */
#ifndef PSFM_VERDICT_SIGNAL_CALIBRATION_H
#define PSFM_VERDICT_SIGNAL_CALIBRATION_H

#include <stdbool.h>
#include <stddef.h>

/* One signal. Its badness is log(1 + (x - origin) / scale) where more is worse, x up to `most`, and
 * log(1 + -scale / (x - origin)) for a negative scale, where less is; never negative. */
typedef struct {
    size_t offset;    /* of the double in the struct of features */
    const char *name; /* of the feature */
    double origin, scale, most;
    double coefficient; /* by which its badness lowers the log-odds; not negative */
    const char
        *reason; /* of models: what is bad, a format of one double, the value times `shown` */
    double shown;
    const char *advice; /* of models: what to try */
    bool is_structure;  /* of models: little holds it, rather than that something is against it */
} psfm_signal;

typedef struct {
    double bias; /* log-odds of being right where nothing is bad */
    const psfm_signal *rows;
    int num_rows;
} psfm_signal_table;

/* By how much a row lowers the log-odds; features is the struct that the offsets are of. */
double psfm_signal_penalty(const psfm_signal *row, const void *features);
/* The value that a row looks at. */
double psfm_signal_value(const psfm_signal *row, const void *features);
/* log(P / (1 - P)) */
double psfm_signals_log_odds(const psfm_signal_table *table, const void *features);
double psfm_probability_of(double log_odds);
/* The same, but for the rows that are about structure. */
double psfm_signals_against(const psfm_signal_table *table, const void *features);

/* A model is called right from this probability on, if it is confirmed; an image of it, too. */
#define PSFM_CALLED_RIGHT 0.9
/* In a confirmed model the halves of the points agree to half of what is claimed. */
#define PSFM_HALVES_AGREE_DEG 0.5

/* ... and hardly any pair contradicts the positions alone, nor could a sub-model as well be
 * shifted. */
#define PSFM_MOST_SHIFTED 0.03
#define PSFM_MOST_FOR_SHIFT 0.5
/* ... and poses move by hardly more than they claim when intrinsics are free (chosen, as the next
 * two, on the sets of bench/accuracy/verdict real), */
#define PSFM_MOST_BY_INTRINSICS_DEG 0.7
/* ... and of the matches of its pairs, and of those of each image, no more contradict it than those
 * of duplicates that the consensus has overcome, */
#define PSFM_MOST_UNEXPLAINED 0.15
#define PSFM_MOST_UNEXPLAINED_OF_IMAGE 0.5
/* ... and across every cut at least this share of what should be seen is, */
#define PSFM_LEAST_SEEN 0.2
/* ... and no weak connection has more pairs against it than for it. */
#define PSFM_MOST_AGAINST_CONNECTION 1.0

/* A model of fewer images that leaves out most of the photographs is a small sub-model. It is too
 * small to contradict itself, and is right so often at most. */
#define PSFM_FEW_IMAGES 5.0
#define PSFM_FEW_IMAGES_RIGHT 0.75

/* About an image, put together from its features. */
typedef struct {
    double runner_up, weak_connection, residual;
    double half_shift_deg, focal_shift_deg;
    double points;
    double model_doubt; /* by which the signals lower the log-odds of its model */
} psfm_image_case;

extern const psfm_signal_table psfm_model_calibration; /* of psfm_model_features */
extern const psfm_signal_table psfm_image_calibration; /* of psfm_image_case */

#endif
