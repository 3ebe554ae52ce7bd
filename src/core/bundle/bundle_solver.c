/* How the reduced system is solved: by a sparse factor, or by conjugate gradients.
 *
 * A factor is exact and cheap where the cameras form a chain, a ring or a grid, however many they
 * are. Where most images see most points, the blocks of the system go with the square of the number
 * of images and its factor with the cube, while a product with it goes with the observations. Both
 * are estimated in nanoseconds of one core: the products of pairs of observations that form the
 * system and the operations of its factor, which the analysis tells, against the products that
 * conjugate gradients mostly take. These grow with the links that lie between images, for a product
 * carries what one image says no further than to the next: where all see the same things there are
 * one or two, across a field of thousands of images dozens. A system or factor of more than 8 GiB
 * is not made. The choice goes by the problem alone: by the memory of a machine, or what a run may
 * take of it, it would change the last digits of results.
 *
 * For standard deviations one factor gives all blocks of the inverse, and conjugate gradients need
 * six solutions for each. So a factor is made for them where it fits, even if none of the steps had
 * one; otherwise a few images have to do. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/bundle/bundle_internal.h"

#define NS_PER_PAIR 18.0
#define NS_PER_OPERATION 0.08
#define NS_PER_OBSERVATION 60.0 /* of a product with the system */
#define STEPS_PER_LINK 25.0     /* of conjugate gradients */
#define MOST_LINKS 1000         /* that are counted */
#define BYTES_PER_BLOCK 650.0   /* of the system and its places in it, poses */
#define BYTES_PER_ENTRY 8.0     /* of the factor */
#define MOST_BYTES 8589934592.0 /* of either */
#define MOST_INVERTED 32        /* blocks of the inverse, by conjugate gradients */
#define INVERSE 2.0             /* operations of the inverse, in those of the factor */

/* Pairs of observations of one point, each with itself included. */
static double count_pairs(const psfm_bundle *b) {
    double pairs = 0.0;
    for (uint32_t p = 0; p < b->num_points; ++p) {
        double num = b->point_begin[p + 1] - b->point_begin[p];
        pairs += 0.5 * num * (num + 1.0);
    }
    return pairs;
}

/* Links to the image that is farthest from the first one, at least 2. Passes over all blocks, as
 * many as there are links: asked only where a factor is dear, and there they are few. */
static psfm_status count_links(psfm_context *ctx, const psfm_bundle *b, double *links) {
    const psfm_block_pattern *p = &b->pattern;
    uint32_t *level = NULL, reached = 0;
    psfm_status status = PSFM_ALLOC(ctx, p->num_blocks, &level);
    if (status != PSFM_OK)
        return status;
    if (b->num_pose_blocks > 0)
        level[0] = 1;
    for (uint32_t pass = 1; pass == reached + 1 && pass < MOST_LINKS; ++pass) {
        for (uint32_t r = 0; r < b->num_pose_blocks; ++r)
            for (size_t k = p->row_begin[r]; k < p->row_begin[r + 1]; ++k) {
                uint32_t c = p->col[k];
                if (c >= b->num_pose_blocks || (level[r] == pass) == (level[c] == pass))
                    continue;
                uint32_t *other = level[r] == pass ? &level[c] : &level[r];
                if (*other == 0) {
                    *other = pass + 1;
                    reached = pass;
                }
            }
    }
    *links = fmax(2.0, reached);
    free(level);
    return PSFM_OK;
}

/* Whether a factor of the system as analysed, and `more` times its operations, costs more than so
 * many solutions by conjugate gradients. */
static psfm_status is_too_dear(psfm_context *ctx, const psfm_bundle *b, double more,
                               double solutions, bool *answer) {
    double operations, entries, links = 2.0;
    psfm_status status = PSFM_OK;
    psfm_block_spd_cost(b->spd, &operations, &entries);
    double direct = NS_PER_PAIR * count_pairs(b) + NS_PER_OPERATION * (1.0 + more) * operations;
    double per_link = solutions * STEPS_PER_LINK * NS_PER_OBSERVATION * (double)b->num_obs;
    if (direct > links * per_link)
        status = count_links(ctx, b, &links);
    *answer = direct > links * per_link || BYTES_PER_ENTRY * entries > MOST_BYTES;
    return status;
}

bool psfm_bundle_can_form(const psfm_bundle *b) {
    double bytes = BYTES_PER_BLOCK * (double)b->pattern.row_begin[b->pattern.num_blocks];
    return b->options.solver == PSFM_BUNDLE_DIRECT ||
           (b->options.solver == PSFM_BUNDLE_AUTO && bytes < MOST_BYTES);
}

