/* Absolute rotations by consensus.
 *
 * The objective is the total support of the edges (see the header). Two kinds of moves raise it,
 * in turns, until neither does:
 *
 *   Node move: each incident edge and candidate proposes a rotation for one image; the one with
 *   the largest support of all incident edges is taken.
 *
 *   World turn: an edge (i, j) that disagrees would agree if j were turned by G = R_j^T R_ji R_i,
 *   a rotation of the world (R_j G = R_ji R_i). Edges to a twin of the scene all name the same G,
 *   whichever images they join. So the most frequent G of the disagreeing edges is proposed to all
 *   images at once, and a binary labelling says who turns. Its energy is pairwise and frustrated
 *   (twin edges want different labels, true ones equal ones), a spin glass with few false bonds:
 *   simulated annealing solves it well at these sizes, from a seeded start, followed by descent.
 *
 * Agreement alone cannot always tell a scene from its twin: in a ring where each image is matched
 * with two on either side, three edges cross each gap, and if two of them are false the turned half
 * has the majority. What remains is how images came to be paired: by order, by overlap or by
 * likeness, so that the images of most pairs are turned by similar angles, whatever the scene. So a
 * candidate's confidence is multiplied by the density of its angle, learnt from all candidates at
 * first and from those that agree later. It is smoothed so widely that it does not choose between
 * decompositions; where pairs are turned in all ways, or in two (a drone's strips to and fro), it
 * is flat or has two peaks and does not choose either; and an edge with an unusual angle still
 * holds its images as long as no other edges contradict it. */
#include "pose/rotation_consensus.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "linalg/angle.h"
#include "linalg/mat3.h"

static const psfm_option rows[] = {
    PSFM_OPTION_DOUBLE(psfm_rotation_consensus_options, agreement_deg, "agreement-deg", 5.0, 0.01,
                       90.0, "an edge whose rotation is off by this much gives no support"),
    PSFM_OPTION_DOUBLE(psfm_rotation_consensus_options, typical_power, "typical-power", 3.0, 0.0,
                       10.0,
                       "how strongly edges with an unusual angle between their images are "
                       "distrusted; 0: not at all"),
    PSFM_OPTION_DOUBLE(psfm_rotation_consensus_options, typical_bandwidth_deg,
                       "typical-bandwidth-deg", 30.0, 1.0, 180.0,
                       "smoothing of the density of those angles"),
    PSFM_OPTION_INT(psfm_rotation_consensus_options, max_rounds, "max-rounds", 10, 0, 1000,
                    "rounds of moves of single images and of turns of the world"),
    PSFM_OPTION_INT(psfm_rotation_consensus_options, anneal_sweeps, "anneal-sweeps", 400, 1, 100000,
                    "sweeps of the annealing that decides which images a world turn moves"),
};
const psfm_option_table psfm_rotation_consensus_option_table = {"consensus", rows,
                                                                sizeof rows / sizeof *rows};

/* World turns that are tried in a round, and proposals that they are chosen from. */
enum { TURNS_PER_ROUND = 3, MAX_PROPOSALS = 512 };

/* The density of angles is tabulated by degree. */
enum { ANGLES = 181 };

typedef struct {
    const psfm_topology *topology;
    const psfm_rotation_candidates *candidates;
    double reach;            /* radians */
    double *confidence;      /* of the candidates, with their typicality */
    double (*R)[9];          /* current rotations */
    psfm_adjacency incident; /* edges at each node */
} search;

static double turn_angle_deg(const double R[9]) {
    double cosine = 0.5 * (R[0] + R[4] + R[8] - 1.0);
    return psfm_degrees(acos(fmax(-1.0, fmin(1.0, cosine))));
}

/* Sets the confidence of all candidates by the density of their angles among the chosen ones (NULL:
 * among all). */
static void learn_typical(search *s, const psfm_rotation_consensus_options *options,
                          const uint32_t *chosen) {
    const psfm_rotation_candidates *c = s->candidates;
    const double rarest = 0.01; /* nothing is impossible */
    double count[ANGLES] = {0}, density[ANGLES] = {0}, largest = 0.0;
    for (uint32_t e = 0; e < s->topology->num_edges; ++e)
        for (uint32_t q = c->begin[e]; q < c->begin[e + 1]; ++q)
            if (chosen == NULL || chosen[e] == q)
                count[(int)(turn_angle_deg(c->R_21[q]) + 0.5)] += c->weight[e] * c->confidence[q];
    for (int a = 0; a < ANGLES; ++a) {
        for (int b = 0; b < ANGLES; ++b) {
            double x = (a - b) / options->typical_bandwidth_deg;
            density[a] += count[b] * exp(-0.5 * x * x);
        }
        largest = fmax(largest, density[a]);
    }
    for (uint32_t q = 0; q < c->begin[s->topology->num_edges]; ++q) {
        double typical = density[(int)(turn_angle_deg(c->R_21[q]) + 0.5)];
        typical = largest > 0.0 ? fmax(typical / largest, rarest) : 1.0;
        s->confidence[q] = c->confidence[q] * pow(typical, options->typical_power);
    }
}

