/* Checked allocation. Sizes are multiplied with an overflow check; failure is a status with a
 * message, never an abort. Tests can make any allocation fail. */
#ifndef PSFM_BASE_ALLOC_H
#define PSFM_BASE_ALLOC_H

#include <stddef.h>

#include "core/base/context.h"

/* Allocates `count` zeroed elements into *out, whose type says how large they are: with `double
 * *x`, PSFM_ALLOC(ctx, n, &x). A count of zero gives a valid pointer that can be freed. On failure
 * *out is NULL. */
#define PSFM_ALLOC(ctx, count, out) psfm_alloc((ctx), (count), sizeof **(out), (out))

/* Makes room for at least `need` elements in *array, whose capacity is *capacity, growing by
 * half; new elements are zeroed. On failure nothing changes. */
#define PSFM_RESERVE(ctx, array, capacity, need) \
    psfm_reserve((ctx), (array), (capacity), (need), sizeof **(array))

/* The same for elements of `size` bytes, where the type does not say it. `out` and `array` are the
 * addresses of pointers to objects of any type. */
psfm_status psfm_alloc(psfm_context *ctx, size_t count, size_t size, void *out);
psfm_status psfm_reserve(psfm_context *ctx, void *array, size_t *capacity, size_t need,
                         size_t size);

/* Copies a string. */
psfm_status psfm_strdup(psfm_context *ctx, const char *text, char **out);

/* Test hook: the n-th allocation from now fails (1 = the next one); 0 turns it off. Process-wide,
 * for single-threaded tests only. */
void psfm_alloc_fail_after(size_t n);

#endif
