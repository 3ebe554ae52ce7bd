/* Parts of drawings are compared within a millimetre: a line that lies on an axis of the court is
 * its own mirror image, and a drawing that maps onto itself part by part under a turn is symmetric.
 */
#include "court/drawing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/angle.h"

#define PI 3.14159265358979323846
#define SAME 1e-3 /* metres, or radians, within which two parts are one */

/* ---- building ---- */

static bool is_near(const double p[2], const double q[2]) {
    return fabs(p[0] - q[0]) < SAME && fabs(p[1] - q[1]) < SAME;
}

/* Angles modulo a whole turn; a whole circle is one from wherever it starts. */
static bool is_same_arc(const psfm_drawing_part *p, const psfm_drawing_part *q) {
    double turns = (p->b[0] - q->b[0]) / (2.0 * PI), span = p->b[1] - p->b[0];
    bool whole = span > 2.0 * PI - SAME;
    return fabs(span - (q->b[1] - q->b[0])) < SAME && (whole || fabs(turns - round(turns)) < SAME);
}

static bool is_same(const psfm_drawing_part *p, const psfm_drawing_part *q) {
    if (fabs(p->radius - q->radius) >= SAME)
        return false;
    if (p->radius > 0.0)
        return is_near(p->a, q->a) && is_same_arc(p, q);
    return (is_near(p->a, q->a) && is_near(p->b, q->b)) ||
           (is_near(p->a, q->b) && is_near(p->b, q->a));
}

psfm_status psfm_drawing_add(psfm_context *ctx, psfm_drawing *drawing,
                             const psfm_drawing_part *part) {
    if (part->radius == 0.0 && is_near(part->a, part->b))
        return PSFM_OK; /* a side of a court that is all corner */
    for (size_t k = 0; k < drawing->num_parts; ++k)
        if (is_same(&drawing->parts[k], part))
            return PSFM_OK;
    psfm_status status =
        PSFM_RESERVE(ctx, &drawing->parts, &drawing->capacity, drawing->num_parts + 1);
    if (status == PSFM_OK)
        drawing->parts[drawing->num_parts++] = *part;
    return status;
}

/* A stroke mirrored at the y axis (bit 0), the x axis (bit 1), both or not at all. `grown` is the
 * stroke of a court that is a metre longer and wider. */
static psfm_drawing_part mirror_stroke(const psfm_court_stroke *stroke,
                                       const psfm_court_stroke *grown, int how) {
    const double signs[2] = {how & 1 ? -1.0 : 1.0, how & 2 ? -1.0 : 1.0};
    psfm_drawing_part part = {.radius = stroke->radius};
    for (int d = 0; d < 2; ++d) {
        part.a[d] = signs[d] * stroke->a[d];
        part.b[d] = signs[d] * stroke->b[d];
        part.move_a[d] = signs[d] * (grown->a[d] - stroke->a[d]);
        part.move_b[d] = signs[d] * (grown->b[d] - stroke->b[d]);
    }
    if (stroke->radius > 0.0) {
        double from = psfm_radians(stroke->b[0]), to = psfm_radians(stroke->b[1]);
        double low = how & 1 ? PI - to : from, high = how & 1 ? PI - from : to;
        part.b[0] = how & 2 ? -high : low;
        part.b[1] = how & 2 ? -low : high;
    }
    return part;
}

psfm_status psfm_drawing_from_court(psfm_context *ctx, const psfm_court *court,
                                    psfm_drawing *drawing) {
    psfm_court larger = *court;
    larger.length += 1.0;
    larger.width += 1.0;
    *drawing = (psfm_drawing){.size = {court->length, court->width}};
    memcpy(drawing->least, court->least, sizeof drawing->least);
    memcpy(drawing->most, court->most, sizeof drawing->most);
    psfm_status status = psfm_strdup(ctx, court->name, &drawing->name);
    for (size_t k = 0; k < court->num_strokes; ++k) {
        psfm_court_stroke stroke = psfm_court_stroke_at(court, k);
        psfm_court_stroke grown = psfm_court_stroke_at(&larger, k);
        for (int how = 0; how < 4 && status == PSFM_OK; ++how) {
            psfm_drawing_part part = mirror_stroke(&stroke, &grown, how);
            status = psfm_drawing_add(ctx, drawing, &part);
        }
    }
    return status;
}

