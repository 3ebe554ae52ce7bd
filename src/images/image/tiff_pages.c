/* Pages of TIFF files. Directories may lie anywhere in a file, so of a file on disk only the part
 * behind each offset is read. */
#include "images/image/tiff_pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/path.h"
#include "images/image/image_codec.h"

enum {
    SUBFILE_TYPE = 254, /* bit 0: a smaller version of another page */
    WIDTH = 256,
    HEIGHT = 257,
    DNG_VERSION = 50706,
    WINDOW = 1 << 16, /* bytes read for a directory */
    MOST_PAGES = 1000
};

bool psfm_is_tiff(const uint8_t *bytes, size_t size) {
    static const char *const heads[] = {"II*\0", "MM\0*", "II+\0", "MM\0+"};
    for (size_t k = 0; size >= PSFM_TIFF_HEADER && k < 4; ++k)
        if (memcmp(bytes, heads[k], 4) == 0)
            return true;
    return false;
}

static bool get_size(const psfm_tiff *tiff, uint32_t directory, int *width, int *height) {
    uint32_t w = 0, h = 0;
    return psfm_tiff_number(tiff, directory, WIDTH, &w) &&
           psfm_tiff_number(tiff, directory, HEIGHT, &h) &&
           psfm_image_accept_size(w, h, width, height);
}

static bool is_smaller_version(const psfm_tiff *tiff, uint32_t directory) {
    uint32_t type = 0;
    return psfm_tiff_number(tiff, directory, SUBFILE_TYPE, &type) && (type & 1) != 0;
}

bool psfm_tiff_size(const uint8_t *bytes, size_t size, int *width, int *height) {
    psfm_tiff tiff;
    uint32_t first;
    return psfm_tiff_open(bytes, size, &tiff, &first) && get_size(&tiff, first, width, height);
}

bool psfm_tiff_is_raw(const uint8_t *bytes, size_t size) {
    psfm_tiff tiff;
    uint32_t first, version;
    if (!psfm_tiff_open(bytes, size, &tiff, &first))
        return false;
    bool canon = size >= 10 && memcmp(bytes + 8, "CR", 2) == 0;
    return canon || is_smaller_version(&tiff, first) ||
           psfm_tiff_number(&tiff, first, DNG_VERSION, &version);
}

/* Reads what the file has from `offset` on. */
static bool read_window(FILE *file, uint32_t offset, uint8_t *window, psfm_tiff *tiff) {
    if (fseek(file, (long)offset, SEEK_SET) != 0)
        return false;
    tiff->bytes = window;
    tiff->origin = offset;
    tiff->size = fread(window, 1, WINDOW, file);
    return tiff->size > 0;
}

/* Opens the file and reads its first directory. The caller closes and frees what is not NULL. */
static bool open_file(const char *path, FILE **file, uint8_t **window, psfm_tiff *tiff,
                      uint32_t *first) {
    uint8_t head[PSFM_TIFF_HEADER];
    *window = psfm_open_file(NULL, path, file) == PSFM_OK ? malloc(WINDOW) : NULL;
    return *window != NULL && fread(head, 1, sizeof head, *file) == sizeof head &&
           psfm_tiff_open(head, sizeof head, tiff, first) &&
           read_window(*file, *first, *window, tiff);
}

bool psfm_tiff_file_size(const char *path, int *width, int *height) {
    FILE *file;
    uint8_t *window;
    psfm_tiff tiff;
    uint32_t first;
    bool found =
        open_file(path, &file, &window, &tiff, &first) && get_size(&tiff, first, width, height);
    free(window);
    if (file != NULL)
        fclose(file);
    return found;
}

int psfm_tiff_file_pages(const char *path) {
    FILE *file;
    uint8_t *window;
    psfm_tiff tiff;
    uint32_t at;
    int num = 0;
    bool more = open_file(path, &file, &window, &tiff, &at);
    for (int k = 0; more && k < MOST_PAGES; ++k) { /* directories may form a circle */
        num += !is_smaller_version(&tiff, at);
        at = psfm_tiff_next(&tiff, at);
        more = at != 0 && read_window(file, at, window, &tiff);
    }
    free(window);
    if (file != NULL)
        fclose(file);
    return num;
}

