/* Where on the earth a model is: geo_reference.json beside its files. */
#ifndef PSFM_FORMATS_GEO_REFERENCE_H
#define PSFM_FORMATS_GEO_REFERENCE_H

#include "core/base/context.h"
#include "core/linalg/geodetic.h"

/* The model's x, y, z are metres east, north and up of `origin`. */
typedef struct {
    psfm_geodetic origin;
} psfm_geo_reference;

/* Reads folder/geo_reference.json. A folder without it is not geo-referenced: *found is false. */
psfm_status psfm_geo_reference_read(psfm_context *ctx, const char *folder, psfm_geo_reference *geo,
                                    bool *found);

/* The same from text; `path` is for messages. */
psfm_status psfm_geo_reference_parse(psfm_context *ctx, const char *text, size_t size,
                                     const char *path, psfm_geo_reference *geo);

/* Writes folder/geo_reference.json, or removes it if geo is NULL. */
psfm_status psfm_geo_reference_write(psfm_context *ctx, const char *folder,
                                     const psfm_geo_reference *geo);

#endif
