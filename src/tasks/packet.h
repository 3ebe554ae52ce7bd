/* Bytes that go from one process to another of the same program on the same kind of machine: values
 * stand in them as in memory, without padding between them. */
#ifndef PSFM_TASKS_PACKET_H
#define PSFM_TASKS_PACKET_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

/* Grows as it is written. Owns its bytes; all zeros are an empty one. */
typedef struct {
    uint8_t *bytes;
    size_t size, capacity;
} psfm_packet;

void psfm_packet_free(psfm_packet *packet);

/* Appends `size` bytes. */
psfm_status psfm_packet_put(psfm_context *ctx, psfm_packet *packet, const void *bytes, size_t size);
/* Appends `num` elements of `size` bytes behind their number. */
psfm_status psfm_packet_put_array(psfm_context *ctx, psfm_packet *packet, const void *elements,
                                  size_t num, size_t size);
/* Appends a text, which may be NULL. */
psfm_status psfm_packet_put_text(psfm_context *ctx, psfm_packet *packet, const char *text);

/* Reads a packet from its start; does not own it. */
typedef struct {
    const uint8_t *bytes;
    size_t size, at;
} psfm_packet_reader;

psfm_packet_reader psfm_packet_read(const psfm_packet *packet);

/* The next `size` bytes. All of these are PSFM_ERR_FORMAT if the packet ends before. */
psfm_status psfm_packet_get(psfm_context *ctx, psfm_packet_reader *reader, void *out, size_t size);
/* The next array: *out, the address of a pointer, is allocated and freed by the caller. */
psfm_status psfm_packet_get_array(psfm_context *ctx, psfm_packet_reader *reader, size_t size,
                                  void *out, size_t *num);
/* The next text, NULL if that was put. The caller frees it. */
psfm_status psfm_packet_get_text(psfm_context *ctx, psfm_packet_reader *reader, char **out);

/* Many things one after the other. `status` is the first failure; after it nothing is put or got,
 * and what was asked for stays as it is. */
typedef struct {
    psfm_context *ctx;
    psfm_packet *packet;
    psfm_status status;
} psfm_packing;

void psfm_pack(psfm_packing *p, const void *bytes, size_t size);
void psfm_pack_array(psfm_packing *p, const void *elements, size_t num, size_t size);
void psfm_pack_text(psfm_packing *p, const char *text);

typedef struct {
    psfm_context *ctx;
    psfm_packet_reader *reader;
    psfm_status status;
} psfm_unpacking;

void psfm_unpack(psfm_unpacking *u, void *out, size_t size);
void psfm_unpack_array(psfm_unpacking *u, size_t size, void *out, size_t *num);
/* An array that must have `num` elements; another one is PSFM_ERR_FORMAT. */
void psfm_unpack_known(psfm_unpacking *u, size_t size, size_t num, void *out);
void psfm_unpack_text(psfm_unpacking *u, char **out);

#endif
