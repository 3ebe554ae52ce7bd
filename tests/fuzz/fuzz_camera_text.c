/* The text of --camera on arbitrary bytes; what is accepted is a sane camera. */
#include <stdlib.h>
#include <string.h>

#include "core/camera/camera_model.h"
#include "frontend/intrinsics.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    psfm_intrinsics intrinsics = {0};
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    const psfm_intrinsics_options options = {.camera_text = text};
    if (psfm_intrinsics_open(NULL, &options, &intrinsics) == PSFM_OK &&
        psfm_camera_check(NULL, &intrinsics.camera) != PSFM_OK)
        __builtin_trap();
    psfm_intrinsics_free(&intrinsics);
    free(text);
    return 0;
}
