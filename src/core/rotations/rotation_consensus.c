/* Absolute rotations by consensus.
 *
 * The objective is the total support of the edges (see the header). Two kinds of moves raise it, in
 * turns, until neither does: one image takes another rotation, or a set of images is turned by a
 * rotation of the world. In between the typicality of the candidates is learnt again. */
#include "core/rotations/rotation_consensus.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/rotations/consensus_search.h"

/* Rounds of moves of single images and of gauge rotations of sets; they end when neither helps. */
enum { MAX_ROUNDS = 10 };

static uint32_t count_agreeing(const psfm_consensus_search *s, const uint32_t *chosen) {
    uint32_t num = 0;
    for (uint32_t e = 0; e < s->topology->num_edges; ++e)
        num += chosen[e] != UINT32_MAX ? 1 : 0;
    return num;
}

/* Moves and turns until neither raises the sum. The first round of a start that may agree with the
 * wrong edges (`fresh`) does not learn from it. */
static psfm_status climb_support(psfm_context *ctx, psfm_consensus_search *s, uint64_t seed,
                                 bool fresh, uint32_t *chosen,
                                 psfm_rotation_consensus_stats *stats) {
    psfm_status status = PSFM_OK;
    for (int round = 0; status == PSFM_OK && round < MAX_ROUNDS; ++round) {
        uint32_t moves = psfm_consensus_move_nodes(s), turns = 0;
        psfm_consensus_choose(s, chosen);
        if (round > 0 || !fresh)
            psfm_consensus_learn_typical(s, chosen);
        status = psfm_consensus_move_gauges(ctx, s, chosen, seed, &turns);
        stats->num_node_moves += moves;
        stats->num_gauge_moves += turns;
        if (status == PSFM_OK)
            status = psfm_progress(ctx, "consensus", (size_t)round + 1, MAX_ROUNDS);
        if (moves == 0 && turns == 0)
            break;
    }
    if (status == PSFM_OK)
        stats->score = psfm_consensus_choose(s, chosen);
    stats->num_agreeing = count_agreeing(s, chosen);
    return status;
}

/* Relaxes and climbs again; *better if that gains at least as much as one more edge, else the
 * rotations are as before: what is less than that is left to the averaging that follows. */
static psfm_status relax_and_climb(psfm_context *ctx, psfm_consensus_search *s, uint64_t seed,
                                   uint32_t *chosen, psfm_rotation_consensus_stats *stats,
                                   bool *better) {
    size_t size = s->topology->num_nodes * sizeof *s->R;
    psfm_rotation_consensus_stats before = *stats;
    double(*kept)[9] = NULL;
    psfm_status status = PSFM_ALLOC(ctx, s->topology->num_nodes, &kept);
    if (status == PSFM_OK) {
        memcpy(kept, s->R, size);
        status = psfm_consensus_relax(ctx, s);
    }
    if (status == PSFM_OK)
        status = climb_support(ctx, s, seed, false, chosen, stats);
    *better = status == PSFM_OK &&
              stats->score * before.num_agreeing > before.score * (before.num_agreeing + 1.0);
    if (status == PSFM_OK && !*better) {
        memcpy(s->R, kept, size);
        before.score = fmax(before.score, stats->score);
        *stats = before;
        psfm_consensus_choose(s, chosen);
    }
    free(kept);
    return status;
}

psfm_status psfm_rotation_consensus(psfm_context *ctx, const psfm_rotation_problem *problem,
                                    double (*cam_from_world)[9], uint32_t *chosen,
                                    psfm_rotation_consensus_stats *stats) {
    enum { RELAXATIONS = 5 };
    uint64_t seed = problem->seed;
    psfm_consensus_search s;
    *stats = (psfm_rotation_consensus_stats){0};
    psfm_status status = psfm_consensus_init(ctx, problem, cam_from_world, &s);
    if (status == PSFM_OK)
        status = psfm_progress(ctx, "consensus", 0, MAX_ROUNDS);
    if (status == PSFM_OK)
        status = climb_support(ctx, &s, seed, true, chosen, stats);
    bool better = status == PSFM_OK && stats->num_agreeing < problem->topology->num_edges;
    for (int k = 0; status == PSFM_OK && better && k < RELAXATIONS; ++k)
        status = relax_and_climb(ctx, &s, seed, chosen, stats, &better);
    psfm_consensus_free(&s);
    return status;
}
