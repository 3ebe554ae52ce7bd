/* Drawings of one's own, as JSON: docs/formats.md. */
#ifndef PSFM_IO_DRAWING_FILE_H
#define PSFM_IO_DRAWING_FILE_H

#include "court/drawing.h"

/* Reads a drawing: an object with "lines", lists of x0, y0, x1, y1, and "arcs", lists of x, y,
 * radius, first and last angle in degrees; optional are "name", "paint" (light, dark or either) and
 * "unit" (metres a unit has). The message of a failure names the file and the line or arc. The
 * drawing passes psfm_drawing_check. Free with psfm_drawing_free; on failure *drawing is empty. */
psfm_status psfm_drawing_read(psfm_context *ctx, const char *path, psfm_drawing *drawing);

/* The same from text, which ends with text[size] = 0; `path` is for messages. */
psfm_status psfm_drawing_parse(psfm_context *ctx, const char *text, size_t size, const char *path,
                               psfm_drawing *drawing);

#endif
