/* Order statistics of numbers, none of them NaN. All reorder their input. And the order of
 * indices. */
#ifndef PSFM_LINALG_ORDER_H
#define PSFM_LINALG_ORDER_H

#include <stddef.h>

/* Standard deviation of a normal distribution over its median absolute deviation. */
#define PSFM_MAD_TO_SIGMA 1.4826

/* The value of rank k (from 0) of num > k values. Expected O(num), deterministic. */
double psfm_select(double *values, size_t num, size_t k);

/* The lower median; 0 without values. */
double psfm_median(double *values, size_t num);

/* Sorts ascending, -0 before 0, in place. O(num): at most eight passes, one per byte. */
void psfm_sort(double *values, size_t num);

/* Order of two uint32_t, for qsort and bsearch. */
int psfm_compare_u32(const void *a, const void *b);

#endif
