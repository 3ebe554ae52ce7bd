/* When a node is eliminated, the best of its two states is tabulated for every state of its scope:
 * a message, which the first of the scope to be eliminated absorbs. Walking back through the order
 * reads the states off.
 *
 * The best set that is not empty needs one number more a message: what is best if all of the scope
 * stays and something eliminated before flips. Wherever the scope flips, any entry will do. */
#include "core/labelling/labelling_exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

enum { SELF = -1 };

typedef struct {
    double *entry;       /* per state of the scope, bit j for its j-th node */
    bool *choice;        /* per state: whether the node flips */
    double other;        /* best with the scope as it is and a flip at or below the node */
    int64_t other_child; /* rank of the message that this flip is in, or SELF */
    uint32_t first_child, next_sibling; /* messages that the node absorbs; UINT32_MAX ends */
} message;

typedef struct {
    const psfm_flip_problem *problem;
    const psfm_elimination *order;
    message *messages;
    bool *choices;      /* of all messages */
    uint32_t *position; /* of each node in the scope at hand */
    double *sum[2];     /* per state of the scope, node as it is or flipped */
    uint32_t *sub;      /* state of a message's scope for each state of the scope at hand */
    double tolerance;
} tables;

double psfm_flips_sum(const psfm_flip_problem *problem, const bool *flip) {
    const psfm_topology *g = problem->graph;
    double sum = 0.0;
    for (uint32_t e = 0; e < g->num_edges; ++e)
        sum += problem->value[e][flip == NULL ? 0 : 2 * flip[g->node1[e]] + flip[g->node2[e]]];
    for (uint32_t v = 0; flip != NULL && v < g->num_nodes; ++v)
        sum += flip[v] ? problem->own[v] : 0.0;
    return sum;
}

/* The value of an edge by the states of node v and of its other end. */
static double value_at(const psfm_flip_problem *p, uint32_t e, uint32_t v, int self, int other) {
    return p->value[e][p->graph->node1[e] == v ? 2 * self + other : 2 * other + self];
}

/* Starts the sums of the k-th node by its edges to the scope and to the fixed nodes. */
static void sum_edges(tables *t, uint32_t k, size_t width) {
    const psfm_flip_problem *p = t->problem;
    uint32_t v = t->order->node[k];
    for (int self = 0; self < 2; ++self) {
        double *sum = t->sum[self], add[64] = {0};
        sum[0] = self ? p->own[v] : 0.0;
        for (size_t i = p->adjacency->begin[v]; i < p->adjacency->begin[v + 1]; ++i) {
            uint32_t e = p->adjacency->edge[i], u = psfm_topology_other(p->graph, e, v);
            uint32_t rank = t->order->rank[u];
            if (rank < k) /* in a message already */
                continue;
            double stays = value_at(p, e, v, self, 0);
            sum[0] += stays;
            if (rank != UINT32_MAX)
                add[t->position[u]] += value_at(p, e, v, self, 1) - stays;
        }
        for (size_t j = 0; j < width; ++j)
            for (size_t i = 0, half = (size_t)1 << j; i < half; ++i)
                sum[half + i] = sum[i] + add[j];
    }
}

/* Adds the message of rank c, whose scope is the k-th node and part of its scope. */
static void absorb_message(tables *t, uint32_t k, uint32_t c, size_t width) {
    const psfm_elimination *o = t->order;
    message *m = &t->messages[c];
    uint32_t bit[64] = {0}, own = 0;
    for (size_t i = o->begin[c]; i < o->begin[c + 1]; ++i) {
        uint32_t u = o->scope[i], mask = (uint32_t)1 << (i - o->begin[c]);
        if (u == o->node[k])
            own = mask;
        else
            bit[t->position[u]] = mask;
    }
    t->sub[0] = 0;
    for (size_t j = 0; j < width; ++j)
        for (size_t i = 0, half = (size_t)1 << j; i < half; ++i)
            t->sub[half + i] = t->sub[i] | bit[j];
    for (size_t i = 0; i < (size_t)1 << width; ++i) {
        t->sum[0][i] += m->entry[t->sub[i]];
        t->sum[1][i] += m->entry[t->sub[i] | own];
    }
}

