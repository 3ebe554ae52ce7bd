/* Residuals, derivatives and normal equations of the adjustment of planes.
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

#include "base/alloc.h"
#include "calib/plane_adjust_internal.h"
#include "calib/plane_map.h"
#include "linalg/mat3.h"

#define GAUGE 1e-9       /* damping that is always there, of the largest diagonal entry */
#define HELD_CENTER 1e-9 /* deviation of a principal point that is held, of the longer side */

enum { NUM_LOCAL = 2 * (PSFM_GROUP_DIM + PSFM_SIGHT_DIM) };

/* First of an edge's local parameters of the groups of sight 1 and 2, and of the sights. */
static const int local_begin[5] = {0, PSFM_GROUP_DIM, 2 * PSFM_GROUP_DIM,
                                   2 * PSFM_GROUP_DIM + PSFM_SIGHT_DIM, NUM_LOCAL};

static int block_dim(const psfm_plane_adjustment *a, uint32_t block) {
    return block < a->p->num_groups ? PSFM_GROUP_DIM : PSFM_SIGHT_DIM;
}

double psfm_plane_weigh(const double A[81], const double d[9], double y[9]) {
    double sum = 0.0;
    for (int r = 0; r < 9; ++r) {
        y[r] = 0.0;
        for (int c = 0; c < 9; ++c)
            y[r] += A[9 * r + c] * d[c];
        sum += d[r] * y[r];
    }
    return sum;
}

