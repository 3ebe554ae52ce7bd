/* Binary models. The input is two 16-bit sizes, then cameras.bin, images.bin and points3D.bin. What
 * is accepted must survive being printed and parsed again, bit by bit. */
#include "fuzz_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 4)
        return 0;
    char *parts[PSFM_NUM_MODEL_FILES];
    size_t sizes[PSFM_NUM_MODEL_FILES] = {data[0] | (size_t)data[1] << 8,
                                          data[2] | (size_t)data[3] << 8, SIZE_MAX};
    const uint8_t *at = data + 4, *end = data + size;
    for (int part = 0; part < PSFM_NUM_MODEL_FILES; ++part) {
        if (sizes[part] > (size_t)(end - at))
            sizes[part] = (size_t)(end - at);
        parts[part] = copy_bytes(at, sizes[part]);
        at += sizes[part];
    }
    try_model(PSFM_MODEL_BINARY, parts, sizes);
    return 0;
}
