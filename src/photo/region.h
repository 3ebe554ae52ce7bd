/* The part of an image in which a plane is looked for: squares near points that were found on it.
 */
#ifndef PSFM_PHOTO_REGION_H
#define PSFM_PHOTO_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

typedef struct {
    int columns, rows, size; /* squares of `size` pixels */
    uint8_t *on;             /* owned */
} psfm_region;

/* An empty region of an image of width x height pixels. */
psfm_status psfm_region_init(psfm_context *ctx, int width, int height, int size,
                             psfm_region *region);
void psfm_region_free(psfm_region *region);

/* Adds the square of a point and those up to `reach` squares from it. Points outside are ignored.
 */
void psfm_region_add(psfm_region *region, const double xy[2], int reach);

bool psfm_region_has(const psfm_region *region, const double xy[2]);

#endif
