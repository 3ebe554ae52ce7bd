/* A drawing for those who show it. */
#ifndef PSFM_IO_DRAWING_JSON_H
#define PSFM_IO_DRAWING_JSON_H

#include <cjson/cJSON.h>

#include "court/drawing.h"

/* Adds "strokes" to an object: for each part of the drawing a list x, y, x, y, ... on its plane.
 * False when memory is out. */
bool psfm_drawing_add_strokes(cJSON *object, const psfm_drawing *drawing);

#endif
