/* Residuals, derivatives and normal equations of the adjustment of planes.
 *
 * A change of a lens's distortion has an effect on the matches that no homography has, and one that
 * a homography absorbs: measured_planes.c has both, to first order, so that an edge has eleven
 * residuals, nine of H and k1 of both lenses.
 *
 * The residual of an edge is the difference of the unit vectors h (predicted) and h' (measured), of
 * squared length d^T A d in the measured information A. With H' the predicted homography before
 * normalisation,
 *   turn of j by w:   K_j [w]x K_j^-1 H'          turn of i:   -H' K_i [w]x K_i^-1
 *   shift of t_j:     K_j e_k |t| g_i             shift of t_i: -H' K_i e_k |t| g_i
 *   log f_j:          diag(1, 1, 0) H'            log f_i:     -H' diag(1, 1, 0)
 *   center of j:      e_k e_3^T H'                center of i: -H' e_k e_3^T
 * g_i being the last row of G_i^-1; for a shift of t_j the product K_j e_k g_i is of rank one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/calibration/plane_adjust.h"
#include "core/calibration/plane_adjust_internal.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"

#define GAUGE 1e-9 /* damping that is always there, of the largest diagonal entry */
#define FIXED 1e-9 /* standard deviation of a k1 that is fixed, where others are not */

enum { MAX_LOCAL = 2 * (PSFM_LENS_DIM + PSFM_PLANE_POSE_DIM) };

/* First of an edge's local unknowns of the groups of pose 1 and 2, and of the poses; their number
 * is the last. */
static void number_locals(const psfm_plane_equations *eq, int begin[5]) {
    begin[0] = 0;
    for (int k = 0; k < 4; ++k)
        begin[k + 1] = begin[k] + (k < 2 ? eq->lens_dim : PSFM_PLANE_POSE_DIM);
}

/* y = A d, A being the information of the residuals; returns d . y. */
static double weigh_residuals(const psfm_measured_plane *m, const double d[PSFM_EDGE_DIM],
                              double y[PSFM_EDGE_DIM]) {
    double sum = 0.0;
    for (int r = 0; r < 9; ++r) {
        y[r] = m->k1.by_H[r][0] * d[9] + m->k1.by_H[r][1] * d[10];
        for (int c = 0; c < 9; ++c)
            y[r] += m->information[9 * r + c] * d[c];
        sum += d[r] * y[r];
    }
    for (int s = 0; s < 2; ++s) {
        y[9 + s] = m->k1.normal[s][0] * d[9] + m->k1.normal[s][1] * d[10];
        for (int c = 0; c < 9; ++c)
            y[9 + s] += m->k1.by_H[c][s] * d[c];
        sum += d[9 + s] * y[9 + s];
    }
    return sum;
}

/* Predicted homography H, its unit vector h of the measured sign, *length with that sign, and the
 * residuals d. */
void psfm_plane_predict(const psfm_plane_state *s, const psfm_plane_edge *edge, double H[9],
                        double h[9], double *length, double d[PSFM_EDGE_DIM]) {
    const double *measured = edge->measured->H;
    double squared = 0.0, dot = 0.0;
    psfm_mat3_mul(s->G[edge->pose2], s->G_inverse[edge->pose1], H);
    for (int k = 0; k < 9; ++k) {
        squared += H[k] * H[k];
        dot += H[k] * measured[k];
    }
    *length = dot < 0.0 ? -sqrt(squared) : sqrt(squared);
    for (int k = 0; k < 9; ++k) {
        h[k] = H[k] / *length;
        d[k] = h[k] - measured[k];
    }
    d[9] = s->k1[s->poses[edge->pose1].group];
    d[10] = s->k1[s->poses[edge->pose2].group];
}

/* The squared residual. Where k1 is free it is that beyond the best k1 and homography of the
 * pair alone, so that it is a square. */
static double squared_residual(const psfm_plane_problem *p, const psfm_plane_state *s,
                               const psfm_plane_edge *edge) {
    const psfm_k1_information *k1 = &edge->measured->k1;
    double H[9], h[9], d[PSFM_EDGE_DIM], y[PSFM_EDGE_DIM], length;
    psfm_plane_predict(s, edge, H, h, &length, d);
    double squared = weigh_residuals(edge->measured, d, y);
    if (p->k1 != NULL)
        squared += k1->gain + 2.0 * (k1->gradient[0] * d[9] + k1->gradient[1] * d[10]);
    return squared < 0.0 ? 0.0 : squared;
}

