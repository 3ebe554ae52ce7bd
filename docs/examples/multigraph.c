/* Hypotheses and how much each is believed: an edge with two homographies, of which each allows two
 * motions. cc multigraph.c $(pkg-config --cflags --libs planarsfm-core) -lm */
#include <math.h>
#include <planarsfm/core.h>
#include <stdio.h>

/* R = a turn by 0.1 about y, t = (1, 0, 0.2), of planes with normal n at distance 1. */
static const double c = 0.9950041652780258, s = 0.09983341664682815;

static void make_homography(const double n[3], double H[9]) {
    const double R[9] = {c, 0, -s, 0, 1, 0, s, 0, c}, t[3] = {1, 0, 0.2};
    for (int k = 0; k < 9; ++k)
        H[k] = R[k] + t[k / 3] * n[k % 3];
}

int main(void) {
    static const double normal[2][3] = {{0, 0, 1}, {0, 0.6, 0.8}};
    static const uint32_t inlier[2][3][2] = {{{0, 0}, {1, 1}, {2, 2}}, {{3, 3}, {4, 4}, {5, 5}}};
    const double essential_R[9] = {c, 0, -s, 0, 1, 0, s, 0, c};
    psfm_context *ctx = psfm_context_create();
    psfm_multigraph *graph = psfm_multigraph_create(2);
    psfm_plane_motion motion[2];
    psfm_confidence_options options = {.struct_size = sizeof options, .rotation_bandwidth_deg = 2};
    uint32_t edge[4], homography[4], ends[1][2];
    double weight[4], R_21[9], t_21[3];
    psfm_status failed = psfm_multigraph_add_edge(ctx, graph, 0, 1, essential_R);
    for (int p = 0; p < 2 && !failed; ++p) {
        double H_21[9];
        size_t num;
        make_homography(normal[p], H_21);
        failed = psfm_decompose_homography(ctx, H_21, 0, NULL, NULL, motion, &num);
        if (!failed)
            failed = psfm_multigraph_add_homography(ctx, graph, num, motion, 3, *inlier[p]);
    }
    if (failed || (failed = psfm_confidence(ctx, graph, &options)) ||
        (failed = psfm_multigraph_edges(ctx, graph, *ends)) ||
        (failed = psfm_multigraph_hypotheses(ctx, graph, edge, homography, NULL, weight)))
        return fprintf(stderr, "%s\n", psfm_context_message(ctx)), 1;
    printf("%u edge %u-%u, %u hypotheses\n", psfm_multigraph_num_edges(graph), ends[0][0],
           ends[0][1], psfm_multigraph_num_hypotheses(graph));
    for (uint32_t k = 0; k < psfm_multigraph_num_hypotheses(graph); ++k)
        printf("edge %u homography %u weight %.2f\n", edge[k], homography[k], weight[k]);
    for (uint32_t k = 0; k < psfm_multigraph_num_hypotheses(graph); ++k)
        weight[k] = weight[k] > 0 && homography[k] == 0; /* trust the first homography alone */
    if ((failed = psfm_multigraph_set_weights(ctx, graph, weight)) ||
        (failed = psfm_relative_poses(ctx, graph, R_21, t_21)))
        return fprintf(stderr, "%s\n", psfm_context_message(ctx)), 1;
    printf("turned by %.3f, direction %.3f %.3f %.3f\n", asin(R_21[6]), t_21[0], t_21[1], t_21[2]);
    psfm_multigraph_destroy(&graph);
    psfm_context_destroy(&ctx);
    return 0;
}
