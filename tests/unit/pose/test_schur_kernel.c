#include "pose/schur_kernel.h"

#include <string.h>

#include "base/cpu.h"
#include "base/rng.h"
#include "test_util.h"

static void fill(psfm_rng *rng, size_t num, double *x) {
    for (size_t k = 0; k < num; ++k)
        x[k] = psfm_rng_normal(rng);
}

/* Against the product written out, and all versions of this machine to the bit. */
static void versions_agree(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    for (int round = 0; round < 100; ++round) {
        double P[12], Q[12], N[4], S[36], plain[36];
        fill(&rng, 12, P);
        fill(&rng, 12, Q);
        fill(&rng, 4, N);
        fill(&rng, 36, S);
        for (int level = PSFM_CPU_PLAIN; level <= PSFM_CPU_AVX512; ++level) {
            double out[36];
            memcpy(out, S, sizeof out);
            psfm_cpu_limit((psfm_cpu_level)level);
            psfm_schur_subtract_choose()(P, N, Q, out);
            if (level == PSFM_CPU_PLAIN)
                memcpy(plain, out, sizeof plain);
            assert_memory_equal(out, plain, sizeof out);
        }
        for (int k = 0; k < 36; ++k) {
            double expected = S[k];
            for (int a = 0; a < 2; ++a)
                for (int b = 0; b < 2; ++b)
                    expected -= P[6 * a + k / 6] * N[2 * a + b] * Q[6 * b + k % 6];
            assert_close(plain[k], expected, 1e-13);
        }
    }
    psfm_cpu_limit(PSFM_CPU_AVX512);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(versions_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
