#include "test_util.h"

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "core/linalg/mat3.h"
#include "synth/render_stage.h"

static void paint_nothing(const psfm_surface *surface, double rgb[3]) {
    (void)surface;
    memset(rgb, 0, 3 * sizeof *rgb);
}

static const psfm_coat bare = {.paint = paint_nothing};

/* A solid of a random kind, place and direction near the origin. */
static psfm_solid random_solid(psfm_rng *rng, double spread) {
    double w[3];
    psfm_solid solid = {.kind = (psfm_solid_kind)psfm_rng_below(rng, 5), .coat = bare};
    for (int k = 0; k < 3; ++k) {
        solid.origin[k] = spread * psfm_rng_normal(rng);
        solid.size[k] = psfm_rng_range(rng, 0.2, 1.5);
        w[k] = psfm_rng_normal(rng);
    }
    if (solid.kind == PSFM_CAPSULE || solid.kind == PSFM_CYLINDER)
        solid.size[1] = solid.size[0];
    psfm_rotation_exp(w, solid.axes);
    return solid;
}

/* Signed: negative inside. Zero on the surface of a solid, from its definition. */
static double outside(const psfm_solid *solid, const double xyz[3]) {
    double from[3], p[3], value = -HUGE_VAL;
    psfm_sub3(xyz, solid->origin, from);
    psfm_mat3_mul_vec(solid->axes, from, p);
    const double *size = solid->size;
    switch (solid->kind) {
    case PSFM_RECT:
        value = fmax(fmax(-p[0], p[0] - size[0]), fmax(-p[1], p[1] - size[1]));
        return fmax(value, fabs(p[2]));
    case PSFM_BOX:
        for (int k = 0; k < 3; ++k)
            value = fmax(value, fabs(p[k]) - size[k]);
        return value;
    case PSFM_ELLIPSOID:
        return hypot(hypot(p[0] / size[0], p[1] / size[1]), p[2] / size[2]) - 1.0;
    case PSFM_CYLINDER:
        return fmax(hypot(p[0], p[1]) - size[0], fabs(p[2]) - size[2]);
    default:
        return hypot(hypot(p[0], p[1]), fmax(fabs(p[2]) - size[2], 0.0)) - size[0];
    }
}

/* Rays towards solids: the meeting is on the surface, nothing is met before it, and a miss passes
 * by at all steps. */
static void rays_meet_surfaces(void **state) {
    (void)state;
    int num_met = 0;
    for (uint64_t k = 0; k < 4000; ++k) {
        psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, k, 0);
        psfm_solid solid = random_solid(&rng, 0.5);
        double origin[3], dir[3];
        for (int c = 0; c < 3; ++c) {
            origin[c] = 3.0 * psfm_rng_normal(&rng);
            dir[c] = 0.5 * psfm_rng_normal(&rng) - 0.5 * origin[c];
        }
        double s = psfm_solid_meet(&solid, origin, dir, 1e-6, 100.0), at[3];
        bool starts_inside = outside(&solid, origin) < 0.0;
        for (int step = 0; step < 200; ++step) {
            double t = fmin(s, 6.0) * (step + 0.5) / 200.0;
            psfm_axpy3(origin, t, dir, at);
            if (starts_inside)
                assert_true(outside(&solid, at) < 1e-9);
            else
                assert_true(outside(&solid, at) > -1e-9);
        }
        if (s == 100.0)
            continue;
        ++num_met;
        psfm_axpy3(origin, s, dir, at);
        assert_close(outside(&solid, at), 0.0, 1e-9);
        assert_true(psfm_solid_meet(&solid, origin, dir, 1e-6, 0.999 * s) == 0.999 * s);
        assert_true(psfm_solid_meet(&solid, origin, dir, 1.001 * s, 100.0) > s);
    }
    assert_true(num_met > 1000);
}

/* The ray a little beside this one. */
static psfm_ray beside(const psfm_ray *ray, double dx, double dy) {
    psfm_ray out = *ray;
    psfm_axpy3(out.dir, dx, ray->dir_dx, out.dir);
    psfm_axpy3(out.dir, dy, ray->dir_dy, out.dir);
    return out;
}

