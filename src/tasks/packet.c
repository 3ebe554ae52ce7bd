/* Packets. Numbers stand in them as in memory, because all ranks run the same program on machines
 * of one kind. A reader never goes beyond the end, and never allocates more than what is left: a
 * packet that was cut is a failure like any other. */
#include "tasks/packet.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void psfm_packet_free(psfm_packet *packet) {
    free(packet->bytes);
    *packet = (psfm_packet){0};
}

psfm_status psfm_packet_put(psfm_context *ctx, psfm_packet *packet, const void *bytes,
                            size_t size) {
    if (size > SIZE_MAX - packet->size)
        return psfm_fail(ctx, PSFM_ERR_MEMORY, "out of memory");
    psfm_status status = PSFM_RESERVE(ctx, &packet->bytes, &packet->capacity, packet->size + size);
    if (status != PSFM_OK || size == 0)
        return status;
    memcpy(packet->bytes + packet->size, bytes, size);
    packet->size += size;
    return PSFM_OK;
}

psfm_status psfm_packet_put_array(psfm_context *ctx, psfm_packet *packet, const void *elements,
                                  size_t num, size_t size) {
    psfm_status status = psfm_packet_put(ctx, packet, &num, sizeof num);
    return status == PSFM_OK ? psfm_packet_put(ctx, packet, elements, num * size) : status;
}

psfm_status psfm_packet_put_text(psfm_context *ctx, psfm_packet *packet, const char *text) {
    return psfm_packet_put_array(ctx, packet, text, text == NULL ? 0 : strlen(text) + 1, 1);
}

psfm_packet_reader psfm_packet_read(const psfm_packet *packet) {
    return (psfm_packet_reader){.bytes = packet->bytes, .size = packet->size};
}

static psfm_status check_left(psfm_context *ctx, const psfm_packet_reader *reader, size_t size) {
    if (size <= reader->size - reader->at)
        return PSFM_OK;
    return psfm_fail(ctx, PSFM_ERR_FORMAT, "a packet of %zu bytes ends too early", reader->size);
}

psfm_status psfm_packet_get(psfm_context *ctx, psfm_packet_reader *reader, void *out, size_t size) {
    psfm_status status = check_left(ctx, reader, size);
    if (status != PSFM_OK || size == 0)
        return status;
    memcpy(out, reader->bytes + reader->at, size);
    reader->at += size;
    return PSFM_OK;
}

psfm_status psfm_packet_get_array(psfm_context *ctx, psfm_packet_reader *reader, size_t size,
                                  void *out, size_t *num) {
    void *elements = NULL;
    *num = 0;
    memcpy(out, &elements, sizeof elements);
    psfm_status status = psfm_packet_get(ctx, reader, num, sizeof *num);
    if (status == PSFM_OK) /* whatever the number says, no more is allocated than there is */
        status = check_left(ctx, reader, *num > SIZE_MAX / size ? SIZE_MAX : *num * size);
    if (status == PSFM_OK)
        status = psfm_alloc(ctx, *num, size, &elements);
    if (status == PSFM_OK)
        status = psfm_packet_get(ctx, reader, elements, *num * size);
    if (status == PSFM_OK)
        memcpy(out, &elements, sizeof elements);
    else
        *num = 0;
    return status;
}

psfm_status psfm_packet_get_text(psfm_context *ctx, psfm_packet_reader *reader, char **out) {
    size_t num;
    psfm_status status = psfm_packet_get_array(ctx, reader, 1, out, &num);
    if (status == PSFM_OK && num == 0) {
        free(*out);
        *out = NULL;
    } else if (status == PSFM_OK && (*out)[num - 1] != '\0') {
        free(*out);
        *out = NULL;
        status = psfm_fail(ctx, PSFM_ERR_FORMAT, "a text in a packet has no end");
    }
    return status;
}

/* ---- many things ---- */

void psfm_pack(psfm_packing *p, const void *bytes, size_t size) {
    if (p->status == PSFM_OK)
        p->status = psfm_packet_put(p->ctx, p->packet, bytes, size);
}

void psfm_pack_array(psfm_packing *p, const void *elements, size_t num, size_t size) {
    if (p->status == PSFM_OK)
        p->status = psfm_packet_put_array(p->ctx, p->packet, elements, num, size);
}

void psfm_pack_text(psfm_packing *p, const char *text) {
    if (p->status == PSFM_OK)
        p->status = psfm_packet_put_text(p->ctx, p->packet, text);
}

void psfm_unpack(psfm_unpacking *u, void *out, size_t size) {
    if (u->status == PSFM_OK)
        u->status = psfm_packet_get(u->ctx, u->reader, out, size);
}

void psfm_unpack_array(psfm_unpacking *u, size_t size, void *out, size_t *num) {
    if (u->status == PSFM_OK)
        u->status = psfm_packet_get_array(u->ctx, u->reader, size, out, num);
}

void psfm_unpack_known(psfm_unpacking *u, size_t size, size_t num, void *out) {
    void *elements = NULL;
    size_t found = num;
    psfm_unpack_array(u, size, &elements, &found);
    if (u->status == PSFM_OK && found != num)
        u->status =
            psfm_fail(u->ctx, PSFM_ERR_FORMAT, "%zu elements in a packet, not %zu", found, num);
    if (u->status == PSFM_OK)
        memcpy(out, &elements, sizeof elements);
    else
        free(elements);
}

void psfm_unpack_text(psfm_unpacking *u, char **out) {
    if (u->status == PSFM_OK)
        u->status = psfm_packet_get_text(u->ctx, u->reader, out);
}
