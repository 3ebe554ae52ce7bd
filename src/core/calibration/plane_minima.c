/* Local minima of one plane: from several reference views, and several from each.
 *
 * Minima about a reference are those of a region of its neighbours, so that the search costs the
 * same however many views the plane has; plane_solve.c takes the best one to all of them.
 *
 * A reference is searched for its focal length and the plane's normal (plane_search.c); each start
 * is then adjusted (plane_adjust.c). One more start comes from the search with a single focal
 * length for all, which is often nearer the truth than it sounds. */
#include "core/calibration/plane_minima.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/calibration/plane_adjust.h"
#include "core/calibration/plane_search.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"

void psfm_plane_found_free(psfm_plane_found *found) {
    for (size_t k = 0; k <= PSFM_MAX_MINIMA; ++k)
        psfm_plane_minimum_free(&found->minima[k]);
    psfm_plane_region_free(&found->region);
}

/* Poses of a region's views against the plane of a start: M = K_i^-1 H_i K_r [e1 e2 n]. */
static void place_poses(const psfm_plane_search_input *in, const psfm_plane_start *start,
                        const psfm_plane_region *region, psfm_plane_pose *poses) {
    double e1[3], e2[3], base[9], M[9];
    const double *n = start->normal;
    double axis[3] = {fabs(n[0]) < 0.6, fabs(n[0]) >= 0.6, 0.0};
    psfm_cross3(n, axis, e1);
    psfm_normalize3(e1);
    psfm_cross3(n, e1, e2);
    for (int r = 0; r < 3; ++r) {
        double f = r < 2 ? start->focal[in->reference] : 1.0;
        base[3 * r] = f * e1[r];
        base[3 * r + 1] = f * e2[r];
        base[3 * r + 2] = f * n[r];
    }
    for (size_t k = 0; k < region->num_poses; ++k) {
        psfm_mat3_mul(in->H[region->place[k]], base, M);
        for (int i = 0; i < 6; ++i)
            M[i] /= start->focal[region->place[k]];
        psfm_plane_pose_from_map(M, &poses[k]);
    }
}

/* Adjusts the region from one start. */
static psfm_status adjust_start(psfm_context *ctx, const psfm_plane_task *task,
                                const psfm_plane_search_input *in, const psfm_plane_start *start,
                                const psfm_plane_region *region, psfm_plane_minimum *out) {
    psfm_status status = psfm_plane_minimum_init(ctx, region, out);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < region->num_poses; ++k) {
        double fixed = task->fixed[region->global[region->group[k]]];
        out->log_focal[region->group[k]] =
            log(fixed > 0.0 ? fixed : start->focal[region->place[k]]);
    }
    place_poses(in, start, region, out->poses);
    return psfm_plane_region_adjust(ctx, task->in, region, PSFM_PLANE_FROM_SEARCH, out);
}

/* Image points of the plane in the reference view. */
static psfm_status list_seen(psfm_context *ctx, const psfm_plane_views *v, size_t reference,
                             double (**seen)[2], size_t *num) {
    size_t begin = v->begin[reference], end = v->begin[reference + 1];
    psfm_status status = PSFM_ALLOC(ctx, (end - begin) * PSFM_PLANE_SAMPLES, seen);
    *num = 0;
    for (size_t k = begin; status == PSFM_OK && k < end; ++k) {
        int side = v->ends[v->incident[k]][0] == reference ? 0 : 1;
        for (int i = 0; i < PSFM_PLANE_SAMPLES; ++i)
            memcpy((*seen)[(*num)++], v->edges[v->incident[k]]->samples[side][i],
                   sizeof(double[2]));
    }
    return status;
}

/* Minima from one reference. */
static psfm_status find_minima(psfm_context *ctx, const psfm_plane_task *task,
                               psfm_plane_search_input *in, psfm_plane_found *out) {
    psfm_plane_start starts[PSFM_MAX_STARTS] = {0};
    uint32_t *one = NULL;
    size_t num = 0, num_shared = 0;
    bool any_fixed = false;
    const double none = 0.0;
    for (size_t g = 0; g < task->in->num_groups; ++g)
        any_fixed = any_fixed || task->fixed[g] > 0.0;
    psfm_status status = psfm_plane_search(ctx, in, PSFM_MAX_MINIMA, starts, &num);
    if (status == PSFM_OK && !any_fixed && in->num_groups > 1) {
        psfm_plane_search_input shared = *in;
        status = PSFM_ALLOC(ctx, task->views->num_views, &one);
        shared.group = one;
        shared.num_groups = 1;
        shared.fixed = &none;
        if (status == PSFM_OK)
            status = psfm_plane_search(ctx, &shared, 1, starts + num, &num_shared);
    }
    for (size_t k = 0; status == PSFM_OK && k < num + num_shared; ++k)
        status = adjust_start(ctx, task, in, &starts[k], &out->region, &out->minima[k]);
    for (size_t k = 0; k < PSFM_MAX_STARTS; ++k)
        psfm_plane_start_free(&starts[k]);
    free(one);
    return status;
}

