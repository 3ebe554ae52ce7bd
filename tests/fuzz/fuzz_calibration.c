/* The reader of other programs' calibrations on arbitrary bytes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/calibration_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static psfm_context *ctx;
    psfm_calibration c = {0};
    if (ctx == NULL)
        ctx = psfm_context_create();
    char *text = malloc(size + 1);
    if (text == NULL)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    (void)psfm_calibration_parse(ctx, text, size, "fuzz", "fuzz", true, &c);
    for (size_t k = 0; k < c.num; ++k)
        if (c.items[k].name == NULL || !isfinite(c.items[k].camera.params[2]) ||
            !(c.items[k].camera.params[0] > 0.0))
            __builtin_trap();
    psfm_calibration_free(&c);
    free(text);
    return 0;
}
