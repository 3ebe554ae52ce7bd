/* Averages the rotations of a pose graph in g2o's format (EDGE_SE3:QUAT) and says what they cost
 * before and after. Weights are those of the file's information matrices; with "unit" all are 1.
 *     cc g2o_rotations.c $(pkg-config --cflags --libs planarsfm-core) -lm
 *     ./a.out sphere2500.g2o [unit]
 *
 * An edge i -> j of the file has pose j in the frame of pose i, R_i R_ij = R_j with R from a body
 * to the world. Ours go from the world to a camera, R_j = R_ji R_i, so that R_ji is the file's
 * transposed. */
#include <math.h>
#include <planarsfm/core.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEGREES 57.29577951308232

typedef struct {
    uint32_t num_nodes, num_edges, capacity;
    long (*id)[2];        /* of the ends, as in the file */
    uint32_t (*edges)[2]; /* the same, dense */
    double (*R_21)[9], *weight;
} pose_graph;

static int compare_ids(const void *a, const void *b) {
    long x = *(const long *)a, y = *(const long *)b;
    return x < y ? -1 : x > y;
}

/* The transposed rotation of a quaternion x, y, z, w. */
static void read_rotation(const double q[4], double R[9]) {
    double n = 2 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) {
            double cross = r == c ? 0 : ((c - r + 3) % 3 == 1 ? -1 : 1) * q[3 - r - c] * q[3];
            R[3 * c + r] = (r == c) * (1 - n * (q[0] * q[0] + q[1] * q[1] + q[2] * q[2])) +
                           n * (q[r] * q[c] + cross);
        }
    }
}

/* Weight of a rotation from the upper triangle of its information matrix (row by row, the
 * translation's three rows first): 3 / trace of the inverse of its 3 x 3 block. */
static double read_weight(const double info[21]) {
    double a = info[15], b = info[16], c = info[17], d = info[18], e = info[19], f = info[20];
    double det = a * (d * f - e * e) - b * (b * f - c * e) + c * (b * e - c * d);
    double trace = (d * f - e * e) + (a * f - c * c) + (a * d - b * b);
    return det > 0 && trace > 0 ? 3 * det / trace : 0;
}

/* Takes the numbers of one EDGE_SE3:QUAT line; 0 if they are not 30. */
static int read_edge(pose_graph *g, const char *text) {
    double value[28];
    char *end;
    long from = strtol(text, &end, 10), to = strtol(end, &end, 10);
    for (int k = 0; k < 28; ++k) {
        const char *begin = end;
        value[k] = strtod(begin, &end);
        if (end == begin || !isfinite(value[k]))
            return 0;
    }
    if (g->num_edges == g->capacity) {
        g->capacity = g->capacity * 2 + 1024;
        g->id = realloc(g->id, g->capacity * sizeof *g->id);
        g->edges = realloc(g->edges, g->capacity * sizeof *g->edges);
        g->R_21 = realloc(g->R_21, g->capacity * sizeof *g->R_21);
        g->weight = realloc(g->weight, g->capacity * sizeof *g->weight);
        if (!g->id || !g->edges || !g->R_21 || !g->weight)
            return 0;
    }
    g->id[g->num_edges][0] = from;
    g->id[g->num_edges][1] = to;
    read_rotation(value + 3, g->R_21[g->num_edges]);
    g->weight[g->num_edges++] = read_weight(value + 7);
    return 1;
}

/* Numbers the nodes densely, in the order of their ids. */
static int number_nodes(pose_graph *g) {
    size_t num = 0, all = 2 * (size_t)g->num_edges;
    long *ids = malloc((all + 1) * sizeof *ids);
    if (ids == NULL)
        return 0;
    memcpy(ids, g->id, all * sizeof *ids);
    qsort(ids, all, sizeof *ids, compare_ids);
    for (size_t k = 0; k < all; ++k)
        if (k == 0 || ids[k] != ids[num - 1])
            ids[num++] = ids[k];
    for (size_t k = 0; k < all; ++k) {
        long *found = bsearch(&g->id[k / 2][k % 2], ids, num, sizeof *ids, compare_ids);
        g->edges[k / 2][k % 2] = (uint32_t)(found - ids);
    }
    g->num_nodes = (uint32_t)num;
    free(ids);
    return 1;
}

