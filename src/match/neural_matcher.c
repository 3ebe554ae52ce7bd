/* The matchers of network features behind one interface: nearest neighbours, SuperGlue, LightGlue,
 * with the defaults that go with each kind of features.
 *
 * A network is not safe for two calls at once, so a pool holds a few copies, and the threads are
 * shared out among them. */
#include "match/neural_matcher.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "nn/pool.h"

/* Each network keeps its own copy of up to 50 MB of weights. */
#define MAX_NETWORKS 8

const char *const psfm_matcher_names[] = {"auto", "nn", "superglue", "lightglue", NULL};

static const psfm_option rows[] = {
    PSFM_OPTION_CHOICE(psfm_matcher_options, kind, "matcher", PSFM_MATCHER_AUTO, psfm_matcher_names,
                       "nn: mutual nearest neighbours; superglue and lightglue need --weights; "
                       "auto: superglue for superpoint, lightglue for xfeat, else nn"),
};
const psfm_option_table psfm_matcher_option_table = {"", rows, 1};

static const struct {
    const psfm_option_table *table;
    size_t offset;
} kinds[PSFM_NUM_MATCHER_KINDS] = {
    [PSFM_MATCHER_NEAREST] = {&psfm_nearest_float_option_table,
                              offsetof(psfm_matcher_options, nearest)},
    [PSFM_MATCHER_SUPERGLUE] = {&psfm_superglue_option_table,
                                offsetof(psfm_matcher_options, superglue)},
    [PSFM_MATCHER_LIGHTGLUE] = {&psfm_lightglue_option_table,
                                offsetof(psfm_matcher_options, lightglue)},
};

/* Per kind of features: the default matcher, the weights of the networks trained for them, and how
 * similar nearest neighbours must be, at least and against the second best. */
static const struct {
    psfm_matcher_kind best;
    const psfm_network_file *superglue, *lightglue;
    double min_similarity, max_ratio;
} partners[PSFM_NUM_FEATURE_KINDS] = {
    [PSFM_FEATURES_SIFT] = {PSFM_MATCHER_NEAREST, NULL, NULL, -1, 1},
    [PSFM_FEATURES_SUPERPOINT] = {PSFM_MATCHER_SUPERGLUE, &psfm_superglue_file,
                                  &psfm_lightglue_superpoint_file, -1, 1},
    [PSFM_FEATURES_XFEAT] = {PSFM_MATCHER_LIGHTGLUE, NULL, &psfm_lightglue_xfeat_file, 0.82, 1},
    [PSFM_FEATURES_EDGEPOINT2] = {PSFM_MATCHER_NEAREST, NULL, NULL, -1, 0.95},
};

void psfm_matcher_options_init(psfm_matcher_options *options) {
    *options = (psfm_matcher_options){0};
    psfm_options_init(&psfm_matcher_option_table, options);
    for (int k = PSFM_MATCHER_NEAREST; k < PSFM_NUM_MATCHER_KINDS; ++k)
        psfm_options_init(kinds[k].table, (char *)options + kinds[k].offset);
}

const psfm_option_table *psfm_matcher_table(psfm_matcher_kind kind) {
    return kinds[kind].table;
}

const void *psfm_matcher_own_options(const psfm_matcher_options *options, psfm_matcher_kind kind) {
    return (const char *)options + kinds[kind].offset;
}

void psfm_matcher_options_fill(psfm_feature_kind features, psfm_matcher_options *options) {
    if (options->nearest.min_similarity <= -1)
        options->nearest.min_similarity = partners[features].min_similarity;
    if (options->nearest.max_ratio >= 1)
        options->nearest.max_ratio = partners[features].max_ratio;
}

psfm_status psfm_matcher_resolve(psfm_context *ctx, psfm_feature_kind features,
                                 psfm_matcher_kind asked, psfm_matcher_kind *kind,
                                 const psfm_network_file **file) {
    *kind = asked == PSFM_MATCHER_AUTO ? partners[features].best : asked;
    *file = *kind == PSFM_MATCHER_SUPERGLUE   ? partners[features].superglue
            : *kind == PSFM_MATCHER_LIGHTGLUE ? partners[features].lightglue
                                              : NULL;
    if (*kind != PSFM_MATCHER_NEAREST && *file == NULL)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "--matcher %s cannot match %s features; %s can",
                         psfm_matcher_names[*kind], psfm_feature_names[features],
                         psfm_matcher_names[partners[features].best]);
    return PSFM_OK;
}

/* One network in one of the places of the pool. */
typedef struct {
    psfm_engine *nn;
    psfm_superglue *superglue;
    psfm_lightglue *lightglue;
} network;

struct psfm_matchers {
    psfm_matcher_kind kind;
    psfm_matcher_options options;
    psfm_pool pool;
    network *networks;
};

