/* The map between two photographs of a plane about a point, against the map itself. */
#include "images/photometric/plane_fit.h"

#include "unit/images/photometric/plane_photos.h"

/* The pixel of camera 2 that shows what camera 1 shows at xy1. */
static void transfer(const psfm_camera *camera1, const psfm_camera *camera2, const double H_21[9],
                     const double xy1[2], double xy2[2]) {
    double ray1[3], ray2[3];
    assert_true(psfm_camera_unproject(camera1, xy1, ray1));
    psfm_mat3_mul_vec(H_21, ray1, ray2);
    assert_true(psfm_camera_project(camera2, ray2, xy2));
}

/* Of a plane that is tilted, by lenses that bend: all but the third order is there. It grows with
 * the third power of the reach, and so does the error. */
static void the_second_order_is_there(void **state) {
    (void)state;
    const psfm_camera camera1 = distorted(300.0), camera2 = pinhole(330.0);
    double H_21[9], worst[2] = {0.0, 0.0};
    tilted(H_21);
    for (int k = 0; k < 2; ++k) {
        const double at[2] = {70.0, 190.0}, reach = k == 0 ? 4.0 : 8.0;
        psfm_plane_warp warp;
        assert_true(psfm_plane_warp_make(&camera1, at, &camera2, H_21, reach, &warp));
        for (int i = 0; i < 25; ++i) {
            double u = reach * (i % 5 - 2) / 2.0, v = reach * (i / 5 - 2) / 2.0;
            const double from[2] = {at[0] + u, at[1] + v};
            double expected[2], xy[2];
            transfer(&camera1, &camera2, H_21, from, expected);
            psfm_plane_warp_at(&warp, u, v, xy);
            double off = hypot(xy[0] - expected[0], xy[1] - expected[1]);
            worst[k] = fmax(worst[k], off);
            if (u == 0.0 && v == 0.0)
                assert_below(off, 1e-12);
        }
    }
    assert_true(worst[1] > 1e-5); /* there is a third order */
    assert_below(worst[1], 0.01);
    assert_close(worst[1] / worst[0], 8.0, 1.5);
}

/* Coefficients against differences of the map, which are those of much smaller steps. */
static void coefficients_are_derivatives(void **state) {
    (void)state;
    const psfm_camera camera1 = distorted(300.0), camera2 = distorted(330.0);
    const double at[2] = {220.0, 60.0}, step = 0.5;
    psfm_plane_warp warp;
    double H_21[9], f[3][3][2];
    tilted(H_21);
    assert_true(psfm_plane_warp_make(&camera1, at, &camera2, H_21, 0.7, &warp));
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) {
            const double from[2] = {at[0] + step * (c - 1), at[1] + step * (r - 1)};
            transfer(&camera1, &camera2, H_21, from, f[r][c]);
        }
    for (int k = 0; k < 2; ++k) {
        const double *w = k == 0 ? warp.x : warp.y;
        assert_close(w[0], f[1][1][k], 1e-12);
        assert_close(w[1], (f[1][2][k] - f[1][0][k]) / (2.0 * step), 1e-5);
        assert_close(w[2], (f[2][1][k] - f[0][1][k]) / (2.0 * step), 1e-5);
        double uu = (f[1][2][k] + f[1][0][k] - 2.0 * f[1][1][k]) / (step * step);
        double vv = (f[2][1][k] + f[0][1][k] - 2.0 * f[1][1][k]) / (step * step);
        double uv = (f[2][2][k] - f[2][0][k] - f[0][2][k] + f[0][0][k]) / (4.0 * step * step);
        assert_true(fabs(uu) > 1e-5 && fabs(vv) > 1e-5 && fabs(uv) > 1e-5);
        assert_close(w[3], 0.5 * uu, 1e-6);
        assert_close(w[4], uv, 1e-6);
        assert_close(w[5], 0.5 * vv, 1e-6);
    }
}

static const psfm_plane_warp bent = {{10.0, 1.2, -0.3, 0.02, 0.05, -0.01},
                                     {-4.0, 0.4, 0.9, -0.03, 0.01, 0.04}};

