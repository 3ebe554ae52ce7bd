/* Checks that every public function makes of what it is given. */
#include "core/base/public_input.h"

#include <math.h>
#include <string.h>

psfm_status psfm_require(psfm_context *ctx, const void *pointer, const char *name) {
    if (pointer != NULL)
        return PSFM_OK;
    return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%s is NULL", name);
}

psfm_status psfm_require_finite(psfm_context *ctx, const double *values, size_t num,
                                const char *name) {
    for (size_t k = 0; k < num; ++k)
        if (!isfinite(values[k]))
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "number %zu of %s is %g", k, name, values[k]);
    return PSFM_OK;
}

psfm_status psfm_take_input(psfm_context *ctx, const void *given, void *known, size_t size) {
    size_t num = 0;
    memset(known, 0, size);
    if (given == NULL)
        return PSFM_OK;
    memcpy(&num, given, sizeof num);
    if (num < sizeof num || num > 64 * 1024)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "struct_size is %zu; set it to sizeof the struct",
                         num);
    const unsigned char *bytes = given;
    for (size_t k = size; k < num; ++k)
        if (bytes[k] != 0)
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                             "a struct of %zu bytes asks for what this version of the library does "
                             "not know (it knows %zu bytes)",
                             num, size);
    memcpy(known, given, num < size ? num : size);
    return PSFM_OK;
}

void psfm_give_output(const void *made, void *wanted) {
    size_t size, room;
    if (wanted == NULL)
        return;
    memcpy(&size, made, sizeof size);
    memcpy(&room, wanted, sizeof room);
    if (room > size)
        room = size;
    if (room > sizeof room) /* struct_size stays the caller's */
        memcpy((unsigned char *)wanted + sizeof room, (const unsigned char *)made + sizeof room,
               room - sizeof room);
}
