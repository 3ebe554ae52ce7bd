/* The reader of planes.json on arbitrary bytes. */
#include "formats/planes_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    psfm_scene_planes planes;
    if (psfm_planes_parse_json(NULL, (const char *)data, size, "fuzz", &planes) != PSFM_OK &&
        planes.planes != NULL)
        __builtin_trap();
    psfm_scene_planes_free(&planes);
    return 0;
}
