/* The EXIF reader on arbitrary bytes. */
#include <math.h>

#include "images/image/exif.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    psfm_exif exif;
    psfm_exif_parse(data, size, 4000, 3000, &exif);
    if (!isfinite(exif.focal_px) || !isfinite(exif.latitude_deg) || !isfinite(exif.longitude_deg) ||
        !isfinite(exif.altitude_m))
        __builtin_trap();
    return 0;
}
