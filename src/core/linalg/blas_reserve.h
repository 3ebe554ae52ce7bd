/* What the linear algebra has of the machine: room is made sure of before the work, and threads
 * that nothing needs end. */
#ifndef PSFM_LINALG_BLAS_RESERVE_H
#define PSFM_LINALG_BLAS_RESERVE_H

#include "core/base/context.h"

/* Where the address space of the process is limited (ulimit -v): makes the buffers that OpenBLAS
 * needs for the context's threads, of which there are fewer then if not all buffers fit, or fails
 * with a sentence if not even one does. OpenBLAS itself would try for ever. Without a limit nothing
 * is done. */
psfm_status psfm_blas_reserve(psfm_context *ctx);

/* Ends the threads that OpenBLAS starts, one for every processor, when it is loaded: they keep
 * their processors busy for a tenth of a second, and none of our calls has work for them. For a
 * program's first moment; in a process where others call OpenBLAS, leave them. */
void psfm_blas_end_threads(void);

#endif
