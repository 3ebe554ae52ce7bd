/* One pair under focal lengths that are searched.
 *
 * Rays a, b are those of the cameras as they were. With focal lengths longer by factors s1, s2
 * their fundamental matrix is F = D2^-1 [t]x R D1^-1, D = diag(s, s, 1), and errors are those of F
 * on the rays as they are: nothing is computed anew but F. All that may be wrong changes F, so that
 * its derivatives are those of the normal equations by the nine entries of F: d F / d log s1 = -F
 * diag(1, 1, 0),   d F / d log s2 = -diag(1, 1, 0) F, and a principal point that moves by c in
 * units of the longer side takes c / scale times the first two columns (rows) of F off the third.
 * Only k1 does not: it moves points by -k r^2 x, and has sums of its own.
 *
 * The five parameters of the motion are eliminated: what is left is what the pair says of its
 * lenses, to first order two equations, and in degenerate motions less. */
#include "core/calibration/pair_motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/linalg/mat3.h"
#include "core/twoview/epipolar.h"
#include "core/twoview/epipolar_descent.h"

#define MOTION 5
#define LENSES (2 * PSFM_LENS_DIM)
#define ALL (MOTION + LENSES)
#define MIN_GAIN 1e-6 /* relative decrease of the last step */

/* 1 / D of either side by rows and columns of F: entry k is multiplied by it. */
static void lens_factors(const psfm_pair_lenses *lenses, double factor[9]) {
    for (int k = 0; k < 9; ++k)
        factor[k] =
            1.0 / ((k / 3 < 2 ? lenses->factor[1] : 1.0) * (k % 3 < 2 ? lenses->factor[0] : 1.0));
}

static void fundamental_of(const void *motion, const void *user, double F[9]) {
    const double *factor = user;
    psfm_essential_from_motion(motion, F);
    for (int k = 0; k < 9; ++k)
        F[k] *= factor[k];
}

bool psfm_pair_motion_start(const psfm_measured_pair *pair, const psfm_pair_lenses *lenses,
                            psfm_motion *motion) {
    double E[9], factor[9];
    lens_factors(lenses, factor);
    for (int k = 0; k < 9; ++k)
        E[k] = pair->F[k] / factor[k];
    /* which of the four motions of E it is does not matter: E is all that errors depend on */
    return psfm_essential_to_motion(&pair->rays, NULL, 0, E, motion);
}

static void motion_derivatives(const void *motion, const void *user, double D[][9]) {
    const double *factor = user;
    psfm_essential_derivatives(motion, D);
    for (int p = 0; p < MOTION; ++p)
        for (int k = 0; k < 9; ++k)
            D[p][k] *= factor[k];
}

static void move_motion(const void *motion, const double *step, void *moved) {
    psfm_motion_move(motion, step, moved);
}

double psfm_pair_motion_refine(const psfm_measured_pair *pair, const psfm_pair_lenses *lenses,
                               int max_iterations, psfm_motion *motion) {
    double factor[9];
    psfm_motion moved;
    const psfm_epipolar_family family = {MOTION,         sizeof moved,       MIN_GAIN,   factor,
                                         fundamental_of, motion_derivatives, move_motion};
    lens_factors(lenses, factor);
    return pair->weight * psfm_epipolar_descend(&pair->rays, pair->rays.num_blocks, psfm_pair_loss,
                                                max_iterations, &family, motion, &moved);
}

/* Derivatives of F by focal length and principal point of either lens; zero by k1. */
static void lens_derivatives(const psfm_pair_lenses *lenses, const double F[9], double D[][9]) {
    memset(D, 0, LENSES * sizeof *D);
    for (int k = 0; k < 9; ++k) {
        int row = k / 3, column = k % 3;
        if (column < 2) {
            D[PSFM_LENS_FOCAL][k] = -F[k];
            D[PSFM_LENS_CENTER + column][3 * row + 2] = -F[k] / lenses->scale[0][column];
        }
        if (row < 2) {
            D[PSFM_LENS_DIM + PSFM_LENS_FOCAL][k] = -F[k];
            D[PSFM_LENS_DIM + PSFM_LENS_CENTER + row][6 + column] = -F[k] / lenses->scale[1][row];
        }
    }
}

/* What k1 of both sides does to the errors. */
typedef struct {
    double by_F[2][9], normal[2][2], gradient[2];
} k1_sums;

