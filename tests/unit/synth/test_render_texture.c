#include "test_util.h"

#include "core/base/rng.h"
#include "synth/render_font.h"
#include "synth/render_texture.h"

/* A sample at (u, v) that covers a rectangle of wu x wv. */
static psfm_texel texel_at(double u, double v, double wu, double wv) {
    psfm_texel t = {.u = u, .v = v, .jac = {wu, 0.0, 0.0, wv}};
    psfm_texel_set_width(&t);
    return t;
}

/* Mean of a pattern over the sample, from `n` x `n` tiny samples. */
typedef double (*pattern_fn)(const psfm_texel *t);

static double brute_mean(pattern_fn pattern, const psfm_texel *t, int n) {
    double sum = 0.0;
    for (int k = 0; k < n * n; ++k) {
        double x = (k % n + 0.5) / n - 0.5, y = (k / n + 0.5) / n - 0.5;
        psfm_texel tiny = texel_at(t->u + t->jac[0] * x + t->jac[1] * y,
                                   t->v + t->jac[2] * x + t->jac[3] * y, 1e-7, 1e-7);
        sum += pattern(&tiny);
    }
    return sum / (n * n);
}

static double rect_pattern(const psfm_texel *t) {
    return psfm_cover_rect(t, -1.0, 0.5, 2.0, 3.0);
}

static double disc_pattern(const psfm_texel *t) {
    return psfm_cover_disc(t, 0.3, -0.2, 1.5);
}

static double stripes_pattern(const psfm_texel *t) {
    return psfm_cover_stripes(t->u, 0.7, 0.2, psfm_texel_extent(t, 1.0, 0.0));
}

static double text_pattern(const psfm_texel *t) {
    return psfm_cover_text(t, "AB-1.!&", -2.0, -1.0, 1.4);
}

static double spots_pattern(const psfm_texel *t) {
    uint32_t hash;
    return psfm_cover_spots(5, t, 1.0, 0.8, &hash);
}

static double scratches_pattern(const psfm_texel *t) {
    return psfm_cover_scratches(5, t, 1.0, 0.05, 0.8);
}

static double bond_pattern(const psfm_texel *t) {
    static const psfm_bond bond = {0.9, 0.4, 0.06};
    uint32_t hash;
    double shade;
    return psfm_cover_bond(3, t, &bond, &shade, &hash);
}

static double bond_shade(const psfm_texel *t) {
    static const psfm_bond bond = {0.9, 0.4, 0.0};
    uint32_t hash;
    double shade;
    psfm_cover_bond(3, t, &bond, &shade, &hash);
    return shade;
}

/* A pattern filtered in one go equals the mean of many tiny samples; where it cannot, the error
 * has no bias and a stated size. */
static void filtered_patterns_are_means(void **state) {
    (void)state;
    const struct {
        pattern_fn pattern;
        double width, worst, bias;
    } cases[] = {
        {rect_pattern, 0.8, 0.013, 0.003},    {stripes_pattern, 0.5, 0.013, 0.003},
        {stripes_pattern, 3.0, 0.013, 0.003}, {text_pattern, 0.11, 0.03, 0.003},
        {text_pattern, 0.9, 0.013, 0.003},    {disc_pattern, 0.2, 0.12, 0.005},
        {spots_pattern, 0.05, 0.15, 0.01},    {scratches_pattern, 0.03, 0.4, 0.01},
        {bond_pattern, 0.1, 0.25, 0.01},      {bond_shade, 0.15, 0.35, 0.01},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
        psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, c, 0);
        double bias = 0.0;
        for (int k = 0; k < 300; ++k) {
            double u = psfm_rng_range(&rng, -2.5, 2.5), v = psfm_rng_range(&rng, -2.5, 3.5);
            psfm_texel t = texel_at(u, v, cases[c].width, 0.7 * cases[c].width);
            double error = cases[c].pattern(&t) - brute_mean(cases[c].pattern, &t, 80);
            assert_below(fabs(error), cases[c].worst);
            bias += error / 300.0;
        }
        assert_close(bias, 0.0, cases[c].bias);
    }
}

