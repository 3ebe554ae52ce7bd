/* Finding the keypoints whose rays are near a direction. */
#ifndef PSFM_MATCH_RAY_GRID_H
#define PSFM_MATCH_RAY_GRID_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

/* Unit rays in cubes of space of side `cell`, hashed. Owns its arrays. */
typedef struct {
    double cell;
    size_t num_buckets; /* a power of two */
    uint32_t *heads;    /* per bucket: index into entries + 1, 0 for none */
    struct psfm_ray_entry {
        int32_t cube[3];
        uint32_t idx, next;
    } * entries;
    size_t num;
} psfm_ray_grid;

/* Takes the rays with wanted[k]; zero rays are left out. */
psfm_status psfm_ray_grid_init(psfm_context *ctx, const double (*rays)[3], size_t num,
                               const bool *wanted, double cell, psfm_ray_grid *grid);
void psfm_ray_grid_free(psfm_ray_grid *grid);

/* Calls `visit` for every ray in the 27 cubes round a unit direction: all within `cell` of it, and
 * some beyond. */
void psfm_ray_grid_visit(const psfm_ray_grid *grid, const double direction[3],
                         void (*visit)(uint32_t idx, void *user), void *user);

#endif