/* Support of one edge for rotations R1, R2 of its ends; the best candidate in *best. */
static double edge_support(const search *s, uint32_t e, const double R1[9], const double R2[9],
                           uint32_t *best) {
    const psfm_rotation_candidates *c = s->candidates;
    double R_21[9], support = 0.0;
    psfm_mat3_mul_t(R2, R1, R_21);
    *best = UINT32_MAX;
    for (uint32_t q = c->begin[e]; q < c->begin[e + 1]; ++q) {
        double reach = c->sigma_rad == NULL ? s->reach : fmax(s->reach, 3.0 * c->sigma_rad[q]);
        /* cos(angle) from the trace is enough to tell candidates that are far off */
        double trace = 0.0;
        for (int k = 0; k < 9; ++k)
            trace += c->R_21[q][k] * R_21[k];
        if (0.5 * (trace - 1.0) < cos(fmin(reach, 3.1)) - 1e-12)
            continue;
        double x = psfm_rotation_angle(c->R_21[q], R_21) / reach;
        double value = s->confidence[q] * (1.0 - x * x);
        if (value > support) {
            support = value;
            *best = q;
        }
    }
    return support * c->weight[e];
}

/* The candidate that each edge agrees with. */
static void choose(const search *s, uint32_t *chosen) {
    for (uint32_t e = 0; e < s->topology->num_edges; ++e)
        edge_support(s, e, s->R[s->topology->node1[e]], s->R[s->topology->node2[e]], &chosen[e]);
}

/* Support of all edges at node v if it had rotation R. */
static double node_support(const search *s, uint32_t v, const double R[9]) {
    double sum = 0.0;
    for (size_t k = s->incident.begin[v]; k < s->incident.begin[v + 1]; ++k) {
        uint32_t e = s->incident.edge[k], best;
        uint32_t a = s->topology->node1[e], b = s->topology->node2[e];
        sum += edge_support(s, e, a == v ? R : s->R[a], b == v ? R : s->R[b], &best);
    }
    return sum;
}

/* The rotation that candidate q of edge e proposes for its end v. */
static void propose(const search *s, uint32_t e, uint32_t q, uint32_t v, double R[9]) {
    uint32_t a = s->topology->node1[e], b = s->topology->node2[e];
    if (v == b)
        psfm_mat3_mul(s->candidates->R_21[q], s->R[a], R);
    else
        psfm_mat3_t_mul(s->candidates->R_21[q], s->R[b], R);
}

/* Moves node v to the best proposal of its edges. Returns whether it moved. */
static bool move_node(search *s, uint32_t v) {
    double best_support = node_support(s, v, s->R[v]), best_R[9];
    bool moved = false;
    for (size_t k = s->incident.begin[v]; k < s->incident.begin[v + 1]; ++k) {
        uint32_t e = s->incident.edge[k];
        for (uint32_t q = s->candidates->begin[e]; q < s->candidates->begin[e + 1]; ++q) {
            double R[9];
            propose(s, e, q, v, R);
            double support = node_support(s, v, R);
            if (support > best_support * (1.0 + 1e-9) + 1e-12) {
                best_support = support;
                memcpy(best_R, R, sizeof best_R);
                moved = true;
            }
        }
    }
    if (moved)
        memcpy(s->R[v], best_R, sizeof best_R);
    return moved;
}

static uint32_t move_nodes(search *s) {
    uint32_t num_moves = 0;
    enum { MAX_SWEEPS = 20 };
    for (int sweep = 0; sweep < MAX_SWEEPS; ++sweep) {
        uint32_t before = num_moves;
        for (uint32_t v = 0; v < s->topology->num_nodes; ++v)
            num_moves += move_node(s, v) ? 1 : 0;
        if (num_moves == before)
            break;
    }
    return num_moves;
}

/* A turn of the world that an edge asks for. */
typedef struct {
    double G[9];
    double weight;
} turn;

/* Adds a proposal; of more than MAX_PROPOSALS the lightest are forgotten. */
static void add_proposal(turn *proposals, uint32_t *num, const double G[9], double weight) {
    uint32_t at = *num;
    if (*num < MAX_PROPOSALS) {
        ++*num;
    } else {
        at = 0;
        for (uint32_t k = 1; k < *num; ++k)
            if (proposals[k].weight < proposals[at].weight)
                at = k;
        if (proposals[at].weight >= weight)
            return;
    }
    memcpy(proposals[at].G, G, sizeof proposals[at].G);
    proposals[at].weight = weight;
}