psfm_status psfm_bundle_make_solver(psfm_context *ctx, psfm_bundle *b) {
    bool too_dear = b->pattern.col == NULL; /* not even formed */
    psfm_status status = too_dear ? PSFM_OK : psfm_block_spd_create(ctx, &b->pattern, &b->spd);
    if (status == PSFM_OK && !too_dear && b->options.solver != PSFM_BUNDLE_DIRECT)
        status = is_too_dear(ctx, b, 0.0, 1.0, &too_dear);
    if (status != PSFM_OK || !too_dear)
        return status;
    psfm_block_spd_destroy(&b->spd);
    return psfm_bundle_cg_create(ctx, b, &b->cg);
}

psfm_status psfm_bundle_prefer_factor(psfm_context *ctx, psfm_bundle *b) {
    bool too_dear;
    if (b->cg == NULL || b->options.solver != PSFM_BUNDLE_AUTO || b->pattern.col == NULL)
        return PSFM_OK;
    psfm_status status = psfm_block_spd_create(ctx, &b->pattern, &b->spd);
    if (status == PSFM_OK)
        status = is_too_dear(ctx, b, INVERSE, 6.0 * MOST_INVERTED, &too_dear);
    if (status != PSFM_OK)
        return status;
    if (too_dear)
        psfm_block_spd_destroy(&b->spd);
    else
        psfm_bundle_cg_destroy(&b->cg);
    return PSFM_OK;
}

psfm_status psfm_bundle_solve(psfm_context *ctx, psfm_bundle *b, const double *rhs, double *x) {
    return b->cg == NULL ? psfm_block_spd_solve(ctx, b->spd, 1, rhs, x)
                         : psfm_bundle_cg_solve(ctx, b, rhs, x);
}

/* The diagonal block of the inverse, column by column; made symmetric. */
static psfm_status invert_block(psfm_context *ctx, psfm_bundle *b, uint32_t block, double *scratch,
                                double *out) {
    uint32_t at = b->pattern.scalar_begin[block], dim = b->pattern.scalar_begin[block + 1] - at;
    size_t n = b->pattern.scalar_begin[b->pattern.num_blocks];
    double *unit = scratch, *column = scratch + n;
    psfm_status status = PSFM_OK;
    memset(out, 0, (size_t)dim * dim * sizeof *out);
    for (uint32_t v = 0; status == PSFM_OK && v < dim; ++v) {
        memset(unit, 0, n * sizeof *unit);
        unit[at + v] = 1.0;
        status = psfm_bundle_cg_solve(ctx, b, unit, column);
        for (uint32_t u = 0; u < dim; ++u) {
            out[u * dim + v] += 0.5 * column[at + u];
            out[v * dim + u] += 0.5 * column[at + u];
        }
    }
    return status;
}

/* Blocks at even spaces, at most MOST_INVERTED; the others are not known. */
static psfm_status invert_some(psfm_context *ctx, psfm_bundle *b, uint32_t first, uint32_t num,
                               const size_t *begin, double *out) {
    double *scratch = NULL;
    uint32_t space = (num + MOST_INVERTED - 1) / MOST_INVERTED;
    size_t n = b->pattern.scalar_begin[b->pattern.num_blocks];
    psfm_status status = PSFM_ALLOC(ctx, 2 * n, &scratch);
    for (uint32_t k = 0; status == PSFM_OK && k < num; ++k) {
        uint32_t dim = b->pattern.scalar_begin[first + k + 1] - b->pattern.scalar_begin[first + k];
        if (k % space == 0)
            status = invert_block(ctx, b, first + k, scratch, out + begin[first + k]);
        else
            for (uint32_t e = 0; e < dim * dim; ++e)
                out[begin[first + k] + e] = NAN;
    }
    if (status == PSFM_OK && space > 1)
        psfm_log(ctx, PSFM_LOG_INFO,
                 "standard deviations of every %uth of %u only: the system is too large for all",
                 space, num);
    free(scratch);
    return status;
}

/* What the factor was made of, and its inverse does without: the largest part of the state. */
static void forget_rows(psfm_bundle *b) {
    free(b->rows);
    free(b->camera_rows);
    free(b->systems);
    b->rows = NULL;
    b->camera_rows = NULL;
    b->systems = NULL;
}

psfm_status psfm_bundle_inverse(psfm_context *ctx, psfm_bundle *b, uint32_t first, uint32_t num,
                                const size_t *begin, double *out) {
    const psfm_block_range range = {first, num, begin, out};
    if (b->cg == NULL && b->border == NULL)
        forget_rows(b);
    return b->cg == NULL ? psfm_block_spd_inverse(ctx, b->spd, &range)
                         : invert_some(ctx, b, first, num, begin, out);
}