/* The same polynomial about another point, and back. */
static void a_moved_map_is_the_same_map(void **state) {
    (void)state;
    psfm_plane_warp moved, back;
    psfm_plane_warp_move(&bent, 1.5, -2.5, &moved);
    for (int i = 0; i < 9; ++i) {
        double u = i % 3 - 1.0, v = i / 3 - 1.0, a[2], b[2];
        psfm_plane_warp_at(&bent, 1.5 + u, -2.5 + v, a);
        psfm_plane_warp_at(&moved, u, v, b);
        assert_close(a[0], b[0], 1e-12);
        assert_close(a[1], b[1], 1e-12);
    }
    psfm_plane_warp_move(&moved, -1.5, 2.5, &back);
    for (int k = 0; k < 6; ++k) {
        assert_close(back.x[k], bent.x[k], 1e-12);
        assert_close(back.y[k], bent.y[k], 1e-12);
    }
}

/* A turn, a stretch by 3 and 0.5, and another turn. */
static void zoom_and_anisotropy_are_those_of_the_stretch(void **state) {
    (void)state;
    double anisotropy = 0.0;
    for (int k = 0; k < 5; ++k) {
        const double a = 0.7 * k, b = -0.4 * k, s1 = 3.0, s2 = k == 4 ? -0.5 : 0.5;
        psfm_plane_warp w = bent;
        w.x[1] = cos(a) * s1 * cos(b) - sin(a) * s2 * sin(b);
        w.x[2] = -cos(a) * s1 * sin(b) - sin(a) * s2 * cos(b);
        w.y[1] = sin(a) * s1 * cos(b) + cos(a) * s2 * sin(b);
        w.y[2] = -sin(a) * s1 * sin(b) + cos(a) * s2 * cos(b);
        double zoom = psfm_plane_warp_zoom(&w, &anisotropy);
        if (k == 4) {
            assert_close(zoom, 0.0, 0.0); /* turned over */
            continue;
        }
        assert_close(zoom, sqrt(1.5), 1e-12);
        assert_close(anisotropy, 6.0, 1e-12);
    }
    psfm_plane_warp w = bent;
    w.y[1] = 2.0 * w.x[1], w.y[2] = 2.0 * w.x[2]; /* a line */
    assert_close(psfm_plane_warp_zoom(&w, &anisotropy), 0.0, 1e-7);
    w.x[1] = NAN;
    assert_close(psfm_plane_warp_zoom(&w, &anisotropy), 0.0, 0.0);
    w = bent;
    w.x[1] = INFINITY;
    assert_close(psfm_plane_warp_zoom(&w, &anisotropy), 0.0, 0.0);
}

/* Behind the second camera, and where the first one has no ray. */
static void points_without_an_image_have_no_map(void **state) {
    (void)state;
    const psfm_camera camera = pinhole(300.0);
    const double behind[9] = {1, 0, 0, 0, 1, 0, 0, 0, -1}, middle[2] = {160.0, 120.0};
    const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, nowhere[2] = {NAN, 120.0};
    /* the horizon passes 5 pixels to the right of the middle */
    const double edge[9] = {1, 0, 0, 0, 1, 0, -60.0, 0, 1};
    psfm_plane_warp warp;
    assert_true(psfm_plane_warp_make(&camera, middle, &camera, identity, 8.0, &warp));
    assert_false(psfm_plane_warp_make(&camera, middle, &camera, behind, 8.0, &warp));
    assert_false(psfm_plane_warp_make(&camera, nowhere, &camera, identity, 8.0, &warp));
    assert_true(psfm_plane_warp_make(&camera, middle, &camera, edge, 4.0, &warp));
    assert_false(psfm_plane_warp_make(&camera, middle, &camera, edge, 6.0, &warp));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_second_order_is_there),
        cmocka_unit_test(coefficients_are_derivatives),
        cmocka_unit_test(a_moved_map_is_the_same_map),
        cmocka_unit_test(zoom_and_anisotropy_are_those_of_the_stretch),
        cmocka_unit_test(points_without_an_image_have_no_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
