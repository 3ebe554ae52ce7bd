/* Similarity of incident edges (Eq. 2 and 3).
 *
 * Two edges e, f that share exactly one camera s look at the same planes if their normals agree in
 * s where their inliers coincide:
 *
 *   S_ef = sum_qq' P^qq' eta(n^q, n^q'),   eta(a, b) = exp(-(angle(a, b) / bandwidth)^2),  (Eq. 2)
 *   P^qq' = O(q, q') w^q w^q' / sum of the same over all (q, q'),                          (Eq. 3)
 *
 * over the hypotheses q of e and q' of f, O the number of keypoints of s that are inliers of both
 * (Planar-SfM paper, docs/paper.md; the bandwidth there is 1 rad). S is the
 * adjacency of the line graph of the pose graph, weighted.
 *
 * The work is in O, which core/posegraph/shared_inliers.h counts.
 *
 * Each pair of edges meets in one camera only, so that cameras are independent: each fills the
 * upper triangle of its own block (parallel), and the rows of S are then merged from the two
 * blocks an edge is in (parallel). Nothing depends on the schedule. */
#include "core/posegraph/similarity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/linalg/order_statistics.h"
#include "core/linalg/vec3.h"
#include "core/posegraph/shared_inliers.h"

static const psfm_option rows[] = {
    PSFM_OPTION_DOUBLE_BY_MODE(
        psfm_similarity_options, normal_bandwidth_rad, "normal-bandwidth", 0.1, 0.14, 1e-3, 100.0,
        "angle (rad) between two normals at which their similarity has dropped to "
        "1/e"),
    PSFM_OPTION_DOUBLE_BY_MODE(
        psfm_similarity_options, self, "self", 0.0, 1.0, 0.0, 1000.0,
        "similarity of an edge with itself: what keeps an edge apart that resembles "
        "no other"),
    PSFM_OPTION_DOUBLE_BY_MODE(psfm_similarity_options, floor, "floor", 0.0, 1e-5, 0.0, 1.0,
                               "least similarity of two edges that share a camera"),
};
const psfm_option_table psfm_similarity_option_table = PSFM_OPTION_TABLE("similarity", rows);

/* Rows of S are merged in blocks, so that a task is worth its hand-out. */
#define ROWS_PER_TASK 4096

typedef struct {
    const psfm_pose_graph *graph;
    double bandwidth;
    double self, floor;
    size_t *block_begin; /* per camera: start of its block's upper triangle, row by row */
    double *block;
    psfm_camera_planes *scratch; /* per worker */
    psfm_csr *S;
} similarity;

/* Place of (a, b), a < b, in the upper triangle of a d x d block without its diagonal. */
static size_t triangle_index(size_t d, size_t a, size_t b) {
    return a * d - a * (a + 1) / 2 + (b - a - 1);
}

/* Adds the hypotheses of two planes with `shared` common keypoints to the numerator (sum[0]) and
 * the denominator (sum[1]) of S_ef. */
static void add_planes(const similarity *m, uint32_t node, const psfm_edge_plane *p,
                       const psfm_edge_plane *q, double shared, double sum[2]) {
    const psfm_pose_graph *graph = m->graph;
    for (uint32_t i = p->hypothesis_begin; i < p->hypothesis_end; ++i) {
        const psfm_hypothesis *h = &graph->hypotheses[i];
        if (!(h->weight > 0.0))
            continue;
        const double *n = psfm_hypothesis_normal(graph, h, node);
        for (uint32_t j = q->hypothesis_begin; j < q->hypothesis_end; ++j) {
            const psfm_hypothesis *g = &graph->hypotheses[j];
            if (!(g->weight > 0.0))
                continue;
            /* Only the square of the angle counts, so that acos is accurate enough near 1. */
            double cosine = psfm_dot3(n, psfm_hypothesis_normal(graph, g, node));
            double angle = acos(fmax(-1.0, fmin(1.0, cosine))) / m->bandwidth;
            double share = shared * h->weight * g->weight; /* Eq. 3 */
            sum[0] += share * exp(-angle * angle);         /* Eq. 2 */
            sum[1] += share;
        }
    }
}

