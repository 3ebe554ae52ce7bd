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
 * focal lengths that are determined are fixed in the searches on later planes, where there are
 * often too few views to find them.
 *
 * The standard deviation is that of the adjustment (plane_sigma.c), which has the noise of
 * homographies and principal points in it, widened by two things. Another minimum of nearly the
 * same cost counts with its distance and its likelihood. And lenses are never exactly as assumed.
 */
#include "core/calibration/focal_planes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/calibration/physical_planes.h"
#include "core/calibration/plane_minima.h"

#define MODEL_SIGMA 0.005 /* by lenses that are not as assumed */
#define FIXED_SIGMA 0.12  /* focal lengths known this well are fixed in later searches */
#define REFERENCES 4      /* views of a plane that its first values are searched from, in turn */
#define MIN_GOOD 0.4      /* share of its homographies that fit a further plane */

static const psfm_option rows[] = {
    PSFM_OPTION_INT(psfm_focal_options, max_planes, "max-planes", 6, 1, 1000,
                    "physical planes that focal lengths are estimated from, largest first"),
    PSFM_OPTION_DOUBLE(psfm_focal_options, max_sigma, "max-sigma", 0.02, 1e-6, 10.0,
                       "standard deviation of the logarithm of a focal length below which it is "
                       "determined"),
};
const psfm_option_table psfm_focal_option_table = PSFM_OPTION_TABLE("focal", rows);

typedef struct {
    const psfm_focal_input *in;
    const psfm_focal_options *options;
    const psfm_measured_planes *measured;
    double *log_focal, *sigma, *ambiguity; /* per group, so far */
    double *k1, *k1_sigma;                 /* per group, so far */
    double *fixed;                         /* per group: focal length in searches, or 0 */
    bool *seen;                            /* per group */
    psfm_plane_pose *poses;                /* of all planes so far */
    psfm_plane_edge *edges;
    size_t num_poses, num_edges, pose_capacity, edge_capacity;
    uint32_t num_planes;
    bool pending; /* the last planes were not adjusted with the others yet */
} focal_state;

static double focal_uncertainty(const focal_state *c, size_t g) {
    return hypot(c->sigma[g], c->ambiguity[g]);
}

/* Adds the poses and edges of a plane to those of all, and what it says of groups where nothing
 * better is known. */
static psfm_status append_plane(psfm_context *ctx, focal_state *c, const psfm_plane_solution *s) {
    const psfm_plane_region *r = &s->region;
    psfm_status status =
        PSFM_RESERVE(ctx, &c->poses, &c->pose_capacity, c->num_poses + r->num_poses);
    if (status == PSFM_OK)
        status = PSFM_RESERVE(ctx, &c->edges, &c->edge_capacity, c->num_edges + r->num_edges);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < r->num_poses; ++k) {
        c->poses[c->num_poses + k] = s->minimum.poses[k];
        c->poses[c->num_poses + k].group = r->global[r->group[k]];
        c->poses[c->num_poses + k].plane = c->num_planes;
    }
    for (size_t e = 0; e < r->num_edges; ++e) {
        psfm_plane_edge *edge = &c->edges[c->num_edges + e];
        *edge = r->edges[e];
        edge->pose1 += (uint32_t)c->num_poses;
        edge->pose2 += (uint32_t)c->num_poses;
    }
    for (size_t k = 0; k < r->num_groups; ++k) {
        uint32_t g = r->global[k];
        if (c->num_planes == 0 || !(focal_uncertainty(c, g) < FIXED_SIGMA))
            c->log_focal[g] = s->minimum.log_focal[k];
        c->seen[g] = true;
    }
    c->num_poses += r->num_poses;
    c->num_edges += r->num_edges;
    ++c->num_planes;
    return PSFM_OK;
}

