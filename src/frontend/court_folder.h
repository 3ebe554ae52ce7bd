/* The photographs of a folder registered to a drawing, each by itself. */
#ifndef PSFM_FRONTEND_COURT_FOLDER_H
#define PSFM_FRONTEND_COURT_FOLDER_H

#include <cjson/cJSON.h>

#include "court/target.h"
#include "frontend/intrinsics.h"

typedef struct {
    psfm_court_options court;
    psfm_intrinsics_options intrinsics; /* sharing is ignored */
    bool search_focal;                  /* as if focal lengths were unknown */
    const char *overlay_folder;         /* for photographs with the drawing over them; NULL: none */
} psfm_court_folder_options;

/* What became of a photograph. Owns its parts. */
typedef struct {
    char *name;
    char *problem; /* why it could not be read; NULL if it could */
    psfm_court_pose pose;
} psfm_court_result;

typedef struct {
    psfm_court_result *items; /* by name */
    size_t num, num_accepted;
} psfm_court_results;

/* Registers all photographs below the folder. Intrinsics
 * come from the options; without any, a focal length in a photograph's EXIF data is refined, and
 * one that is not there is searched. A photograph that cannot be read is a result with a problem.
 * Poses are canonical (court/court_evidence.h). Parallel, one photograph in memory per
 * thread, and the same bytes for any number of threads. Free *results in any case. */
psfm_status psfm_court_folder_register(psfm_context *ctx, const char *folder,
                                       const psfm_court_target *target,
                                       const psfm_court_folder_options *options,
                                       psfm_court_results *results);
void psfm_court_results_free(psfm_court_results *results);

/* Everything about them: docs/formats.md. NULL when memory is out. */
cJSON *psfm_court_results_to_json(const psfm_drawing *drawing, const psfm_court_results *results);

/* The accepted photographs as a model without points; photographs of equal cameras share one. The
 * caller frees it with psfm_model_free. */
psfm_status psfm_court_results_to_model(psfm_context *ctx, const psfm_court_results *results,
                                        psfm_model *model);

#endif