static void place_point(const double at[2], double c, double s, const double from[2],
                        double to[2]) {
    double x = from[0], y = from[1];
    to[0] = at[0] + c * x - s * y;
    to[1] = at[1] + s * x + c * y;
}

psfm_status psfm_drawing_place(psfm_context *ctx, const psfm_drawing *from, const double at[2],
                               double turn_deg, psfm_drawing *drawing) {
    double c = cos(psfm_radians(turn_deg)), s = sin(psfm_radians(turn_deg));
    psfm_status status = PSFM_OK;
    uint32_t layer = drawing->num_layers++ % PSFM_DRAWING_LAYERS;
    for (size_t k = 0; k < from->num_parts && status == PSFM_OK; ++k) {
        psfm_drawing_part part = from->parts[k];
        part.layer = layer;
        place_point(at, c, s, from->parts[k].a, part.a);
        if (part.radius == 0.0)
            place_point(at, c, s, from->parts[k].b, part.b);
        for (int d = 0; d < 2 && part.radius > 0.0; ++d)
            part.b[d] += psfm_radians(turn_deg);
        status = psfm_drawing_add(ctx, drawing, &part);
    }
    return status;
}

psfm_status psfm_drawing_copy(psfm_context *ctx, const psfm_drawing *from, psfm_drawing *to) {
    *to = *from;
    to->name = NULL;
    to->parts = NULL;
    to->capacity = to->num_parts = 0;
    psfm_status status = psfm_strdup(ctx, from->name, &to->name);
    if (status == PSFM_OK)
        status = PSFM_RESERVE(ctx, &to->parts, &to->capacity, from->num_parts);
    if (status != PSFM_OK)
        return status;
    if (from->num_parts > 0)
        memcpy(to->parts, from->parts, from->num_parts * sizeof *to->parts);
    to->num_parts = from->num_parts;
    return PSFM_OK;
}

void psfm_drawing_stretch_parts(psfm_drawing *drawing) {
    double low[2], high[2];
    psfm_drawing_bounds(drawing, low, high);
    for (int d = 0; d < 2; ++d) {
        double middle = 0.5 * (low[d] + high[d]);
        drawing->size[d] = high[d] - low[d];
        for (size_t k = 0; k < drawing->num_parts && drawing->size[d] > 0.0; ++k) {
            psfm_drawing_part *p = &drawing->parts[k];
            p->move_a[d] = (p->a[d] - middle) / drawing->size[d];
            p->move_b[d] = p->radius > 0.0 ? 0.0 : (p->b[d] - middle) / drawing->size[d];
        }
    }
}

void psfm_drawing_resize(psfm_drawing *drawing, const double size[2]) {
    for (int d = 0; d < 2; ++d) {
        double more = size[d] - drawing->size[d];
        for (size_t k = 0; k < drawing->num_parts; ++k) {
            psfm_drawing_part *p = &drawing->parts[k];
            p->a[d] += more * p->move_a[d];
            if (p->radius == 0.0)
                p->b[d] += more * p->move_b[d];
        }
        drawing->size[d] = size[d];
    }
}

void psfm_drawing_free(psfm_drawing *drawing) {
    free(drawing->name);
    free(drawing->parts);
    *drawing = (psfm_drawing){0};
}

/* ---- measures ---- */

double psfm_drawing_part_length(const psfm_drawing_part *part) {
    return part->radius > 0.0 ? part->radius * (part->b[1] - part->b[0])
                              : hypot(part->b[0] - part->a[0], part->b[1] - part->a[1]);
}

void psfm_drawing_part_at(const psfm_drawing_part *part, double t, double at[2]) {
    if (part->radius > 0.0) {
        double angle = part->b[0] + t * (part->b[1] - part->b[0]);
        at[0] = part->a[0] + part->radius * cos(angle);
        at[1] = part->a[1] + part->radius * sin(angle);
    } else {
        for (int d = 0; d < 2; ++d)
            at[d] = part->a[d] + t * (part->b[d] - part->a[d]);
    }
}

