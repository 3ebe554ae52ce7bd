/* The EXIF data of TIFF and HEIC files as a block that libexif reads. */
#ifndef PSFM_CAMERA_EXIF_BLOCK_H
#define PSFM_CAMERA_EXIF_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PSFM_EXIF_HEADER "Exif\0" /* and the zero that ends it: six bytes before every block */
#define PSFM_EXIF_HEADER_SIZE 6

/* Whether the bytes begin a TIFF file, or one of the HEIF family (HEIC, AVIF). */
bool psfm_is_tiff(const uint8_t *bytes, size_t size);
bool psfm_is_heif(const uint8_t *bytes, size_t size);

/* A block of the small entries of the first directory, with its EXIF and GPS directories: a TIFF
 * file may have them anywhere, and libexif looks at 64 kB. NULL if there are none or memory is out.
 * Free with free. */
uint8_t *psfm_exif_block_of_tiff(const uint8_t *bytes, size_t size, size_t *block_size);

/* The block that a HEIC file has for its primary image. NULL if it has none, or if this build
 * cannot read such files. */
uint8_t *psfm_exif_block_of_heif(const uint8_t *bytes, size_t size, size_t *block_size);

#endif
