/* CHOLMOD's solve takes its vectors anew each time, and ends the program if there is no memory for
 * them. Here they are taken once, with a look at whether they are there. */
#include "core/linalg/cholmod_solve.h"

#include <stdbool.h>
#include <string.h>

/* Simplicial factors are solved for four right-hand sides at a time. */
#define SIMPLICIAL_COLUMNS ((size_t)4)

/* Places of orderings in CHOLMOD's default list; the first is one given by the caller. */
enum { AMD_METHOD = 1 };

void psfm_cholmod_start(cholmod_common *common) {
    cholmod_l_start(common);
    common->print = 0;
    common->final_ll = 1; /* an LDL factor would accept an indefinite matrix */
}

psfm_status psfm_cholmod_failure(psfm_context *ctx, const cholmod_common *common, const char *what,
                                 const char *step) {
    int code = common->status;
    if (code == CHOLMOD_OUT_OF_MEMORY || code == CHOLMOD_TOO_LARGE)
        return psfm_fail_memory(ctx);
    return psfm_fail(ctx, PSFM_ERR_NUMERIC, "%s %s failed (CHOLMOD status %d)", what, step, code);
}

psfm_status psfm_cholmod_analyze(psfm_context *ctx, cholmod_sparse *A, cholmod_common *common,
                                 const char *what, cholmod_factor **L) {
    *L = cholmod_l_analyze(A, common);
    if (*L == NULL)
        return psfm_cholmod_failure(ctx, common, what, "analysis");
    if (common->method[AMD_METHOD].lnz < 0.0) /* it was tried, and can only fail by memory */
        return psfm_fail_memory(ctx);
    return PSFM_OK;
}

/* Of libgomp, which CHOLMOD brings along; clang has no header for it. */
int omp_get_max_active_levels(void);
void omp_set_max_active_levels(int levels);

/* CHOLMOD opens a parallel region of four threads for each supernode, however small, and however
 * few threads are wanted; on the narrow ones of our graphs that takes three times as long as one
 * thread. Serialises the regions of the calling thread and returns what to restore. */
static int openmp_off(void) {
    int levels = omp_get_max_active_levels();
    omp_set_max_active_levels(0);
    return levels;
}

psfm_status psfm_cholmod_factor(psfm_context *ctx, cholmod_sparse *A, cholmod_factor *L,
                                cholmod_common *common, const char *what) {
    int levels = openmp_off();
    int done = cholmod_l_factorize(A, L, common);
    omp_set_max_active_levels(levels);
    if (!done)
        return psfm_cholmod_failure(ctx, common, what, "factorisation");
    if (L->minor < L->n)
        return psfm_fail(ctx, PSFM_ERR_NUMERIC, "%s matrix is not positive definite (row %zu)",
                         what, L->minor);
    return PSFM_OK;
}

/* Makes room for `size` numbers, no more: CHOLMOD takes a vector of any other size anew. */
static bool ensure_size(cholmod_dense **vector, size_t size, cholmod_common *common) {
    if (*vector != NULL && (*vector)->nzmax == size)
        return true;
    cholmod_l_free_dense(vector, common);
    *vector = cholmod_l_allocate_dense(size, 1, size, CHOLMOD_REAL, common);
    return *vector != NULL;
}

psfm_status psfm_cholmod_solve(psfm_context *ctx, cholmod_factor *L, cholmod_common *common,
                               const char *what, psfm_cholmod_memory *memory, size_t num_rhs,
                               const double *b, double *x) {
    size_t n = L->n, columns = L->is_super ? num_rhs : SIMPLICIAL_COLUMNS;
    size_t extra = L->is_super && L->maxesize > 0 ? L->maxesize * num_rhs : 1;
    if (x != b)
        memcpy(x, b, n * num_rhs * sizeof *x); /* CHOLMOD wants a pointer that is not const */
    cholmod_dense rhs = {.nrow = n,
                         .ncol = num_rhs,
                         .nzmax = n * num_rhs,
                         .d = n,
                         .x = x,
                         .xtype = CHOLMOD_REAL,
                         .dtype = CHOLMOD_DOUBLE};
    int levels = openmp_off();
    bool done = ensure_size(&memory->x, n * num_rhs, common) &&
                ensure_size(&memory->y, n * columns, common) &&
                ensure_size(&memory->e, extra, common) &&
                cholmod_l_solve2(CHOLMOD_A, L, &rhs, NULL, &memory->x, NULL, &memory->y, &memory->e,
                                 common);
    omp_set_max_active_levels(levels);
    if (!done)
        return psfm_cholmod_failure(ctx, common, what, "solve");
    memcpy(x, memory->x->x, n * num_rhs * sizeof *x);
    return PSFM_OK;
}

void psfm_cholmod_memory_free(psfm_cholmod_memory *memory, cholmod_common *common) {
    cholmod_l_free_dense(&memory->x, common);
    cholmod_l_free_dense(&memory->y, common);
    cholmod_l_free_dense(&memory->e, common);
}
