/* Eight cameras that turn about y by 0.3 each; every edge proposes two rotations, and which of them
 * is right is not known. The consensus says, averaging does the rest.
 * cc rotations.c $(pkg-config --cflags --libs planarsfm-core) -lm */
#include <math.h>
#include <planarsfm/core.h>
#include <stdio.h>
#include <string.h>

enum { CAMERAS = 8, EDGES = 18 };

static void turn_about_y(double angle, double R[9]) {
    const double made[9] = {cos(angle), 0, -sin(angle), 0, 1, 0, sin(angle), 0, cos(angle)};
    memcpy(R, made, sizeof made);
}

int main(void) {
    uint32_t edges[EDGES][2], begin[EDGES + 1], chosen[EDGES], tree[CAMERAS - 1], num = 0;
    double R_21[2 * EDGES][9], picked[EDGES][9], R[CAMERAS][9], residual[EDGES], largest = 0;
    for (uint32_t step = 1; step <= 3; ++step)
        for (uint32_t v = 0; v + step < CAMERAS; ++v, ++num) {
            edges[num][0] = v;
            edges[num][1] = v + step;
            begin[num] = 2 * num;
            turn_about_y(0.3 * step + 0.001 * (num % 3), R_21[2 * num + num % 2]);
            turn_about_y(0.3 * step + 1 + 0.1 * num, R_21[2 * num + 1 - num % 2]); /* wrong */
        }
    begin[EDGES] = 2 * EDGES;
    for (uint32_t k = 0; k < CAMERAS - 1; ++k)
        tree[k] = k; /* of neighbours */
    psfm_context *ctx = psfm_context_create();
    const psfm_graph graph = {sizeof graph, CAMERAS, EDGES, *edges, NULL};
    const psfm_edge_candidates candidates = {sizeof candidates, begin, *R_21, NULL, NULL};
    const psfm_averaging_options options = {.struct_size = sizeof options, .max_iterations = 50};
    psfm_averaging_result result = {.struct_size = sizeof result};
    psfm_status failed = PSFM_OK;
    for (uint32_t e = 0; e < EDGES; ++e)
        memcpy(picked[e], R_21[2 * e], sizeof picked[e]); /* the first, right or wrong */
    if ((failed = psfm_propagate_rotations(ctx, &graph, *picked, CAMERAS - 1, tree, 0, *R, NULL)) ||
        (failed = psfm_find_rotation_consensus(ctx, &graph, &candidates, *R, chosen, &num)))
        return fprintf(stderr, "%s\n", psfm_context_message(ctx)), 1;
    printf("%u of %d edges agree\n", num, EDGES);
    for (uint32_t e = 0; e < EDGES; ++e)
        if (chosen[e] != UINT32_MAX)
            memcpy(picked[e], R_21[chosen[e]], sizeof picked[e]);
    if ((failed = psfm_chordal_rotations(ctx, &graph, *picked, *R)) ||
        (failed = psfm_average_rotations(ctx, &graph, *picked, &options, *R, residual, &result)))
        return fprintf(stderr, "%s\n", psfm_context_message(ctx)), 1;
    for (uint32_t e = 0; e < EDGES; ++e)
        largest = fmax(largest, residual[e]);
    printf("%sconverged, largest residual %.4f\n", result.converged ? "" : "not ", largest);
    for (int v = 0; v < CAMERAS; ++v)
        printf("camera %d turned by %.2f\n", v, atan2(R[v][6], R[v][0]));
    psfm_context_destroy(&ctx);
    return 0;
}
