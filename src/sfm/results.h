/* The results of a run in a folder: model/, planes.json, planes.ply, graph.json, summary.json and
 * report.html. They are swapped in together. */
#ifndef PSFM_SFM_RESULTS_H
#define PSFM_SFM_RESULTS_H

#include "core/base/lock.h"

/* A folder whose results are being made. Zero-initialise. */
typedef struct {
    char *folder;     /* where they will be */
    char *staging;    /* where they are written */
    char *own;        /* what holds both during the swap */
    bool is_unlinked; /* no name in the folder is a link into `own` */
    bool is_new;      /* the folder was not there before */
    psfm_lock lock;
} psfm_results;

/* Makes the folder, locks it, and completes or undoes a swap that was interrupted. Refuses, with a
 * sentence and before anything is touched, a folder that another run is writing to, and one where a
 * file stands in the way that is not the result of a run. */
psfm_status psfm_results_open(psfm_context *ctx, const char *folder, psfm_results *results);

/* Puts what is in results->staging in place of all earlier results. Whoever opens a result by its
 * name finds all of the old ones or all of the new ones, also if the process ends at any point;
 * where the file system knows no symbolic links or exchanges, they are moved one after the other,
 * the summary last. */
psfm_status psfm_results_commit(psfm_context *ctx, psfm_results *results);

/* Drops what was not committed, a new folder that stayed empty with it, gives the lock back, frees.
 * Safe on a zeroed one. */
void psfm_results_close(psfm_results *results);

#endif
