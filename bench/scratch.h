/* A folder for what a bench leaves while it runs, under TMPDIR or /tmp. */
#ifndef PSFM_BENCH_SCRATCH_H
#define PSFM_BENCH_SCRATCH_H

#include <stdio.h>
#include <stdlib.h>

#define SCRATCH_LENGTH 512

/* A name for mkdtemp or mkstemp. */
static inline void scratch_name(char path[SCRATCH_LENGTH]) {
    const char *base = getenv("TMPDIR");
    snprintf(path, SCRATCH_LENGTH, "%s/planarsfm-bench-XXXXXX", base == NULL ? "/tmp" : base);
}

/* A fresh folder, which the caller removes; NULL if it cannot be made. */
static inline char *make_scratch(char path[SCRATCH_LENGTH]) {
    scratch_name(path);
    return mkdtemp(path);
}
#endif
