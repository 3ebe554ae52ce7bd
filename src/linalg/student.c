/* Maximum likelihood by expectation and maximisation.
 *
 * In the plane the density of t with n degrees of freedom and scale s is
 *   p(r) = 1 / (2 pi s^2) (1 + r^2 / (n s^2))^-((n + 2) / 2),
 * so that for given n the scale solves s^2 = mean(w r^2) / 2 with w = (n + 2) / (n + r^2 / s^2),
 * by iteration. The likelihoods of a list of n are then compared. (Lange, Little and Taylor,
 * "Robust statistical modeling using the t distribution", 1989.) */
#include "linalg/student.h"

#include <math.h>

#define MAX_STEPS 100
#define TOLERANCE 1e-4

static const double freedoms[] = {0.5, 0.7, 1.0,  1.4,  2.0,  2.8,   4.0,
                                  5.7, 8.0, 12.0, 20.0, 40.0, 100.0, PSFM_STUDENT_NORMAL};

/* The sum of r^2 / (n s^2 + r^2), in eight chains: one division after the other is slow. */
static double sum_of_shares(const double *squares, size_t num, double ns2) {
    double sum[8] = {0};
    size_t i = 0;
    for (; i + 8 <= num; i += 8)
        for (size_t k = 0; k < 8; ++k)
            sum[k] += squares[i + k] / (ns2 + squares[i + k]);
    for (; i < num; ++i)
        sum[0] += squares[i] / (ns2 + squares[i]);
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

static double scale2_of(const double *squares, size_t num, double n, double start) {
    double scale2 = start;
    for (int k = 0; k < MAX_STEPS; ++k) {
        double shares = sum_of_shares(squares, num, n * scale2);
        double next = 0.5 * (n + 2.0) * scale2 * shares / (double)num;
        if (!(next > 0.0))
            return 0.0;
        double change = fabs(next - scale2);
        scale2 = next;
        if (change < TOLERANCE * scale2)
            break;
    }
    return scale2;
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

/* Whether half of the values are zero: a perfect fit, of which nothing can be told. */
static int is_exact(const double *squares, size_t num) {
    size_t zeros = 0;
    for (size_t i = 0; i < num; ++i)
        zeros += squares[i] == 0.0;
    return 2 * zeros >= num;
}

psfm_student psfm_student_fit(const double *squares, size_t num) {
    psfm_student best = {PSFM_STUDENT_NORMAL, 0.0};
    if (is_exact(squares, num))
        return best;
    double scale2 = 0.0, most = -INFINITY;
    for (size_t i = 0; i < num; ++i)
        scale2 += 0.5 * squares[i] / (double)num;
    for (size_t k = sizeof freedoms / sizeof *freedoms; k-- > 0;) {
        scale2 = scale2_of(squares, num, freedoms[k], scale2);
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
