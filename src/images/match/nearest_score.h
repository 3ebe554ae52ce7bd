/* The two largest products of every descriptor with those of another set, as far as they decide
 * who matches whom. */
#ifndef PSFM_MATCH_NEAREST_SCORE_H
#define PSFM_MATCH_NEAREST_SCORE_H

#include "images/match/nearest_head.h"

/* When a best and a second-best product make a match: angles in single precision, as COLMAP. */
typedef struct {
    float max_ratio, max_distance;
} psfm_nearest_rule;

/* A best that passes is greater than its second. */
bool psfm_nearest_rule_passes(const psfm_nearest_rule *rule, int32_t best, int32_t second);

/* The rule as tables (images/match/nearest_limit.h). */
typedef struct psfm_nearest_limits psfm_nearest_limits;

/* Arrays of n1 and n2, zeroed by the caller. */
typedef struct {
    int32_t *best1, *second1;
    int32_t *best2, *second2;
} psfm_nearest_scores;

/* Shortened descriptors of two sets. */
typedef struct {
    const psfm_nearest_basis *basis;
    const psfm_nearest_head *head1, *head2;
} psfm_nearest_screen;

/* Fills the scores. Wherever the true best and second best pass the rule, so do these, with the
 * same best; wherever they fail, these fail. With a screen (NULL: none) most pairs are decided by
 * the shortened descriptors; the result obeys the same contract. */
psfm_status psfm_nearest_score(psfm_context *ctx, const psfm_nearest_set *set1,
                               const psfm_nearest_set *set2, const psfm_nearest_screen *screen,
                               const psfm_nearest_limits *limits, psfm_nearest_scores *scores);

#endif
