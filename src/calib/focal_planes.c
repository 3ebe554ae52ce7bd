/* Focal lengths from planes.
 *
 * A plane seen in n views gives 8 (n - 1) numbers. Poses against it take 6 n, less 4 that say where
 * on the plane its origin, axes and unit are. So 2 n - 4 are left: n = 3 views determine one common
 * focal length, n = 4 views one each. More views overdetermine it. What homographies cannot tell
 * they do not tell here either: views that all look straight down on the plane (a longer lens from
 * higher up looks the same), or that all look the same way.
 *
 * Planes are taken one by one, largest first: chained to a reference view, searched for the
 * reference's focal length and the normal (plane_search.c), adjusted (plane_adjust.c). Several
 * references and several minima of each are tried. All planes so far are then adjusted together;
 * focal lengths that are determined are held in the searches on later planes, where there are often
 * too few views to find them.
 *
 * The standard deviation is that of the adjustment, widened by three things. Homographies of
 * neighbouring pairs share keypoints and are not independent. Another minimum of nearly the same
 * cost counts with its distance and its likelihood. And principal points and lenses are never
 * exactly as assumed. */
#include "calib/focal_planes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "calib/physical_planes.h"
#include "calib/plane_adjust.h"
#include "calib/plane_chain.h"
#include "calib/plane_search.h"
#include "linalg/mat3.h"
#include "linalg/order.h"

#define PRIOR_SIGMA 0.6   /* of log f about the median of all */
#define KNOWN_SIGMA 1e-3  /* of a known one */
#define MODEL_SIGMA 0.005 /* by principal points and lenses that are not as assumed */
#define HELD_SIGMA 0.12   /* focal lengths known this well are held in later searches */
#define MIN_GOOD 0.4      /* share of its homographies that fit a further plane */
#define START_ITERATIONS 40
#define JOINT_ITERATIONS 30
#define MAX_MINIMA 3 /* adjusted from each reference, and one more: see find_starts */
#define MEDIAN_CHI2_8 7.34

static const psfm_option rows[] = {
    PSFM_OPTION_INT(psfm_focal_options, max_planes, "max-planes", 6, 1, 1000,
                    "physical planes that focal lengths are estimated from, largest first"),
    PSFM_OPTION_INT(psfm_focal_options, references, "references", 4, 1, 1000,
                    "views of a plane from which its first values are searched"),
    PSFM_OPTION_DOUBLE(psfm_focal_options, max_sigma, "max-sigma", 0.04, 1e-6, 10.0,
                       "standard deviation of the logarithm of a focal length below which it is "
                       "determined"),
};
const psfm_option_table psfm_focal_option_table = {"focal", rows, sizeof rows / sizeof *rows};

/* One local minimum of one plane. Owns its arrays. */
typedef struct {
    psfm_plane_sight *sights;  /* per view of the plane */
    double *log_focal, *sigma; /* per group */
    psfm_plane_fit fit;
    bool found;
} minimum;

static void free_minimum(minimum *m) {
    free(m->sights);
    free(m->log_focal);
    free(m->sigma);
    *m = (minimum){0};
}

typedef struct {
    const psfm_focal_input *in;
    const psfm_focal_options *options;
    const psfm_measured_planes *measured;
    double *log_focal, *sigma, *ambiguity; /* per group, so far */
    double *held;                          /* per group: focal length in searches, or 0 */
    bool *seen;                            /* per group */
    psfm_plane_sight *sights;              /* of all planes so far */
    psfm_plane_edge *edges;
    size_t num_sights, num_edges, sight_capacity, edge_capacity;
    uint32_t num_planes;
} calibration;

/* ---- one plane ---- */

typedef struct {
    const calibration *c;
    const psfm_plane_views *views;
    const uint32_t *group;  /* per view of the plane */
    psfm_plane_edge *edges; /* of the plane, sights numbered as its views */
    size_t references[16];
    minimum (*minima)[MAX_MINIMA + 1]; /* per reference */
} plane_task;

