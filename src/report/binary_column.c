/* Columns of numbers as base64 text, which a browser turns into typed arrays without parsing. */
#include "report/binary_column.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_bits(psfm_column *c, uint32_t bits, int num_bytes) {
    if (c->size + 4 > c->capacity && !c->failed) {
        size_t capacity = c->capacity < 1024 ? 1024 : c->capacity + c->capacity / 2;
        uint8_t *bytes = realloc(c->bytes, capacity);
        c->failed = bytes == NULL;
        if (bytes != NULL) {
            c->bytes = bytes;
            c->capacity = capacity;
        }
    }
    for (int k = 0; k < num_bytes && !c->failed; ++k)
        c->bytes[c->size++] = (uint8_t)(bits >> (8 * k));
}

void psfm_column_u8(psfm_column *column, uint8_t value) {
    put_bits(column, value, 1);
}

void psfm_column_u32(psfm_column *column, uint32_t value) {
    put_bits(column, value, 4);
}

static double round_within(double value, double low, double high) {
    return isnan(value) ? 0.0 : round(fmin(fmax(value, low), high));
}

void psfm_column_u16(psfm_column *column, double value) {
    put_bits(column, (uint32_t)round_within(value, 0.0, 65535.0), 2);
}

void psfm_column_i16(psfm_column *column, double value) {
    put_bits(column, (uint32_t)(int32_t)round_within(value, -32768.0, 32767.0), 2);
}

void psfm_column_f32(psfm_column *column, double value) {
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    put_bits(column, bits, 4);
}

bool psfm_column_print(psfm_column *column, const char *name, FILE *file) {
    bool good = !column->failed;
    fprintf(file, ",\"%s\":\"", name);
    psfm_base64_print(column->bytes, column->size, file);
    fputc('"', file);
    psfm_column_free(column);
    return good;
}

void psfm_column_free(psfm_column *column) {
    free(column->bytes);
    *column = (psfm_column){0};
}

void psfm_base64_print(const uint8_t *bytes, size_t size, FILE *file) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t k = 0; k < size; k += 3) {
        size_t num = size - k < 3 ? size - k : 3;
        uint32_t bits = (uint32_t)bytes[k] << 16;
        bits |= num > 1 ? (uint32_t)bytes[k + 1] << 8 : 0;
        bits |= num > 2 ? bytes[k + 2] : 0;
        char text[4];
        for (size_t d = 0; d < 4; ++d)
            text[d] = d <= num ? digits[bits >> (18 - 6 * d) & 63] : '=';
        fwrite(text, 1, 4, file);
    }
}