/* All planes so far together. */
static psfm_status adjust_all(psfm_context *ctx, focal_state *c) {
    psfm_plane_fit fit;
    psfm_plane_problem p = {.num_planes = c->num_planes,
                            .num_poses = c->num_poses,
                            .num_edges = c->num_edges,
                            .num_groups = c->in->num_groups,
                            .poses = c->poses,
                            .edges = c->edges,
                            .log_focal = c->log_focal,
                            .k1 = c->in->prior_k1 == NULL ? NULL : c->k1,
                            .prior_k1 = c->in->prior_k1,
                            .prior_k1_sigma = c->in->prior_k1_sigma};
    bool has_converged = c->num_planes == 1 && p.k1 == NULL;
    psfm_status status = psfm_focal_adjust(ctx, c->in, NULL, &p,
                                           has_converged ? PSFM_PLANE_CONVERGED : PSFM_PLANE_GROWN,
                                           c->sigma, c->k1_sigma, &fit);
    c->pending = false;
    return status == PSFM_ERR_NUMERIC ? PSFM_OK : status;
}

/* Whether a focal length is fixed in searches; before the first plane only known ones are. */
static bool is_fixed(const focal_state *c, size_t g) {
    return c->in->known[g] > 0.0 || (c->num_planes > 0 && focal_uncertainty(c, g) < FIXED_SIGMA);
}

/* Takes the solution of a plane, if it is one. All planes are adjusted at once if it shows lenses
 * that the next search could not hold; otherwise that can wait until there are more. */
static psfm_status take_plane(psfm_context *ctx, focal_state *c, const psfm_plane_solution *s) {
    bool fits = c->num_planes == 0 || s->minimum.fit.share_good >= MIN_GOOD;
    bool can_wait = true;
    if (!s->minimum.found || !fits)
        return PSFM_OK;
    for (size_t k = 0; k < s->region.num_groups; ++k)
        can_wait = can_wait && is_fixed(c, s->region.global[k]);
    psfm_status status = append_plane(ctx, c, s);
    c->pending = true;
    return status == PSFM_OK && !can_wait ? adjust_all(ctx, c) : status;
}

/* Whether a plane has more measurements than unknowns: 2 n - 4 against its free focal lengths. */
static psfm_status is_determined(psfm_context *ctx, const psfm_plane_task *task, bool *answer) {
    size_t num_free = 0, n = task->views->num_views;
    bool *counted = NULL;
    psfm_status status = PSFM_ALLOC(ctx, task->in->num_groups, &counted);
    for (size_t k = 0; status == PSFM_OK && k < n; ++k) {
        uint32_t g = task->group[k];
        num_free += !counted[g] && !(task->fixed[g] > 0.0);
        counted[g] = true;
    }
    *answer = n >= 3 && 2 * n >= 4 + num_free;
    free(counted);
    return status;
}

static psfm_status solve_plane(psfm_context *ctx, focal_state *c, const uint32_t *items,
                               size_t num_items) {
    psfm_plane_views views = {0};
    psfm_plane_task task = {.in = c->in, .views = &views, .fixed = c->fixed};
    psfm_plane_solution solution = {0};
    uint32_t *group = NULL;
    bool determined = false;
    psfm_status status = psfm_plane_views_init(ctx, c->measured, items, num_items, &views);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, views.num_views, &group);
    for (size_t k = 0; status == PSFM_OK && k < views.num_views; ++k)
        group[k] = c->in->group[views.views[k]];
    task.group = group;
    if (status == PSFM_OK)
        status = is_determined(ctx, &task, &determined);
    if (status == PSFM_OK && determined)
        status = psfm_plane_solve(ctx, &task, REFERENCES, &solution,
                                  c->num_planes == 0 ? c->ambiguity : NULL);
    if (status == PSFM_OK)
        status = take_plane(ctx, c, &solution);
    psfm_plane_solution_free(&solution);
    free(group);
    psfm_plane_views_free(&views);
    return status;
}