static void add_k1_sums(const psfm_ray_block *b, int l, const psfm_pair_lenses *lenses,
                        const double F[9], k1_sums *out) {
    psfm_epipolar e = psfm_epipolar_at(b, l, F);
    if (!(e.g > 0.0))
        return;
    double a[2][3], line[2][3], J[2], root = sqrt(e.g), move = e.c / e.g;
    for (int k = 0; k < 3; ++k) { /* on the epipolar geometry: else J errs with the errors */
        a[0][k] = b->ray1[k][l] - move * (b->tan1[2 * k][l] * e.u0 + b->tan1[2 * k + 1][l] * e.u1);
        a[1][k] = b->ray2[k][l] - move * (b->tan2[2 * k][l] * e.v0 + b->tan2[2 * k + 1][l] * e.v1);
    }
    psfm_mat3_tmul_vec(F, a[1], line[0]);
    psfm_mat3_mul_vec(F, a[0], line[1]);
    for (int side = 0; side < 2; ++side) {
        /* r^2 is that of the ray, times both scales */
        const double *scale = lenses->scale[side], skew = scale[1] / scale[0];
        double x = scale[0] * a[side][0] / a[side][2], y = scale[1] * a[side][1] / a[side][2];
        J[side] = -(x * x * skew + y * y / skew) *
                  (line[side][0] * a[side][0] + line[side][1] * a[side][1]) / root;
    }
    for (int side = 0; side < 2; ++side) {
        out->gradient[side] += J[side] * e.c / root;
        for (int other = 0; other < 2; ++other)
            out->normal[side][other] += J[side] * J[other];
        for (int k = 0; k < 9; ++k)
            out->by_F[side][k] += J[side] * a[1][k / 3] * a[0][k % 3] / root;
    }
}

static void sum_k1(const psfm_measured_pair *pair, const psfm_pair_lenses *lenses,
                   const double F[9], k1_sums *out) {
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < pair->rays.num; ++i)
        add_k1_sums(&pair->rays.blocks[i / PSFM_LANES], (int)(i % PSFM_LANES), lenses, F, out);
}

/* Adds rows and columns of k1 to the normal equations. */
static void place_k1(const k1_sums *sums, double D[][9], double A[][ALL], double g[ALL]) {
    for (int side = 0; side < 2; ++side) {
        int place = MOTION + PSFM_LENS_DIM * side + PSFM_LENS_K1;
        g[place] = sums->gradient[side];
        for (int p = 0; p < ALL; ++p) {
            double sum = 0.0;
            for (int k = 0; k < 9; ++k)
                sum += D[p][k] * sums->by_F[side][k];
            A[place][p] = A[p][place] = sum;
        }
    }
    for (int side = 0; side < 2; ++side)
        for (int other = 0; other < 2; ++other)
            A[MOTION + PSFM_LENS_DIM * side + PSFM_LENS_K1]
             [MOTION + PSFM_LENS_DIM * other + PSFM_LENS_K1] = sums->normal[side][other];
}

/* Schur complement of the motion; false if it is not determined. */
static bool eliminate_motion(double A[ALL][ALL], double g[ALL]) {
    for (int p = 0; p < MOTION; ++p) {
        double pivot = A[p][p];
        if (!(pivot > 0.0))
            return false;
        for (int q = p + 1; q < ALL; ++q) {
            double factor = A[q][p] / pivot;
            g[q] -= factor * g[p];
            for (int r = p + 1; r < ALL; ++r)
                A[q][r] -= factor * A[p][r];
        }
    }
    return true;
}

bool psfm_pair_information(const psfm_measured_pair *pair, const psfm_pair_lenses *lenses,
                           const psfm_motion *motion, bool all, psfm_lens_information *out) {
    psfm_normal9 at;
    k1_sums sums;
    double factor[9], F[9], D[ALL][9], A[ALL][ALL], g[ALL] = {0};
    lens_factors(lenses, factor);
    fundamental_of(motion, factor, F);
    psfm_essential_normal_equations(&pair->rays, pair->rays.num_blocks, F, psfm_pair_loss, &at);
    motion_derivatives(motion, factor, D);
    lens_derivatives(lenses, F, D + MOTION);
    psfm_normal9_project(at.N, D, ALL, A[0], ALL);
    for (int p = 0; p < ALL; ++p)
        for (int k = 0; k < 9; ++k)
            g[p] += D[p][k] * at.g[k];
    if (all) {
        sum_k1(pair, lenses, F, &sums);
        place_k1(&sums, D, A, g);
    }
    memset(out, 0, sizeof *out);
    if (!eliminate_motion(A, g))
        return false;
    for (int p = 0; p < LENSES; ++p) {
        if (!all && p % PSFM_LENS_DIM != PSFM_LENS_FOCAL)
            continue;
        out->g[p] = pair->weight * g[MOTION + p];
        for (int q = 0; q < LENSES; ++q)
            if (all || q % PSFM_LENS_DIM == PSFM_LENS_FOCAL)
                out->N[p][q] = pair->weight * A[MOTION + p][MOTION + q];
    }
    return true;
}

