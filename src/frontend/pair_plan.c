/* Pairs are wanted by the places of their images in the order of names, and stored by the images'
 * ids. */
#include "frontend/pair_plan.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/order_statistics.h"
#include "frontend/retrieval_vectors.h"

/* ---- stored pairs ---- */

psfm_status psfm_stored_pairs_read(psfm_feature_store *store, psfm_stored_pairs *out) {
    *out = (psfm_stored_pairs){0};
    return psfm_store_list_pairs(store, &out->pairs, &out->num);
}

void psfm_stored_pairs_free(psfm_stored_pairs *pairs) {
    free(pairs->pairs);
    *pairs = (psfm_stored_pairs){0};
}

bool psfm_pair_is_turned(const psfm_stored_photos *images, const uint32_t pair[2]) {
    return images->photos[pair[0]].image_id > images->photos[pair[1]].image_id;
}

psfm_stored_pair psfm_pair_ids(const psfm_stored_photos *images, const uint32_t pair[2]) {
    bool turned = psfm_pair_is_turned(images, pair);
    return (psfm_stored_pair){.id1 = images->photos[pair[turned ? 1 : 0]].image_id,
                              .id2 = images->photos[pair[turned ? 0 : 1]].image_id};
}

const psfm_stored_pair *psfm_stored_pairs_find(const psfm_stored_pairs *pairs,
                                               const psfm_stored_photos *images,
                                               const uint32_t pair[2]) {
    const psfm_stored_pair wanted = psfm_pair_ids(images, pair);
    return psfm_find(&wanted, pairs->pairs, pairs->num, sizeof *pairs->pairs,
                     psfm_compare_u32_pair);
}

/* ---- the rule ---- */

psfm_status psfm_pair_plan_init(psfm_context *ctx, psfm_feature_store *store,
                                const psfm_stored_photos *images, const psfm_match_options *options,
                                psfm_pair_plan *plan) {
    psfm_geodetic *at = NULL;
    *plan = (psfm_pair_plan){.ctx = ctx, .store = store, .images = images, .options = options};
    psfm_status status = PSFM_ALLOC(ctx, images->num, &at);
    if (status == PSFM_OK)
        status = psfm_store_places(store, images, at);
    if (status == PSFM_OK)
        status = psfm_places_init(ctx, at, images->num, &plan->places);
    plan->rule = psfm_pair_rule(options->pairs, images->num, plan->places.num_known);
    free(at);
    return status;
}

void psfm_pair_plan_free(psfm_pair_plan *plan) {
    psfm_places_free(&plan->places);
}

bool psfm_pair_plan_by_retrieval(const psfm_pair_plan *plan) {
    return psfm_pair_rule_needs_retrieval(plan->rule) ||
           (psfm_pair_rule_needs_places(plan->rule) && plan->places.num_known < plan->places.num);
}

/* Absent names stand behind those of the images; pairs with them go. */
static psfm_status apply_rule(const psfm_pair_plan *plan, const psfm_pair_hints *hints,
                              psfm_pair_list *list) {
    const char **names = NULL;
    const psfm_match_options *options = plan->options;
    size_t n = plan->images->num, kept = 0;
    size_t num_absent = strncmp(plan->rule, "file:", 5) == 0 ? options->num_absent : 0;
    psfm_status status = PSFM_ALLOC(plan->ctx, n + num_absent, &names);
    for (size_t k = 0; status == PSFM_OK && k < n + num_absent; ++k)
        names[k] = k < n ? plan->images->photos[k].name : options->absent[k - n];
    if (status == PSFM_OK)
        status = psfm_pair_select(plan->ctx, plan->rule, names, n + num_absent, hints, list);
    for (size_t k = 0; status == PSFM_OK && k < list->num; ++k)
        if (list->pairs[k][0] < n && list->pairs[k][1] < n)
            memmove(list->pairs[kept++], list->pairs[k], sizeof *list->pairs);
    list->num = kept;
    free((void *)names);
    return status;
}

psfm_status psfm_wanted_pairs(const psfm_pair_plan *plan, psfm_pair_list *list) {
    bool by_retrieval = psfm_pair_plan_by_retrieval(plan);
    psfm_image_vectors vectors = {0};
    psfm_sketch *sketches = NULL;
    psfm_status status = PSFM_OK;
    *list = (psfm_pair_list){0};
    if (psfm_pair_rule_needs_places(plan->rule))
        psfm_log(plan->ctx, PSFM_LOG_INFO, "%zu of %zu images tell where they were taken",
                 plan->places.num_known, plan->images->num);
    if (by_retrieval)
        status = psfm_image_vectors_find(plan->ctx, plan->store, plan->images, &vectors);
    if (status == PSFM_OK && by_retrieval)
        status = psfm_image_sketches_draw(plan->ctx, plan->store, plan->images, &sketches);
    const psfm_pair_hints hints = {by_retrieval ? &vectors : NULL, sketches, &plan->places};
    if (status == PSFM_OK)
        status = apply_rule(plan, &hints, list);
    free(sketches);
    psfm_image_vectors_free(&vectors);
    return status;
}

/* ---- what matched ---- */

psfm_status psfm_wanted_more(const psfm_pair_plan *plan, const psfm_pair_list *wanted,
                             psfm_pair_list *added) {
    const psfm_expand_options *options = &plan->options->expand;
    psfm_stored_pairs stored = {0};
    size_t *verified = NULL;
    *added = (psfm_pair_list){0};
    if (!psfm_pair_rule_expands(plan->rule, options))
        return PSFM_OK;
    psfm_status status = psfm_stored_pairs_read(plan->store, &stored);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(plan->ctx, wanted->num, &verified);
    for (size_t k = 0; status == PSFM_OK && k < wanted->num; ++k) {
        const psfm_stored_pair *pair =
            psfm_stored_pairs_find(&stored, plan->images, wanted->pairs[k]);
        if (pair != NULL) /* of somebody else's nothing but the matches is known */
            verified[k] = pair->key == 0 ? pair->num_matches : pair->num_verified;
    }
    if (status == PSFM_OK)
        status = psfm_pair_expand(plan->ctx, plan->images->num, wanted, verified, PSFM_EXPAND_MOST,
                                  added);
    free(verified);
    psfm_stored_pairs_free(&stored);
    return status;
}

psfm_status psfm_drop_unwanted(const psfm_pair_plan *plan, const psfm_pair_list *wanted,
                               size_t *num_dropped) {
    psfm_stored_pairs stored = {0};
    bool *is_wanted = NULL;
    psfm_status status;
    if ((status = psfm_stored_pairs_read(plan->store, &stored)) ||
        (status = PSFM_ALLOC(plan->ctx, stored.num, &is_wanted)) ||
        (status = psfm_store_begin(plan->store)))
        goto cleanup;
    for (size_t k = 0; k < wanted->num; ++k) {
        const psfm_stored_pair *pair =
            psfm_stored_pairs_find(&stored, plan->images, wanted->pairs[k]);
        if (pair != NULL)
            is_wanted[pair - stored.pairs] = true;
    }
    for (size_t k = 0; status == PSFM_OK && k < stored.num; ++k) {
        if (is_wanted[k] || stored.pairs[k].key == 0)
            continue;
        status = psfm_store_drop_pair(plan->store, stored.pairs[k].id1, stored.pairs[k].id2);
        ++*num_dropped;
    }
    if (status == PSFM_OK)
        status = psfm_store_commit(plan->store);

cleanup:
    free(is_wanted);
    psfm_stored_pairs_free(&stored);
    return status;
}
