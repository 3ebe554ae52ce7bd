/* Room for the linear algebra, made sure of before the work. */
#ifndef PSFM_LINALG_BLAS_RESERVE_H
#define PSFM_LINALG_BLAS_RESERVE_H

#include "base/context.h"

/* Where the address space of the process is limited (ulimit -v): makes the buffers that OpenBLAS
 * needs for the context's threads, of which there are fewer then if not all buffers fit, or fails
 * with a sentence if not even one does. OpenBLAS itself would try for ever. Without a limit nothing
 * is done. */
psfm_status psfm_blas_reserve(psfm_context *ctx);

#endif
