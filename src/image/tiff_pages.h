/* What the directories of a TIFF file tell without decoding it. */
#ifndef PSFM_IMAGE_TIFF_PAGES_H
#define PSFM_IMAGE_TIFF_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Width and height of the first page. False if they are not told within these bytes. */
bool psfm_tiff_size(const uint8_t *bytes, size_t size, uint32_t *width, uint32_t *height);

/* Whether the file is a camera's raw file (DNG, CR2, NEF, ARW and others of that kind), whose first
 * page is no photograph. */
bool psfm_tiff_is_raw(const uint8_t *bytes, size_t size);

/* The same as psfm_tiff_size for a file, of which only the directory is read. */
bool psfm_tiff_file_size(const char *path, uint32_t *width, uint32_t *height);

/* Number of pages of a TIFF file, smaller versions of others aside; 0 for other files. */
int psfm_tiff_file_pages(const char *path);

#endif