/* The median of what the groups of a plane's views have. */
static psfm_status median_log_focal(psfm_context *ctx, const double *log_focal,
                                    const uint32_t *group, size_t num, double *median) {
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
static void set_priors(const calibration *c, double median, double *prior, double *sigma) {
    for (size_t g = 0; g < c->in->num_groups; ++g) {
        bool known = c->in->known[g] > 0.0;
        prior[g] = known ? log(c->in->known[g]) : median;
        sigma[g] = known ? KNOWN_SIGMA : PRIOR_SIGMA;
    }
}

static psfm_status adjust(psfm_context *ctx, const calibration *c, psfm_plane_problem *p,
                          double median, int iterations, double *sigma, psfm_plane_fit *fit) {
    double *prior = NULL, *prior_sigma = NULL;
    psfm_status status = PSFM_ALLOC(ctx, c->in->num_groups, &prior);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, c->in->num_groups, &prior_sigma);
    if (status == PSFM_OK) {
        set_priors(c, median, prior, prior_sigma);
        p->prior_log_focal = prior;
        p->prior_sigma = prior_sigma;
        status = psfm_plane_adjust(ctx, p, iterations, sigma, fit);
    }
    free(prior);
    free(prior_sigma);
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
static psfm_status adjust_start(psfm_context *ctx, const plane_task *task,
                                const psfm_plane_search_input *in, const psfm_plane_start *start,
                                minimum *out) {
    const calibration *c = task->c;
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
    status = median_log_focal(ctx, out->log_focal, task->group, n, &median);
    psfm_plane_problem p = {.num_sights = n,
                            .num_edges = task->views->num_edges,
                            .num_groups = ng,
                            .sights = out->sights,
                            .edges = task->edges,
                            .log_focal = out->log_focal};
    if (status == PSFM_OK)
        status = adjust(ctx, c, &p, median, START_ITERATIONS, out->sigma, &out->fit);
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

/* Minima from one reference: those of the search, and one from the search with a single focal
 * length for all, which is often nearer the truth than it sounds. */
static psfm_status find_minima(psfm_context *ctx, const plane_task *task,
                               psfm_plane_search_input *in, minimum *out) {
    psfm_plane_start starts[PSFM_MAX_STARTS] = {0};
    uint32_t *one = NULL;
    size_t num = 0, num_shared = 0;
    bool any_held = false;
    const double none = 0.0;
    for (size_t g = 0; g < task->c->in->num_groups; ++g)
        any_held = any_held || task->c->held[g] > 0.0;
    psfm_status status = psfm_plane_search(ctx, in, MAX_MINIMA, starts, &num);
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
    const plane_task *task = user;
    double(*H)[9] = NULL, (*seen)[2] = NULL;
    uint32_t *hops = NULL;
    psfm_plane_search_input in = {.views = task->views,
                                  .group = task->group,
                                  .num_groups = task->c->in->num_groups,
                                  .fixed = task->c->held,
                                  .reference = task->references[index]};
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
static psfm_status choose_references(psfm_context *ctx, plane_task *task, size_t *num) {
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

/* ---- all planes ---- */

/* Other minima of nearly the same cost make the focal lengths that differ in them uncertain. */
static void count_minima(calibration *c, const minimum *minima, size_t num, const minimum *best) {
    double excess = fmax(1.0, best->fit.median_chi * best->fit.median_chi / MEDIAN_CHI2_8);
    for (size_t k = 0; k < num; ++k) {
        if (!minima[k].found || &minima[k] == best)
            continue;
        /* the cost is in units of the squared scale of the loss, 9 */
        double worse = 9.0 * (minima[k].fit.cost - best->fit.cost) / excess;
        double weight = sqrt(exp(-0.25 * worse));
        for (size_t g = 0; g < c->in->num_groups; ++g)
            c->ambiguity[g] =
                fmax(c->ambiguity[g], weight * fabs(minima[k].log_focal[g] - best->log_focal[g]));
    }
}

/* Adds the sights and edges of a plane to those of all. */
static psfm_status append(psfm_context *ctx, calibration *c, const plane_task *task,
                          const minimum *best) {
    size_t ns = task->views->num_views, ne = task->views->num_edges;
    psfm_status status = PSFM_RESERVE(ctx, &c->sights, &c->sight_capacity, c->num_sights + ns);
    if (status == PSFM_OK)
        status = PSFM_RESERVE(ctx, &c->edges, &c->edge_capacity, c->num_edges + ne);
    if (status != PSFM_OK)
        return status;
    memcpy(c->sights + c->num_sights, best->sights, ns * sizeof *c->sights);
    for (size_t e = 0; e < ne; ++e) {
        psfm_plane_edge *edge = &c->edges[c->num_edges + e];
        *edge = task->edges[e];
        edge->sight1 += (uint32_t)c->num_sights;
        edge->sight2 += (uint32_t)c->num_sights;
    }
    for (size_t k = 0; k < ns; ++k)
        c->seen[task->group[k]] = true;
    c->num_sights += ns;
    c->num_edges += ne;
    ++c->num_planes;
    return PSFM_OK;
}

static double uncertainty(const calibration *c, size_t g) {
    return hypot(c->sigma[g], c->ambiguity[g]);
}

/* All planes so far together. */
static psfm_status adjust_all(psfm_context *ctx, calibration *c) {
    uint32_t *group = NULL;
    double median = 0.0;
    psfm_plane_fit fit;
    psfm_status status = PSFM_ALLOC(ctx, c->num_sights, &group);
    for (size_t k = 0; status == PSFM_OK && k < c->num_sights; ++k)
        group[k] = c->sights[k].group;
    if (status == PSFM_OK)
        status = median_log_focal(ctx, c->log_focal, group, c->num_sights, &median);
    psfm_plane_problem p = {.num_sights = c->num_sights,
                            .num_edges = c->num_edges,
                            .num_groups = c->in->num_groups,
                            .sights = c->sights,
                            .edges = c->edges,
                            .log_focal = c->log_focal};
    if (status == PSFM_OK)
        status = adjust(ctx, c, &p, median, JOINT_ITERATIONS, c->sigma, &fit);
    free(group);
    return status == PSFM_ERR_NUMERIC ? PSFM_OK : status;
}

/* Takes the best minimum of a plane, if it is one. */
static psfm_status take_plane(psfm_context *ctx, calibration *c, const plane_task *task,
                              size_t num_references) {
    const minimum *best = NULL, *all = task->minima[0];
    size_t num = num_references * (MAX_MINIMA + 1), ng = c->in->num_groups;
    for (size_t k = 0; k < num; ++k)
        if (all[k].found && (best == NULL || all[k].fit.cost < best->fit.cost))
            best = &all[k];
    if (best == NULL || (c->num_planes > 0 && best->fit.share_good < MIN_GOOD))
        return PSFM_OK;
    if (c->num_planes == 0) {
        count_minima(c, all, num, best);
        memcpy(c->log_focal, best->log_focal, ng * sizeof *c->log_focal);
        memcpy(c->sigma, best->sigma, ng * sizeof *c->sigma);
        return append(ctx, c, task, best);
    }
    for (size_t g = 0; g < ng; ++g)
        if (!(uncertainty(c, g) < HELD_SIGMA))
            c->log_focal[g] = best->log_focal[g];
    psfm_status status = append(ctx, c, task, best);
    return status == PSFM_OK ? adjust_all(ctx, c) : status;
}

/* Whether a plane has more measurements than unknowns: 2 n - 4 against its free focal lengths. */
static bool is_determined(const calibration *c, const plane_task *task) {
    size_t num_free = 0;
    for (size_t k = 0; k < task->views->num_views; ++k) {
        bool is_first = !(c->held[task->group[k]] > 0.0);
        for (size_t i = 0; is_first && i < k; ++i)
            is_first = task->group[i] != task->group[k];
        num_free += is_first;
        if (num_free > 2 * task->views->num_views)
            break;
    }
    return task->views->num_views >= 3 && 2 * task->views->num_views >= 4 + num_free;
}

static psfm_status solve_plane(psfm_context *ctx, calibration *c, const uint32_t *items,
                               size_t num_items) {
    psfm_plane_views views = {0};
    plane_task task = {.c = c, .views = &views};
    uint32_t *group = NULL;
    size_t num_references = 0;
    psfm_status status = psfm_plane_views_init(ctx, c->measured, items, num_items, &views);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, views.num_views, &group);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num_items, &task.edges);
    for (size_t k = 0; status == PSFM_OK && k < views.num_views; ++k)
        group[k] = c->in->group[views.views[k]];
    for (size_t e = 0; status == PSFM_OK && e < num_items; ++e)
        task.edges[e] = (psfm_plane_edge){views.edges[e], views.ends[e][0], views.ends[e][1]};
    task.group = group;
    if (status != PSFM_OK || !is_determined(c, &task))
        goto cleanup;
    status = choose_references(ctx, &task, &num_references);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num_references, &task.minima);
    if (status == PSFM_OK)
        status = psfm_parallel_for(ctx, NULL, num_references, solve_from_reference, &task);
    if (status == PSFM_OK)
        status = take_plane(ctx, c, &task, num_references);

cleanup:
    for (size_t k = 0; task.minima != NULL && k < num_references; ++k)
        for (size_t i = 0; i <= MAX_MINIMA; ++i)
            free_minimum(&task.minima[k][i]);
    free(task.minima);
    free(task.edges);
    free(group);
    psfm_plane_views_free(&views);
    return status;
}

static psfm_status solve_planes(psfm_context *ctx, calibration *c) {
    psfm_physical_planes planes = {0};
    psfm_status status = psfm_physical_planes_find(ctx, c->measured, c->in->num_views, &planes);
    for (size_t k = 0; status == PSFM_OK && k < planes.num; ++k) {
        if (k >= (size_t)c->options->max_planes)
            break;
        for (size_t g = 0; g < c->in->num_groups; ++g)
            c->held[g] = c->in->known[g] > 0.0 ? c->in->known[g]
                         : c->num_planes > 0 && uncertainty(c, g) < HELD_SIGMA
                             ? exp(c->log_focal[g])
                             : 0.0;
        status = solve_plane(ctx, c, planes.items + planes.begin[k],
                             planes.begin[k + 1] - planes.begin[k]);
    }
    psfm_physical_planes_free(&planes);
    return status;
}

/* Widens the standard deviations by what the adjustment does not know. */
static void fill_estimate(const calibration *c, psfm_focal_estimate *out) {
    double degree = c->num_sights == 0 ? 0.0 : 2.0 * (double)c->num_edges / (double)c->num_sights;
    double dependence = sqrt(fmax(1.0, 0.5 * degree));
    for (size_t g = 0; g < c->in->num_groups; ++g) {
        double sigma = fmin(c->sigma[g] * dependence, fmax(c->sigma[g], PRIOR_SIGMA));
        out->focal[g] = exp(c->log_focal[g]);
        out->sigma[g] =
            sqrt(sigma * sigma + c->ambiguity[g] * c->ambiguity[g] + MODEL_SIGMA * MODEL_SIGMA);
        if (!c->seen[g])
            out->sigma[g] = INFINITY;
        if (c->in->known[g] > 0.0) {
            out->focal[g] = c->in->known[g];
            out->sigma[g] = 0.0;
        }
    }
    out->num_planes = c->num_planes;
    out->num_homographies = (uint32_t)c->num_edges;
}

static psfm_status begin(psfm_context *ctx, calibration *c) {
    size_t ng = c->in->num_groups;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, ng, &c->log_focal)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, ng, &c->sigma)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, ng, &c->ambiguity)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, ng, &c->held)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, ng, &c->seen)) != PSFM_OK)
        return status;
    for (size_t g = 0; g < ng; ++g) {
        c->log_focal[g] = c->in->known[g] > 0.0 ? log(c->in->known[g]) : 0.0;
        c->sigma[g] = PRIOR_SIGMA;
    }
    return PSFM_OK;
}

