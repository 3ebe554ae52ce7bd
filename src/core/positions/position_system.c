/* Normal equations, IRLS, and what agrees. */
#include "core/positions/position_system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/order_statistics.h"
#include "core/linalg/vec3.h"
#include "core/positions/position_shift.h"

/* Residuals below this share of a typical baseline count in full: rounding must not decide which
 * edge of a tree is an outlier. */
static const double small_residual = 1e-3;

bool psfm_has_known_length(const psfm_position_term *t) {
    return t->has_length && t->scale == UINT32_MAX && !(t->is_rotation && isinf(t->slack));
}

double psfm_position_ruler(const psfm_position_term *t) {
    /* a rotation that is off by its slack agrees by half (psfm_baseline_agreement) */
    return t->is_rotation ? 10.0 * t->slack : psfm_norm3(t->baseline);
}

void psfm_position_residual(const psfm_position_system *s, const psfm_position_term *t,
                            double r[3]) {
    psfm_sub3(s->x + 3 * t->a, s->x + 3 * t->b, r);
    if (t->has_length)
        psfm_axpy3(r, t->scale == UINT32_MAX ? -1.0 : -s->x[t->scale], t->baseline, r);
    else
        psfm_axpy3(r, -psfm_dot3(r, t->baseline), t->baseline, r);
}

static void add_triplet(psfm_position_triplets *t, uint32_t row, uint32_t col, double value) {
    t->row[t->num] = row;
    t->col[t->num] = col;
    t->value[t->num++] = value;
}

static void add_length_term(psfm_position_triplets *m, const psfm_position_term *t, double w) {
    for (uint32_t k = 0; k < 3; ++k) {
        uint32_t a = 3 * t->a + k, b = 3 * t->b + k;
        add_triplet(m, a, a, w);
        add_triplet(m, b, b, w);
        add_triplet(m, a, b, -w);
        if (t->scale != UINT32_MAX) {
            add_triplet(m, a, t->scale, -w * t->baseline[k]);
            add_triplet(m, b, t->scale, w * t->baseline[k]);
            add_triplet(m, t->scale, t->scale, w * t->baseline[k] * t->baseline[k]);
        }
    }
}

static void add_direction_term(psfm_position_triplets *m, const psfm_position_term *t, double w) {
    const double *g = t->baseline;
    for (uint32_t i = 0; i < 3; ++i) {
        for (uint32_t j = 0; j < 3; ++j) {
            double p = w * ((i == j) - g[i] * g[j]);
            if (i <= j) {
                add_triplet(m, 3 * t->a + i, 3 * t->a + j, p);
                add_triplet(m, 3 * t->b + i, 3 * t->b + j, p);
            }
            add_triplet(m, 3 * t->a + i, 3 * t->b + j, -p);
        }
    }
}

/* All terms with weights w[k] (NULL: 1), and the pin of the first node. */
static void assemble_system(const psfm_position_system *s, const double *w, double pin,
                            psfm_position_triplets *m) {
    m->num = 0;
    for (uint32_t k = 0; k < s->num_terms; ++k) {
        const psfm_position_term *t = &s->terms[k];
        double weight = w == NULL ? 1.0 : w[k];
        if (t->has_length)
            add_length_term(m, t, weight);
        else
            add_direction_term(m, t, weight);
    }
    for (uint32_t k = 0; k < 3; ++k)
        add_triplet(m, k, k, pin);
}

static void right_side(const psfm_position_system *s, const double *w, double *rhs) {
    memset(rhs, 0, s->num_unknowns * sizeof *rhs);
    for (uint32_t k = 0; k < s->num_terms; ++k) {
        const psfm_position_term *t = &s->terms[k];
        if (!t->has_length || t->scale != UINT32_MAX)
            continue;
        psfm_axpy3(rhs + 3 * t->a, w[k], t->baseline, rhs + 3 * t->a);
        psfm_axpy3(rhs + 3 * t->b, -w[k], t->baseline, rhs + 3 * t->b);
    }
}

/* Median psfm_position_residual of the terms with a length, relative to the median baseline
 * *length. */
double psfm_position_typical_residual(const psfm_position_system *s, double *scratch,
                                      double *length) {
    size_t num = 0;
    for (uint32_t k = 0; k < s->num_terms; ++k)
        if (psfm_has_known_length(&s->terms[k]) && !s->terms[k].is_rotation)
            scratch[num++] = psfm_norm3(s->terms[k].baseline);
    *length = psfm_median(scratch, num);
    num = 0;
    for (uint32_t k = 0; k < s->num_terms; ++k) {
        double r[3];
        psfm_position_residual(s, &s->terms[k], r);
        scratch[num++] = psfm_norm3(r);
    }
    return psfm_median(scratch, num);
}

