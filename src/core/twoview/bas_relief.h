/* Other motions that explain the matches of a pair nearly as well: the bas-relief ambiguity. */
#ifndef PSFM_TWOVIEW_BAS_RELIEF_H
#define PSFM_TWOVIEW_BAS_RELIEF_H

#include "core/twoview/essential.h"

/* The motion whose turn about the object is `factor` times that of `motion`; idx[0 .. num) are the
 * pairs that `motion` explains. Its translation is the one that fits them best. A factor of 1 gives
 * the motion back, up to the noise, -1 the relief turned inside out. O(num). */
void psfm_bas_relief(const psfm_ray_pairs *pairs, const uint32_t *idx, size_t num,
                     const psfm_motion *motion, double factor, psfm_motion *out);

#endif
