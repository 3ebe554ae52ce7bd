/* Settings: the options of a reconstruction by name. */
#ifndef PSFM_PIPELINE_SETTINGS_H
#define PSFM_PIPELINE_SETTINGS_H

#include "pipeline/reconstruct.h"
#include "planarsfm/reconstruct.h"

/* Owns the names of the images in options.frame.distance, and the folder. */
struct psfm_settings {
    psfm_reconstruct_options options;
    char *photo_folder; /* for colours; NULL: none */
    bool no_report;     /* leave OUT/report.html out */
};

/* Frees what the settings own. */
void psfm_settings_clear(psfm_settings *settings);

/* Finds "prefix.name" among the option groups; false if there is none. */
bool psfm_settings_find(const char *name, const psfm_option_group **group, const psfm_option **row);

#endif