static psfm_drawing_sample sample_at(const psfm_drawing *drawing, size_t k, double t) {
    const psfm_drawing_part *p = &drawing->parts[k];
    double at[2], along[2] = {p->b[0] - p->a[0], p->b[1] - p->a[1]};
    psfm_drawing_part_at(p, t, at);
    if (p->radius > 0.0) {
        along[0] = p->a[1] - at[1];
        along[1] = at[0] - p->a[0];
    }
    double length = hypot(along[0], along[1]), move[2];
    for (int d = 0; d < 2; ++d)
        move[d] = p->radius > 0.0 ? p->move_a[d] : p->move_a[d] + t * (p->move_b[d] - p->move_a[d]);
    return (psfm_drawing_sample){.x = (float)at[0],
                                 .y = (float)at[1],
                                 .tx = (float)(along[0] / length),
                                 .ty = (float)(along[1] / length),
                                 .mx = (float)move[0],
                                 .my = (float)move[1],
                                 .part = (uint32_t)k};
}

void psfm_drawing_bounds(const psfm_drawing *drawing, double low[2], double high[2]) {
    enum { STEPS = 32 };
    low[0] = low[1] = INFINITY;
    high[0] = high[1] = -INFINITY;
    for (size_t k = 0; k < drawing->num_parts; ++k) {
        for (int j = 0; j <= STEPS; ++j) {
            double at[2];
            psfm_drawing_part_at(&drawing->parts[k], (double)j / STEPS, at);
            for (int d = 0; d < 2; ++d) {
                low[d] = fmin(low[d], at[d]);
                high[d] = fmax(high[d], at[d]);
            }
        }
    }
}

double psfm_drawing_size(const psfm_drawing *drawing) {
    double low[2], high[2];
    psfm_drawing_bounds(drawing, low, high);
    return hypot(high[0] - low[0], high[1] - low[1]);
}

psfm_status psfm_drawing_sample_lines(psfm_context *ctx, const psfm_drawing *drawing, double step,
                                      psfm_drawing_sample **samples, size_t *num) {
    size_t capacity = 0;
    psfm_status status = PSFM_OK;
    *samples = NULL;
    *num = 0;
    for (size_t k = 0; k < drawing->num_parts && status == PSFM_OK; ++k) {
        size_t n = (size_t)fmax(round(psfm_drawing_part_length(&drawing->parts[k]) / step), 1.0);
        status = PSFM_RESERVE(ctx, samples, &capacity, *num + n);
        for (size_t j = 0; j < n && status == PSFM_OK; ++j)
            (*samples)[(*num)++] = sample_at(drawing, k, ((double)j + 0.5) / (double)n);
    }
    return status;
}

/* ---- structure ---- */

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

psfm_status psfm_drawing_offsets(psfm_context *ctx, const psfm_drawing *drawing, int axis,
                                 double **offsets, size_t *num) {
    size_t n = 0, distinct = 0;
    psfm_status status = PSFM_ALLOC(ctx, drawing->num_parts, offsets);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < drawing->num_parts; ++k) {
        const psfm_drawing_part *p = &drawing->parts[k];
        if (p->radius == 0.0 && fabs(p->a[1 - axis] - p->b[1 - axis]) < SAME &&
            fabs(p->a[axis] - p->b[axis]) > SAME)
            (*offsets)[n++] = p->a[1 - axis];
    }
    qsort(*offsets, n, sizeof **offsets, compare_doubles);
    for (size_t k = 0; k < n; ++k)
        if (distinct == 0 || (*offsets)[k] - (*offsets)[distinct - 1] > SAME)
            (*offsets)[distinct++] = (*offsets)[k];
    *num = distinct;
    return PSFM_OK;
}