/* The best with all of the scope as it is and a flip at the k-th node or below. */
static void find_other(tables *t, uint32_t k) {
    message *m = &t->messages[k];
    m->other = t->sum[1][0];
    m->other_child = SELF;
    for (uint32_t c = m->first_child; c != UINT32_MAX; c = t->messages[c].next_sibling) {
        const message *child = &t->messages[c];
        double sum = t->sum[0][0] + (child->other - child->entry[0]);
        if (sum > m->other) {
            m->other = sum;
            m->other_child = c;
        }
    }
}

/* Hands the k-th message to the first of its scope. */
static void hand_on(tables *t, uint32_t k) {
    const psfm_elimination *o = t->order;
    uint32_t first = UINT32_MAX;
    for (size_t i = o->begin[k]; i < o->begin[k + 1]; ++i)
        if (o->rank[o->scope[i]] < first)
            first = o->rank[o->scope[i]];
    if (first == UINT32_MAX)
        return;
    t->messages[k].next_sibling = t->messages[first].first_child;
    t->messages[first].first_child = k;
}

static psfm_status make_message(psfm_context *ctx, tables *t, uint32_t k) {
    const psfm_elimination *o = t->order;
    size_t width = o->begin[k + 1] - o->begin[k];
    message *m = &t->messages[k];
    for (size_t j = 0; j < width; ++j)
        t->position[o->scope[o->begin[k] + j]] = (uint32_t)j;
    sum_edges(t, k, width);
    for (uint32_t c = m->first_child; c != UINT32_MAX; c = t->messages[c].next_sibling)
        absorb_message(t, k, c, width);
    find_other(t, k);
    for (uint32_t c = m->first_child; c != UINT32_MAX; c = t->messages[c].next_sibling) {
        free(t->messages[c].entry);
        t->messages[c].entry = NULL;
    }
    psfm_status status = PSFM_ALLOC(ctx, (size_t)1 << width, &m->entry);
    for (size_t i = 0; status == PSFM_OK && i < (size_t)1 << width; ++i) {
        m->choice[i] = t->sum[1][i] > t->sum[0][i] + t->tolerance;
        m->entry[i] = t->sum[m->choice[i]][i];
    }
    hand_on(t, k);
    return status;
}

static psfm_status begin_tables(psfm_context *ctx, tables *t) {
    const psfm_elimination *o = t->order;
    size_t largest = 0;
    psfm_status status;
    for (uint32_t k = 0; k < o->num; ++k)
        if (o->begin[k + 1] - o->begin[k] > largest)
            largest = o->begin[k + 1] - o->begin[k];
    if ((status = PSFM_ALLOC(ctx, o->num, &t->messages)) ||
        (status = PSFM_ALLOC(ctx, o->num_entries, &t->choices)) ||
        (status = PSFM_ALLOC(ctx, t->problem->graph->num_nodes, &t->position)) ||
        (status = PSFM_ALLOC(ctx, (size_t)1 << largest, &t->sum[0])) ||
        (status = PSFM_ALLOC(ctx, (size_t)1 << largest, &t->sum[1])) ||
        (status = PSFM_ALLOC(ctx, (size_t)1 << largest, &t->sub)))
        return status;
    bool *choice = t->choices;
    for (uint32_t k = 0; k < o->num; ++k) {
        t->messages[k].choice = choice;
        t->messages[k].first_child = t->messages[k].next_sibling = UINT32_MAX;
        choice += (size_t)1 << (o->begin[k + 1] - o->begin[k]);
    }
    double total = 0.0;
    for (uint32_t e = 0; e < t->problem->graph->num_edges; ++e)
        for (int s = 0; s < 4; ++s)
            total = fmax(total, fabs(t->problem->value[e][s]));
    t->tolerance = 1e-12 * total;
    return PSFM_OK;
}

static void end_tables(tables *t) {
    for (uint32_t k = 0; t->messages != NULL && k < t->order->num; ++k)
        free(t->messages[k].entry);
    free(t->messages);
    free(t->choices);
    free(t->position);
    free(t->sum[0]);
    free(t->sum[1]);
    free(t->sub);
}

/* The component whose best set that is not empty costs least, by the rank of its last node;
 * UINT32_MAX if there is none. */
