/* Characters and names in text files, whatever the locale. */
#ifndef PSFM_BASE_TEXT_H
#define PSFM_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* White space within a line. */
bool psfm_is_blank(char c);

/* Moves begin and end past the white space at either end of bytes[begin .. end). */
void psfm_trim(const char *bytes, size_t *begin, size_t *end);

/* Whether a line of a text file keeps the name: it is not empty, has no line end, and no white
 * space at either end. */
bool psfm_name_fits_line(const char *name);

/* Order of two char * by their bytes, for qsort. */
int psfm_compare_strings(const void *a, const void *b);

#endif
