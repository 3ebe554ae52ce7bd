/* Every shape is brought into the drawing by its points: a circle stays one only if the transform
 * scales alike in all directions, which is checked; an arc is the one through three of its points,
 * so that mirrored coordinates need no case of their own. */
#include "io/svg_shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number_locale.h"
#include "linalg/angle.h"

#define PI 3.14159265358979323846
#define MAX_PLACE 1e5   /* metres */
#define MIN_LENGTH 1e-3 /* metres; shorter parts are left out */
#define MAX_NUMBER 48   /* characters */
#define ROUND 1e-6      /* share by which a transform may scale differently across */
#define STRAIGHT 1e-9   /* share of its chord by which an arc is straight */

psfm_affine psfm_affine_mul(const psfm_affine *first, const psfm_affine *second) {
    const double *p = first->m, *q = second->m;
    return (psfm_affine){{p[0] * q[0] + p[2] * q[1], p[1] * q[0] + p[3] * q[1],
                          p[0] * q[2] + p[2] * q[3], p[1] * q[2] + p[3] * q[3],
                          p[0] * q[4] + p[2] * q[5] + p[4], p[1] * q[4] + p[3] * q[5] + p[5]}};
}

static void apply(const psfm_affine *t, const double at[2], double out[2]) {
    double x = at[0], y = at[1];
    out[0] = t->m[0] * x + t->m[2] * y + t->m[4];
    out[1] = t->m[1] * x + t->m[3] * y + t->m[5];
}

/* ---- numbers and transforms ---- */

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static void skip_blanks(psfm_svg_cursor *c) {
    while (c->at < c->end && (strchr(" \t\r\n,", *c->at) != NULL && *c->at != '\0'))
        ++c->at;
}

/* How many characters the number at `at` has; 0 if there is none. */
static size_t number_size(const char *at, const char *end) {
    const char *p = at;
    size_t digits = 0;
    p += p < end && (*p == '+' || *p == '-');
    for (; p < end && is_digit(*p); ++p)
        ++digits;
    p += p < end && *p == '.';
    for (; p < end && is_digit(*p); ++p)
        ++digits;
    if (digits == 0)
        return 0;
    const char *power = p;
    if (power < end && (*power == 'e' || *power == 'E')) {
        ++power;
        power += power < end && (*power == '+' || *power == '-');
        while (power < end && is_digit(*power))
            p = ++power;
    }
    return (size_t)(p - at);
}

bool psfm_svg_number(psfm_svg_cursor *cursor, double *value) {
    char text[MAX_NUMBER + 1];
    skip_blanks(cursor);
    size_t size = number_size(cursor->at, cursor->end);
    if (size == 0 || size > MAX_NUMBER)
        return false;
    memcpy(text, cursor->at, size);
    text[size] = '\0';
    cursor->at += size;
    *value = psfm_strtod(text, NULL);
    return isfinite(*value);
}

/* The numbers within brackets; -1 if they are not well formed. */
static int read_arguments(psfm_svg_cursor *c, double values[6]) {
    int num = 0;
    skip_blanks(c);
    if (c->at >= c->end || *c->at++ != '(')
        return -1;
    while (num < 6 && psfm_svg_number(c, &values[num]))
        ++num;
    skip_blanks(c);
    return c->at < c->end && *c->at++ == ')' ? num : -1;
}

static psfm_affine rotation(double degrees, double x, double y) {
    double c = cos(psfm_radians(degrees)), s = sin(psfm_radians(degrees));
    return (psfm_affine){{c, s, -s, c, x - c * x + s * y, y - s * x - c * y}};
}

/* One function of a transform attribute. */
static bool read_function(psfm_xml_word name, const double v[6], int num, psfm_affine *out) {
    bool found = true;
    if (psfm_xml_is(name, "matrix") && num == 6)
        memcpy(out->m, v, sizeof out->m);
    else if (psfm_xml_is(name, "translate") && (num == 1 || num == 2))
        *out = (psfm_affine){{1, 0, 0, 1, v[0], num == 2 ? v[1] : 0.0}};
    else if (psfm_xml_is(name, "scale") && (num == 1 || num == 2))
        *out = (psfm_affine){{v[0], 0, 0, num == 2 ? v[1] : v[0], 0, 0}};
    else if (psfm_xml_is(name, "rotate") && (num == 1 || num == 3))
        *out = rotation(v[0], num == 3 ? v[1] : 0.0, num == 3 ? v[2] : 0.0);
    else if (psfm_xml_is(name, "skewX") && num == 1)
        *out = (psfm_affine){{1, 0, tan(psfm_radians(v[0])), 1, 0, 0}};
    else if (psfm_xml_is(name, "skewY") && num == 1)
        *out = (psfm_affine){{1, tan(psfm_radians(v[0])), 0, 1, 0, 0}};
    else
        found = false;
    return found;
}

