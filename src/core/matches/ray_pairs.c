/* Matches laid out for the two-view estimators: in blocks of eight, by coordinates, so that loops
 * over a block become vector code; shuffled, so that the first blocks are a fair sample of all.
 *
 * Beside rays there are tangents, the derivative of the ray by the pixel (the pseudo-inverse of
 * the other one), and positions in pixels about the middle of the image, for areas and
 * neighbourhoods. Positions are integrated from the derivatives alone, so that this layer needs no
 * camera model. */
#include "core/matches/ray_pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/vec3.h"

static psfm_status allocate_pairs(psfm_context *ctx, size_t num, psfm_ray_pairs *out) {
    memset(out, 0, sizeof *out);
    psfm_ray_pairs pairs = {.num = num, .num_blocks = (num + PSFM_LANES - 1) / PSFM_LANES};
    psfm_status status = PSFM_ALLOC(ctx, pairs.num_blocks, &pairs.blocks);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num, &pairs.row);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num, &pairs.xy1);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num, &pairs.xy2);
    if (status == PSFM_OK)
        *out = pairs;
    else
        psfm_ray_pairs_free(&pairs);
    return status;
}

void psfm_ray_pairs_free(psfm_ray_pairs *pairs) {
    free(pairs->blocks);
    free(pairs->row);
    free(pairs->xy1);
    free(pairs->xy2);
    memset(pairs, 0, sizeof *pairs);
}

/* tangent = px^T (px px^T)^-1: the derivative of the ray by the pixel. False if the input is not
 * finite, has no ray, or the pixel does not move with the ray. */
static bool tangent_of(const double ray[3], const double px[6], double tangent[6]) {
    double a = psfm_dot3(px, px), b = psfm_dot3(px, px + 3), c = psfm_dot3(px + 3, px + 3);
    double det = a * c - b * b;
    if (!(psfm_dot3(ray, ray) > 0.25) || !(det > 1e-12 * a * c) || !isfinite(a * c))
        return false;
    for (size_t k = 0; k < 3; ++k) {
        tangent[2 * k] = (c * px[k] - b * px[3 + k]) / det;
        tangent[2 * k + 1] = (a * px[3 + k] - b * px[k]) / det;
    }
    return isfinite(psfm_dot3(ray, ray));
}

/* Fills lane i with row `row` of c; false if the row is of no use. */
static bool fill_lane(const psfm_correspondences *c, uint32_t row, psfm_ray_block *b, size_t lane) {
    double tan1[6], tan2[6];
    if (!tangent_of(c->ray1[row], c->px1[row], tan1) ||
        !tangent_of(c->ray2[row], c->px2[row], tan2))
        return false;
    for (int k = 0; k < 3; ++k) {
        b->ray1[k][lane] = c->ray1[row][k];
        b->ray2[k][lane] = c->ray2[row][k];
    }
    for (int k = 0; k < 6; ++k) {
        b->px1[k][lane] = c->px1[row][k];
        b->px2[k][lane] = c->px2[row][k];
        b->tan1[k][lane] = tan1[k];
        b->tan2[k][lane] = tan2[k];
    }
    return true;
}

/* The row whose ray is nearest to the mean ray. */
static uint32_t middle_row(const psfm_ray_pairs *pairs, const double (*rays)[3]) {
    double mean[3] = {0, 0, 0}, best = -INFINITY;
    uint32_t middle = pairs->row[0];
    for (size_t i = 0; i < pairs->num; ++i)
        psfm_axpy3(mean, 1.0, rays[pairs->row[i]], mean);
    for (size_t i = 0; i < pairs->num; ++i) {
        double cosine = psfm_dot3(mean, rays[pairs->row[i]]);
        if (cosine > best) {
            best = cosine;
            middle = pairs->row[i];
        }
    }
    return middle;
}

/* Pixels of `ray` from the middle ray, by integration along the great circle between them. The
 * derivative is known at both ends; cameras are symmetric about their middle, so to second order
 * its mean is two thirds of the one and one third of the other. It annihilates its own ray, which
 * leaves angle / sin angle (2/3 px_middle ray - 1/3 px ray_middle). */
