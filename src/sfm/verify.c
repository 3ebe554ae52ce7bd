/* The verification of the pairs.
 *
 * It does not depend on the options of later stages. So its results are kept in the database under
 * a key that is a hash of everything they depend on, and taken from there the next time. */
#include <stdio.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/hash.h"
#include "planarsfm/version.h"
#include "sfm/stages.h"

#define KEY_SIZE 64

/* A text that changes when anything does that the verification depends on: matches, keypoints,
 * cameras, its options, its code (by revision and version), the seed. */
static void make_verification_key(const psfm_match_set *set, const psfm_two_view_options *options,
                                  uint64_t seed, char key[KEY_SIZE]) {
    uint64_t hash = psfm_two_view_hash(options, PSFM_HASH_START);
    hash = psfm_hash(hash, PSFM_VERSION, sizeof PSFM_VERSION);
    hash = psfm_hash(hash, &seed, sizeof seed);
    for (size_t c = 0; c < set->num_cameras; ++c) {
        const psfm_camera *camera = &set->cameras[c];
        hash = psfm_hash(hash, &camera->model, sizeof camera->model);
        hash = psfm_hash(hash, camera->params, sizeof camera->params);
        hash = psfm_hash(hash, &camera->width, sizeof camera->width);
        hash = psfm_hash(hash, &camera->height, sizeof camera->height);
    }
    for (size_t v = 0; v < set->num_views; ++v) {
        const psfm_view *view = &set->views[v];
        hash = psfm_hash(hash, &view->camera_idx, sizeof view->camera_idx);
        hash = psfm_hash(hash, view->keypoints, view->num_keypoints * sizeof *view->keypoints);
    }
    for (size_t p = 0; p < set->num_pairs; ++p) {
        const psfm_match_pair *pair = &set->pairs[p];
        hash = psfm_hash(hash, &pair->view1, sizeof pair->view1);
        hash = psfm_hash(hash, &pair->view2, sizeof pair->view2);
        hash = psfm_hash(hash, pair->matches, pair->num_matches * sizeof *pair->matches);
    }
    snprintf(key, KEY_SIZE, "%016llx", (unsigned long long)hash);
}

/* Takes the homographies of an earlier run from the database if they belong to this key. */
static psfm_status load_two_views(psfm_context *ctx, const char *key, psfm_sfm *s) {
    bool found = false;
    psfm_two_view *two_views = NULL;
    psfm_status status = PSFM_ALLOC(ctx, s->set.num_pairs, &two_views);
    if (status == PSFM_OK)
        status = psfm_database_read_two_views(ctx, s->database, &s->set, key, two_views, &found);
    if (status == PSFM_OK && found) {
        s->two_views = two_views;
        psfm_log(ctx, PSFM_LOG_INFO, "verification: taken from %s", s->database);
        return PSFM_OK;
    }
    free(two_views);
    return status;
}

/* Keeps the homographies for the next run. A database that cannot be written is no reason to
 * fail: the poses do not depend on it. */
static void keep_two_views(psfm_context *ctx, const char *key, const psfm_sfm *s) {
    if (psfm_database_write_two_views(ctx, s->database, &s->set, s->two_views, key) != PSFM_OK)
        psfm_log(ctx, PSFM_LOG_WARNING, "homographies were not kept: %s",
                 psfm_context_message(ctx));
}

/* What an earlier run verified, if it still holds; `key` says for what. */
static psfm_status look_up_two_views(psfm_context *ctx, psfm_sfm *s, char key[KEY_SIZE]) {
    const psfm_moment start = psfm_moment_now();
    make_verification_key(&s->set, &s->scaled.two_view, psfm_context_seed(ctx), key);
    psfm_status status = load_two_views(ctx, key, s);
    psfm_timings_add(&s->stats.timings, "reading", start);
    return status;
}

static psfm_status estimate_two_views(psfm_context *ctx, psfm_sfm *s) {
    const psfm_moment start = psfm_moment_now();
    psfm_status status = psfm_two_views_make(ctx, &s->set, &s->scaled.two_view, &s->two_views);
    psfm_timings_add(&s->stats.timings, "verification", start);
    return status;
}

/* Puts what was estimated into the database, and all of it into COLMAP's table if that is wanted.
 */
static psfm_status write_two_views(psfm_context *ctx, const char *key, bool is_new, psfm_sfm *s) {
    const psfm_moment start = psfm_moment_now();
    psfm_status status = PSFM_OK;
    if (is_new)
        keep_two_views(ctx, key, s);
    if (s->asked.settings.geometries)
        status = psfm_database_write_colmap_geometries(ctx, s->database, &s->set, s->two_views);
    psfm_timings_add(&s->stats.timings, "writing", start);
    return status;
}

psfm_status psfm_stage_verify(psfm_context *ctx, psfm_sfm *s) {
    char key[KEY_SIZE];
    s->num_two_views = s->set.num_pairs;
    psfm_status status = s->database != NULL ? look_up_two_views(ctx, s, key) : PSFM_OK;
    const bool is_new = s->two_views == NULL;
    if (status == PSFM_OK && is_new)
        status = estimate_two_views(ctx, s);
    if (status == PSFM_OK && s->database != NULL)
        status = write_two_views(ctx, key, is_new, s);
    return status;
}
