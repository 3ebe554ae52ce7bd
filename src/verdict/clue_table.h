/* The rows of a logistic regression: what is looked at, how it counts, and what to say about it. */
#ifndef PSFM_VERDICT_CLUE_TABLE_H
#define PSFM_VERDICT_CLUE_TABLE_H

#include <stddef.h>

/* One clue. Its badness is log(1 + (x - origin) / scale) where more is worse, x up to `most`, and
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
} psfm_clue;

typedef struct {
    double bias; /* log-odds of being right where nothing is bad */
    const psfm_clue *rows;
    int num_rows;
} psfm_clue_table;

/* By how much a row lowers the log-odds; features is the struct that the offsets are of. */
double psfm_clue_penalty(const psfm_clue *row, const void *features);
/* The value that a row looks at. */
double psfm_clue_value(const psfm_clue *row, const void *features);
/* log(P / (1 - P)) */
double psfm_clues_log_odds(const psfm_clue_table *table, const void *features);
double psfm_probability_of(double log_odds);

#endif
