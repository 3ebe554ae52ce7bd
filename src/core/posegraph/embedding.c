/* Embedding of the edges on the real line (Eq. 5): spectral, by normalised cuts.
 *
 * h minimises sum_ef S_ef (h_e - h_f)^2 under sum_e D_e h_e^2 = 1 and sum_e D_e h_e = 0,
 * D_e the row sums of S: similar edges get similar numbers, and a group of edges that agree with
 * each other but not with the rest is moved apart (Shi and Malik; used on pose graphs in the
 * Planar-SfM paper, docs/paper.md). The minimiser is the second eigenvector of
 *   L h = lambda D h,  L = D - S
 * found by the multilevel method of core/linalg/fiedler.h. Edges that are not connected through S
 * have nothing to say about each other's h, so that each component of S is embedded by itself.
 *
 * One method serves components of two edges and of a million. LAPACK is as fast up to some 50 edges
 * and goes with the cube of them; Krylov methods on L alone go with the length of chains and rings
 * and stall where false edges crowd the end of the spectrum (docs/measurements.md). All products
 * are made from differences h_e - h_f, because on a ring of 100,000 cameras lambda is 4e-8, and
 * 1 - (1 - lambda) would lose half the digits.
 *
 * Eigenvalue and residual are computed anew from h at the end. */
#include "core/posegraph/embedding.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/union_find.h"
#include "core/linalg/fiedler.h"
#include "core/linalg/laplacian.h"

static const psfm_embedding_options defaults = {.tolerance = 1e-9, .max_iterations = 500};

#define WEAKEST 1e-100 /* of the largest entry: what still joins two edges */
#define ROUNDING 1e-13 /* residual and eigenvalue that no method can promise to tell from 0 */
#define USELESS 1e-2   /* residual, relative to the eigenvalue, that is an error */
#define USELESS_ABSOLUTE 1e-9 /* ... if it is also larger than this */
#define SIGN_TIE 1e-6         /* relative difference of magnitudes that counts as equal */
#define TOLD_FROM 3000        /* edges of a component whose progress is told */

static void set_sign(double *h, uint32_t n) {
    double largest = 0.0;
    uint32_t e = 0;
    for (uint32_t f = 0; f < n; ++f)
        largest = fmax(largest, fabs(h[f]));
    while (fabs(h[e]) < (1.0 - SIGN_TIE) * largest)
        ++e;
    const double sign = copysign(1.0, h[e]);
    for (uint32_t f = 0; f < n; ++f)
        h[f] *= sign;
}

static psfm_status measure_residual(psfm_context *ctx, const psfm_csr *S, const double *mass,
                                    const double *h, double *eigenvalue, double *residual) {
    double *product, sum = 0.0;
    psfm_status status = PSFM_ALLOC(ctx, S->n, &product);
    if (status == PSFM_OK)
        status = psfm_laplacian_mul(ctx, S, h, product);
    *eigenvalue = 0.0;
    for (uint32_t e = 0; status == PSFM_OK && e < S->n; ++e)
        *eigenvalue += h[e] * product[e];
    for (uint32_t e = 0; status == PSFM_OK && e < S->n; ++e) {
        double r = product[e] - *eigenvalue * mass[e] * h[e];
        sum += r * r / mass[e];
    }
    *residual = sqrt(sum);
    free(product);
    return status;
}

/* Ten times the tolerance is granted, because the method goes by estimates. An eigenvalue below
 * rounding is zero as far as numbers tell: next to nothing joins two groups, h tells them apart,
 * and its residual is at most sqrt(2 eigenvalue). */
static psfm_status check_residual(psfm_context *ctx, const psfm_embedding_options *options,
                                  uint32_t n, double eigenvalue, double residual) {
    if (residual <= fmax(10.0 * options->tolerance * eigenvalue, ROUNDING) ||
        eigenvalue <= ROUNDING)
        return PSFM_OK;
    if (!(residual <= fmax(USELESS * eigenvalue, USELESS_ABSOLUTE)))
        return psfm_fail(ctx, PSFM_ERR_NUMERIC,
                         "the embedding of %u edges did not converge: residual %g at eigenvalue %g",
                         n, residual, eigenvalue);
    psfm_log(ctx, PSFM_LOG_WARNING,
             "the embedding of %u edges is accurate to a residual of %.1e only, at eigenvalue %.1e",
             n, residual, eigenvalue);
    return PSFM_OK;
}

