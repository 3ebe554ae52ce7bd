#include "pipeline/settings.h"

#include <stdlib.h>
#include <string.h>

psfm_settings *psfm_settings_create(void) {
    psfm_settings *settings = malloc(sizeof *settings);
    if (settings != NULL)
        psfm_reconstruct_options_init(PSFM_MODE_DEFAULT, &settings->options);
    return settings;
}

void psfm_settings_destroy(psfm_settings **settings) {
    if (settings == NULL)
        return;
    free(*settings);
    *settings = NULL;
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

psfm_status psfm_settings_set(psfm_context *ctx, psfm_settings *settings, const char *name,
                              const char *value) {
    if (strcmp(name, "mode") == 0) {
        psfm_mode mode;
        if (!psfm_mode_from_name(value, &mode))
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "mode: '%s' is not allowed (%s)", value,
                             PSFM_MODE_CHOICES);
        psfm_reconstruct_options_init(mode, &settings->options);
        return PSFM_OK;
    }
    const psfm_option_group *group;
    const psfm_option *row;
    if (!psfm_settings_find(name, &group, &row))
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "there is no option '%s'", name);
    return psfm_option_set(ctx, group->table, row, value,
                           (char *)&settings->options + group->offset);
}
