/* The matchers of network features behind one interface: nearest neighbours, SuperGlue, LightGlue,
 * with the defaults that go with each kind of features.
 *
 * A network is not safe for two calls at once, so there are a few copies, and threads without one
 * help with the loops of the others. */
#include "images/match/neural_matcher.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

/* Each network keeps its own copy of up to 50 MB of weights. */
#define MAX_NETWORKS 8

#define QUARTER 1.5707963267948966 /* of a turn, radians */

const char *const psfm_matcher_names[] = {"auto", "nn", "superglue", "lightglue", NULL};

static const psfm_option rows[] = {
    PSFM_OPTION_CHOICE(psfm_matcher_options, kind, "matcher", PSFM_MATCHER_AUTO, psfm_matcher_names,
                       "nn: mutual nearest neighbours; superglue and lightglue need --weights; "
                       "auto: superglue for superpoint, lightglue for xfeat, else nn"),
};
const psfm_option_table psfm_matcher_option_table = PSFM_OPTION_TABLE("", rows);

static const struct {
    const psfm_option_table *table;
    size_t offset;
    const psfm_network_type *network; /* NULL: none */
} kinds[PSFM_NUM_MATCHER_KINDS] = {
    [PSFM_MATCHER_NEAREST] = {&psfm_nearest_float_option_table,
                              offsetof(psfm_matcher_options, nearest), NULL},
    [PSFM_MATCHER_SUPERGLUE] = {&psfm_superglue_option_table,
                                offsetof(psfm_matcher_options, superglue), &psfm_superglue_network},
    [PSFM_MATCHER_LIGHTGLUE] = {&psfm_lightglue_option_table,
                                offsetof(psfm_matcher_options, lightglue), &psfm_lightglue_network},
};

/* Of features that networks match: the default matcher, and the weights that were trained for them.
 */
static const struct {
    psfm_matcher_kind best;
    const psfm_network_file *superglue, *lightglue;
} partners[PSFM_NUM_FEATURE_KINDS] = {
    [PSFM_FEATURES_SUPERPOINT] = {PSFM_MATCHER_SUPERGLUE, &psfm_superglue_file,
                                  &psfm_lightglue_superpoint_file},
    [PSFM_FEATURES_XFEAT] = {PSFM_MATCHER_LIGHTGLUE, NULL, &psfm_lightglue_xfeat_file},
};

static psfm_matcher_kind find_best(psfm_feature_kind features) {
    const psfm_matcher_kind best = partners[features].best;
    return best == PSFM_MATCHER_AUTO ? PSFM_MATCHER_NEAREST : best;
}

const psfm_option_table *psfm_matcher_table(psfm_matcher_kind kind) {
    return kinds[kind].table;
}

const void *psfm_matcher_own_options(const psfm_matcher_options *options, psfm_matcher_kind kind) {
    return (const char *)options + kinds[kind].offset;
}

void psfm_matcher_options_fill(psfm_feature_kind features, psfm_matcher_options *options) {
    const psfm_neural_detector *detector = psfm_detector_get(features);
    if (detector == NULL)
        return;
    if (options->nearest.min_similarity <= -1)
        options->nearest.min_similarity = detector->min_similarity;
    if (options->nearest.max_ratio >= 1)
        options->nearest.max_ratio = detector->max_ratio;
}

psfm_status psfm_matcher_resolve(psfm_context *ctx, psfm_feature_kind features,
                                 psfm_matcher_kind asked, psfm_matcher_kind *kind,
                                 const psfm_network_file **file) {
    *kind = asked == PSFM_MATCHER_AUTO ? find_best(features) : asked;
    *file = *kind == PSFM_MATCHER_SUPERGLUE   ? partners[features].superglue
            : *kind == PSFM_MATCHER_LIGHTGLUE ? partners[features].lightglue
                                              : NULL;
    if (*kind != PSFM_MATCHER_NEAREST && *file == NULL)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "--matcher %s cannot match %s features; %s can",
                         psfm_matcher_names[*kind], psfm_feature_names[features],
                         psfm_matcher_names[find_best(features)]);
    return PSFM_OK;
}

struct psfm_matchers {
    psfm_matcher_kind kind;
    psfm_matcher_options options;
    psfm_networks networks;
};

