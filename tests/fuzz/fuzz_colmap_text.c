/* Text models. The input is cameras.txt, images.txt and points3D.txt, separated by zero bytes. What
 * is accepted must survive being printed and parsed again, bit by bit. */
#include "fuzz_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *parts[PSFM_NUM_MODEL_FILES];
    size_t sizes[PSFM_NUM_MODEL_FILES];
    const uint8_t *at = data, *end = data + size;
    for (int part = 0; part < PSFM_NUM_MODEL_FILES; ++part) {
        const uint8_t *zero = part == PSFM_NUM_MODEL_FILES - 1 || at == end
                                  ? NULL
                                  : memchr(at, '\0', (size_t)(end - at));
        const uint8_t *stop = zero == NULL ? end : zero;
        sizes[part] = (size_t)(stop - at);
        parts[part] = copy_bytes(at, sizes[part]);
        at = zero == NULL ? end : zero + 1;
    }
    try_model(PSFM_MODEL_TEXT, parts, sizes);
    return 0;
}
