/* Camera poses from a folder of photographs: features, matches, reconstruction. */
#ifndef PLANARSFM_RUN_H
#define PLANARSFM_RUN_H

#include "planarsfm/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The settings of a run: every option of `planarsfm run` by its name. */
typedef struct psfm_run_settings psfm_run_settings;

/* Creates settings with all defaults; NULL only when memory is out. */
PSFM_API psfm_run_settings *psfm_run_settings_create(void);
/* Frees *settings and sets it to NULL. NULL and a pointer to NULL are fine. */
PSFM_API void psfm_run_settings_destroy(psfm_run_settings **settings);

/* Sets one option, as the command has it (docs/cli.md) without its leading dashes: "cameras",
 * "pairs", "sift.max-num-features", "max-size", "court", ...; '_' may stand for '-' and '.'. Values
 * are text; a switch ("replace", "no-report") is "on" or "off", "weights" may be set again for one
 * more file, and the values of "distance" are one text with blanks between them. Setting "mode"
 * resets what a reconstruction takes (psfm_settings_set), so set it first. PSFM_ERR_ARGUMENT names
 * what is allowed; nothing is changed then. */
PSFM_API psfm_status psfm_run_settings_set(psfm_context *ctx, psfm_run_settings *settings,
                                           const char *name, const char *value);

/* Does what `planarsfm run` does with the photographs below a folder: out_folder/database.db, and
 * what psfm_reconstruct_database writes. settings NULL = defaults. Cancelled or interrupted at any
 * point, the next call goes on and ends with the same models. */
PSFM_API psfm_status psfm_run_photographs(psfm_context *ctx, const char *folder,
                                          const psfm_run_settings *settings,
                                          const char *out_folder);

#ifdef __cplusplus
}
#endif
#endif