/* The views with the fewest links from the reference, at most PSFM_REGION_VIEWS. */
static psfm_status make_region(psfm_context *ctx, const psfm_plane_task *task, const uint32_t *hops,
                               psfm_plane_region *out) {
    const psfm_plane_views *v = task->views;
    uint32_t places[PSFM_REGION_VIEWS];
    size_t num = 0, before;
    uint32_t links = 0;
    do {
        before = num;
        for (uint32_t k = 0; k < v->num_views && num < PSFM_REGION_VIEWS; ++k)
            if (hops[k] == links)
                places[num++] = k;
        ++links;
    } while (num > before && num < PSFM_REGION_VIEWS);
    qsort(places, num, sizeof *places, psfm_compare_u32);
    return psfm_plane_region_init(ctx, v, task->group, places, num, out);
}

typedef struct {
    const psfm_plane_task *task;
    psfm_plane_found *found;
} job;

static psfm_status solve_from_reference(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    const job *j = user;
    const psfm_plane_task *task = j->task;
    psfm_plane_found *found = &j->found[index];
    double(*H)[9] = NULL, (*seen)[2] = NULL;
    uint32_t *hops = NULL;
    psfm_plane_search_input in = {.views = task->views,
                                  .group = task->group,
                                  .num_groups = task->in->num_groups,
                                  .fixed = task->fixed,
                                  .reference = found->reference,
                                  .reference_rank = (uint32_t)index};
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, task->views->num_views, &H)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, task->views->num_views, &hops)) != PSFM_OK ||
        (status = psfm_plane_chain(ctx, task->views, in.reference, H, hops)) != PSFM_OK ||
        (status = make_region(ctx, task, hops, &found->region)) != PSFM_OK ||
        (status = list_seen(ctx, task->views, in.reference, &seen, &in.num_seen)) != PSFM_OK)
        goto cleanup;
    in.H = (const double(*)[9])H;
    in.hops = hops;
    in.seen = (const double(*)[2])seen;
    status = find_minima(ctx, task, &in, found);

cleanup:
    free(H);
    free(hops);
    free(seen);
    return status;
}

/* Views to search from: the one with the most inliers, then each time the one farthest in links
 * from those taken. */
static psfm_status choose_references(psfm_context *ctx, const psfm_plane_views *v, size_t wanted,
                                     psfm_plane_found *found, size_t *num) {
    size_t best = 0;
    uint32_t *hops = NULL, *nearest = NULL;
    double(*H)[9] = NULL;
    psfm_status status;
    *num = 0;
    wanted = wanted < PSFM_MAX_REFERENCES ? wanted : PSFM_MAX_REFERENCES;
    wanted = wanted < v->num_views ? wanted : v->num_views;
    if ((status = PSFM_ALLOC(ctx, v->num_views, &hops)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, v->num_views, &nearest)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, v->num_views, &H)) != PSFM_OK)
        goto cleanup;
    memset(nearest, 0xff, v->num_views * sizeof *nearest);
    for (size_t k = 1; k < v->num_views; ++k)
        best = v->weight[k] > v->weight[best] ? k : best;
    while (status == PSFM_OK && *num < wanted) {
        found[(*num)++].reference = best;
        status = psfm_plane_chain(ctx, v, best, H, hops);
        for (size_t k = 0; k < v->num_views; ++k)
            nearest[k] = hops[k] < nearest[k] ? hops[k] : nearest[k];
        best = 0;
        for (size_t k = 1; k < v->num_views; ++k)
            if (nearest[k] > nearest[best] ||
                (nearest[k] == nearest[best] && v->weight[k] > v->weight[best]))
                best = k;
    }

cleanup:
    free(hops);
    free(nearest);
    free(H);
    return status;
}

psfm_status psfm_plane_minima_find(psfm_context *ctx, const psfm_plane_task *task, int wanted,
                                   psfm_plane_found *found, size_t *num) {
    job j = {task, found};
    psfm_status status = choose_references(ctx, task->views, (size_t)wanted, found, num);
    return status == PSFM_OK ? psfm_parallel_for(ctx, NULL, *num, solve_from_reference, &j)
                             : status;
}

