/* The HEIC reader on arbitrary bytes. libheif 1.15 loses its half-made image when a plane of it is
 * refused: leaks of libheif's own are not reported, those of the reader are. Telling them apart
 * needs the whole call stack of each allocation. */
#include "images/image/image_codec.h"

const char *__asan_default_options(void);
const char *__lsan_default_suppressions(void);

const char *__asan_default_options(void) {
    return "fast_unwind_on_malloc=0";
}

const char *__lsan_default_suppressions(void) {
    return "leak:libheif.so";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    psfm_image image = {0};
    if (psfm_heif_codec.decode(NULL, data, size, "fuzz", PSFM_IMAGE_GRAY_AND_RGB, 0, &image) ==
            PSFM_OK &&
        (image.width <= 0 || image.gray == NULL || image.rgb == NULL))
        __builtin_trap();
    psfm_image_free(&image);
    return 0;
}
