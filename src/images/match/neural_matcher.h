/* The choice of a matcher, and matching float descriptors with it. */
#ifndef PSFM_MATCH_NEURAL_MATCHER_H
#define PSFM_MATCH_NEURAL_MATCHER_H

#include "images/feature/detector.h"
#include "images/match/lightglue.h"
#include "images/match/superglue.h"

typedef enum {
    PSFM_MATCHER_AUTO,    /* by the features: nn, superglue, lightglue, nn */
    PSFM_MATCHER_NEAREST, /* mutual nearest neighbours */
    PSFM_MATCHER_SUPERGLUE,
    PSFM_MATCHER_LIGHTGLUE,
    PSFM_NUM_MATCHER_KINDS
} psfm_matcher_kind;

/* "auto", "nn", ...; NULL-terminated. */
extern const char *const psfm_matcher_names[];

typedef struct {
    int kind; /* psfm_matcher_kind */
    psfm_nearest_float_options nearest;
    psfm_superglue_options superglue;
    psfm_lightglue_options lightglue;
} psfm_matcher_options;

/* The kind alone; the options of a matcher have its own table. */
extern const psfm_option_table psfm_matcher_option_table;
/* The table of a matcher's options and their place in `options`. Not for AUTO. */
const psfm_option_table *psfm_matcher_table(psfm_matcher_kind kind);
const void *psfm_matcher_own_options(const psfm_matcher_options *options, psfm_matcher_kind kind);

/* Sets what is left to the features: the smallest similarity, at -1, and the largest ratio, at 1,
 * become theirs. */
void psfm_matcher_options_fill(psfm_feature_kind features, psfm_matcher_options *options);

/* The matcher for these features: `asked`, or what AUTO stands for. PSFM_ERR_ARGUMENT if the two do
 * not go together. *file is how its weights are known, NULL if it has none. */
psfm_status psfm_matcher_resolve(psfm_context *ctx, psfm_feature_kind features,
                                 psfm_matcher_kind asked, psfm_matcher_kind *kind,
                                 const psfm_network_file **file);

/* Matchers with the same weights, so that several pairs can be worked on at once. */
typedef struct psfm_matchers psfm_matchers;

/* Loads the weights file (NULL for NN). Makes as many networks as wanted, at most 8. The matches do
 * not depend on it. */
psfm_status psfm_matchers_create(psfm_context *ctx, psfm_matcher_kind kind,
                                 const psfm_matcher_options *options, const char *path,
                                 int num_wanted, psfm_matchers **out);
/* Frees and sets *matchers to NULL. */
void psfm_matchers_destroy(psfm_matchers **matchers);
/* How many networks there are, one for each of as many workers; 0: there is no network, and any
 * number of workers will do. */
int psfm_matchers_num(const psfm_matchers *matchers);

/* Matches a pair by a worker's network. Workers may run at once. *out, empty before and on failure,
 * is freed by the caller. */
psfm_status psfm_matchers_run(psfm_context *ctx, psfm_matchers *matchers, int worker,
                              const psfm_neural_input *a, const psfm_neural_input *b,
                              psfm_match_list *out);

#endif
