/* Messages. Numbers stand in them as in memory, because all ranks run the same program on machines
 * of one kind. Reading never goes beyond the end, and never allocates more than what is left: a
 * message that was cut is a failure like any other. */
#include "core/tasks/message.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

void psfm_message_free(psfm_message *message) {
    free(message->bytes);
    *message = (psfm_message){0};
}

static psfm_status put_bytes(psfm_context *ctx, psfm_message *message, const void *bytes,
                             size_t size) {
    if (size > SIZE_MAX - message->size)
        return psfm_fail_memory(ctx);
    psfm_status status =
        PSFM_RESERVE(ctx, &message->bytes, &message->capacity, message->size + size);
    if (status == PSFM_OK && size > 0)
        memcpy(message->bytes + message->size, bytes, size);
    message->size += status == PSFM_OK ? size : 0;
    return status;
}

/* Fails if less than `size` bytes are left. */
static void check_left(psfm_transfer *t, size_t size) {
    if (t->status == PSFM_OK && size > t->message->size - t->message->at)
        t->status = psfm_fail(t->ctx, PSFM_ERR_FORMAT, "a message of %zu bytes ends too early",
                              t->message->size);
}

static void get_bytes(psfm_transfer *t, void *bytes, size_t size) {
    check_left(t, size);
    if (size == 0)
        return;
    if (t->status != PSFM_OK) {
        memset(bytes, 0, size);
        return;
    }
    memcpy(bytes, t->message->bytes + t->message->at, size);
    t->message->at += size;
}

void psfm_move(psfm_transfer *t, void *value, size_t size) {
    if (t->is_reading)
        get_bytes(t, value, size);
    else if (t->status == PSFM_OK)
        t->status = put_bytes(t->ctx, t->message, value, size);
}

void psfm_move_array(psfm_transfer *t, void *array, size_t *num, size_t size) {
    void *elements = NULL;
    if (!t->is_reading)
        memcpy(&elements, array, sizeof elements);
    uint8_t is_there = elements != NULL;
    psfm_move(t, num, sizeof *num);
    psfm_move(t, &is_there, sizeof is_there);
    if (t->is_reading && is_there) {
        check_left(t, *num > SIZE_MAX / size ? SIZE_MAX : *num * size);
        if (t->status == PSFM_OK)
            t->status = psfm_alloc(t->ctx, *num, size, &elements);
    }
    if (t->is_reading && t->status != PSFM_OK)
        *num = 0;
    if (elements != NULL)
        psfm_move(t, elements, *num * size);
    if (t->is_reading)
        memcpy(array, &elements, sizeof elements);
}

void psfm_move_text(psfm_transfer *t, void *text) {
    char *letters = NULL;
    if (!t->is_reading)
        memcpy(&letters, text, sizeof letters);
    size_t size = letters == NULL ? 0 : strlen(letters) + 1;
    psfm_move_array(t, &letters, &size, 1);
    if (t->is_reading && letters != NULL && (size == 0 || letters[size - 1] != '\0')) {
        free(letters);
        letters = NULL;
        t->status = psfm_fail(t->ctx, PSFM_ERR_FORMAT, "a text in a message has no end");
    }
    if (t->is_reading)
        memcpy(text, &letters, sizeof letters);
}