psfm_status psfm_focal_from_planes(psfm_context *ctx, const psfm_measured_planes *measured,
                                   const psfm_focal_input *input, const psfm_focal_options *options,
                                   psfm_focal_estimate *out) {
    psfm_focal_options defaults;
    psfm_options_init(&psfm_focal_option_table, &defaults);
    calibration c = {
        .in = input, .options = options == NULL ? &defaults : options, .measured = measured};
    *out = (psfm_focal_estimate){0};
    psfm_status status = psfm_options_check(ctx, &psfm_focal_option_table, c.options);
    if (status == PSFM_OK)
        status = begin(ctx, &c);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, input->num_groups, &out->focal);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, input->num_groups, &out->sigma);
    if (status == PSFM_OK)
        status = solve_planes(ctx, &c);
    if (status == PSFM_OK)
        fill_estimate(&c, out);
    else
        psfm_focal_estimate_free(out);
    free(c.log_focal);
    free(c.sigma);
    free(c.ambiguity);
    free(c.held);
    free(c.seen);
    free(c.sights);
    free(c.edges);
    return status;
}

void psfm_focal_estimate_free(psfm_focal_estimate *estimate) {
    free(estimate->focal);
    free(estimate->sigma);
    *estimate = (psfm_focal_estimate){0};
}
