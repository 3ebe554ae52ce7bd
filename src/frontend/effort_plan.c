/* Efforts from pairs.
 *
 * What pairs came to with few features tells two things. Which images need more
 * (frontend/effort_need.h); and which pairs need not be tried again with more: those without any
 * geometry and with no more matches than images have that share nothing. How many that are is told
 * by all pairs without geometry: their mean m, and a standard deviation of sqrt(m) beyond it. Most
 * such pairs of a large set do share nothing. Images that are not connected for sure are sought
 * everywhere, and where there are any with normal effort no pair has failed. */
#include "frontend/effort_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/path.h"
#include "core/linalg/order_statistics.h"
#include "frontend/effort_need.h"
#include "store/feature_store.h"

void psfm_second_pass_photos_free(psfm_second_pass_photos *second_pass) {
    for (size_t k = 0; k < second_pass->num; ++k)
        free(second_pass->photos[k].name);
    free(second_pass->photos);
    *second_pass = (psfm_second_pass_photos){0};
}

/* Takes the names of photographs with more than the base effort. */
static psfm_status take_names(psfm_context *ctx, const psfm_stored_photos *photos,
                              const psfm_effort *efforts, psfm_effort base,
                              psfm_second_pass_photos *second_pass) {
    psfm_second_pass_photos_free(second_pass);
    psfm_status status = PSFM_ALLOC(ctx, photos->num, &second_pass->photos);
    for (size_t k = 0; status == PSFM_OK && k < photos->num; ++k) {
        if (efforts[k] <= base)
            continue;
        psfm_second_pass_photo *next = &second_pass->photos[second_pass->num];
        next->effort = efforts[k];
        status = psfm_strdup(ctx, photos->photos[k].name, &next->name);
        second_pass->num += status == PSFM_OK;
    }
    return status;
}

psfm_status psfm_effort_plan_read(psfm_context *ctx, const char *database, psfm_effort base,
                                  uint64_t *key, psfm_second_pass_photos *second_pass) {
    psfm_feature_store store = {0};
    psfm_stored_photos photos = {0};
    psfm_effort_plan plan = {0};
    *key = 0;
    if (!psfm_path_is_file(database))
        return PSFM_OK;
    psfm_status status = psfm_store_open(ctx, database, true, &store);
    if (status == PSFM_OK)
        status = psfm_store_list(&store, &photos);
    if (status == PSFM_OK)
        status = psfm_store_plan(&store, &photos, key, &plan);
    if (status == PSFM_OK && *key != 0)
        status = take_names(ctx, &photos, plan.efforts, base, second_pass);
    psfm_effort_plan_free(&plan);
    psfm_stored_photos_free(&photos);
    psfm_store_close(&store);
    return status;
}

/* ---- the decision ---- */

/* An image of the database and its place among the photographs. */
typedef struct {
    uint32_t id, index;
} place;

typedef struct {
    psfm_context *ctx;
    const psfm_effort_criteria *criteria;
    psfm_feature_store store;
    psfm_stored_photos photos;
    psfm_effort_plan plan; /* what was spent, then what is to be */
    psfm_stored_pair *pairs;
    size_t num_pairs;
    psfm_image_effort *images;
    place *places; /* by ids */
} decision;

static bool find_image(const decision *d, uint32_t id, uint32_t *index) {
    const place *found =
        psfm_find(&id, d->places, d->photos.num, sizeof *d->places, psfm_compare_u32);
    if (found != NULL)
        *index = found->index;
    return found != NULL;
}

static double patches_of(const psfm_effort_criteria *g, const psfm_stored_pair *pair) {
    const psfm_pair_patches *found =
        psfm_find(pair, g->patches, g->num_patches, sizeof *g->patches, psfm_compare_u32_pair);
    return found == NULL ? 0.0 : found->num_matches;
}

/* Reads what there is, and what was spent on it. Both lists of photographs are sorted by names. */
static psfm_status read_state(decision *d, const psfm_second_pass_photos *second_pass) {
    const psfm_folder_options *x = d->criteria->extract;
    uint64_t key = 0;
    size_t r = 0;
    psfm_status status = psfm_store_list(&d->store, &d->photos);
    if (status == PSFM_OK)
        status = psfm_store_list_pairs(&d->store, &d->pairs, &d->num_pairs);
    if (status == PSFM_OK)
        status = psfm_store_plan(&d->store, &d->photos, &key, &d->plan);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(d->ctx, d->photos.num, &d->images);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(d->ctx, d->photos.num, &d->places);
    for (uint32_t k = 0; status == PSFM_OK && k < d->photos.num; ++k) {
        const psfm_stored_photo *photo = &d->photos.photos[k];
        while (r < second_pass->num && strcmp(second_pass->photos[r].name, photo->name) < 0)
            ++r;
        const bool is_second_pass =
            r < second_pass->num && strcmp(second_pass->photos[r].name, photo->name) == 0;
        d->plan.efforts[k] =
            is_second_pass ? second_pass->photos[r].effort : (psfm_effort)x->effort.level;
        d->places[k] = (place){photo->image_id, k};
        d->images[k].given =
            psfm_effort_give(d->plan.efforts[k], x->extract.max_image_size, &x->sift, photo->width,
                             photo->height, photo->num_keypoints);
    }
    if (status == PSFM_OK && d->photos.num > 0)
        qsort(d->places, d->photos.num, sizeof *d->places, psfm_compare_u32);
    return status;
}

