/* Settings: what is asked for; sfm/registry.h has it by name. */
#ifndef PSFM_SFM_SETTINGS_H
#define PSFM_SFM_SETTINGS_H

#include "court/target.h"
#include "frontend/extract_folder.h"
#include "frontend/match_images.h"
#include "planarsfm/reconstruct.h"
#include "planarsfm/run.h"
#include "sfm/reconstruct_options.h"

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

typedef struct {
    char **paths;
    size_t num, capacity;
} psfm_weights_paths;

/* All that a run is asked for: extraction, matching, reconstruction. Owns its texts. */
struct psfm_run_settings {
    psfm_folder_options folder; /* looks at the texts below, */
    psfm_match_options match;   /* and so does this */
    psfm_settings settings;
    char *cameras, *camera, *images_list, *masks, *pairs;
    psfm_weights_paths weights;
};
typedef struct psfm_run_settings psfm_run_options;

static inline bool psfm_settings_have_drawing(const psfm_settings *settings) {
    return settings != NULL && (settings->court != NULL || settings->drawing != NULL);
}

/* Defaults of a mode. */
void psfm_run_options_init(psfm_mode mode, psfm_run_options *options);
/* Frees what the options own. */
void psfm_run_options_free(psfm_run_options *options);

/* Frees what the settings own. */
void psfm_settings_clear(psfm_settings *settings);

/* What the settings say is on the floor; empty if nothing. PSFM_ERR_ARGUMENT if they do not go
 * together. Free in any case. */
psfm_status psfm_settings_open_target(psfm_context *ctx, const psfm_settings *settings,
                                      psfm_court_target *target);

#endif
