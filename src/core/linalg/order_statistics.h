/* Order statistics of numbers, none of them NaN. All reorder their input. And searching by indices
 * and ids. */
#ifndef PSFM_LINALG_ORDER_STATISTICS_H
#define PSFM_LINALG_ORDER_STATISTICS_H

#include <stddef.h>

/* Standard deviation of a normal distribution over its median absolute deviation. */
#define PSFM_MAD_TO_SIGMA 1.4826

/* The value of rank k (from 0) of num > k values. Expected O(num), deterministic. */
double psfm_select(double *values, size_t num, size_t k);

/* The lower median; 0 without values. */
double psfm_median(double *values, size_t num);

/* Sorts ascending, -0 before 0, in place. O(num): at most eight passes, one per byte. */
void psfm_sort(double *values, size_t num);

/* For qsort, bsearch and psfm_lower_bound: the order of elements that begin with a uint32_t, with
 * two of them, with a uint64_t. */
int psfm_compare_u32(const void *a, const void *b);
int psfm_compare_u32_pair(const void *a, const void *b);
int psfm_compare_u64(const void *a, const void *b);

/* The place of the first of `num` sorted elements that is not below the key; num: none. Arguments
 * are those of bsearch. */
size_t psfm_lower_bound(const void *key, const void *items, size_t num, size_t size,
                        int (*compare)(const void *, const void *));

/* bsearch, also in arrays that are NULL where num is 0. */
void *psfm_find(const void *key, const void *items, size_t num, size_t size,
                int (*compare)(const void *, const void *));

#endif
