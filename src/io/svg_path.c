/* The data of a path: M, L, H, V, Z, A, and C, S, Q, T where they are circular arcs or straight, as
 * programs write circles by curves. Small letters are relative. */
#include <math.h>
#include <string.h>

#include "io/svg_shapes.h"
#include "linalg/angle.h"

#define PI 3.14159265358979323846
#define ARC_ERROR 2e-3 /* of the radius, of a curve that stands for an arc */

typedef struct {
    psfm_svg_canvas *canvas;
    psfm_svg_cursor cursor;
    double at[2], start[2]; /* the pen, and where its stroke began */
    double control[2];      /* the last control point, for S and T */
    char last;              /* the last command */
    bool is_relative;
} pen;

static psfm_status refuse(pen *p, const char *problem) {
    p->canvas->problem = problem;
    return PSFM_ERR_FORMAT;
}

static bool read_point(pen *p, double out[2]) {
    if (!psfm_svg_number(&p->cursor, &out[0]) || !psfm_svg_number(&p->cursor, &out[1]))
        return false;
    for (int d = 0; d < 2 && p->is_relative; ++d)
        out[d] += p->at[d];
    return true;
}

static void go_to(pen *p, const double to[2]) {
    memcpy(p->at, to, sizeof p->at);
}

static psfm_status draw_line(psfm_context *ctx, pen *p, const double to[2]) {
    psfm_status status = psfm_svg_line(ctx, p->canvas, p->at, to);
    go_to(p, to);
    return status;
}

/* ---- arcs ---- */

/* A flag is one character, which the next number may follow at once. */
static bool read_flag(pen *p, bool *flag) {
    psfm_svg_cursor *c = &p->cursor;
    while (c->at < c->end && (*c->at == ' ' || *c->at == ',' || *c->at == '\n' || *c->at == '\t'))
        ++c->at;
    if (c->at >= c->end || (*c->at != '0' && *c->at != '1'))
        return false;
    *flag = *c->at++ == '1';
    return true;
}

/* The point in the middle of the arc of this radius from the pen to `to`. */
static void middle_of_arc(const pen *p, const double to[2], double radius, bool large, bool sweep,
                          double out[2]) {
    double x = 0.5 * (to[0] - p->at[0]), y = 0.5 * (to[1] - p->at[1]), half = hypot(x, y);
    double r = fmax(radius, half), height = sqrt(r * r - half * half);
    double rise = large ? r + height : r - height; /* of the middle over the chord */
    double side = sweep ? 1.0 : -1.0;              /* with y down, a sweep goes clockwise */
    out[0] = p->at[0] + x + side * rise * y / half;
    out[1] = p->at[1] + y - side * rise * x / half;
}

static psfm_status draw_arc(psfm_context *ctx, pen *p) {
    double radii[2], turn, to[2], middle[2];
    bool large, sweep;
    if (!psfm_svg_number(&p->cursor, &radii[0]) || !psfm_svg_number(&p->cursor, &radii[1]) ||
        !psfm_svg_number(&p->cursor, &turn) || !read_flag(p, &large) || !read_flag(p, &sweep) ||
        !read_point(p, to))
        return refuse(p, "has an arc without its seven numbers");
    double radius = fabs(radii[0]);
    if (fabs(radius - fabs(radii[1])) > 1e-6 * radius)
        return refuse(p, "has an elliptic arc; only circular arcs can be read");
    if (!(radius > 0.0) || (to[0] == p->at[0] && to[1] == p->at[1]))
        return draw_line(ctx, p, to);
    middle_of_arc(p, to, radius, large, sweep, middle);
    psfm_status status = psfm_svg_arc(ctx, p->canvas, p->at, middle, to);
    go_to(p, to);
    return status;
}

/* ---- curves ---- */

static void curve_at(const double c[4][2], double t, double out[2]) {
    double s = 1.0 - t;
    for (int d = 0; d < 2; ++d)
        out[d] = s * s * s * c[0][d] + 3.0 * s * s * t * c[1][d] + 3.0 * s * t * t * c[2][d] +
                 t * t * t * c[3][d];
}

/* Whether a curve is straight: all its control points are on its chord. */
static bool is_straight(const double c[4][2]) {
    double x = c[3][0] - c[0][0], y = c[3][1] - c[0][1], length = hypot(x, y);
    for (int k = 1; k < 3; ++k) {
        double across = (c[k][0] - c[0][0]) * y - (c[k][1] - c[0][1]) * x;
        if (!(fabs(across) <= 1e-6 * length * length))
            return false;
    }
    return true;
}

/* Whether a curve keeps to the circle through its ends and its middle. */
static bool is_circular(const double c[4][2], const double middle[2]) {
    double x1 = middle[0] - c[0][0], y1 = middle[1] - c[0][1];
    double x2 = c[3][0] - c[0][0], y2 = c[3][1] - c[0][1];
    double s1 = x1 * x1 + y1 * y1, s2 = x2 * x2 + y2 * y2, det = 2.0 * (x1 * y2 - y1 * x2);
    double x = (y2 * s1 - y1 * s2) / det, y = (x1 * s2 - x2 * s1) / det, radius = hypot(x, y);
    for (int k = 1; k < 8; ++k) {
        double at[2];
        curve_at(c, k / 8.0, at);
        double off = hypot(at[0] - c[0][0] - x, at[1] - c[0][1] - y) - radius;
        if (!(fabs(off) <= ARC_ERROR * radius))
            return false;
    }
    return true;
}

