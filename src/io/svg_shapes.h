/* Shapes of an SVG file as lines and circular arcs of a drawing. */
#ifndef PSFM_IO_SVG_SHAPES_H
#define PSFM_IO_SVG_SHAPES_H

#include "court/drawing.h"
#include "io/xml_tags.h"

/* x' = a x + c y + e, y' = b x + d y + f, as SVG writes it: a, b, c, d, e, f. */
typedef struct {
    double m[6];
} psfm_affine;

/* first after second. */
psfm_affine psfm_affine_mul(const psfm_affine *first, const psfm_affine *second);

/* Where shapes go. */
typedef struct {
    psfm_drawing *drawing;
    psfm_affine to_drawing; /* from the shape's own coordinates, to metres, y up */
    size_t max_parts;
    const char *problem; /* why the last shape was refused, in a few words; static */
} psfm_svg_canvas;

/* A cursor over a list of numbers, such as the data of a path. */
typedef struct {
    const char *at, *end;
} psfm_svg_cursor;

/* The next number, after blanks and a comma; false if there is none. */
bool psfm_svg_number(psfm_svg_cursor *cursor, double *value);

/* Reads a transform attribute; false if it is not one. */
bool psfm_svg_transform(psfm_xml_word text, psfm_affine *transform);

/* Each adds its parts. PSFM_ERR_FORMAT, with canvas->problem, for what is not made of straight
 * lines and circular arcs. Parts shorter than a millimetre are left out. */
psfm_status psfm_svg_line(psfm_context *ctx, psfm_svg_canvas *canvas, const double a[2],
                          const double b[2]);
/* Round `center` with this radius; all of it. */
psfm_status psfm_svg_circle(psfm_context *ctx, psfm_svg_canvas *canvas, const double center[2],
                            double radius);
/* From a through b to c. */
psfm_status psfm_svg_arc(psfm_context *ctx, psfm_svg_canvas *canvas, const double a[2],
                         const double b[2], const double c[2]);
/* The data of a path. */
psfm_status psfm_svg_path(psfm_context *ctx, psfm_svg_canvas *canvas, psfm_xml_word data);

#endif
