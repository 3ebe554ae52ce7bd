/* Embedding of the edges on the real line: spectral, by normalised cuts.
 *
 * h minimises sum_ef S_ef (h_e - h_f)^2 (Eq. 2) under sum_e D_e h_e^2 = 1 and sum_e D_e h_e = 0,
 * D_e the row sums of S: similar edges get similar numbers, and a group of edges that agree with
 * each other but not with the rest is moved apart (Shi and Malik; used on pose graphs in the
 * Planar-SfM paper; numbered as in docs/paper.md). The minimiser is the second eigenvector of
 *   L h = lambda D h,  L = D - S                                                        (Eq. 6)
 * or, with x = D^1/2 h, of the symmetric matrix I - D^-1/2 S D^-1/2. Its first eigenvector,
 * u ~ D^1/2 1 with eigenvalue 0, is known, and moved beyond all others (which are at most 2) by
 * adding 3 u u^T.
 *
 * Edges that are not connected through S have nothing to say about each other's h, so that each
 * component of S is embedded by itself:
 *
 *   under 200 edges        all eigenvectors, by LAPACK;
 *   under 3,000            ARPACK on I - D^-1/2 S D^-1/2 + 3 u u^T;
 *   from there on          the multilevel method of linalg/fiedler.h, as well as where ARPACK gave
 * up.
 *
 * Measured on cameras with 20 edges each: up to 3,000 edges ARPACK and the multilevel method take
 * the same 10 or 20 ms; at 100,000 ARPACK takes 9 times as long on a field (827 products against 24
 * steps), 5 times on a ring with false edges, and on a clean ring it has not converged after 9,000
 * products where the other takes 18 steps: the gap between the eigenvalues closes with the square
 * of the ring's length. All products are made from differences h_e - h_f, because on a ring of
 * 100,000 cameras lambda is 4e-8, and 1 - (1 - lambda) would lose half the digits.
 *
 * Whatever the method, eigenvalue and residual are computed anew from h at the end. */
#include "graph/embedding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "base/union_find.h"
#include "linalg/eigen.h"
#include "linalg/fiedler.h"
#include "linalg/laplacian.h"

static const psfm_option rows[] = {
    PSFM_OPTION_INT(psfm_embedding_options, dense_below, "dense-below", 200, 25, 10000,
                    "components of fewer edges are embedded by a dense eigensolver"),
    PSFM_OPTION_INT(psfm_embedding_options, multilevel_from, "multilevel-from", 3000, 25,
                    2000000000,
                    "components of this many edges and more are embedded by the multilevel method"),
    PSFM_OPTION_DOUBLE(psfm_embedding_options, tolerance, "tolerance", 1e-6, 1e-14, 1e-2,
                       "largest residual of the eigenvector, relative to its eigenvalue"),
    PSFM_OPTION_INT(psfm_embedding_options, max_iterations, "max-iterations", 500, 1, 1000000,
                    "most restarts of ARPACK, or steps of the multilevel method"),
};
const psfm_option_table psfm_embedding_option_table = {"embedding", rows,
                                                       sizeof rows / sizeof rows[0]};

#define WEAKEST 1e-100        /* of the largest entry: what still joins two edges */
#define ROUNDING 1e-13        /* residual that no method can promise to get below */
#define USELESS 1e-2          /* residual, relative to the eigenvalue, that is an error */
#define USELESS_ABSOLUTE 1e-9 /* ... if it is also larger than this */
#define SIGN_TIE 1e-6         /* relative difference of magnitudes that counts as equal */

/* One component, its edges numbered from 0. */
typedef struct {
    const psfm_csr *S;
    const double *mass; /* D */
    double total_mass;
    double *h;
    double *work; /* S->n */
    double eigenvalue, residual;
} part;

/* y = (I - D^-1/2 S D^-1/2 + 3 u u^T) x. */
static psfm_status multiply_deflated(psfm_context *ctx, const double *x, double *y, void *user) {
    const part *p = user;
    double along = 0.0;
    for (uint32_t e = 0; e < p->S->n; ++e) {
        double root = sqrt(p->mass[e]);
        along += root * x[e];
        p->work[e] = x[e] / root;
    }
    psfm_status status = psfm_laplacian_mul(ctx, p->S, p->work, y);
    for (uint32_t e = 0; status == PSFM_OK && e < p->S->n; ++e) {
        double root = sqrt(p->mass[e]);
        y[e] = y[e] / root + 3.0 * along / p->total_mass * root;
    }
    return status;
}

