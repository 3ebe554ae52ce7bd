/* Flags that several commands share, applied to the options they stand for. */
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/number_locale.h"
#include "cli.h"
#include "progress.h"

psfm_status cli_set_mode(psfm_context *ctx, int argc, char **argv, psfm_settings *settings) {
    psfm_reconstruct_options_init(PSFM_MODE_DEFAULT, &settings->options);
    for (int k = 1; k + 1 < argc; ++k)
        if (strcmp(argv[k], "--mode") == 0)
            return psfm_settings_set(ctx, settings, "mode", argv[k + 1]);
    return PSFM_OK;
}

psfm_status cli_apply_settings(psfm_context *ctx, const cli_command *command,
                               const cli_arguments *arguments, psfm_settings *settings) {
    static const char *const names[][2] = {{"--plane-points", "bundle.planes"},
                                           {"--ambiguous", "ambiguity.models"},
                                           {"--refine", "bundle.refine"},
                                           {"--camera-model", "calibrate.camera-model"},
                                           {"--scale", "scale"},
                                           {"--refine-matches", "photo.refine-matches"},
                                           {"--court", "court"},
                                           {"--court-size", "court-size"},
                                           {"--drawing", "drawing"},
                                           {"--drawing-scale", "drawing-scale"},
                                           {"--images", "images"}};
    psfm_status status = PSFM_OK;
    for (size_t k = 0; status == PSFM_OK && k < sizeof names / sizeof *names; ++k) {
        const char *value = cli_flag_value(command, arguments, names[k][0]);
        if (value != NULL)
            status = psfm_settings_set(ctx, settings, names[k][1], value);
    }
    if (cli_flag_value(command, arguments, "--no-report") != NULL)
        settings->no_report = true;
    if (cli_flag_value(command, arguments, "--geometries") != NULL)
        settings->geometries = true;
    char **distance = cli_flag_values(command, arguments, "--distance");
    if (status == PSFM_OK && distance != NULL)
        status = psfm_settings_set_distance(ctx, settings, distance[0], distance[1], distance[2]);
    return status;
}

void cli_plan_poses(const psfm_settings *settings, bool from_photographs) {
    const psfm_reconstruct_options *o = &settings->options;
    bool can_align = from_photographs || settings->photo_folder != NULL;
    bool aligns = o->mode == PSFM_MODE_ROBUST && o->photo.control.refine_matches;
    cli_progress_plan(&(cli_plan){.photographs = from_photographs,
                                  .court = psfm_settings_have_drawing(settings),
                                  .patches = can_align && aligns,
                                  .poses = true});
}

psfm_weights_list cli_weights(const cli_arguments *arguments) {
    return (psfm_weights_list){arguments->repeated, arguments->num_repeated};
}

int cli_detector_groups(psfm_detector_options *options, cli_option_group *list) {
    int k = 0;
    list[k++] = (cli_option_group){&psfm_feature_option_table, options, true};
    list[k++] = (cli_option_group){&psfm_superpoint_option_table, &options->superpoint, false};
    list[k++] = (cli_option_group){&psfm_xfeat_option_table, &options->xfeat, false};
    list[k++] = (cli_option_group){&psfm_edgepoint2_option_table, &options->edgepoint2, false};
    return k;
}

int cli_matcher_groups(psfm_matcher_options *options, cli_option_group *list) {
    int k = 0;
    list[k++] = (cli_option_group){&psfm_matcher_option_table, options, true};
    list[k++] = (cli_option_group){&psfm_nearest_float_option_table, &options->nearest, false};
    list[k++] = (cli_option_group){&psfm_superglue_option_table, &options->superglue, false};
    list[k++] = (cli_option_group){&psfm_lightglue_option_table, &options->lightglue, false};
    return k;
}

psfm_status cli_apply_sharing(psfm_context *ctx, const cli_command *command,
                              const cli_arguments *arguments, psfm_camera_sharing *sharing) {
    const char *name = cli_flag_value(command, arguments, "--share-cameras");
    if (name == NULL || psfm_camera_sharing_from_name(name, sharing))
        return PSFM_OK;
    return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "--share-cameras: '%s' is not allowed (%s)", name,
                     PSFM_SHARE_CHOICES);
}

psfm_status cli_apply_photographs(psfm_context *ctx, const cli_command *command,
                                  const cli_arguments *arguments, psfm_folder_options *options) {
    psfm_intrinsics_options *in = &options->intrinsics;
    in->cameras_path = cli_flag_value(command, arguments, "--cameras");
    in->camera_text = cli_flag_value(command, arguments, "--camera");
    in->opencv_pixels = cli_flag_value(command, arguments, "--opencv-pixels") != NULL;
    options->list_path = cli_flag_value(command, arguments, "--images-list");
    options->replace = cli_flag_value(command, arguments, "--replace") != NULL;
    options->mask_folder = cli_flag_value(command, arguments, "--masks");
    options->weights = cli_weights(arguments);
    psfm_status status = cli_apply_sharing(ctx, command, arguments, &in->sharing);
    if (status != PSFM_OK)
        return status;
    const char *size = cli_flag_value(command, arguments, "--max-size");
    if (size == NULL)
        return PSFM_OK;
    const psfm_option_table *table = &psfm_extract_option_table;
    return psfm_option_set(ctx, table, psfm_options_find(table, "max-image-size"), size,
                           &options->extract);
}

psfm_status cli_find_court(psfm_context *ctx, const cli_command *command,
                           const cli_arguments *arguments, psfm_court *court) {
    return psfm_court_parse(ctx, cli_flag_value(command, arguments, "--court"),
                            cli_flag_value(command, arguments, "--court-size"), court);
}