static void extents_follow_the_parallelogram(void **state) {
    (void)state;
    psfm_texel t = {.jac = {0.3, -0.1, 0.2, 0.4}};
    psfm_texel_set_width(&t);
    assert_close(psfm_texel_extent(&t, 1.0, 0.0), 0.4, 1e-8);
    assert_close(psfm_texel_extent(&t, 0.0, 1.0), 0.6, 1e-8);
    assert_close(psfm_texel_extent(&t, 0.6, 0.8), 0.34 + 0.26, 1e-8);
    psfm_texel scaled = psfm_texel_scaled(&t, 1.0, 2.0, 3.0, 0.5);
    assert_close(scaled.u, 3.0, 1e-12);
    assert_close(scaled.v, 1.0, 1e-12);
    assert_close(psfm_texel_extent(&scaled, 1.0, 0.0), 1.2, 1e-8);
    assert_close(psfm_texel_extent(&scaled, 0.0, 1.0), 0.3, 1e-8);
    psfm_texel square = texel_at(0.0, 0.0, 0.2, 0.2);
    assert_close(square.width, 0.2, 1e-6);
}

static void noise_is_centred_and_continuous(void **state) {
    (void)state;
    double sum = 0.0, squares = 0.0, steepest = 0.0;
    const int n = 100000;
    for (int k = 0; k < n; ++k) {
        double u = 0.377 * k - 18000.0, v = 0.0131 * k - 600.0;
        double value = psfm_noise(9, u, v);
        sum += value;
        squares += value * value;
        steepest = fmax(steepest, fabs(psfm_noise(9, u + 1e-3, v) - value) / 1e-3);
        assert_true(value == psfm_noise(9, u, v));
    }
    assert_close(sum / n, 0.0, 0.01);
    assert_close(sqrt(squares / n), 0.26, 0.03);
    assert_below(steepest, 10.0); /* a jump of 0.01 or more between lattice cells would show */
    assert_true(psfm_noise(9, 0.5, 0.5) != psfm_noise(10, 0.5, 0.5));
}

/* The finer the sample, the more octaves; a coarse one gets the mean, and no step between. */
static void noise_ends_where_the_sample_does(void **state) {
    (void)state;
    double fine = 0.0, coarse = 0.0, jump = 0.0;
    for (int k = 0; k < 500; ++k) {
        double u = 0.731 * k, v = 0.417 * k;
        psfm_texel t = texel_at(u, v, 0.001, 0.001), wide = texel_at(u, v, 0.6, 0.6);
        double a = psfm_noise_octaves(1, &t, 1.0, 0.9);
        double b = psfm_noise_octaves(1, &wide, 1.0, 0.9);
        fine += a * a / 500.0;
        coarse += b * b / 500.0;
        for (double w = 0.01; w < 0.6; w *= 1.01) {
            psfm_texel one = texel_at(u, v, w, w), next = texel_at(u, v, 1.01 * w, 1.01 * w);
            double change =
                psfm_noise_octaves(1, &one, 1.0, 0.9) - psfm_noise_octaves(1, &next, 1.0, 0.9);
            jump = fmax(jump, fabs(change));
        }
    }
    assert_true(fine > 0.1);
    assert_true(coarse == 0.0);
    assert_below(jump, 0.06);
}

static void hashes_are_even(void **state) {
    (void)state;
    int count[2][16] = {{0}};
    double together = 0.0;
    for (int k = 0; k < 160000; ++k) {
        uint32_t hash = psfm_hash(7, k % 400 - 200, k / 400),
                 next = psfm_hash(7, k % 400 - 199, k / 400);
        for (int part = 0; part < 2; ++part)
            ++count[part][(int)(16.0 * psfm_hash_share(hash, part))];
        together += (psfm_hash_share(hash, 0) - 0.5) * (psfm_hash_share(next, 0) - 0.5);
    }
    for (int b = 0; b < 16; ++b)
        for (int part = 0; part < 2; ++part)
            assert_close(count[part][b], 10000.0, 500.0);
    assert_close(12.0 * together / 160000.0, 0.0, 0.015);
}

