/* Where photographs were taken, and which of them are near each other. */
#ifndef PSFM_MATCH_PLACES_H
#define PSFM_MATCH_PLACES_H

#include "base/context.h"
#include "scene/geodetic.h"

/* Places of `num` photographs in metres from one of them. Owns its array. */
typedef struct {
    double (*metres)[3]; /* NAN where there is none */
    size_t num, num_known;
} psfm_places;

void psfm_places_free(psfm_places *places);

/* From positions on the earth. A latitude that is NAN stands for none, and so does exactly 0 north,
 * 0 east, which receivers write without a fix. Altitudes count if all positions have one (NAN if
 * not). */
psfm_status psfm_places_init(psfm_context *ctx, const psfm_geodetic *at, size_t num,
                             psfm_places *out);

/* For each photograph the k nearest others, nearest first: num x k indices, UINT32_MAX where there
 * are no more, or where a photograph has no place. O(num^2). */
psfm_status psfm_places_nearest(psfm_context *ctx, const psfm_places *places, size_t k,
                                uint32_t *nearest);

#endif
