/* Sports courts: their lines, and the intersections of these with labels. docs/courts.md draws
 * them and names the rules they come from. */
#ifndef PSFM_COURT_COURT_H
#define PSFM_COURT_COURT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/context.h"

/* World frame of a court: the origin is its middle, x along its length to the "e" end, y across to
 * the "n" side, z up; metres.
 *
 * A mark is one point at (x, y) and its mirror images: a point off both axes is four points, named
 * LABEL-w-n and so on; one on the x axis (y = 0) is LABEL-w and LABEL-e; one on the y axis is
 * LABEL-n and LABEL-s; the middle is LABEL. */
typedef struct {
    const char *label;
    double x, y; /* x >= 0 towards "e", y >= 0 towards "n" */
} psfm_court_mark;

/* The middle of a painted line, and its mirror images as with marks: with radius 0 straight from
 * (a[0], a[1]) to (b[0], b[1]), otherwise an arc round a from angle b[0] to b[1], degrees from the
 * x axis towards the y axis. */
typedef struct {
    double a[2], b[2];
    double radius;
} psfm_court_stroke;

typedef struct {
    const char *name, *rules;       /* rules: whose measures these are */
    double rule_length, rule_width; /* metres; marks and strokes are for this size */
    const psfm_court_mark *marks;
    size_t num_marks;
    const psfm_court_stroke *strokes;
    size_t num_strokes;
    double length, width; /* of this court. What is off the y axis keeps its distance from the end
                             line, what is on the side lines stays on them */
    double least[2], most[2]; /* length and width between which the rules leave the size free; 0: it
                                 is of its length and width */
} psfm_court;

/* All courts, of their usual sizes. */
extern const psfm_court psfm_courts[];
extern const size_t psfm_num_courts;

/* The court with this name; false if there is none. */
bool psfm_court_get(const char *name, psfm_court *court);

/* The same with a message for people, of the size "LENGTH,WIDTH" in metres (NULL: the usual one, or
 * the one that the rules leave free). */
psfm_status psfm_court_parse(psfm_context *ctx, const char *name, const char *size,
                             psfm_court *court);

/* Takes a court to be of its length and width. */
void psfm_court_fix_size(psfm_court *court);

/* Whether two courts, not the same, are of one game: their names are equal up to a dash. */
bool psfm_court_is_related(const psfm_court *a, const psfm_court *b);

/* The point with this label; false if the court has none. */
bool psfm_court_find(const psfm_court *court, const char *label, double at[3]);

/* All labels with blanks between them; cut to `size`. */
void psfm_court_labels(const psfm_court *court, char *text, size_t size);

/* Stroke k of a court of its own size, before it is mirrored. */
psfm_court_stroke psfm_court_stroke_at(const psfm_court *court, size_t k);

#endif
