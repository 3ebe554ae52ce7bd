/* Search over three numbers: the reference's focal length and the plane's normal.
 *
 * With these two the circular points of the plane are known in the reference: I = K_r (e1 + i e2),
 * e1 and e2 being orthonormal and in the plane. Their images v = H_i I in view i lie on the image
 * of the absolute conic, (v1^2 + v2^2) / f_i^2 + v3^2 = 0, a complex equation for one real unknown:
 *   f_i^2 = -Re(w conj z) / |z|^2,  w = v1^2 + v2^2,  z = v3^2,
 * and what is left of it says how well view i agrees. Views that share a focal length take the
 * median of theirs. The cost is robust and weakly prefers focal lengths that are similar and usual.
 *
 * A grid covers everything; its best cells are improved by random steps that become smaller. */
#include "core/calibration/plane_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "core/calibration/plane_adjust.h"
#include "core/linalg/loss.h"
#include "core/linalg/order_statistics.h"
#include "core/linalg/vec3.h"

#define NUM_FOCALS 13
#define NUM_TILTS 13
#define NUM_AZIMUTHS 24
#define MAX_SEEDS 12      /* cells of the grid that are improved */
#define ROUNDS 14         /* of improvement */
#define TRIES 40          /* in each */
#define HALF_TIME 5       /* after this round only the best go on */
#define FIRST_RADIUS 0.25 /* of the random steps: of log f, and of the normal in radians */
#define SHRINK 0.72
#define MAX_VIEWS 32 /* that take part in the search: those with the fewest links */
#define SCATTER 0.02 /* of a view's disagreement, plus SCATTER_PER_HOP of it a link */
#define SCATTER_PER_HOP 0.3
#define FOCAL_SPREAD 0.35 /* focal lengths of one set differ by about so much, in logarithms */
#define FOCAL_SPREAD_WEIGHT 0.15
#define FOCAL_SPREAD_MOST 9.0
#define USUAL_WEIGHT                                                                         \
    0.1              /* of the median's squared distance from the longer side, in logarithms \
                      */
#define HORIZON 50.0 /* cost of a horizon that crosses what is seen */
#define HORIZON_SHARE 1000.0
#define SAME_LOG 0.3 /* two cells are of one minimum if closer than that */
#define SAME_COSINE 0.97

static const double tilts_deg[NUM_TILTS] = {3, 8, 15, 23, 31, 39, 47, 55, 63, 70, 76, 81, 85};

/* A place in the space of the search. */
typedef struct {
    double focal, normal[3], cost;
} place;

/* The views in order of their groups, so that those of one group are together. */
typedef struct {
    const psfm_plane_search_input *in;
    uint32_t *order; /* places in in->views */
    uint64_t *key;   /* scratch: group and place */
    size_t num;
    double (*v)[6]; /* scratch: image of the circular point, real and imaginary parts */
    double *focal2; /* scratch, per entry of order */
    double *scratch;
} search;

/* Two unit vectors that make an orthonormal basis with n. */
static void basis_of(const double n[3], double e1[3], double e2[3]) {
    double axis[3] = {fabs(n[0]) < 0.6, fabs(n[0]) >= 0.6, 0.0};
    psfm_cross3(n, axis, e1);
    psfm_normalize3(e1);
    psfm_cross3(n, e1, e2);
}

/* Images of the circular points in all views, and the focal length each of them asks for. */
static void map_circular_points(search *s, const place *at) {
    double e1[3], e2[3], I[6], w[2], z[2];
    basis_of(at->normal, e1, e2);
    for (int k = 0; k < 3; ++k) {
        I[k] = e1[k] * (k < 2 ? at->focal : 1.0);
        I[3 + k] = e2[k] * (k < 2 ? at->focal : 1.0);
    }
    for (size_t k = 0; k < s->num; ++k) {
        const double *H = s->in->H[s->order[k]];
        for (int r = 0; r < 3; ++r) {
            s->v[k][r] = psfm_dot3(H + 3 * r, I);
            s->v[k][3 + r] = psfm_dot3(H + 3 * r, I + 3);
        }
        psfm_circular_split(s->v[k], w, z);
        s->focal2[k] =
            psfm_clip_focal2(-(w[0] * z[0] + w[1] * z[1]) / (z[0] * z[0] + z[1] * z[1] + 1e-30));
    }
}

