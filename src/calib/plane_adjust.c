/* Levenberg and Marquardt on homographies.
 *
 * A view i of a plane maps it by G_i = K_i [r1 r2 t], so a pair has H = G_j G_i^-1. The residual of
 * an edge is the difference of the unit vectors h (predicted) and h' (measured), of squared length
 * d^T A d in the measured information A. With H' the predicted homography before normalisation,
 *   turn of j by w:   K_j [w]x K_j^-1 H'          turn of i:   -H' K_i [w]x K_i^-1
 *   shift of t_j:     K_j e_k |t| g_i             shift of t_i: -H' K_i e_k |t| g_i
 *   log f_j:          diag(1, 1, 0) H'            log f_i:     -H' diag(1, 1, 0)
 * g_i being the last row of G_i^-1; for a shift of t_j the product K_j e_k g_i is of rank one.
 *
 * Homographies do not tell where on the plane its origin is, nor its axes and scale: these four
 * directions are held by a little damping, and the focal lengths do not depend on them.
 *
 * The scale of the loss follows the residuals, first loosely, then tightly: a start is rough, and
 * homographies that are no plane, or of another one, must not count in the end. */
#include "calib/plane_adjust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "linalg/block_spd.h"
#include "linalg/mat3.h"
#include "linalg/order.h"

#define LOSS_SCALE 3.0     /* least chi at which the loss bends */
#define LOOSE 2.0          /* medians at which it bends while the start is rough */
#define TIGHT 1.2          /* and afterwards */
#define LOOSE_SHARE 0.6    /* of the iterations */
#define GOOD_CHI 8.0       /* of an edge that fits */
#define MEDIAN_CHI2_8 7.34 /* median of a sum of eight squared standard normal variables */
#define TOLERANCE 1e-5     /* relative decrease of the last step */
#define GAUGE 1e-9         /* damping that is always there, of the largest diagonal entry */
#define MAX_TRIALS 8
#define MAX_TURN 0.3  /* of a step, radians */
#define MAX_SHIFT 0.5 /* of a step, relative */
#define MAX_LOG 0.3   /* of a step in a focal length */

enum { NUM_LOCAL = 14 }; /* log f1, log f2, six of sight 1, six of sight 2 */

/* What an edge adds to, and how its parts are numbered. */
typedef struct {
    uint32_t block[4]; /* of f1, f2, sight1, sight2 */
    size_t slot[4][4]; /* places of their products in the pattern; row block <= column block */
} edge_place;

typedef struct {
    psfm_plane_sight *sights;
    double *log_focal;
    double (*G)[9], (*G_inverse)[9]; /* per sight */
    double *chi;                     /* per edge */
} state;

typedef struct {
    const psfm_plane_problem *p;
    psfm_block_pattern pattern;
    psfm_block_spd *spd;
    edge_place *places;
    state now, trial;
    double (*normal)[36]; /* per place of the pattern */
    double *rhs, *step, *scratch;
} adjustment;

/* ---- pattern ---- */

typedef struct {
    uint32_t row, col;
} entry;

static int by_place(const void *x, const void *y) {
    const entry *a = x, *b = y;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return (a->col > b->col) - (a->col < b->col);
}

static void number_blocks(const adjustment *a, const psfm_plane_edge *edge, uint32_t block[4]) {
    const psfm_plane_problem *p = a->p;
    block[0] = p->sights[edge->sight1].group;
    block[1] = p->sights[edge->sight2].group;
    block[2] = (uint32_t)p->num_groups + edge->sight1;
    block[3] = (uint32_t)p->num_groups + edge->sight2;
}

