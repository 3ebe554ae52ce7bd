/* Courts of other sizes than the rules': ends move with the length, side lines with the width, and
 * with these the rounded corners of a rink. */
#include "court/court.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/number_locale.h"

/* Metres within which a stroke's point counts as on the side line, which has a width, and which
 * some lines cross a little. */
#define ON_SIDE 0.3

bool psfm_court_get(const char *name, psfm_court *court) {
    for (size_t k = 0; k < psfm_num_courts; ++k) {
        if (strcmp(psfm_courts[k].name, name) == 0) {
            *court = psfm_courts[k];
            return true;
        }
    }
    return false;
}

void psfm_court_fix_size(psfm_court *court) {
    for (int d = 0; d < 2; ++d)
        court->least[d] = court->most[d] = 0.0;
}

/* Appends a word to a list; cut to `size`. */
static size_t append_word(char *text, size_t size, size_t used, const char *between,
                          const char *word) {
    if (used >= size)
        return used;
    int printed = snprintf(text + used, size - used, "%s%s", used > 0 ? between : "", word);
    return used + (printed > 0 ? (size_t)printed : 0);
}

/* All names with commas between them; cut to `size`. */
static void list_names(char *text, size_t size) {
    size_t used = 0;
    for (size_t k = 0; k < psfm_num_courts; ++k)
        used = append_word(text, size, used, ", ", psfm_courts[k].name);
}

bool psfm_court_is_related(const psfm_court *a, const psfm_court *b) {
    size_t n = strcspn(a->name, "-"), m = strcspn(b->name, "-");
    return n == m && strncmp(a->name, b->name, n) == 0 && strcmp(a->name, b->name) != 0;
}

/* Point k (0 to 3) of a mark: its label and place; false if the mark has fewer. */
static bool mark_point(const psfm_court *court, const psfm_court_mark *mark, int k, char *label,
                       size_t size, double at[3]) {
    bool has_x = mark->x != 0.0, has_y = mark->y != 0.0;
    bool east = k & 1, south = (k & 2) != 0;
    if ((east && !has_x) || (south && !has_y))
        return false;
    snprintf(label, size, "%s%s%s", mark->label,
             !has_x ? ""
             : east ? "-e"
                    : "-w",
             !has_y  ? ""
             : south ? "-s"
                     : "-n");
    double x = has_x ? mark->x + 0.5 * (court->length - court->rule_length) : 0.0;
    bool on_side = 2.0 * mark->y == court->rule_width;
    double y = on_side ? 0.5 * court->width : mark->y;
    at[0] = has_x && !east ? -x : x;
    at[1] = south ? -y : y;
    at[2] = 0.0;
    return true;
}

bool psfm_court_find(const psfm_court *court, const char *label, double at[3]) {
    for (size_t m = 0; m < court->num_marks; ++m) {
        for (int k = 0; k < 4; ++k) {
            char name[64];
            double place[3];
            if (mark_point(court, &court->marks[m], k, name, sizeof name, place) &&
                strcmp(name, label) == 0) {
                memcpy(at, place, sizeof place);
                return true;
            }
        }
    }
    return false;
}

void psfm_court_labels(const psfm_court *court, char *text, size_t size) {
    size_t used = 0;
    if (size > 0)
        text[0] = '\0';
    for (size_t m = 0; m < court->num_marks; ++m) {
        for (int k = 0; k < 4; ++k) {
            char name[64];
            double place[3];
            if (mark_point(court, &court->marks[m], k, name, sizeof name, place))
                used = append_word(text, size, used, " ", name);
        }
    }
}

/* The arc of a rounded corner, from the end line to the side line; NULL: corners are square. */
static const psfm_court_stroke *find_corner(const psfm_court *court) {
    for (size_t k = 0; k < court->num_strokes; ++k) {
        const psfm_court_stroke *arc = &court->strokes[k];
        if (arc->radius > 0.0 && arc->b[0] == 0.0 && arc->b[1] == 90.0 &&
            fabs(arc->a[1] + arc->radius - 0.5 * court->rule_width) < ON_SIDE)
            return arc;
    }
    return NULL;
}

/* Whether a point goes with the side line: on it, on a rounded corner, or its middle. */
static bool is_of_side(const psfm_court *court, const double at[2]) {
    const psfm_court_stroke *corner = find_corner(court);
    if (at[1] > 0.5 * court->rule_width - ON_SIDE)
        return true;
    if (corner == NULL)
        return false;
    double x = at[0] - corner->a[0], y = at[1] - corner->a[1], away = hypot(x, y);
    return away == 0.0 || (x > 0.0 && y >= 0.0 && fabs(away - corner->radius) < ON_SIDE);
}

static void move_point(const psfm_court *court, double at[2]) {
    bool is_side = is_of_side(court, at);
    if (at[0] != 0.0)
        at[0] += 0.5 * (court->length - court->rule_length);
    if (is_side)
        at[1] += 0.5 * (court->width - court->rule_width);
}

psfm_court_stroke psfm_court_stroke_at(const psfm_court *court, size_t k) {
    psfm_court_stroke stroke = court->strokes[k];
    move_point(court, stroke.a);
    if (stroke.radius == 0.0)
        move_point(court, stroke.b);
    return stroke;
}

psfm_status psfm_court_parse(psfm_context *ctx, const char *name, const char *size,
                             psfm_court *court) {
    if (!psfm_court_get(name, court)) {
        char names[512];
        list_names(names, sizeof names);
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "there is no court '%s' (%s)", name, names);
    }
    if (size == NULL)
        return PSFM_OK;
    psfm_court_fix_size(court);
    char *comma = NULL, *end = NULL;
    court->length = psfm_strtod(size, &comma);
    court->width = *comma == ',' ? psfm_strtod(comma + 1, &end) : NAN;
    if (end == NULL || *end != '\0' || !(court->length >= court->rule_length / 2.0) ||
        !(court->width >= court->rule_width / 2.0) || !(court->length <= 1000.0) ||
        !(court->width <= 1000.0))
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "--court-size: '%s' is not a size for %s", size,
                         name);
    return PSFM_OK;
}
