/* What people say is on the floor: courts by name, or a file. */
#ifndef PSFM_FORMATS_COURT_REQUEST_H
#define PSFM_FORMATS_COURT_REQUEST_H

#include <cjson/cJSON.h>

#include "court/drawing.h"
#include "court/target.h"

typedef struct {
    const char *courts;  /* a court, or several with commas between them, all about one middle */
    const char *size;    /* "LENGTH,WIDTH" of a single court; NULL: the usual one */
    const char *drawing; /* a drawing's file instead */
    double unit;         /* metres a unit of the file has; 0: what it says */
} psfm_court_request;

/* Opens it. PSFM_ERR_ARGUMENT if it is neither a court nor a drawing, or both. Free *target in any
 * case. */
psfm_status psfm_court_request_open(psfm_context *ctx, const psfm_court_request *request,
                                    psfm_court_target *target);

/* Reads a drawing. `unit` is how many metres a unit has; 0: what
 * the file says. The drawing passes psfm_drawing_check. Free with psfm_drawing_free; on failure
 * *drawing is empty. */
psfm_status psfm_drawing_read(psfm_context *ctx, const char *path, double unit,
                              psfm_drawing *drawing);

/* The same from a text, which ends with text[size] = 0; `path` is for messages. An object with
 * "lines", lists of x0, y0, x1, y1, and "arcs", lists of x, y, radius, first and last angle in
 * degrees; optional are "name", "paint" (light, dark or either), "unit" (metres a unit has) and
 * "parts": drawings or courts, each placed by "at" and "turn". The message of a failure names the
 * file and the line or arc. */
psfm_status psfm_drawing_parse(psfm_context *ctx, const char *text, size_t size, const char *path,
                               double unit, psfm_drawing *drawing);

/* Adds "strokes" to an object: for each part of the drawing a list x, y, x, y, ... on its plane.
 * False when memory is out. */
bool psfm_drawing_add_strokes(cJSON *object, const psfm_drawing *drawing);

#endif
