#include "test_util.h"

#include "core/camera/sensor_table.h"

static void families_are_found_by_their_beginning(void **state) {
    (void)state;
    assert_close(psfm_sensor_width_mm("Canon", "Canon EOS 5D Mark II"), 36.0, 0.0);
    assert_close(psfm_sensor_width_mm("Canon", "Canon EOS D60"), 22.7, 0.0);
    assert_close(psfm_sensor_width_mm("NIKON CORPORATION", "NIKON D700"), 36.0, 0.0);
    assert_close(psfm_sensor_width_mm("NIKON CORPORATION", "NIKON D7000"), 23.6, 0.0);
    assert_close(psfm_sensor_width_mm("DJI", "FC6310"), 13.2, 0.0);
    assert_close(psfm_sensor_width_mm("DJI", "unheard of"), 0.0, 0.0);
    assert_close(psfm_sensor_width_mm("", ""), 0.0, 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(families_are_found_by_their_beginning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