/* Views of one group have one focal length: a fixed one, the reference's, or their median. */
static void share_focals(search *s, double reference_focal) {
    const uint32_t *group = s->in->group;
    for (size_t k = 0, end; k < s->num; k = end) {
        uint32_t g = group[s->order[k]];
        for (end = k + 1; end < s->num && group[s->order[end]] == g; ++end)
            continue;
        double focal2 = s->focal2[k];
        if (s->in->fixed[g] > 0.0) {
            focal2 = s->in->fixed[g] * s->in->fixed[g];
        } else if (g == group[s->in->reference]) {
            focal2 = reference_focal * reference_focal;
        } else if (end - k > 1) {
            memcpy(s->scratch, s->focal2 + k, (end - k) * sizeof *s->scratch);
            focal2 = psfm_median(s->scratch, end - k);
        }
        for (size_t i = k; i < end; ++i)
            s->focal2[i] = focal2;
    }
}

/* How far from orthonormal the plane's axes look in a view of this focal length, 0 to 1. */
static double find_disagreement(const double v[6], double focal2) {
    double w[2], z[2];
    psfm_circular_split(v, w, z);
    double a = v[0] * v[0] + v[3] * v[3] + v[1] * v[1] + v[4] * v[4];
    double b = v[2] * v[2] + v[5] * v[5];
    return hypot(w[0] / focal2 + z[0], w[1] / focal2 + z[1]) / (a / focal2 + b);
}

/* The visible part of the plane is on one side of its horizon. */
static double horizon_cost(const psfm_plane_search_input *in, const place *at) {
    size_t beyond = 0;
    for (size_t k = 0; k < in->num_seen; ++k) {
        double depth =
            (at->normal[0] * in->seen[k][0] + at->normal[1] * in->seen[k][1]) / at->focal +
            at->normal[2];
        beyond += depth <= 0.0;
    }
    return beyond == 0 ? 0.0 : HORIZON + HORIZON_SHARE * (double)beyond / (double)in->num_seen;
}

static void evaluate_place(search *s, place *at) {
    double cost = horizon_cost(s->in, at);
    map_circular_points(s, at);
    share_focals(s, at->focal);
    for (size_t k = 0; k < s->num; ++k) {
        double scale = SCATTER * (1.0 + SCATTER_PER_HOP * s->in->hops[s->order[k]]);
        double x = find_disagreement(s->v[k], s->focal2[k]) / scale;
        cost += psfm_cauchy(x * x, 1.0);
        s->scratch[k] = s->focal2[k];
    }
    double median = 0.5 * log(psfm_median(s->scratch, s->num));
    for (size_t k = 0; k < s->num; ++k) {
        double off = (0.5 * log(s->focal2[k]) - median) / FOCAL_SPREAD;
        cost += FOCAL_SPREAD_WEIGHT * fmin(off * off, FOCAL_SPREAD_MOST);
    }
    at->cost = cost + USUAL_WEIGHT * median * median * (double)s->num;
}

static int by_cost(const void *x, const void *y) {
    const place *a = x, *b = y;
    return (a->cost > b->cost) - (a->cost < b->cost);
}

/* The grid, sorted by cost. */
static psfm_status search_grid(psfm_context *ctx, search *s, place **grid, size_t *num) {
    double fixed = s->in->fixed[s->in->group[s->in->reference]];
    int num_focals = fixed > 0.0 ? 1 : NUM_FOCALS;
    *num = 0;
    psfm_status status = PSFM_ALLOC(ctx, (size_t)num_focals * NUM_TILTS * NUM_AZIMUTHS, grid);
    for (int f = 0; status == PSFM_OK && f < num_focals; ++f)
        for (int t = 0; t < NUM_TILTS; ++t)
            for (int a = 0; a < NUM_AZIMUTHS; ++a) {
                double tilt = tilts_deg[t] * M_PI / 180.0, azimuth = 2.0 * M_PI * a / NUM_AZIMUTHS;
                place *at = &(*grid)[(*num)++];
                at->focal = fixed > 0.0 ? fixed : 0.45 * pow(3.2 / 0.45, f / (NUM_FOCALS - 1.0));
                at->normal[0] = sin(tilt) * cos(azimuth);
                at->normal[1] = sin(tilt) * sin(azimuth);
                at->normal[2] = cos(tilt);
                evaluate_place(s, at);
            }
    if (status == PSFM_OK)
        qsort(*grid, *num, sizeof **grid, by_cost);
    return status;
}

static bool is_new(const place *found, size_t num, const place *at) {
    for (size_t k = 0; k < num; ++k)
        if (fabs(log(at->focal / found[k].focal)) <= SAME_LOG &&
            psfm_dot3(at->normal, found[k].normal) >= SAME_COSINE)
            return false;
    return true;
}

