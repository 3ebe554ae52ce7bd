/* Local minima of one plane: from several reference views, and several from each.
 *
 * A reference is searched for its focal length and the plane's normal (plane_search.c); each start
 * is then adjusted (plane_adjust.c). One more start comes from the search with a single focal
 * length for all, which is often nearer the truth than it sounds. */
#include "calib/plane_minima.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "calib/plane_search.h"
#include "linalg/mat3.h"
#include "linalg/order.h"

#define KNOWN_SIGMA 1e-3   /* of a known focal length, and of its principal point */
#define CENTER_SIGMA 0.005 /* of other principal points, as a share of the longer side */
#define START_ITERATIONS 40

void psfm_plane_minimum_free(psfm_plane_minimum *m) {
    free(m->sights);
    free(m->log_focal);
    free(m->sigma);
    *m = (psfm_plane_minimum){0};
}

psfm_status psfm_median_log_focal(psfm_context *ctx, const double *log_focal, const uint32_t *group,
                                  size_t num, double *median) {
    double *values = NULL;
    psfm_status status = PSFM_ALLOC(ctx, num, &values);
    for (size_t k = 0; status == PSFM_OK && k < num; ++k)
        values[k] = log_focal[group[k]];
    if (status == PSFM_OK)
        *median = psfm_median(values, num);
    free(values);
    return status;
}

/* Priors: known focal lengths are what they are, others about `median`. */
static void set_priors(const psfm_focal_state *c, double median, double *prior, double *sigma,
                       double *center_sigma) {
    for (size_t g = 0; g < c->in->num_groups; ++g) {
        bool known = c->in->known[g] > 0.0;
        prior[g] = known ? log(c->in->known[g]) : median;
        sigma[g] = known ? KNOWN_SIGMA : PSFM_FREE_LOG_FOCAL;
        center_sigma[g] = known ? KNOWN_SIGMA : CENTER_SIGMA;
    }
}

psfm_status psfm_focal_adjust(psfm_context *ctx, const psfm_focal_state *c, psfm_plane_problem *p,
                              double median, int iterations, double *sigma, psfm_plane_fit *fit) {
    double *prior = NULL, *prior_sigma = NULL, *center_sigma = NULL;
    psfm_status status = PSFM_ALLOC(ctx, c->in->num_groups, &prior);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, c->in->num_groups, &prior_sigma);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, c->in->num_groups, &center_sigma);
    if (status == PSFM_OK) {
        set_priors(c, median, prior, prior_sigma, center_sigma);
        p->center_sigma = center_sigma;
        p->prior_log_focal = prior;
        p->prior_sigma = prior_sigma;
        status = psfm_plane_adjust(ctx, p, iterations, sigma, fit);
    }
    free(prior);
    free(prior_sigma);
    free(center_sigma);
    return status;
}

/* The nearest orthonormal pair to the first two columns of M, after scaling M so that they have
 * unit length in the mean: M (M^T M)^-1/2 by the closed form of a 2 x 2 root. */
static void pose_of_map(double M[9], psfm_plane_sight *sight) {
    double a = 0.0, b = 0.0, d = 0.0, scale;
    for (int r = 0; r < 3; ++r) {
        a += M[3 * r] * M[3 * r];
        b += M[3 * r] * M[3 * r + 1];
        d += M[3 * r + 1] * M[3 * r + 1];
    }
    scale = 2.0 / (sqrt(a) + sqrt(d));
    double root = sqrt(fmax(a * d - b * b, 1e-300)), trace = sqrt(a + d + 2.0 * root);
    double inv[3] = {(d + root) / (root * trace), -b / (root * trace), (a + root) / (root * trace)};
    double r1[3], r2[3], r3[3];
    for (int r = 0; r < 3; ++r) {
        r1[r] = M[3 * r] * inv[0] + M[3 * r + 1] * inv[1];
        r2[r] = M[3 * r] * inv[1] + M[3 * r + 1] * inv[2];
        sight->t[r] = scale * M[3 * r + 2];
    }
    psfm_cross3(r1, r2, r3);
    for (int r = 0; r < 3; ++r) {
        sight->R[3 * r] = r1[r];
        sight->R[3 * r + 1] = r2[r];
        sight->R[3 * r + 2] = r3[r];
    }
}

/* Poses of all views against the plane of a start: M = K_i^-1 H_i K_r [e1 e2 n]. */
static void place_sights(const psfm_plane_search_input *in, const psfm_plane_start *start,
                         psfm_plane_sight *sights) {
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
    for (size_t k = 0; k < in->views->num_views; ++k) {
        psfm_mat3_mul(in->H[k], base, M);
        for (int i = 0; i < 6; ++i)
            M[i] /= start->focal[k];
        pose_of_map(M, &sights[k]);
        sights[k].group = in->group[k];
    }
}