bool psfm_svg_transform(psfm_xml_word text, psfm_affine *transform) {
    psfm_svg_cursor c = {text.text, text.text + text.size};
    *transform = (psfm_affine){{1, 0, 0, 1, 0, 0}};
    for (skip_blanks(&c); c.at < c.end; skip_blanks(&c)) {
        psfm_xml_word name = {c.at, 0};
        double values[6];
        psfm_affine next;
        while (c.at < c.end && *c.at != '(' && *c.at != ' ')
            ++c.at;
        name.size = (size_t)(c.at - name.text);
        int num = read_arguments(&c, values);
        if (!read_function(name, values, num, &next))
            return false;
        *transform = psfm_affine_mul(transform, &next);
    }
    return true;
}

/* ---- parts ---- */

static psfm_status refuse(psfm_svg_canvas *canvas, const char *problem) {
    canvas->problem = problem;
    return PSFM_ERR_FORMAT;
}

static bool is_place(const double at[2]) {
    return fabs(at[0]) <= MAX_PLACE && fabs(at[1]) <= MAX_PLACE;
}

static psfm_status add(psfm_context *ctx, psfm_svg_canvas *canvas, const psfm_drawing_part *part) {
    if (!is_place(part->a) || (part->radius == 0.0 && !is_place(part->b)) ||
        !(part->radius <= MAX_PLACE))
        return refuse(canvas, "is farther away than 100 km");
    if (!(psfm_drawing_part_length(part) >= MIN_LENGTH))
        return PSFM_OK;
    if (canvas->drawing->num_parts >= canvas->max_parts)
        return refuse(canvas, "is one line or arc too many");
    return psfm_drawing_add(ctx, canvas->drawing, part);
}

/* Whether circles stay circles. */
static bool keeps_circles(const psfm_affine *t) {
    double x = hypot(t->m[0], t->m[1]), y = hypot(t->m[2], t->m[3]);
    double dot = t->m[0] * t->m[2] + t->m[1] * t->m[3];
    return fabs(x - y) <= ROUND * x && fabs(dot) <= ROUND * x * y;
}

psfm_status psfm_svg_line(psfm_context *ctx, psfm_svg_canvas *canvas, const double a[2],
                          const double b[2]) {
    psfm_drawing_part part = {.radius = 0.0};
    apply(&canvas->to_drawing, a, part.a);
    apply(&canvas->to_drawing, b, part.b);
    return add(ctx, canvas, &part);
}

psfm_status psfm_svg_circle(psfm_context *ctx, psfm_svg_canvas *canvas, const double center[2],
                            double radius) {
    const psfm_affine *t = &canvas->to_drawing;
    psfm_drawing_part part = {.b = {0.0, 2.0 * PI}, .radius = radius * hypot(t->m[0], t->m[1])};
    if (!keeps_circles(t))
        return refuse(canvas, "is an ellipse after its transforms; only circles can be read");
    apply(t, center, part.a);
    return add(ctx, canvas, &part);
}

/* Turns an angle to within a turn behind `from`. */
static double behind(double angle, double from) {
    double turns = (angle - from) / (2.0 * PI);
    return from + 2.0 * PI * (turns - floor(turns));
}

psfm_status psfm_svg_arc(psfm_context *ctx, psfm_svg_canvas *canvas, const double a[2],
                         const double b[2], const double c[2]) {
    psfm_drawing_part part = {.radius = 0.0};
    double p[2], q[2], r[2];
    if (!keeps_circles(&canvas->to_drawing))
        return refuse(canvas, "is elliptic after its transforms; only circular arcs can be read");
    apply(&canvas->to_drawing, a, p);
    apply(&canvas->to_drawing, b, q);
    apply(&canvas->to_drawing, c, r);
    double x1 = q[0] - p[0], y1 = q[1] - p[1], x2 = r[0] - p[0], y2 = r[1] - p[1];
    double s1 = x1 * x1 + y1 * y1, s2 = x2 * x2 + y2 * y2, det = 2.0 * (x1 * y2 - y1 * x2);
    if (!(fabs(det) > STRAIGHT * (s1 + s2)))
        return psfm_svg_line(ctx, canvas, a, c);
    double x = (y2 * s1 - y1 * s2) / det, y = (x1 * s2 - x2 * s1) / det;
    part.a[0] = p[0] + x;
    part.a[1] = p[1] + y;
    part.radius = hypot(x, y);
    double first = atan2(-y, -x), last = atan2(y2 - y, x2 - x), middle = atan2(y1 - y, x1 - x);
    bool forward = behind(middle, first) <= behind(last, first);
    part.b[0] = forward ? first : last;
    part.b[1] = behind(forward ? last : first, part.b[0]);
    return add(ctx, canvas, &part);
}
