/* Bytes that go from one process to another of the same program on the same kind of machine: values
 * stand in them as in memory, without padding between them. */
#ifndef PSFM_TASKS_MESSAGE_H
#define PSFM_TASKS_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/context.h"

/* Grows as it is written; `at` is where it is read. Owns its bytes; all zeros are an empty one. */
typedef struct {
    uint8_t *bytes;
    size_t size, capacity, at;
} psfm_message;

void psfm_message_free(psfm_message *message);

/* Values on their way into a message or out of it: one function tells both ways what a struct
 * consists of. `status` is the first failure, PSFM_ERR_FORMAT where a message ends too early; after
 * it everything that is read is empty, zeros or NULL. */
typedef struct {
    psfm_context *ctx;
    psfm_message *message;
    bool is_reading;
    psfm_status status;
} psfm_transfer;

/* `size` bytes. Pointers among them have to be moved behind them, by the functions below. */
void psfm_move(psfm_transfer *t, void *value, size_t size);
/* *num elements of `size` bytes. `array` is the address of a pointer, which may be NULL; the caller
 * frees what was read. */
void psfm_move_array(psfm_transfer *t, void *array, size_t *num, size_t size);
/* A text, likewise. */
void psfm_move_text(psfm_transfer *t, void *text);

#endif