static psfm_status solve_dense(psfm_context *ctx, part *p) {
    size_t n = p->S->n;
    double *A = NULL, *w = NULL;
    psfm_status status = PSFM_ALLOC(ctx, n * n, &A);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, n, &w);
    if (status != PSFM_OK)
        goto cleanup;
    for (size_t e = 0; e < n; ++e) {
        for (size_t f = 0; f < n; ++f)
            A[e * n + f] = (e == f) + 3.0 * sqrt(p->mass[e] * p->mass[f]) / p->total_mass;
        for (size_t k = p->S->row_begin[e]; k < p->S->row_begin[e + 1]; ++k)
            A[e * n + p->S->col[k]] -= p->S->value[k] / sqrt(p->mass[e] * p->mass[p->S->col[k]]);
    }
    status = psfm_eigen_symmetric(ctx, (uint32_t)n, A, w);
    for (size_t e = 0; status == PSFM_OK && e < n; ++e)
        p->h[e] = A[e] / sqrt(p->mass[e]);

cleanup:
    free(A);
    free(w);
    return status;
}

static psfm_status solve_by_arpack(psfm_context *ctx, const psfm_embedding_options *options,
                                   part *p, bool *solved) {
    psfm_rng rng = psfm_rng_make(0, PSFM_RNG_EMBEDDING, 0, 0);
    psfm_eigen_result result;
    for (uint32_t e = 0; e < p->S->n; ++e)
        p->h[e] = psfm_rng_range(&rng, -1.0, 1.0);
    const psfm_operator matrix = {p->S->n, multiply_deflated, p};
    psfm_status status = psfm_eigen_smallest(ctx, &matrix, options->tolerance,
                                             options->max_iterations, p->h, &result);
    *solved = status == PSFM_OK && result.converged;
    for (uint32_t e = 0; *solved && e < p->S->n; ++e)
        p->h[e] /= sqrt(p->mass[e]);
    return status;
}

/* Scales h to unit D-norm and gives it its sign; a vector without length is an error. */
static psfm_status normalise(psfm_context *ctx, part *p) {
    double mean = 0.0, norm2 = 0.0, largest = 0.0;
    for (uint32_t e = 0; e < p->S->n; ++e)
        mean += p->mass[e] * p->h[e] / p->total_mass;
    for (uint32_t e = 0; e < p->S->n; ++e) {
        p->h[e] -= mean;
        norm2 += p->mass[e] * p->h[e] * p->h[e];
        largest = fmax(largest, fabs(p->h[e]));
    }
    if (!(norm2 > 0.0) || !isfinite(norm2))
        return psfm_fail(ctx, PSFM_ERR_NUMERIC, "no embedding of %u edges was found", p->S->n);
    double scale = 1.0 / sqrt(norm2);
    for (uint32_t e = 0; e < p->S->n; ++e) {
        if (fabs(p->h[e]) >= (1.0 - SIGN_TIE) * largest) {
            scale = copysign(scale, p->h[e]);
            break;
        }
    }
    for (uint32_t e = 0; e < p->S->n; ++e)
        p->h[e] *= scale;
    return PSFM_OK;
}

/* Normalises h and sets eigenvalue and residual from it. */
static psfm_status measure(psfm_context *ctx, part *p) {
    psfm_status status = normalise(ctx, p);
    if (status == PSFM_OK)
        status = psfm_laplacian_mul(ctx, p->S, p->h, p->work);
    if (status != PSFM_OK)
        return status;
    double value = 0.0, sum = 0.0;
    for (uint32_t e = 0; e < p->S->n; ++e)
        value += p->h[e] * p->work[e];
    for (uint32_t e = 0; e < p->S->n; ++e) {
        double r = p->work[e] - value * p->mass[e] * p->h[e];
        sum += r * r / p->mass[e];
    }
    p->eigenvalue = value;
    p->residual = sqrt(sum);
    return PSFM_OK;
}

/* Ten times the tolerance is granted, because the methods go by estimates. */
static bool is_accurate(const psfm_embedding_options *options, const part *p) {
    return p->residual <= fmax(10.0 * options->tolerance * p->eigenvalue, ROUNDING);
}