static psfm_status draw_curve(psfm_context *ctx, pen *p, double c[4][2]) {
    double middle[2];
    memcpy(c[0], p->at, sizeof p->at);
    curve_at((const double(*)[2])c, 0.5, middle);
    if (is_straight((const double(*)[2])c))
        return draw_line(ctx, p, c[3]);
    if (!is_circular((const double(*)[2])c, middle))
        return refuse(p, "has a curve that is no circular arc; give it as lines or arcs");
    psfm_status status = psfm_svg_arc(ctx, p->canvas, p->at, middle, c[3]);
    go_to(p, c[3]);
    return status;
}

/* The control point mirrored at the pen if the last command was of the same kind, else the pen. */
static void smooth_control(const pen *p, const char *kind, double out[2]) {
    bool follows = p->last != '\0' && strchr(kind, p->last) != NULL;
    for (int d = 0; d < 2; ++d)
        out[d] = follows ? 2.0 * p->at[d] - p->control[d] : p->at[d];
}

static psfm_status draw_cubic(psfm_context *ctx, pen *p, bool smooth) {
    double c[4][2];
    smooth_control(p, "CcSs", c[1]);
    if ((!smooth && !read_point(p, c[1])) || !read_point(p, c[2]) || !read_point(p, c[3]))
        return refuse(p, "has a curve without its points");
    memcpy(p->control, c[2], sizeof p->control);
    return draw_curve(ctx, p, c);
}

static psfm_status draw_quadratic(psfm_context *ctx, pen *p, bool smooth) {
    double c[4][2], control[2];
    smooth_control(p, "QqTt", control);
    if ((!smooth && !read_point(p, control)) || !read_point(p, c[3]))
        return refuse(p, "has a curve without its points");
    memcpy(p->control, control, sizeof p->control);
    for (int d = 0; d < 2; ++d) {
        c[1][d] = (p->at[d] + 2.0 * control[d]) / 3.0;
        c[2][d] = (c[3][d] + 2.0 * control[d]) / 3.0;
    }
    return draw_curve(ctx, p, c);
}

/* ---- commands ---- */

static psfm_status draw_along(psfm_context *ctx, pen *p, int axis) {
    double to[2] = {p->at[0], p->at[1]}, value;
    if (!psfm_svg_number(&p->cursor, &value))
        return refuse(p, "has a line without its end");
    to[axis] = p->is_relative ? p->at[axis] + value : value;
    return draw_line(ctx, p, to);
}

static psfm_status draw_to(psfm_context *ctx, pen *p, bool moves) {
    double to[2];
    if (!read_point(p, to))
        return refuse(p, "has a line without its end");
    if (!moves)
        return draw_line(ctx, p, to);
    go_to(p, to);
    memcpy(p->start, to, sizeof p->start);
    return PSFM_OK;
}

static psfm_status follow(psfm_context *ctx, pen *p, char command) {
    p->is_relative = command >= 'a';
    switch (command & ~0x20) {
    case 'M':
        return draw_to(ctx, p, p->last != command);
    case 'L':
        return draw_to(ctx, p, false);
    case 'H':
        return draw_along(ctx, p, 0);
    case 'V':
        return draw_along(ctx, p, 1);
    case 'A':
        return draw_arc(ctx, p);
    case 'C':
    case 'S':
        return draw_cubic(ctx, p, (command & ~0x20) == 'S');
    case 'Q':
    case 'T':
        return draw_quadratic(ctx, p, (command & ~0x20) == 'T');
    case 'Z':
        return draw_line(ctx, p, (const double[2]){p->start[0], p->start[1]});
    default:
        return refuse(p, "has data that are no path");
    }
}

/* The next command; false where numbers follow, which go on with the last one, and at the end. */
static bool next_command(pen *p, char *command) {
    psfm_svg_cursor *c = &p->cursor;
    while (c->at < c->end &&
           (*c->at == ' ' || *c->at == ',' || *c->at == '\n' || *c->at == '\t' || *c->at == '\r'))
        ++c->at;
    if (c->at >= c->end || !((*c->at >= 'a' && *c->at <= 'z') || (*c->at >= 'A' && *c->at <= 'Z')))
        return false;
    *command = *c->at++;
    return true;
}

psfm_status psfm_svg_path(psfm_context *ctx, psfm_svg_canvas *canvas, psfm_xml_word data) {
    pen p = {.canvas = canvas, .cursor = {data.text, data.text + data.size}};
    psfm_status status = PSFM_OK;
    char command = '\0';
    while (status == PSFM_OK) {
        bool fresh = next_command(&p, &command);
        if (p.cursor.at >= p.cursor.end && !fresh)
            break;
        if ((command | 0x20) != 'm' && p.last == '\0')
            return refuse(&p, "does not begin with M");
        if (!fresh && (command | 0x20) == 'z')
            return refuse(&p, "has numbers behind Z");
        if (fresh)
            p.last = (command | 0x20) == 'm' ? '\1' : p.last;
        status = follow(ctx, &p, command);
        p.last = command;
    }
    return status;
}
