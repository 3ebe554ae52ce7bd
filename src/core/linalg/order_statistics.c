/* Selection and sorting of doubles. Ranks by Wirth's selection with the median of three as pivot,
 * O(n) as a rule; sorting by bytes of the number's bits, turned so that they sort as the numbers
 * do, O(n) with at most eight passes. */
#include "core/linalg/order_statistics.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void swap_values(double *a, double *b) {
    double t = *a;
    *a = *b;
    *b = t;
}

static double median_of_three(double a, double b, double c) {
    if (a > b)
        swap_values(&a, &b);
    return c <= a ? a : c >= b ? b : c;
}

/* Wirth's selection: partition about a pivot, go on in the part that holds rank k. */
double psfm_select(double *values, size_t num, size_t k) {
    ptrdiff_t low = 0, high = (ptrdiff_t)num - 1, rank = (ptrdiff_t)k;
    while (low < high) {
        double pivot = median_of_three(values[low], values[low + (high - low) / 2], values[high]);
        ptrdiff_t i = low, j = high;
        while (i <= j) {
            while (values[i] < pivot)
                ++i;
            while (values[j] > pivot)
                --j;
            if (i <= j)
                swap_values(&values[i++], &values[j--]);
        }
        if (rank <= j)
            high = j;
        else if (rank >= i)
            low = i;
        else
            break;
    }
    return values[rank];
}

double psfm_median(double *values, size_t num) {
    return num == 0 ? 0.0 : psfm_select(values, num, (num - 1) / 2);
}

/* Bits of a double as a number that sorts like it. */
static uint64_t sort_key(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static void insertion_sort(double *values, size_t num) {
    for (size_t i = 1; i < num; ++i) {
        double value = values[i];
        size_t j = i;
        for (; j > 0 && sort_key(values[j - 1]) > sort_key(value); --j)
            values[j] = values[j - 1];
        values[j] = value;
    }
}

/* American flag sort: counts the byte at `shift`, swaps each value to its bucket, goes on with the
 * next byte inside the buckets. */
static void sort_bytes(double *values, size_t num, int shift) {
    size_t next[256] = {0}, end[256];
    if (num < 32) {
        insertion_sort(values, num);
        return;
    }
    for (size_t k = 0; k < num; ++k)
        ++next[sort_key(values[k]) >> shift & 255];
    for (size_t b = 0, begin = 0; b < 256; ++b) {
        end[b] = begin + next[b];
        next[b] = begin;
        begin = end[b];
    }
    for (size_t b = 0; b < 256; ++b)
        while (next[b] < end[b]) {
            size_t home = sort_key(values[next[b]]) >> shift & 255;
            if (home == b)
                ++next[b];
            else
                swap_values(&values[next[b]], &values[next[home]++]);
        }
    for (size_t b = 0, begin = 0; shift > 0 && b < 256; begin = end[b++])
        sort_bytes(values + begin, end[b] - begin, shift - 8);
}

void psfm_sort(double *values, size_t num) {
    sort_bytes(values, num, 56);
}

int psfm_compare_u32(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

int psfm_compare_u32_pair(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    return x[0] != y[0] ? psfm_compare_u32(x, y) : psfm_compare_u32(x + 1, y + 1);
}

int psfm_compare_u64(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

size_t psfm_lower_bound(const void *key, const void *items, size_t num, size_t size,
                        int (*compare)(const void *, const void *)) {
    size_t low = 0, high = num;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare((const char *)items + middle * size, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void *psfm_find(const void *key, const void *items, size_t num, size_t size,
                int (*compare)(const void *, const void *)) {
    return num == 0 ? NULL : bsearch(key, items, num, size, compare);
}
