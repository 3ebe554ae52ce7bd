/* Settings: the options of a reconstruction by name. */
#ifndef PSFM_PIPELINE_SETTINGS_H
#define PSFM_PIPELINE_SETTINGS_H

#include "pipeline/reconstruct.h"
#include "planarsfm/reconstruct.h"

struct psfm_settings {
    psfm_reconstruct_options options;
};

/* Finds "prefix.name" among the option groups; false if there is none. */
bool psfm_settings_find(const char *name, const psfm_option_group **group, const psfm_option **row);

#endif
