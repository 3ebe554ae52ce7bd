/* Masks: any file in place of one; what is accepted has the size of its image and an answer for
 * every point. */
#include "fuzz_file.h"
#include "images/image/mask.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const double places[] = {-1e300, -0.5, 0.0,   3.5,
                                    7.999,  8.0,  1e300, (double)__builtin_nanf("")};
    psfm_image mask;
    bool found = false;
    fuzz_file("a.jpg.png", data, size);
    if (psfm_mask_read(NULL, fuzz_folder(), "a.jpg", 8, 8, &mask, &found) == PSFM_OK) {
        if (!found || mask.width != 8 || mask.height != 8)
            abort();
        for (int k = 0; k < 64; ++k)
            if (psfm_mask_forbids(&mask, places[k % 8], places[k / 8]) < (k % 8 == 0))
                abort(); /* outside the image everything is forbidden */
    }
    psfm_image_free(&mask);
    return 0;
}
