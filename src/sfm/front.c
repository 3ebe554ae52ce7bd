/* The front end: extraction and matching at first, and the two questions after which photographs
 * may get more features. Where planes will be aligned, the alignment is asked first, the verdict
 * last (frontend/extract_and_match.h). */
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/hash.h"
#include "images/photometric/alignment_cache.h"
#include "sfm/stages.h"

#define UNKNOWN_PX 0.5 /* noise of keypoints that could not be measured */

static psfm_photos_to_take photos_to_take(const psfm_sfm *s) {
    return (psfm_photos_to_take){s->photo_folder, s->database, &s->front.extract, &s->front.match,
                                 s->front.patches_key};
}

/* A hash of what the alignment of planes depends on beside the matches; 0 if there will be none,
 * or if it would come after more than verification, which would be done twice: cameras that have
 * to be calibrated, a drawing that is sought. */
static uint64_t find_patches_key(const psfm_run_options *asked) {
    const psfm_reconstruct_options *later = &asked->settings.options;
    const psfm_intrinsics_options *cameras = &asked->folder.intrinsics;
    if ((cameras->cameras_path == NULL && cameras->camera_text == NULL) ||
        psfm_settings_have_drawing(&asked->settings))
        return 0;
    uint64_t key = PSFM_HASH_START;
    key = psfm_options_hash(&psfm_pair_plane_option_table, &later->photo.planes, key);
    key = psfm_options_hash(&psfm_patch_option_table, &later->photo.patch, key);
    key = psfm_two_view_hash(&later->two_view, key);
    key = psfm_options_hash(&psfm_noise_option_table, &later->noise, key);
    return key | 1;
}

psfm_status psfm_stage_extract_and_match(psfm_context *ctx, psfm_sfm *s) {
    const psfm_reconstruct_options *later = &s->asked.settings.options;
    psfm_front *front = &s->front;
    front->is_used = true;
    front->extract = s->asked.folder;
    front->match = s->asked.match;
    front->match.two_view = later->two_view; /* guided matching verifies as this run will */
    if (front->extract.effort.level == PSFM_EFFORT_AUTO &&
        (later->mode != PSFM_MODE_ROBUST || !later->photo.control.refine_matches))
        front->extract.effort.level = PSFM_EFFORT_HIGH; /* places are as exact as features are */
    front->patches_key = find_patches_key(&s->asked);
    const psfm_photos_to_take what = photos_to_take(s);
    psfm_status status = psfm_take_photos(ctx, &what, &s->stats.timings, &front->taken);
    if (status == PSFM_OK && front->taken.state == PSFM_TAKEN_TO_ALIGN)
        status = PSFM_ALLOC(ctx, 1, &s->kept);
    return status;
}

/* No alignment will be wanted again. */
static void forget_alignments(psfm_sfm *s) {
    if (s->kept != NULL)
        psfm_kept_pairs_free(s->kept);
    free(s->kept);
    s->kept = NULL;
}

/* The weight of the patches of each pair for its images, in matches. */
static psfm_status weigh_patches(psfm_context *ctx, const psfm_sfm *s,
                                 psfm_pair_patches **patches) {
    const psfm_match_set *set = &s->set;
    const double given = s->asked.settings.options.noise.px;
    const double measured = s->noise.sigma_px > 0.0 ? s->noise.sigma_px : UNKNOWN_PX;
    psfm_status status = PSFM_ALLOC(ctx, set->num_pairs, patches);
    for (size_t p = 0; status == PSFM_OK && p < set->num_pairs; ++p) {
        const psfm_match_pair *pair = &set->pairs[p];
        const uint32_t id1 = set->views[pair->view1].id, id2 = set->views[pair->view2].id;
        (*patches)[p] =
            (psfm_pair_patches){id1 < id2 ? id1 : id2, id1 < id2 ? id2 : id1,
                                psfm_patch_weight(set, pair, given > 0.0 ? given : measured)};
    }
    return status;
}

psfm_status psfm_need_after_alignment(psfm_context *ctx, psfm_sfm *s, bool *more) {
    const psfm_photos_to_take what = photos_to_take(s);
    psfm_pair_patches *patches = NULL;
    psfm_status status = PSFM_OK;
    *more = false;
    if (s->front.taken.state == PSFM_TAKEN_TO_ALIGN) {
        status = weigh_patches(ctx, s, &patches);
        if (status == PSFM_OK)
            status = psfm_take_judge(ctx, &what, patches, s->set.num_pairs, &s->front.taken, more);
        free(patches);
    }
    if (!*more)
        forget_alignments(s);
    return status;
}

/* Whether there is no model, or the verdict on the largest one is not that it is right. */
static bool is_doubtful(const psfm_sfm *s) {
    return s->num_models == 0 ||
           (s->verdicts.models != NULL && !psfm_is_called_right(&s->verdicts.models[0]));
}

psfm_status psfm_need_after_verdict(psfm_context *ctx, psfm_sfm *s, bool *more) {
    const psfm_photos_to_take what = photos_to_take(s);
    *more = false;
    if (s->front.taken.state != PSFM_TAKEN_TO_SOLVE || !is_doubtful(s))
        return PSFM_OK;
    psfm_status status = psfm_take_doubt(ctx, &what, &s->front.taken, more);
    if (*more)
        psfm_log(ctx, PSFM_LOG_INFO, "the result is doubtful: once more with more features");
    return status;
}

psfm_status psfm_give_more_features(psfm_context *ctx, psfm_sfm *s) {
    const psfm_photos_to_take what = photos_to_take(s);
    return psfm_take_more(ctx, &what, &s->stats.timings, &s->front.taken);
}