bool psfm_plane_evaluate(const psfm_plane_adjustment *a, psfm_plane_state *s) {
    const psfm_plane_problem *p = a->p;
    for (size_t k = 0; k < p->num_poses; ++k) {
        psfm_plane_map(&s->poses[k], exp(s->log_focal[s->poses[k].group]), s->G[k]);
        if (!psfm_mat3_inverse(s->G[k], s->G_inverse[k]))
            return false;
    }
    for (size_t e = 0; e < p->num_edges; ++e) {
        double weight = a->weight[p->poses[p->edges[e].pose1].plane];
        s->chi[e] = sqrt(weight * squared_residual(p, s, &p->edges[e]));
        if (!isfinite(s->chi[e]))
            return false;
    }
    return true;
}

/* The skew matrix of axis k, between K and K^-1. */
static void differentiate_axis(double f, int k, double out[9]) {
    int a = (k + 1) % 3, b = (k + 2) % 3;
    double scale[3] = {f, f, 1.0};
    memset(out, 0, 9 * sizeof *out);
    out[3 * b + a] = scale[b] / scale[a];
    out[3 * a + b] = -scale[a] / scale[b];
}

/* The derivative of an edge's numbers by a parameter of the lens of side 0 or 1. */
static void differentiate_lens(const double H[9], int side, int parameter,
                               double out[PSFM_EDGE_DIM]) {
    int k = parameter - PSFM_LENS_CENTER;
    memset(out, 0, PSFM_EDGE_DIM * sizeof *out);
    if (parameter == PSFM_LENS_K1)
        out[9 + side] = 1.0;
    for (int i = 0; i < 9 && parameter != PSFM_LENS_K1; ++i) {
        int r = i / 3, c = i % 3;
        if (parameter == PSFM_LENS_FOCAL)
            out[i] = side == 0 ? (c < 2 ? -H[i] : 0.0) : (r < 2 ? H[i] : 0.0);
        else
            out[i] = side == 0 ? (c == 2 ? -H[3 * r + k] : 0.0) : (r == k ? H[6 + c] : 0.0);
    }
}

/* The same by the poses of either side. */
static void differentiate_poses(const psfm_plane_state *s, const psfm_plane_edge *edge,
                                const double H[9], double by1[PSFM_PLANE_POSE_DIM][PSFM_EDGE_DIM],
                                double by2[PSFM_PLANE_POSE_DIM][PSFM_EDGE_DIM]) {
    const psfm_plane_pose *s1 = &s->poses[edge->pose1], *s2 = &s->poses[edge->pose2];
    double f1 = exp(s->log_focal[s1->group]), f2 = exp(s->log_focal[s2->group]);
    double t1 = psfm_norm3(s1->t), t2 = psfm_norm3(s2->t), T[9];
    const double *last = s->G_inverse[edge->pose1] + 6;
    memset(by1, 0, PSFM_PLANE_POSE_DIM * sizeof *by1);
    memset(by2, 0, PSFM_PLANE_POSE_DIM * sizeof *by2);
    for (int k = 0; k < 3; ++k) {
        differentiate_axis(f1, k, T);
        psfm_mat3_mul(H, T, by1[k]);
        differentiate_axis(f2, k, T);
        psfm_mat3_mul(T, H, by2[k]);
        for (int i = 0; i < 9; ++i) {
            int r = i / 3, c = i % 3;
            by1[k][i] = -by1[k][i];
            by1[3 + k][i] = -H[3 * r + k] * (k < 2 ? f1 : 1.0) * t1 * last[c];
            by2[3 + k][i] = r == k ? (k < 2 ? f2 : 1.0) * t2 * last[c] : 0.0;
        }
    }
}

/* Adds the products of an edge's unknowns to their blocks. */
static void add_products(psfm_plane_equations *eq, const psfm_edge_place *place, const int begin[5],
                         const double N[MAX_LOCAL][MAX_LOCAL]) {
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            if (place->block[i] > place->block[j])
                continue;
            int cols = begin[j + 1] - begin[j];
            double *target = eq->normal[place->slot[i][j]];
            for (int r = begin[i]; r < begin[i + 1]; ++r)
                for (int c = begin[j]; c < begin[j + 1]; ++c)
                    target[(r - begin[i]) * cols + c - begin[j]] += N[r][c];
        }
}