static size_t find_slot(const psfm_block_pattern *pattern, uint32_t row, uint32_t col) {
    size_t low = pattern->row_begin[row], high = pattern->row_begin[row + 1];
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (pattern->col[middle] <= col)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Sorts the entries, drops doubles and writes them down by rows. */
static void fill_pattern(entry *entries, size_t num, psfm_block_pattern *pattern) {
    size_t kept = 0;
    qsort(entries, num, sizeof *entries, by_place);
    for (size_t k = 0; k < num; ++k) {
        if (kept > 0 && by_place(&entries[kept - 1], &entries[k]) == 0)
            continue;
        entries[kept] = entries[k];
        pattern->col[kept] = entries[k].col;
        ++pattern->row_begin[entries[k].row + 1];
        ++kept;
    }
    for (uint32_t r = 0; r < pattern->num_blocks; ++r)
        pattern->row_begin[r + 1] += pattern->row_begin[r];
}

/* Blocks: one of size 1 for each group, then one of size 6 for each sight. */
static psfm_status make_pattern(psfm_context *ctx, adjustment *a) {
    const psfm_plane_problem *p = a->p;
    psfm_block_pattern *pattern = &a->pattern;
    entry *entries = NULL;
    size_t num = 0, most = 10 * p->num_edges + p->num_groups + p->num_sights;
    pattern->num_blocks = (uint32_t)(p->num_groups + p->num_sights);
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, most, &entries)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, most, &pattern->col)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, pattern->num_blocks + 1, &pattern->scalar_begin)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, pattern->num_blocks + 1, &pattern->row_begin)) != PSFM_OK)
        goto cleanup;
    for (uint32_t k = 0; k < pattern->num_blocks; ++k) {
        pattern->scalar_begin[k + 1] = pattern->scalar_begin[k] + (k < p->num_groups ? 1 : 6);
        entries[num++] = (entry){k, k};
    }
    for (size_t e = 0; e < p->num_edges; ++e) {
        uint32_t *block = a->places[e].block;
        number_blocks(a, &p->edges[e], block);
        for (int i = 0; i < 4; ++i)
            for (int j = i + 1; j < 4; ++j)
                entries[num++] =
                    block[i] < block[j] ? (entry){block[i], block[j]} : (entry){block[j], block[i]};
    }
    fill_pattern(entries, num, pattern);
    for (size_t e = 0; e < p->num_edges; ++e) {
        edge_place *place = &a->places[e];
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 4; ++j)
                if (place->block[i] <= place->block[j])
                    place->slot[i][j] = find_slot(pattern, place->block[i], place->block[j]);
    }
    status = psfm_block_spd_create(ctx, pattern, &a->spd);

cleanup:
    free(entries);
    return status;
}

/* ---- residuals ---- */

static void map_of_sight(const psfm_plane_sight *s, double f, double G[9]) {
    for (int r = 0; r < 3; ++r) {
        double scale = r < 2 ? f : 1.0;
        G[3 * r] = scale * s->R[3 * r];
        G[3 * r + 1] = scale * s->R[3 * r + 1];
        G[3 * r + 2] = scale * s->t[r];
    }
}

/* y = A d for a symmetric 9 x 9 matrix; returns d . y. */
static double weigh(const double A[81], const double d[9], double y[9]) {
    double sum = 0.0;
    for (int r = 0; r < 9; ++r) {
        y[r] = 0.0;
        for (int c = 0; c < 9; ++c)
            y[r] += A[9 * r + c] * d[c];
        sum += d[r] * y[r];
    }
    return sum;
}

/* Predicted homography H, its unit vector h of the measured sign, *length with that sign, and the
 * difference d from the measured one. */
static void predict(const state *s, const psfm_plane_edge *edge, double H[9], double h[9],
                    double *length, double d[9]) {
    const double *measured = edge->measured->H;
    double squared = 0.0, dot = 0.0;
    psfm_mat3_mul(s->G[edge->sight2], s->G_inverse[edge->sight1], H);
    for (int k = 0; k < 9; ++k) {
        squared += H[k] * H[k];
        dot += H[k] * measured[k];
    }
    *length = dot < 0.0 ? -sqrt(squared) : sqrt(squared);
    for (int k = 0; k < 9; ++k) {
        h[k] = H[k] / *length;
        d[k] = h[k] - measured[k];
    }
}

