/* Locks between runs: who writes to a folder or a database has it alone. A lock ends with its
 * process, however that ends. */
#ifndef PSFM_BASE_LOCK_H
#define PSFM_BASE_LOCK_H

#include "core/base/context.h"

/* A lock that is held. Zero-initialise. */
typedef struct {
    int descriptor; /* 0 if there is none */
    char *path;     /* of a lock file that goes with the lock; NULL for a folder */
} psfm_lock;

/* Locks a folder that exists. Leaves nothing in it. PSFM_ERR_IO if another run has it. Where the
 * file system knows no locks there is none, and that is no failure. */
psfm_status psfm_lock_folder(psfm_context *ctx, const char *folder, psfm_lock *lock);
/* Locks what is going to be written under `path` by a file PATH.lock. */
psfm_status psfm_lock_file(psfm_context *ctx, const char *path, psfm_lock *lock);
/* Gives it back; safe on a zeroed one. */
void psfm_lock_release(psfm_lock *lock);

#endif