static psfm_status solve_planes(psfm_context *ctx, focal_state *c) {
    psfm_physical_planes planes = {0};
    psfm_status status = psfm_physical_planes_find(ctx, c->measured, c->in->num_views, &planes);
    for (size_t k = 0; status == PSFM_OK && k < planes.num; ++k) {
        if (k >= (size_t)c->options->max_planes)
            break;
        for (size_t g = 0; g < c->in->num_groups; ++g)
            c->fixed[g] = !is_fixed(c, g)         ? 0.0
                          : c->in->known[g] > 0.0 ? c->in->known[g]
                                                  : exp(c->log_focal[g]);
        status = solve_plane(ctx, c, planes.items + planes.begin[k],
                             planes.begin[k + 1] - planes.begin[k]);
    }
    if (status == PSFM_OK && c->pending)
        status = adjust_all(ctx, c);
    psfm_physical_planes_free(&planes);
    return status;
}

/* Widens the standard deviations by what the adjustment does not know. */
static void fill_estimate(const focal_state *c, psfm_focal_estimate *out) {
    for (size_t g = 0; g < c->in->num_groups; ++g) {
        out->focal[g] = exp(c->log_focal[g]);
        out->sigma[g] = sqrt(c->sigma[g] * c->sigma[g] + c->ambiguity[g] * c->ambiguity[g] +
                             MODEL_SIGMA * MODEL_SIGMA);
        if (!c->seen[g])
            out->sigma[g] = INFINITY;
        if (c->in->known[g] > 0.0) {
            out->focal[g] = c->in->known[g];
            out->sigma[g] = 0.0;
        }
    }
    memcpy(out->k1, c->k1, c->in->num_groups * sizeof *out->k1);
    for (size_t g = 0; c->in->prior_k1 != NULL && g < c->in->num_groups; ++g)
        out->k1_sigma[g] = c->k1_sigma[g];
    out->num_planes = c->num_planes;
    out->num_homographies = (uint32_t)c->num_edges;
}

static psfm_status begin_focal(psfm_context *ctx, focal_state *c) {
    size_t ng = c->in->num_groups;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, ng, &c->log_focal)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, ng, &c->sigma)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, ng, &c->ambiguity)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, ng, &c->k1)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, ng, &c->k1_sigma)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, ng, &c->fixed)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, ng, &c->seen)) != PSFM_OK)
        return status;
    for (size_t g = 0; g < ng; ++g) {
        c->log_focal[g] = c->in->known[g] > 0.0 ? log(c->in->known[g]) : 0.0;
        c->sigma[g] = PSFM_FREE_LOG_FOCAL;
        if (c->in->prior_k1 != NULL) {
            c->k1[g] = c->in->prior_k1[g];
            c->k1_sigma[g] = c->in->prior_k1_sigma[g];
        }
    }
    return PSFM_OK;
}

psfm_status psfm_focal_from_planes(psfm_context *ctx, const psfm_measured_planes *measured,
                                   const psfm_focal_input *input, const psfm_focal_options *options,
                                   psfm_focal_estimate *out) {
    psfm_focal_options defaults;
    psfm_options_init(&psfm_focal_option_table, &defaults);
    focal_state c = {
        .in = input, .options = options == NULL ? &defaults : options, .measured = measured};
    *out = (psfm_focal_estimate){0};
    psfm_status status = psfm_options_check(ctx, &psfm_focal_option_table, c.options);
    if (status == PSFM_OK)
        status = begin_focal(ctx, &c);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, input->num_groups, &out->focal);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, input->num_groups, &out->sigma);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, input->num_groups, &out->k1);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, input->num_groups, &out->k1_sigma);
    if (status == PSFM_OK)
        status = solve_planes(ctx, &c);
    if (status == PSFM_OK)
        fill_estimate(&c, out);
    else
        psfm_focal_estimate_free(out);
    free(c.log_focal);
    free(c.sigma);
    free(c.k1);
    free(c.k1_sigma);
    free(c.ambiguity);
    free(c.fixed);
    free(c.seen);
    free(c.poses);
    free(c.edges);
    return status;
}

void psfm_focal_estimate_free(psfm_focal_estimate *estimate) {
    free(estimate->focal);
    free(estimate->sigma);
    free(estimate->k1);
    free(estimate->k1_sigma);
    *estimate = (psfm_focal_estimate){0};
}