/* Adjusts the plane from one start. A start that leads nowhere is no minimum. */
static psfm_status adjust_start(psfm_context *ctx, const psfm_plane_task *task,
                                const psfm_plane_search_input *in, const psfm_plane_start *start,
                                psfm_plane_minimum *out) {
    const psfm_focal_state *c = task->c;
    size_t ng = c->in->num_groups, n = task->views->num_views;
    double median = 0.0;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, n, &out->sights)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, ng, &out->log_focal)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, ng, &out->sigma)) != PSFM_OK)
        return status;
    memcpy(out->log_focal, c->log_focal, ng * sizeof *out->log_focal);
    for (size_t k = 0; k < n; ++k)
        if (!(c->held[task->group[k]] > 0.0))
            out->log_focal[task->group[k]] = log(start->focal[k]);
    place_sights(in, start, out->sights);
    for (size_t k = 0; k < n; ++k)
        out->sights[k].group = task->group[k];
    status = psfm_median_log_focal(ctx, out->log_focal, task->group, n, &median);
    psfm_plane_problem p = {.num_sights = n,
                            .num_edges = task->views->num_edges,
                            .num_groups = ng,
                            .sights = out->sights,
                            .edges = task->edges,
                            .log_focal = out->log_focal};
    if (status == PSFM_OK)
        status = psfm_focal_adjust(ctx, c, &p, median, START_ITERATIONS, out->sigma, &out->fit);
    out->found = status == PSFM_OK;
    return status == PSFM_ERR_NUMERIC ? PSFM_OK : status;
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
                               psfm_plane_search_input *in, psfm_plane_minimum *out) {
    psfm_plane_start starts[PSFM_MAX_STARTS] = {0};
    uint32_t *one = NULL;
    size_t num = 0, num_shared = 0;
    bool any_held = false;
    const double none = 0.0;
    for (size_t g = 0; g < task->c->in->num_groups; ++g)
        any_held = any_held || task->c->held[g] > 0.0;
    psfm_status status = psfm_plane_search(ctx, in, PSFM_MAX_MINIMA, starts, &num);
    if (status == PSFM_OK && !any_held && in->num_groups > 1) {
        psfm_plane_search_input shared = *in;
        status = PSFM_ALLOC(ctx, task->views->num_views, &one);
        shared.group = one;
        shared.num_groups = 1;
        shared.fixed = &none;
        if (status == PSFM_OK)
            status = psfm_plane_search(ctx, &shared, 1, starts + num, &num_shared);
    }
    for (size_t k = 0; status == PSFM_OK && k < num + num_shared; ++k)
        status = adjust_start(ctx, task, in, &starts[k], &out[k]);
    for (size_t k = 0; k < PSFM_MAX_STARTS; ++k)
        psfm_plane_start_free(&starts[k]);
    free(one);
    return status;
}

static psfm_status solve_from_reference(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    const psfm_plane_task *task = user;
    double(*H)[9] = NULL, (*seen)[2] = NULL;
    uint32_t *hops = NULL;
    psfm_plane_search_input in = {.views = task->views,
                                  .group = task->group,
                                  .num_groups = task->c->in->num_groups,
                                  .fixed = task->c->held,
                                  .reference = task->references[index],
                                  .reference_rank = (uint32_t)index};
    psfm_status status = PSFM_ALLOC(ctx, task->views->num_views, &H);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, task->views->num_views, &hops);
    if (status == PSFM_OK)
        status = psfm_plane_chain(ctx, task->views, in.reference, H, hops);
    if (status == PSFM_OK)
        status = list_seen(ctx, task->views, in.reference, &seen, &in.num_seen);
    in.H = (const double(*)[9])H;
    in.hops = hops;
    in.seen = (const double(*)[2])seen;
    if (status == PSFM_OK)
        status = find_minima(ctx, task, &in, task->minima[index]);
    free(H);
    free(hops);
    free(seen);
    return status;
}

/* Views to search from: the one with the most inliers, then each time the one farthest in links
 * from those taken. */
static psfm_status choose_references(psfm_context *ctx, psfm_plane_task *task, size_t *num) {
    const psfm_plane_views *v = task->views;
    size_t most = sizeof task->references / sizeof *task->references;
    size_t wanted = (size_t)task->c->options->references, best = 0;
    uint32_t *hops = NULL, *nearest = NULL;
    double(*H)[9] = NULL;
    psfm_status status;
    *num = 0;
    wanted = wanted < most ? wanted : most;
    wanted = wanted < v->num_views ? wanted : v->num_views;
    if ((status = PSFM_ALLOC(ctx, v->num_views, &hops)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, v->num_views, &nearest)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, v->num_views, &H)) != PSFM_OK)
        goto cleanup;
    memset(nearest, 0xff, v->num_views * sizeof *nearest);
    for (size_t k = 1; k < v->num_views; ++k)
        best = v->weight[k] > v->weight[best] ? k : best;
    while (status == PSFM_OK && *num < wanted) {
        task->references[(*num)++] = best;
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

psfm_status psfm_plane_minima_find(psfm_context *ctx, psfm_plane_task *task, size_t *num) {
    psfm_status status = choose_references(ctx, task, num);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, *num, &task->minima);
    return status == PSFM_OK ? psfm_parallel_for(ctx, NULL, *num, solve_from_reference, task)
                             : status;
}