static psfm_status make_networks(psfm_context *ctx, const char *path, size_t num_pairs,
                                 psfm_matchers *m) {
    int threads = psfm_context_threads(ctx), num = threads < MAX_NETWORKS ? threads : MAX_NETWORKS;
    if ((size_t)num > num_pairs)
        num = num_pairs == 0 ? 1 : (int)num_pairs;
    psfm_status status = psfm_pool_init(ctx, num, &m->pool);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, (size_t)num, &m->networks);
    for (int k = 0; status == PSFM_OK && k < num; ++k) {
        network *net = &m->networks[k];
        status = psfm_engine_create_sized(ctx, threads / num, &net->nn);
        if (status == PSFM_OK && m->kind == PSFM_MATCHER_SUPERGLUE)
            status = psfm_superglue_create(ctx, net->nn, path, &net->superglue);
        else if (status == PSFM_OK)
            status = psfm_lightglue_create(ctx, net->nn, path, &net->lightglue);
    }
    return status;
}

psfm_status psfm_matchers_create(psfm_context *ctx, psfm_matcher_kind kind,
                                 const psfm_matcher_options *options, const char *path,
                                 size_t num_pairs, psfm_matchers **out) {
    *out = NULL;
    psfm_status status =
        psfm_options_check(ctx, kinds[kind].table, psfm_matcher_own_options(options, kind));
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, 1, out);
    if (status != PSFM_OK)
        return status;
    (*out)->kind = kind;
    (*out)->options = *options;
    if (kind != PSFM_MATCHER_NEAREST)
        status = make_networks(ctx, path, num_pairs, *out);
    if (status != PSFM_OK)
        psfm_matchers_destroy(out);
    return status;
}

void psfm_matchers_destroy(psfm_matchers **matchers) {
    if (matchers == NULL || *matchers == NULL)
        return;
    psfm_matchers *m = *matchers;
    for (int k = 0; m->networks != NULL && k < m->pool.num; ++k) {
        psfm_superglue_destroy(&m->networks[k].superglue);
        psfm_lightglue_destroy(&m->networks[k].lightglue);
        psfm_engine_destroy(&m->networks[k].nn);
    }
    free(m->networks);
    psfm_pool_free(&m->pool);
    free(m);
    *matchers = NULL;
}

typedef struct {
    psfm_matchers *matchers;
    const psfm_neural_input *inputs;
    const psfm_pair_list *pairs;
    psfm_match_list *out;
} pair_matching;

static psfm_status match_nearest(psfm_context *ctx, const psfm_keypoint_set *a,
                                 const psfm_keypoint_set *b,
                                 const psfm_nearest_float_options *options, psfm_match_list *out) {
    if (a->num == 0 || b->num == 0)
        return PSFM_OK;
    return psfm_nearest_match_f32(ctx, a, b, options, out);
}

static psfm_status match_by_network(psfm_context *ctx, psfm_matchers *m, const psfm_neural_input *a,
                                    const psfm_neural_input *b, psfm_match_list *out) {
    psfm_neural_matches matches = {0};
    int place = psfm_pool_take(&m->pool);
    network *net = &m->networks[place];
    psfm_status status =
        m->kind == PSFM_MATCHER_SUPERGLUE
            ? psfm_superglue_match(ctx, net->superglue, a, b, &m->options.superglue, &matches)
            : psfm_lightglue_match(ctx, net->lightglue, a, b, &m->options.lightglue, &matches);
    psfm_pool_give(&m->pool, place);
    if (status == PSFM_OK) {
        *out = matches.list;
        matches.list = (psfm_match_list){0};
    }
    psfm_neural_matches_free(&matches);
    return status;
}

static psfm_status match_pair(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    const pair_matching *all = user;
    const psfm_neural_input *a = &all->inputs[all->pairs->pairs[index][0]];
    const psfm_neural_input *b = &all->inputs[all->pairs->pairs[index][1]];
    psfm_matchers *m = all->matchers;
    return m->kind == PSFM_MATCHER_NEAREST
               ? match_nearest(ctx, a->set, b->set, &m->options.nearest, &all->out[index])
               : match_by_network(ctx, m, a, b, &all->out[index]);
}

psfm_status psfm_matchers_run(psfm_context *ctx, psfm_matchers *matchers,
                              const psfm_neural_input *inputs, const psfm_pair_list *pairs,
                              psfm_match_list *out) {
    pair_matching all = {matchers, inputs, pairs, out};
    psfm_status status = psfm_parallel_for(ctx, "matching", pairs->num, match_pair, &all);
    for (size_t k = 0; status != PSFM_OK && k < pairs->num; ++k)
        psfm_match_list_free(&out[k]);
    return status;
}
