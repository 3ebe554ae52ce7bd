/* Matches of one pair, laid out for fast evaluation of two-view models: blocks of eight pairs,
 * one array of eight per coordinate, so that the compiler works on several pairs at once. */
#ifndef PSFM_MATCHES_RAY_PAIRS_H
#define PSFM_MATCHES_RAY_PAIRS_H

#include "core/base/rng.h"
#include "core/matches/match_set.h"

#define PSFM_LANES 8

/* Unused lanes of the last block are zero: no model puts a zero ray in front of a camera, so they
 * count as outliers everywhere. */
typedef struct {
    double ray1[3][PSFM_LANES], ray2[3][PSFM_LANES];
    double px1[6][PSFM_LANES], px2[6][PSFM_LANES];   /* 2 x 3 derivative of the pixel by the ray */
    double tan1[6][PSFM_LANES], tan2[6][PSFM_LANES]; /* 3 x 2 derivative of the ray by the pixel */
} psfm_ray_block;

typedef struct {
    size_t num;        /* pairs */
    size_t num_blocks; /* num / 8, rounded up */
    psfm_ray_block *blocks;
    uint32_t *row; /* per pair: its row in the correspondences */
    /* Per pair: pixels from one of the pairs in the middle. Integrated from the derivatives at the
     * two only, so good to a tenth across a wide image: enough for neighbours and areas. */
    double (*xy1)[2], (*xy2)[2];
} psfm_ray_pairs;

/* Takes over the usable rows of c, shuffled by `rng` (NULL: in order), so that any run of them is
 * a fair sample. Rows that are not finite or have no ray or no derivative are left out. O(n). */
psfm_status psfm_ray_pairs_init(psfm_context *ctx, const psfm_correspondences *c, psfm_rng *rng,
                                psfm_ray_pairs *out);

/* The pairs with these indices (into `from`), in this order. */
psfm_status psfm_ray_pairs_select(psfm_context *ctx, const psfm_ray_pairs *from,
                                  const uint32_t *idx, size_t num, psfm_ray_pairs *out);

void psfm_ray_pairs_free(psfm_ray_pairs *pairs);

/* Ray of one pair on either side. */
static inline void psfm_ray_pairs_get(const psfm_ray_pairs *pairs, size_t i, double ray1[3],
                                      double ray2[3]) {
    const psfm_ray_block *b = &pairs->blocks[i / PSFM_LANES];
    for (int k = 0; k < 3; ++k) {
        ray1[k] = b->ray1[k][i % PSFM_LANES];
        ray2[k] = b->ray2[k][i % PSFM_LANES];
    }
}

/* Number of lanes of the last block that hold no pair. */
static inline size_t psfm_ray_pairs_unused(const psfm_ray_pairs *pairs) {
    return pairs->num_blocks * PSFM_LANES - pairs->num;
}

/* Number of pairs in the first num_blocks blocks. */
static inline size_t psfm_ray_pairs_within(const psfm_ray_pairs *pairs, size_t num_blocks) {
    return num_blocks * PSFM_LANES < pairs->num ? num_blocks * PSFM_LANES : pairs->num;
}

/* The first pairs, at most num_blocks blocks of them, without copying: of shuffled pairs a fair
 * sample. Not to be freed. */
static inline psfm_ray_pairs psfm_ray_pairs_head(const psfm_ray_pairs *pairs, size_t num_blocks) {
    psfm_ray_pairs head = *pairs;
    head.num = psfm_ray_pairs_within(pairs, num_blocks);
    head.num_blocks = num_blocks < pairs->num_blocks ? num_blocks : pairs->num_blocks;
    return head;
}

/* Sum over lanes in a fixed order that leaves the additions independent. */
static inline double psfm_sum_lanes(const double v[PSFM_LANES]) {
    return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}

#endif
