/* From which size on a product matters to a row or column; see nearest_score.c. */
#ifndef PSFM_MATCH_NEAREST_LIMIT_H
#define PSFM_MATCH_NEAREST_LIMIT_H

#include "images/match/nearest_score.h"

#define PSFM_NEAREST_ONE 262144 /* 512^2: the product at angle zero */
#define PSFM_NEAREST_LIMIT_SHIFT 6
#define PSFM_NEAREST_LIMIT_SIZE ((PSFM_NEAREST_ONE >> PSFM_NEAREST_LIMIT_SHIFT) + 2)
#define PSFM_NEAREST_LIMIT_MARGIN 16 /* for rounding of the angles */

/* breaks[b >> SHIFT] is below every product that breaks the ratio to a best of at least b; with one
 * up to harmless[b >> SHIFT] as best and b as second the ratio is too high. */
struct psfm_nearest_limits {
    psfm_nearest_rule rule;
    int32_t breaks[PSFM_NEAREST_LIMIT_SIZE], harmless[PSFM_NEAREST_LIMIT_SIZE];
    int32_t least_best; /* below the best of any match */
    int32_t floor;      /* products up to this never matter */
};

/* Some tenths of a millisecond. */
void psfm_nearest_limits_make(const psfm_nearest_rule *rule, psfm_nearest_limits *limits);

static inline int32_t psfm_nearest_larger(int32_t a, int32_t b) {
    return a > b ? a : b;
}

static inline int psfm_nearest_limit_bucket(int32_t best) {
    int k = best >> PSFM_NEAREST_LIMIT_SHIFT;
    return k < PSFM_NEAREST_LIMIT_SIZE - 2 ? k : PSFM_NEAREST_LIMIT_SIZE - 2;
}

/* The largest product that does not matter to a row or column that passes with this best. */
static inline int32_t psfm_nearest_passing_limit(const psfm_nearest_limits *t, int32_t best) {
    return psfm_nearest_larger(t->breaks[psfm_nearest_limit_bucket(best)], t->floor);
}

/* Whether these two surely do not pass. */
static inline bool psfm_nearest_fails(const psfm_nearest_limits *t, int32_t best, int32_t second) {
    int32_t breaks = t->breaks[psfm_nearest_limit_bucket(best) + 1];
    return best < t->least_best ||
           (second > breaks + 2 * PSFM_NEAREST_LIMIT_MARGIN && best <= PSFM_NEAREST_ONE);
}

/* The rule, without angles where they are not needed. */
static inline bool psfm_nearest_passes(const psfm_nearest_limits *t, int32_t best, int32_t second) {
    return !psfm_nearest_fails(t, best, second) && psfm_nearest_rule_passes(&t->rule, best, second);
}

/* The largest that does not matter to one with these two. */
static inline int32_t psfm_nearest_limit_of(const psfm_nearest_limits *t, int32_t best,
                                            int32_t second) {
    int k = psfm_nearest_limit_bucket(best);
    return psfm_nearest_fails(t, best, second)
               ? psfm_nearest_larger(psfm_nearest_larger(best, t->harmless[k]), t->floor)
               : psfm_nearest_passing_limit(t, best);
}

#endif