/* Fills the maps and residuals of a state; false if a sight is degenerate. */
static bool evaluate(const psfm_plane_problem *p, state *s) {
    double H[9], h[9], d[9], y[9], length;
    for (size_t k = 0; k < p->num_sights; ++k) {
        map_of_sight(&s->sights[k], exp(s->log_focal[s->sights[k].group]), s->G[k]);
        if (!psfm_mat3_inverse(s->G[k], s->G_inverse[k]))
            return false;
    }
    for (size_t e = 0; e < p->num_edges; ++e) {
        predict(s, &p->edges[e], H, h, &length, d);
        s->chi[e] = sqrt(fmax(weigh(p->edges[e].measured->information, d, y), 0.0));
        if (!isfinite(s->chi[e]))
            return false;
    }
    return true;
}

static double median_chi(const adjustment *a) {
    memcpy(a->scratch, a->now.chi, a->p->num_edges * sizeof *a->scratch);
    return psfm_median(a->scratch, a->p->num_edges);
}

static double total_cost(const psfm_plane_problem *p, const state *s, double scale) {
    double cost = 0.0;
    for (size_t e = 0; e < p->num_edges; ++e)
        cost += scale * scale * log1p(s->chi[e] * s->chi[e] / (scale * scale));
    for (size_t g = 0; g < p->num_groups; ++g) {
        double off = (s->log_focal[g] - p->prior_log_focal[g]) / p->prior_sigma[g];
        cost += off * off;
    }
    return cost;
}

/* ---- derivatives ---- */

/* The skew matrix of axis k, between K and K^-1. */
static void turned(double f, int k, double out[9]) {
    int a = (k + 1) % 3, b = (k + 2) % 3;
    double scale[3] = {f, f, 1.0};
    memset(out, 0, 9 * sizeof *out);
    out[3 * b + a] = scale[b] / scale[a];
    out[3 * a + b] = -scale[a] / scale[b];
}

/* Derivatives of H by the 14 local parameters. */
static void differentiate(const state *s, const psfm_plane_edge *edge, const double H[9],
                          double D[NUM_LOCAL][9]) {
    const psfm_plane_sight *s1 = &s->sights[edge->sight1], *s2 = &s->sights[edge->sight2];
    double f1 = exp(s->log_focal[s1->group]), f2 = exp(s->log_focal[s2->group]);
    double t1 = psfm_norm3(s1->t), t2 = psfm_norm3(s2->t), T[9];
    const double *last = s->G_inverse[edge->sight1] + 6;
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) {
            D[0][3 * r + c] = c < 2 ? -H[3 * r + c] : 0.0;
            D[1][3 * r + c] = r < 2 ? H[3 * r + c] : 0.0;
        }
    }
    for (int k = 0; k < 3; ++k) {
        turned(f1, k, T);
        psfm_mat3_mul(H, T, D[2 + k]);
        psfm_scale3(-1.0, D[2 + k], D[2 + k]);
        psfm_scale3(-1.0, D[2 + k] + 3, D[2 + k] + 3);
        psfm_scale3(-1.0, D[2 + k] + 6, D[2 + k] + 6);
        turned(f2, k, T);
        psfm_mat3_mul(T, H, D[8 + k]);
        for (int r = 0; r < 3; ++r)
            for (int c = 0; c < 3; ++c) {
                D[5 + k][3 * r + c] = -H[3 * r + k] * (k < 2 ? f1 : 1.0) * t1 * last[c];
                D[11 + k][3 * r + c] = r == k ? (k < 2 ? f2 : 1.0) * t2 * last[c] : 0.0;
            }
    }
}

/* Adds the products of an edge's parameters to their blocks. */
static void add_products(adjustment *a, const edge_place *place,
                         const double N[NUM_LOCAL][NUM_LOCAL]) {
    static const int begin[5] = {0, 1, 2, 8, NUM_LOCAL};
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            if (place->block[i] > place->block[j])
                continue;
            int cols = begin[j + 1] - begin[j];
            double *target = a->normal[place->slot[i][j]];
            for (int r = begin[i]; r < begin[i + 1]; ++r)
                for (int c = begin[j]; c < begin[j + 1]; ++c)
                    target[(r - begin[i]) * cols + c - begin[j]] += N[r][c];
        }
}

