/* The plain version of the inner loops of patch alignment, and the choice for this machine. */
#include "images/photometric/patch_kernel.h"

#include "core/base/cpu.h"

#define WIDTH 4
#include "images/photometric/patch_kernel_body.h"

BODY void fetch(const uint8_t *pixels, const ints *at, ints *four) {
    for (int k = 0; k < WIDTH; ++k) {
        const uint8_t *p = pixels + (*at)[k];
        (*four)[k] = (int32_t)((uint32_t)(p[0] | p[1] << 8 | p[2] << 16) | (uint32_t)p[3] << 24);
    }
}

BODY void pick(const uint8_t *first, const ints *offset, ints *four) {
    fetch(first, offset, four);
}

BODY void dot(const ints *four, const ints *even, const ints *odd, floats *out) {
    floats p[4];
    for (int k = 0; k < 4; ++k)
        p[k] = __builtin_convertvector((*four >> (8 * k)) & 255, floats);
    /* Sums below 2^24: exact in floats, as in integers. */
    *out = p[0] * __builtin_convertvector(*even & 0xffff, floats) +
           p[1] * __builtin_convertvector(*odd & 0xffff, floats) +
           p[2] * __builtin_convertvector(*even >> 16, floats) +
           p[3] * __builtin_convertvector(*odd >> 16, floats);
}

static const psfm_patch_kernel plain = {sample_patch, sample_grid, sum_products, sum_moments,
                                        weigh_template};

const psfm_patch_kernel *psfm_patch_kernel_choose(void) {
#if defined(__x86_64__)
    if (psfm_cpu() >= PSFM_CPU_AVX512)
        return &psfm_patch_kernel_avx512;
    if (psfm_cpu() >= PSFM_CPU_AVX2)
        return &psfm_patch_kernel_avx2;
#endif
    return &plain;
}
