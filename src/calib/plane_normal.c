/* Residuals, derivatives and normal equations of the adjustment of planes.
 *
 * A change of a lens's distortion has an effect on the matches that no homography has, and one that
 * a homography absorbs: bend_information.c has both, to first order, so that an edge has eleven
 * residuals, nine of H and the bends.
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

#define GAUGE 1e-9 /* damping that is always there, of the largest diagonal entry */
#define HELD 1e-9  /* deviation of a principal point or bend that is held */

enum { NUM_LOCAL = 2 * (PSFM_GROUP_DIM + PSFM_SIGHT_DIM) };

/* First of an edge's local parameters of the groups of sight 1 and 2, and of the sights. */
static const int local_begin[5] = {0, PSFM_GROUP_DIM, 2 * PSFM_GROUP_DIM,
                                   2 * PSFM_GROUP_DIM + PSFM_SIGHT_DIM, NUM_LOCAL};

static int block_dim(const psfm_plane_adjustment *a, uint32_t block) {
    return block < a->p->num_groups ? PSFM_GROUP_DIM : PSFM_SIGHT_DIM;
}

double psfm_plane_weigh(const psfm_measured_plane *m, const double d[PSFM_EDGE_DIM],
                        double y[PSFM_EDGE_DIM]) {
    double sum = 0.0;
    for (int r = 0; r < 9; ++r) {
        y[r] = m->bend.by_H[r][0] * d[9] + m->bend.by_H[r][1] * d[10];
        for (int c = 0; c < 9; ++c)
            y[r] += m->information[9 * r + c] * d[c];
        sum += d[r] * y[r];
    }
    for (int s = 0; s < 2; ++s) {
        y[9 + s] = m->bend.normal[s][0] * d[9] + m->bend.normal[s][1] * d[10];
        for (int c = 0; c < 9; ++c)
            y[9 + s] += m->bend.by_H[c][s] * d[c];
        sum += d[9 + s] * y[9 + s];
    }
    return sum;
}

void psfm_plane_predict(const psfm_plane_state *s, const psfm_plane_edge *edge, double H[9],
                        double h[9], double *length, double d[PSFM_EDGE_DIM]) {
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
    d[9] = s->bend[s->sights[edge->sight1].group];
    d[10] = s->bend[s->sights[edge->sight2].group];
}

/* The squared residual. Where bends are free it is that beyond the best bends and homography of the
 * pair alone, so that it is a square. */
static double squared_residual(const psfm_plane_problem *p, const psfm_plane_state *s,
                               const psfm_plane_edge *edge) {
    const psfm_bend_information *bend = &edge->measured->bend;
    double H[9], h[9], d[PSFM_EDGE_DIM], y[PSFM_EDGE_DIM], length;
    psfm_plane_predict(s, edge, H, h, &length, d);
    double squared = psfm_plane_weigh(edge->measured, d, y);
    if (p->bend != NULL)
        squared += bend->gain + 2.0 * (bend->gradient[0] * d[9] + bend->gradient[1] * d[10]);
    return squared < 0.0 ? 0.0 : squared;
}