/* Normals point at the viewer and are those of the level surfaces; (u, v) move as the footprint
 * says when the ray moves. */
static void surfaces_are_described(void **state) {
    (void)state;
    int num_met = 0;
    for (uint64_t k = 0; k < 2000; ++k) {
        psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, k, 0);
        psfm_solid solid = random_solid(&rng, 0.3);
        psfm_ray ray = {.origin = {0, 0, -6}, .dir = {0, 0, 1}};
        for (int c = 0; c < 3; ++c) {
            ray.dir[c] += 0.1 * psfm_rng_normal(&rng);
            ray.dir_dx[c] = 1e-5 * psfm_rng_normal(&rng);
            ray.dir_dy[c] = 1e-5 * psfm_rng_normal(&rng);
        }
        double s = psfm_solid_meet(&solid, ray.origin, ray.dir, 0.0, 100.0);
        if (s == 100.0)
            continue;
        ++num_met;
        psfm_surface here, there;
        psfm_solid_surface(&solid, &ray, s, &here);
        assert_close(psfm_norm3(here.normal), 1.0, 1e-12);
        assert_true(psfm_dot3(here.normal, ray.dir) <= 0.0);
        double step[3];
        psfm_axpy3(here.xyz, 1e-4, here.normal, step);
        assert_true(outside(&solid, step) > 0.0);
        if (fabs(psfm_dot3(here.normal, ray.dir)) < 0.2)
            continue; /* too slanted for finite differences */
        for (int side = 0; side < 2; ++side) {
            psfm_ray next = beside(&ray, side == 0, side == 1);
            double t = psfm_solid_meet(&solid, next.origin, next.dir, 0.0, 100.0);
            if (t == 100.0 || fabs(t - s) > 1e-2)
                continue;
            psfm_solid_surface(&solid, &next, t, &there);
            if (there.face != here.face)
                continue;
            /* on round solids (u, v) are not lengths everywhere: along the axis of a capsule only
             */
            if (solid.kind == PSFM_RECT || solid.kind == PSFM_BOX)
                assert_close(there.texel.u - here.texel.u, here.texel.jac[side], 2e-7);
            if (solid.kind == PSFM_RECT || solid.kind == PSFM_BOX)
                assert_close(there.texel.v - here.texel.v, here.texel.jac[2 + side], 2e-7);
            double moved[3];
            psfm_sub3(there.xyz, here.xyz, moved);
            assert_close(psfm_norm3(moved), hypot(here.texel.jac[side], here.texel.jac[2 + side]),
                         0.02 * psfm_norm3(moved) + 1e-9);
        }
    }
    assert_true(num_met > 300);
}

static void bounds_hold_the_solids(void **state) {
    (void)state;
    for (uint64_t k = 0; k < 300; ++k) {
        psfm_rng rng = psfm_rng_make(4, PSFM_RNG_TEST, k, 0);
        psfm_solid solid = random_solid(&rng, 2.0);
        double low[3], high[3];
        psfm_solid_bounds(&solid, low, high);
        int num_inside = 0;
        for (int n = 0; n < 300; ++n) {
            double origin[3], dir[3], at[3];
            psfm_rng_direction(&rng, dir);
            for (int c = 0; c < 3; ++c)
                origin[c] = psfm_rng_range(&rng, low[c], high[c]) - 20.0 * dir[c];
            double s = psfm_solid_meet(&solid, origin, dir, 0.0, 100.0);
            if (s == 100.0)
                continue;
            ++num_inside;
            psfm_axpy3(origin, s, dir, at);
            for (int c = 0; c < 3; ++c)
                assert_true(at[c] > low[c] - 1e-9 && at[c] < high[c] + 1e-9);
        }
        assert_true(num_inside > 10);
    }
}

