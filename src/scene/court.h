/* Sports courts: the intersections of their lines, with labels. docs/courts.md draws them. */
#ifndef PSFM_SCENE_COURT_H
#define PSFM_SCENE_COURT_H

#include <stdbool.h>
#include <stddef.h>

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

typedef struct {
    const char *name;
    double rule_length, rule_width; /* metres; the marks are for this size */
    const psfm_court_mark *marks;
    size_t num_marks;
    double length, width; /* of this court. Marks off the y axis keep their distance from the end
                             line, marks on the side lines stay on them */
} psfm_court;

/* The court with this name: basketball (FIBA, 28 x 15), tennis (23.77 x 10.97), volleyball (18 x 9)
 * or soccer (105 x 68, though pitches differ); false if there is none. */
bool psfm_court_get(const char *name, psfm_court *court);

/* The point with this label; false if the court has none. */
bool psfm_court_find(const psfm_court *court, const char *label, double at[3]);

/* All labels with blanks between them; cut to `size`. */
void psfm_court_labels(const psfm_court *court, char *text, size_t size);

#endif
