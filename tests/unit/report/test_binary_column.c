#include "report/binary_column.h"
#include "test_util.h"

static char *base64(const char *bytes, size_t size) {
    char *out = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&out, &length);
    psfm_base64_print((const uint8_t *)bytes, size, file);
    assert_int_equal(fclose(file), 0);
    return out;
}

/* The test vectors of RFC 4648. */
static void base64_is_that_of_the_rfc(void **state) {
    (void)state;
    static const char *const expected[] = {"",         "Zg==",     "Zm8=",    "Zm9v",
                                           "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
    for (size_t size = 0; size <= 6; ++size) {
        char *out = base64("foobar", size);
        assert_string_equal(out, expected[size]);
        free(out);
    }
    char *out = base64("\xfb\xff\xbf", 3);
    assert_string_equal(out, "+/+/");
    free(out);
}

static void numbers_are_little_endian(void **state) {
    (void)state;
    psfm_column c = {0};
    psfm_column_u8(&c, 0xab);
    psfm_column_u32(&c, 0x01020304);
    psfm_column_u16(&c, 258.4);
    psfm_column_i16(&c, -2.0);
    psfm_column_f32(&c, 1.0);
    static const uint8_t expected[] = {0xab, 4, 3, 2, 1, 2, 1, 0xfe, 0xff, 0, 0, 0x80, 0x3f};
    assert_int_equal(c.size, sizeof expected);
    assert_memory_equal(c.bytes, expected, sizeof expected);
    psfm_column_free(&c);
}

static void out_of_range_is_cut(void **state) {
    (void)state;
    psfm_column c = {0};
    psfm_column_u16(&c, 1e9);
    psfm_column_u16(&c, -5.0);
    psfm_column_u16(&c, (double)NAN);
    psfm_column_i16(&c, -1e9);
    static const uint8_t expected[] = {0xff, 0xff, 0, 0, 0, 0, 0x00, 0x80};
    assert_int_equal(c.size, sizeof expected);
    assert_memory_equal(c.bytes, expected, sizeof expected);
    psfm_column_free(&c);
}

static void a_column_grows_and_is_used_again(void **state) {
    (void)state;
    psfm_column c = {0};
    for (uint32_t k = 0; k < 100000; ++k)
        psfm_column_u32(&c, k);
    assert_int_equal(c.size, 400000);
    assert_int_equal(c.bytes[4 * 70000] | c.bytes[4 * 70000 + 1] << 8, 70000 % 65536);
    char *out = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&out, &length);
    psfm_column_print(&c, "x", file);
    psfm_column_u8(&c, 'f');
    psfm_column_print(&c, "y", file);
    assert_int_equal(fclose(file), 0);
    assert_string_equal(out + length - 11, ",\"y\":\"Zg==\"");
    free(out);
    psfm_column_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base64_is_that_of_the_rfc),
        cmocka_unit_test(numbers_are_little_endian),
        cmocka_unit_test(out_of_range_is_cut),
        cmocka_unit_test(a_column_grows_and_is_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