/* Whether entry k of row e is allowed. `mirror` walks the upper part of every row in step with the
 * lower part of the rows below, so that S is seen to be symmetric in one pass. */
static bool check_entry(const psfm_csr *S, uint32_t e, size_t k, size_t *mirror) {
    uint32_t f = S->col[k];
    if (f >= S->n || !(S->value[k] >= 0.0) || !isfinite(S->value[k]))
        return false;
    if (f <= e)
        mirror[e] = k + 1;
    if (f >= e)
        return true;
    size_t m = mirror[f]++;
    return m < S->row_begin[f + 1] && S->col[m] == e && S->value[m] == S->value[k];
}

/* Checks that S is finite, not negative and symmetric; finds its smallest and largest entry. */
static psfm_status check_matrix(psfm_context *ctx, const psfm_csr *S, double range[2]) {
    size_t *mirror;
    psfm_status status = PSFM_ALLOC(ctx, S->n, &mirror);
    if (status != PSFM_OK)
        return status;
    range[0] = INFINITY;
    range[1] = 0.0;
    for (uint32_t e = 0; status == PSFM_OK && e < S->n; ++e) {
        mirror[e] = S->row_begin[e];
        for (size_t k = S->row_begin[e]; status == PSFM_OK && k < S->row_begin[e + 1]; ++k) {
            if (!check_entry(S, e, k, mirror))
                status = psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                                   "similarity %g of edges %u and %u (of %u) is negative, not "
                                   "finite or not symmetric",
                                   S->value[k], e, S->col[k], S->n);
            range[0] = fmin(range[0], S->value[k]);
            range[1] = fmax(range[1], S->value[k]);
        }
    }
    for (uint32_t e = 0; status == PSFM_OK && e < S->n; ++e)
        if (mirror[e] != S->row_begin[e + 1])
            status = psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                               "the similarities of edge %u are not symmetric", e);
    free(mirror);
    return status;
}

/* Labels the components by the entries above `weakest`. */
static psfm_status label_components(psfm_context *ctx, const psfm_csr *S, double weakest,
                                    psfm_embedding *out) {
    psfm_sets_init(out->component, S->n);
    for (uint32_t e = 0; e < S->n; ++e)
        for (size_t k = S->row_begin[e]; k < S->row_begin[e + 1]; ++k)
            if (S->value[k] > weakest)
                psfm_sets_unite(out->component, e, S->col[k]);
    return psfm_sets_label(ctx, out->component, S->n, out->component, &out->num_components);
}

/* The components as lists of edges. */
typedef struct {
    const psfm_csr *S;
    double weakest;  /* entries up to this do not count */
    bool all_count;  /* there are none such */
    uint32_t *begin; /* edges[begin[c] .. begin[c + 1]) are those of component c, ascending */
    uint32_t *edges;
    uint32_t *place; /* edge e is number place[e] of its component */
} splitting;

static psfm_status list_edges(psfm_context *ctx, const psfm_embedding *embedding, splitting *s) {
    uint32_t n = s->S->n, num = embedding->num_components;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, (size_t)num + 1, &s->begin)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &s->edges)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &s->place)) != PSFM_OK)
        return status;
    psfm_list_labelled(embedding->component, n, num, s->begin, s->edges);
    for (uint32_t k = 0; k < n; ++k)
        s->place[s->edges[k]] = k - s->begin[embedding->component[s->edges[k]]];
    return PSFM_OK;
}

/* Rows and columns of component c. */
static psfm_status extract_component(psfm_context *ctx, const splitting *s, uint32_t c,
                                     psfm_csr *out) {
    const psfm_csr *S = s->S;
    const uint32_t *edges = s->edges + s->begin[c];
    uint32_t num = s->begin[c + 1] - s->begin[c];
    size_t count = 0;
    for (uint32_t i = 0; i < num; ++i)
        for (size_t k = S->row_begin[edges[i]]; k < S->row_begin[edges[i] + 1]; ++k)
            count += S->value[k] > s->weakest;
    *out = (psfm_csr){.n = num};
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, (size_t)num + 1, &out->row_begin)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, count, &out->col)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, count, &out->value)) != PSFM_OK) {
        psfm_csr_free(out);
        return status;
    }
    count = 0;
    for (uint32_t i = 0; i < num; ++i) {
        for (size_t k = S->row_begin[edges[i]]; k < S->row_begin[edges[i] + 1]; ++k) {
            if (!(S->value[k] > s->weakest))
                continue;
            out->col[count] = s->place[S->col[k]];
            out->value[count++] = S->value[k];
        }
        out->row_begin[i + 1] = count;
    }
    return PSFM_OK;
}

