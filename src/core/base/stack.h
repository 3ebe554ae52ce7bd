/* Room on the stacks of threads. */
#ifndef PSFM_BASE_STACK_H
#define PSFM_BASE_STACK_H

#include <pthread.h>

#include "core/base/context.h"

/* What a thread of ours gets at least, and what the caller's thread must have left: four times what
 * the deepest call of ours and of the libraries behind it was seen to take. */
#define PSFM_STACK_BYTES ((size_t)1 << 20)
#define PSFM_STACK_LEFT ((size_t)256 << 10)

/* Raises the limit of the process's main stack as far as it may be, if it is below
 * PSFM_STACK_BYTES. For programs, at their start. */
void psfm_stack_raise(void);

/* PSFM_ERR_MEMORY if the calling thread has less than PSFM_STACK_LEFT left: it would end by a
 * signal in the middle of the work. */
psfm_status psfm_check_stack(psfm_context *ctx);

/* Starts a thread with PSFM_STACK_BYTES or more, whatever the limit of the process says. As
 * pthread_create. */
int psfm_thread_start(pthread_t *thread, void *(*work)(void *), void *user);

#endif
