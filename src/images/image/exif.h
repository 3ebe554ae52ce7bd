/* What a photograph's EXIF data tell: focal length and position. */
#ifndef PSFM_IMAGE_EXIF_H
#define PSFM_IMAGE_EXIF_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/context.h"

typedef struct {
    bool has_focal;
    double focal_px; /* in pixels of the image of the given size */
    char body[128];  /* make and model of the camera, in ASCII; empty if it tells none */
    bool has_position;
    double latitude_deg, longitude_deg; /* north and east positive, WGS 84 */
    bool has_altitude;
    double altitude_m; /* above sea level */
    int orientation;   /* the EXIF code 1 to 8, 0 if absent. In a HEIC file it repeats what its own
                        * properties say, which are applied */
    bool is_mirrored;  /* left and right are exchanged in the file; reading it undoes that */
    int quarters;      /* then so many clockwise quarter turns make it upright, 0 to 3 */
} psfm_exif;

/* Reads the EXIF data of a photograph whose image has width x height pixels. A
 * file without EXIF, or with data that make no sense, gives an empty *exif, not a failure; only a
 * file that cannot be read fails. */
psfm_status psfm_exif_read(psfm_context *ctx, const char *path, int width, int height,
                           psfm_exif *exif);

/* The same from the bytes of the file. */
void psfm_exif_parse(const uint8_t *bytes, size_t size, int width, int height, psfm_exif *exif);

#endif
