/* What the fronts of public headers (public_*.c) share: pointers that must be given, and structs
 * that can grow.
 *
 * A public struct of options or of input begins with struct_size, the size that the caller was
 * compiled with; what is beyond it was not known then and is zero. A member that is zero stands for
 * its default. */
#ifndef PSFM_BASE_PUBLIC_INPUT_H
#define PSFM_BASE_PUBLIC_INPUT_H

#include "core/base/context.h"

/* PSFM_ERR_ARGUMENT with the argument's name if the pointer is NULL. */
#define PSFM_REQUIRE(ctx, pointer) psfm_require((ctx), (pointer), #pointer)
psfm_status psfm_require(psfm_context *ctx, const void *pointer, const char *name);

/* The same for an array, which may be NULL if it has no elements. */
#define PSFM_REQUIRE_ARRAY(ctx, pointer, num) \
    ((num) > 0 ? psfm_require((ctx), (pointer), #pointer) : PSFM_OK)

/* PSFM_ERR_ARGUMENT with the argument's name if one of the numbers is not finite. */
psfm_status psfm_require_finite(psfm_context *ctx, const double *values, size_t num,
                                const char *name);

/* Copies the caller's struct to `known`, of `size` bytes in this version; NULL: zeros.
 * PSFM_ERR_ARGUMENT if struct_size was not set, or asks for something that only a later version
 * knows. */
psfm_status psfm_take_input(psfm_context *ctx, const void *given, void *known, size_t size);

/* Copies `made`, whose struct_size is its own size, to a caller's struct as far as that reaches.
 * NULL: not wanted. Of a struct whose struct_size was not set nothing is filled. */
void psfm_give_output(const void *made, void *wanted);

static inline double psfm_value_or(double value, double fallback) {
    return value == 0.0 ? fallback : value;
}
static inline int psfm_int_or(int value, int fallback) {
    return value == 0 ? fallback : value;
}

#endif