/* The tree finds what trying all solids finds, with any guess, far from the origin too. */
static void tree_finds_the_nearest(void **state) {
    psfm_context *ctx = *state;
    const int sizes[] = {0, 1, 3, 4, 50, 3000};
    for (size_t c = 0; c < 6; ++c) {
        psfm_stage stage;
        psfm_rng rng = psfm_rng_make(5, PSFM_RNG_TEST, c, 0);
        const double base[3] = {c % 2 == 0 ? 0.0 : 123456.0, -20.0, 5.0};
        psfm_stage_init(ctx, base, &stage);
        for (int k = 0; k < sizes[c]; ++k) {
            psfm_solid solid = random_solid(&rng, 8.0);
            if (k % 1000 == 7)
                solid.size[0] *= 60.0; /* goes into the list of large ones */
            if (k % 2 == 0)
                psfm_scale3(0.2, solid.size, solid.size);
            if (k % 3 == 0) /* as flat as its box */
                psfm_mat3_identity(solid.axes);
            psfm_axpy3(solid.origin, 1.0, base, solid.origin);
            psfm_stage_add(&stage, &solid);
        }
        assert_ok(ctx, psfm_stage_finish(&stage));
        assert_int_equal(stage.num_solids, sizes[c]);
        for (int n = 0; n < 1500; ++n) {
            double origin[3], dir[3], nearest = HUGE_VAL, distance;
            psfm_rng_direction(&rng, dir);
            if (n % 10 == 0)
                dir[n / 10 % 3] = 0.0;
            for (int k = 0; k < 3; ++k)
                origin[k] = base[k] + 6.0 * psfm_rng_normal(&rng);
            const psfm_solid *expected = NULL, *guess = NULL;
            for (size_t k = 0; k < stage.num_solids; ++k) {
                double s = psfm_solid_meet(&stage.solids[k], origin, dir, 1e-4, HUGE_VAL);
                if (s < nearest) { /* the guess is a good one, but not the best */
                    guess = n % 2 == 0 ? expected : NULL;
                    expected = &stage.solids[k];
                    nearest = s;
                }
            }
            assert_ptr_equal(psfm_stage_nearest(&stage, origin, dir, 1e-4, guess, &distance),
                             expected);
            assert_true(distance == nearest);
            assert_int_equal(psfm_stage_is_blocked(&stage, origin, dir, 1e-4), expected != NULL);
        }
        psfm_stage_free(&stage);
    }
}

static void equal_solids_are_no_trouble(void **state) {
    psfm_context *ctx = *state;
    psfm_stage stage;
    const double base[3] = {0, 0, 0}, center[3] = {0, 0, 5}, radii[3] = {1, 1, 1},
                 up[3] = {0, 0, 1};
    double distance;
    psfm_stage_init(ctx, base, &stage);
    for (int k = 0; k < 5000; ++k)
        psfm_stage_ellipsoid(&stage, center, radii, &bare);
    assert_ok(ctx, psfm_stage_finish(&stage));
    assert_non_null(psfm_stage_nearest(&stage, base, up, 0.0, NULL, &distance));
    assert_close(distance, 4.0, 1e-12);
    psfm_stage_free(&stage);
}

static void shapes_stand_where_they_are_put(void **state) {
    psfm_context *ctx = *state;
    psfm_stage stage;
    double low[3], high[3];
    const double base[3] = {0, 0, 0}, foot[3] = {1, 2, 3}, size[3] = {2, 4, 6};
    const double corner[3] = {1, 1, 1}, right[3] = {0, 2, 0}, up[3] = {0, 0, 3}, to[3] = {1, 2, 9};
    psfm_stage_init(ctx, base, &stage);
    psfm_stage_box(&stage, foot, size, 0.0, &bare);
    psfm_stage_box(&stage, foot, size, M_PI_2, &bare);
    psfm_stage_rect(&stage, corner, right, up, &bare);
    psfm_stage_capsule(&stage, foot, to, 0.5, &bare);
    psfm_stage_capsule(&stage, foot, foot, 0.5, &bare);
    const double expected[5][6] = {{0, 0, 3, 2, 4, 9},
                                   {-1, 1, 3, 3, 3, 9},
                                   {1, 1, 1, 1, 3, 4},
                                   {0.5, 1.5, 2.5, 1.5, 2.5, 9.5},
                                   {0.5, 1.5, 2.5, 1.5, 2.5, 3.5}};
    assert_int_equal(stage.num_solids, 5);
    for (int k = 0; k < 5; ++k) {
        psfm_solid_bounds(&stage.solids[k], low, high);
        for (int c = 0; c < 3; ++c) {
            assert_close(low[c], expected[k][c], 1e-12);
            assert_close(high[c], expected[k][3 + c], 1e-12);
        }
    }
    /* the front of the rectangle, from where `right` is to the right, is towards +x */
    assert_close(stage.solids[2].axes[6], 1.0, 1e-12);
    psfm_stage_free(&stage);
}

