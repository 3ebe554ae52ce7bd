/* TIFF directories, byte by byte: nothing that an offset or a count claims is believed. */
#include "camera/tiff_directory.h"

#include <string.h>

enum { ENTRY = 12, COUNT = 2, MAGIC = 42, BYTE = 1, SHORT = 3, LONG = 4, NUM_TYPES = 13 };

static const uint8_t type_sizes[NUM_TYPES] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8};

uint32_t psfm_tiff_integer(const psfm_tiff *tiff, const uint8_t *at, int size) {
    uint32_t value = 0;
    for (int k = 0; k < size; ++k)
        value = value << 8 | at[tiff->is_big_endian ? k : size - 1 - k];
    return value;
}

/* `size` bytes at an offset of the file; NULL if they are not within the part. */
static const uint8_t *find(const psfm_tiff *tiff, size_t offset, size_t size) {
    if (offset < tiff->origin || offset - tiff->origin > tiff->size ||
        size > tiff->size - (offset - tiff->origin))
        return NULL;
    return tiff->bytes + (offset - tiff->origin);
}

bool psfm_tiff_open(const uint8_t *bytes, size_t size, psfm_tiff *tiff, uint32_t *first) {
    if (size < PSFM_TIFF_HEADER || (memcmp(bytes, "II", 2) != 0 && memcmp(bytes, "MM", 2) != 0))
        return false;
    *tiff = (psfm_tiff){.bytes = bytes, .size = size, .is_big_endian = bytes[0] == 'M'};
    *first = psfm_tiff_integer(tiff, bytes + 4, 4);
    return psfm_tiff_integer(tiff, bytes + 2, 2) == MAGIC && *first >= PSFM_TIFF_HEADER;
}

size_t psfm_tiff_num_entries(const psfm_tiff *tiff, uint32_t directory) {
    const uint8_t *at = find(tiff, directory, COUNT);
    if (at == NULL)
        return 0;
    size_t num = psfm_tiff_integer(tiff, at, COUNT);
    size_t room = (tiff->size - (directory - tiff->origin) - COUNT) / ENTRY;
    return num < room ? num : room;
}

psfm_tiff_entry psfm_tiff_get(const psfm_tiff *tiff, uint32_t directory, size_t k) {
    const uint8_t *head = find(tiff, directory + COUNT + k * ENTRY, ENTRY);
    psfm_tiff_entry entry = {.tag = (uint16_t)psfm_tiff_integer(tiff, head, 2),
                             .type = (uint16_t)psfm_tiff_integer(tiff, head + 2, 2),
                             .count = psfm_tiff_integer(tiff, head + 4, 4),
                             .head = head};
    entry.size = entry.type < NUM_TYPES ? (size_t)entry.count * type_sizes[entry.type] : 0;
    if (entry.size > 0 && entry.size <= 4)
        entry.value = head + 8;
    else if (entry.size > 0)
        entry.value = find(tiff, psfm_tiff_integer(tiff, head + 8, 4), entry.size);
    return entry;
}

uint32_t psfm_tiff_next(const psfm_tiff *tiff, uint32_t directory) {
    size_t num = psfm_tiff_num_entries(tiff, directory);
    const uint8_t *at = find(tiff, directory + COUNT + num * ENTRY, 4);
    return at == NULL ? 0 : psfm_tiff_integer(tiff, at, 4);
}

bool psfm_tiff_number(const psfm_tiff *tiff, uint32_t directory, uint16_t tag, uint32_t *number) {
    size_t num = psfm_tiff_num_entries(tiff, directory);
    for (size_t k = 0; k < num; ++k) {
        psfm_tiff_entry entry = psfm_tiff_get(tiff, directory, k);
        bool fits = entry.type == BYTE || entry.type == SHORT || entry.type == LONG;
        if (entry.tag != tag || !fits || entry.value == NULL)
            continue;
        *number = psfm_tiff_integer(tiff, entry.value, type_sizes[entry.type]);
        return true;
    }
    return false;
}