static int read_file(const char *path, pose_graph *g) {
    const char key[] = "EDGE_SE3:QUAT";
    char line[4096];
    FILE *file = fopen(path, "r");
    int good = file != NULL;
    for (unsigned number = 1; good && fgets(line, sizeof line, file); ++number) {
        if (strncmp(line, key, sizeof key - 1) == 0 && !read_edge(g, line + sizeof key - 1)) {
            fprintf(stderr, "%s: line %u has no edge with 28 numbers\n", path, number);
            good = 0;
        }
    }
    if (file != NULL)
        fclose(file);
    if (file == NULL || (good && g->num_edges == 0))
        fprintf(stderr, "%s: %s\n", path, file ? "there is no EDGE_SE3:QUAT" : "cannot be read");
    return good && g->num_edges > 0 && number_nodes(g);
}

static int compare_numbers(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Prints sum w ||R_2 - R_21 R_1||^2 = sum 8 w sin^2(angle / 2), sum w angle^2, and the angles,
 * which it sorts. */
static void print_cost(const char *name, const pose_graph *g, double *angle) {
    double chordal = 0, geodesic = 0;
    for (uint32_t e = 0; e < g->num_edges; ++e) {
        chordal += 8 * g->weight[e] * pow(sin(angle[e] / 2), 2);
        geodesic += g->weight[e] * angle[e] * angle[e];
    }
    qsort(angle, g->num_edges, sizeof *angle, compare_numbers);
    printf("%-28s chordal %.8g geodesic %.8g residual median %.4f largest %.4f degrees\n", name,
           chordal, geodesic, DEGREES * angle[g->num_edges / 2], DEGREES * angle[g->num_edges - 1]);
}

/* Angles of all edges at the given rotations. */
static void measure_angles(const pose_graph *g, const double (*R)[9], double *angle) {
    for (uint32_t e = 0; e < g->num_edges; ++e) {
        const double *R1 = R[g->edges[e][0]], *R2 = R[g->edges[e][1]];
        double squared = 0;
        for (int r = 0; r < 3; ++r)
            for (int c = 0; c < 3; ++c) {
                double predicted = 0;
                for (int k = 0; k < 3; ++k)
                    predicted += g->R_21[e][3 * r + k] * R1[3 * k + c];
                squared += pow(R2[3 * r + c] - predicted, 2);
            }
        angle[e] = 2 * asin(fmin(sqrt(squared / 8), 1));
    }
}

static psfm_status average_rotations(psfm_context *ctx, const pose_graph *g, double (*R)[9],
                                     double *angle) {
    static const char *const name[] = {"", "least angles squared", "least chordal distance"};
    const psfm_graph graph = {sizeof graph, g->num_nodes, g->num_edges, *g->edges, g->weight};
    psfm_averaging_result result = {.struct_size = sizeof result};
    psfm_status status = psfm_chordal_rotations(ctx, &graph, *g->R_21, *R);
    if (status == PSFM_OK) {
        measure_angles(g, (const double(*)[9])R, angle);
        print_cost("before: chordal relaxation", g, angle);
    }
    for (int loss = PSFM_ROTATION_CHORDAL; status == PSFM_OK && loss >= PSFM_ROTATION_ANGLE;
         --loss) {
        const psfm_averaging_options options = {
            .struct_size = sizeof options, .loss = loss, .max_iterations = 1000};
        status = psfm_average_rotations(ctx, &graph, *g->R_21, &options, *R, angle, &result);
        if (status == PSFM_OK) {
            print_cost(name[loss], g, angle);
            printf("%28s %d iterations, %sconverged\n", "", result.iterations,
                   result.converged ? "" : "not ");
        }
    }
    return status;
}

int main(int argc, char **argv) {
    pose_graph g = {0};
    if (argc < 2)
        return fprintf(stderr, "usage: %s FILE.g2o [unit]\n", argv[0]), 2;
    int failed = !read_file(argv[1], &g);
    for (uint32_t e = 0; argc > 2 && e < g.num_edges; ++e)
        g.weight[e] = 1;
    double(*R)[9] = malloc((size_t)(g.num_nodes + 1) * sizeof *R);
    double *angle = malloc((size_t)(g.num_edges + 1) * sizeof *angle);
    psfm_context *ctx = psfm_context_create();
    if (!failed && R != NULL && angle != NULL && ctx != NULL) {
        printf("%u poses, %u edges\n", g.num_nodes, g.num_edges);
        failed = average_rotations(ctx, &g, R, angle) != PSFM_OK;
        if (failed)
            fprintf(stderr, "%s\n", psfm_context_message(ctx));
    }
    psfm_context_destroy(&ctx);
    free(g.id);
    free(g.edges);
    free(g.R_21);
    free(g.weight);
    free(R);
    free(angle);
    return failed;
}