static void floors_are_floors(void **state) {
    (void)state;
    const double values[] = {0.0, -0.0, 0.5, -0.5, 3.0, -3.0, 2.999, -3.001, 1e9, -1e9 - 0.5};
    for (size_t k = 0; k < sizeof values / sizeof *values; ++k)
        assert_int_equal(psfm_floor(values[k]), (int32_t)floor(values[k]));
}

static void letters_have_their_shape(void **state) {
    (void)state;
    const char *const rows[7] = {"#   #", "##  #", "# # #", "# # #", "#  ##", "#   #", "#   #"};
    for (int row = 0; row < 7; ++row) {
        for (int column = -1; column < 7; ++column) {
            psfm_texel t = texel_at(10.5 + column, 20.0 + 6.5 - row, 1e-6, 1e-6);
            bool ink = column >= 0 && column < 5 && rows[row][column] == '#';
            assert_close(psfm_cover_text(&t, "N", 10.0, 20.0, 7.0), ink ? 1.0 : 0.0, 1e-6);
        }
    }
    assert_int_equal(psfm_text_length("N"), 5);
    assert_int_equal(psfm_text_length("NO"), 11);
    psfm_texel all = texel_at(50.0, 3.5, 200.0, 20.0);
    assert_close(psfm_cover_text(&all, " @\x80~", 0.0, 0.0, 7.0), 0.0, 1e-12);
    const char *const signs = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.&!";
    for (const char *a = signs; *a != '\0'; ++a) { /* no two look alike, none is blank */
        for (const char *b = signs; *b != '\0'; ++b) {
            double difference = 0.0;
            const char first[2] = {*a, '\0'}, second[2] = {*b, '\0'};
            for (int k = 0; k < 35; ++k) {
                psfm_texel t = texel_at(k % 5 + 0.5, k / 5 + 0.5, 1e-6, 1e-6);
                double ink = psfm_cover_text(&t, first, 0.0, 0.0, 7.0);
                difference += a == b ? ink : fabs(ink - psfm_cover_text(&t, second, 0.0, 0.0, 7.0));
            }
            assert_true(difference > 1.0);
        }
    }
}

static void text_fits_its_box(void **state) {
    (void)state;
    psfm_texel all = texel_at(0.0, 0.0, 100.0, 100.0);
    psfm_texel box = texel_at(3.0, 1.5, 4.0, 1.0);
    double total = psfm_cover_text_in(&all, "HELLO", 1.0, 1.0, 5.0, 2.0) * 1e4;
    double inside = psfm_cover_text_in(&box, "HELLO", 1.0, 1.0, 5.0, 2.0) * 4.0;
    assert_true(total > 0.3);
    assert_close(total, inside, 1e-6);
}

static void colours_go_round(void **state) {
    (void)state;
    double rgb[3];
    psfm_rgb_hue(0.0, 1.0, 0.8, rgb);
    assert_true(rgb[0] == 0.8 && rgb[1] == 0.0 && rgb[2] == 0.0);
    psfm_rgb_hue(1.0 / 3.0, 0.5, 0.8, rgb);
    assert_close(rgb[0], 0.4, 1e-9);
    assert_close(rgb[1], 0.8, 1e-9);
    assert_close(rgb[2], 0.4, 1e-9);
    psfm_rgb_hue(-1.0 / 3.0, 1.0, 1.0, rgb);
    assert_close(rgb[2], 1.0, 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filtered_patterns_are_means),
        cmocka_unit_test(extents_follow_the_parallelogram),
        cmocka_unit_test(noise_is_centred_and_continuous),
        cmocka_unit_test(noise_ends_where_the_sample_does),
        cmocka_unit_test(hashes_are_even),
        cmocka_unit_test(floors_are_floors),
        cmocka_unit_test(letters_have_their_shape),
        cmocka_unit_test(text_fits_its_box),
        cmocka_unit_test(colours_go_round),
    };
    return cmocka_run_group_tests_name("synth/render_texture", tests, NULL, NULL);
}
