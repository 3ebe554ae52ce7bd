/* Drawings of one's own, as JSON or SVG: docs/formats.md. */
#ifndef PSFM_IO_DRAWING_FILE_H
#define PSFM_IO_DRAWING_FILE_H

#include "court/drawing.h"

/* Reads a drawing, in SVG if its text begins with <. `unit` is how many metres a unit has; 0: what
 * the file says. The drawing passes psfm_drawing_check. Free with psfm_drawing_free; on failure
 * *drawing is empty. */
psfm_status psfm_drawing_read(psfm_context *ctx, const char *path, double unit,
                              psfm_drawing *drawing);

/* The same from JSON, which ends with text[size] = 0; `path` is for messages. An object with
 * "lines", lists of x0, y0, x1, y1, and "arcs", lists of x, y, radius, first and last angle in
 * degrees; optional are "name", "paint" (light, dark or either), "unit" (metres a unit has) and
 * "parts": drawings or courts, each placed by "at" and "turn". The message of a failure names the
 * file and the line or arc. */
psfm_status psfm_drawing_parse(psfm_context *ctx, const char *text, size_t size, const char *path,
                               double unit, psfm_drawing *drawing);

/* The same from SVG: lines, rectangles, circles, polylines, polygons and paths of lines and
 * circular arcs, under their transforms; x to the right, y up. Without `unit` a width in m, cm or
 * mm, with the view box, says how large it is; without any of it a unit is a metre. */
psfm_status psfm_drawing_parse_svg(psfm_context *ctx, const char *text, size_t size,
                                   const char *path, double unit, psfm_drawing *drawing);

#endif