psfm_status psfm_drawing_check(psfm_context *ctx, const psfm_drawing *drawing) {
    size_t num[2] = {0};
    for (int axis = 0; axis < 2; ++axis) {
        double *offsets = NULL;
        psfm_status status = psfm_drawing_offsets(ctx, drawing, axis, &offsets, &num[axis]);
        free(offsets);
        if (status != PSFM_OK)
            return status;
    }
    if (num[0] < 1 || num[1] < 1 || num[0] + num[1] < 3)
        return psfm_fail(ctx, PSFM_ERR_DATA,
                         "the drawing %s has %zu lines along x and %zu along y; it needs two along "
                         "one of them and one along the other",
                         drawing->name, num[0], num[1]);
    return PSFM_OK;
}

static bool is_on_one_line(const psfm_drawing_part *p, const psfm_drawing_part *q) {
    if (p->radius > 0.0 || q->radius > 0.0)
        return fabs(p->radius - q->radius) < SAME && is_near(p->a, q->a);
    double x = p->b[0] - p->a[0], y = p->b[1] - p->a[1], length = hypot(x, y);
    double a = ((q->a[0] - p->a[0]) * y - (q->a[1] - p->a[1]) * x) / length;
    double b = ((q->b[0] - p->a[0]) * y - (q->b[1] - p->a[1]) * x) / length;
    return fabs(a) < SAME && fabs(b) < SAME;
}

uint32_t psfm_drawing_number_lines(const psfm_drawing *drawing, uint32_t *ids) {
    uint32_t num = 0;
    for (size_t k = 0; k < drawing->num_parts; ++k) {
        size_t j = 0;
        while (j < k && !is_on_one_line(&drawing->parts[j], &drawing->parts[k]))
            ++j;
        ids[k] = j < k ? ids[j] : num++;
    }
    return num;
}

/* A part turned by quarters about a point. */
static psfm_drawing_part turn_part(const psfm_drawing_part *p, const double center[2],
                                   int quarters) {
    static const int cosines[4] = {1, 0, -1, 0}, sines[4] = {0, 1, 0, -1};
    double c = cosines[quarters], s = sines[quarters];
    psfm_drawing_part out = *p;
    double x = p->a[0] - center[0], y = p->a[1] - center[1];
    out.a[0] = center[0] + c * x - s * y;
    out.a[1] = center[1] + s * x + c * y;
    x = p->b[0] - center[0];
    y = p->b[1] - center[1];
    for (int k = 0; k < 2 && p->radius > 0.0; ++k)
        out.b[k] = p->b[k] + 0.5 * PI * quarters;
    if (p->radius == 0.0) {
        out.b[0] = center[0] + c * x - s * y;
        out.b[1] = center[1] + s * x + c * y;
    }
    return out;
}

static bool has_part(const psfm_drawing *drawing, const psfm_drawing_part *part) {
    for (size_t k = 0; k < drawing->num_parts; ++k)
        if (is_same(&drawing->parts[k], part))
            return true;
    return false;
}

size_t psfm_drawing_turned_part(const psfm_drawing *drawing, size_t k, int quarters) {
    double low[2], high[2], middle[2];
    psfm_drawing_bounds(drawing, low, high);
    for (int d = 0; d < 2; ++d)
        middle[d] = 0.5 * (low[d] + high[d]);
    psfm_drawing_part turned = turn_part(&drawing->parts[k], middle, quarters & 3);
    for (size_t i = 0; i < drawing->num_parts; ++i)
        if (is_same(&drawing->parts[i], &turned))
            return i;
    return k;
}

int psfm_drawing_turns(const psfm_drawing *drawing, int turns[4]) {
    double low[2], high[2];
    int num = 0;
    psfm_drawing_bounds(drawing, low, high);
    const double center[2] = {0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1])};
    for (int quarters = 0; quarters < 4; ++quarters) {
        bool all = true;
        for (size_t k = 0; k < drawing->num_parts && all; ++k) {
            psfm_drawing_part turned = turn_part(&drawing->parts[k], center, quarters);
            all = has_part(drawing, &turned);
        }
        if (all)
            turns[num++] = quarters;
    }
    return num;
}
