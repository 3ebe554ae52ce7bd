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

#include "core/base/alloc.h"
#include "core/calibration/plane_adjust.h"
#include "core/calibration/plane_minima.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"

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
    uint32_t *pose = NULL;
    psfm_status status = PSFM_ALLOC(ctx, task->views->num_views, &pose);
    if (status == PSFM_OK)
        status = psfm_plane_minimum_init(ctx, r, out);
    for (uint32_t k = 0; status == PSFM_OK && k < whole->region.num_poses; ++k)
        pose[whole->region.place[k]] = k;
    for (size_t k = 0; status == PSFM_OK && k < r->num_poses; ++k) {
        uint32_t s = pose[r->place[k]];
        out->poses[k] = whole->minimum.poses[s];
        out->log_focal[r->group[k]] = whole->minimum.log_focal[whole->region.group[s]];
    }
    free(pose);
    return status == PSFM_OK ? psfm_plane_region_describe(ctx, r, out) : status;
}

/* Whether the region of a reference asks for another solution than the one there is. */
static psfm_status is_better_alone(psfm_context *ctx, const psfm_plane_task *task,
                                   const psfm_plane_solution *whole, const psfm_plane_found *found,
                                   const psfm_plane_minimum *own, bool *answer) {
    psfm_plane_minimum part = {0};
    bool is_part = found->region.num_poses < whole->region.num_poses;
    psfm_status status = restrict_to(ctx, task, whole, &found->region, &part);
    *answer = own->fit.cost < part.fit.cost * (is_part ? 1.0 - OWN_GAIN : 1.0);
    psfm_plane_minimum_free(&part);
    return status;
}

/* Grows the best minimum of a reference, if it is wanted, and keeps the better solution. */
static psfm_status try_reference(psfm_context *ctx, const psfm_plane_task *task,
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
        status = try_reference(ctx, task, &found[k], out);
    if (status == PSFM_OK && out->minimum.found && ambiguity != NULL)
        status = count_all(ctx, task, found, num, out, ambiguity);
    for (size_t k = 0; k < num; ++k)
        psfm_plane_found_free(&found[k]);
    if (status != PSFM_OK)
        psfm_plane_solution_free(out);
    return status;
}

/* From a region of a plane to all of it.
 *
 * Views are added in order of their links from the region. A view that has neighbours with known
 * maps G gets the map H G from each: the images of the plane's circular points under it give its
 * focal length in closed form (see plane_search.c), and the strongest neighbour gives its pose.
 * Whenever the region has doubled, it is adjusted, so that errors do not pile up along chains. All
 * steps together cost about twice the last one. */

#define SURE_TILT                                                                   \
    0.03 /* sine below which a view's tilt against the plane does not tell its lens \
          */
#define MAX_NEIGHBOURS 32

/* What is known so far, per view of the plane and per group among all. */
typedef struct {
    const psfm_plane_task *task;
    uint32_t *order; /* places of views, in order of growth */
    size_t num_order;
    bool *placed;
    psfm_plane_pose *poses;
    double *focal; /* 0 if unknown */
} growth;

/* Lists all views in order of their links from the first num_order ones. */
static psfm_status order_views(psfm_context *ctx, growth *g) {
    const psfm_plane_views *v = g->task->views;
    bool *listed = NULL;
    psfm_status status = PSFM_ALLOC(ctx, v->num_views, &listed);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < g->num_order; ++k)
        listed[g->order[k]] = true;
    for (size_t k = 0; k < g->num_order; ++k)
        for (size_t i = v->begin[g->order[k]]; i < v->begin[g->order[k] + 1]; ++i) {
            const uint32_t *ends = v->ends[v->incident[i]];
            uint32_t other = ends[ends[0] == g->order[k] ? 1 : 0];
            if (!listed[other])
                g->order[g->num_order++] = other;
            listed[other] = true;
        }
    free(listed);
    return PSFM_OK;
}

/* The map of a view by an edge to a neighbour that has one. */
static bool map_by_edge(const growth *g, uint32_t edge, uint32_t place, double M[9]) {
    const psfm_plane_views *v = g->task->views;
    bool is_second = v->ends[edge][1] == place;
    uint32_t other = v->ends[edge][is_second ? 0 : 1];
    double G[9], H[9];
    if (!g->placed[other])
        return false;
    memcpy(H, v->edges[edge]->H, sizeof H);
    if (!is_second && !psfm_mat3_inverse(v->edges[edge]->H, H))
        return false;
    psfm_plane_map(&g->poses[other], g->focal[g->task->group[other]], G);
    psfm_mat3_mul(H, G, M);
    return true;
}

/* The square of the focal length that a map asks for. Seen straight on, a plane says nothing of
 * the lens: the usual value has the weight of a little tilt. */
