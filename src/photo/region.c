/* A region of an image as marked squares of a grid, grown by whole squares round points. */
#include "photo/region.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

psfm_status psfm_region_init(psfm_context *ctx, int width, int height, int size,
                             psfm_region *region) {
    *region = (psfm_region){.columns = width / size + 1, .rows = height / size + 1, .size = size};
    return PSFM_ALLOC(ctx, (size_t)region->columns * (size_t)region->rows, &region->on);
}

void psfm_region_free(psfm_region *region) {
    free(region->on);
    *region = (psfm_region){0};
}

/* The square of a point; false if there is none. */
static bool find_square(const psfm_region *region, const double xy[2], int *column, int *row) {
    double x = floor(xy[0] / region->size), y = floor(xy[1] / region->size);
    if (!(x >= 0.0 && y >= 0.0 && x < region->columns && y < region->rows))
        return false;
    *column = (int)x;
    *row = (int)y;
    return true;
}

static int at_most(int value, int limit) {
    return value < limit ? value : limit;
}

void psfm_region_add(psfm_region *region, const double xy[2], int reach) {
    int column, row;
    if (!find_square(region, xy, &column, &row))
        return;
    for (int y = row > reach ? row - reach : 0; y <= at_most(row + reach, region->rows - 1); ++y)
        for (int x = column > reach ? column - reach : 0;
             x <= at_most(column + reach, region->columns - 1); ++x)
            region->on[(size_t)y * (size_t)region->columns + (size_t)x] = 1;
}

bool psfm_region_has(const psfm_region *region, const double xy[2]) {
    int column, row;
    return find_square(region, xy, &column, &row) &&
           region->on[(size_t)row * (size_t)region->columns + (size_t)column] != 0;
}