/* How far two turns are one and the same, 0 to 1; a turn and its inverse are the same cut, seen
 * from either side. */
static double likeness(const search *s, const turn *a, const turn *b) {
    double inverse[9];
    psfm_mat3_transpose(b->G, inverse);
    double angle = fmin(psfm_rotation_angle(a->G, b->G), psfm_rotation_angle(a->G, inverse));
    return angle < s->reach ? 1.0 - angle * angle / (s->reach * s->reach) : 0.0;
}

/* The proposal that most others would second; they are used up. False if none is left. */
static bool take_favourite(const search *s, turn *proposals, uint32_t num, turn *out) {
    double most = 0.0;
    uint32_t best = 0;
    for (uint32_t k = 0; k < num; ++k) {
        double votes = 0.0;
        for (uint32_t i = 0; proposals[k].weight > 0.0 && i < num; ++i)
            if (proposals[i].weight > 0.0)
                votes += proposals[i].weight * likeness(s, &proposals[k], &proposals[i]);
        if (votes > most) {
            most = votes;
            best = k;
        }
    }
    if (!(most > 0.0))
        return false;
    *out = proposals[best];
    for (uint32_t i = 0; i < num; ++i)
        if (likeness(s, out, &proposals[i]) > 0.0)
            proposals[i].weight = 0.0;
    return true;
}

/* The turns that disagreeing edges ask for, the most wanted first (a few of them). */
static psfm_status find_turns(psfm_context *ctx, const search *s, const uint32_t *chosen,
                              turn best[TURNS_PER_ROUND], int *num_best) {
    const psfm_rotation_candidates *c = s->candidates;
    turn *proposals = NULL;
    uint32_t num = 0;
    psfm_status status = PSFM_ALLOC(ctx, MAX_PROPOSALS, &proposals);
    if (status != PSFM_OK)
        return status;
    for (uint32_t e = 0; e < s->topology->num_edges; ++e) {
        for (uint32_t q = c->begin[e]; chosen[e] == UINT32_MAX && q < c->begin[e + 1]; ++q) {
            double wanted[9], G[9];
            psfm_mat3_mul(c->R_21[q], s->R[s->topology->node1[e]], wanted);
            psfm_mat3_t_mul(s->R[s->topology->node2[e]], wanted, G);
            add_proposal(proposals, &num, G, c->weight[e] * s->confidence[q]);
        }
    }
    *num_best = 0;
    while (*num_best < TURNS_PER_ROUND && take_favourite(s, proposals, num, &best[*num_best]))
        ++*num_best;
    free(proposals);
    return PSFM_OK;
}

/* A labelling problem: value[e][2 * x1 + x2] for labels x1, x2 of the edge's ends. */
typedef struct {
    const search *s;
    double (*value)[4];
    unsigned char *label, *best;
} labelling;

static double flip_gain(const labelling *l, uint32_t v) {
    const psfm_topology *t = l->s->topology;
    double gain = 0.0;
    for (size_t k = l->s->incident.begin[v]; k < l->s->incident.begin[v + 1]; ++k) {
        uint32_t e = l->s->incident.edge[k];
        int x1 = l->label[t->node1[e]], x2 = l->label[t->node2[e]];
        int y1 = t->node1[e] == v ? !x1 : x1, y2 = t->node2[e] == v ? !x2 : x2;
        gain += l->value[e][2 * y1 + y2] - l->value[e][2 * x1 + x2];
    }
    return gain;
}

/* Annealing from the labels as they are, then descent; the labels with the largest total stay. */
static void anneal(labelling *l, psfm_rng *rng, int sweeps) {
    uint32_t n = l->s->topology->num_nodes;
    double mean = 0.0, total = 0.0, best_total = 0.0;
    for (uint32_t e = 0; e < l->s->topology->num_edges; ++e)
        mean += l->s->candidates->weight[e];
    mean /= fmax(1.0, l->s->topology->num_edges);
    memcpy(l->best, l->label, n);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        /* from well above the weight of an edge down to where hardly any loss is accepted */
        double share = sweeps > 1 ? (double)sweep / (sweeps - 1) : 1.0;
        double temperature = mean * 2.0 * pow(0.01, share);
        for (uint32_t v = 0; v < n; ++v) {
            double gain = flip_gain(l, v);
            double u = psfm_rng_uniform(rng);
            if (gain > 0.0 || u < exp(gain / temperature)) {
                l->label[v] = !l->label[v];
                total += gain;
            }
        }
        if (total > best_total + 1e-12) {
            best_total = total;
            memcpy(l->best, l->label, n);
        }
    }
    memcpy(l->label, l->best, n);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t v = 0; v < n; ++v) {
            if (flip_gain(l, v) > 1e-9 * mean) {
                l->label[v] = !l->label[v];
                changed = true;
            }
        }
    }
}

