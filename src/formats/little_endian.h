/* Numbers as little-endian bytes, on any machine: COLMAP's files and blobs. Doubles and floats keep
 * their bits. */
#ifndef PSFM_FORMATS_LITTLE_ENDIAN_H
#define PSFM_FORMATS_LITTLE_ENDIAN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t psfm_get_u32(const void *from) {
    const unsigned char *b = from;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static inline uint64_t psfm_get_u64(const void *from) {
    return psfm_get_u32(from) | (uint64_t)psfm_get_u32((const char *)from + 4) << 32;
}

static inline double psfm_get_f64(const void *from) {
    uint64_t bits = psfm_get_u64(from);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline float psfm_get_f32(const void *from) {
    uint32_t bits = psfm_get_u32(from);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline void psfm_put_u32(uint32_t value, void *to) {
    unsigned char *b = to;
    for (int k = 0; k < 4; ++k)
        b[k] = (unsigned char)(value >> 8 * k);
}

static inline void psfm_put_u64(uint64_t value, void *to) {
    psfm_put_u32((uint32_t)value, to);
    psfm_put_u32((uint32_t)(value >> 32), (char *)to + 4);
}

static inline void psfm_put_f64(double value, void *to) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    psfm_put_u64(bits, to);
}

static inline void psfm_put_f64s(const double *values, size_t num, unsigned char *to) {
    for (size_t k = 0; k < num; ++k)
        psfm_put_f64(values[k], to + 8 * k);
}

static inline void psfm_put_f32(float value, void *to) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    psfm_put_u32(bits, to);
}

#endif
