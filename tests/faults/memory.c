/* Part of the command planarsfm_failing: one allocation fails. The linker sends the command's own
 * calls here (--wrap); cJSON, SQLite and CHOLMOD are asked to use the same functions. Works under
 * the sanitizers, which bring an allocator of their own.
 *
 *   FAULT_MEMORY=N       the N-th allocation fails
 *   FAULT_ABORT=1        it aborts instead, for a debugger
 *   FAULT_PATHS=FILE     nothing fails; FILE gets the number of all allocations and, line by line,
 * the first one of each path of calls that leads to one */
#define _GNU_SOURCE
#include <SuiteSparse_config.h>
#include <cjson/cJSON.h>
#include <errno.h>
#include <execinfo.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEPTH = 16, NUM_SLOTS = 1 << 16 };

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static long fails_at;
static atomic_long num_calls;
static FILE *paths;
static uint64_t seen[NUM_SLOTS];
static sqlite3_mem_methods before;

/* Writes the number of this allocation if nobody came here by the same calls. */
static void note_path(long number) {
    void *calls[DEPTH];
    uint64_t hash = 1469598103934665603U;
    int depth = backtrace(calls, DEPTH);
    for (int k = 0; k < depth; ++k)
        hash = (hash ^ (uint64_t)(uintptr_t)calls[k]) * 1099511628211U;
    uint64_t slot = hash % NUM_SLOTS;
    while (seen[slot] != 0 && seen[slot] != hash)
        slot = (slot + 1) % NUM_SLOTS;
    if (seen[slot] == 0)
        fprintf(paths, "%ld\n", number);
    seen[slot] = hash;
}

static bool fails(void) {
    long number = atomic_fetch_add(&num_calls, 1) + 1;
    if (paths != NULL)
        note_path(number);
    if (number != fails_at)
        return false;
    if (getenv("FAULT_ABORT") != NULL)
        abort();
    errno = ENOMEM;
    return true;
}

void *__wrap_malloc(size_t size) {
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size) {
    return fails() ? NULL : __real_realloc(old, size);
}

static void *sqlite_malloc(int size) {
    return fails() ? NULL : before.xMalloc(size);
}

static void *sqlite_realloc(void *old, int size) {
    return fails() ? NULL : before.xRealloc(old, size);
}

__attribute__((constructor)) static void start(void) {
    static sqlite3_mem_methods ours;
    const char *number = getenv("FAULT_MEMORY"), *path = getenv("FAULT_PATHS");
    void *first[1];
    fails_at = number == NULL ? 0 : atol(number);
    backtrace(first, 1); /* its first call allocates */
    cJSON_InitHooks(&(cJSON_Hooks){__wrap_malloc, free});
#if SUITESPARSE_MAIN_VERSION >= 7
    SuiteSparse_config_malloc_func_set(__wrap_malloc);
    SuiteSparse_config_calloc_func_set(__wrap_calloc);
    SuiteSparse_config_realloc_func_set(__wrap_realloc);
#else
    SuiteSparse_config.malloc_func = __wrap_malloc;
    SuiteSparse_config.calloc_func = __wrap_calloc;
    SuiteSparse_config.realloc_func = __wrap_realloc;
#endif
    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &before);
    ours = before;
    ours.xMalloc = sqlite_malloc;
    ours.xRealloc = sqlite_realloc;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &ours);
    paths = path == NULL ? NULL : fopen(path, "w");
}

__attribute__((destructor)) static void finish(void) {
    if (paths == NULL)
        return;
    fprintf(paths, "all %ld\n", atomic_load(&num_calls));
    fclose(paths);
}
