/* From photographs, or from matches, to results. The stages are listed in their order; psfm_sfm_run
 * goes through them, once more where photographs turn out to need more features. */
#include "sfm/run.h"

#include <stdlib.h>

#include "core/base/path.h"
#include "core/base/stack.h"
#include "sfm/stages.h"

/* What the images say before there is a pose: pairs, */
static const psfm_step pairs[] = {
    {psfm_stage_extract_and_match, PSFM_AT_MATCHES}, /* features and matches to the database */
    {psfm_stage_read, PSFM_AT_SET},                  /* cameras, keypoints, matches from there */
    {psfm_stage_start_prefetch, PSFM_AT_CAMERAS},    /* of photographs, for what is shown of them */
    {psfm_stage_register_court, PSFM_AT_CAMERAS},    /* nothing without a drawing */
    {psfm_stage_calibrate, PSFM_AT_CAMERAS},         /* nothing if all intrinsics were given */
    {psfm_stage_presolve_cameras, PSFM_AT_CAMERAS},  /* nothing if planes determine them */
    {psfm_stage_measure_noise, PSFM_AT_TWO_VIEWS},   /* thresholds follow it */
    {psfm_stage_verify, PSFM_AT_TWO_VIEWS},          /* homographies, Eq. 1; essential matrices */
    {NULL, PSFM_AT_START},
};

/* and their planes in the pixels. */
static const psfm_step planes[] = {
    {psfm_stage_align_planes, PSFM_AT_ALIGNED}, /* nothing without photographs */
    {NULL, PSFM_AT_START},
};

/* Poses from it. */
static const psfm_step poses[] = {
    {psfm_stage_build_graph, PSFM_AT_GRAPH},     /* every hypothesis of every pair */
    {psfm_stage_solve_poses, PSFM_AT_POSES},     /* Eq. 2 to 7 and Algorithm 1, or robustly */
    {psfm_stage_refine, PSFM_AT_REFINED},        /* bundle adjustment; nothing in paper mode */
    {psfm_stage_place_in_world, PSFM_AT_MODELS}, /* upright, or where the drawing is */
    {psfm_stage_judge, PSFM_AT_MODELS},          /* verdict, models, what became of each image */
    {NULL, PSFM_AT_START},
};

/* Evidence and poses of the features that there are now. *more: photographs need others, and if
 * that shows before there are poses none are sought. */
static psfm_status solve_once(psfm_context *ctx, psfm_sfm *s, bool *more) {
    psfm_status status = psfm_sfm_advance(ctx, pairs, s); /* from where it was entered */
    if (status == PSFM_OK)
        status = psfm_sfm_advance(ctx, planes, s);
    if (status == PSFM_OK)
        status = psfm_need_after_alignment(ctx, s, more);
    if (status != PSFM_OK || *more)
        return status;
    status = psfm_sfm_advance(ctx, poses, s);
    return status == PSFM_OK ? psfm_need_after_verdict(ctx, s, more) : status;
}

psfm_status psfm_sfm_run(psfm_context *ctx, psfm_sfm *s) {
    bool more = false;
    psfm_status status = psfm_check_stack(ctx);
    if (status == PSFM_OK)
        status = psfm_stage_check(ctx, s);
    if (status == PSFM_OK)
        status = solve_once(ctx, s, &more);
    while (status == PSFM_OK && more) { /* twice at most: each question is asked once */
        psfm_sfm_rewind(s, PSFM_AT_MATCHES);
        status = psfm_give_more_features(ctx, s);
        if (status == PSFM_OK)
            status = solve_once(ctx, s, &more);
    }
    if (status == PSFM_OK)
        status = psfm_stage_colour(ctx, s);
    if (status == PSFM_OK)
        status = psfm_stage_write(ctx, s); /* nothing without a folder for results */
    return status;
}

psfm_status psfm_sfm_verify(psfm_context *ctx, psfm_sfm *s) {
    psfm_status status = psfm_stage_check(ctx, s);
    return status == PSFM_OK ? psfm_sfm_advance(ctx, pairs, s) : status;
}

/* Runs, hands the summary out and closes. */
static psfm_status run_and_close(psfm_context *ctx, psfm_sfm *s, cJSON **summary) {
    psfm_status status = psfm_sfm_run(ctx, s);
    if (summary != NULL) {
        *summary = s->summary;
        s->summary = NULL;
    }
    psfm_sfm_close(s);
    return status;
}

psfm_status psfm_run(psfm_context *ctx, const char *folder, const char *out_folder,
                     const psfm_run_options *options, cJSON **summary) {
    psfm_sfm s;
    char *database = NULL;
    if (summary != NULL)
        *summary = NULL;
    psfm_status status = psfm_path_check(ctx, folder);
    if (status == PSFM_OK)
        status = psfm_path_check(ctx, out_folder);
    if (status == PSFM_OK)
        status = psfm_path_join(ctx, out_folder, "database.db", &database);
    if (status != PSFM_OK)
        return status;
    psfm_sfm_open(options, &s);
    s.photo_folder = folder;
    s.database = database;
    s.out_folder = out_folder;
    status = run_and_close(ctx, &s, summary);
    free(database);
    return status;
}

psfm_status psfm_run_photographs(psfm_context *ctx, const char *folder,
                                 const psfm_run_settings *settings, const char *out_folder) {
    psfm_status status = psfm_check_given(ctx, "psfm_run_photographs",
                                          ctx != NULL && folder != NULL && out_folder != NULL);
    return status == PSFM_OK ? psfm_run(ctx, folder, out_folder, settings, NULL) : status;
}

psfm_status psfm_run_matches(psfm_context *ctx, const char *database, const psfm_settings *settings,
                             const char *out_folder, cJSON **summary) {
    psfm_sfm s;
    if (summary != NULL)
        *summary = NULL;
    psfm_status status = psfm_path_check(ctx, database);
    if (status == PSFM_OK)
        status = psfm_path_check(ctx, out_folder);
    if (status != PSFM_OK)
        return status;
    psfm_sfm_open(NULL, &s);
    if (settings != NULL)
        s.asked.settings = *settings;
    s.photo_folder = s.asked.settings.photo_folder;
    s.database = database;
    s.out_folder = out_folder;
    s.stage = PSFM_AT_MATCHES;
    return run_and_close(ctx, &s, summary);
}

psfm_status psfm_reconstruct_database(psfm_context *ctx, const char *database,
                                      const psfm_settings *settings, const char *out_folder) {
    psfm_status status = psfm_check_given(ctx, "psfm_reconstruct_database",
                                          ctx != NULL && database != NULL && out_folder != NULL);
    return status == PSFM_OK ? psfm_run_matches(ctx, database, settings, out_folder, NULL) : status;
}
