/* An SVG file as a drawing: lines, rectangles, circles, polylines, polygons and paths, each under
 * the transforms of its groups. The middle of a stroke counts, whatever its width; what has no
 * stroke or is not shown does not, nor do texts and pictures. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "io/drawing_file.h"
#include "io/svg_shapes.h"

#define MAX_PARTS 2000
#define MAX_DEPTH 64

/* What an element takes over from those around it. */
typedef struct {
    psfm_affine to_drawing;
    bool is_hidden;
} scope;

typedef struct {
    psfm_context *ctx;
    const char *path;
    double unit; /* metres a unit has; 0: what the file says */
    psfm_svg_canvas canvas;
    scope scopes[MAX_DEPTH];
    int depth;
    size_t num_shapes;
} svg;

static psfm_status fail(svg *s, const psfm_xml_tag *tag, const char *problem) {
    return psfm_fail(s->ctx, PSFM_ERR_FORMAT, "%s: shape %zu (%.*s) %s", s->path, s->num_shapes,
                     (int)(tag->name.size < 32 ? tag->name.size : 32), tag->name.text, problem);
}

/* ---- attributes ---- */

/* A number with a unit of length: metres in a unit, or 0 without one. */
static bool parse_length(psfm_xml_word word, double *value, double *metres) {
    static const struct {
        const char *name;
        double metres;
    } units[] = {{"m", 1.0},     {"cm", 0.01}, {"mm", 0.001}, {"in", 0.0254},
                 {"km", 1000.0}, {"", 0.0},    {"px", 0.0}};
    psfm_svg_cursor cursor = {word.text, word.text + word.size};
    if (!psfm_svg_number(&cursor, value))
        return false;
    psfm_xml_word rest = {cursor.at, (size_t)(cursor.end - cursor.at)};
    for (size_t k = 0; k < sizeof units / sizeof *units; ++k)
        if (psfm_xml_is(rest, units[k].name)) {
            *metres = units[k].metres;
            return true;
        }
    return false;
}

/* A number in user units; `value` stays if the attribute is not there. */
static bool read_value(const psfm_xml_tag *tag, const char *name, double *value) {
    psfm_xml_word word;
    double found, metres;
    if (!psfm_xml_attribute(tag, name, &word))
        return true;
    if (!parse_length(word, &found, &metres) || metres != 0.0)
        return false;
    *value = found;
    return true;
}

/* Whether a property of the presentation has this value, as an attribute or in the style. */
static bool has_property(const psfm_xml_tag *tag, const char *name, const char *value) {
    psfm_xml_word word;
    if (psfm_xml_attribute(tag, name, &word) && psfm_xml_is(word, value))
        return true;
    if (!psfm_xml_attribute(tag, "style", &word))
        return false;
    size_t n = strlen(name), m = strlen(value);
    for (size_t k = 0; k + n + m < word.size; ++k) {
        const char *at = word.text + k;
        bool begins = k == 0 || at[-1] == ';' || at[-1] == ' ';
        if (!begins || memcmp(at, name, n) != 0 || at[n] != ':')
            continue;
        size_t gap = n + 1;
        while (k + gap < word.size && at[gap] == ' ')
            ++gap;
        if (k + gap + m <= word.size && memcmp(at + gap, value, m) == 0)
            return true;
    }
    return false;
}

/* ---- shapes ---- */

static psfm_status add_line(svg *s, const psfm_xml_tag *tag) {
    double a[2] = {0}, b[2] = {0};
    if (!read_value(tag, "x1", &a[0]) || !read_value(tag, "y1", &a[1]) ||
        !read_value(tag, "x2", &b[0]) || !read_value(tag, "y2", &b[1]))
        return fail(s, tag, "has an end that is no number");
    return psfm_svg_line(s->ctx, &s->canvas, a, b);
}