static uint32_t cheapest_root(const tables *t) {
    double best = -INFINITY;
    uint32_t root = UINT32_MAX;
    for (uint32_t k = 0; k < t->order->num; ++k) {
        const message *m = &t->messages[k];
        if (t->order->begin[k] == t->order->begin[k + 1] && m->other - m->entry[0] > best) {
            best = m->other - m->entry[0];
            root = k;
        }
    }
    return root;
}

/* Reads the states off, last node first. `differing` is the rank of a message that is to have a
 * flip at or below it though its scope stays; UINT32_MAX: none. */
static void read_back(const tables *t, uint32_t differing, bool *flip) {
    const psfm_elimination *o = t->order;
    for (uint32_t v = 0; v < t->problem->graph->num_nodes; ++v)
        flip[v] = false;
    for (uint32_t k = o->num; k-- > 0;) {
        const message *m = &t->messages[k];
        size_t state = 0;
        for (size_t i = o->begin[k]; i < o->begin[k + 1]; ++i)
            state |= (size_t)flip[o->scope[i]] << (i - o->begin[k]);
        if (k != differing) {
            flip[o->node[k]] = m->choice[state];
            continue;
        }
        flip[o->node[k]] = m->other_child == SELF;
        differing = m->other_child == SELF ? UINT32_MAX : (uint32_t)m->other_child;
    }
}

psfm_status psfm_flips_best(psfm_context *ctx, const psfm_flip_problem *problem,
                            const psfm_elimination *order, bool differ, bool *flip, double *gain) {
    tables t = {.problem = problem, .order = order};
    psfm_status status = begin_tables(ctx, &t);
    for (uint32_t k = 0; status == PSFM_OK && k < order->num; ++k)
        status = make_message(ctx, &t, k);
    if (status == PSFM_OK) {
        uint32_t root = differ ? cheapest_root(&t) : UINT32_MAX;
        read_back(&t, root, flip);
        *gain = psfm_flips_sum(problem, flip) - psfm_flips_sum(problem, NULL);
        if (differ && root == UINT32_MAX)
            *gain = -INFINITY;
    }
    end_tables(&t);
    return status;
}

/* Annealing crosses what no move on the sets at hand crosses; the sets then do what it is slow at.
 */

/* What flipping node v gains in the state `flip`. */
static double flip_gain(const psfm_flip_problem *p, const bool *flip, uint32_t v) {
    const psfm_topology *g = p->graph;
    double gain = flip[v] ? -p->own[v] : p->own[v];
    for (size_t k = p->adjacency->begin[v]; k < p->adjacency->begin[v + 1]; ++k) {
        uint32_t e = p->adjacency->edge[k];
        int state = 2 * flip[g->node1[e]] + flip[g->node2[e]];
        gain += p->value[e][state ^ (g->node1[e] == v ? 2 : 1)] - p->value[e][state];
    }
    return gain;
}

/* The mean over the edges of how far apart the values of their states are. */
static double mean_range(const psfm_flip_problem *p) {
    double sum = 0.0;
    for (uint32_t e = 0; e < p->graph->num_edges; ++e) {
        const double *value = p->value[e];
        sum += fmax(fmax(value[0], value[1]), fmax(value[2], value[3])) -
               fmin(fmin(value[0], value[1]), fmin(value[2], value[3]));
    }
    return sum / fmax(1.0, p->graph->num_edges);
}

void psfm_flips_anneal(const psfm_flip_problem *problem, const bool *fixed, int sweeps,
                       psfm_rng *rng, bool *flip) {
    uint32_t n = problem->graph->num_nodes;
    double mean = mean_range(problem);
    memset(flip, 0, n * sizeof *flip);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        double share = sweeps > 1 ? (double)sweep / (sweeps - 1) : 1.0;
        double temperature = mean * 2.0 * pow(0.01, share);
        for (uint32_t v = 0; v < n; ++v) {
            if (fixed[v])
                continue;
            double gain = flip_gain(problem, flip, v), u = psfm_rng_uniform(rng);
            if (gain > 0.0 || u < exp(gain / temperature))
                flip[v] = !flip[v];
        }
    }
}
