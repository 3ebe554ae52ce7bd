/* The database of a run, read into memory. */
#include "core/base/text.h"
#include "core/camera/camera_model.h"
#include "core/matches/canonical_order.h"
#include "sfm/stages.h"

/* Leaves images without matches whose names the text model could not keep: they would cost all
 * others their poses at the end. */
static void leave_out_names(psfm_context *ctx, psfm_match_set *set) {
    for (size_t v = 0; v < set->num_views; ++v) {
        const char *name = set->views[v].name;
        if (psfm_name_fits_line(name))
            continue;
        psfm_log(ctx, PSFM_LOG_WARNING,
                 "image '%s' is left out: its name begins or ends with a blank or has a line end, "
                 "which text files cannot keep",
                 name);
        for (size_t p = 0; p < set->num_pairs; ++p)
            if (set->pairs[p].view1 == v || set->pairs[p].view2 == v)
                set->pairs[p].num_matches = 0;
    }
}

/* Matches that are only in COLMAP's geometries would be lost if these were replaced. */
static psfm_status check_geometries(psfm_context *ctx, const psfm_sfm *s) {
    size_t num = s->stats.input.num_pairs_from_geometries;
    if (!s->asked.settings.geometries || num == 0)
        return PSFM_OK;
    return psfm_fail(ctx, PSFM_ERR_DATA,
                     "%s: two_view_geometries cannot be replaced: %zu pairs have their matches "
                     "only there; run without --geometries",
                     s->database, num);
}

/* Cameras without images may be anything. */
static psfm_status check_cameras(psfm_context *ctx, const psfm_match_set *set) {
    psfm_status status = PSFM_OK;
    for (size_t v = 0; v < set->num_views && status == PSFM_OK; ++v)
        status = psfm_camera_check_lens(ctx, &set->cameras[set->views[v].camera_idx]);
    return status;
}

/* What keypoints and matches take at the least until the models are written, by the arrays that
 * hold them: places, tracks and models of all keypoints, rays of the matched ones. */
static size_t least_memory(const psfm_match_set *set) {
    enum { KEYPOINT = 65, RAY = 72, MATCH = 12 };
    size_t bytes = 0;
    for (size_t v = 0; v < set->num_views; ++v)
        bytes += KEYPOINT * set->views[v].num_keypoints + RAY * set->views[v].num_matched;
    for (size_t p = 0; p < set->num_pairs; ++p)
        bytes += MATCH * set->pairs[p].num_matches;
    return bytes;
}

/* --memory is about what can be read or computed again; says so where the rest is larger. */
static void compare_memory(psfm_context *ctx, const psfm_match_set *set) {
    const size_t asked = psfm_context_asked_memory(ctx), least = least_memory(set);
    if (asked > 0 && least > asked)
        psfm_log(ctx, PSFM_LOG_WARNING,
                 "--memory %zu cannot be kept: keypoints and matches alone take %zu MB; extract "
                 "fewer features",
                 asked >> 20, least >> 20);
}

psfm_status psfm_stage_read(psfm_context *ctx, psfm_sfm *s) {
    const psfm_moment start = psfm_moment_now();
    psfm_status status =
        psfm_database_read_matched_first(ctx, s->database, &s->set, &s->stats.input);
    if (status == PSFM_OK)
        status = check_geometries(ctx, s);
    if (status == PSFM_OK)
        status = check_cameras(ctx, &s->set);
    if (status == PSFM_OK) {
        leave_out_names(ctx, &s->set);
        compare_memory(ctx, &s->set);
        status = psfm_match_set_canonical(ctx, &s->set);
    }
    psfm_timings_add(&s->stats.timings, "reading", start);
    return status;
}
