/* planarsfm eval: models against the truth. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "core/base/alloc.h"
#include "core/base/context.h"
#include "core/base/path.h"
#include "eval/evaluate.h"
#include "world/align_points.h"

static const char *const positional[] = {"GT", "EST", NULL};
static const cli_flag flags[] = {
    {"--common", NULL, "compare the images that both have, as if GT had no others", 0},
    {"--json", NULL, "print JSON instead of a table", 0},
    {0},
};

/* Reads EST: a model folder, or a folder of models named 0, 1, 2, ... */
static psfm_status read_models(psfm_context *ctx, const char *folder, psfm_model **models,
                               size_t *num_models) {
    size_t capacity = 0;
    for (size_t k = 0;; ++k) {
        char name[32], *path = NULL;
        snprintf(name, sizeof name, "%zu", k);
        psfm_status status = psfm_path_join(ctx, folder, name, &path);
        bool is_there = status == PSFM_OK && psfm_path_is_folder(path);
        if (status == PSFM_OK && !is_there && k > 0) {
            free(path);
            return PSFM_OK;
        }
        if (status == PSFM_OK)
            status = PSFM_RESERVE(ctx, models, &capacity, k + 1);
        if (status == PSFM_OK)
            status = psfm_model_read(ctx, is_there ? path : folder, &(*models)[k]);
        free(path);
        if (status != PSFM_OK)
            return status;
        *num_models = k + 1;
        if (!is_there)
            return PSFM_OK;
    }
}

static void print_row(const char *name, const double *values) {
    printf("%-24s", name);
    for (int k = 0; k < PSFM_NUM_AUC; ++k)
        printf(" %7.2f", values[k]);
    printf("\n");
}

static void print_table(const psfm_evaluation *e, const psfm_track_fit *fit) {
    printf("registered %zu of %zu images in %zu model%s, %zu pairs", e->num_registered,
           e->num_images, e->num_components, e->num_components == 1 ? "" : "s", e->num_pairs);
    if (e->pair_step > 1)
        printf(" (one in %zu)", e->pair_step);
    printf("\n\n");
    print_row("AUC (%) at degrees", psfm_auc_thresholds_deg);
    print_row("rotation", e->auc_rotation);
    print_row("translation direction", e->auc_translation);
    print_row("max of both", e->auc_max);
    if (isinf(e->median_rotation_deg))
        printf("\nmedian error: none, more than half of the pairs have an image without a pose; "
               "--common compares the others\n");
    else
        printf("\nmedian error: rotation %.4f deg, translation direction %.4f deg\n",
               e->median_rotation_deg, e->median_translation_deg);
    printf("position error after alignment: median %.4g, 90 %% %.4g, largest %.4g "
           "(cameras span %.4g)\n",
           e->position_median, e->position_p90, e->position_max, e->scene_extent);
    if (fit->num_observations > 0)
        printf("fit to %zu observations of tracks: these poses %.3f px, the true ones %.3f px\n",
               fit->num_observations, fit->estimate_px, fit->truth_px);
}

static bool is_registered(const char *name, const psfm_model *models, size_t num) {
    for (size_t k = 0; k < num; ++k)
        if (psfm_model_image_by_name(&models[k], name) != NULL)
            return true;
    return false;
}

/* Leaves the truth the images that the models have. */
static void keep_common(psfm_model *truth, const psfm_model *models, size_t num) {
    size_t kept = 0;
    for (size_t k = 0; k < truth->num_images; ++k) {
        psfm_model_image *image = &truth->images[k];
        if (is_registered(image->name, models, num)) {
            truth->images[kept++] = *image;
            continue;
        }
        free(image->name);
        free(image->keypoints);
        free(image->point3D_ids);
    }
    truth->num_images = kept;
}

static psfm_status work_eval(psfm_context *ctx, const cli_arguments *arguments) {
    psfm_model truth = {0}, *models = NULL;
    size_t num_models = 0;
    psfm_evaluation evaluation;
    psfm_track_fit fit;
    psfm_status status = psfm_model_read(ctx, arguments->positional[0], &truth);
    if (status == PSFM_OK)
        status = read_models(ctx, arguments->positional[1], &models, &num_models);
    if (status == PSFM_OK && cli_flag_value(&cli_eval, arguments, "--common") != NULL)
        keep_common(&truth, models, num_models);
    if (status == PSFM_OK)
        status = psfm_evaluate(ctx, &truth, models, num_models, &evaluation);
    if (status == PSFM_OK)
        status = psfm_track_fit_measure(ctx, &truth, &models[0], &fit);
    if (status == PSFM_OK && cli_flag_value(&cli_eval, arguments, "--json") != NULL)
        status = cli_print_json(ctx, psfm_evaluation_to_json(&evaluation, &fit));
    else if (status == PSFM_OK)
        print_table(&evaluation, &fit);
    for (size_t k = 0; k < num_models; ++k)
        psfm_model_free(&models[k]);
    free(models);
    psfm_model_free(&truth);
    return status;
}

const cli_command cli_eval = {
    .name = "eval",
    .summary = "compares poses with ground truth",
    .usage = "GT EST [--common] [--json]",
    .description =
        "GT is a COLMAP model folder; EST is one too, or a folder with models 0, 1, 2, ... such "
        "as\n"
        "OUT/model. Images are matched by name. Prints the AUC of the pairwise errors of relative\n"
        "rotation, translation direction, and the larger of both, over all pairs of GT (of more\n"
        "than four million over as many, drawn evenly); a pair whose images are not in one model\n"
        "counts as failed. Then the position error of the largest model after a robust\n"
        "similarity alignment. If it has points, how well their tracks fit its poses, and how\n"
        "well the true ones: a truth that fits worse is not exact enough to judge by.\n\n"
        "    planarsfm eval demo/gt demo/out/model",
    .positional = positional,
    .flags = flags,
    .work = work_eval,
};
