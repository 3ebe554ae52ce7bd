/* Columns of numbers for the report: little-endian bytes, printed as base64 text. */
#ifndef PSFM_REPORT_BINARY_COLUMN_H
#define PSFM_REPORT_BINARY_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Zero-initialise; free with psfm_column_free. Running out of memory sets `failed` and makes the
 * other calls do nothing, so that it need be checked once at the end. */
typedef struct {
    uint8_t *bytes;
    size_t size, capacity;
    bool failed;
} psfm_column;

void psfm_column_u8(psfm_column *column, uint8_t value);
void psfm_column_u32(psfm_column *column, uint32_t value);
/* The nearest 16-bit integer, cut to the range; NaN becomes 0. */
void psfm_column_u16(psfm_column *column, double value);
void psfm_column_i16(psfm_column *column, double value);
void psfm_column_f32(psfm_column *column, double value);

/* Prints ,"name":"base64" and frees the column; false if it had failed. */
bool psfm_column_print(psfm_column *column, const char *name, FILE *file);
void psfm_column_free(psfm_column *column);

/* Prints bytes as base64 (RFC 4648, padded). */
void psfm_base64_print(const uint8_t *bytes, size_t size, FILE *file);

#endif
