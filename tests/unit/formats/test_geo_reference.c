#include <unistd.h>

#include "core/base/path.h"
#include "formats/geo_reference.h"
#include "test_util.h"

static psfm_context *ctx;

static psfm_status parse(const char *text, psfm_geo_reference *geo) {
    return psfm_geo_reference_parse(ctx, text, strlen(text), "g.json", geo);
}

static void test_bad_text(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        "[]",
        "{",
        "{\"latitude_deg\": 1, \"longitude_deg\": 2}",
        "{\"latitude_deg\": \"1\", \"longitude_deg\": 2, \"altitude_m\": 3}",
        "{\"latitude_deg\": 1e999, \"longitude_deg\": 2, \"altitude_m\": 3}",
        "{\"latitude_deg\": 95, \"longitude_deg\": 2, \"altitude_m\": 3}",
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; ++k) {
        psfm_geo_reference geo = {{9, 9, 9}};
        assert_int_equal(parse(bad[k], &geo), PSFM_ERR_FORMAT);
        assert_non_null(strstr(psfm_context_message(ctx), "g.json"));
        assert_true(geo.origin.altitude_m == 9.0);
    }
}

static void test_files(void **state) {
    (void)state;
    char folder[] = "/tmp/psfm_geo_XXXXXX";
    bool found = true;
    psfm_geo_reference geo = {{-12.3456789012345, 178.5, -3.25}}, back = {{0, 0, 0}};
    assert_non_null(mkdtemp(folder));
    assert_ok(ctx, psfm_geo_reference_read(ctx, folder, &back, &found));
    assert_false(found);
    assert_ok(ctx, psfm_geo_reference_write(ctx, folder, &geo));
    assert_ok(ctx, psfm_geo_reference_read(ctx, folder, &back, &found));
    assert_true(found);
    assert_memory_equal(&geo, &back, sizeof geo);
    assert_ok(ctx, psfm_geo_reference_write(ctx, folder, NULL));
    assert_ok(ctx, psfm_geo_reference_read(ctx, folder, &back, &found));
    assert_false(found);
    assert_ok(ctx, psfm_remove_all(ctx, folder));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_text),
        cmocka_unit_test(test_files),
    };
    ctx = psfm_context_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    psfm_context_destroy(&ctx);
    return failed;
}
