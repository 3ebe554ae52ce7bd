/* The directories of a TIFF file, which EXIF data are, too: entries of tag, type, count, value. */
#ifndef PSFM_CAMERA_TIFF_DIRECTORY_H
#define PSFM_CAMERA_TIFF_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
