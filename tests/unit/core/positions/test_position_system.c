/* Centres from baselines with a length, with the length in a unit of its own, and without one. */
#include "core/positions/position_system.h"

#include "core/base/rng.h"
#include "core/linalg/vec3.h"
#include "core/positions/position_shift.h"
#include "test_util.h"

enum { NODES = 9, UNITS = 2, MAX_TERMS = 40, NO_UNIT = -1, NO_LENGTH = -2 };

typedef struct {
    double center[NODES][3], unit[UNITS];
    psfm_position_term terms[MAX_TERMS];
    psfm_position_system s;
    psfm_position_solver solver;
    psfm_rng rng;
} fixture;

/* The first node is the origin. */
static void open_system(uint64_t seed, fixture *f) {
    memset(f, 0, sizeof *f);
    f->rng = psfm_rng_make(seed, PSFM_RNG_TEST, 45, 0);
    for (int v = 1; v < NODES; ++v)
        for (int k = 0; k < 3; ++k)
            f->center[v][k] = psfm_rng_range(&f->rng, -5.0, 5.0);
    f->unit[0] = 3.0;
    f->unit[1] = 0.4;
    f->s = (psfm_position_system){
        .num_nodes = NODES, .terms = f->terms, .num_unknowns = 3 * NODES + UNITS};
}

/* The true baseline of a and b: with its length, in a unit, or its direction. */
static psfm_position_term *add_term(fixture *f, uint32_t a, uint32_t b, int unit) {
    psfm_position_term *t = &f->terms[f->s.num_terms++];
    assert_true(f->s.num_terms <= MAX_TERMS);
    *t = (psfm_position_term){
        .a = a, .b = b, .scale = UINT32_MAX, .has_length = unit != NO_LENGTH, .weight = 1.0};
    psfm_sub3(f->center[a], f->center[b], t->baseline);
    if (unit == NO_LENGTH)
        psfm_normalize3(t->baseline);
    if (unit >= 0) {
        t->scale = 3 * NODES + (uint32_t)unit;
        psfm_scale3(1.0 / f->unit[unit], t->baseline, t->baseline);
    }
    return t;
}

static void solve_lengths(psfm_context *ctx, fixture *f) {
    assert_ok(ctx, psfm_position_solver_init(ctx, &f->s, &f->solver));
    assert_ok(ctx, psfm_position_solve_lengths(ctx, &f->s, 30, &f->solver));
}

static void close_system(fixture *f) {
    psfm_position_solver_free(&f->solver);
    free(f->s.x);
}

static double largest_error(const fixture *f) {
    double worst = 0.0;
    for (int v = 0; v < NODES; ++v)
        for (int k = 0; k < 3; ++k)
            worst = fmax(worst, fabs(f->s.x[3 * v + k] - f->center[v][k]));
    return worst;
}

/* Nodes 0 to 4 by lengths; 5 and 6 by two directions each; 7 and 8 by two baselines each in a unit
 * of its own, which comes out, too. */
static void kinds_of_terms_place_together(void **state) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
        fixture f;
        open_system(seed, &f);
        for (uint32_t v = 1; v < 5; ++v)
            add_term(&f, (uint32_t)psfm_rng_below(&f.rng, v), v, NO_UNIT);
        for (uint32_t v = 5; v < 7; ++v)
            for (uint32_t w = 0; w < 2; ++w)
                add_term(&f, v, w, NO_LENGTH);
        for (uint32_t v = 7; v < 9; ++v)
            for (uint32_t w = 2; w < 4; ++w)
                add_term(&f, w, v, (int)v - 7);
        solve_lengths(*state, &f);
        assert_below(largest_error(&f), 1e-6);
        for (int u = 0; u < UNITS; ++u)
            assert_close(f.s.x[3 * NODES + u], f.unit[u], 1e-6);
        close_system(&f);
    }
}

/* The sum of lengths, not of squares: one wrong baseline of all pairs moves nothing. */
static void a_wrong_baseline_is_outvoted(void **state) {
    fixture f;
    double spoil[3];
    open_system(3, &f);
    for (uint32_t v = 1; v < NODES; ++v)
        for (uint32_t w = 0; w < v; ++w)
            add_term(&f, w, v, NO_UNIT);
    psfm_rng_direction(&f.rng, spoil);
    psfm_axpy3(f.terms[11].baseline, 4.0, spoil, f.terms[11].baseline);
    f.s.num_unknowns = 3 * NODES;
    solve_lengths(*state, &f);
    assert_below(largest_error(&f), 0.01); /* residuals up to 1e-3 of a baseline count in full */
    double support = psfm_position_support(&f.s);
    assert_close(support, f.s.num_terms - 1.0, 0.1);
    assert_ok(*state, psfm_position_solve_agreement(*state, &f.s, 30, &f.solver));
    assert_below(largest_error(&f), 1e-3); /* agreement counts squared: 5e-4 of one that is off */
    close_system(&f);
}

