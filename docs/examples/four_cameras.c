/* The core alone: from the six homographies of four cameras over one plane to the minimum-range
 * tree and the poses. cc four_cameras.c $(pkg-config --cflags --libs planarsfm-core) */
#include <planarsfm/core.h>
#include <stdio.h>

static const uint32_t pair[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
static const double H_21[6][9] = {
    {0.9752, -0.1935, -0.2889, 0.1977, 0.9798, -0.1065, -0.0998, 0.0497, 0.9741},
    {0.9918, 0.0914, -0.3406, -0.0995, 0.9908, -0.2615, -0.0799, -0.0995, 1.1033},
    {0.9536, -0.2900, 0.0369, 0.2950, 0.9537, -0.3240, 0.0600, -0.0798, 1.0070},
    {0.9559, 0.2839, -0.0352, -0.3233, 0.9605, -0.2593, 0.0640, -0.1466, 1.1356},
    {1.0340, -0.1086, 0.3326, 0.0795, 0.9992, -0.1998, 0.1920, -0.0983, 1.0800},
    {0.9452, -0.3557, 0.2410, 0.3948, 0.9310, 0.0489, 0.1378, 0.0028, 0.9560}};
static const uint32_t corner[4][2] = {{0, 0}, {1, 1}, {2, 2}, {3, 3}}; /* keypoints on the plane */

int main(void) {
    psfm_context *ctx = psfm_context_create();
    psfm_multigraph *hypotheses = psfm_multigraph_create(4);
    psfm_plane_motion motion[2];
    psfm_csr S = {0};
    uint32_t tree[3];
    size_t num;
    double h[6], R_21[6][9], t_21[6][3], R[4][9], g[6][3], c[4][3];
    psfm_graph graph = {sizeof graph, 4, 6, *pair, h};
    psfm_status failed = PSFM_OK;
    for (int e = 0; e < 6 && !failed; ++e)
        (void)((failed = psfm_decompose_homography(ctx, H_21[e], 0, NULL, NULL, motion, &num)) ||
               (failed = psfm_multigraph_add_edge(ctx, hypotheses, pair[e][0], pair[e][1], NULL)) ||
               (failed = psfm_multigraph_add_homography(ctx, hypotheses, num, motion, 4, *corner)));
    if (failed || (failed = psfm_confidence(ctx, hypotheses, NULL)) ||   /* Eq. 4 */
        (failed = psfm_similarity(ctx, hypotheses, NULL, &S)) ||         /* Eq. 2, 3 */
        (failed = psfm_embed_similarity(ctx, &S, h, NULL)) ||            /* Eq. 5 */
        (failed = psfm_min_range_tree(ctx, &graph, tree, NULL)) ||       /* Eq. 6 */
        (failed = psfm_relative_poses(ctx, hypotheses, *R_21, *t_21)) || /* Eq. 7 */
        (failed = psfm_propagate_rotations(ctx, &graph, *R_21, 3, tree, 0, *R, NULL)))
        return fprintf(stderr, "%s\n", psfm_context_message(ctx)), 1;
    for (int e = 0; e < 6; ++e) /* from the second camera to the first: R_2^T t_21 */
        for (int k = 0; k < 3; ++k)
            g[e][k] = R[pair[e][1]][k] * t_21[e][0] + R[pair[e][1]][3 + k] * t_21[e][1] +
                      R[pair[e][1]][6 + k] * t_21[e][2];
    if ((failed = psfm_lud_positions(ctx, &graph, *g, NULL, *c, NULL)))
        return fprintf(stderr, "%s\n", psfm_context_message(ctx)), 1;
    printf("tree: edges %u, %u, %u\n", tree[0], tree[1], tree[2]);
    for (int v = 0; v < 4; ++v) /* in units of half the first baseline along x */
        printf("camera %d at %.2f %.2f %.2f\n", v, 2 * (c[v][0] - c[0][0]) / (c[1][0] - c[0][0]),
               2 * (c[v][1] - c[0][1]) / (c[1][0] - c[0][0]),
               2 * (c[v][2] - c[0][2]) / (c[1][0] - c[0][0]));
    psfm_csr_free(&S);
    psfm_multigraph_destroy(&hypotheses);
    psfm_context_destroy(&ctx);
    return 0;
}
