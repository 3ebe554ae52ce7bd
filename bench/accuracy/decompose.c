/* Random homographies with their motions, and what the decomposition (Eq. 1) makes of them, for
 * bench/accuracy/decompose_opencv, which puts OpenCV's beside it.
 *
 *   build/bench/bench_decompose [NUM [SEED]]
 *
 * One line each: kind, H, the true R, t, n, the number of motions, R, t, n of each. A line
 * `time KIND NANOSECONDS` gives the processor time of a call. Lengths are in distances of the plane
 * from camera 1. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/rng.h"
#include "core/linalg/mat3.h"
#include "core/twoview/homography_decompose.h"

typedef enum { FREE, ALONG_NORMAL, NEAR_NORMAL, THROUGH_CENTRE } direction_kind;

/* Motions by a baseline of up to `length`, or exactly that if `fixed`; entries of H get normal
 * `noise`. NEAR_NORMAL: 1e-6 off it. THROUGH_CENTRE: the plane passes camera 2 at `length`. */
typedef struct {
    const char *name;
    double length;
    bool fixed;
    direction_kind direction;
    double noise;
} kind;

static const kind kinds[] = {
    {"free", 2.0, false, FREE, 0.0},
    {"noise of 1e-3", 2.0, false, FREE, 1e-3},
    {"baseline of 1e-2", 1e-2, true, FREE, 0.0},
    {"baseline of 1e-4", 1e-4, true, FREE, 0.0},
    {"baseline of 1e-6", 1e-6, true, FREE, 0.0},
    {"baseline of 1e-9", 1e-9, true, FREE, 0.0},
    {"no baseline", 0.0, true, FREE, 0.0},
    {"along the normal", 0.5, false, ALONG_NORMAL, 0.0},
    {"1e-6 off the normal", 0.5, false, NEAR_NORMAL, 0.0},
    {"centre 2 at 1e-3 of the plane", 1e-3, true, THROUGH_CENTRE, 0.0},
    {"centre 2 at 1e-6 of the plane", 1e-6, true, THROUGH_CENTRE, 0.0},
    {"centre 2 at 1e-9 of the plane", 1e-9, true, THROUGH_CENTRE, 0.0},
};

typedef struct {
    double H[9];
    psfm_plane_motion truth;
} sample;

static void draw_rotation(psfm_rng *rng, double R[9]) {
    double axis[3], angle = psfm_rng_range(rng, 0.0, 3.0);
    psfm_rng_direction(rng, axis);
    psfm_scale3(angle, axis, axis);
    psfm_rotation_exp(axis, R);
}

/* t of a camera 2 that stays on camera 1's side of the plane: n2 . t > -1. */
static void draw_translation(psfm_rng *rng, const kind *k, const double n2[3], double t[3]) {
    do {
        double length = k->fixed ? k->length : psfm_rng_range(rng, 0.05, k->length);
        psfm_rng_direction(rng, t);
        if (k->direction == ALONG_NORMAL || k->direction == NEAR_NORMAL)
            psfm_axpy3(n2, k->direction == ALONG_NORMAL ? 0.0 : 1e-6, t, t);
        if (k->direction == THROUGH_CENTRE)
            psfm_axpy3(t, k->length - 1.0 - psfm_dot3(n2, t), n2, t);
        else
            psfm_scale3(psfm_rng_uniform(rng) < 0.5 ? -length : length, t, t);
    } while (psfm_dot3(n2, t) < -0.95 && k->direction != THROUGH_CENTRE);
}

/* Scaled, as the decomposition wants it: the middle singular value is 1, the determinant positive.
 */
static void normalize_homography(double H[9]) {
    double U[9], s[3], V[9];
    psfm_mat3_svd(H, U, s, V);
    double scale = (psfm_mat3_det(H) < 0.0 ? -1.0 : 1.0) / s[1];
    for (int e = 0; e < 9; ++e)
        H[e] *= scale;
}

static void draw_sample(psfm_rng *rng, const kind *k, sample *s) {
    psfm_plane_motion *m = &s->truth;
    draw_rotation(rng, m->R_21);
    psfm_rng_direction(rng, m->n1);
    psfm_mat3_mul_vec(m->R_21, m->n1, m->n2);
    draw_translation(rng, k, m->n2, m->t_21);
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c)
            s->H[3 * r + c] =
                m->R_21[3 * r + c] + m->t_21[r] * m->n1[c] + k->noise * psfm_rng_normal(rng);
    if (k->noise > 0.0)
        normalize_homography(s->H);
}

static void print_numbers(const double *values, int num) {
    for (int e = 0; e < num; ++e)
        printf(" %.17g", values[e]);
}

static void print_motion(const psfm_plane_motion *m) {
    print_numbers(m->R_21, 9);
    print_numbers(m->t_21, 3);
    print_numbers(m->n1, 3);
}

static void print_sample(const kind *k, const sample *s) {
    psfm_plane_motion motions[2];
    int num = psfm_homography_decompose(s->H, motions);
    printf("%s;", k->name);
    print_numbers(s->H, 9);
    print_motion(&s->truth);
    printf(" %d", num);
    for (int j = 0; j < num; ++j)
        print_motion(&motions[j]);
    printf("\n");
}

/* Nanoseconds of the processor a call; 1e5 calls and more. */
static double time_calls(const sample *samples, size_t num) {
    psfm_plane_motion motions[2];
    size_t calls = 0;
    clock_t start = clock();
    while (calls < 100000)
        for (size_t i = 0; i < num; ++i, ++calls)
            psfm_homography_decompose(samples[i].H, motions);
    return 1e9 * (double)(clock() - start) / CLOCKS_PER_SEC / (double)calls;
}

int main(int argc, char **argv) {
    size_t num = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    sample *samples = calloc(num + 1, sizeof *samples);
    if (samples == NULL || num == 0)
        return 1;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
        psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_BENCH, 39, k);
        for (size_t i = 0; i < num; ++i) {
            draw_sample(&rng, &kinds[k], &samples[i]);
            print_sample(&kinds[k], &samples[i]);
        }
        printf("time %s;%.1f\n", kinds[k].name, time_calls(samples, num));
    }
    free(samples);
    return 0;
}
