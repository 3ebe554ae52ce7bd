/* Random numbers: xoshiro256** (Blackman and Vigna), seeded by splitmix64 from seed, stage and two
 * indices. Integers below n are drawn by rejection, without the bias of a remainder; normal
 * numbers by Box and Muller's formula, one of the pair, so that every draw takes the same two
 * numbers; directions by Archimedes: z is uniform on a sphere. */
#include "core/base/rng.h"

#include <math.h>
#include <stdbool.h>

static uint64_t next_splitmix(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

psfm_rng psfm_rng_make(uint64_t seed, psfm_rng_stage stage, uint64_t i, uint64_t j) {
    uint64_t state = seed;
    state = next_splitmix(&state) ^ (uint64_t)stage;
    state = next_splitmix(&state) ^ i;
    state = next_splitmix(&state) ^ j;
    psfm_rng rng;
    for (int k = 0; k < 4; ++k)
        rng.s[k] = next_splitmix(&state);
    return rng;
}

static uint64_t rotate_left(uint64_t x, int k) {
    return (x << k) | (x >> (64 - k));
}

uint64_t psfm_rng_next(psfm_rng *rng) {
    uint64_t *s = rng->s;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

double psfm_rng_uniform(psfm_rng *rng) {
    return (double)(psfm_rng_next(rng) >> 11) * 0x1.0p-53;
}

double psfm_rng_range(psfm_rng *rng, double low, double high) {
    return low + (high - low) * psfm_rng_uniform(rng);
}

double psfm_rng_normal(psfm_rng *rng) {
    double u = 1.0 - psfm_rng_uniform(rng); /* in (0, 1], so that log is finite */
    double v = psfm_rng_uniform(rng);
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

size_t psfm_rng_below(psfm_rng *rng, size_t n) {
    uint64_t bound = (uint64_t)n;
    uint64_t threshold = (0 - bound) % bound; /* 2^64 mod n: draws below it would be biased */
    uint64_t x;
    do {
        x = psfm_rng_next(rng);
    } while (x < threshold);
    return (size_t)(x % bound);
}

void psfm_rng_sample(psfm_rng *rng, size_t n, size_t k, uint32_t *out) {
    for (size_t filled = 0; filled < k;) {
        uint32_t candidate = (uint32_t)psfm_rng_below(rng, n);
        bool seen = false;
        for (size_t m = 0; m < filled; ++m)
            seen = seen || out[m] == candidate;
        if (!seen)
            out[filled++] = candidate;
    }
}

void psfm_rng_shuffle(psfm_rng *rng, uint32_t *values, size_t n) {
    for (size_t k = n; k > 1; --k) {
        size_t m = psfm_rng_below(rng, k);
        uint32_t swap = values[k - 1];
        values[k - 1] = values[m];
        values[m] = swap;
    }
}

void psfm_rng_direction(psfm_rng *rng, double out[3]) {
    double z = psfm_rng_range(rng, -1.0, 1.0);
    double angle = psfm_rng_range(rng, 0.0, 6.283185307179586);
    double r = sqrt(1.0 - z * z);
    out[0] = r * cos(angle);
    out[1] = r * sin(angle);
    out[2] = z;
}
