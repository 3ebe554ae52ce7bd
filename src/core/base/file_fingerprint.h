/* Whether two machines see the same file. */
#ifndef PSFM_BASE_FILE_FINGERPRINT_H
#define PSFM_BASE_FILE_FINGERPRINT_H

#include <stdint.h>

#include "core/base/context.h"

/* A number of a file's size and of 16 kB from its start, its middle and its end: files of
 * photographs with equal ones are the same. 0 if there is no such file, which is no failure. */
psfm_status psfm_file_print(psfm_context *ctx, const char *path, uint64_t *print);

/* Fails with PSFM_ERR_DATA unless this machine sees the file, a `what`, that has this print where
 * the first rank is. */
psfm_status psfm_file_compare(psfm_context *ctx, const char *path, const char *what,
                              uint64_t print);

#endif
