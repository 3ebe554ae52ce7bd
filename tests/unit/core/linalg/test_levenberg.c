#include "test_util.h"

#include "core/linalg/least_squares.h"
#include "core/linalg/levenberg.h"

/* Rosenbrock's valley: residuals 10 (y - x^2) and 1 - x. */
typedef struct {
    double at[2], tried[2], least_gain;
    int num_attempts, num_accepted;
    bool never_solves;
} valley;

static double cost_at(const double x[2]) {
    double r[2] = {10.0 * (x[1] - x[0] * x[0]), 1.0 - x[0]};
    return r[0] * r[0] + r[1] * r[1];
}

static psfm_status attempt(psfm_context *ctx, void *user, double damping, double *cost) {
    valley *v = user;
    const double J[2][2] = {{-20.0 * v->at[0], 10.0}, {-1.0, 0.0}};
    const double r[2] = {10.0 * (v->at[1] - v->at[0] * v->at[0]), 1.0 - v->at[0]};
    double A[4], b[2];
    (void)ctx;
    ++v->num_attempts;
    if (v->never_solves)
        return PSFM_ERR_NUMERIC;
    for (int i = 0; i < 2; ++i) {
        b[i] = -(J[0][i] * r[0] + J[1][i] * r[1]);
        for (int j = 0; j < 2; ++j)
            A[2 * i + j] = (J[0][i] * J[0][j] + J[1][i] * J[1][j]) * (i == j ? 1.0 + damping : 1.0);
    }
    assert_true(psfm_solve_spd(A, 2, b));
    for (int i = 0; i < 2; ++i)
        v->tried[i] = v->at[i] + b[i];
    *cost = cost_at(v->tried);
    return PSFM_OK;
}

static bool accept(void *user, double before, double after) {
    valley *v = user;
    assert_true(after < before);
    assert_close(cost_at(v->tried), after, 0.0);
    memcpy(v->at, v->tried, sizeof v->at);
    ++v->num_accepted;
    return before - after < v->least_gain;
}

static void finds_the_end_of_a_valley(void **state) {
    (void)state;
    valley v = {.at = {-1.2, 1.0}};
    const psfm_descent d = {&v, 1e-6, &psfm_light_damping, attempt, accept};
    assert_below(psfm_descend(&d, 200, cost_at(v.at)), 1e-20);
    assert_close(v.at[0], 1.0, 1e-9);
    assert_close(v.at[1], 1.0, 1e-9);
    assert_true(v.num_accepted < v.num_attempts); /* its bend needs damping */
}

static void ends_where_told_to(void **state) {
    (void)state;
    valley few = {.at = {-1.2, 1.0}}, easy = {.at = {-1.2, 1.0}, .least_gain = INFINITY};
    double start = cost_at(few.at);
    psfm_descent d = {&few, 1e-6, &psfm_light_damping, attempt, accept};
    assert_true(psfm_descend(&d, 3, start) <= start);
    assert_int_equal(few.num_attempts, 3);
    d.user = &easy;
    assert_below(psfm_descend(&d, 50, start), start);
    assert_int_equal(easy.num_accepted, 1);
}

/* Equations without a step end it, or are damped until there is nothing left to try. */
static void follows_the_rules_of_damping(void **state) {
    (void)state;
    static const psfm_damping stubborn = {1e3, {0.1, 1.0, 0.0}, {10.0, 1.0, 0.0}, {10.0, 1.0, 1.0}};
    valley v = {.at = {-1.2, 1.0}, .never_solves = true};
    psfm_descent d = {&v, 1e-6, &psfm_light_damping, attempt, accept};
    assert_close(psfm_descend(&d, 50, 7.0), 7.0, 0.0);
    assert_int_equal(v.num_attempts, 1);
    d.damping = &stubborn; /* 1e-6, 1, 10, 100 */
    v.num_attempts = 0;
    assert_close(psfm_descend(&d, 50, 7.0), 7.0, 0.0);
    assert_int_equal(v.num_attempts, 4);
}

/* Lowers the cost only by every fifth trial. */
typedef struct {
    double damping[16];
    int num_attempts, num_accepted;
} every_fifth;

static psfm_status attempt_fifth(psfm_context *ctx, void *user, double damping, double *cost) {
    every_fifth *e = user;
    (void)ctx;
    e->damping[e->num_attempts++] = damping;
    *cost = e->num_attempts % 5 == 0 ? 1.0 : 9.0;
    return PSFM_OK;
}

static bool accept_fifth(void *user, double before, double after) {
    every_fifth *e = user;
    ++e->num_accepted;
    return before < after;
}

/* Each step is halved so many times, and the next one is whole again. */
static void halves_steps(void **state) {
    (void)state;
    static const psfm_damping four = PSFM_HALVED_STEPS(4), three = PSFM_HALVED_STEPS(3);
    every_fifth e = {.num_attempts = 0};
    psfm_descent d = {&e, 1.0, &four, attempt_fifth, accept_fifth};
    assert_close(psfm_descend(&d, 50, 7.0), 1.0, 0.0);
    assert_int_equal(e.num_accepted, 1);
    assert_int_equal(e.num_attempts, 10);
    for (int k = 0; k < 10; ++k)
        assert_close(e.damping[k], ldexp(1.0, k % 5), 0.0);
    e = (every_fifth){.num_attempts = 0};
    d.damping = &three;
    assert_close(psfm_descend(&d, 50, 7.0), 7.0, 0.0);
    assert_int_equal(e.num_attempts, 4);
}

typedef struct {
    valley v;
    int num_loose, num_tight;
} two_scales;

static psfm_status linearize(psfm_context *ctx, void *user, bool is_loose, double *cost) {
    two_scales *s = user;
    (void)ctx;
    s->num_loose += is_loose;
    s->num_tight += !is_loose;
    *cost = cost_at(s->v.at);
    return PSFM_OK;
}

static void goes_from_the_loose_to_the_tight_loss(void **state) {
    (void)state;
    two_scales s = {.v = {.at = {-1.2, 1.0}}};
    const psfm_descent d = {&s, 1e-3, &psfm_patient_damping, attempt, accept};
    psfm_robust_descent plan = {100, 12, 0.5, 1e-12, linearize};
    assert_int_equal(psfm_descend_robustly(NULL, &d, &plan), PSFM_OK);
    assert_true(s.num_loose > 0 && s.num_loose < 60 && s.num_tight > 0);
    assert_close(s.v.at[0], 1.0, 1e-6);
    s = (two_scales){.v = {.at = {-1.2, 1.0}}};
    plan.loose_tolerance = 0.0;
    assert_int_equal(psfm_descend_robustly(NULL, &d, &plan), PSFM_OK);
    assert_int_equal(s.num_loose, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_end_of_a_valley), cmocka_unit_test(ends_where_told_to),
        cmocka_unit_test(follows_the_rules_of_damping), cmocka_unit_test(halves_steps),
        cmocka_unit_test(goes_from_the_loose_to_the_tight_loss)};
    return cmocka_run_group_tests_name("linalg/levenberg", tests, NULL, NULL);
}