/* From the derivative of H to that of its unit vector h: the part along h goes. */
static void project_out_length(const double h[9], double length, double D[PSFM_EDGE_DIM]) {
    double along = 0.0;
    for (int i = 0; i < 9; ++i)
        along += D[i] * h[i];
    for (int i = 0; i < 9; ++i)
        D[i] = (D[i] - along * h[i]) / length;
}

/* An edge to first order: its residuals d, their derivatives by the local unknowns, and the
 * products of these with the information. */
typedef struct {
    int begin[5]; /* see number_locals */
    double H[9], h[9], length, d[PSFM_EDGE_DIM];
    double D[MAX_LOCAL][PSFM_EDGE_DIM], AD[MAX_LOCAL][PSFM_EDGE_DIM];
} linear_edge;

static void differentiate_edge(const psfm_plane_adjustment *a, const psfm_plane_edge *edge,
                               linear_edge *l) {
    number_locals(&a->eq, l->begin);
    psfm_plane_predict(&a->now, edge, l->H, l->h, &l->length, l->d);
    for (int side = 0; side < 2; ++side)
        for (int k = 0; k < a->eq.lens_dim; ++k)
            differentiate_lens(l->H, side, k, l->D[l->begin[side] + k]);
    differentiate_poses(&a->now, edge, l->H, l->D + l->begin[2], l->D + l->begin[3]);
    for (int k = 0; k < l->begin[4]; ++k) {
        project_out_length(l->h, l->length, l->D[k]);
        weigh_residuals(edge->measured, l->D[k], l->AD[k]);
    }
}

/* Places of an edge's local unknowns among all. */
static void place_locals(const psfm_plane_equations *eq, size_t e, const int begin[5],
                         uint32_t place[MAX_LOCAL]) {
    for (int k = 0; k < 4; ++k)
        for (int u = begin[k]; u < begin[k + 1]; ++u)
            place[u] = eq->pattern.scalar_begin[eq->places[e].block[k]] + (uint32_t)(u - begin[k]);
}

static void add_edge(psfm_plane_adjustment *a, size_t e, double weight) {
    psfm_plane_equations *eq = &a->eq;
    const psfm_plane_edge *edge = &a->p->edges[e];
    const double *gradient = edge->measured->k1.gradient;
    linear_edge l;
    uint32_t place[MAX_LOCAL];
    double N[MAX_LOCAL][MAX_LOCAL];
    differentiate_edge(a, edge, &l);
    place_locals(eq, e, l.begin, place);
    for (int u = 0; u < l.begin[4]; ++u) {
        double by_k1 = l.D[u][9] * gradient[0] + l.D[u][10] * gradient[1];
        eq->rhs[place[u]] -= weight * (psfm_dot(l.AD[u], l.d, PSFM_EDGE_DIM) + by_k1);
        for (int v = 0; v < l.begin[4]; ++v)
            N[u][v] = weight * psfm_dot(l.D[u], l.AD[v], PSFM_EDGE_DIM);
    }
    add_products(eq, &eq->places[e], l.begin, (const double(*)[MAX_LOCAL])N);
}

/* What an edge counts for under a Cauchy loss. */
static double edge_weight(const psfm_plane_adjustment *a, size_t e, double scale) {
    double x = a->now.chi[e] / scale;
    return a->weight[a->p->poses[a->p->edges[e].pose1].plane] / (1.0 + x * x);
}

/* Products of an edge's unknowns with displacements of either principal point along either axis,
 * by one standard deviation. */
static void displace_edge(const psfm_plane_adjustment *a, const psfm_plane_edge *edge,
                          const linear_edge *l, double weight, double C[MAX_LOCAL][4]) {
    for (int k = 0; k < 4; ++k) {
        double by[PSFM_EDGE_DIM];
        uint32_t pose = k < 2 ? edge->pose1 : edge->pose2;
        double sigma = a->p->center_sigma[a->p->poses[pose].group];
        differentiate_lens(l->H, k / 2, PSFM_LENS_CENTER + k % 2, by);
        project_out_length(l->h, l->length, by);
        for (int u = 0; u < l->begin[4]; ++u)
            C[u][k] = weight * sigma * psfm_dot(l->AD[u], by, PSFM_EDGE_DIM);
    }
}

