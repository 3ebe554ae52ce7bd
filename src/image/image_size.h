/* The size of a photograph from its header, without decoding it. */
#ifndef PSFM_IMAGE_IMAGE_SIZE_H
#define PSFM_IMAGE_IMAGE_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Width and height that the first bytes of a photograph tell. False if they tell none, which
 * says nothing about the rest of the file. */
bool psfm_image_parse_size(const uint8_t *bytes, size_t size, int *width, int *height);

/* The same for a file, of which at most a megabyte is read. */
bool psfm_image_file_size(const char *path, int *width, int *height);

#endif
