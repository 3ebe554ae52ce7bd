/* Compiled for AVX-512 on x86-64 (cmake/dependencies.cmake). */
#define KERNELS psfm_kernels_avx512
#define KERNELS_NAME "avx512"
#include "images/nn/kernels_body.h"
