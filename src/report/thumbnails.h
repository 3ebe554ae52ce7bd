/* Small versions of the photographs. */
#ifndef PSFM_REPORT_THUMBNAILS_H
#define PSFM_REPORT_THUMBNAILS_H

#include <stdint.h>

#include "base/context.h"

/* JPEG files in memory; size 0: no thumbnail. Owns them. */
typedef struct {
    struct {
        uint8_t *bytes;
        size_t size;
    } * images;
    size_t num;
} psfm_thumbnails;

/* Shrinks the photographs folder/names[k]. The more there are, the smaller: longer sides of 640
 * pixels for some dozens down to 96 for thousands, and beyond that only every k-th has one, so
 * that all together take about max_size bytes. Photographs that cannot be read have none; the log
 * says how many. Parallel, one photograph in memory per thread. Free in any case. */
psfm_status psfm_thumbnails_make(psfm_context *ctx, const char *folder, const char *const *names,
                                 size_t num, size_t max_size, psfm_thumbnails *out);
void psfm_thumbnails_free(psfm_thumbnails *thumbnails);

#endif
