/* What an error costs: all losses that the estimators of this library minimise. A new one is a
 * function or two here; one for bundle adjustment also is a kind, and a case in the three functions
 * at the end. */
#ifndef PSFM_LINALG_LOSS_H
#define PSFM_LINALG_LOSS_H

#include <math.h>
#include <stddef.h>

/* ---- bounded, so that wrong matches cost the same however wrong they are ---- */

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

/* ---- rho(s) of a squared error s, with a squared scale c2, and weights rho'(s) ---- */

/* Huber: squares, then absolute values. */
static inline double psfm_huber(double s, double c2) {
    return s > c2 ? 2.0 * sqrt(c2) * sqrt(s) - c2 : s;
}
static inline double psfm_huber_weight(double s, double c2) {
    return s > c2 ? sqrt(c2) / sqrt(s) : 1.0;
}

/* Cauchy: grows as a logarithm. The likelihood of Student's t. */
static inline double psfm_cauchy(double s, double c2) {
    return c2 * log1p(s / c2);
}
static inline double psfm_cauchy_weight(double s, double c2) {
    return 1.0 / (1.0 + s / c2);
}

/* Geman and McClure: s / (1 + s / c2), bounded. */
static inline double psfm_geman_mcclure_weight(double s, double c2) {
    double u = 1.0 + s / c2;
    return 1.0 / (u * u);
}

/* Tukey's biweight: nothing counts beyond the scale. */
static inline double psfm_tukey_weight(double s, double c2) {
    double share = 1.0 - s / c2;
    return share > 0.0 ? share * share : 0.0;
}

/* ---- those that bundle adjustment can be given ---- */

typedef enum { PSFM_LOSS_SQUARED, PSFM_LOSS_HUBER, PSFM_LOSS_CAUCHY } psfm_loss_kind;
#define PSFM_NUM_LOSS_KINDS (PSFM_LOSS_CAUCHY + 1)

static inline double psfm_rho(psfm_loss_kind kind, double s, double c2) {
    switch (kind) {
    case PSFM_LOSS_HUBER:
        return psfm_huber(s, c2);
    case PSFM_LOSS_CAUCHY:
        return psfm_cauchy(s, c2);
    case PSFM_LOSS_SQUARED:
        break;
    }
    return s;
}

static inline double psfm_rho_weight(psfm_loss_kind kind, double s, double c2) {
    switch (kind) {
    case PSFM_LOSS_HUBER:
        return psfm_huber_weight(s, c2);
    case PSFM_LOSS_CAUCHY:
        return psfm_cauchy_weight(s, c2);
    case PSFM_LOSS_SQUARED:
        break;
    }
    return 1.0;
}

/* w + s w' of the weight w: the curvature along the residual. */
static inline double psfm_rho_slope(psfm_loss_kind kind, double s, double c2) {
    double weight = psfm_rho_weight(kind, s, c2);
    switch (kind) {
    case PSFM_LOSS_HUBER:
        return s > c2 ? 0.5 * weight : 1.0;
    case PSFM_LOSS_CAUCHY:
        return weight * weight;
    case PSFM_LOSS_SQUARED:
        break;
    }
    return 1.0;
}

#endif