static psfm_status add_rect(svg *s, const psfm_xml_tag *tag) {
    double at[2] = {0}, size[2] = {0}, rx = 0.0, ry = 0.0;
    psfm_status status = PSFM_OK;
    if (!read_value(tag, "x", &at[0]) || !read_value(tag, "y", &at[1]) ||
        !read_value(tag, "width", &size[0]) || !read_value(tag, "height", &size[1]) ||
        !read_value(tag, "rx", &rx) || !read_value(tag, "ry", &ry))
        return fail(s, tag, "has a size that is no number");
    if (rx != 0.0 || ry != 0.0)
        return fail(s, tag, "has round corners; give it as a path");
    for (int k = 0; k < 4 && status == PSFM_OK; ++k) {
        int next = (k + 1) & 3;
        double a[2] = {at[0] + (k == 1 || k == 2 ? size[0] : 0.0), at[1] + (k >= 2 ? size[1] : 0)};
        double b[2] = {at[0] + (next == 1 || next == 2 ? size[0] : 0.0),
                       at[1] + (next >= 2 ? size[1] : 0)};
        status = psfm_svg_line(s->ctx, &s->canvas, a, b);
    }
    return status;
}

static psfm_status add_circle(svg *s, const psfm_xml_tag *tag) {
    double center[2] = {0}, r = 0.0, rx = 0.0, ry = 0.0;
    if (!read_value(tag, "cx", &center[0]) || !read_value(tag, "cy", &center[1]) ||
        !read_value(tag, "r", &r) || !read_value(tag, "rx", &rx) || !read_value(tag, "ry", &ry))
        return fail(s, tag, "has a measure that is no number");
    if (rx != ry)
        return fail(s, tag, "is no circle; only circles can be read");
    return psfm_svg_circle(s->ctx, &s->canvas, center, fmax(fabs(r), fabs(rx)));
}

static psfm_status add_polyline(svg *s, const psfm_xml_tag *tag, bool closed) {
    psfm_xml_word word;
    double first[2], at[2], next[2];
    psfm_status status = PSFM_OK;
    if (!psfm_xml_attribute(tag, "points", &word))
        return PSFM_OK;
    psfm_svg_cursor cursor = {word.text, word.text + word.size};
    if (!psfm_svg_number(&cursor, &first[0]) || !psfm_svg_number(&cursor, &first[1]))
        return fail(s, tag, "has points that are no numbers");
    memcpy(at, first, sizeof at);
    while (status == PSFM_OK && psfm_svg_number(&cursor, &next[0])) {
        if (!psfm_svg_number(&cursor, &next[1]))
            return fail(s, tag, "has a point without its y");
        status = psfm_svg_line(s->ctx, &s->canvas, at, next);
        memcpy(at, next, sizeof at);
    }
    return closed && status == PSFM_OK ? psfm_svg_line(s->ctx, &s->canvas, at, first) : status;
}

static psfm_status add_path(svg *s, const psfm_xml_tag *tag) {
    psfm_xml_word data;
    return psfm_xml_attribute(tag, "d", &data) ? psfm_svg_path(s->ctx, &s->canvas, data) : PSFM_OK;
}

static psfm_status add_shape(svg *s, const psfm_xml_tag *tag) {
    psfm_status status = PSFM_OK;
    s->canvas.problem = NULL;
    if (psfm_xml_is(tag->name, "line"))
        status = add_line(s, tag);
    else if (psfm_xml_is(tag->name, "rect"))
        status = add_rect(s, tag);
    else if (psfm_xml_is(tag->name, "circle") || psfm_xml_is(tag->name, "ellipse"))
        status = add_circle(s, tag);
    else if (psfm_xml_is(tag->name, "polyline") || psfm_xml_is(tag->name, "polygon"))
        status = add_polyline(s, tag, psfm_xml_is(tag->name, "polygon"));
    else if (psfm_xml_is(tag->name, "path"))
        status = add_path(s, tag);
    else if (psfm_xml_is(tag->name, "use"))
        return fail(s, tag, "refers to another shape; draw it in its place");
    return status == PSFM_ERR_FORMAT && s->canvas.problem != NULL ? fail(s, tag, s->canvas.problem)
                                                                  : status;
}

/* ---- the file ---- */

