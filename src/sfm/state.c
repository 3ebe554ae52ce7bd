/* Every member is freed in one place, in the reverse order of the stages that write them. */
#include "sfm/state.h"

#include <stdlib.h>

#include "sfm/registry.h"

void psfm_sfm_open(const psfm_run_options *asked, psfm_sfm *s) {
    *s = (psfm_sfm){.drawn = PSFM_NO_COMPONENT};
    if (asked != NULL)
        s->asked = *asked;
    else
        psfm_run_options_init(PSFM_MODE_DEFAULT, &s->asked);
}

static void free_models(psfm_sfm *s) {
    for (size_t k = 0; s->models != NULL && k < s->num_models; ++k)
        psfm_model_free(&s->models[k]);
    free(s->models);
    s->models = NULL;
    s->num_models = 0;
    s->headline[0] = '\0';
    free(s->outcome);
    s->outcome = NULL;
    psfm_verdicts_free(&s->verdicts);
}

static void free_poses(psfm_sfm *s) {
    psfm_robust_edges_free(&s->edges);
    psfm_pose_solution_free(&s->solution);
}

static void free_refined(psfm_sfm *s) {
    psfm_refined_free(&s->refined);
    free(s->undetermined);
    s->undetermined = NULL;
    s->drawn = PSFM_NO_COMPONENT;
}

static void free_evidence(psfm_sfm *s) {
    psfm_photo_cache_destroy(&s->photos);
    psfm_two_views_free(&s->two_views, s->num_two_views);
    s->num_two_views = 0;
    if (s->court != NULL)
        psfm_court_evidence_free(s->court);
    free(s->court);
    s->court = NULL;
    psfm_match_set_free(&s->set);
    s->noise = (psfm_noise_level){0};
    s->stats = (psfm_sfm_stats){.timings = s->stats.timings};
}

void psfm_sfm_rewind(psfm_sfm *s, psfm_stage to) {
    if (to < PSFM_AT_MODELS)
        free_models(s);
    if (to < PSFM_AT_REFINED)
        free_refined(s);
    if (to < PSFM_AT_POSES)
        free_poses(s);
    if (to < PSFM_AT_GRAPH)
        psfm_pose_graph_free(&s->graph);
    if (to < PSFM_AT_ALIGNED)
        free_evidence(s);
    s->stage = to < s->stage ? to : s->stage;
}

psfm_status psfm_sfm_advance(psfm_context *ctx, const psfm_step *steps, psfm_sfm *s) {
    const psfm_stage begin = s->stage;
    psfm_status status = PSFM_OK;
    for (; status == PSFM_OK && steps->take != NULL; ++steps) {
        if (steps->to <= begin)
            continue;
        status = steps->take(ctx, s);
        if (status == PSFM_OK && steps[1].to != steps->to)
            s->stage = steps->to;
    }
    return status;
}

void psfm_sfm_close(psfm_sfm *s) {
    psfm_sfm_rewind(s, PSFM_AT_START);
    psfm_prefetch_destroy(&s->prefetch);
    if (s->kept != NULL)
        psfm_kept_pairs_free(s->kept);
    free(s->kept);
    psfm_taken_photos_free(&s->front.taken);
    psfm_court_target_free(&s->target);
    psfm_results_close(&s->results);
    cJSON_Delete(s->summary);
    *s = (psfm_sfm){0};
}