/* The best of TRIES random steps from a place, if it is better. */
static void improve_place(search *s, psfm_rng *rng, double radius, place *at) {
    place best = *at;
    bool is_free = !(s->in->fixed[s->in->group[s->in->reference]] > 0.0);
    for (int k = 0; k < TRIES; ++k) {
        place to = *at;
        double factor = exp(radius * psfm_rng_normal(rng));
        to.focal =
            is_free ? fmin(fmax(at->focal * factor, PSFM_MIN_FOCAL), PSFM_MAX_FOCAL) : at->focal;
        for (int i = 0; i < 3; ++i)
            to.normal[i] += radius * psfm_rng_normal(rng);
        psfm_normalize3(to.normal);
        if (to.normal[2] < 0.0)
            psfm_scale3(-1.0, to.normal, to.normal);
        evaluate_place(s, &to);
        if (to.cost < best.cost)
            best = to;
    }
    *at = best;
}

/* Distinct cells of the grid, improved; the best first. */
static size_t improve_best(search *s, psfm_rng *rng, const place *grid, size_t num_grid,
                           size_t max_starts, place best[MAX_SEEDS]) {
    size_t num = 0, wanted = 2 * max_starts + 4 < MAX_SEEDS ? 2 * max_starts + 4 : MAX_SEEDS;
    double radius = FIRST_RADIUS;
    for (size_t k = 0; k < num_grid && num < wanted; ++k)
        if (is_new(best, num, &grid[k]))
            best[num++] = grid[k];
    for (int round = 0; round < ROUNDS; ++round) {
        for (size_t k = 0; k < num; ++k)
            improve_place(s, rng, radius, &best[k]);
        radius *= SHRINK;
        if (round == HALF_TIME) {
            qsort(best, num, sizeof *best, by_cost);
            num = num < max_starts + 2 ? num : max_starts + 2;
        }
    }
    qsort(best, num, sizeof *best, by_cost);
    return num < max_starts ? num : max_starts;
}

/* Puts the views within reach of the reference, the nearest first and at most `most`, in order of
 * their groups. */
static void order_views(search *s, size_t most) {
    const psfm_plane_search_input *in = s->in;
    size_t num = 0, before;
    uint32_t links = 0;
    do {
        before = num;
        for (uint32_t k = 0; k < in->views->num_views && num < most; ++k)
            if (in->hops[k] == links)
                s->key[num++] = (uint64_t)in->group[k] << 32 | k;
        ++links;
    } while (num > before && num < most);
    qsort(s->key, num, sizeof *s->key, psfm_compare_u64);
    for (size_t k = 0; k < num; ++k)
        s->order[k] = (uint32_t)s->key[k];
    s->num = num;
}

/* The start of a place: focal lengths also of views that did not take part in the search. */
static psfm_status finish_start(psfm_context *ctx, search *s, const place *at,
                                psfm_plane_start *start) {
    place copy = *at;
    size_t n = s->in->views->num_views;
    psfm_status status = PSFM_ALLOC(ctx, n, &start->focal);
    if (status != PSFM_OK)
        return status;
    evaluate_place(s, &copy);
    for (size_t k = 0; k < n; ++k)
        start->focal[k] = at->focal;
    for (size_t k = 0; k < s->num; ++k)
        start->focal[s->order[k]] = sqrt(s->focal2[k]);
    start->cost = at->cost;
    memcpy(start->normal, at->normal, sizeof start->normal);
    return PSFM_OK;
}

psfm_status psfm_plane_search(psfm_context *ctx, const psfm_plane_search_input *input,
                              size_t max_starts, psfm_plane_start starts[PSFM_MAX_STARTS],
                              size_t *num) {
    size_t n = input->views->num_views, num_grid = 0;
    search s = {.in = input};
    place *grid = NULL, best[MAX_SEEDS];
    psfm_rng rng =
        psfm_rng_make(psfm_context_seed(ctx), PSFM_RNG_CALIBRATION, input->reference_rank, 0);
    psfm_status status;
    *num = 0;
    if ((status = PSFM_ALLOC(ctx, n, &s.order)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &s.key)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &s.v)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &s.focal2)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &s.scratch)) != PSFM_OK)
        goto cleanup;
    order_views(&s, n < MAX_VIEWS ? n : MAX_VIEWS);
    if ((status = search_grid(ctx, &s, &grid, &num_grid)) != PSFM_OK)
        goto cleanup;
    size_t found = improve_best(&s, &rng, grid, num_grid, max_starts, best);
    order_views(&s, PSFM_REGION_VIEWS);
    for (size_t k = 0; status == PSFM_OK && k < found; ++k)
        status = finish_start(ctx, &s, &best[k], &starts[(*num)++]);

cleanup:
    free(s.order);
    free(s.key);
    free(s.v);
    free(s.focal2);
    free(s.scratch);
    free(grid);
    return status;
}

void psfm_plane_start_free(psfm_plane_start *start) {
    free(start->focal);
    *start = (psfm_plane_start){0};
}