static psfm_status find_needs(decision *d) {
    psfm_tried_pair *tried = NULL;
    size_t num = 0;
    psfm_status status = PSFM_ALLOC(d->ctx, d->num_pairs, &tried);
    for (size_t k = 0; status == PSFM_OK && k < d->num_pairs; ++k) {
        psfm_tried_pair *pair = &tried[num];
        pair->num_verified = d->pairs[k].num_verified;
        pair->patches = patches_of(d->criteria, &d->pairs[k]);
        num += find_image(d, d->pairs[k].id1, &pair->image[0]) &&
               find_image(d, d->pairs[k].id2, &pair->image[1]);
    }
    if (status == PSFM_OK)
        status = psfm_effort_need(d->ctx, d->photos.num, tried, num, d->criteria->causes,
                                  d->criteria->most, d->images);
    free(tried);
    return status;
}

/* The number of matches up to which a pair without geometry has no more than chance gives. */
static double chance_matches(const decision *d) {
    double sum = 0.0, num = 0.0;
    for (size_t k = 0; k < d->num_pairs; ++k)
        if (d->pairs[k].num_verified == 0) {
            sum += (double)d->pairs[k].num_matches;
            num += 1.0;
        }
    const double mean = num > 0.0 ? sum / num : 0.0;
    return mean + sqrt(mean);
}

static bool has_final_effort(const decision *d, uint32_t id) {
    uint32_t index;
    return find_image(d, id, &index) && d->images[index].is_certain;
}

/* Pairs that failed and get no more features: those found now, and those left out before. */
static psfm_status find_failed_pairs(decision *d) {
    psfm_effort_plan *plan = &d->plan;
    uint32_t(*failed)[2] = NULL;
    const double chance = chance_matches(d);
    size_t num = 0, kept = 0;
    psfm_status status = PSFM_ALLOC(d->ctx, plan->num_failed + d->num_pairs, &failed);
    if (status != PSFM_OK)
        return status;
    const bool is_hard = psfm_effort_is_hard(d->images, d->photos.num);
    for (size_t k = 0; k < plan->num_failed; ++k, ++num)
        memcpy(failed[num], plan->failed[k], sizeof *failed);
    for (size_t k = 0; k < d->num_pairs; ++k) {
        const psfm_stored_pair *pair = &d->pairs[k];
        if (pair->key == 0 || pair->num_verified > 0 || (double)pair->num_matches > chance)
            continue;
        failed[num][0] = pair->id1;
        failed[num++][1] = pair->id2;
    }
    if (num > 0)
        qsort(failed, num, sizeof *failed, psfm_compare_u32_pair);
    for (size_t k = 0; k < num; ++k)
        if (!is_hard && has_final_effort(d, failed[k][0]) && has_final_effort(d, failed[k][1]) &&
            (kept == 0 || psfm_compare_u32_pair(failed[kept - 1], failed[k]) != 0))
            memmove(failed[kept++], failed[k], sizeof *failed);
    free(plan->failed);
    plan->failed = failed;
    plan->num_failed = kept;
    return PSFM_OK;
}

psfm_status psfm_effort_plan_make(psfm_context *ctx, const char *database,
                                  const psfm_effort_criteria *criteria, uint64_t key,
                                  psfm_second_pass_photos *second_pass, size_t *num_more) {
    decision d = {.ctx = ctx, .criteria = criteria};
    *num_more = 0;
    if (criteria->num_patches > 0)
        qsort(criteria->patches, criteria->num_patches, sizeof *criteria->patches,
              psfm_compare_u32_pair);
    psfm_status status = psfm_store_open(ctx, database, false, &d.store);
    if (status == PSFM_OK)
        status = read_state(&d, second_pass);
    if (status == PSFM_OK)
        status = find_needs(&d);
    if (status == PSFM_OK)
        status = find_failed_pairs(&d);
    for (size_t k = 0; status == PSFM_OK && k < d.photos.num; ++k)
        if (d.images[k].needed > d.images[k].given.reached) {
            d.plan.efforts[k] = d.images[k].needed;
            ++*num_more;
        }
    const bool stays = *num_more == 0 && (criteria->causes & PSFM_NEED_CERTAINTY) != 0;
    if (status == PSFM_OK && !stays)
        status = psfm_store_put_plan(&d.store, key, &d.photos, &d.plan);
    if (status == PSFM_OK && !stays)
        status = take_names(ctx, &d.photos, d.plan.efforts,
                            (psfm_effort)criteria->extract->effort.level, second_pass);
    free(d.places);
    free(d.images);
    free(d.pairs);
    psfm_effort_plan_free(&d.plan);
    psfm_stored_photos_free(&d.photos);
    psfm_store_close(&d.store);
    return status;
}