static void fill_values(const search *s, const double (*turned)[9], double (*value)[4]) {
    for (uint32_t e = 0; e < s->topology->num_edges; ++e) {
        uint32_t a = s->topology->node1[e], b = s->topology->node2[e], best;
        for (int x = 0; x < 4; ++x)
            value[e][x] =
                edge_support(s, e, x & 2 ? turned[a] : s->R[a], x & 1 ? turned[b] : s->R[b], &best);
    }
}

/* Tries one turn; keeps it if the total support grows. */
static psfm_status try_turn(psfm_context *ctx, search *s, const turn *t, psfm_rng *rng, int sweeps,
                            bool *accepted) {
    uint32_t n = s->topology->num_nodes;
    labelling l = {.s = s};
    double(*turned)[9] = NULL;
    psfm_status status;
    *accepted = false;
    if ((status = PSFM_ALLOC(ctx, n, &turned)) ||
        (status = PSFM_ALLOC(ctx, s->topology->num_edges, &l.value)) ||
        (status = PSFM_ALLOC(ctx, n, &l.label)) || (status = PSFM_ALLOC(ctx, n, &l.best)))
        goto cleanup;
    for (uint32_t v = 0; v < n; ++v)
        psfm_mat3_mul(s->R[v], t->G, turned[v]);
    fill_values(s, (const double(*)[9])turned, l.value);
    anneal(&l, rng, sweeps);
    double gain = 0.0;
    for (uint32_t e = 0; e < s->topology->num_edges; ++e) {
        int x = 2 * l.label[s->topology->node1[e]] + l.label[s->topology->node2[e]];
        gain += l.value[e][x] - l.value[e][0];
    }
    *accepted = gain > 1e-6;
    for (uint32_t v = 0; *accepted && v < n; ++v)
        if (l.label[v])
            memcpy(s->R[v], turned[v], sizeof turned[v]);

cleanup:
    free(turned);
    free(l.value);
    free(l.label);
    free(l.best);
    return status;
}

static psfm_status turn_world(psfm_context *ctx, search *s, const uint32_t *chosen, psfm_rng *rng,
                              int sweeps, uint32_t *num_turns) {
    turn turns[TURNS_PER_ROUND];
    int num = 0;
    psfm_status status = find_turns(ctx, s, chosen, turns, &num);
    *num_turns = 0;
    for (int k = 0; status == PSFM_OK && k < num; ++k) {
        bool accepted;
        status = try_turn(ctx, s, &turns[k], rng, sweeps, &accepted);
        *num_turns += accepted ? 1 : 0;
    }
    return status;
}

psfm_status psfm_rotation_consensus(psfm_context *ctx, const psfm_topology *topology,
                                    const psfm_rotation_candidates *candidates, uint64_t seed,
                                    const psfm_rotation_consensus_options *options,
                                    double (*cam_from_world)[9], uint32_t *chosen,
                                    psfm_rotation_consensus_stats *stats) {
    search s = {.topology = topology,
                .candidates = candidates,
                .reach = psfm_radians(options->agreement_deg),
                .R = cam_from_world};
    psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_CONSENSUS, 0, 0);
    *stats = (psfm_rotation_consensus_stats){0};
    psfm_status status = psfm_progress(ctx, "consensus", 0, (size_t)options->max_rounds);
    if (status == PSFM_OK)
        status = psfm_adjacency_init(ctx, topology, NULL, topology->num_edges, &s.incident);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, candidates->begin[topology->num_edges], &s.confidence);
    if (status == PSFM_OK) {
        learn_typical(&s, options, NULL);
        choose(&s, chosen);
    }
    for (int round = 0; status == PSFM_OK && round < options->max_rounds; ++round) {
        uint32_t moves = move_nodes(&s), turns = 0;
        choose(&s, chosen);
        if (round > 0) /* the start may agree with the wrong edges */
            learn_typical(&s, options, chosen);
        status = turn_world(ctx, &s, chosen, &rng, options->anneal_sweeps, &turns);
        stats->num_node_moves += moves;
        stats->num_world_turns += turns;
        if (status == PSFM_OK)
            status =
                psfm_progress(ctx, "consensus", (size_t)round + 1, (size_t)options->max_rounds);
        if (moves == 0 && turns == 0)
            break;
    }
    if (status == PSFM_OK)
        choose(&s, chosen);
    for (uint32_t e = 0; status == PSFM_OK && e < topology->num_edges; ++e)
        stats->num_agreeing += chosen[e] != UINT32_MAX ? 1 : 0;
    psfm_adjacency_free(&s.incident);
    free(s.confidence);
    return status;
}
