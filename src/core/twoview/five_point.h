/* Essential matrices of five matches. */
#ifndef PSFM_TWOVIEW_FIVE_POINT_H
#define PSFM_TWOVIEW_FIVE_POINT_H

/* All real E with ray2^T E ray1 = 0 for five matches that are products of a translation and a
 * rotation, unit Frobenius norm, in E[0 .. return value). At most 10. About ten microseconds. */
int psfm_five_point(const double ray1[5][3], const double ray2[5][3], double E[10][9]);

#endif