static void add_edge(adjustment *a, size_t e, double weight) {
    static const int begin[5] = {0, 1, 2, 8, NUM_LOCAL};
    const psfm_plane_edge *edge = &a->p->edges[e];
    const double *A = edge->measured->information;
    double H[9], h[9], d[9], length, D[NUM_LOCAL][9], AD[NUM_LOCAL][9];
    double N[NUM_LOCAL][NUM_LOCAL];
    predict(&a->now, edge, H, h, &length, d);
    differentiate(&a->now, edge, H, D);
    for (int k = 0; k < NUM_LOCAL; ++k) { /* of the unit vector: the part along h goes */
        double along = 0.0;
        for (int i = 0; i < 9; ++i)
            along += D[k][i] * h[i];
        for (int i = 0; i < 9; ++i)
            D[k][i] = (D[k][i] - along * h[i]) / length;
        weigh(A, D[k], AD[k]);
    }
    for (int k = 0; k < 4; ++k)
        for (int u = begin[k]; u < begin[k + 1]; ++u) {
            double g = 0.0;
            for (int i = 0; i < 9; ++i)
                g += AD[u][i] * d[i];
            a->rhs[a->pattern.scalar_begin[a->places[e].block[k]] + (uint32_t)(u - begin[k])] -=
                weight * g;
        }
    for (int u = 0; u < NUM_LOCAL; ++u)
        for (int v = 0; v < NUM_LOCAL; ++v) {
            N[u][v] = 0.0;
            for (int i = 0; i < 9; ++i)
                N[u][v] += weight * D[u][i] * AD[v][i];
        }
    add_products(a, &a->places[e], (const double(*)[NUM_LOCAL])N);
}

/* Normal equations at the current state; data_weight multiplies what the edges say. */
static void linearize(adjustment *a, double scale, double data_weight) {
    const psfm_plane_problem *p = a->p;
    size_t num = a->pattern.row_begin[a->pattern.num_blocks];
    memset(a->normal, 0, num * sizeof *a->normal);
    memset(a->rhs, 0, a->pattern.scalar_begin[a->pattern.num_blocks] * sizeof *a->rhs);
    for (size_t e = 0; e < p->num_edges; ++e) {
        double x = a->now.chi[e] / scale;
        add_edge(a, e, data_weight / (1.0 + x * x));
    }
    for (size_t g = 0; g < p->num_groups; ++g) {
        double w = 1.0 / (p->prior_sigma[g] * p->prior_sigma[g]);
        a->normal[a->pattern.row_begin[g]][0] += w;
        a->rhs[g] -= w * (a->now.log_focal[g] - p->prior_log_focal[g]);
    }
}

/* ---- steps ---- */

/* Factors the normal equations with a relative damping on the diagonal. */
static psfm_status factor(psfm_context *ctx, adjustment *a, double damping) {
    const psfm_block_pattern *pattern = &a->pattern;
    double largest = 0.0;
    for (uint32_t b = 0; b < pattern->num_blocks; ++b) {
        int dim = b < a->p->num_groups ? 1 : 6;
        for (int k = 0; k < dim; ++k)
            largest = fmax(largest, a->normal[pattern->row_begin[b]][k * dim + k]);
    }
    for (uint32_t b = 0; b < pattern->num_blocks; ++b) {
        int dim = b < a->p->num_groups ? 1 : 6;
        double block[36];
        memcpy(block, a->normal[pattern->row_begin[b]], sizeof block);
        for (int k = 0; k < dim; ++k)
            block[k * dim + k] += damping * block[k * dim + k] + (dim > 1 ? GAUGE * largest : 0.0);
        psfm_block_spd_set(a->spd, pattern->row_begin[b], block);
        for (size_t k = pattern->row_begin[b] + 1; k < pattern->row_begin[b + 1]; ++k)
            psfm_block_spd_set(a->spd, k, a->normal[k]);
    }
    return psfm_block_spd_factor(ctx, a->spd);
}

