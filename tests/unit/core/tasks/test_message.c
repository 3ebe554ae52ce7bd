#include "core/tasks/message.h"

#include <stdlib.h>
#include <string.h>

#include "test_util.h"

/* What goes through messages here. */
typedef struct {
    int number;
    char *text, *none;
    size_t num, num_empty, num_missing;
    double *numbers, *empty, *missing;
} thing;

static void move_thing(psfm_transfer *t, thing *value) {
    psfm_move(t, value, sizeof *value);
    psfm_move_text(t, &value->text);
    psfm_move_text(t, &value->none);
    psfm_move_array(t, &value->numbers, &value->num, sizeof *value->numbers);
    psfm_move_array(t, &value->empty, &value->num_empty, sizeof *value->empty);
    psfm_move_array(t, &value->missing, &value->num_missing, sizeof *value->missing);
}

static void free_thing(thing *value) {
    free(value->text);
    free(value->none);
    free(value->numbers);
    free(value->empty);
    free(value->missing);
}

static psfm_message message_of(psfm_context *ctx, thing value) {
    psfm_message message = {0};
    psfm_transfer t = {.ctx = ctx, .message = &message};
    move_thing(&t, &value);
    assert_ok(ctx, t.status);
    return message;
}

static psfm_status read_thing(psfm_context *ctx, psfm_message *message, size_t size, thing *got) {
    psfm_message cut = {message->bytes, size, size, 0};
    psfm_transfer t = {.ctx = ctx, .message = &cut, .is_reading = true};
    move_thing(&t, got);
    assert_true(t.status != PSFM_OK || cut.at == size);
    return t.status;
}

static double numbers[3] = {1.5, -2.5, 3.5}, nothing[1];
static char text[] = "one";
static const thing sample = {7, text, NULL, 3, 0, 5, numbers, nothing, NULL};

static void test_what_is_put_is_got(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_message message = message_of(ctx, sample);
    thing got;
    assert_ok(ctx, read_thing(ctx, &message, message.size, &got));
    assert_int_equal(got.number, 7);
    assert_string_equal(got.text, "one");
    assert_null(got.none);
    assert_int_equal(got.num, 3);
    assert_memory_equal(got.numbers, numbers, sizeof numbers);
    assert_true(got.num_empty == 0 && got.empty != NULL);
    assert_true(got.num_missing == 5 && got.missing == NULL);
    free_thing(&got);
    psfm_message_free(&message);
    psfm_context_destroy(&ctx);
}

/* Cut at any byte, a message is a failure and no more: what was not read is empty. */
static void test_short_messages_are_refused(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_message message = message_of(ctx, sample);
    thing got;
    for (size_t size = 0; size < message.size; ++size) {
        assert_int_equal(read_thing(ctx, &message, size, &got), PSFM_ERR_FORMAT);
        assert_true(got.missing == NULL && got.num_missing == 0);
        assert_true(got.numbers != NULL || got.num == 0);
        free_thing(&got);
    }
    psfm_message_free(&message);
    psfm_context_destroy(&ctx);
}

/* Numbers beyond the end, and a text without one. */
static void test_wrong_messages_are_refused(void **state) {
    (void)state;
    static const size_t wrong[] = {4, SIZE_MAX / 4, SIZE_MAX};
    psfm_context *ctx = psfm_context_create();
    thing got;
    for (int k = 0; k < 3; ++k) {
        psfm_message message = message_of(ctx, (thing){.num = 1, .numbers = numbers});
        const size_t at = sizeof(thing) + 2 * (sizeof(size_t) + 1); /* behind two texts */
        memcpy(message.bytes + at, &wrong[k], sizeof *wrong);
        assert_int_equal(read_thing(ctx, &message, message.size, &got), PSFM_ERR_FORMAT);
        assert_true(got.numbers == NULL && got.num == 0);
        psfm_message_free(&message);
    }
    psfm_message message = message_of(ctx, sample);
    message.bytes[sizeof(thing) + sizeof(size_t) + 1 + strlen(text)] = 'x';
    assert_int_equal(read_thing(ctx, &message, message.size, &got), PSFM_ERR_FORMAT);
    assert_null(got.text);
    psfm_message_free(&message);
    psfm_context_destroy(&ctx);
}

/* After a failure nothing is put, and the failure is kept. */
static void test_nothing_follows_a_failure(void **state) {
    (void)state;
    psfm_message message = {0};
    psfm_transfer t = {.message = &message, .status = PSFM_ERR_MEMORY};
    thing value = sample;
    move_thing(&t, &value);
    assert_true(t.status == PSFM_ERR_MEMORY && message.size == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_put_is_got),
        cmocka_unit_test(test_short_messages_are_refused),
        cmocka_unit_test(test_wrong_messages_are_refused),
        cmocka_unit_test(test_nothing_follows_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
