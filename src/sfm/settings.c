/* Settings and what they own. */
#include "sfm/settings.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/number_locale.h"
#include "formats/court_request.h"
#include "sfm/registry.h"

psfm_settings *psfm_settings_create(void) {
    psfm_settings *settings = calloc(1, sizeof *settings);
    if (settings != NULL)
        psfm_reconstruct_options_init(PSFM_MODE_DEFAULT, &settings->options);
    return settings;
}

void psfm_settings_destroy(psfm_settings **settings) {
    if (settings == NULL || *settings == NULL)
        return;
    psfm_settings_clear(*settings);
    free(*settings);
    *settings = NULL;
}

void psfm_run_options_init(psfm_mode mode, psfm_run_options *options) {
    memset(options, 0, sizeof *options);
    for (const psfm_option_group *g = psfm_run_groups; g->table != NULL; ++g)
        if (!(g->parts & PSFM_OF_POSES))
            psfm_options_init(g->table, (char *)options + g->offset);
    psfm_reconstruct_options_init(mode, &options->settings.options);
}

psfm_run_settings *psfm_run_settings_create(void) {
    psfm_run_settings *settings = malloc(sizeof *settings);
    if (settings != NULL)
        psfm_run_options_init(PSFM_MODE_DEFAULT, settings);
    return settings;
}

void psfm_run_settings_destroy(psfm_run_settings **settings) {
    if (settings == NULL || *settings == NULL)
        return;
    psfm_run_options_free(*settings);
    free(*settings);
    *settings = NULL;
}

static void forget_distance(psfm_known_distance *known) {
    free(known->image1);
    free(known->image2);
    *known = (psfm_known_distance){0};
}

void psfm_settings_clear(psfm_settings *settings) {
    forget_distance(&settings->options.frame.distance);
    char **texts[] = {&settings->photo_folder, &settings->court, &settings->court_size,
                      &settings->drawing};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; ++k) {
        free(*texts[k]);
        *texts[k] = NULL;
    }
    settings->no_report = settings->geometries = false;
    settings->drawing_unit = 0.0;
}

void psfm_run_options_free(psfm_run_options *options) {
    char *texts[] = {options->cameras, options->camera, options->images_list, options->masks,
                     options->pairs};
    psfm_settings_clear(&options->settings);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; ++k)
        free(texts[k]);
    for (size_t k = 0; k < options->weights.num; ++k)
        free(options->weights.paths[k]);
    free(options->weights.paths);
    *options = (psfm_run_options){0};
}

psfm_status psfm_settings_set_distance(psfm_context *ctx, psfm_settings *settings,
                                       const char *point1, const char *point2, const char *metres) {
    psfm_known_distance known = {0};
    psfm_status status =
        psfm_check_given(ctx, "psfm_settings_set_distance",
                         settings != NULL && point1 != NULL && point2 != NULL && metres != NULL);
    if (status == PSFM_OK)
        status = psfm_parse_image_point(ctx, point1, &known.image1, known.xy1);
    if (status == PSFM_OK)
        status = psfm_parse_image_point(ctx, point2, &known.image2, known.xy2);
    if (status == PSFM_OK && (!psfm_parse_number(metres, &known.metres) || !(known.metres > 0.0)))
        status =
            psfm_fail(ctx, PSFM_ERR_ARGUMENT, "distance: '%s' is not a positive number", metres);
    if (status != PSFM_OK) {
        forget_distance(&known);
        return status;
    }
    forget_distance(&settings->options.frame.distance);
    settings->options.frame.distance = known;
    return PSFM_OK;
}

psfm_status psfm_settings_open_target(psfm_context *ctx, const psfm_settings *settings,
                                      psfm_court_target *target) {
    *target = (psfm_court_target){0};
    if (!psfm_settings_have_drawing(settings))
        return PSFM_OK;
    psfm_court_request request = {settings->court, settings->court_size, settings->drawing,
                                  settings->drawing_unit};
    return psfm_court_request_open(ctx, &request, target);
}