/* The minimiser of Eq. 5 as an eigenvector, for a component of two edges or more, given
 * as a matrix; h has S->n entries. */
static psfm_status embed_matrix(psfm_context *ctx, const psfm_csr *S,
                                const psfm_embedding_options *options, double *h,
                                double *eigenvalue, double *residual) {
    const psfm_fiedler_options fiedler = {options->tolerance, options->max_iterations,
                                          S->n < TOLD_FROM ? NULL : "embedding"};
    psfm_fiedler_result result;
    double *mass;
    psfm_status status = PSFM_ALLOC(ctx, S->n, &mass);
    if (status != PSFM_OK)
        return status;
    for (uint32_t e = 0; e < S->n; ++e)
        for (size_t k = S->row_begin[e]; k < S->row_begin[e + 1]; ++k)
            mass[e] += S->value[k];
    if ((status = psfm_fiedler(ctx, S, mass, &fiedler, h, &result)) == PSFM_OK) {
        set_sign(h, S->n);
        status = measure_residual(ctx, S, mass, h, eigenvalue, residual);
    }
    free(mass);
    return status == PSFM_OK ? check_residual(ctx, options, S->n, *eigenvalue, *residual) : status;
}

static psfm_status embed_component(psfm_context *ctx, const splitting *s,
                                   const psfm_embedding_options *options, uint32_t c,
                                   psfm_embedding *out) {
    uint32_t num = s->begin[c + 1] - s->begin[c];
    double *h = NULL;
    psfm_csr own = {0};
    out->eigenvalue[c] = out->residual[c] = NAN;
    if (num == 1)
        return PSFM_OK;
    bool is_whole = num == s->S->n && s->all_count; /* then no copy is needed */
    psfm_status status = PSFM_ALLOC(ctx, num, &h);
    if (status == PSFM_OK && !is_whole)
        status = extract_component(ctx, s, c, &own);
    if (status == PSFM_OK)
        status = embed_matrix(ctx, is_whole ? s->S : &own, options, h, &out->eigenvalue[c],
                              &out->residual[c]);
    for (uint32_t i = 0; status == PSFM_OK && i < num; ++i)
        out->h[s->edges[s->begin[c] + i]] = h[i];
    free(h);
    psfm_csr_free(&own);
    return status;
}

psfm_status psfm_embedding_compute(psfm_context *ctx, const psfm_csr *S,
                                   const psfm_embedding_options *options, psfm_embedding *out) {
    if (options == NULL)
        options = &defaults;
    *out = (psfm_embedding){0};
    splitting s = {.S = S};
    double range[2];
    psfm_status status = check_matrix(ctx, S, range);
    if (status != PSFM_OK)
        return status;
    s.weakest = WEAKEST * range[1];
    s.all_count = range[0] > s.weakest;
    if ((status = PSFM_ALLOC(ctx, S->n, &out->h)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, S->n, &out->component)) != PSFM_OK ||
        (status = label_components(ctx, S, s.weakest, out)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, out->num_components, &out->eigenvalue)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, out->num_components, &out->residual)) != PSFM_OK ||
        (status = list_edges(ctx, out, &s)) != PSFM_OK)
        goto cleanup;
    for (uint32_t c = 0; status == PSFM_OK && c < out->num_components; ++c)
        status = embed_component(ctx, &s, options, c, out);

cleanup:
    free(s.begin);
    free(s.edges);
    free(s.place);
    if (status != PSFM_OK)
        psfm_embedding_free(out);
    return status;
}

void psfm_embedding_free(psfm_embedding *embedding) {
    free(embedding->h);
    free(embedding->component);
    free(embedding->eigenvalue);
    free(embedding->residual);
    *embedding = (psfm_embedding){0};
}