void psfm_plane_displace(const psfm_plane_adjustment *a, double scale, double share,
                         const uint64_t (*signs)[2], int first, int num, double *rhs) {
    const psfm_plane_problem *p = a->p;
    size_t n = a->eq.pattern.scalar_begin[a->eq.pattern.num_blocks];
    linear_edge l;
    uint32_t place[MAX_LOCAL];
    double C[MAX_LOCAL][4];
    for (size_t e = 0; e < p->num_edges; ++e) {
        const psfm_plane_edge *edge = &p->edges[e];
        differentiate_edge(a, edge, &l);
        place_locals(&a->eq, e, l.begin, place);
        displace_edge(a, edge, &l, share * edge_weight(a, e, scale), C);
        for (int k = 0; k < 4; ++k) {
            uint64_t bits = signs[p->poses[k < 2 ? edge->pose1 : edge->pose2].group][k % 2];
            for (int s = 0; s < num; ++s)
                for (int u = 0; u < l.begin[4]; ++u)
                    rhs[(size_t)s * n + place[u]] += bits >> (first + s) & 1 ? C[u][k] : -C[u][k];
        }
    }
}

/* Weight of the prior of an unknown of a group, and how far the value is from it. */
static double lens_prior(const psfm_plane_adjustment *a, size_t g, int parameter, double *off) {
    const psfm_plane_problem *p = a->p;
    double sigma = p->prior_sigma[g];
    *off = a->now.log_focal[g] - p->prior_log_focal[g];
    if (parameter == PSFM_LENS_K1) {
        bool is_free = p->prior_k1_sigma[g] > 0.0;
        sigma = is_free ? p->prior_k1_sigma[g] : FIXED;
        *off = is_free ? a->now.k1[g] - p->prior_k1[g] : 0.0;
    }
    return 1.0 / (sigma * sigma);
}

void psfm_plane_linearize(psfm_plane_adjustment *a, double scale, double share) {
    const psfm_plane_problem *p = a->p;
    psfm_plane_equations *eq = &a->eq;
    size_t num = eq->pattern.row_begin[eq->pattern.num_blocks];
    memset(eq->normal, 0, num * sizeof *eq->normal);
    memset(eq->rhs, 0, eq->pattern.scalar_begin[eq->pattern.num_blocks] * sizeof *eq->rhs);
    for (size_t e = 0; e < p->num_edges; ++e)
        add_edge(a, e, share * edge_weight(a, e, scale));
    for (size_t g = 0; g < p->num_groups; ++g)
        for (int k = 0; k < eq->lens_dim; ++k) {
            double off, w = lens_prior(a, g, k, &off);
            eq->normal[eq->pattern.row_begin[g]][k * (eq->lens_dim + 1)] += w;
            eq->rhs[eq->pattern.scalar_begin[g] + (uint32_t)k] -= w * off;
        }
}

psfm_status psfm_plane_factor(psfm_context *ctx, psfm_plane_adjustment *a, double damping) {
    psfm_plane_equations *eq = &a->eq;
    const psfm_block_pattern *pattern = &eq->pattern;
    double largest = 0.0, block[36];
    for (uint32_t b = (uint32_t)a->p->num_groups; b < pattern->num_blocks; ++b)
        for (int k = 0; k < PSFM_PLANE_POSE_DIM; ++k)
            largest =
                fmax(largest, eq->normal[pattern->row_begin[b]][k * (PSFM_PLANE_POSE_DIM + 1)]);
    for (uint32_t b = 0; b < pattern->num_blocks; ++b) {
        bool is_pose = b >= a->p->num_groups;
        int dim = is_pose ? PSFM_PLANE_POSE_DIM : eq->lens_dim;
        memcpy(block, eq->normal[pattern->row_begin[b]], sizeof block);
        for (int k = 0; k < dim; ++k)
            block[k * dim + k] += damping * block[k * dim + k] + (is_pose ? GAUGE * largest : 0.0);
        psfm_block_spd_set(eq->spd, pattern->row_begin[b], block);
        for (size_t k = pattern->row_begin[b] + 1; k < pattern->row_begin[b + 1]; ++k)
            psfm_block_spd_set(eq->spd, k, eq->normal[k]);
    }
    return psfm_block_spd_factor(ctx, eq->spd);
}

/* ---- the pattern of the equations ---- */

typedef struct {
    uint32_t row, col;
} entry;

static void number_blocks(const psfm_plane_problem *p, const psfm_plane_edge *edge,
                          uint32_t block[4]) {
    block[0] = p->poses[edge->pose1].group;
    block[1] = p->poses[edge->pose2].group;
    block[2] = (uint32_t)p->num_groups + edge->pose1;
    block[3] = (uint32_t)p->num_groups + edge->pose2;
}

