/* Maximum likelihood.
 *
 * In the plane the density of t with n degrees of freedom and scale s is
 *   p(r) = 1 / (2 pi s^2) (1 + r^2 / (n s^2))^-((n + 2) / 2),
 * so that for given n the scale solves (n + 2) / 2 mean(u) = 1 with u = r^2 / (n s^2 + r^2), which
 * falls as s grows: by Newton's method for log(s^2), with du / dlog(s^2) = -u (1 - u). The
 * likelihoods of a list of n are then compared. (Lange, Little and Taylor, "Robust statistical
 * modeling using the t distribution", 1989.) */
#include "core/linalg/student_t.h"

#include <float.h>
#include <math.h>

#define MAX_STEPS 100
#define TOLERANCE 1e-4

static const double freedoms[] = {0.5, 0.7, 1.0,  1.4,  2.0,  2.8,   4.0,
                                  5.7, 8.0, 12.0, 20.0, 40.0, 100.0, PSFM_STUDENT_NORMAL};

enum { CHAINS = 8 }; /* of sums: one division after the other is slow */

static void add_share(double square, double ns2, double *sum, double *slope) {
    const double u = square / (ns2 + square);
    *sum += u;
    *slope += u - u * u;
}

/* Sums of u and of u (1 - u). */
static void sum_shares(const double *squares, size_t num, double ns2, double sums[2]) {
    double sum[CHAINS] = {0}, slope[CHAINS] = {0};
    size_t i = 0;
    for (; i + CHAINS <= num; i += CHAINS)
        for (size_t k = 0; k < CHAINS; ++k)
            add_share(squares[i + k], ns2, &sum[k], &slope[k]);
    for (; i < num; ++i)
        add_share(squares[i], ns2, &sum[0], &slope[0]);
    sums[0] = sums[1] = 0.0;
    for (size_t k = 0; k < CHAINS; ++k) {
        sums[0] += sum[k];
        sums[1] += slope[k];
    }
}

/* 0 if there is none: too many values are zero for so few degrees of freedom. Where values lie far
 * apart Newton's steps would go to and fro, so the middle of what is left is taken if one leaves
 * it. */
static double scale2_of(const double *squares, size_t num, size_t num_zeros, double n,
                        double start) {
    const double wanted = 2.0 * (double)num / (n + 2.0);
    double x = log(start), low = -INFINITY, high = INFINITY;
    if (wanted >= (double)(num - num_zeros))
        return 0.0;
    for (int k = 0; k < MAX_STEPS; ++k) {
        double sums[2];
        sum_shares(squares, num, n * exp(x), sums);
        double step = fmax(fmin((sums[0] - wanted) / fmax(sums[1], DBL_MIN), 1.0), -1.0);
        if (fabs(step) <= TOLERANCE)
            break;
        *(step > 0.0 ? &low : &high) = x;
        x += step;
        if (!(x > low && x < high))
            x = 0.5 * (low + high);
    }
    return exp(x);
}

/* Logarithms of products in place of sums of logarithms, which are slow. */
static double log_likelihood(const double *squares, size_t num, double n, double scale2) {
    const double ns2 = n * scale2;
    double logs = 0.0, product = 1.0;
    for (size_t i = 0; i < num; ++i) {
        product *= 1.0 + squares[i] / ns2;
        if (product > 1e100) {
            logs += log(product);
            product = 1.0;
        }
    }
    return -0.5 * (n + 2.0) * (logs + log(product)) - (double)num * log(scale2);
}

psfm_student psfm_student_fit(const double *squares, size_t num) {
    psfm_student best = {PSFM_STUDENT_NORMAL, 0.0};
    double scale2 = 0.0, most = -INFINITY;
    size_t num_zeros = 0;
    for (size_t i = 0; i < num; ++i) {
        num_zeros += squares[i] == 0.0;
        scale2 += 0.5 * squares[i] / (double)num;
    }
    if (2 * num_zeros >= num) /* a perfect fit, of which nothing can be told */
        return best;
    for (size_t k = sizeof freedoms / sizeof *freedoms; k-- > 0;) {
        scale2 = scale2_of(squares, num, num_zeros, freedoms[k], scale2);
        if (!(scale2 > 0.0))
            break;
        double likelihood = log_likelihood(squares, num, freedoms[k], scale2);
        if (likelihood > most) {
            most = likelihood;
            best = (psfm_student){freedoms[k], sqrt(scale2)};
        }
    }
    return best;
}
