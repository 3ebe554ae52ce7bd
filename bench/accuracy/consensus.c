/* Rotation consensus against duplicates: what the search finds, and what the truth is worth.
 *
 *   bench_consensus [--scene NAME] [--cameras N] [--neighbours K] [--duplicates SHARE] [--seeds S]
 *                   [--first SEED] [--ambiguous mark | split]
 *
 * One line a seed: the share of images whose rotation is within 20 degrees of the truth (drift is
 * not what is measured here), the sum of supports at the rotations found and at the true ones, both
 * with the typicality of the rotations found, how many cuts are undecided, and what follows:
 * "right"; "below", the truth has the larger sum and was not found; "cannot be told", the rotations
 * found are wrong and have the larger sum, so that no search would help; "silent", wrong though no
 * cut is undecided. Then the counts. With
 * --ambiguous split models are cut there, and the share counts images that are right in their part.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../tests/rotation_score.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "core/solve/rotation_candidates.h"
#include "sfm/reconstruct_options.h"
#include "synth/scene.h"

#define CHECK(ctx, call)                                                   \
    do {                                                                   \
        if ((call) != PSFM_OK) {                                           \
            fprintf(stderr, "%s: %s\n", #call, psfm_context_message(ctx)); \
            exit(1);                                                       \
        }                                                                  \
    } while (0)

typedef struct {
    double right_share, found, truth;
    int undecided;
    double seconds;
} outcome;

/* How many images of one part are right, up to one rotation of the world. */
static uint32_t count_right(const double (*gauge)[9], const uint32_t *part, uint32_t which,
                            uint32_t n) {
    uint32_t most = 0;
    for (uint32_t u = 0; u < n; u += 1 + n / 256) {
        uint32_t num = 0;
        for (uint32_t v = 0; part[u] == which && v < n; ++v)
            num += part[v] == which && psfm_rotation_angle(gauge[u], gauge[v]) < psfm_radians(20.0);
        most = num > most ? num : most;
    }
    return most;
}

/* The share of images whose rotation is right in their component; those without count as right,
 * for nothing is said of them. */
static double right_share(const psfm_model *truth, const psfm_pose_solution *s) {
    uint32_t n = s->num_nodes, num = 0;
    double(*gauge)[9] = calloc(n, sizeof *gauge);
    for (uint32_t v = 0; v < n; ++v) {
        double exact[9];
        psfm_rotation_from_quat(truth->images[v].cam_from_world_q, exact);
        psfm_mat3_t_mul(s->poses.cam_from_world[v], exact, gauge[v]);
        num += psfm_has_pose(&s->poses, v) ? 0 : 1;
    }
    for (uint32_t c = 0; c < s->num_components; ++c)
        num += count_right((const double(*)[9])gauge, s->poses.component, c, n);
    free(gauge);
    return (double)num / n;
}

/* The sums of supports of the rotations found and of the true ones. */
static void compare_scores(psfm_context *ctx, const psfm_scene *scene,
                           const psfm_reconstruct_options *options, psfm_pose_graph *graph,
                           double (*R)[9], outcome *out) {
    uint32_t n = graph->num_nodes, m = graph->num_edges;
    double *confidence = calloc(graph->num_hypotheses, sizeof *confidence);
    double(*exact)[9] = calloc(n, sizeof *exact);
    uint32_t *ends = calloc(2 * (size_t)m, sizeof *ends);
    uint32_t *chosen = calloc(m, sizeof *chosen), *other = calloc(m, sizeof *other);
    psfm_candidate_list list;
    double score;
    for (uint32_t e = 0; e < m; ++e) {
        ends[e] = graph->edges[e].node1;
        ends[m + e] = graph->edges[e].node2;
    }
    for (uint32_t v = 0; v < n; ++v)
        psfm_rotation_from_quat(scene->truth.images[v].cam_from_world_q, exact[v]);
    psfm_topology topology = {n, m, ends, ends + m};
    CHECK(ctx, psfm_joint_choice(ctx, graph, confidence));
    CHECK(ctx, psfm_candidate_list_make(ctx, graph, options->robust.control.noise_px, confidence,
                                        &list));
    psfm_rotation_candidates candidates = psfm_candidate_list_view(&list);
    const psfm_rotation_problem problem = {&topology, &candidates, 0};
    CHECK(ctx, score_rotations(ctx, &problem, NULL, R, chosen, &score));
    CHECK(ctx, score_rotations(ctx, &problem, chosen, R, other, &score));
    out->found = fmax(out->found, score);
    CHECK(ctx, score_rotations(ctx, &problem, chosen, exact, other, &out->truth));
    psfm_candidate_list_free(&list);
    free(confidence);
    free(exact);
    free(ends);
    free(chosen);
    free(other);
}

