/* Compiled for AVX2 and FMA on x86-64 (cmake/dependencies.cmake). */
#define KERNELS psfm_kernels_avx2
#define KERNELS_NAME "avx2"
#include "images/nn/kernels_body.h"
