/* What the directories of a TIFF file tell without decoding it. */
#ifndef PSFM_IMAGE_TIFF_PAGES_H
#define PSFM_IMAGE_TIFF_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the bytes begin a TIFF file. */
bool psfm_is_tiff(const uint8_t *bytes, size_t size);

/* Width and height of the first page. False if they are not told within these bytes. */
bool psfm_tiff_size(const uint8_t *bytes, size_t size, int *width, int *height);

/* A block of the small entries of the first directory, with its EXIF and GPS directories: a TIFF
 * file may have them anywhere, and libexif looks at 64 kB. NULL if there are none or memory is out.
 * Free with free. */
uint8_t *psfm_tiff_exif(const uint8_t *bytes, size_t size, size_t *block_size);

/* Whether the file is a camera's raw file (DNG, CR2, NEF, ARW and others of that kind), whose first
 * page is no photograph. */
bool psfm_tiff_is_raw(const uint8_t *bytes, size_t size);

/* The same as psfm_tiff_size for a file, of which only the directory is read. */
bool psfm_tiff_file_size(const char *path, int *width, int *height);

/* Number of pages of a TIFF file, smaller versions of others aside; 0 for other files. */
int psfm_tiff_file_pages(const char *path);

#define PSFM_TIFF_HEADER 8 /* bytes */

/* A file, or the part of it that begins at byte `origin`. Does not own the bytes. */
typedef struct {
    const uint8_t *bytes;
    size_t size, origin;
    bool is_big_endian;
} psfm_tiff;

typedef struct {
    uint16_t tag, type;
    uint32_t count;
    const uint8_t *head;  /* its twelve bytes */
    const uint8_t *value; /* NULL if it is not within the part */
    size_t size;          /* of the value, in bytes */
} psfm_tiff_entry;

/* Looks at the first PSFM_TIFF_HEADER bytes. *first is where the first directory begins. False for
 * other files and for BigTIFF. */
bool psfm_tiff_open(const uint8_t *bytes, size_t size, psfm_tiff *tiff, uint32_t *first);

/* Number of entries of the directory at an offset of the file that lie within the part. */
size_t psfm_tiff_num_entries(const psfm_tiff *tiff, uint32_t directory);
psfm_tiff_entry psfm_tiff_get(const psfm_tiff *tiff, uint32_t directory, size_t k);
/* Where the next directory begins; 0: there is none. */
uint32_t psfm_tiff_next(const psfm_tiff *tiff, uint32_t directory);

/* The first number (BYTE, SHORT or LONG) of the entry with a tag; false if there is none. */
bool psfm_tiff_number(const psfm_tiff *tiff, uint32_t directory, uint16_t tag, uint32_t *number);

/* A number of `size` bytes, 4 at most. */
uint32_t psfm_tiff_integer(const psfm_tiff *tiff, const uint8_t *at, int size);

#endif