static void turned_stages_are_symmetric(void **state) {
    psfm_context *ctx = *state;
    psfm_stage stage;
    const double base[3] = {0, 0, 0};
    psfm_stage_init(ctx, base, &stage);
    assert_true(psfm_stage_keeps(&stage, -1.0, -1.0));
    stage.is_turned = true;
    psfm_rng rng = psfm_rng_make(6, PSFM_RNG_TEST, 0, 0);
    for (int k = 0; k < 30; ++k) {
        psfm_solid solid = random_solid(&rng, 4.0);
        psfm_stage_add(&stage, &solid);
        double x = psfm_rng_normal(&rng), y = k % 3 == 0 ? 0.0 : psfm_rng_normal(&rng);
        assert_true(psfm_stage_keeps(&stage, x, y) != psfm_stage_keeps(&stage, -x, -y));
    }
    psfm_stage_shadow(&stage, &(psfm_foot_shadow){{3.0, 1.0}, {0.2, 0.1}, 0.5, 0.6});
    assert_ok(ctx, psfm_stage_finish(&stage));
    for (int n = 0; n < 300; ++n) {
        double origin[3], dir[3], one, other;
        psfm_rng_direction(&rng, dir);
        for (int k = 0; k < 3; ++k)
            origin[k] = 3.0 * psfm_rng_normal(&rng);
        psfm_stage_nearest(&stage, origin, dir, 0.0, NULL, &one);
        for (int k = 0; k < 2; ++k) {
            origin[k] = -origin[k];
            dir[k] = -dir[k];
        }
        psfm_stage_nearest(&stage, origin, dir, 0.0, NULL, &other);
        assert_true(one == other || fabs(one - other) < 1e-9);
    }
    assert_close(psfm_stage_foot_light(&stage, 3.0, 1.0), 0.4, 1e-12);
    assert_close(psfm_stage_foot_light(&stage, -3.0, -1.0), 0.4, 1e-12);
    assert_close(psfm_stage_foot_light(&stage, 3.0, 1.61), 1.0, 1e-12);
    psfm_stage_free(&stage);
}

static void lack_of_memory_is_reported(void **state) {
    psfm_context *ctx = *state;
    const double base[3] = {0, 0, 0}, center[3] = {0, 0, 5}, radii[3] = {1, 1, 1};
    size_t failures = 0;
    for (size_t n = 1;; ++n) {
        psfm_stage stage;
        psfm_alloc_fail_after(n);
        psfm_stage_init(ctx, base, &stage);
        for (int k = 0; k < 20; ++k) {
            psfm_stage_ellipsoid(&stage, center, radii, &bare);
            psfm_stage_shadow(&stage, &(psfm_foot_shadow){{0, 0}, {1, 1}, 1, 1});
        }
        psfm_status status = psfm_stage_finish(&stage);
        psfm_alloc_fail_after(0);
        psfm_stage_free(&stage);
        if (status == PSFM_OK)
            break;
        assert_int_equal(status, PSFM_ERR_MEMORY);
        ++failures;
    }
    assert_true(failures >= 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rays_meet_surfaces),
        cmocka_unit_test(surfaces_are_described),
        cmocka_unit_test(bounds_hold_the_solids),
        cmocka_unit_test(tree_finds_the_nearest),
        cmocka_unit_test(equal_solids_are_no_trouble),
        cmocka_unit_test(shapes_stand_where_they_are_put),
        cmocka_unit_test(turned_stages_are_symmetric),
        cmocka_unit_test(lack_of_memory_is_reported),
    };
    return cmocka_run_group_tests_name("synth/render_stage", tests, open_context, close_context);
}