psfm_status psfm_matchers_create(psfm_context *ctx, psfm_matcher_kind kind,
                                 const psfm_matcher_options *options, const char *path,
                                 int num_wanted, psfm_matchers **out) {
    *out = NULL;
    psfm_status status =
        psfm_options_check(ctx, kinds[kind].table, psfm_matcher_own_options(options, kind));
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, 1, out);
    if (status != PSFM_OK)
        return status;
    (*out)->kind = kind;
    (*out)->options = *options;
    if (kinds[kind].network != NULL)
        status = psfm_networks_make(ctx, kinds[kind].network, path,
                                    num_wanted < MAX_NETWORKS ? num_wanted : MAX_NETWORKS,
                                    &(*out)->networks);
    if (status != PSFM_OK)
        psfm_matchers_destroy(out);
    return status;
}

void psfm_matchers_destroy(psfm_matchers **matchers) {
    if (matchers == NULL || *matchers == NULL)
        return;
    psfm_networks_free(&(*matchers)->networks);
    free(*matchers);
    *matchers = NULL;
}

int psfm_matchers_num(const psfm_matchers *matchers) {
    return matchers->networks.num;
}

/* Matchers know keypoints by their places in photographs that stand upright. Those that were found
 * in a photograph that was turned for it have the orientation that the turn back gave them.
 * `turned` owns the keypoints of *out then. */
static psfm_status make_upright(psfm_context *ctx, const psfm_neural_input *in,
                                psfm_keypoint_set *turned, psfm_neural_input *out) {
    *out = *in;
    *turned = (psfm_keypoint_set){0};
    if (in->set->num == 0)
        return PSFM_OK;
    const double angle = (double)psfm_keypoint_orientation(in->set->keypoints);
    const int quarters = (int)lround(-angle / QUARTER) & 3;
    if (quarters == 0)
        return PSFM_OK;
    psfm_keypoint *keypoints = NULL;
    psfm_status status = PSFM_ALLOC(ctx, in->set->num, &keypoints);
    if (status != PSFM_OK)
        return status;
    memcpy(keypoints, in->set->keypoints, in->set->num * sizeof *keypoints);
    *turned = *in->set;
    turned->keypoints = keypoints;
    psfm_keypoint_set_turn(turned, quarters, (double)in->width, (double)in->height);
    const bool is_aside = (quarters & 1) != 0;
    *out = (psfm_neural_input){turned, is_aside ? in->height : in->width,
                               is_aside ? in->width : in->height};
    return PSFM_OK;
}

static psfm_status match_by_network(psfm_context *ctx, psfm_matchers *m, int worker,
                                    const psfm_neural_input *a, const psfm_neural_input *b,
                                    psfm_match_list *out) {
    psfm_neural_matches matches = {0};
    psfm_keypoint_set turned_a = {0}, turned_b = {0};
    psfm_neural_input up_a, up_b;
    void *model = m->networks.models[worker];
    psfm_status status = make_upright(ctx, a, &turned_a, &up_a);
    if (status == PSFM_OK)
        status = make_upright(ctx, b, &turned_b, &up_b);
    if (status == PSFM_OK)
        status =
            m->kind == PSFM_MATCHER_SUPERGLUE
                ? psfm_superglue_match(ctx, model, &up_a, &up_b, &m->options.superglue, &matches)
                : psfm_lightglue_match(ctx, model, &up_a, &up_b, &m->options.lightglue, &matches);
    free(turned_a.keypoints);
    free(turned_b.keypoints);
    if (status == PSFM_OK) {
        *out = matches.list;
        matches.list = (psfm_match_list){0};
    }
    psfm_neural_matches_free(&matches);
    return status;
}

psfm_status psfm_matchers_run(psfm_context *ctx, psfm_matchers *matchers, int worker,
                              const psfm_neural_input *a, const psfm_neural_input *b,
                              psfm_match_list *out) {
    if (matchers->kind != PSFM_MATCHER_NEAREST)
        return match_by_network(ctx, matchers, worker, a, b, out);
    return a->set->num == 0 || b->set->num == 0
               ? PSFM_OK
               : psfm_nearest_match_f32(ctx, a->set, b->set, &matchers->options.nearest, out);
}