/* ---- least squares with changing weights ---- */

psfm_status psfm_position_solver_init(psfm_context *ctx, psfm_position_system *s,
                                      psfm_position_solver *v) {
    size_t room = 21 * (size_t)s->num_terms + 3;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, s->num_unknowns, &s->x)) ||
        (status = PSFM_ALLOC(ctx, s->num_unknowns, &v->rhs)) ||
        (status = PSFM_ALLOC(ctx, s->num_unknowns, &v->kept)) ||
        (status = PSFM_ALLOC(ctx, s->num_terms, &v->w)) ||
        (status = PSFM_ALLOC(ctx, s->num_terms, &v->scratch)) ||
        (status = PSFM_ALLOC(ctx, room, &v->m.row)) ||
        (status = PSFM_ALLOC(ctx, room, &v->m.col)) ||
        (status = PSFM_ALLOC(ctx, room, &v->m.value)))
        return status;
    /* what directions leave undetermined stays small instead of making the system singular */
    v->shift = 1e-14;
    for (uint32_t k = 0; k < s->num_terms; ++k)
        if (!psfm_has_known_length(&s->terms[k]))
            v->shift = 1e-9;
    assemble_system(s, NULL, 1.0, &v->m);
    return psfm_spd_create(ctx, s->num_unknowns, v->m.num, v->m.row, v->m.col, &v->spd);
}

void psfm_position_solver_free(psfm_position_solver *v) {
    psfm_spd_destroy(&v->spd);
    free(v->m.row);
    free(v->m.col);
    free(v->m.value);
    free(v->w);
    free(v->rhs);
    free(v->scratch);
    free(v->kept);
}

/* Solves with the weights v->w. The shift pulls all centres to where they are, however little; to
 * the origin instead, thousands of cameras would together tear off at a rotation. */
static psfm_status solve_once(psfm_context *ctx, psfm_position_system *s, psfm_position_solver *v) {
    double mean = 0.0;
    for (uint32_t k = 0; k < s->num_terms; ++k)
        mean += v->w[k] / s->num_terms;
    assemble_system(s, v->w, mean, &v->m);
    right_side(s, v->w, v->rhs);
    for (uint32_t k = 0; k < s->num_unknowns; ++k)
        v->rhs[k] += v->shift * mean * s->x[k];
    psfm_status status = psfm_spd_factor(ctx, v->spd, v->m.value, v->shift * mean);
    return status == PSFM_OK ? psfm_spd_solve(ctx, v->spd, 1, v->rhs, s->x) : status;
}

psfm_status psfm_position_solve_lengths(psfm_context *ctx, psfm_position_system *s, int iterations,
                                        psfm_position_solver *v) {
    psfm_status status = PSFM_OK;
    for (uint32_t k = 0; k < s->num_terms; ++k)
        v->w[k] = s->terms[k].weight;
    for (int it = 0; status == PSFM_OK && it < iterations; ++it) {
        status = solve_once(ctx, s, v);
        double length, floor = 0.1 * psfm_position_typical_residual(s, v->scratch, &length);
        floor = fmax(floor, small_residual * length);
        for (uint32_t k = 0; k < s->num_terms; ++k) {
            double r[3];
            psfm_position_residual(s, &s->terms[k], r);
            v->w[k] = s->terms[k].weight * floor / fmax(psfm_norm3(r), floor);
        }
    }
    return status;
}

/* ---- the most agreement ---- */

/* How far a term agrees: 1 if it fits, 1/2 at a tenth of its baseline. */
static double term_agreement(const psfm_position_system *s, const psfm_position_term *t) {
    double r[3], between[3];
    psfm_sub3(s->x + 3 * t->a, s->x + 3 * t->b, between);
    psfm_position_residual(s, t, r);
    return psfm_baseline_agreement(r, psfm_has_known_length(t) ? psfm_position_ruler(t)
                                                               : psfm_norm3(between));
}

double psfm_position_support(const psfm_position_system *s) {
    double sum = 0.0;
    for (uint32_t k = 0; k < s->num_terms; ++k)
        if (psfm_has_known_length(&s->terms[k]))
            sum += s->terms[k].weight * term_agreement(s, &s->terms[k]);
    return sum;
}

psfm_status psfm_position_solve_agreement(psfm_context *ctx, psfm_position_system *s,
                                          int iterations, psfm_position_solver *v) {
    psfm_status status = PSFM_OK;
    for (int it = 0; status == PSFM_OK && it < iterations; ++it) {
        for (uint32_t k = 0; k < s->num_terms; ++k) {
            double agrees = term_agreement(s, &s->terms[k]);
            v->w[k] = s->terms[k].weight * fmax(agrees * agrees, 1e-6);
        }
        status = solve_once(ctx, s, v);
    }
    return status;
}
