/* Camera poses from a COLMAP database of matches. */
#ifndef PLANARSFM_RECONSTRUCT_H
#define PLANARSFM_RECONSTRUCT_H

#include "planarsfm/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The settings of a reconstruction: every option of `planarsfm reconstruct` by its name. */
typedef struct psfm_settings psfm_settings;

/* Creates settings with all defaults; NULL only when memory is out. */
PSFM_API psfm_settings *psfm_settings_create(void);
/* Frees *settings and sets it to NULL. */
PSFM_API void psfm_settings_destroy(psfm_settings **settings);

/* Sets one option, as the command has it (docs/cli.md) without its leading dashes: ("mode",
 * "paper"),
 * ("scale", "10"), ("twoview.max-error-px", "3"), ("images", "photographs"), ("geometries", "on");
 * '_' may stand for '-' and '.'. Values are text; a switch is "on" or "off". Setting the mode
 * resets everything else to the defaults of that mode, so set it first. PSFM_ERR_ARGUMENT names
 * what is allowed; nothing is changed then. */
PSFM_API psfm_status psfm_settings_set(psfm_context *ctx, psfm_settings *settings, const char *name,
                                       const char *value);

/* Metric scale from a known distance between two image points on the dominant plane, each given as
 * "IMAGE:x,y"; metres as text. The same as the option "distance", for names of any letters. */
PSFM_API psfm_status psfm_settings_set_distance(psfm_context *ctx, psfm_settings *settings,
                                                const char *point1, const char *point2,
                                                const char *metres);

/* Reads matches from a COLMAP database, verifies them, finds the poses, and writes
 * out_folder/model/0, 1, ... (COLMAP text models, largest first), out_folder/summary.json,
 * graph.json and report.html; in robust mode also out_folder/planes.json and planes.ply.
 * Verified homographies are kept in the database's planarsfm_ tables and used again when matches
 * and options have not changed. settings NULL = defaults. PSFM_ERR_DATA, with summary.json
 * written, if no image could be posed. */
PSFM_API psfm_status psfm_reconstruct_database(psfm_context *ctx, const char *database,
                                               const psfm_settings *settings,
                                               const char *out_folder);

#ifdef __cplusplus
}
#endif
#endif
