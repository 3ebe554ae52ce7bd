/* Contraction of weighted graphs for a multilevel solver.
 *
 * A link is strong if it carries at least a quarter of the heaviest link of either end. Low-energy
 * vectors are nearly constant over strong links, so that a group of strongly linked nodes can be
 * treated as one node on the next, coarser level.
 *
 * What must not be lost on the way down are parts that hang together well and are tied to the rest
 * by very little: they carry low eigenvectors of their own. Contracted, such a part is a node whose
 * rate, degree / mass, is far below its neighbours'. It has no strong links then (its heaviest is
 * light for the other end), and a node of a rate below a tenth of its neighbour's does not join
 * that neighbour's group either. It stays by itself down to the coarsest level. */
#include "core/linalg/coarsen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/union_find.h"

#define NONE UINT32_MAX
#define MAX_GROUP 16
#define STRONG_SHARE 0.25
#define SLOW_SHARE 0.1

typedef struct {
    const psfm_csr *W;
    const double *mass;
    double *degree;   /* sum of weights to others */
    double *heaviest; /* largest of them */
    uint32_t *group;
} grouping;

static void measure_nodes(grouping *g) {
    for (uint32_t i = 0; i < g->W->n; ++i) {
        g->degree[i] = g->heaviest[i] = 0.0;
        for (size_t k = g->W->row_begin[i]; k < g->W->row_begin[i + 1]; ++k) {
            if (g->W->col[k] == i)
                continue;
            g->degree[i] += g->W->value[k];
            g->heaviest[i] = fmax(g->heaviest[i], g->W->value[k]);
        }
    }
}

/* The heaviest strong link from node i to a node without a group; NONE if there is none. */
static uint32_t strongest_free(const grouping *g, uint32_t i) {
    uint32_t best = NONE;
    double weight = 0.0;
    for (size_t k = g->W->row_begin[i]; k < g->W->row_begin[i + 1]; ++k) {
        uint32_t j = g->W->col[k];
        if (g->group[j] == NONE && g->W->value[k] > weight &&
            g->W->value[k] >= STRONG_SHARE * fmax(g->heaviest[i], g->heaviest[j])) {
            weight = g->W->value[k];
            best = j;
        }
    }
    return best;
}

/* The grouped node that a single one is tied to most, unless that would hide a slow node. */
static uint32_t strongest_grouped(const grouping *g, uint32_t i) {
    uint32_t best = NONE;
    double weight = 0.0;
    for (size_t k = g->W->row_begin[i]; k < g->W->row_begin[i + 1]; ++k) {
        uint32_t j = g->W->col[k];
        if (g->group[j] != NONE && g->W->value[k] > weight &&
            g->degree[i] * g->mass[j] >= SLOW_SHARE * g->degree[j] * g->mass[i]) {
            weight = g->W->value[k];
            best = j;
        }
    }
    return best;
}

static uint32_t form_groups(grouping *g) {
    uint32_t num = 0;
    for (uint32_t i = 0; i < g->W->n; ++i)
        g->group[i] = NONE;
    for (uint32_t i = 0; i < g->W->n; ++i) {
        if (g->group[i] != NONE)
            continue;
        uint32_t size = 1;
        g->group[i] = num;
        for (uint32_t j; size < MAX_GROUP && (j = strongest_free(g, i)) != NONE; ++size)
            g->group[j] = num;
        if (size > 1)
            ++num;
        else
            g->group[i] = NONE;
    }
    for (uint32_t i = 0; i < g->W->n; ++i) {
        uint32_t j = g->group[i] == NONE ? strongest_grouped(g, i) : NONE;
        if (j != NONE)
            g->group[i] = g->group[j];
    }
    for (uint32_t i = 0; i < g->W->n; ++i)
        if (g->group[i] == NONE)
            g->group[i] = num++;
    return num;
}

psfm_status psfm_coarsen_group(psfm_context *ctx, const psfm_csr *W, const double *mass,
                               uint32_t *group, uint32_t *num_groups) {
    grouping g = {.W = W, .mass = mass};
    g.group = group;
    psfm_status status = PSFM_ALLOC(ctx, W->n, &g.degree);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, W->n, &g.heaviest);
    if (status == PSFM_OK) {
        measure_nodes(&g);
        *num_groups = form_groups(&g);
    }
    free(g.degree);
    free(g.heaviest);
    return status;
}

/* The coarse matrix while it grows. */
typedef struct {
    psfm_csr *matrix;
    size_t num, col_capacity, value_capacity;
    size_t *place; /* per group: entry of the current row, if `place_row` says so */
    uint32_t *place_row;
} assembly;

/* Adds row i of W to row `to` of the coarse matrix. */
static psfm_status add_row(psfm_context *ctx, const psfm_csr *W, uint32_t i, const uint32_t *group,
                           uint32_t to, assembly *a) {
    size_t need = a->num + (W->row_begin[i + 1] - W->row_begin[i]);
    psfm_csr *c = a->matrix;
    psfm_status status = PSFM_RESERVE(ctx, &c->col, &a->col_capacity, need);
    if (status == PSFM_OK)
        status = PSFM_RESERVE(ctx, &c->value, &a->value_capacity, need);
    if (status != PSFM_OK)
        return status;
    for (size_t k = W->row_begin[i]; k < W->row_begin[i + 1]; ++k) {
        uint32_t g = group[W->col[k]];
        if (g == to)
            continue;
        if (a->place_row[g] != to) {
            a->place_row[g] = to;
            a->place[g] = a->num;
            c->col[a->num] = g;
            c->value[a->num++] = 0.0;
        }
        c->value[a->place[g]] += W->value[k];
    }
    return PSFM_OK;
}

psfm_status psfm_coarsen_contract(psfm_context *ctx, const psfm_csr *W, const double *mass,
                                  const uint32_t *group, uint32_t num_groups, psfm_csr *coarse,
                                  double *mass_coarse) {
    uint32_t *begin = NULL, *member = NULL;
    assembly a = {.matrix = coarse};
    *coarse = (psfm_csr){.n = num_groups};
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, (size_t)num_groups + 1, &begin)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, W->n, &member)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num_groups, &a.place)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num_groups, &a.place_row)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, (size_t)num_groups + 1, &coarse->row_begin)) != PSFM_OK)
        goto cleanup;
    psfm_list_labelled(group, W->n, num_groups, begin, member);
    memset(a.place_row, 0xff, num_groups * sizeof *a.place_row); /* NONE */
    for (uint32_t g = 0; g < num_groups; ++g) {
        mass_coarse[g] = 0.0;
        for (uint32_t k = begin[g]; k < begin[g + 1]; ++k) {
            mass_coarse[g] += mass[member[k]];
            if ((status = add_row(ctx, W, member[k], group, g, &a)) != PSFM_OK)
                goto cleanup;
        }
        coarse->row_begin[g + 1] = a.num;
    }

cleanup:
    free(begin);
    free(member);
    free(a.place);
    free(a.place_row);
    if (status != PSFM_OK)
        psfm_csr_free(coarse);
    return status;
}
