/* Reading HDF5 files: where datasets are, and their numbers. HDF5 is not safe with several threads:
 * one at a time. */
#ifndef PSFM_FORMATS_HDF5_FILE_H
#define PSFM_FORMATS_HDF5_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/context.h"

/* An open file. */
typedef struct {
    psfm_context *ctx;
    const char *path; /* the caller's, for messages */
    int64_t file;     /* HDF5's number for it */
} psfm_h5;

psfm_status psfm_h5_open(psfm_context *ctx, const char *path, psfm_h5 *out);
/* Safe on a zeroed one. */
void psfm_h5_close(psfm_h5 *h5);

/* Names in the order of their bytes. Owns them. */
typedef struct {
    char **names;
    size_t num, capacity;
} psfm_h5_names;

/* The groups, as paths without a leading '/', that hold a dataset of this name. */
psfm_status psfm_h5_find_groups(psfm_h5 *h5, const char *dataset, psfm_h5_names *out);
void psfm_h5_names_free(psfm_h5_names *names);

/* Whether group/name is there. An empty group is the root. */
bool psfm_h5_has(const psfm_h5 *h5, const char *group, const char *name);

/* Reads the dataset group/name of numbers of any kind (half precision, too) as floats or
 * integers: a matrix of rows x cols, row by row; a vector has one column. Up to 2^28 numbers. The
 * caller frees *values with free. Integers that do not fit are clipped. */
psfm_status psfm_h5_read_f32(psfm_h5 *h5, const char *group, const char *name, float **values,
                             size_t *rows, size_t *cols);
psfm_status psfm_h5_read_i32(psfm_h5 *h5, const char *group, const char *name, int32_t **values,
                             size_t *rows, size_t *cols);

#endif