/* TIFF directories, byte by byte: nothing that an offset or a count claims is believed. */

enum { ENTRY = 12, COUNT = 2, MAGIC = 42, BYTE = 1, SHORT = 3, LONG = 4, NUM_TYPES = 13 };

static const uint8_t type_sizes[NUM_TYPES] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8};

uint32_t psfm_tiff_integer(const psfm_tiff *tiff, const uint8_t *at, int size) {
    uint32_t value = 0;
    for (int k = 0; k < size; ++k)
        value = value << 8 | at[tiff->is_big_endian ? k : size - 1 - k];
    return value;
}

/* `size` bytes at an offset of the file; NULL if they are not within the part. */
static const uint8_t *find_bytes(const psfm_tiff *tiff, size_t offset, size_t size) {
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
    const uint8_t *at = find_bytes(tiff, directory, COUNT);
    if (at == NULL)
        return 0;
    size_t num = psfm_tiff_integer(tiff, at, COUNT);
    size_t room = (tiff->size - (directory - tiff->origin) - COUNT) / ENTRY;
    return num < room ? num : room;
}

psfm_tiff_entry psfm_tiff_get(const psfm_tiff *tiff, uint32_t directory, size_t k) {
    const uint8_t *head = find_bytes(tiff, directory + COUNT + k * ENTRY, ENTRY);
    psfm_tiff_entry entry = {.tag = (uint16_t)psfm_tiff_integer(tiff, head, 2),
                             .type = (uint16_t)psfm_tiff_integer(tiff, head + 2, 2),
                             .count = psfm_tiff_integer(tiff, head + 4, 4),
                             .head = head};
    entry.size = entry.type < NUM_TYPES ? (size_t)entry.count * type_sizes[entry.type] : 0;
    if (entry.size > 0 && entry.size <= 4)
        entry.value = head + 8;
    else if (entry.size > 0)
        entry.value = find_bytes(tiff, psfm_tiff_integer(tiff, head + 8, 4), entry.size);
    return entry;
}

uint32_t psfm_tiff_next(const psfm_tiff *tiff, uint32_t directory) {
    size_t num = psfm_tiff_num_entries(tiff, directory);
    const uint8_t *at = find_bytes(tiff, directory + COUNT + num * ENTRY, 4);
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

/* EXIF data of a TIFF file. The file itself is what an EXIF block holds: the first directory, which
 * points to those of EXIF and GPS. But libexif takes blocks of 64 kB and less, so what matters is
 * copied into a file of its own. */

enum {
    EXIF_POINTER = 0x8769,
    GPS_POINTER = 0x8825,
    LARGEST_VALUE = 256, /* bytes; longer ones are tables of strips, profiles, previews */
    MOST_ENTRIES = 128,
    BLOCK_SIZE = 3 * (MOST_ENTRIES * (12 + LARGEST_VALUE) + 6) + PSFM_TIFF_HEADER
};

/* The file that is made. */
typedef struct {
    const psfm_tiff *from;
    uint8_t *bytes; /* BLOCK_SIZE */
    size_t used;
    uint32_t exif, gps; /* where its directories are; 0: it has none */
} block;

static void put_number(const block *b, size_t at, uint32_t value, int size) {
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
        put_number(b, at + 8, entry->tag == EXIF_POINTER ? b->exif : b->gps, 4);
    } else if (entry->size > 4) {
        put_number(b, at + 8, (uint32_t)b->used, 4);
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
    put_number(b, begin, (uint32_t)num_kept, 2);
    b->used += 2 + 12 * num_kept + 4; /* the last four: no directory follows */
    for (size_t k = 0; k < num_kept; ++k)
        copy_entry(b, &kept[k], begin + 2 + 12 * k);
    return (uint32_t)begin;
}

static uint32_t copy_pointed(block *b, uint32_t directory, uint16_t tag) {
    uint32_t to = 0;
    return psfm_tiff_number(b->from, directory, tag, &to) ? copy_directory(b, to) : 0;
}

uint8_t *psfm_tiff_exif(const uint8_t *bytes, size_t size, size_t *block_size) {
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
    put_number(&b, 4, copy_directory(&b, first), 4);
    *block_size = PSFM_EXIF_HEADER_SIZE + b.used;
    return made;
}
