/* Numbers to text, faster than printf. */
#ifndef PSFM_BASE_PRINT_NUMBER_H
#define PSFM_BASE_PRINT_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#define PSFM_NUMBER_CHARS 32

/* What "%.17g" prints in the C locale, digit by digit; returns its length. Numbers that are not
 * from 1e-4 to 1e15 go to printf, in the thread's locale (core/base/number_locale.h). */
size_t psfm_print_double(double x, char out[PSFM_NUMBER_CHARS]);

/* What "%" PRIu64 prints. */
size_t psfm_print_count(uint64_t n, char out[PSFM_NUMBER_CHARS]);

#endif
