/* The two largest products of every descriptor with those of another set, as far as they decide
 * who matches whom. */
#ifndef PSFM_MATCH_NN_SCORE_H
#define PSFM_MATCH_NN_SCORE_H

#include "match/nn_head.h"

/* When a best and a second-best product make a match: angles in single precision, as COLMAP. */
typedef struct {
    float max_ratio, max_distance;
} psfm_nn_rule;

/* A best that passes is greater than its second. */
bool psfm_nn_rule_passes(const psfm_nn_rule *rule, int32_t best, int32_t second);

/* Arrays of n1 and n2, zeroed by the caller. */
typedef struct {
    int32_t *best1, *second1;
    int32_t *best2, *second2;
} psfm_nn_scores;

/* Fills the scores. Wherever the true best and second best pass the rule, so do these, with the
 * same best; wherever they fail, these fail. If heads are given (both or none), most pairs are
 * settled by the shortened descriptors; the result obeys the same contract. */
psfm_status psfm_nn_score(psfm_context *ctx, const psfm_nn_set *set1, const psfm_nn_set *set2,
                          const psfm_nn_basis *basis, const psfm_nn_head *head1,
                          const psfm_nn_head *head2, const psfm_nn_rule *rule,
                          psfm_nn_scores *scores);

#endif