static double limited(double x, double most) {
    return fmin(fmax(x, -most), most);
}

static void move(adjustment *a) {
    const psfm_plane_problem *p = a->p;
    for (size_t g = 0; g < p->num_groups; ++g)
        a->trial.log_focal[g] = fmin(
            fmax(a->now.log_focal[g] + limited(a->step[g], MAX_LOG), log(0.7 * PSFM_MIN_FOCAL)),
            log(1.5 * PSFM_MAX_FOCAL));
    for (size_t k = 0; k < p->num_sights; ++k) {
        const double *step = a->step + p->num_groups + 6 * k;
        const psfm_plane_sight *from = &a->now.sights[k];
        psfm_plane_sight *to = &a->trial.sights[k];
        double w[3] = {step[0], step[1], step[2]}, E[9], length = psfm_norm3(from->t);
        psfm_scale3(fmin(1.0, MAX_TURN / fmax(psfm_norm3(w), 1e-300)), w, w);
        psfm_rotation_exp(w, E);
        to->group = from->group;
        psfm_mat3_mul(E, from->R, to->R);
        psfm_mat3_mul_vec(E, from->t, to->t);
        for (int i = 0; i < 3; ++i)
            to->t[i] += length * limited(step[3 + i], MAX_SHIFT);
    }
}

/* Tries steps of growing damping until one lowers the cost; *cost is then the new one. */
static psfm_status lower(psfm_context *ctx, adjustment *a, double scale, double *damping,
                         double *cost, bool *lowered) {
    *lowered = false;
    for (int k = 0; k < MAX_TRIALS && !*lowered; ++k) {
        psfm_status status = factor(ctx, a, *damping);
        if (status == PSFM_OK)
            status = psfm_block_spd_solve(ctx, a->spd, a->rhs, a->step);
        if (status != PSFM_OK && status != PSFM_ERR_NUMERIC)
            return status;
        if (status == PSFM_OK) {
            move(a);
            if (evaluate(a->p, &a->trial)) {
                double trial = total_cost(a->p, &a->trial, scale);
                *lowered = trial < *cost;
                *cost = *lowered ? trial : *cost;
            }
        }
        *damping = *lowered ? fmax(*damping / 5.0, 1e-9) : 6.0 * *damping;
    }
    return PSFM_OK;
}

static psfm_status iterate(psfm_context *ctx, adjustment *a, int max_iterations) {
    double damping = 1e-3;
    int loose = (int)(LOOSE_SHARE * max_iterations);
    for (int k = 0; k < max_iterations; ++k) {
        double scale = fmax(LOSS_SCALE, (k < loose ? LOOSE : TIGHT) * median_chi(a));
        double before = total_cost(a->p, &a->now, scale), after = before;
        bool lowered;
        linearize(a, scale, 1.0);
        psfm_status status = lower(ctx, a, scale, &damping, &after, &lowered);
        if (status != PSFM_OK)
            return status;
        if (lowered) {
            state swap = a->now;
            a->now = a->trial;
            a->trial = swap;
        }
        if (before - after <= TOLERANCE * before) {
            if (k >= loose)
                break;
            k = loose - 1; /* settled under the loose loss: go on with the tight one */
            damping = fmin(damping, 1.0);
        }
    }
    return PSFM_OK;
}

