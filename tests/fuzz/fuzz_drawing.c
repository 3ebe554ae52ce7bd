/* The reader of drawings as JSON on arbitrary bytes. */
#include "fuzz_drawing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_drawing(psfm_drawing_parse, data, size);
    return 0;
}
