/* Drawings: what is painted on a plane, as straight lines and arcs. */
#ifndef PSFM_COURT_DRAWING_H
#define PSFM_COURT_DRAWING_H

#include "core/base/context.h"
#include "court/court.h"

/* Whether the paint is lighter or darker than the ground. */
typedef enum { PSFM_PAINT_EITHER, PSFM_PAINT_LIGHT, PSFM_PAINT_DARK } psfm_paint;

/* The middle of a painted line: with radius 0 straight from a to b, otherwise an arc round a from
 * angle b[0] to b[1] > b[0], radians from the x axis towards the y axis. Metres. */
typedef struct {
    double a[2], b[2];
    double radius;
    /* How a, and b of a straight line, go along with the drawing's length (x) and width (y). */
    double move_a[2], move_b[2];
    uint32_t layer; /* parts of one layer have one paint; below PSFM_DRAWING_LAYERS */
} psfm_drawing_part;

#define PSFM_DRAWING_LAYERS 32

/* Owns its arrays. */
typedef struct {
    char *name;
    psfm_paint paint;
    psfm_drawing_part *parts;
    size_t num_parts, capacity;
    uint32_t num_layers;      /* that other drawings became */
    double size[2];           /* length and width, metres */
    double least[2], most[2]; /* sizes to search; 0: it has its size */
} psfm_drawing;

/* A place on the drawing and the direction of the line there. */
typedef struct {
    float x, y;   /* metres */
    float tx, ty; /* unit vector along the line */
    float mx, my; /* metres that x goes with a metre of length, and y with one of width */
    uint32_t part;
} psfm_drawing_sample;

/* The drawing of a court. The caller frees it, also after a failure. */
psfm_status psfm_drawing_from_court(psfm_context *ctx, const psfm_court *court,
                                    psfm_drawing *drawing);

/* Adds a part; one that is there already is not added again. */
psfm_status psfm_drawing_add(psfm_context *ctx, psfm_drawing *drawing,
                             const psfm_drawing_part *part);

/* Adds all parts of another drawing, turned by so many degrees and with its origin at `at`, as a
 * layer of their own. */
psfm_status psfm_drawing_place(psfm_context *ctx, const psfm_drawing *from, const double at[2],
                               double turn_deg, psfm_drawing *drawing);

/* For a drawing without rules for other sizes: its size is that of its bounds, and all of it is
 * stretched with it, but arcs keep their radius. */
void psfm_drawing_stretch_parts(psfm_drawing *drawing);

/* Gives it another size: length and width. */
void psfm_drawing_resize(psfm_drawing *drawing, const double size[2]);

psfm_status psfm_drawing_copy(psfm_context *ctx, const psfm_drawing *from, psfm_drawing *to);

/* Whether its size is to be searched. */
static inline bool psfm_drawing_is_free(const psfm_drawing *drawing) {
    return drawing->most[0] > 0.0;
}

/* Takes it to be of the size that it has. */
static inline void psfm_drawing_fix_size(psfm_drawing *drawing) {
    for (int d = 0; d < 2; ++d)
        drawing->least[d] = drawing->most[d] = 0.0;
}

/* Refuses (PSFM_ERR_DATA) a drawing that cannot be found in a photograph: it needs two lines along
 * one axis, at different distances from it, and one along the other. */
psfm_status psfm_drawing_check(psfm_context *ctx, const psfm_drawing *drawing);

/* Length of a part in metres, and its place at share t (0 to 1) of it. */
double psfm_drawing_part_length(const psfm_drawing_part *part);
void psfm_drawing_part_at(const psfm_drawing_part *part, double t, double at[2]);

/* The smallest rectangle along the axes that holds the drawing. */
void psfm_drawing_bounds(const psfm_drawing *drawing, double low[2], double high[2]);

/* Length of the rectangle's diagonal, the measure for everything that scales with the drawing. */
double psfm_drawing_size(const psfm_drawing *drawing);

/* Places about `step` metres apart, each in the middle of an equal share of its part. The caller
 * frees *samples. */
psfm_status psfm_drawing_sample_lines(psfm_context *ctx, const psfm_drawing *drawing, double step,
                                      psfm_drawing_sample **samples, size_t *num);

/* The distinct places of the lines along x (axis 0: their y) or along y (axis 1: their x),
 * ascending. The caller frees *offsets. */
psfm_status psfm_drawing_offsets(psfm_context *ctx, const psfm_drawing *drawing, int axis,
                                 double **offsets, size_t *num);

/* Numbers the distinct lines, from 0: parts on one straight line, or on one circle, have the same
 * number. ids has an entry per part. Returns how many lines there are. */
uint32_t psfm_drawing_number_lines(const psfm_drawing *drawing, uint32_t *ids);

/* The turns by quarters about the middle of the rectangle that map the drawing onto itself:
 * turns[0] is 0, the others are in quarters. Returns how many, 1 to 4. */
int psfm_drawing_turns(const psfm_drawing *drawing, int turns[4]);

/* The part that part k becomes when the drawing is turned by quarters that map it onto itself; k if
 * there is none. */
size_t psfm_drawing_turned_part(const psfm_drawing *drawing, size_t k, int quarters);

void psfm_drawing_free(psfm_drawing *drawing);

#endif