void psfm_plane_predict(const psfm_plane_state *s, const psfm_plane_edge *edge, double H[9],
                        double h[9], double *length, double d[9]) {
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

bool psfm_plane_evaluate(const psfm_plane_problem *p, psfm_plane_state *s) {
    double H[9], h[9], d[9], y[9], length;
    for (size_t k = 0; k < p->num_sights; ++k) {
        psfm_plane_map(&s->sights[k], exp(s->log_focal[s->sights[k].group]), s->G[k]);
        if (!psfm_mat3_inverse(s->G[k], s->G_inverse[k]))
            return false;
    }
    for (size_t e = 0; e < p->num_edges; ++e) {
        psfm_plane_predict(s, &p->edges[e], H, h, &length, d);
        s->chi[e] = sqrt(fmax(psfm_plane_weigh(p->edges[e].measured->information, d, y), 0.0));
        if (!isfinite(s->chi[e]))
            return false;
    }
    return true;
}

/* The skew matrix of axis k, between K and K^-1. */
static void turned(double f, int k, double out[9]) {
    int a = (k + 1) % 3, b = (k + 2) % 3;
    double scale[3] = {f, f, 1.0};
    memset(out, 0, 9 * sizeof *out);
    out[3 * b + a] = scale[b] / scale[a];
    out[3 * a + b] = -scale[a] / scale[b];
}

/* Derivatives of H by the focal lengths and principal points of either side. */
static void differentiate_intrinsics(const double H[9], double D[NUM_LOCAL][9]) {
    double(*by1)[9] = D, (*by2)[9] = D + local_begin[1];
    for (int i = 0; i < 9; ++i) {
        int r = i / 3, c = i % 3;
        by1[0][i] = c < 2 ? -H[i] : 0.0;
        by2[0][i] = r < 2 ? H[i] : 0.0;
        for (int k = 0; k < 2; ++k) {
            by1[1 + k][i] = c == 2 ? -H[3 * r + k] : 0.0;
            by2[1 + k][i] = r == k ? H[6 + c] : 0.0;
        }
    }
}

/* Derivatives of H by the local parameters. */
static void differentiate(const psfm_plane_state *s, const psfm_plane_edge *edge, const double H[9],
                          double D[NUM_LOCAL][9]) {
    const psfm_plane_sight *s1 = &s->sights[edge->sight1], *s2 = &s->sights[edge->sight2];
    double f1 = exp(s->log_focal[s1->group]), f2 = exp(s->log_focal[s2->group]);
    double t1 = psfm_norm3(s1->t), t2 = psfm_norm3(s2->t), T[9];
    const double *last = s->G_inverse[edge->sight1] + 6;
    differentiate_intrinsics(H, D);
    double(*by1)[9] = D + local_begin[2], (*by2)[9] = D + local_begin[3];
    for (int k = 0; k < 3; ++k) {
        turned(f1, k, T);
        psfm_mat3_mul(H, T, by1[k]);
        turned(f2, k, T);
        psfm_mat3_mul(T, H, by2[k]);
        for (int i = 0; i < 9; ++i) {
            int r = i / 3, c = i % 3;
            by1[k][i] = -by1[k][i];
            by1[3 + k][i] = -H[3 * r + k] * (k < 2 ? f1 : 1.0) * t1 * last[c];
            by2[3 + k][i] = r == k ? (k < 2 ? f2 : 1.0) * t2 * last[c] : 0.0;
        }
    }
}

/* Adds the products of an edge's parameters to their blocks. */
static void add_products(psfm_plane_adjustment *a, const psfm_edge_place *place,
                         const double N[NUM_LOCAL][NUM_LOCAL]) {
    const int *begin = local_begin;
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

static void add_edge(psfm_plane_adjustment *a, size_t e, double weight) {
    const int *begin = local_begin;
    const psfm_plane_edge *edge = &a->p->edges[e];
    const double *A = edge->measured->information;
    double H[9], h[9], d[9], length, D[NUM_LOCAL][9], AD[NUM_LOCAL][9];
    double N[NUM_LOCAL][NUM_LOCAL];
    psfm_plane_predict(&a->now, edge, H, h, &length, d);
    differentiate(&a->now, edge, H, D);
    for (int k = 0; k < NUM_LOCAL; ++k) { /* of the unit vector: the part along h goes */
        double along = 0.0;
        for (int i = 0; i < 9; ++i)
            along += D[k][i] * h[i];
        for (int i = 0; i < 9; ++i)
            D[k][i] = (D[k][i] - along * h[i]) / length;
        psfm_plane_weigh(A, D[k], AD[k]);
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

void psfm_plane_linearize(psfm_plane_adjustment *a, double scale, double data_weight,
                          bool free_centers) {
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
        double center = free_centers ? p->center_sigma[g] : HELD_CENTER;
        double *block = a->normal[a->pattern.row_begin[g]];
        block[0] += w;
        a->rhs[PSFM_GROUP_DIM * g] -= w * (a->now.log_focal[g] - p->prior_log_focal[g]);
        for (int k = 1; k < PSFM_GROUP_DIM; ++k)
            block[k * PSFM_GROUP_DIM + k] += 1.0 / (center * center);
    }
}

psfm_status psfm_plane_factor(psfm_context *ctx, psfm_plane_adjustment *a, double damping) {
    const psfm_block_pattern *pattern = &a->pattern;
    double largest = 0.0, block[36];
    for (uint32_t b = (uint32_t)a->p->num_groups; b < pattern->num_blocks; ++b)
        for (int k = 0; k < PSFM_SIGHT_DIM; ++k)
            largest = fmax(largest, a->normal[pattern->row_begin[b]][k * (PSFM_SIGHT_DIM + 1)]);
    for (uint32_t b = 0; b < pattern->num_blocks; ++b) {
        int dim = block_dim(a, b);
        memcpy(block, a->normal[pattern->row_begin[b]], sizeof block);
        for (int k = 0; k < dim; ++k)
            block[k * dim + k] +=
                damping * block[k * dim + k] + (dim == PSFM_SIGHT_DIM ? GAUGE * largest : 0.0);
        psfm_block_spd_set(a->spd, pattern->row_begin[b], block);
        for (size_t k = pattern->row_begin[b] + 1; k < pattern->row_begin[b + 1]; ++k)
            psfm_block_spd_set(a->spd, k, a->normal[k]);
    }
    return psfm_block_spd_factor(ctx, a->spd);
}