/* ---- regions ---- */

/* A plane may have thousands of views. Its minima are searched among a few dozen neighbours, and
 * what is found there grows: each is an adjustment of a part of the plane. Groups are numbered
 * anew in each part, so that it costs what the part costs. */

#define KNOWN_SIGMA 1e-3   /* of a known focal length, and of its principal point */
#define CENTER_SIGMA 0.005 /* of other principal points, as a share of the longer side */

/* Numbers the groups of the poses; `group` has the number among all on entry. */
static void number_groups(psfm_plane_region *r) {
    size_t num = 0;
    memcpy(r->global, r->group, r->num_poses * sizeof *r->global);
    qsort(r->global, r->num_poses, sizeof *r->global, psfm_compare_u32);
    for (size_t k = 0; k < r->num_poses; ++k)
        if (k == 0 || r->global[k] != r->global[num - 1])
            r->global[num++] = r->global[k];
    r->num_groups = num;
    for (size_t k = 0; k < r->num_poses; ++k) {
        const uint32_t *found =
            bsearch(&r->group[k], r->global, num, sizeof *r->global, psfm_compare_u32);
        r->group[k] = (uint32_t)(found - r->global);
    }
}

/* Lists the edges between poses, or only counts them without a list. */
static size_t list_edges(const psfm_plane_views *views, const psfm_plane_region *r,
                         const uint32_t *pose, psfm_plane_edge *edges) {
    size_t num = 0;
    for (size_t k = 0; k < r->num_poses; ++k)
        for (size_t i = views->begin[r->place[k]]; i < views->begin[r->place[k] + 1]; ++i) {
            uint32_t e = views->incident[i], other = pose[views->ends[e][1]];
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
    uint32_t *pose = NULL;
    *out = (psfm_plane_region){.num_poses = num};
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, views->num_views, &pose)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num, &out->place)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num, &out->group)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num, &out->global)) != PSFM_OK)
        goto cleanup;
    memset(pose, 0xff, views->num_views * sizeof *pose);
    for (uint32_t k = 0; k < num; ++k) {
        out->place[k] = places[k];
        out->group[k] = group[places[k]];
        pose[places[k]] = k;
    }
    number_groups(out);
    out->num_edges = list_edges(views, out, pose, NULL);
    if ((status = PSFM_ALLOC(ctx, out->num_edges, &out->edges)) == PSFM_OK)
        list_edges(views, out, pose, out->edges);

cleanup:
    free(pose);
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
    psfm_status status = PSFM_ALLOC(ctx, region->num_poses, &out->poses);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, region->num_groups, &out->log_focal);
    return status;
}

void psfm_plane_minimum_free(psfm_plane_minimum *m) {
    free(m->poses);
    free(m->log_focal);
    *m = (psfm_plane_minimum){0};
}

/* The median of log f over all poses. */
static psfm_status median_log_focal(psfm_context *ctx, const psfm_plane_problem *p,
                                    double *median) {
    double *values = NULL;
    psfm_status status = PSFM_ALLOC(ctx, p->num_poses, &values);
    for (size_t k = 0; status == PSFM_OK && k < p->num_poses; ++k)
        values[k] = p->log_focal[p->poses[k].group];
    if (status == PSFM_OK)
        *median = psfm_median(values, p->num_poses);
    free(values);
    return status;
}

psfm_status psfm_focal_adjust(psfm_context *ctx, const psfm_focal_input *in, const uint32_t *global,
                              psfm_plane_problem *p, psfm_plane_stage stage, double *sigma,
                              double *k1_sigma, psfm_plane_fit *fit) {
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
    status = psfm_plane_adjust(ctx, p, stage, sigma, k1_sigma, fit);

cleanup:
    free(prior);
    free(prior_sigma);
    free(center_sigma);
    return status;
}

/* The problem of a region, whose values are those of a minimum. */
static psfm_plane_problem region_problem(const psfm_plane_region *region, psfm_plane_minimum *m) {
    for (size_t k = 0; k < region->num_poses; ++k) {
        m->poses[k].group = region->group[k];
        m->poses[k].plane = 0;
    }
    return (psfm_plane_problem){.num_planes = 1,
                                .num_poses = region->num_poses,
                                .num_edges = region->num_edges,
                                .num_groups = region->num_groups,
                                .poses = m->poses,
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
