/* Pages of TIFF files. Directories may lie anywhere in a file, so of a file on disk only the part
 * behind each offset is read. */
#include "image/tiff_pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "camera/tiff_directory.h"

enum {
    SUBFILE_TYPE = 254, /* bit 0: a smaller version of another page */
    WIDTH = 256,
    HEIGHT = 257,
    DNG_VERSION = 50706,
    WINDOW = 1 << 16, /* bytes read for a directory */
    MOST_PAGES = 1000
};

static bool get_size(const psfm_tiff *tiff, uint32_t directory, uint32_t *width, uint32_t *height) {
    return psfm_tiff_number(tiff, directory, WIDTH, width) &&
           psfm_tiff_number(tiff, directory, HEIGHT, height);
}

static bool is_smaller_version(const psfm_tiff *tiff, uint32_t directory) {
    uint32_t type = 0;
    return psfm_tiff_number(tiff, directory, SUBFILE_TYPE, &type) && (type & 1) != 0;
}

bool psfm_tiff_size(const uint8_t *bytes, size_t size, uint32_t *width, uint32_t *height) {
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
    *file = fopen(path, "rb");
    *window = *file == NULL ? NULL : malloc(WINDOW);
    return *window != NULL && fread(head, 1, sizeof head, *file) == sizeof head &&
           psfm_tiff_open(head, sizeof head, tiff, first) &&
           read_window(*file, *first, *window, tiff);
}

bool psfm_tiff_file_size(const char *path, uint32_t *width, uint32_t *height) {
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
