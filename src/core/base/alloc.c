/* Checked allocation. Memory comes zeroed from calloc, so that a struct that was allocated but not
 * filled can be freed; products of count and size are checked for overflow; an empty array gets
 * one byte, so that NULL always means failure. Growing is by half, O(1) per element appended.
 *
 * A countdown lets tests make the n-th allocation fail and so walk every error path. */
#include "core/base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static size_t fail_countdown;

void psfm_alloc_fail_after(size_t n) {
    fail_countdown = n;
}

static bool must_fail(void) {
    return fail_countdown > 0 && --fail_countdown == 0;
}

/* Pointers to objects share one representation on every system with POSIX; the copy keeps the
 * compiler from assuming that a `double *` cannot change through a `void **`. */
static void set_pointer(void *out, void *value) {
    memcpy(out, &value, sizeof value);
}

static bool is_too_large(size_t count, size_t size) {
    return size != 0 && count > SIZE_MAX / size;
}

/* Says how much was wanted. */
static psfm_status fail_wanted(psfm_context *ctx, size_t count, size_t size) {
    return is_too_large(count, size)
               ? psfm_fail(ctx, PSFM_ERR_MEMORY, "out of memory: %zu elements of %zu bytes", count,
                           size)
               : psfm_fail(ctx, PSFM_ERR_MEMORY, "out of memory: %zu bytes wanted", count * size);
}

psfm_status psfm_alloc(psfm_context *ctx, size_t count, size_t size, void *out) {
    set_pointer(out, NULL);
    if (is_too_large(count, size))
        return fail_wanted(ctx, count, size);
    size_t bytes = count * size;
    void *memory = must_fail() ? NULL : calloc(1, bytes == 0 ? 1 : bytes);
    if (memory == NULL)
        return fail_wanted(ctx, count, size);
    set_pointer(out, memory);
    return PSFM_OK;
}

psfm_status psfm_reserve(psfm_context *ctx, void *array, size_t *capacity, size_t need,
                         size_t size) {
    if (need <= *capacity)
        return PSFM_OK;
    size_t grown = *capacity + *capacity / 2 + 8;
    if (grown < need)
        grown = need;
    if (is_too_large(grown, size))
        return fail_wanted(ctx, grown, size);
    void *memory;
    memcpy(&memory, array, sizeof memory);
    memory = must_fail() ? NULL : realloc(memory, grown * size);
    if (memory == NULL)
        return fail_wanted(ctx, grown, size);
    memset((char *)memory + *capacity * size, 0, (grown - *capacity) * size);
    set_pointer(array, memory);
    *capacity = grown;
    return PSFM_OK;
}

psfm_status psfm_strdup(psfm_context *ctx, const char *text, char **out) {
    size_t length = strlen(text) + 1;
    void *copy;
    psfm_status status = psfm_alloc(ctx, length, 1, &copy);
    if (copy != NULL)
        memcpy(copy, text, length);
    *out = copy;
    return status;
}
