/* More pairs, from those that matched: images two steps apart in the graph of verified pairs. */
#ifndef PSFM_MATCH_PAIR_EXPAND_H
#define PSFM_MATCH_PAIR_EXPAND_H

#include "core/base/options.h"
#include "images/match/pair_select.h"

/* When pairs are added. */
typedef enum {
    PSFM_EXPAND_AUTO, /* where the rule guesses: pairs by retrieval or position */
    PSFM_EXPAND_ON,
    PSFM_EXPAND_OFF
} psfm_expand_kind;

typedef struct {
    int kind; /* psfm_expand_kind */
} psfm_expand_options;

extern const psfm_option_table psfm_expand_option_table;

/* Whether pairs are added to those of a rule (psfm_pair_rule). */
bool psfm_pair_rule_expands(const char *rule, const psfm_expand_options *options);

/* Pairs that an image proposes at most, where matching decides. */
enum { PSFM_EXPAND_MOST = 5 };

/* Pairs of `num` images that are not among those tried but whose images were both verified with a
 * third. The support of such a pair is the weaker of the two steps by way of the best third image;
 * each image proposes its `most` best supported pairs. `verified` has a number of matches
 * for each pair tried. The caller frees *added. O(sum of squared degrees). */
psfm_status psfm_pair_expand(psfm_context *ctx, size_t num, const psfm_pair_list *tried,
                             const size_t *verified, size_t most, psfm_pair_list *added);

#endif
