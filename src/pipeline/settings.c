/* Options by name. Every option of a reconstruction is a row of a table; the few names that are
 * not (mode, photographs, drawing, scale, report) are handled here. */
#include "pipeline/settings.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number_locale.h"
#include "base/path.h"
#include "io/court_request.h"

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

static void forget_distance(psfm_settings *settings) {
    psfm_known_distance *known = &settings->options.frame.distance;
    free((void *)(uintptr_t)known->image1);
    free((void *)(uintptr_t)known->image2);
    *known = (psfm_known_distance){0};
}

void psfm_settings_clear(psfm_settings *settings) {
    forget_distance(settings);
    char **texts[] = {&settings->photo_folder, &settings->court, &settings->court_size,
                      &settings->drawing};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; ++k) {
        free(*texts[k]);
        *texts[k] = NULL;
    }
    settings->no_report = settings->geometries = false;
    settings->drawing_unit = 0.0;
}

/* Replaces a text that the settings own. */
static psfm_status set_text(psfm_context *ctx, char **text, const char *value) {
    char *copy = NULL;
    psfm_status status = psfm_strdup(ctx, value, &copy);
    if (status == PSFM_OK) {
        free(*text);
        *text = copy;
    }
    return status;
}

static psfm_status set_photo_folder(psfm_context *ctx, psfm_settings *settings,
                                    const char *folder) {
    if (!psfm_path_is_folder(folder))
        return psfm_fail(ctx, PSFM_ERR_IO, "%s: no such folder of photographs", folder);
    return set_text(ctx, &settings->photo_folder, folder);
}

/* A positive number from text. */
static psfm_status positive(psfm_context *ctx, const char *name, const char *text, double *value) {
    double x;
    if (!psfm_parse_number(text, &x) || !(x > 0.0))
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%s: '%s' is not a positive number", name, text);
    *value = x;
    return PSFM_OK;
}

psfm_status psfm_settings_set_distance(psfm_context *ctx, psfm_settings *settings,
                                       const char *point1, const char *point2, const char *metres) {
    psfm_known_distance known = {0};
    char *image1 = NULL, *image2 = NULL;
    psfm_status status = psfm_parse_image_point(ctx, point1, &image1, known.xy1);
    if (status == PSFM_OK)
        status = psfm_parse_image_point(ctx, point2, &image2, known.xy2);
    if (status == PSFM_OK)
        status = positive(ctx, "distance", metres, &known.metres);
    if (status != PSFM_OK) {
        free(image1);
        free(image2);
        return status;
    }
    forget_distance(settings);
    known.image1 = image1;
    known.image2 = image2;
    settings->options.frame.distance = known;
    return PSFM_OK;
}

bool psfm_settings_find(const char *name, const psfm_option_group **group,
                        const psfm_option **row) {
    const char *dot = strchr(name, '.');
    if (dot == NULL)
        return false;
    size_t length = (size_t)(dot - name);
    for (const psfm_option_group *g = psfm_reconstruct_option_groups; g->table != NULL; ++g) {
        if (strlen(g->table->prefix) != length || strncmp(g->table->prefix, name, length) != 0)
            continue;
        *row = psfm_options_find(g->table, dot + 1);
        *group = g;
        if (*row != NULL)
            return true;
    }
    return false;
}

static psfm_status switched(psfm_context *ctx, const char *name, const char *value, bool *is_on) {
    if (strcmp(value, "on") != 0 && strcmp(value, "off") != 0)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%s: '%s' is not allowed (on | off)", name, value);
    *is_on = strcmp(value, "on") == 0;
    return PSFM_OK;
}

psfm_status psfm_settings_set(psfm_context *ctx, psfm_settings *settings, const char *name,
                              const char *value) {
    if (strcmp(name, "mode") == 0) {
        psfm_mode mode;
        if (!psfm_mode_from_name(value, &mode))
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "mode: '%s' is not allowed (%s)", value,
                             PSFM_MODE_CHOICES);
        psfm_settings_clear(settings);
        psfm_reconstruct_options_init(mode, &settings->options);
        return PSFM_OK;
    }
    if (strcmp(name, "images") == 0)
        return set_photo_folder(ctx, settings, value);
    if (strcmp(name, "court") == 0)
        return set_text(ctx, &settings->court, value);
    if (strcmp(name, "court-size") == 0)
        return set_text(ctx, &settings->court_size, value);
    if (strcmp(name, "drawing") == 0)
        return set_text(ctx, &settings->drawing, value);
    if (strcmp(name, "drawing-scale") == 0)
        return positive(ctx, name, value, &settings->drawing_unit);
    if (strcmp(name, "scale") == 0)
        return positive(ctx, name, value, &settings->options.frame.scale);
    if (strcmp(name, "geometries") == 0)
        return switched(ctx, name, value, &settings->geometries);
    if (strcmp(name, "report") == 0) {
        bool wanted = !settings->no_report;
        psfm_status status = switched(ctx, name, value, &wanted);
        settings->no_report = !wanted;
        return status;
    }
    const psfm_option_group *group;
    const psfm_option *row;
    if (!psfm_settings_find(name, &group, &row))
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "there is no option '%s'", name);
    return psfm_option_set(ctx, group->table, row, value,
                           (char *)&settings->options + group->offset);
}

psfm_status psfm_settings_check_drawing(psfm_context *ctx, const psfm_settings *settings) {
    psfm_court_target target;
    psfm_status status = psfm_settings_open_target(ctx, settings, &target);
    psfm_court_target_free(&target);
    if (status == PSFM_OK && psfm_settings_have_drawing(settings) &&
        (settings->photo_folder == NULL || settings->options.mode != PSFM_MODE_ROBUST))
        status = psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                           "a court or drawing needs the photographs (--images) and robust mode");
    return status;
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
