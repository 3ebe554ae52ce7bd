/* A similarity of space, and the one between two sets of corresponding points. */
#ifndef PSFM_LINALG_SIM3_H
#define PSFM_LINALG_SIM3_H

#include <stdbool.h>
#include <stddef.h>

#include "planarsfm/sim3.h"

/* Least squares (Umeyama) over points with weight > 0 (NULL: all 1). False if they are fewer than
 * three, or all on a line: then R is not determined. */
bool psfm_sim3_fit(size_t num, const double (*x)[3], const double (*y)[3], const double *weight,
                   psfm_sim3 *out);

void psfm_sim3_apply(const psfm_sim3 *s, const double x[3], double y[3]);

#endif
