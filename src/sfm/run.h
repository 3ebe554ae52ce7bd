/* A whole run: from photographs or matches to poses, and to files. */
#ifndef PSFM_SFM_RUN_H
#define PSFM_SFM_RUN_H

#include "sfm/state.h"

/* Runs the stages after s->stage, in their order. Nothing posed is an error only if results are
 * written; otherwise there are no models then, and every image has a reason. */
psfm_status psfm_sfm_run(psfm_context *ctx, psfm_sfm *s);

/* Runs them up to the verification of the pairs. */
psfm_status psfm_sfm_verify(psfm_context *ctx, psfm_sfm *s);

/* Extracts, matches and reconstructs: out_folder/database.db, and what psfm_reconstruct_database
 * writes, with colours and with the facts of extraction and matching in the summary. Interrupted at
 * any point, the next call goes on and ends with the same models. *summary (NULL: not wanted) is
 * the tree of summary.json, freed by the caller with cJSON_Delete; NULL if it did not come that
 * far. */
psfm_status psfm_run(psfm_context *ctx, const char *folder, const char *out_folder,
                     const psfm_run_options *options, cJSON **summary);

/* psfm_reconstruct_database, with the summary. */
psfm_status psfm_run_matches(psfm_context *ctx, const char *database, const psfm_settings *settings,
                             const char *out_folder, cJSON **summary);

#endif
