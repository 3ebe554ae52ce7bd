/* Whether two machines see the same file. */
#ifndef PSFM_INTAKE_FILE_PRINT_H
#define PSFM_INTAKE_FILE_PRINT_H

#include <stdint.h>

#include "base/context.h"

/* A number of a file's size and of 16 kB from its start, its middle and its end: files of
 * photographs with equal ones are the same. 0 if there is no such file, which is no failure. */
psfm_status psfm_file_print(psfm_context *ctx, const char *path, uint64_t *print);

/* Fails: this machine sees another file, a `what`, than the first rank. */
psfm_status psfm_file_differs(psfm_context *ctx, const char *folder, const char *name,
                              const char *what);

#endif