static double focal2_of_map(const double M[9], double usual) {
    double v[6], w[2], z[2], size = 0.0, least = SURE_TILT * SURE_TILT;
    for (int k = 0; k < 6; ++k) {
        v[k] = M[3 * (k % 3) + k / 3];
        size += v[k] * v[k] / (k % 3 < 2 ? usual * usual : 1.0);
    }
    for (int k = 0; k < 6; ++k)
        v[k] /= sqrt(size);
    psfm_circular_split(v, w, z);
    return psfm_clip_focal2((-(w[0] * z[0] + w[1] * z[1]) + least * least * usual * usual) /
                            (z[0] * z[0] + z[1] * z[1] + least * least));
}

/* Gives a view its pose, and its group a focal length if it has none. */
static void place_view(growth *g, uint32_t place, double usual) {
    const psfm_plane_views *v = g->task->views;
    double M[9], best[9] = {0}, focal2[MAX_NEIGHBOURS], *focal = &g->focal[g->task->group[place]];
    uint32_t most = 0;
    size_t num = 0;
    for (size_t i = v->begin[place]; i < v->begin[place + 1]; ++i) {
        uint32_t inliers = v->edges[v->incident[i]]->num;
        if (!map_by_edge(g, v->incident[i], place, M))
            continue;
        if (num < MAX_NEIGHBOURS)
            focal2[num++] = focal2_of_map(M, usual);
        if (inliers > most || most == 0)
            memcpy(best, M, sizeof best);
        most = inliers > most ? inliers : most;
    }
    if (!(*focal > 0.0))
        *focal = num == 0 ? usual : sqrt(psfm_median(focal2, num));
    for (int i = 0; i < 6; ++i)
        best[i] /= *focal;
    psfm_plane_pose_from_map(best, &g->poses[place]);
    g->placed[place] = true;
}

/* What an adjusted region says goes into the growth, */
static void store_region(growth *g, const psfm_plane_region *r, const psfm_plane_minimum *m) {
    for (size_t k = 0; k < r->num_poses; ++k) {
        g->poses[r->place[k]] = m->poses[k];
        g->placed[r->place[k]] = true;
    }
    for (size_t k = 0; k < r->num_groups; ++k)
        g->focal[r->global[k]] = exp(m->log_focal[k]);
}

/* and the other way round, before it is adjusted. */
static void load_region(const growth *g, const psfm_plane_region *r, psfm_plane_minimum *m) {
    for (size_t k = 0; k < r->num_poses; ++k)
        m->poses[k] = g->poses[r->place[k]];
    for (size_t k = 0; k < r->num_groups; ++k)
        m->log_focal[k] = log(g->focal[r->global[k]]);
}

/* Places views until there are `wanted`, and adjusts all. */
static psfm_status extend_growth(psfm_context *ctx, growth *g, size_t before, size_t wanted,
                                 psfm_plane_region *r, psfm_plane_minimum *m) {
    const psfm_plane_task *task = g->task;
    double *known = NULL;
    psfm_status status = PSFM_ALLOC(ctx, before, &known);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < before; ++k)
        known[k] = g->focal[task->group[g->order[k]]];
    double usual = psfm_median(known, before);
    free(known);
    for (size_t k = before; k < wanted; ++k)
        place_view(g, g->order[k], usual);
    if ((status = psfm_plane_region_init(ctx, task->views, task->group, g->order, wanted, r)) !=
            PSFM_OK ||
        (status = psfm_plane_minimum_init(ctx, r, m)) != PSFM_OK)
        return status;
    load_region(g, r, m);
    status = psfm_plane_region_adjust(
        ctx, task->in, r, wanted < g->num_order ? PSFM_PLANE_GROWING : PSFM_PLANE_GROWN, m);
    if (status == PSFM_OK && m->found)
        store_region(g, r, m);
    return status;
}

static psfm_status begin_growth(psfm_context *ctx, growth *g, const psfm_plane_region *region,
                                const psfm_plane_minimum *minimum) {
    size_t n = g->task->views->num_views, num_groups = g->task->in->num_groups;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, n, &g->order)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &g->placed)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &g->poses)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num_groups, &g->focal)) != PSFM_OK)
        return status;
    memcpy(g->focal, g->task->fixed, num_groups * sizeof *g->focal);
    memcpy(g->order, region->place, region->num_poses * sizeof *g->order);
    g->num_order = region->num_poses;
    store_region(g, region, minimum);
    return order_views(ctx, g);
}

psfm_status psfm_plane_grow(psfm_context *ctx, const psfm_plane_task *task,
                            const psfm_plane_region *region, const psfm_plane_minimum *minimum,
                            psfm_plane_region *whole, psfm_plane_minimum *grown) {
    growth g = {.task = task};
    size_t num = region->num_poses;
    psfm_status status = begin_growth(ctx, &g, region, minimum);
    do {
        size_t wanted = 2 * num < g.num_order ? 2 * num : g.num_order;
        psfm_plane_region_free(whole);
        psfm_plane_minimum_free(grown);
        if (status == PSFM_OK)
            status = extend_growth(ctx, &g, num, wanted, whole, grown);
        num = wanted;
    } while (status == PSFM_OK && num < g.num_order);
    free(g.order);
    free(g.placed);
    free(g.poses);
    free(g.focal);
    return status;
}