/* Weights decide between baselines of two nodes: the longer sum of weights wins. */
static void heavier_baselines_win(void **state) {
    for (int heavy = 0; heavy < 2; ++heavy) {
        fixture f;
        open_system(4, &f);
        for (uint32_t v = 1; v < NODES; ++v)
            add_term(&f, 0, v, NO_UNIT);
        psfm_position_term *rival = add_term(&f, 0, 1, NO_UNIT);
        psfm_scale3(2.0, rival->baseline, rival->baseline);
        rival->weight = heavy ? 1.5 : 0.5;
        f.s.num_unknowns = 3 * NODES;
        solve_lengths(*state, &f);
        for (int k = 0; k < 3; ++k)
            assert_close(f.s.x[3 + k], (heavy ? 2.0 : 1.0) * f.center[1][k], 0.02);
        close_system(&f);
    }
}

/* Each against its definition. */
static void residuals_are_what_the_terms_leave(void **state) {
    fixture f;
    double r[3], d[3], length, scratch[MAX_TERMS];
    open_system(5, &f);
    add_term(&f, 0, 1, NO_UNIT);
    add_term(&f, 2, 3, 1);
    add_term(&f, 4, 5, NO_LENGTH);
    assert_ok(*state, psfm_position_solver_init(*state, &f.s, &f.solver));
    for (uint32_t k = 0; k < f.s.num_unknowns; ++k)
        f.s.x[k] = psfm_rng_normal(&f.rng);
    for (int t = 0; t < 3; ++t) {
        const psfm_position_term *term = &f.terms[t];
        double unit = t == 1 ? f.s.x[3 * NODES + 1] : 1.0;
        psfm_sub3(f.s.x + 3 * term->a, f.s.x + 3 * term->b, d);
        psfm_position_residual(&f.s, term, r);
        if (t == 2)
            unit = psfm_dot3(d, term->baseline); /* the length that leaves least */
        for (int k = 0; k < 3; ++k)
            assert_close(r[k], d[k] - unit * term->baseline[k], 1e-12);
        scratch[t] = psfm_norm3(r);
    }
    double low = fmin(scratch[0], scratch[1]), high = fmax(scratch[0], scratch[1]);
    double median = fmax(low, fmin(high, scratch[2]));
    assert_close(psfm_position_typical_residual(&f.s, scratch, &length), median, 1e-12);
    assert_close(length, psfm_norm3(f.center[1]), 1e-12); /* the only one with a known length */
    close_system(&f);
}

/* A rotation is measured by its slack; one whose slack is in no known unit has no length. */
static void rotations_are_measured_by_their_slack(void **state) {
    fixture f;
    (void)state;
    open_system(6, &f);
    psfm_position_term *t = add_term(&f, 1, 2, NO_UNIT);
    assert_true(psfm_has_known_length(t));
    assert_close(psfm_position_ruler(t), psfm_norm3(t->baseline), 0.0);
    t->is_rotation = true;
    t->slack = 0.02;
    assert_true(psfm_has_known_length(t));
    double off[3] = {0.02, 0.0, 0.0};
    assert_close(psfm_baseline_agreement(off, psfm_position_ruler(t)), 0.5, 1e-12);
    t->slack = INFINITY;
    assert_false(psfm_has_known_length(t));
    assert_false(psfm_has_known_length(add_term(&f, 1, 2, 0)));
    assert_false(psfm_has_known_length(add_term(&f, 1, 2, NO_LENGTH)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_of_terms_place_together),
        cmocka_unit_test(a_wrong_baseline_is_outvoted),
        cmocka_unit_test(heavier_baselines_win),
        cmocka_unit_test(residuals_are_what_the_terms_leave),
        cmocka_unit_test(rotations_are_measured_by_their_slack),
    };
    return cmocka_run_group_tests_name("positions/position_system", tests, open_context,
                                       close_context);
}
