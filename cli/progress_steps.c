/* Steps of a run, and what they cost beside each other.
 *
 * The library tells of some twenty stages that nest and repeat; a user wants to see the half dozen
 * things that a run does. The weights are seconds measured on a ring of 46 photographs of 1280 x
 * 720 pixels, per image or per pair; only their ratios matter. */
#include "progress_steps.h"

#include <string.h>

enum { FEATURES, MATCHING, COURT, PLANES, PATCHES, POSES, TRACKS, RESULTS, OTHER, NUM_STEPS };

static const struct {
    const char *label;
    double per_image, per_pair;
    bool is_whole; /* one stage is all of it */
} steps[NUM_STEPS] = {
    [FEATURES] = {"features", 0.68, 0.0, true}, [MATCHING] = {"matching", 0.0, 0.11, true},
    [COURT] = {"court", 0.0, 0.0, false},       [PLANES] = {"planes", 0.0, 0.12, false},
    [PATCHES] = {"patches", 0.0, 0.06, false},  [POSES] = {"poses", 0.85, 0.0, false},
    [TRACKS] = {"fine poses", 1.5, 0.0, false}, [RESULTS] = {"results", 0.15, 0.0, false},
    [OTHER] = {NULL, 0.0, 0.0, true},
};

static const struct {
    const char *stage;
    int step;
} stages[] = {
    {"features", FEATURES},
    {"matching", MATCHING},
    {"court", COURT},
    {"floors", COURT},
    {"court again", COURT},
    {"load keypoints", PLANES},
    {"two-view geometry", PLANES},
    {"refine matches", PATCHES},
    {"similarity", POSES},
    {"consensus", POSES},
    {"refinement", POSES},
    {"bundle", POSES},
    {"lines", POSES},
    {"align tracks", TRACKS},
    {"colours", RESULTS},
    {"thumbnails", RESULTS},
};

/* Poses that are made before the patches only measure noise, those after the tracks go on with
 * them: neither is a step of its own. */
int cli_steps_find(cli_steps *run, const char *stage) {
    int step = OTHER;
    for (size_t k = 0; k < sizeof stages / sizeof *stages; ++k)
        if (strcmp(stages[k].stage, stage) == 0)
            step = stages[k].step;
    if (step == POSES && run->plan.patches && !run->steps.steps[PATCHES].is_begun)
        return PLANES;
    if (step == POSES && run->steps.steps[TRACKS].is_begun)
        return TRACKS;
    return step;
}

const char *cli_steps_label(int step, const char *stage) {
    return steps[step].label == NULL ? stage : steps[step].label;
}

bool cli_steps_is_whole(int step) {
    return steps[step].is_whole;
}

static bool is_planned(const cli_plan *plan, int step) {
    switch (step) {
    case FEATURES:
    case MATCHING:
        return plan->photographs;
    case COURT:
        return plan->court;
    case PATCHES:
    case TRACKS:
        return plan->patches;
    case RESULTS: /* colours and previews */
        return plan->photographs || plan->patches;
    default:
        return plan->poses && step != OTHER;
    }
}

static double weigh_step(const cli_steps *run, int step) {
    double images = steps[step].per_image * (double)run->num_images;
    double pairs = steps[step].per_pair * (double)run->num_pairs;
    if (!is_planned(&run->plan, step))
        return 0.0;
    return images + pairs > 0.0 ? images + pairs : -1.0;
}

void cli_steps_learn(cli_steps *run, const char *stage, size_t total) {
    if (!run->is_started)
        psfm_run_steps_init(NUM_STEPS, &run->steps);
    run->is_started = true;
    if (strcmp(stage, "features") == 0 || strcmp(stage, "load keypoints") == 0)
        run->num_images = total;
    if (strcmp(stage, "matching") == 0 || strcmp(stage, "two-view geometry") == 0)
        run->num_pairs = total;
    for (int k = 0; k < NUM_STEPS; ++k)
        run->steps.steps[k].weight = weigh_step(run, k);
    if (!run->plan.poses) /* a command of one step */
        run->steps.steps[cli_steps_find(run, stage)].weight = 1.0;
}
