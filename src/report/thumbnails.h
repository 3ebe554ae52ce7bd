/* Small versions of the photographs. */
#ifndef PSFM_REPORT_THUMBNAILS_H
#define PSFM_REPORT_THUMBNAILS_H

#include <stdint.h>

#include "core/base/context.h"
#include "images/image/image_io.h"

/* JPEG files in memory; size 0: no thumbnail. Owns them. {0} is empty. */
typedef struct {
    struct {
        uint8_t *bytes;
        size_t size;
        int quarters; /* clockwise turns that make it upright */
    } * images;
    size_t num;
    size_t step; /* every step-th photograph gets one */
    int side;    /* longer one, in pixels */
} psfm_thumbnails;

/* Longer side of which photographs must be for psfm_thumbnails_add, unless they are smaller. */
enum { PSFM_THUMBNAIL_SOURCE = 640 };

/* Room for thumbnails of `num` photographs. The more there are, the smaller: longer sides of 640
 * pixels for some dozens down to 96 for thousands, and beyond that only every k-th has one, so
 * that all together take about max_size bytes. Free in any case. */
psfm_status psfm_thumbnails_begin(psfm_context *ctx, size_t num, size_t max_size,
                                  psfm_thumbnails *out);
/* The thumbnail of photograph k, which has colours, as psfm_image_read_small reads it; `name`
 * stands for it in messages. Nothing if it gets none, or has one. Threads may add different ones at
 * a time. */
psfm_status psfm_thumbnails_add(psfm_context *ctx, psfm_thumbnails *thumbnails, size_t k,
                                const psfm_image *photograph, const char *name);
/* Reads those that are missing, folder/names[k]. Photographs that cannot be read have none; the log
 * says how many. Parallel, one photograph in memory per thread. */
psfm_status psfm_thumbnails_complete(psfm_context *ctx, psfm_thumbnails *thumbnails,
                                     const char *folder, const char *const *names);
void psfm_thumbnails_free(psfm_thumbnails *thumbnails);

#endif
