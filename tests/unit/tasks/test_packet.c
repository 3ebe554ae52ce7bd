#include "tasks/packet.h"

#include <stdlib.h>
#include <string.h>

#include "test_util.h"

static void test_what_is_put_is_got(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_packet packet = {0};
    const double numbers[3] = {1.5, -2.5, 3.5};
    int number = 7;
    assert_ok(ctx, psfm_packet_put_text(ctx, &packet, "one"));
    assert_ok(ctx, psfm_packet_put(ctx, &packet, &number, sizeof number));
    assert_ok(ctx, psfm_packet_put_text(ctx, &packet, NULL));
    assert_ok(ctx, psfm_packet_put_array(ctx, &packet, numbers, 3, sizeof *numbers));
    assert_ok(ctx, psfm_packet_put_array(ctx, &packet, NULL, 0, sizeof *numbers));
    psfm_packet_reader reader = psfm_packet_read(&packet);
    char *text = NULL, *none = NULL;
    double *got = NULL, *empty = NULL;
    size_t num;
    number = 0;
    assert_ok(ctx, psfm_packet_get_text(ctx, &reader, &text));
    assert_ok(ctx, psfm_packet_get(ctx, &reader, &number, sizeof number));
    assert_ok(ctx, psfm_packet_get_text(ctx, &reader, &none));
    assert_ok(ctx, psfm_packet_get_array(ctx, &reader, sizeof *got, &got, &num));
    assert_string_equal(text, "one");
    assert_int_equal(number, 7);
    assert_null(none);
    assert_int_equal(num, 3);
    assert_memory_equal(got, numbers, sizeof numbers);
    assert_ok(ctx, psfm_packet_get_array(ctx, &reader, sizeof *empty, &empty, &num));
    assert_int_equal(num, 0);
    assert_int_equal(reader.at, reader.size);
    free(text);
    free(got);
    free(empty);
    psfm_packet_free(&packet);
    psfm_context_destroy(&ctx);
}

/* Cut at any byte, a packet is a failure and no more. */
static void test_short_packets_are_refused(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_packet packet = {0};
    const double numbers[2] = {1, 2};
    assert_ok(ctx, psfm_packet_put_array(ctx, &packet, numbers, 2, sizeof *numbers));
    for (size_t size = 0; size < packet.size; ++size) {
        psfm_packet_reader reader = {packet.bytes, size, 0};
        double *got = NULL;
        size_t num;
        assert_int_equal(psfm_packet_get_array(ctx, &reader, sizeof *got, &got, &num),
                         PSFM_ERR_FORMAT);
        assert_null(got);
    }
    size_t wrong = SIZE_MAX / 4;
    memcpy(packet.bytes, &wrong, sizeof wrong);
    psfm_packet_reader reader = psfm_packet_read(&packet);
    char *text = NULL;
    assert_int_equal(psfm_packet_get_text(ctx, &reader, &text), PSFM_ERR_FORMAT);
    assert_null(text);
    psfm_packet_free(&packet);
    psfm_context_destroy(&ctx);
}

/* After the first failure nothing is put or got, and the failure is kept. */
static void test_many_things_fail_once(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_packet packet = {0};
    const double numbers[3] = {1, 2, 3};
    double *got = NULL, *wrong = NULL;
    char *text = NULL;
    int number = 5, after = 7;
    psfm_packing p = {.ctx = ctx, .packet = &packet};
    psfm_pack(&p, &number, sizeof number);
    psfm_pack_array(&p, numbers, 3, sizeof *numbers);
    psfm_pack_array(&p, numbers, 3, sizeof *numbers);
    psfm_pack_text(&p, "end");
    assert_ok(ctx, p.status);
    psfm_packet_reader reader = psfm_packet_read(&packet);
    psfm_unpacking u = {.ctx = ctx, .reader = &reader};
    number = 0;
    psfm_unpack(&u, &number, sizeof number);
    psfm_unpack_known(&u, sizeof *got, 3, &got);
    assert_ok(ctx, u.status);
    assert_int_equal(number, 5);
    assert_memory_equal(got, numbers, sizeof numbers);
    psfm_unpack_known(&u, sizeof *wrong, 2, &wrong);
    assert_int_equal(u.status, PSFM_ERR_FORMAT);
    psfm_unpack_text(&u, &text);
    psfm_unpack(&u, &after, sizeof after);
    assert_int_equal(u.status, PSFM_ERR_FORMAT);
    assert_true(wrong == NULL && text == NULL && after == 7);
    p.status = PSFM_ERR_MEMORY;
    size_t size = packet.size;
    psfm_pack(&p, &number, sizeof number);
    psfm_pack_text(&p, "more");
    assert_true(p.status == PSFM_ERR_MEMORY && packet.size == size);
    free(got);
    psfm_packet_free(&packet);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_put_is_got),
        cmocka_unit_test(test_short_packets_are_refused),
        cmocka_unit_test(test_many_things_fail_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