/* Standard deviations of the focal lengths; the edges' noise is scaled up to their scatter. */
static psfm_status find_sigma(psfm_context *ctx, adjustment *a, double *sigma) {
    size_t *begin = NULL;
    double median = median_chi(a), excess = fmax(1.0, median / sqrt(MEDIAN_CHI2_8));
    linearize(a, fmax(LOSS_SCALE, TIGHT * median), 1.0 / (excess * excess));
    psfm_status status = PSFM_ALLOC(ctx, a->p->num_groups, &begin);
    for (size_t g = 0; status == PSFM_OK && g < a->p->num_groups; ++g)
        begin[g] = g;
    if (status == PSFM_OK)
        status = factor(ctx, a, 0.0);
    if (status == PSFM_OK)
        status = psfm_block_spd_inverse(ctx, a->spd, (uint32_t)a->p->num_groups, begin, sigma);
    for (size_t g = 0; status == PSFM_OK && g < a->p->num_groups; ++g)
        sigma[g] = sqrt(fmax(sigma[g], 0.0));
    if (status == PSFM_ERR_NUMERIC) { /* nothing is known beyond the priors */
        memcpy(sigma, a->p->prior_sigma, a->p->num_groups * sizeof *sigma);
        status = PSFM_OK;
    }
    free(begin);
    return status;
}

static void describe(adjustment *a, psfm_plane_fit *fit) {
    size_t n = a->p->num_edges, good = 0;
    *fit = (psfm_plane_fit){.median_chi = median_chi(a)};
    for (size_t e = 0; e < n; ++e) {
        double x = a->now.chi[e];
        fit->cost += log1p(x * x / (LOSS_SCALE * LOSS_SCALE));
        good += x < GOOD_CHI;
    }
    fit->share_good = n == 0 ? 0.0 : (double)good / (double)n;
}

/* ---- set-up ---- */

static psfm_status alloc_state(psfm_context *ctx, const psfm_plane_problem *p, state *s) {
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, p->num_sights, &s->sights)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_groups, &s->log_focal)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_sights, &s->G)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_sights, &s->G_inverse)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_edges, &s->chi)) != PSFM_OK)
        return status;
    memcpy(s->sights, p->sights, p->num_sights * sizeof *s->sights);
    memcpy(s->log_focal, p->log_focal, p->num_groups * sizeof *s->log_focal);
    return PSFM_OK;
}

static void free_state(state *s) {
    free(s->sights);
    free(s->log_focal);
    free(s->G);
    free(s->G_inverse);
    free(s->chi);
}

static psfm_status set_up(psfm_context *ctx, adjustment *a) {
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, a->p->num_edges, &a->places)) != PSFM_OK ||
        (status = make_pattern(ctx, a)) != PSFM_OK ||
        (status = alloc_state(ctx, a->p, &a->now)) != PSFM_OK ||
        (status = alloc_state(ctx, a->p, &a->trial)) != PSFM_OK)
        return status;
    size_t n = a->pattern.scalar_begin[a->pattern.num_blocks];
    if ((status = PSFM_ALLOC(ctx, a->pattern.row_begin[a->pattern.num_blocks], &a->normal)) !=
            PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &a->rhs)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &a->step)) != PSFM_OK)
        return status;
    return PSFM_ALLOC(ctx, a->p->num_edges, &a->scratch);
}

psfm_status psfm_plane_adjust(psfm_context *ctx, const psfm_plane_problem *problem,
                              int max_iterations, double *sigma, psfm_plane_fit *fit) {
    adjustment a = {.p = problem};
    psfm_status status = set_up(ctx, &a);
    if (status == PSFM_OK && !evaluate(problem, &a.now))
        status = psfm_fail(ctx, PSFM_ERR_NUMERIC, "a plane is seen edge-on at the start");
    if (status == PSFM_OK)
        status = iterate(ctx, &a, max_iterations);
    if (status == PSFM_OK)
        status = find_sigma(ctx, &a, sigma);
    if (status == PSFM_OK) {
        describe(&a, fit);
        memcpy(problem->sights, a.now.sights, problem->num_sights * sizeof *problem->sights);
        memcpy(problem->log_focal, a.now.log_focal,
               problem->num_groups * sizeof *problem->log_focal);
    }
    free_state(&a.now);
    free_state(&a.trial);
    psfm_block_pattern_free(&a.pattern);
    psfm_block_spd_destroy(&a.spd);
    free(a.places);
    free(a.normal);
    free(a.rhs);
    free(a.step);
    free(a.scratch);
    return status;
}
