/* Matches by the neural matchers, and how they are read from a matrix of scores. */
#ifndef PSFM_MATCH_NEURAL_MATCHES_H
#define PSFM_MATCH_NEURAL_MATCHES_H

#include "images/feature/neural_features.h"
#include "images/match/nearest_neighbour.h"
#include "images/nn/engine.h"

/* Each keypoint at most once. Owns its arrays. */
typedef struct {
    psfm_match_list list;
    float *confidence; /* 0 to 1, of each match */
} psfm_neural_matches;

void psfm_neural_matches_free(psfm_neural_matches *matches);

/* Scores of all pairs: entry (i, j) is worth gain * z[i * ld + j] + row_shift[i] + column_shift[j].
 */
typedef struct {
    size_t num_rows, num_columns, ld;
    const float *z;
    float gain;
    const float *row_shift, *column_shift;
} psfm_score_matrix;

/* Keeps the pairs that are best in their row and their column and whose confidence, exp(score), is
 * above the threshold; of equal scores the first is best. Parallel, O(rows columns). The caller
 * frees. */
psfm_status psfm_mutual_matches(psfm_context *ctx, psfm_engine *nn, const psfm_score_matrix *scores,
                                float threshold, psfm_neural_matches *matches);

/* Drops matches below `confident`, but no more than leave the `at_least` best: accuracy where there
 * is plenty, connection where there is not. 0 drops none. On failure no matches are left. */
psfm_status psfm_neural_matches_prune(psfm_context *ctx, double confident, size_t at_least,
                                      psfm_neural_matches *matches);

#endif
