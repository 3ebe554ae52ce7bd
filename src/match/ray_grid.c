/* A hash grid over unit vectors. Space is cut into cubes as large as the search radius, so that
 * all rays within the radius of a direction are in the 27 cubes round it. Unlike a grid over
 * pixels it serves any lens. O(1) per visit and neighbour. */
#include "match/ray_grid.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

static size_t bucket_of(const psfm_ray_grid *grid, const int32_t cube[3]) {
    uint64_t h = (uint64_t)(uint32_t)cube[0] * 0x9e3779b97f4a7c15U;
    h = (h ^ (uint32_t)cube[1]) * 0xbf58476d1ce4e5b9U;
    h = (h ^ (uint32_t)cube[2]) * 0x94d049bb133111ebU;
    return (size_t)(h >> 32) & (grid->num_buckets - 1);
}

static void cube_of(const psfm_ray_grid *grid, const double ray[3], int32_t cube[3]) {
    for (int k = 0; k < 3; ++k)
        cube[k] = (int32_t)floor(ray[k] / grid->cell);
}

void psfm_ray_grid_free(psfm_ray_grid *grid) {
    free(grid->heads);
    free(grid->entries);
    *grid = (psfm_ray_grid){0};
}

psfm_status psfm_ray_grid_init(psfm_context *ctx, const double (*rays)[3], size_t num,
                               const bool *wanted, double cell, psfm_ray_grid *grid) {
    psfm_ray_grid made = {.cell = cell, .num_buckets = 64};
    while (made.num_buckets < 2 * num)
        made.num_buckets *= 2;
    psfm_status status = PSFM_ALLOC(ctx, made.num_buckets, &made.heads);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num, &made.entries);
    if (status != PSFM_OK) {
        psfm_ray_grid_free(&made);
        *grid = made;
        return status;
    }
    for (size_t k = 0; k < num; ++k) {
        if (!wanted[k] || (rays[k][0] == 0.0 && rays[k][1] == 0.0 && rays[k][2] == 0.0))
            continue;
        struct psfm_ray_entry *entry = &made.entries[made.num++];
        cube_of(&made, rays[k], entry->cube);
        uint32_t *head = &made.heads[bucket_of(&made, entry->cube)];
        entry->idx = (uint32_t)k;
        entry->next = *head;
        *head = (uint32_t)made.num;
    }
    *grid = made;
    return PSFM_OK;
}

/* A bucket may hold other cubes too, so each entry's own is compared. */
static void visit_cube(const psfm_ray_grid *grid, const int32_t cube[3],
                       void (*visit)(uint32_t idx, void *user), void *user) {
    for (uint32_t k = grid->heads[bucket_of(grid, cube)]; k != 0;) {
        const struct psfm_ray_entry *entry = &grid->entries[k - 1];
        if (entry->cube[0] == cube[0] && entry->cube[1] == cube[1] && entry->cube[2] == cube[2])
            visit(entry->idx, user);
        k = entry->next;
    }
}

void psfm_ray_grid_visit(const psfm_ray_grid *grid, const double direction[3],
                         void (*visit)(uint32_t idx, void *user), void *user) {
    int32_t centre[3];
    cube_of(grid, direction, centre);
    for (int32_t k = 0; k < 27; ++k) {
        const int32_t cube[3] = {centre[0] + k % 3 - 1, centre[1] + k / 3 % 3 - 1,
                                 centre[2] + k / 9 - 1};
        visit_cube(grid, cube, visit, user);
    }
}