/* S_ef of the camera's edges number a and b; 0 if they share no keypoint or both cameras. */
static double compare_edges(const similarity *m, const psfm_camera_planes *s, uint32_t node,
                            size_t a, size_t b) {
    const uint32_t *incident = psfm_adjacency_at(&m->graph->incident, node);
    const psfm_edge *e = &m->graph->edges[incident[a]], *f = &m->graph->edges[incident[b]];
    if (e->node1 == f->node1 && e->node2 == f->node2)
        return 0.0;
    double sum[2] = {0.0, 0.0};
    for (uint32_t p = s->first_plane[a]; p < s->first_plane[a + 1]; ++p) {
        for (uint32_t q = s->first_plane[b]; q < s->first_plane[b + 1]; ++q) {
            uint32_t shared = psfm_camera_planes_overlap(s, p, q);
            if (shared > 0)
                add_planes(m, node, s->planes[p], s->planes[q], shared, sum);
        }
    }
    return fmax(sum[1] > 0.0 ? sum[0] / sum[1] : 0.0, m->floor);
}

static psfm_status fill_block(psfm_context *ctx, size_t index, int worker, void *user) {
    const similarity *m = user;
    psfm_camera_planes *s = &m->scratch[worker];
    uint32_t node = (uint32_t)index;
    size_t d = psfm_adjacency_degree(&m->graph->incident, node);
    psfm_status status = psfm_camera_planes_set(ctx, m->graph, node, s);
    if (status != PSFM_OK)
        return status;
    double *value = m->block + m->block_begin[node];
    for (size_t a = 0; a < d; ++a)
        for (size_t b = a + 1; b < d; ++b)
            *value++ = compare_edges(m, s, node, a, b);
    return PSFM_OK;
}

/* An edge's row in the block of one of its cameras, read in the order of the camera's edges. */
typedef struct {
    const uint32_t *incident;
    const double *block;
    size_t d, row, next;
    double self; /* on the diagonal */
} block_row;

static block_row open_row(const similarity *m, uint32_t node, uint32_t e) {
    block_row r = {psfm_adjacency_at(&m->graph->incident, node),
                   m->block + m->block_begin[node],
                   psfm_adjacency_degree(&m->graph->incident, node),
                   0,
                   0,
                   0.0};
    r.row = psfm_lower_bound(&e, r.incident, r.d, sizeof e, psfm_compare_u32);
    return r;
}

/* Moves on to the next non-zero entry; false at the end. */
static bool next_entry(block_row *r, uint32_t *col, double *value) {
    for (; r->next < r->d; ++r->next) {
        size_t a = r->next < r->row ? r->next : r->row, b = r->next < r->row ? r->row : r->next;
        *value = a == b ? r->self : r->block[triangle_index(r->d, a, b)];
        *col = r->incident[r->next];
        if (*value > 0.0)
            return true;
    }
    return false;
}

/* Merges the two rows of edge e by column. With col NULL it only counts. */
static size_t merge_rows(const similarity *m, uint32_t e, uint32_t *col, double *value) {
    block_row row[2] = {open_row(m, m->graph->edges[e].node1, e),
                        open_row(m, m->graph->edges[e].node2, e)};
    row[0].self = m->self; /* once */
    uint32_t c[2];
    double v[2];
    bool more[2] = {next_entry(&row[0], &c[0], &v[0]), next_entry(&row[1], &c[1], &v[1])};
    size_t num = 0;
    while (more[0] || more[1]) {
        int k = !more[0] || (more[1] && c[1] < c[0]);
        if (col != NULL) {
            col[num] = c[k];
            value[num] = v[k];
        }
        ++num;
        ++row[k].next;
        more[k] = next_entry(&row[k], &c[k], &v[k]);
    }
    return num;
}