bool psfm_plane_evaluate(const psfm_plane_adjustment *a, psfm_plane_state *s) {
    const psfm_plane_problem *p = a->p;
    for (size_t k = 0; k < p->num_sights; ++k) {
        psfm_plane_map(&s->sights[k], exp(s->log_focal[s->sights[k].group]), s->G[k]);
        if (!psfm_mat3_inverse(s->G[k], s->G_inverse[k]))
            return false;
    }
    for (size_t e = 0; e < p->num_edges; ++e) {
        double weight = a->weight[p->sights[p->edges[e].sight1].plane];
        s->chi[e] = sqrt(weight * squared_residual(p, s, &p->edges[e]));
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
static void differentiate_intrinsics(const double H[9], double D[NUM_LOCAL][PSFM_EDGE_DIM]) {
    double(*by1)[PSFM_EDGE_DIM] = D, (*by2)[PSFM_EDGE_DIM] = D + local_begin[1];
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
                          double D[NUM_LOCAL][PSFM_EDGE_DIM]) {
    const psfm_plane_sight *s1 = &s->sights[edge->sight1], *s2 = &s->sights[edge->sight2];
    double f1 = exp(s->log_focal[s1->group]), f2 = exp(s->log_focal[s2->group]);
    double t1 = psfm_norm3(s1->t), t2 = psfm_norm3(s2->t), T[9];
    const double *last = s->G_inverse[edge->sight1] + 6;
    memset(D, 0, NUM_LOCAL * sizeof *D);
    differentiate_intrinsics(H, D);
    double(*by1)[PSFM_EDGE_DIM] = D + local_begin[2], (*by2)[PSFM_EDGE_DIM] = D + local_begin[3];
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

/* Derivatives of an edge's residuals by its local parameters, and their products with the
 * information. */
static void differentiate_edge(const psfm_plane_state *s, const psfm_plane_edge *edge,
                               const double H[9], const double h[9], double length,
                               double D[NUM_LOCAL][PSFM_EDGE_DIM],
                               double AD[NUM_LOCAL][PSFM_EDGE_DIM]) {
    differentiate(s, edge, H, D);
    D[PSFM_GROUP_BEND][9] = 1.0;
    D[local_begin[1] + PSFM_GROUP_BEND][10] = 1.0;
    for (int k = 0; k < NUM_LOCAL; ++k) { /* of the unit vector: the part along h goes */
        double along = 0.0;
        for (int i = 0; i < 9; ++i)
            along += D[k][i] * h[i];
        for (int i = 0; i < 9; ++i)
            D[k][i] = (D[k][i] - along * h[i]) / length;
        psfm_plane_weigh(edge->measured, D[k], AD[k]);
    }
}

static void add_edge(psfm_plane_adjustment *a, size_t e, double weight) {
    const int *begin = local_begin;
    const psfm_plane_edge *edge = &a->p->edges[e];
    double H[9], h[9], d[PSFM_EDGE_DIM], length;
    double D[NUM_LOCAL][PSFM_EDGE_DIM], AD[NUM_LOCAL][PSFM_EDGE_DIM], N[NUM_LOCAL][NUM_LOCAL];
    psfm_plane_predict(&a->now, edge, H, h, &length, d);
    differentiate_edge(&a->now, edge, H, h, length, D, AD);
    for (int k = 0; k < 4; ++k)
        for (int u = begin[k]; u < begin[k + 1]; ++u) {
            double g = D[u][9] * edge->measured->bend.gradient[0] +
                       D[u][10] * edge->measured->bend.gradient[1];
            for (int i = 0; i < PSFM_EDGE_DIM; ++i)
                g += AD[u][i] * d[i];
            a->rhs[a->pattern.scalar_begin[a->places[e].block[k]] + (uint32_t)(u - begin[k])] -=
                weight * g;
        }
    for (int u = 0; u < NUM_LOCAL; ++u)
        for (int v = 0; v < NUM_LOCAL; ++v) {
            N[u][v] = 0.0;
            for (int i = 0; i < PSFM_EDGE_DIM; ++i)
                N[u][v] += weight * D[u][i] * AD[v][i];
        }
    add_products(a, &a->places[e], (const double(*)[NUM_LOCAL])N);
}

/* Priors of a group, whose diagonal block this is. */
static void add_priors(psfm_plane_adjustment *a, size_t g, bool free_centers, double *block) {
    const psfm_plane_problem *p = a->p;
    double w = 1.0 / (p->prior_sigma[g] * p->prior_sigma[g]);
    double center = free_centers ? p->center_sigma[g] : HELD;
    bool bends = p->bend != NULL && p->prior_bend_sigma[g] > 0.0;
    double bend = bends ? p->prior_bend_sigma[g] : HELD;
    double *rhs = a->rhs + PSFM_GROUP_DIM * g;
    block[0] += w;
    rhs[0] -= w * (a->now.log_focal[g] - p->prior_log_focal[g]);
    for (int k = 1; k < 3; ++k)
        block[k * PSFM_GROUP_DIM + k] += 1.0 / (center * center);
    block[PSFM_GROUP_BEND * (PSFM_GROUP_DIM + 1)] += 1.0 / (bend * bend);
    if (bends)
        rhs[PSFM_GROUP_BEND] -= (a->now.bend[g] - p->prior_bend[g]) / (bend * bend);
}

void psfm_plane_linearize(psfm_plane_adjustment *a, double scale, bool free_centers) {
    const psfm_plane_problem *p = a->p;
    size_t num = a->pattern.row_begin[a->pattern.num_blocks];
    memset(a->normal, 0, num * sizeof *a->normal);
    memset(a->rhs, 0, a->pattern.scalar_begin[a->pattern.num_blocks] * sizeof *a->rhs);
    for (size_t e = 0; e < p->num_edges; ++e) {
        double x = a->now.chi[e] / scale;
        add_edge(a, e, a->weight[p->sights[p->edges[e].sight1].plane] / (1.0 + x * x));
    }
    for (size_t g = 0; g < p->num_groups; ++g)
        add_priors(a, g, free_centers, a->normal[a->pattern.row_begin[g]]);
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
