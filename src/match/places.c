/* Nearest photographs by comparing all with all: 20,000 take less than a second, and what follows
 * takes hours. */
#include "match/places.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/parallel.h"

void psfm_places_free(psfm_places *places) {
    free(places->metres);
    *places = (psfm_places){0};
}

static bool is_known(const psfm_geodetic *at) {
    psfm_geodetic p = *at;
    if (isnan(p.altitude_m))
        p.altitude_m = 0.0;
    return psfm_geodetic_is_valid(&p) && (p.latitude_deg != 0.0 || p.longitude_deg != 0.0);
}

psfm_status psfm_places_init(psfm_context *ctx, const psfm_geodetic *at, size_t num,
                             psfm_places *out) {
    const psfm_geodetic *origin = NULL;
    bool is_flat = false;
    *out = (psfm_places){.num = num};
    psfm_status status = PSFM_ALLOC(ctx, num, &out->metres);
    for (size_t k = 0; k < num; ++k)
        is_flat = is_flat || (is_known(&at[k]) && isnan(at[k].altitude_m));
    for (size_t k = 0; status == PSFM_OK && k < num; ++k) {
        psfm_geodetic p = at[k];
        for (int c = 0; c < 3; ++c)
            out->metres[k][c] = NAN;
        if (!is_known(&p))
            continue;
        origin = origin == NULL ? &at[k] : origin;
        psfm_geodetic from = *origin;
        if (is_flat)
            from.altitude_m = p.altitude_m = 0.0;
        psfm_geodetic_to_enu(&from, &p, out->metres[k]);
        ++out->num_known;
    }
    return status;
}

typedef struct {
    const psfm_places *places;
    size_t k;
    uint32_t *nearest;
} search;

static double squared_distance(const double a[3], const double b[3]) {
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

/* The k best so far are kept sorted: few are better than the last of them. */
static psfm_status search_one(psfm_context *ctx, size_t index, int worker, void *user) {
    const search *s = user;
    const double(*at)[3] = (const double(*)[3])s->places->metres;
    uint32_t *nearest = s->nearest + index * s->k;
    double *distance = NULL;
    size_t num = 0;
    (void)worker;
    psfm_status status = PSFM_ALLOC(ctx, s->k, &distance);
    for (size_t i = 0; i < s->k; ++i)
        nearest[i] = UINT32_MAX;
    for (size_t i = 0; status == PSFM_OK && i < s->places->num; ++i) {
        double d = squared_distance(at[index], at[i]);
        if (i == index || isnan(d) || (num == s->k && d >= distance[num - 1]))
            continue;
        size_t place = num < s->k ? num++ : num - 1;
        for (; place > 0 && distance[place - 1] > d; --place) {
            distance[place] = distance[place - 1];
            nearest[place] = nearest[place - 1];
        }
        distance[place] = d;
        nearest[place] = (uint32_t)i;
    }
    free(distance);
    return status;
}

psfm_status psfm_places_nearest(psfm_context *ctx, const psfm_places *places, size_t k,
                                uint32_t *nearest) {
    search s = {places, k, nearest};
    return k == 0 ? PSFM_OK : psfm_parallel_for(ctx, NULL, places->num, search_one, &s);
}
