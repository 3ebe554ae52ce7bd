/* A plane may have thousands of views. Its minima are searched among a few dozen neighbours, and
 * what is found there grows: each is an adjustment of a part of the plane. Groups are numbered
 * anew in each part, so that it costs what the part costs. */
#include "calib/plane_region.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "linalg/order.h"

#define KNOWN_SIGMA 1e-3   /* of a known focal length, and of its principal point */
#define CENTER_SIGMA 0.005 /* of other principal points, as a share of the longer side */

/* Numbers the groups of the sights; `group` has the number among all on entry. */
static void number_groups(psfm_plane_region *r) {
    size_t num = 0;
    memcpy(r->global, r->group, r->num_sights * sizeof *r->global);
    qsort(r->global, r->num_sights, sizeof *r->global, psfm_compare_u32);
    for (size_t k = 0; k < r->num_sights; ++k)
        if (k == 0 || r->global[k] != r->global[num - 1])
            r->global[num++] = r->global[k];
    r->num_groups = num;
    for (size_t k = 0; k < r->num_sights; ++k) {
        const uint32_t *found =
            bsearch(&r->group[k], r->global, num, sizeof *r->global, psfm_compare_u32);
        r->group[k] = (uint32_t)(found - r->global);
    }
}

/* Lists the edges between sights, or only counts them without a list. */
static size_t list_edges(const psfm_plane_views *views, const psfm_plane_region *r,
                         const uint32_t *sight, psfm_plane_edge *edges) {
    size_t num = 0;
    for (size_t k = 0; k < r->num_sights; ++k)
        for (size_t i = views->begin[r->place[k]]; i < views->begin[r->place[k] + 1]; ++i) {
            uint32_t e = views->incident[i], other = sight[views->ends[e][1]];
            if (views->ends[e][0] != r->place[k] || other == UINT32_MAX)
                continue;
            if (edges != NULL)
                edges[num] = (psfm_plane_edge){views->edges[e], (uint32_t)k, other};
            ++num;
        }
    return num;
}

psfm_status psfm_plane_region_init(psfm_context *ctx, const psfm_plane_views *views,
                                   const uint32_t *group, const uint32_t *places, size_t num,
                                   psfm_plane_region *out) {
    uint32_t *sight = NULL;
    *out = (psfm_plane_region){.num_sights = num};
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, views->num_views, &sight)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num, &out->place)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num, &out->group)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num, &out->global)) != PSFM_OK)
        goto cleanup;
    memset(sight, 0xff, views->num_views * sizeof *sight);
    for (uint32_t k = 0; k < num; ++k) {
        out->place[k] = places[k];
        out->group[k] = group[places[k]];
        sight[places[k]] = k;
    }
    number_groups(out);
    out->num_edges = list_edges(views, out, sight, NULL);
    if ((status = PSFM_ALLOC(ctx, out->num_edges, &out->edges)) == PSFM_OK)
        list_edges(views, out, sight, out->edges);

cleanup:
    free(sight);
    if (status != PSFM_OK)
        psfm_plane_region_free(out);
    return status;
}

void psfm_plane_region_free(psfm_plane_region *r) {
    free(r->place);
    free(r->group);
    free(r->global);
    free(r->edges);
    *r = (psfm_plane_region){0};
}

psfm_status psfm_plane_minimum_init(psfm_context *ctx, const psfm_plane_region *region,
                                    psfm_plane_minimum *out) {
    *out = (psfm_plane_minimum){0};
    psfm_status status = PSFM_ALLOC(ctx, region->num_sights, &out->sights);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, region->num_groups, &out->log_focal);
    return status;
}

void psfm_plane_minimum_free(psfm_plane_minimum *m) {
    free(m->sights);
    free(m->log_focal);
    *m = (psfm_plane_minimum){0};
}

/* The median of log f over all sights. */
static psfm_status median_log_focal(psfm_context *ctx, const psfm_plane_problem *p,
                                    double *median) {
    double *values = NULL;
    psfm_status status = PSFM_ALLOC(ctx, p->num_sights, &values);
    for (size_t k = 0; status == PSFM_OK && k < p->num_sights; ++k)
        values[k] = p->log_focal[p->sights[k].group];
    if (status == PSFM_OK)
        *median = psfm_median(values, p->num_sights);
    free(values);
    return status;
}

psfm_status psfm_focal_adjust(psfm_context *ctx, const psfm_focal_input *in, const uint32_t *global,
                              psfm_plane_problem *p, psfm_plane_stage stage, double *sigma,
                              double *bend_sigma, psfm_plane_fit *fit) {
    double *prior = NULL, *prior_sigma = NULL, *center_sigma = NULL, median = 0.0;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, p->num_groups, &prior)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_groups, &prior_sigma)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_groups, &center_sigma)) != PSFM_OK ||
        (status = median_log_focal(ctx, p, &median)) != PSFM_OK)
        goto cleanup;
    for (size_t g = 0; g < p->num_groups; ++g) {
        double known = in->known[global == NULL ? g : global[g]];
        prior[g] = known > 0.0 ? log(known) : median;
        prior_sigma[g] = known > 0.0 ? KNOWN_SIGMA : PSFM_FREE_LOG_FOCAL;
        center_sigma[g] = known > 0.0 ? KNOWN_SIGMA : CENTER_SIGMA;
    }
    p->prior_log_focal = prior;
    p->prior_sigma = prior_sigma;
    p->center_sigma = center_sigma;
    status = psfm_plane_adjust(ctx, p, stage, sigma, bend_sigma, fit);

cleanup:
    free(prior);
    free(prior_sigma);
    free(center_sigma);
    return status;
}

/* The problem of a region, whose values are those of a minimum. */
static psfm_plane_problem region_problem(const psfm_plane_region *region, psfm_plane_minimum *m) {
    for (size_t k = 0; k < region->num_sights; ++k) {
        m->sights[k].group = region->group[k];
        m->sights[k].plane = 0;
    }
    return (psfm_plane_problem){.num_planes = 1,
                                .num_sights = region->num_sights,
                                .num_edges = region->num_edges,
                                .num_groups = region->num_groups,
                                .sights = m->sights,
                                .edges = region->edges,
                                .log_focal = m->log_focal};
}

psfm_status psfm_plane_region_adjust(psfm_context *ctx, const psfm_focal_input *in,
                                     const psfm_plane_region *region, psfm_plane_stage stage,
                                     psfm_plane_minimum *m) {
    psfm_plane_problem p = region_problem(region, m);
    psfm_status status = psfm_focal_adjust(ctx, in, region->global, &p, stage, NULL, NULL, &m->fit);
    m->found = status == PSFM_OK;
    return status == PSFM_ERR_NUMERIC ? PSFM_OK : status;
}

psfm_status psfm_plane_region_describe(psfm_context *ctx, const psfm_plane_region *region,
                                       psfm_plane_minimum *m) {
    psfm_plane_problem p = region_problem(region, m);
    psfm_status status = psfm_plane_describe(ctx, &p, &m->fit);
    m->found = status == PSFM_OK;
    return status == PSFM_ERR_NUMERIC ? PSFM_OK : status;
}
