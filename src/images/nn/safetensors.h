/* Weights files in the safetensors format: eight bytes with the length of a JSON header, the
 * header with name, type, shape and byte range of each tensor, then the numbers. */
#ifndef PSFM_NN_SAFETENSORS_H
#define PSFM_NN_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/context.h"

#define PSFM_TENSOR_MAX_DIMS 8

typedef enum {
    PSFM_TENSOR_F32,
    PSFM_TENSOR_F16,
    PSFM_TENSOR_OTHER, /* known size, but not for computing: integers, doubles */
} psfm_tensor_type;

typedef struct {
    char *name;
    psfm_tensor_type type;
    int num_dims; /* 0 for a scalar */
    size_t dims[PSFM_TENSOR_MAX_DIMS];
    size_t num_values; /* product of dims */
    size_t begin, end; /* bytes, from the start of the numbers */
} psfm_tensor_info;

/* An open file. Immutable, so several threads may read from it. */
typedef struct psfm_safetensors psfm_safetensors;

/* Maps the file and checks its header: lengths, types, that shapes agree with byte ranges, that
 * ranges lie in the file and do not overlap, that names differ. `purpose` is a noun phrase for the
 * message when there is no file, e.g. "SuperPoint weights (safetensors, names as in ...)". */
psfm_status psfm_safetensors_open(psfm_context *ctx, const char *path, const char *purpose,
                                  psfm_safetensors **out);

/* The same from memory, which must outlive *out; `name` stands for the file in messages. */
psfm_status psfm_safetensors_parse(psfm_context *ctx, const void *bytes, size_t size,
                                   const char *name, psfm_safetensors **out);

/* Unmaps and frees; sets *file to NULL. */
void psfm_safetensors_close(psfm_safetensors **file);

/* The path given at opening. */
const char *psfm_safetensors_name(const psfm_safetensors *file);

/* Identifies the tensors: their names, types, places and numbers. One pass over the file. */
uint64_t psfm_safetensors_fingerprint(const psfm_safetensors *file);

/* All tensors, sorted by name. */
const psfm_tensor_info *psfm_safetensors_list(const psfm_safetensors *file, size_t *num);

/* The tensor of this name, or NULL. O(log n). */
const psfm_tensor_info *psfm_safetensors_find(const psfm_safetensors *file, const char *name);

/* Copies a tensor of F32 or F16 numbers to `out` (num_values floats). A failure names the file and
 * the tensor: absent, of another type, or of another number of values. */
psfm_status psfm_safetensors_read(psfm_context *ctx, const psfm_safetensors *file, const char *name,
                                  size_t num_values, float *out);

#endif
