#include <unistd.h>

#include "comma_locale.h"
#include "core/base/alloc.h"
#include "core/base/path.h"
#include "formats/planes_file.h"

static psfm_context *ctx;

static void test_round_trip(void **state) {
    (void)state;
    char path[] = "/tmp/psfm_planes_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    double corners[3][3] = {{0.1, 1.0 / 3.0, 0}, {2, 0, -1e-9}, {0, 2, 1e9}};
    psfm_scene_plane plane = {.normal = {0, 0.6, 0.8},
                              .distance = -0.7,
                              .sigma = 0.01,
                              .num_points = 12,
                              .polygon = corners,
                              .num_corners = 3,
                              .area = 1.5,
                              .component = 3};
    psfm_scene_planes planes = {&plane, 1, NULL}, back;
    assert_ok(ctx, psfm_planes_write_json(ctx, &planes, path, NULL));
    assert_ok(ctx, psfm_planes_read_json(ctx, path, &back));
    assert_int_equal(back.num_planes, 1);
    assert_int_equal(back.planes[0].num_points, 12);
    assert_int_equal(back.planes[0].num_corners, 3);
    assert_int_equal(back.planes[0].component, 3);
    assert_memory_equal(back.planes[0].polygon, corners, sizeof corners);
    assert_memory_equal(back.planes[0].normal, plane.normal, sizeof plane.normal);
    assert_true(back.planes[0].distance == -0.7 && back.planes[0].sigma == 0.01);
    psfm_scene_planes_free(&back);
    unlink(path);
    assert_int_equal(psfm_planes_read_json(ctx, path, &back), PSFM_ERR_IO);
    assert_null(back.planes);
}

/* Corners of the PLY file have a decimal point, whatever the caller's locale says. */
static void test_ply_in_a_comma_locale(void **state) {
    (void)state;
    char path[] = "/tmp/psfm_planes_XXXXXX", *text = NULL;
    size_t size = 0;
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    double corners[3][3] = {{0.5, 0, 0}, {2, 0.25, 0}, {0, 2, -1.5}};
    psfm_scene_plane plane = {.polygon = corners, .num_corners = 3};
    psfm_scene_planes planes = {&plane, 1, NULL};
    set_comma_locale();
    assert_ok(ctx, psfm_planes_write_ply(ctx, &planes, path));
    leave_comma_locale();
    assert_ok(ctx, psfm_read_file(ctx, path, 1 << 16, &text, &size));
    unlink(path);
    assert_non_null(strstr(text, "end_header\n0.5 0 0 "));
    assert_non_null(strstr(text, "\n2 0.25 0 "));
    assert_non_null(strstr(text, "\n0 2 -1.5 "));
    assert_non_null(strstr(text, "\n3 0 1 2\n"));
    free(text);
}

#define PLANE(polygon)                                                                     \
    "{\"planes\": [{\"normal\": [0, 0, 1], \"distance\": 0, \"points\": 1, \"sigma\": 0, " \
    "\"area\": 0, \"polygon\": " polygon "}]}"

static void test_bad_text(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        "[]",
        "{}",
        "{\"planes\": 1}",
        "{\"planes\": [1]}",
        "{\"planes\": [{}]}",
        PLANE("1"),
        PLANE("[[0, 0]]"),
        PLANE("[[0, 0, 1e999]]"),
        PLANE("[[0, 0, 0], 7]"),
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; ++k) {
        psfm_scene_planes planes;
        assert_int_equal(psfm_planes_parse_json(ctx, bad[k], strlen(bad[k]), "p.json", &planes),
                         PSFM_ERR_FORMAT);
        assert_non_null(strstr(psfm_context_message(ctx), "p.json"));
        assert_null(planes.planes);
    }
}

static void test_no_memory(void **state) {
    (void)state;
    const char *text = PLANE("[[0, 0, 0], [1, 0, 0]]");
    for (size_t n = 1; n <= 2; ++n) {
        psfm_scene_planes planes;
        psfm_alloc_fail_after(n);
        assert_int_equal(psfm_planes_parse_json(ctx, text, strlen(text), "p.json", &planes),
                         PSFM_ERR_MEMORY);
        assert_null(planes.planes);
    }
    psfm_alloc_fail_after(0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_ply_in_a_comma_locale),
        cmocka_unit_test(test_bad_text),
        cmocka_unit_test(test_no_memory),
    };
    ctx = psfm_context_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    psfm_context_destroy(&ctx);
    return failed;
}
