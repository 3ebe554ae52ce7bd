/* EXIF data of a TIFF file. The file itself is what an EXIF block holds: the first directory, which
 * points to those of EXIF and GPS. But libexif takes blocks of 64 kB and less, so what matters is
 * copied into a file of its own. */
#include <stdlib.h>
#include <string.h>

#include "camera/exif_block.h"
#include "camera/tiff_directory.h"

enum {
    EXIF_POINTER = 0x8769,
    GPS_POINTER = 0x8825,
    LARGEST_VALUE = 256, /* bytes; longer ones are tables of strips, profiles, previews */
    MOST_ENTRIES = 128,
    BLOCK_SIZE = 3 * (MOST_ENTRIES * (12 + LARGEST_VALUE) + 6) + PSFM_TIFF_HEADER
};

bool psfm_is_tiff(const uint8_t *bytes, size_t size) {
    static const char *const heads[] = {"II*\0", "MM\0*", "II+\0", "MM\0+"};
    for (size_t k = 0; size >= PSFM_TIFF_HEADER && k < 4; ++k)
        if (memcmp(bytes, heads[k], 4) == 0)
            return true;
    return false;
}

/* The file that is made. */
typedef struct {
    const psfm_tiff *from;
    uint8_t *bytes; /* BLOCK_SIZE */
    size_t used;
    uint32_t exif, gps; /* where its directories are; 0: it has none */
} block;

static void put(const block *b, size_t at, uint32_t value, int size) {
    for (int k = 0; k < size; ++k)
        b->bytes[at + (size_t)(b->from->is_big_endian ? size - 1 - k : k)] =
            (uint8_t)(value >> (8 * k));
}

static bool is_copied(const block *b, const psfm_tiff_entry *entry) {
    if (entry->tag == EXIF_POINTER)
        return b->exif != 0;
    if (entry->tag == GPS_POINTER)
        return b->gps != 0;
    return entry->value != NULL && entry->size <= LARGEST_VALUE;
}

/* Copies an entry to the place `at`; values behind everything else. */
static void copy_entry(block *b, const psfm_tiff_entry *entry, size_t at) {
    memcpy(b->bytes + at, entry->head, 12);
    if (entry->tag == EXIF_POINTER || entry->tag == GPS_POINTER) {
        put(b, at + 8, entry->tag == EXIF_POINTER ? b->exif : b->gps, 4);
    } else if (entry->size > 4) {
        put(b, at + 8, (uint32_t)b->used, 4);
        memcpy(b->bytes + b->used, entry->value, entry->size);
        b->used += entry->size;
    }
}

/* Returns where the copy of a directory begins. */
static uint32_t copy_directory(block *b, uint32_t directory) {
    psfm_tiff_entry kept[MOST_ENTRIES];
    size_t num = psfm_tiff_num_entries(b->from, directory), num_kept = 0, begin = b->used;
    for (size_t k = 0; k < num && num_kept < MOST_ENTRIES; ++k) {
        kept[num_kept] = psfm_tiff_get(b->from, directory, k);
        num_kept += is_copied(b, &kept[num_kept]);
    }
    put(b, begin, (uint32_t)num_kept, 2);
    b->used += 2 + 12 * num_kept + 4; /* the last four: no directory follows */
    for (size_t k = 0; k < num_kept; ++k)
        copy_entry(b, &kept[k], begin + 2 + 12 * k);
    return (uint32_t)begin;
}

static uint32_t copy_pointed(block *b, uint32_t directory, uint16_t tag) {
    uint32_t to = 0;
    return psfm_tiff_number(b->from, directory, tag, &to) ? copy_directory(b, to) : 0;
}

uint8_t *psfm_exif_block_of_tiff(const uint8_t *bytes, size_t size, size_t *block_size) {
    psfm_tiff tiff;
    uint32_t first = 0;
    uint8_t *made = psfm_tiff_open(bytes, size, &tiff, &first)
                        ? calloc(1, PSFM_EXIF_HEADER_SIZE + BLOCK_SIZE)
                        : NULL;
    if (made == NULL)
        return NULL;
    block b = {.from = &tiff, .bytes = made + PSFM_EXIF_HEADER_SIZE, .used = PSFM_TIFF_HEADER};
    memcpy(made, PSFM_EXIF_HEADER, PSFM_EXIF_HEADER_SIZE);
    memcpy(b.bytes, bytes, 4);
    uint32_t exif = copy_pointed(&b, first, EXIF_POINTER);
    uint32_t gps = copy_pointed(&b, first, GPS_POINTER);
    b.exif = exif;
    b.gps = gps;
    put(&b, 4, copy_directory(&b, first), 4);
    *block_size = PSFM_EXIF_HEADER_SIZE + b.used;
    return made;
}
