/* The TIFF reader on arbitrary bytes. */
#include "images/image/image_codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    psfm_image image = {0};
    if (psfm_tiff_codec.decode(NULL, data, size, "fuzz", PSFM_IMAGE_GRAY_AND_RGB, 0, &image) ==
            PSFM_OK &&
        (image.width <= 0 || image.gray == NULL || image.rgb == NULL))
        __builtin_trap();
    psfm_image_free(&image);
    return 0;
}