/* ---- measured pairs ---- */

/* Fundamental matrices of pairs, with their inliers: the sum of these matches' squared errors, as a
 * function of F, is what is kept of a pair. It is the log likelihood of F, so nothing is lost where
 * F is nearly degenerate and no normal distribution would describe it.
 *
 * Matches of one pair often err together (a lens not quite modelled), so that hundreds of them are
 * not as good as their number says: they count as EFFECTIVE at most, as those of planes do. */

#define EFFECTIVE 200.0 /* inliers whose errors are independent, at most */
#define MIN_INLIERS 30  /* of a pair: fewer say little, and their noise is not known */
#define MAX_BLOCKS 64   /* 512 inliers are kept, a fair sample */
#define MAX_STEPS 200

const psfm_loss psfm_pair_loss = {1e12, 0.0};

typedef struct {
    const psfm_match_set *set;
    const psfm_two_view *two_views;
    const bool *wanted;
    const psfm_two_view_options *options;
    psfm_measured_pair *items; /* per pair of the set */
} measuring;

/* Keeps the inliers of what was found, as rays with the best F for them. */
static psfm_status keep_inliers(psfm_context *ctx, const psfm_ray_pairs *all,
                                const psfm_fundamental_found *found, psfm_measured_pair *m) {
    size_t num = found->num_inliers, most = MAX_BLOCKS * PSFM_LANES;
    psfm_status status =
        psfm_ray_pairs_select(ctx, all, found->inliers, num < most ? num : most, &m->rays);
    if (status != PSFM_OK)
        return status;
    memcpy(m->F, found->F, sizeof m->F);
    m->weight = fmin(1.0, EFFECTIVE / (double)m->rays.num) / (found->sigma_px * found->sigma_px);
    m->free_cost = m->weight * psfm_fundamental_refine(&m->rays, m->rays.num_blocks, psfm_pair_loss,
                                                       MAX_STEPS, m->F);
    return PSFM_OK;
}

static psfm_status measure_pair(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    const measuring *job = user;
    const psfm_match_pair *pair = &job->set->pairs[index];
    const psfm_two_view *view = &job->two_views[index];
    const psfm_image_pair images = psfm_image_pair_of(job->set, pair);
    psfm_rng rng =
        psfm_rng_make(psfm_context_seed(ctx), PSFM_RNG_CALIBRATION, images.id[0], images.id[1]);
    psfm_correspondences c = {0};
    psfm_ray_pairs all = {0};
    psfm_fundamental_found found = {0};
    if (!job->wanted[index] || pair->num_matches < MIN_INLIERS)
        return PSFM_OK;
    job->items[index].view1 = pair->view1;
    job->items[index].view2 = pair->view2;
    psfm_status status = psfm_correspondences_init(ctx, job->set, pair, &c);
    if (status == PSFM_OK)
        status = psfm_ray_pairs_init(ctx, &c, &rng, &all);
    if (status == PSFM_OK)
        status = psfm_fundamental_ransac(
            ctx, &all, view->num_homographies > 0 ? view->homographies[0].H_21 : NULL,
            job->options->max_error_px, &rng, &found);
    if (status == PSFM_OK && found.found && found.num_inliers >= MIN_INLIERS &&
        found.plane_share < PSFM_DEGENERATE_SHARE)
        status = keep_inliers(ctx, &all, &found, &job->items[index]);
    free(found.inliers);
    psfm_ray_pairs_free(&all);
    psfm_correspondences_free(&c);
    return status;
}

psfm_status psfm_measured_pairs_init(psfm_context *ctx, const psfm_match_set *set,
                                     const psfm_two_view *two_views, const bool *wanted,
                                     const psfm_two_view_options *options,
                                     psfm_measured_pairs *out) {
    measuring job = {set, two_views, wanted, options, NULL};
    *out = (psfm_measured_pairs){0};
    psfm_status status = PSFM_ALLOC(ctx, set->num_pairs, &job.items);
    if (status == PSFM_OK)
        status = psfm_parallel_for(ctx, NULL, set->num_pairs, measure_pair, &job);
    for (size_t p = 0; job.items != NULL && p < set->num_pairs; ++p)
        if (job.items[p].rays.num > 0)
            job.items[out->num++] = job.items[p];
    out->items = job.items;
    if (status != PSFM_OK)
        psfm_measured_pairs_free(out);
    return status;
}

void psfm_measured_pairs_free(psfm_measured_pairs *pairs) {
    for (size_t k = 0; k < pairs->num; ++k)
        psfm_ray_pairs_free(&pairs->items[k].rays);
    free(pairs->items);
    *pairs = (psfm_measured_pairs){0};
}
