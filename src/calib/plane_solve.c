/* One plane: minima about several references, the best of them grown to all views.
 *
 * Regions of different references overlap little, so their costs cannot be compared. The best
 * minimum of the first is grown. Another reference is heard if its region fits much better on its
 * own than as a part of the whole; then its minimum is grown, too, and the better whole stays. If
 * the plane has few views every region is the plane, and this is the best of all minima.
 *
 * Minima that were not taken count by how much worse they are in their region. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "calib/plane_minima.h"

#define OWN_GAIN 0.1 /* share of its cost by which a region may be better on its own */
#define MEDIAN_CHI2_8 7.34

void psfm_plane_solution_free(psfm_plane_solution *s) {
    psfm_plane_region_free(&s->region);
    psfm_plane_minimum_free(&s->minimum);
}

static const psfm_plane_minimum *best_of(const psfm_plane_found *found) {
    const psfm_plane_minimum *best = NULL;
    for (size_t k = 0; k <= PSFM_MAX_MINIMA; ++k)
        if (found->minima[k].found && (best == NULL || found->minima[k].fit.cost < best->fit.cost))
            best = &found->minima[k];
    return best;
}

/* The part of a whole solution that is in a region, and its fit there. */
static psfm_status restrict_to(psfm_context *ctx, const psfm_plane_task *task,
                               const psfm_plane_solution *whole, const psfm_plane_region *r,
                               psfm_plane_minimum *out) {
    uint32_t *sight = NULL;
    psfm_status status = PSFM_ALLOC(ctx, task->views->num_views, &sight);
    if (status == PSFM_OK)
        status = psfm_plane_minimum_init(ctx, r, out);
    for (uint32_t k = 0; status == PSFM_OK && k < whole->region.num_sights; ++k)
        sight[whole->region.place[k]] = k;
    for (size_t k = 0; status == PSFM_OK && k < r->num_sights; ++k) {
        uint32_t s = sight[r->place[k]];
        out->sights[k] = whole->minimum.sights[s];
        out->log_focal[r->group[k]] = whole->minimum.log_focal[whole->region.group[s]];
    }
    free(sight);
    return status == PSFM_OK ? psfm_plane_region_describe(ctx, r, out) : status;
}

/* Whether the region of a reference asks for another solution than the one there is. */
static psfm_status is_better_alone(psfm_context *ctx, const psfm_plane_task *task,
                                   const psfm_plane_solution *whole, const psfm_plane_found *found,
                                   const psfm_plane_minimum *own, bool *answer) {
    psfm_plane_minimum part = {0};
    bool is_part = found->region.num_sights < whole->region.num_sights;
    psfm_status status = restrict_to(ctx, task, whole, &found->region, &part);
    *answer = own->fit.cost < part.fit.cost * (is_part ? 1.0 - OWN_GAIN : 1.0);
    psfm_plane_minimum_free(&part);
    return status;
}

/* Grows the best minimum of a reference, if it is wanted, and keeps the better solution. */
static psfm_status hear(psfm_context *ctx, const psfm_plane_task *task,
                        const psfm_plane_found *found, psfm_plane_solution *whole) {
    const psfm_plane_minimum *best = best_of(found);
    psfm_plane_solution other = {0};
    bool wanted = best != NULL;
    psfm_status status = PSFM_OK;
    if (wanted && whole->minimum.found)
        status = is_better_alone(ctx, task, whole, found, best, &wanted);
    if (status == PSFM_OK && wanted)
        status = psfm_plane_grow(ctx, task, &found->region, best, &other.region, &other.minimum);
    if (status == PSFM_OK && other.minimum.found &&
        (!whole->minimum.found || other.minimum.fit.cost < whole->minimum.fit.cost)) {
        psfm_plane_solution swap = *whole;
        *whole = other;
        other = swap;
    }
    psfm_plane_solution_free(&other);
    return status;
}

/* Minima of nearly the same cost as the solution make the focal lengths that differ in them
 * uncertain; *mean gets the mean over the region's groups. */
static psfm_status count_minima(psfm_context *ctx, const psfm_plane_task *task,
                                const psfm_plane_found *found, const psfm_plane_solution *whole,
                                double *ambiguity, double *mean) {
    const psfm_plane_region *r = &found->region;
    psfm_plane_minimum part = {0};
    psfm_status status = restrict_to(ctx, task, whole, r, &part);
    double excess = fmax(1.0, part.fit.median_chi * part.fit.median_chi / MEDIAN_CHI2_8);
    for (size_t k = 0; status == PSFM_OK && k <= PSFM_MAX_MINIMA; ++k) {
        const psfm_plane_minimum *m = &found->minima[k];
        if (!m->found)
            continue;
        /* the cost is in units of the squared scale of the loss, 9 */
        double worse = 9.0 * (m->fit.cost - part.fit.cost) / excess;
        double weight = sqrt(exp(-0.25 * fmax(worse, 0.0)));
        for (size_t g = 0; g < r->num_groups; ++g)
            ambiguity[r->global[g]] =
                fmax(ambiguity[r->global[g]], weight * fabs(m->log_focal[g] - part.log_focal[g]));
    }
    *mean = 0.0;
    for (size_t g = 0; g < r->num_groups; ++g)
        *mean += ambiguity[r->global[g]] / (double)r->num_groups;
    psfm_plane_minimum_free(&part);
    return status;
}

/* The same for all references. Groups that are in no region are taken for as uncertain as the
 * worst region is in the mean. */
static psfm_status count_all(psfm_context *ctx, const psfm_plane_task *task,
                             const psfm_plane_found *found, size_t num,
                             const psfm_plane_solution *whole, double *ambiguity) {
    double largest = 0.0, mean = 0.0;
    psfm_status status = PSFM_OK;
    for (size_t g = 0; g < whole->region.num_groups; ++g)
        ambiguity[whole->region.global[g]] = -1.0;
    for (size_t k = 0; k < num; ++k)
        for (size_t g = 0; g < found[k].region.num_groups; ++g)
            ambiguity[found[k].region.global[g]] = 0.0;
    for (size_t k = 0; status == PSFM_OK && k < num; ++k) {
        status = count_minima(ctx, task, &found[k], whole, ambiguity, &mean);
        largest = fmax(largest, mean);
    }
    for (size_t g = 0; g < whole->region.num_groups; ++g)
        if (ambiguity[whole->region.global[g]] < 0.0)
            ambiguity[whole->region.global[g]] = largest;
    return status;
}

psfm_status psfm_plane_solve(psfm_context *ctx, const psfm_plane_task *task, int references,
                             psfm_plane_solution *out, double *ambiguity) {
    psfm_plane_found found[PSFM_MAX_REFERENCES] = {0};
    size_t num = 0;
    *out = (psfm_plane_solution){0};
    psfm_status status = psfm_plane_minima_find(ctx, task, references, found, &num);
    for (size_t k = 0; status == PSFM_OK && k < num; ++k)
        status = hear(ctx, task, &found[k], out);
    if (status == PSFM_OK && out->minimum.found && ambiguity != NULL)
        status = count_all(ctx, task, found, num, out, ambiguity);
    for (size_t k = 0; k < num; ++k)
        psfm_plane_found_free(&found[k]);
    if (status != PSFM_OK)
        psfm_plane_solution_free(out);
    return status;
}
