/* Sixteen samples at a time: a gather fetches the four neighbouring pixels of a row, a byte each.
 */
#include "images/photometric/patch_kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define WIDTH 16
#include "images/photometric/patch_kernel_body.h"

BODY void fetch(const uint8_t *pixels, const ints *at, ints *four) {
    __m512i from = _mm512_loadu_si512(at);
    _mm512_storeu_si512(four, _mm512_i32gather_epi32(from, pixels, 1));
}

BODY void pick(const uint8_t *first, const ints *offset, ints *four) {
    fetch(first, offset, four);
}

BODY void dot(const ints *four, const ints *even, const ints *odd, floats *out) {
    const __m512i mask = _mm512_set1_epi32(0x00ff00ff);
    __m512i p = _mm512_loadu_si512(four);
    __m512i a = _mm512_madd_epi16(_mm512_and_si512(p, mask), _mm512_loadu_si512(even));
    __m512i b =
        _mm512_madd_epi16(_mm512_and_si512(_mm512_srli_epi32(p, 8), mask), _mm512_loadu_si512(odd));
    _mm512_storeu_ps(out, _mm512_cvtepi32_ps(_mm512_add_epi32(a, b)));
}

const psfm_patch_kernel psfm_patch_kernel_avx512 = {sample_patch, sample_grid, sum_products,
                                                    sum_moments, weigh_template};

#endif