static outcome run(psfm_context *ctx, psfm_scene_kind kind, const psfm_scene_options *scene_options,
                   psfm_ambiguous ambiguous, uint64_t seed) {
    outcome out = {0};
    psfm_scene scene;
    psfm_reconstruct_options options;
    psfm_pose_graph graph;
    psfm_pose_solution solution;
    psfm_robust_edges edges;
    psfm_reconstruct_options_init(PSFM_MODE_ROBUST, &options);
    options.robust.ambiguity.models = (int)ambiguous;
    CHECK(ctx, psfm_scene_make(ctx, kind, seed, scene_options, &scene));
    psfm_two_view *two_views = NULL;
    CHECK(ctx, psfm_two_views_make(ctx, &scene.matches, &options.two_view, &two_views));
    CHECK(ctx, psfm_pose_graph_build(ctx, &scene.matches, two_views, true, &graph));
    psfm_timings timings = {0};
    CHECK(ctx,
          psfm_robust_poses(ctx, &options.skeleton, &options.robust,
                            &(psfm_robust_input){.graph = &graph}, &timings, &solution, &edges));
    for (int k = 0; k < timings.num_stages; ++k)
        if (strcmp(timings.stages[k].name, "consensus") == 0)
            out.seconds = timings.stages[k].seconds;
    out.right_share = right_share(&scene.truth, &solution);
    for (size_t k = 0; k < edges.ambiguities.num; ++k)
        out.undecided += edges.ambiguities.item[k].kind == PSFM_AMBIGUITY_ROTATION &&
                         !edges.ambiguities.item[k].cut.decided;
    out.found = edges.consensus.score;
    compare_scores(ctx, &scene, &options, &graph, solution.poses.cam_from_world, &out);
    psfm_robust_edges_free(&edges);
    psfm_pose_solution_free(&solution);
    psfm_pose_graph_free(&graph);
    psfm_two_views_free(&two_views, scene.matches.num_pairs);
    psfm_scene_free(&scene);
    return out;
}

int main(int argc, char **argv) {
    psfm_context *ctx = psfm_context_create();
    psfm_scene_options options;
    psfm_scene_kind kind = PSFM_SCENE_ARENA;
    psfm_ambiguous ambiguous = PSFM_AMBIGUOUS_MARK;
    int seeds = 10, first = 0, right = 0, below = 0, untold = 0, silent = 0, undecided = 0;
    psfm_options_init(&psfm_scene_option_table, &options);
    for (int k = 1; k + 1 < argc; k += 2) {
        const char *value = argv[k + 1];
        if (strcmp(argv[k], "--scene") == 0 && psfm_scene_kind_from_name(value, &kind))
            continue;
        else if (strcmp(argv[k], "--cameras") == 0)
            options.num_cameras = atoi(value);
        else if (strcmp(argv[k], "--neighbours") == 0)
            options.neighbours = atoi(value);
        else if (strcmp(argv[k], "--duplicates") == 0)
            options.duplicates = atof(value);
        else if (strcmp(argv[k], "--seeds") == 0)
            seeds = atoi(value);
        else if (strcmp(argv[k], "--ambiguous") == 0)
            ambiguous = strcmp(value, "split") == 0 ? PSFM_AMBIGUOUS_SPLIT : PSFM_AMBIGUOUS_MARK;
        else if (strcmp(argv[k], "--first") == 0)
            first = atoi(value);
        else
            return fprintf(stderr, "unknown argument %s %s\n", argv[k], value), 2;
    }
    for (int seed = first; seed < first + seeds; ++seed) {
        outcome o = run(ctx, kind, &options, ambiguous, (uint64_t)seed);
        bool is_right = o.right_share > 1.0 - 1e-9, is_below = o.found < o.truth * (1.0 - 1e-9);
        bool is_silent = !is_right && o.undecided == 0;
        right += is_right;
        below += is_below;
        untold += !is_right && !is_below;
        silent += is_silent;
        undecided += o.undecided > 0;
        printf("seed %d: share right %.3f, sum found %.3f, true %.3f, %d undecided, %.2f s%s%s%s\n",
               seed, o.right_share, o.found, o.truth, o.undecided, o.seconds,
               is_right ? ", right" : "",
               is_below   ? ", below"
               : is_right ? ""
                          : ", cannot be told",
               is_silent ? ", silent" : "");
    }
    printf("%s, %d cameras, %d neighbours, %g duplicates: right %d, below the truth %d, cannot be "
           "told "
           "%d, with something undecided %d, silent %d of %d\n",
           psfm_scene_kind_name(kind), options.num_cameras, options.neighbours, options.duplicates,
           right, below, untold, undecided, silent, seeds);
    psfm_context_destroy(&ctx);
    return 0;
}
