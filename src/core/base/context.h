/* Internal side of the context: failing, logging, progress. */
#ifndef PSFM_BASE_CONTEXT_H
#define PSFM_BASE_CONTEXT_H

#include <stdarg.h>
#include <stdbool.h>

#include "planarsfm/context.h"

/* Room for one sentence with two long paths in it. */
#define PSFM_MESSAGE_SIZE 2048

/* Records a sentence in ctx (NULL: dropped) and returns `status`, so that callers can write
 * `return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: line %zu: ...", path, line);`. */
psfm_status psfm_fail(psfm_context *ctx, psfm_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Refuses, for a function of the library, a call that lacks something it needs: `all` says whether
 * all pointers that must not be NULL are there. */
psfm_status psfm_check_given(psfm_context *ctx, const char *function, bool all);

/* The same for memory that could not be had, where nothing more can be said of it. */
psfm_status psfm_fail_memory(psfm_context *ctx);

/* Logs one line; levels as in the public header. */
void psfm_log(psfm_context *ctx, psfm_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Reports progress of a stage, first with done 0, before its work; one without steps is not told.
 * Returns PSFM_ERR_CANCELLED if the callback asked to stop. */
psfm_status psfm_progress(psfm_context *ctx, const char *stage, size_t done, size_t total);

/* Memory in bytes that stages may fill with what can be read or computed again, and by which they
 * choose how many images are worked on at once: --memory, or all that the machine has. 0 resets. */
void psfm_context_set_memory(psfm_context *ctx, size_t bytes);
size_t psfm_context_memory(const psfm_context *ctx);

/* A context for one worker thread: shares seed and progress with `parent`, has its own message.
 * parallel.c is the only user. */
psfm_context *psfm_context_fork(psfm_context *parent);

/* A context for tasks that report to nobody: seed and memory of `like`, which may be NULL, one
 * thread, no callbacks. The caller destroys it. NULL when memory is out. */
psfm_context *psfm_context_spare(const psfm_context *like);

/* The link to the other processes of a run (core/tasks/link.h), which the caller owns; NULL: alone.
 */
struct psfm_link;
void psfm_context_set_link(psfm_context *ctx, struct psfm_link *link);
struct psfm_link *psfm_context_link(const psfm_context *ctx);

/* How many processes of the run share this machine, whose cores and memory are divided among them
 * unless they were set. 1 without. */
void psfm_context_set_share(psfm_context *ctx, int num_processes);
/* A file that was made in this context, told by its device and inode: should the machine fail now,
 * nothing older is lost with it. The last one is remembered. */
void psfm_context_set_made(psfm_context *ctx, uint64_t device, uint64_t inode);
bool psfm_context_made(const psfm_context *ctx, uint64_t device, uint64_t inode);
/* The numbers as they were set; 0: by the machine. */
int psfm_context_asked_threads(const psfm_context *ctx);
size_t psfm_context_asked_memory(const psfm_context *ctx);

/* Lets the loops of a task's context be shared by the threads of another one, which outlives it, as
 * far as these have nothing else to do. */
void psfm_context_borrow_threads(psfm_context *ctx, psfm_context *lender);
bool psfm_context_borrows(const psfm_context *ctx);

/* Where the threads of the context's loops are kept; parallel.c is the only user. */
struct psfm_threads;
struct psfm_threads **psfm_context_own_threads(psfm_context *ctx);

/* Takes the message of `from` over into `to`. */
void psfm_context_copy_message(psfm_context *to, const psfm_context *from);

#endif