static size_t find_slot(const psfm_block_pattern *pattern, uint32_t row, uint32_t col) {
    size_t begin = pattern->row_begin[row];
    return begin + psfm_lower_bound(&col, pattern->col + begin, pattern->row_begin[row + 1] - begin,
                                    sizeof col, psfm_compare_u32);
}

/* Sorts the entries, drops doubles and writes them down by rows. */
static void fill_pattern(entry *entries, size_t num, psfm_block_pattern *pattern) {
    size_t kept = 0;
    qsort(entries, num, sizeof *entries, psfm_compare_u32_pair);
    for (size_t k = 0; k < num; ++k) {
        if (kept > 0 && psfm_compare_u32_pair(&entries[kept - 1], &entries[k]) == 0)
            continue;
        entries[kept] = entries[k];
        pattern->col[kept] = entries[k].col;
        ++pattern->row_begin[entries[k].row + 1];
        ++kept;
    }
    for (uint32_t r = 0; r < pattern->num_blocks; ++r)
        pattern->row_begin[r + 1] += pattern->row_begin[r];
}

/* Lists the blocks that are not zero. */
static size_t list_entries(const psfm_plane_problem *p, psfm_plane_equations *eq, entry *entries) {
    size_t num = 0;
    for (uint32_t k = 0; k < eq->pattern.num_blocks; ++k)
        entries[num++] = (entry){k, k};
    for (size_t e = 0; e < p->num_edges; ++e) {
        uint32_t *block = eq->places[e].block;
        number_blocks(p, &p->edges[e], block);
        for (int i = 0; i < 4; ++i)
            for (int j = i + 1; j < 4; ++j)
                entries[num++] =
                    block[i] < block[j] ? (entry){block[i], block[j]} : (entry){block[j], block[i]};
    }
    return num;
}

static void find_slots(psfm_plane_equations *eq, psfm_edge_place *place) {
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            if (place->block[i] <= place->block[j])
                place->slot[i][j] = find_slot(&eq->pattern, place->block[i], place->block[j]);
}

static psfm_status make_pattern(psfm_context *ctx, const psfm_plane_problem *p,
                                psfm_plane_equations *eq) {
    psfm_block_pattern *pattern = &eq->pattern;
    entry *entries = NULL;
    size_t most = 10 * p->num_edges + p->num_groups + p->num_poses;
    pattern->num_blocks = (uint32_t)(p->num_groups + p->num_poses);
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, most, &entries)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, most, &pattern->col)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, pattern->num_blocks + 1, &pattern->scalar_begin)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, pattern->num_blocks + 1, &pattern->row_begin)) != PSFM_OK)
        goto cleanup;
    for (uint32_t k = 0; k < pattern->num_blocks; ++k)
        pattern->scalar_begin[k + 1] =
            pattern->scalar_begin[k] +
            (uint32_t)(k < p->num_groups ? eq->lens_dim : PSFM_PLANE_POSE_DIM);
    fill_pattern(entries, list_entries(p, eq, entries), pattern);
    for (size_t e = 0; e < p->num_edges; ++e)
        find_slots(eq, &eq->places[e]);
    status = psfm_block_spd_create(ctx, pattern, &eq->spd);

cleanup:
    free(entries);
    return status;
}

psfm_status psfm_plane_equations_init(psfm_context *ctx, const psfm_plane_problem *p,
                                      psfm_plane_equations *eq) {
    psfm_status status;
    *eq = (psfm_plane_equations){.lens_dim = p->k1 == NULL ? 1 : PSFM_LENS_DIM};
    if ((status = PSFM_ALLOC(ctx, p->num_edges, &eq->places)) != PSFM_OK ||
        (status = make_pattern(ctx, p, eq)) != PSFM_OK)
        return status;
    size_t n = eq->pattern.scalar_begin[eq->pattern.num_blocks];
    if ((status = PSFM_ALLOC(ctx, eq->pattern.row_begin[eq->pattern.num_blocks], &eq->normal)) !=
            PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &eq->rhs)) != PSFM_OK)
        return status;
    return PSFM_ALLOC(ctx, n, &eq->step);
}

void psfm_plane_equations_free(psfm_plane_equations *eq) {
    psfm_block_pattern_free(&eq->pattern);
    psfm_block_spd_destroy(&eq->spd);
    free(eq->places);
    free(eq->normal);
    free(eq->rhs);
    free(eq->step);
    *eq = (psfm_plane_equations){0};
}
