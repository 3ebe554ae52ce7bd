#include "nn_util.h"

#include "core/base/alloc.h"
#include "images/nn/safetensors.h"

/* A file in memory: length, header, numbers. */
static size_t make_bytes(const char *header, const void *numbers, size_t size, uint8_t *out) {
    uint64_t length = strlen(header);
    memcpy(out, &length, 8);
    memcpy(out + 8, header, length);
    if (size > 0)
        memcpy(out + 8 + length, numbers, size);
    return 8 + length + size;
}

static void reads_singles_and_halves(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_safetensors *file;
    uint8_t bytes[512], numbers[32];
    const float singles[3] = {1.5f, -2.25f, 3e-40f};
    const uint16_t halves[6] = {0x3c00, 0xc000, 0x0001, 0x8001, 0x7bff, 0xfc00};
    memcpy(numbers, singles, 12);
    memcpy(numbers + 12, halves, 12);
    memset(numbers + 24, 0, 8);
    /* The header has an odd length, so that the numbers are not aligned. */
    size_t size = make_bytes("{\"__metadata__\":{\"format\":\"pt\"},"
                             "\"b\":{\"dtype\":\"F32\",\"shape\":[3,1],\"data_offsets\":[0,12]},"
                             "\"a.h\":{\"dtype\":\"F16\",\"shape\":[2,3],\"data_offsets\":[12,24]},"
                             "\"n\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[24,32]}} ",
                             numbers, 32, bytes);
    assert_ok(ctx, psfm_safetensors_parse(ctx, bytes, size, "test", &file));
    size_t num;
    const psfm_tensor_info *list = psfm_safetensors_list(file, &num);
    assert_int_equal(num, 3);
    assert_string_equal(list[0].name, "a.h");
    assert_string_equal(list[2].name, "n");
    assert_int_equal(list[1].num_dims, 2);
    assert_int_equal(list[1].dims[0], 3);
    assert_int_equal(list[2].num_values, 1);
    float values[6];
    assert_ok(ctx, psfm_safetensors_read(ctx, file, "b", 3, values));
    assert_memory_equal(values, singles, 12);
    assert_ok(ctx, psfm_safetensors_read(ctx, file, "a.h", 6, values));
    const double expected[6] = {1, -2, 0x1p-24, -0x1p-24, 65504, -INFINITY};
    for (int k = 0; k < 6; ++k)
        assert_true((double)values[k] == expected[k]);
    assert_null(psfm_safetensors_find(file, "missing"));
    assert_int_equal(psfm_safetensors_read(ctx, file, "n", 1, values), PSFM_ERR_FORMAT);
    assert_non_null(strstr(psfm_context_message(ctx), "neither F32 nor F16"));
    assert_int_equal(psfm_safetensors_read(ctx, file, "b", 4, values), PSFM_ERR_FORMAT);
    assert_int_equal(psfm_safetensors_read(ctx, file, "x", 3, values), PSFM_ERR_FORMAT);
    assert_non_null(strstr(psfm_context_message(ctx), "tensor x is missing"));
    psfm_safetensors_close(&file);
    assert_null(file);
    psfm_context_destroy(&ctx);
}

static void refuses_bad_headers(void **state) {
    (void)state;
    static const struct {
        const char *header, *message;
    } cases[] = {
        {"[1,2]", "not a JSON object"},
        {"{\"a\":", "not a JSON object"},
        {"{}", "no tensors"},
        {"{\"__metadata__\":{}}", "no tensors"},
        {"{\"a\":3}", "no known dtype"},
        {"{\"a\":{\"dtype\":\"F31\",\"shape\":[1],\"data_offsets\":[0,4]}}", "no known dtype"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", "no valid shape"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1.5],\"data_offsets\":[0,4]}}", "no valid shape"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296,4],\"data_offsets\":[0,4]}}",
         "no valid shape"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,4]}}",
         "no valid shape"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", "data_offsets"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", "data_offsets"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,1e300]}}", "data_offsets"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", "need 8"},
        {"{\"a\":{\"dtype\":\"F16\",\"shape\":[10],\"data_offsets\":[0,20]}}", "ends at byte 20"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
         "\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]}}",
         "tensors a and b overlap"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
         "\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}",
         "listed twice"},
    };
    psfm_context *ctx = psfm_context_create();
    uint8_t bytes[512];
    const uint8_t numbers[16] = {0};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        psfm_safetensors *file;
        size_t size = make_bytes(cases[k].header, numbers, sizeof numbers, bytes);
        assert_int_equal(psfm_safetensors_parse(ctx, bytes, size, "test", &file), PSFM_ERR_FORMAT);
        assert_null(file);
        if (strstr(psfm_context_message(ctx), cases[k].message) == NULL)
            fail_msg("%s gave: %s", cases[k].header, psfm_context_message(ctx));
    }
    psfm_context_destroy(&ctx);
}

static void refuses_bad_lengths(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_safetensors *file;
    uint8_t bytes[64];
    size_t size = make_bytes("{\"a\":{}}", NULL, 0, bytes);
    for (size_t cut = 0; cut < size; ++cut)
        assert_int_equal(psfm_safetensors_parse(ctx, bytes, cut, "t", &file), PSFM_ERR_FORMAT);
    memset(bytes, 0xff, 8);
    assert_int_equal(psfm_safetensors_parse(ctx, bytes, size, "t", &file), PSFM_ERR_FORMAT);
    psfm_context_destroy(&ctx);
}

static void says_what_is_missing(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_safetensors *file;
    assert_int_equal(
        psfm_safetensors_open(ctx, "/nonexistent/w.safetensors", "the Such weights", &file),
        PSFM_ERR_IO);
    assert_null(file);
    assert_non_null(strstr(psfm_context_message(ctx), "/nonexistent/w.safetensors"));
    assert_non_null(strstr(psfm_context_message(ctx), "the Such weights"));
    assert_int_equal(psfm_safetensors_open(ctx, "/tmp", "the Such weights", &file),
                     PSFM_ERR_FORMAT);
    psfm_context_destroy(&ctx);
}

static void survives_lack_of_memory(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    nn_file *weights = nn_file_make(1);
    nn_add_layer(weights, "one", 3, 4, 0);
    nn_add_layer(weights, "two", 5, 2, 3);
    nn_write(weights);
    psfm_safetensors *file;
    psfm_status status = PSFM_ERR_MEMORY;
    size_t n = 1;
    for (; n < 100 && status != PSFM_OK; ++n) {
        psfm_alloc_fail_after(n);
        status = psfm_safetensors_open(ctx, weights->path, "weights", &file);
        psfm_alloc_fail_after(0);
        assert_true(status == PSFM_OK || (status == PSFM_ERR_MEMORY && file == NULL));
    }
    assert_in_range(n, 4, 99);
    float values[90];
    assert_ok(ctx, psfm_safetensors_read(ctx, file, "two.weight", 90, values));
    assert_memory_equal(values, nn_find(weights, "two.weight")->values, sizeof values);
    psfm_safetensors_close(&file);
    nn_file_drop(weights);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_singles_and_halves), cmocka_unit_test(refuses_bad_headers),
        cmocka_unit_test(refuses_bad_lengths),      cmocka_unit_test(says_what_is_missing),
        cmocka_unit_test(survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
