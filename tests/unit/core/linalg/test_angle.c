#include "test_util.h"

#include "core/linalg/angle.h"

static void known_angles(void **state) {
    (void)state;
    assert_close(psfm_radians(180.0), acos(-1.0), 1e-15);
    assert_close(psfm_degrees(acos(0.5)), 60.0, 1e-13);
    for (double angle = -400.0; angle <= 400.0; angle += 12.5)
        assert_close(psfm_degrees(psfm_radians(angle)), angle, 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_angles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