/* Metres a user unit has, by the width of the picture and of its view box. */
static psfm_status find_unit(svg *s, const psfm_xml_tag *tag, double *unit) {
    psfm_xml_word word;
    double width, metres = 0.0, box[4] = {0};
    *unit = s->unit > 0.0 ? s->unit : 1.0;
    if (s->unit > 0.0 || !psfm_xml_attribute(tag, "width", &word) ||
        !parse_length(word, &width, &metres) || metres == 0.0)
        return PSFM_OK;
    if (psfm_xml_attribute(tag, "viewBox", &word)) {
        psfm_svg_cursor cursor = {word.text, word.text + word.size};
        for (int k = 0; k < 4; ++k)
            if (!psfm_svg_number(&cursor, &box[k]))
                return fail(s, tag, "has a viewBox that is not four numbers");
        metres *= width / box[2];
    }
    if (!(metres > 1e-6) || !(metres < 1e6))
        return fail(s, tag, "has a width that gives no scale");
    *unit = metres;
    return PSFM_OK;
}

/* Things that are not drawn where they stand. */
static bool is_store(const psfm_xml_tag *tag) {
    static const char *const names[] = {"defs",    "symbol", "clipPath", "mask",
                                        "pattern", "marker", "metadata", "style"};
    for (size_t k = 0; k < sizeof names / sizeof *names; ++k)
        if (psfm_xml_is(tag->name, names[k]))
            return true;
    return false;
}

/* The scope of an element within the current one. */
static psfm_status open_scope(svg *s, const psfm_xml_tag *tag, scope *out) {
    psfm_xml_word word;
    psfm_affine own;
    *out = s->scopes[s->depth];
    out->is_hidden = out->is_hidden || is_store(tag) || has_property(tag, "display", "none") ||
                     has_property(tag, "stroke", "none");
    if (!psfm_xml_attribute(tag, "transform", &word))
        return PSFM_OK;
    if (!psfm_svg_transform(word, &own))
        return fail(s, tag, "has a transform that cannot be read");
    out->to_drawing = psfm_affine_mul(&out->to_drawing, &own);
    return PSFM_OK;
}

static psfm_status read_tag(svg *s, const psfm_xml_tag *tag) {
    scope inner;
    if (!tag->opens) {
        s->depth -= s->depth > 0;
        return PSFM_OK;
    }
    ++s->num_shapes;
    psfm_status status = open_scope(s, tag, &inner);
    if (status == PSFM_OK && !inner.is_hidden) {
        s->canvas.to_drawing = inner.to_drawing;
        status = add_shape(s, tag);
    }
    if (status != PSFM_OK || tag->closes)
        return status;
    if (s->depth + 1 >= MAX_DEPTH)
        return fail(s, tag, "is within too many others");
    s->scopes[++s->depth] = inner;
    return PSFM_OK;
}

static psfm_status read_file(svg *s, const char *text, size_t size) {
    psfm_xml_reader reader = psfm_xml_open(text, size);
    psfm_xml_tag tag;
    double unit;
    if (!psfm_xml_next(&reader, &tag) || !tag.opens || !psfm_xml_is(tag.name, "svg"))
        return psfm_fail(s->ctx, PSFM_ERR_FORMAT, "%s: not an SVG file", s->path);
    psfm_status status = find_unit(s, &tag, &unit);
    if (status != PSFM_OK)
        return status;
    s->scopes[0] = (scope){.to_drawing = {{unit, 0.0, 0.0, -unit, 0.0, 0.0}}}; /* y up */
    while (status == PSFM_OK && psfm_xml_next(&reader, &tag))
        status = read_tag(s, &tag);
    if (status == PSFM_OK && reader.is_broken)
        status = psfm_fail(s->ctx, PSFM_ERR_FORMAT, "%s: it ends within a tag", s->path);
    return status;
}

psfm_status psfm_drawing_parse_svg(psfm_context *ctx, const char *text, size_t size,
                                   const char *path, double unit, psfm_drawing *drawing) {
    svg s = {.ctx = ctx, .path = path, .unit = unit};
    *drawing = (psfm_drawing){0};
    s.canvas = (psfm_svg_canvas){.drawing = drawing, .max_parts = MAX_PARTS};
    psfm_status status = psfm_strdup(ctx, path, &drawing->name);
    if (status == PSFM_OK)
        status = read_file(&s, text, size);
    if (status == PSFM_OK) {
        psfm_drawing_stretch_parts(drawing);
        status = psfm_drawing_check(ctx, drawing);
    }
    if (status != PSFM_OK)
        psfm_drawing_free(drawing);
    return status;
}
