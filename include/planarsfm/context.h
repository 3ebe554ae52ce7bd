/* The context: error message, logging, progress, threads and seed of one caller. */
#ifndef PLANARSFM_CONTEXT_H
#define PLANARSFM_CONTEXT_H

#include <stddef.h>
#include <stdint.h>

#include "planarsfm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct psfm_context psfm_context;

typedef enum { PSFM_LOG_WARNING, PSFM_LOG_INFO, PSFM_LOG_DEBUG } psfm_log_level;

/* Receives one line of text without a newline. Called from the thread that runs the library
 * call, never from its workers. */
typedef void (*psfm_log_fn)(psfm_log_level level, const char *message, void *user);

/* Receives the state of a stage: `done` of `total` steps. A stage begins with a call with done 0;
 * stages may nest, and not all of them reach their total. Return non-zero to cancel; the running
 * call then returns PSFM_ERR_CANCELLED. Calls are serialised but may come from worker threads. */
typedef int (*psfm_progress_fn)(const char *stage, size_t done, size_t total, void *user);

/* Creates a context with no callbacks, seed 0 and one thread per core. Returns NULL only when
 * memory is out. A context serves one call at a time. Side effect on the process: OpenBLAS is
 * set to one thread, because its results depend on the number of threads and ours must not. */
PSFM_API psfm_context *psfm_context_create(void);

/* Frees *ctx and sets it to NULL. NULL and a pointer to NULL are fine. */
PSFM_API void psfm_context_destroy(psfm_context **ctx);

/* The sentence that describes the last failure; "" if there was none. Valid until the next call
 * with this context. */
PSFM_API const char *psfm_context_message(const psfm_context *ctx);

PSFM_API void psfm_context_set_log(psfm_context *ctx, psfm_log_fn log, void *user);
PSFM_API void psfm_context_set_progress(psfm_context *ctx, psfm_progress_fn progress, void *user);

/* Number of worker threads, 1 to 1024; 0 means one per core. Results do not depend on it. */
PSFM_API void psfm_context_set_threads(psfm_context *ctx, int num_threads);
PSFM_API int psfm_context_threads(const psfm_context *ctx);

/* Seed of every random draw. Same input and seed give the same bytes. */
PSFM_API void psfm_context_set_seed(psfm_context *ctx, uint64_t seed);
PSFM_API uint64_t psfm_context_seed(const psfm_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
