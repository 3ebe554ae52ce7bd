/* The JPEG reader on arbitrary bytes. */
#include "images/image/image_codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    psfm_image image = {0};
    bool colours = size % 2 == 0;
    if (psfm_jpeg_codec.decode(NULL, data, size, "fuzz",
                               colours ? PSFM_IMAGE_GRAY_AND_RGB : PSFM_IMAGE_BRIGHTNESS,
                               (int)(size % 3 * 100), &image) == PSFM_OK &&
        (image.width <= 0 || image.gray == NULL || (image.rgb != NULL) != colours))
        __builtin_trap();
    psfm_image_free(&image);
    return 0;
}