static void unroll_ray(const double middle[3], const double px_middle[6], const double ray[3],
                       const double px[6], double xy[2]) {
    double q = 0.5 * (1.0 - psfm_dot3(middle, ray)); /* sin^2 of half the angle */
    double scale = (1.0 + q * (2.0 / 3.0 + q * (8.0 / 15.0 + q * (16.0 / 35.0)))) / 3.0;
    xy[0] = scale * (2.0 * psfm_dot3(px_middle, ray) - psfm_dot3(px, middle));
    xy[1] = scale * (2.0 * psfm_dot3(px_middle + 3, ray) - psfm_dot3(px + 3, middle));
}

static void fill_positions(const psfm_correspondences *c, psfm_ray_pairs *pairs) {
    if (pairs->num == 0)
        return;
    uint32_t m1 = middle_row(pairs, (const double(*)[3])c->ray1);
    uint32_t m2 = middle_row(pairs, (const double(*)[3])c->ray2);
    for (size_t i = 0; i < pairs->num; ++i) {
        uint32_t row = pairs->row[i];
        unroll_ray(c->ray1[m1], c->px1[m1], c->ray1[row], c->px1[row], pairs->xy1[i]);
        unroll_ray(c->ray2[m2], c->px2[m2], c->ray2[row], c->px2[row], pairs->xy2[i]);
    }
}

psfm_status psfm_ray_pairs_init(psfm_context *ctx, const psfm_correspondences *c, psfm_rng *rng,
                                psfm_ray_pairs *out) {
    memset(out, 0, sizeof *out);
    psfm_ray_pairs pairs;
    uint32_t *order = NULL;
    psfm_status status = PSFM_ALLOC(ctx, c->num, &order);
    if (status != PSFM_OK)
        return status;
    for (size_t i = 0; i < c->num; ++i)
        order[i] = (uint32_t)i;
    if (rng != NULL)
        psfm_rng_shuffle(rng, order, c->num);
    status = allocate_pairs(ctx, c->num, &pairs);
    if (status != PSFM_OK) {
        free(order);
        return status;
    }
    pairs.num = 0;
    for (size_t i = 0; i < c->num; ++i)
        if (fill_lane(c, order[i], &pairs.blocks[pairs.num / PSFM_LANES], pairs.num % PSFM_LANES))
            pairs.row[pairs.num++] = order[i];
    pairs.num_blocks = (pairs.num + PSFM_LANES - 1) / PSFM_LANES;
    fill_positions(c, &pairs);
    free(order);
    *out = pairs;
    return PSFM_OK;
}

static void copy_lane(const psfm_ray_block *from, size_t i, psfm_ray_block *to, size_t j) {
    for (int k = 0; k < 3; ++k) {
        to->ray1[k][j] = from->ray1[k][i];
        to->ray2[k][j] = from->ray2[k][i];
    }
    for (int k = 0; k < 6; ++k) {
        to->px1[k][j] = from->px1[k][i];
        to->px2[k][j] = from->px2[k][i];
        to->tan1[k][j] = from->tan1[k][i];
        to->tan2[k][j] = from->tan2[k][i];
    }
}

psfm_status psfm_ray_pairs_select(psfm_context *ctx, const psfm_ray_pairs *from,
                                  const uint32_t *idx, size_t num, psfm_ray_pairs *out) {
    psfm_status status = allocate_pairs(ctx, num, out);
    for (size_t i = 0; status == PSFM_OK && i < num; ++i) {
        size_t k = idx[i];
        copy_lane(&from->blocks[k / PSFM_LANES], k % PSFM_LANES, &out->blocks[i / PSFM_LANES],
                  i % PSFM_LANES);
        out->row[i] = from->row[k];
        memcpy(out->xy1[i], from->xy1[k], sizeof out->xy1[i]);
        memcpy(out->xy2[i], from->xy2[k], sizeof out->xy2[i]);
    }
    return status;
}
