/* The reader of geo_reference.json on arbitrary bytes. */
#include <stdint.h>

#include "formats/geo_reference.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    psfm_geo_reference geo;
    if (psfm_geo_reference_parse(NULL, (const char *)data, size, "fuzz", &geo) == PSFM_OK &&
        !psfm_geodetic_is_valid(&geo.origin))
        __builtin_trap();
    return 0;
}
