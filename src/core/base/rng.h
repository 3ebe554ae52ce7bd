/* Random numbers: xoshiro256** seeded by splitmix64 from (seed, stage, i, j), so that each task
 * draws from its own stream whatever thread runs it. Value type; no hidden state. */
#ifndef PSFM_BASE_RNG_H
#define PSFM_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t s[4];
} psfm_rng;

/* Stages that draw random numbers; the value enters the seed, so never renumber. */
typedef enum {
    PSFM_RNG_TEST = 1,
    PSFM_RNG_SYNTH = 2,
    PSFM_RNG_HOMOGRAPHY = 3,
    PSFM_RNG_ESSENTIAL = 4,
    PSFM_RNG_EMBEDDING = 5,
    PSFM_RNG_ABLATION = 6,
    PSFM_RNG_BENCH = 7,
    PSFM_RNG_RESECTION = 8,
    PSFM_RNG_SPANNING_TREE = 9,
    PSFM_RNG_CONSENSUS = 10,
    PSFM_RNG_ALIGN = 11,
    PSFM_RNG_TRIANGULATE = 12,
    PSFM_RNG_PHOTO = 13,
    PSFM_RNG_LABELLING = 14,
    PSFM_RNG_CALIBRATION = 16,
    PSFM_RNG_COURT = 17,
    PSFM_RNG_VERDICT = 18,
    PSFM_RNG_EVALUATION = 19,
} psfm_rng_stage;

psfm_rng psfm_rng_make(uint64_t seed, psfm_rng_stage stage, uint64_t i, uint64_t j);
uint64_t psfm_rng_next(psfm_rng *rng);
/* Uniform in [0, 1), 53 bits. */
double psfm_rng_uniform(psfm_rng *rng);
/* Uniform in [low, high). */
double psfm_rng_range(psfm_rng *rng, double low, double high);
/* Standard normal (Box-Muller, two uniforms a call). */
double psfm_rng_normal(psfm_rng *rng);
/* Uniform integer in [0, n), unbiased; n > 0. */
size_t psfm_rng_below(psfm_rng *rng, size_t n);
/* Draws k distinct integers of [0, n) into out; k <= n. O(k^2), meant for minimal samples. */
void psfm_rng_sample(psfm_rng *rng, size_t n, size_t k, uint32_t *out);
/* Shuffles in place (Fisher-Yates). */
void psfm_rng_shuffle(psfm_rng *rng, uint32_t *values, size_t n);
/* Uniform random unit vector. */
void psfm_rng_direction(psfm_rng *rng, double out[3]);

#endif
