/* The size of a photograph from its header, on arbitrary bytes. */
#include "images/image/image_io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int width = 0, height = 0;
    if (psfm_image_parse_size(data, size, &width, &height) && (width <= 0 || height <= 0))
        __builtin_trap();
    return 0;
}