static psfm_status check_residual(psfm_context *ctx, const psfm_embedding_options *options,
                                  const part *p) {
    if (is_accurate(options, p))
        return PSFM_OK;
    if (!(p->residual <= fmax(USELESS * p->eigenvalue, USELESS_ABSOLUTE)))
        return psfm_fail(ctx, PSFM_ERR_NUMERIC,
                         "the embedding of %u edges did not converge: residual %g at eigenvalue %g",
                         p->S->n, p->residual, p->eigenvalue);
    psfm_log(ctx, PSFM_LOG_WARNING,
             "the embedding of %u edges is accurate to a residual of %.1e only, at eigenvalue %.1e",
             p->S->n, p->residual, p->eigenvalue);
    return PSFM_OK;
}

/* The minimiser of Eq. 2 as the eigenvector of Eq. 6, by the method for its size. */
static psfm_status embed_part(psfm_context *ctx, const psfm_embedding_options *options, part *p) {
    uint32_t n = p->S->n;
    psfm_status status = PSFM_OK;
    bool solved = false;
    if (n < (uint32_t)options->dense_below) {
        status = solve_dense(ctx, p);
        solved = true;
    } else if (n < (uint32_t)options->multilevel_from) {
        status = solve_by_arpack(ctx, options, p, &solved);
    }
    if (status == PSFM_OK && solved) {
        status = measure(ctx, p);
        solved = is_accurate(options, p);
    }
    if (status == PSFM_OK && !solved && n >= (uint32_t)options->dense_below) {
        const psfm_fiedler_options fiedler = {options->tolerance, options->max_iterations,
                                              "embedding"};
        psfm_eigen_result result;
        status = psfm_fiedler(ctx, p->S, p->mass, &fiedler, p->h, &result);
        if (status == PSFM_OK)
            status = measure(ctx, p);
    }
    return status == PSFM_OK ? check_residual(ctx, options, p) : status;
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

/* begin has two places more than components: counts go two up, so that begin[c + 1] is where the
 * next edge of c goes. */
static psfm_status list_edges(psfm_context *ctx, const psfm_embedding *embedding, splitting *s) {
    uint32_t n = s->S->n, num = embedding->num_components;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, (size_t)num + 2, &s->begin)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &s->edges)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &s->place)) != PSFM_OK)
        return status;
    for (uint32_t e = 0; e < n; ++e)
        ++s->begin[embedding->component[e] + 2];
    for (uint32_t c = 0; c < num; ++c)
        s->begin[c + 2] += s->begin[c + 1];
    for (uint32_t e = 0; e < n; ++e)
        s->edges[s->begin[embedding->component[e] + 1]++] = e;
    for (uint32_t k = 0; k < n; ++k)
        s->place[s->edges[k]] = k - s->begin[embedding->component[s->edges[k]]];
    return PSFM_OK;
}

/* Rows and columns of component c. */
static psfm_status extract(psfm_context *ctx, const splitting *s, uint32_t c, psfm_csr *out) {
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

/* Embeds a component of two edges or more, given as a matrix; h has S->n entries. */
static psfm_status embed_matrix(psfm_context *ctx, const psfm_csr *S,
                                const psfm_embedding_options *options, double *h,
                                double *eigenvalue, double *residual) {
    double *mass = NULL;
    part p = {.S = S};
    p.h = h;
    psfm_status status = PSFM_ALLOC(ctx, S->n, &mass);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, S->n, &p.work);
    if (status == PSFM_OK) {
        for (uint32_t e = 0; e < S->n; ++e) {
            for (size_t k = S->row_begin[e]; k < S->row_begin[e + 1]; ++k)
                mass[e] += S->value[k];
            p.total_mass += mass[e];
        }
        p.mass = mass;
        status = embed_part(ctx, options, &p);
        *eigenvalue = p.eigenvalue;
        *residual = p.residual;
    }
    free(mass);
    free(p.work);
    return status;
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
        status = extract(ctx, s, c, &own);
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
    psfm_embedding_options defaults;
    psfm_options_init(&psfm_embedding_option_table, &defaults);
    if (options == NULL)
        options = &defaults;
    *out = (psfm_embedding){0};
    splitting s = {.S = S};
    double range[2];
    psfm_status status = psfm_options_check(ctx, &psfm_embedding_option_table, options);
    if (status != PSFM_OK || (status = check_matrix(ctx, S, range)) != PSFM_OK)
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