/* Counts the entries of rows, and fills them once there are columns. */
static psfm_status make_rows(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx;
    (void)worker;
    const similarity *m = user;
    psfm_csr *S = m->S;
    size_t last = (index + 1) * ROWS_PER_TASK < S->n ? (index + 1) * ROWS_PER_TASK : S->n;
    for (size_t e = index * ROWS_PER_TASK; e < last; ++e) {
        if (S->col == NULL)
            S->row_begin[e + 1] = merge_rows(m, (uint32_t)e, NULL, NULL);
        else
            merge_rows(m, (uint32_t)e, S->col + S->row_begin[e], S->value + S->row_begin[e]);
    }
    return PSFM_OK;
}

static psfm_status check_hypotheses(psfm_context *ctx, const psfm_pose_graph *graph) {
    for (uint32_t k = 0; k < graph->num_hypotheses; ++k) {
        const psfm_hypothesis *h = &graph->hypotheses[k];
        double sum = h->weight + psfm_norm3(h->motion.n1) + psfm_norm3(h->motion.n2);
        if (!isfinite(sum) || h->weight < 0.0)
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                             "edge %u of the pose graph has a hypothesis with weight %g and normal "
                             "(%g, %g, %g)",
                             h->edge, h->weight, h->motion.n1[0], h->motion.n1[1], h->motion.n1[2]);
    }
    return PSFM_OK;
}

/* Computes all blocks. */
static psfm_status fill_blocks(psfm_context *ctx, similarity *m) {
    uint32_t n = m->graph->num_nodes;
    int num_workers = psfm_parallel_workers(ctx, n);
    psfm_status status = PSFM_ALLOC(ctx, (size_t)n + 1, &m->block_begin);
    if (status != PSFM_OK)
        return status;
    for (uint32_t v = 0; v < n; ++v) {
        size_t d = psfm_adjacency_degree(&m->graph->incident, v);
        m->block_begin[v + 1] = m->block_begin[v] + (d > 0 ? d * (d - 1) / 2 : 0);
    }
    if ((status = PSFM_ALLOC(ctx, m->block_begin[n], &m->block)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, (size_t)num_workers, &m->scratch)) != PSFM_OK)
        return status;
    status = psfm_parallel_for(ctx, "similarity", n, fill_block, m);
    for (int k = 0; k < num_workers; ++k)
        psfm_camera_planes_free(&m->scratch[k]);
    return status;
}

psfm_status psfm_similarity_build(psfm_context *ctx, const psfm_pose_graph *graph,
                                  const psfm_similarity_options *options, psfm_csr *S) {
    psfm_similarity_options defaults;
    psfm_options_init(&psfm_similarity_option_table, &defaults);
    if (options == NULL)
        options = &defaults;
    *S = (psfm_csr){.n = graph->num_edges};
    similarity m = {.graph = graph,
                    .bandwidth = options->normal_bandwidth_rad,
                    .self = options->self,
                    .floor = options->floor,
                    .S = S};
    size_t num_tasks = ((size_t)S->n + ROWS_PER_TASK - 1) / ROWS_PER_TASK;
    psfm_status status = psfm_options_check(ctx, &psfm_similarity_option_table, options);
    if (status != PSFM_OK || (status = check_hypotheses(ctx, graph)) != PSFM_OK ||
        (status = fill_blocks(ctx, &m)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, (size_t)S->n + 1, &S->row_begin)) != PSFM_OK ||
        (status = psfm_parallel_for(ctx, NULL, num_tasks, make_rows, &m)) != PSFM_OK)
        goto cleanup;
    for (uint32_t e = 0; e < S->n; ++e)
        S->row_begin[e + 1] += S->row_begin[e];
    if ((status = PSFM_ALLOC(ctx, S->row_begin[S->n], &S->col)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, S->row_begin[S->n], &S->value)) != PSFM_OK)
        goto cleanup;
    status = psfm_parallel_for(ctx, NULL, num_tasks, make_rows, &m);

cleanup:
    free(m.block_begin);
    free(m.block);
    free(m.scratch);
    if (status != PSFM_OK)
        psfm_csr_free(S);
    return status;
}
