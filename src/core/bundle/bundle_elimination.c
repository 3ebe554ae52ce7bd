/* The elimination of one point in halves.
 *
 * A point p with observations o has J_o = d r_o / d point (2 x 3), the damped V = sum J_o^T J_o and
 * V = L L^T, so that V^-1 = G G^T, G = L^-T. A block i of the reduced system, a pose or a camera's
 * intrinsics, with the derivatives P_o (2 x d) of the observations through it, has
 *   U_i = sum_o P_o^T J_o G   (d x 3),
 * and eliminating p subtracts U_i U_j^T from the block of i and j, and U_i G^T b from the
 * right-hand side. A camera that many images of the point share is one block: it meets each pose
 * once, and not as often as there are pairs of observations. */
#include "core/bundle/bundle_elimination.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/vec3.h"

#define MIN_DIAGONAL 1e-9 /* of what damping multiplies, so that an unseen direction gets some */
#define SINGULAR 1e-15    /* determinant over the product of the diagonal */

psfm_status psfm_bundle_halves_alloc(psfm_context *ctx, const psfm_bundle *b,
                                     psfm_bundle_halves *halves) {
    size_t longest = 1;
    psfm_status status;
    for (uint32_t p = 0; p < b->num_points; ++p) {
        size_t length = b->point_begin[p + 1] - b->point_begin[p];
        longest = length > longest ? length : longest;
    }
    if ((status = PSFM_ALLOC(ctx, longest, &halves->pose_block)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, longest, &halves->pose)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, longest, &halves->point)) != PSFM_OK ||
        b->num_camera_blocks == 0 ||
        (status = PSFM_ALLOC(ctx, longest, &halves->camera)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, b->problem->num_cameras, &halves->entry)) != PSFM_OK)
        return status;
    return PSFM_ALLOC(ctx, longest, &halves->intrinsics);
}

void psfm_bundle_halves_free(psfm_bundle_halves *halves) {
    free(halves->pose_block);
    free(halves->pose);
    free(halves->point);
    free(halves->camera);
    free(halves->entry);
    free(halves->intrinsics);
    *halves = (psfm_bundle_halves){0};
}

double psfm_bundle_damped(double diagonal, double lambda) {
    return diagonal + lambda * fmax(diagonal, MIN_DIAGONAL);
}

/* G of a symmetric positive definite matrix, packed as that is; zero if it is singular. Without the
 * third row and column, if these are not `whole`. */
static void find_root(const double A[6], bool whole, double G[6]) {
    memset(G, 0, 6 * sizeof *G);
    double l10 = A[1] / A[0], l20 = A[2] / A[0]; /* L D L^T first */
    double d1 = A[3] - l10 * A[1], t = A[4] - l20 * A[1], l21 = t / d1;
    double d2 = A[5] - l20 * A[2] - l21 * t;
    if (!(d1 > SINGULAR * A[3]) || (whole && !(d1 * d2 > SINGULAR * A[3] * A[5])))
        return;
    G[0] = 1.0 / sqrt(A[0]);
    G[3] = 1.0 / sqrt(d1);
    G[1] = -l10 * G[3];
    if (!whole)
        return;
    G[5] = 1.0 / sqrt(d2);
    G[2] = (l10 * l21 - l20) * G[5];
    G[4] = -l21 * G[5];
}

/* G G^T. */
static void square_root(const double G[6], double out[6]) {
    out[0] = G[0] * G[0] + G[1] * G[1] + G[2] * G[2];
    out[1] = G[1] * G[3] + G[2] * G[4];
    out[2] = G[2] * G[5];
    out[3] = G[3] * G[3] + G[4] * G[4];
    out[4] = G[4] * G[5];
    out[5] = G[5] * G[5];
}

static void damp_point(psfm_bundle *b, uint32_t p, double lambda) {
    psfm_bundle_system *s = &b->systems[p];
    bool hard = b->options.planes == PSFM_PLANES_HARD && b->point_plane[p] != PSFM_BUNDLE_NONE;
    double A[6];
    memcpy(A, s->V, sizeof A);
    A[0] = psfm_bundle_damped(A[0], lambda);
    A[3] = psfm_bundle_damped(A[3], lambda);
    A[5] = psfm_bundle_damped(A[5], lambda);
    if (b->point_fixed[p])
        memset(s->root, 0, sizeof s->root);
    else
        find_root(A, !hard, s->root);
    square_root(s->root, s->inverse);
    psfm_sym3_mul(s->inverse, s->b, s->e);
}

typedef struct {
    psfm_bundle *b;
    double lambda;
} damping;

static psfm_status damp_some(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx;
    (void)worker;
    const damping *job = user;
    uint32_t first = (uint32_t)(index * PSFM_BUNDLE_POINTS_PER_TASK);
    for (uint32_t p = first; p < psfm_bundle_task_end(job->b, index); ++p)
        damp_point(job->b, p, job->lambda);
    return PSFM_OK;
}

psfm_status psfm_bundle_damp_points(psfm_context *ctx, psfm_bundle *b, double lambda) {
    return psfm_bundle_for(ctx, b, psfm_bundle_num_point_tasks(b), damp_some,
                           &(damping){b, lambda});
}

/* K = J G, 2 x 3. */
static void project_point(const double J[6], const double G[6], double K[6]) {
    for (int side = 0; side < 6; side += 3) {
        K[side] = J[side] * G[0];
        K[side + 1] = J[side] * G[1] + J[side + 1] * G[3];
        K[side + 2] = J[side] * G[2] + J[side + 1] * G[4] + J[side + 2] * G[5];
    }
}

void psfm_bundle_halve_poses(const psfm_bundle *b, const psfm_schur_kernel *kernel, uint32_t first,
                             uint32_t end, psfm_bundle_halves *halves) {
    const double *G = b->systems[b->obs_point[first]].root;
    uint32_t num = 0;
    for (uint32_t o = first; o < end; ++o) {
        uint32_t block = b->image_block[b->obs_image[o]];
        if (block == PSFM_BUNDLE_NONE)
            continue;
        project_point(b->rows[o].J_point, G, halves->point[num]);
        kernel->project(halves->point[num], b->rows[o].J_pose, halves->pose[num]);
        halves->pose_block[num++] = block;
    }
    halves->num_poses = num;
}

/* The entry of a camera of the point, made if it has none. */
static double *find_entry(psfm_bundle_halves *halves, uint32_t camera) {
    uint32_t entry = halves->entry[camera];
    if (entry >= halves->num_cameras || halves->camera[entry] != camera) {
        entry = halves->entry[camera] = halves->num_cameras++;
        halves->camera[entry] = camera;
        memset(halves->intrinsics[entry], 0, sizeof halves->intrinsics[entry]);
    }
    return halves->intrinsics[entry];
}

void psfm_bundle_halve_cameras(const psfm_bundle *b, uint32_t p, psfm_bundle_halves *halves) {
    halves->num_cameras = 0;
    for (uint32_t o = b->point_begin[p]; o < b->point_begin[p + 1]; ++o) {
        uint32_t camera = b->problem->image_camera[b->obs_image[o]];
        uint32_t num = b->num_free_params[camera];
        if (b->camera_block[camera] == PSFM_BUNDLE_NONE)
            continue;
        const double *P = b->camera_rows + 2 * (size_t)b->max_free_params * o;
        double K[6], *U = find_entry(halves, camera);
        project_point(b->rows[o].J_point, b->systems[p].root, K);
        for (uint32_t k = 0; k < 3; ++k)
            for (uint32_t v = 0; v < num; ++v)
                U[k * num + v] += K[k] * P[v] + K[3 + k] * P[num + v];
    }
}
