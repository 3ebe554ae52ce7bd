/* Settings: the options of a reconstruction by name. */
#ifndef PSFM_PIPELINE_SETTINGS_H
#define PSFM_PIPELINE_SETTINGS_H

#include "court/target.h"
#include "pipeline/reconstruct.h"
#include "planarsfm/reconstruct.h"

/* Owns its texts and the names of the images in options.frame.distance. */
struct psfm_settings {
    psfm_reconstruct_options options;
    char *photo_folder;  /* for colours; NULL: none */
    bool no_report;      /* leave OUT/report.html out */
    bool geometries;     /* write the verification into COLMAP's two_view_geometries, too */
    char *court;         /* kinds of the courts on the floor; NULL: none */
    char *court_size;    /* "LENGTH,WIDTH"; NULL: the usual one */
    char *drawing;       /* file of a drawing on the floor; NULL: none */
    double drawing_unit; /* metres a unit of that file has; 0: what it says */
};

static inline bool psfm_settings_have_drawing(const psfm_settings *settings) {
    return settings != NULL && (settings->court != NULL || settings->drawing != NULL);
}

/* Frees what the settings own. */
void psfm_settings_clear(psfm_settings *settings);

/* What the settings say is on the floor; empty if nothing. PSFM_ERR_ARGUMENT if they do not go
 * together. Free in any case. */
psfm_status psfm_settings_open_target(psfm_context *ctx, const psfm_settings *settings,
                                      psfm_court_target *target);

/* Whether a reconstruction can use it: it needs photographs, and robust mode. */
psfm_status psfm_settings_check_drawing(psfm_context *ctx, const psfm_settings *settings);

/* Finds "prefix.name" among the option groups; false if there is none. */
bool psfm_settings_find(const char *name, const psfm_option_group **group, const psfm_option **row);

#endif
