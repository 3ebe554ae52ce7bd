/* What an error costs. Bounded, so that wrong matches cost the same however wrong they are. */
#ifndef PSFM_TWOVIEW_LOSS_H
#define PSFM_TWOVIEW_LOSS_H

#include <stddef.h>

/* Of a squared error s with bound M = max_squared:
 *   (min(s, M) + graded (min(4 s, M) + min(16 s, M))) / (1 + 2 graded),
 * from 0 to M. graded = 0 truncates squares, the maximum-likelihood choice for Gaussian noise with
 * uniform outliers. graded = 1 averages over three noise levels (bounds of 1, 1/2 and 1/4 of the
 * full one): where the bound is generous, a model that fits some matches tightly is preferred to a
 * compromise that passes within the bound of more. */
typedef struct {
    double max_squared;
    double graded;
} psfm_loss;

/* The loss for a search among num matches. Few do not tell a tight fit from a fit to the noise. */
static inline psfm_loss psfm_search_loss(double max_squared, size_t num) {
    return (psfm_loss){max_squared, num < 50 ? 0.0 : 1.0};
}

static inline double psfm_min2(double a, double b) {
    return a < b ? a : b;
}

static inline double psfm_loss_value(psfm_loss loss, double s) {
    double M = loss.max_squared;
    double sum = psfm_min2(s, M) + loss.graded * (psfm_min2(4.0 * s, M) + psfm_min2(16.0 * s, M));
    return sum / (1.0 + 2.0 * loss.graded);
}

/* Derivative of the loss by s, the weight of the error in least squares; 0 beyond the bound. */
static inline double psfm_loss_weight(psfm_loss loss, double s) {
    double M = loss.max_squared;
    double tight = (4.0 * s < M ? 4.0 : 0.0) + (16.0 * s < M ? 16.0 : 0.0);
    return ((s < M ? 1.0 : 0.0) + loss.graded * tight) / (1.0 + 2.0 * loss.graded);
}

#endif
