/* Several courts on one floor are one drawing. It could be taken for the same one with another
 * federation's court in the place of one of them. */
#include "formats/court_request.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/path.h"
#include "core/linalg/angle.h"
#include "formats/json.h"

#define MAX_COURTS 8

/* Reads the names. PSFM_ERR_ARGUMENT for a name that is none. */
static psfm_status list_courts(psfm_context *ctx, const psfm_court_request *request,
                               psfm_court courts[MAX_COURTS], size_t *num) {
    char *names = NULL;
    psfm_status status = psfm_strdup(ctx, request->courts, &names);
    *num = 0;
    for (char *name = names, *comma; name != NULL && status == PSFM_OK;
         name = comma == NULL ? NULL : comma + 1) {
        comma = strchr(name, ',');
        if (comma != NULL)
            *comma = '\0';
        if (*name == '\0')
            status =
                psfm_fail(ctx, PSFM_ERR_ARGUMENT, "--court %s: a name is missing", request->courts);
        else if (*num == MAX_COURTS)
            status = psfm_fail(ctx, PSFM_ERR_ARGUMENT, "--court: more than %d courts", MAX_COURTS);
        else
            status = psfm_court_parse(ctx, name, request->size, &courts[(*num)++]);
    }
    free(names);
    if (status == PSFM_OK && *num > 1 && request->size != NULL)
        status = psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                           "--court-size is for a single court; give several as a drawing");
    return status;
}

/* All of them about one middle; one of them may be replaced. */
static psfm_status combine_courts(psfm_context *ctx, const char *name, const psfm_court *courts,
                                  size_t num, psfm_drawing *drawing) {
    static const double middle[2] = {0.0, 0.0};
    *drawing = (psfm_drawing){0};
    psfm_status status = psfm_strdup(ctx, name, &drawing->name);
    for (size_t k = 0; k < num && status == PSFM_OK; ++k) {
        psfm_drawing one;
        status = psfm_drawing_from_court(ctx, &courts[k], &one);
        if (status == PSFM_OK)
            status = psfm_drawing_place(ctx, &one, middle, 0.0, drawing);
        psfm_drawing_free(&one);
    }
    if (status == PSFM_OK)
        psfm_drawing_stretch_parts(drawing);
    return status;
}

static psfm_status open_several(psfm_context *ctx, const char *name, psfm_court *courts, size_t num,
                                psfm_court_target *target) {
    psfm_status status = combine_courts(ctx, name, courts, num, &target->drawing);
    for (size_t k = 0; k < num; ++k) {
        const psfm_court own = courts[k];
        for (size_t r = 0; r < psfm_num_courts && status == PSFM_OK; ++r) {
            if (!psfm_court_is_related(&own, &psfm_courts[r]) ||
                target->num_rivals >= PSFM_MAX_RIVALS)
                continue;
            courts[k] = psfm_courts[r];
            status = combine_courts(ctx, name, courts, num, &target->rivals[target->num_rivals++]);
        }
        courts[k] = own;
    }
    return status;
}

static psfm_status open_courts(psfm_context *ctx, const psfm_court_request *request,
                               psfm_court_target *target) {
    psfm_court courts[MAX_COURTS];
    size_t num;
    psfm_status status = list_courts(ctx, request, courts, &num);
    if (status != PSFM_OK)
        return status;
    return num == 1 ? psfm_court_target_of_court(ctx, &courts[0], target)
                    : open_several(ctx, request->courts, courts, num, target);
}

psfm_status psfm_court_request_open(psfm_context *ctx, const psfm_court_request *request,
                                    psfm_court_target *target) {
    psfm_drawing drawing = {0};
    *target = (psfm_court_target){0};
    if (request->courts != NULL && request->drawing != NULL)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "a court and a drawing: one of them is wanted");
    if (request->courts == NULL && request->drawing == NULL)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "either --court KIND or --drawing FILE is wanted");
    if (request->courts != NULL)
        return open_courts(ctx, request, target);
    psfm_status status = psfm_drawing_read(ctx, request->drawing, request->unit, &drawing);
    psfm_court_target_of_drawing(&drawing, target);
    return status;
}

/* ---- a drawing's file ---- */

/* Every number is checked before it becomes a part: finite, of a size that a plane on earth has,
 * and a line or arc that has a length. The number of parts is limited, as the search compares them
 * with each other. */

#define MAX_FILE ((size_t)1 << 24)
#define MAX_PARTS 2000
#define MAX_PLACE 1e5 /* metres */
#define MIN_LENGTH 1e-3

static bool is_place(const double at[2]) {
    return fabs(at[0]) <= MAX_PLACE && fabs(at[1]) <= MAX_PLACE;
}

static bool read_line(const cJSON *item, double unit, psfm_drawing_part *part) {
    double v[4];
    if (!psfm_json_get_numbers(item, 4, v))
        return false;
    *part = (psfm_drawing_part){.a = {unit * v[0], unit * v[1]}, .b = {unit * v[2], unit * v[3]}};
    return is_place(part->a) && is_place(part->b) &&
           hypot(part->a[0] - part->b[0], part->a[1] - part->b[1]) >= MIN_LENGTH;
}

static bool read_arc(const cJSON *item, double unit, psfm_drawing_part *part) {
    double v[5];
    if (!psfm_json_get_numbers(item, 5, v))
        return false;
    *part = (psfm_drawing_part){.a = {unit * v[0], unit * v[1]},
                                .b = {psfm_radians(v[3]), psfm_radians(v[4])},
                                .radius = unit * v[2]};
    double span = v[4] - v[3];
    return is_place(part->a) && part->radius >= MIN_LENGTH && part->radius <= MAX_PLACE &&
           fabs(v[3]) <= 720.0 && span > 0.0 && span <= 360.0 &&
           part->radius * psfm_radians(span) >= MIN_LENGTH;
}

/* Reads one of the two lists; a missing one is empty. */
static psfm_status read_parts(psfm_context *ctx, const cJSON *root, bool arcs, double unit,
                              const char *path, psfm_drawing *drawing) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, arcs ? "arcs" : "lines"), *item;
    size_t k = 0;
    if (list != NULL && !cJSON_IsArray(list))
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: '%s' is not a list", path,
                         arcs ? "arcs" : "lines");
    cJSON_ArrayForEach(item, list) {
        psfm_drawing_part part;
        ++k;
        if (!(arcs ? read_arc(item, unit, &part) : read_line(item, unit, &part)))
            return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: %s %zu is not %s", path,
                             arcs ? "arc" : "line", k,
                             arcs ? "x, y, radius, first and last angle in degrees"
                                  : "x0, y0, x1, y1 of two different points");
        if (drawing->num_parts >= MAX_PARTS)
            return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: more than %d lines and arcs", path,
                             MAX_PARTS);
        psfm_status status = psfm_drawing_add(ctx, drawing, &part);
        if (status != PSFM_OK)
            return status;
    }
    return PSFM_OK;
}

static psfm_status read_paint(psfm_context *ctx, const cJSON *root, const char *path,
                              psfm_drawing *drawing) {
    static const char *const names[] = {"either", "light", "dark"};
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(root, "paint");
    if (item == NULL)
        return PSFM_OK;
    for (int k = 0; k < 3 && cJSON_IsString(item); ++k) {
        if (strcmp(item->valuestring, names[k]) == 0) {
            drawing->paint = (psfm_paint)k;
            return PSFM_OK;
        }
    }
    return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: 'paint' is light, dark or either", path);
}

static psfm_status read_unit(psfm_context *ctx, const cJSON *root, const char *path, double *unit) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(root, "unit");
    *unit = 1.0;
    if (item == NULL)
        return PSFM_OK;
    if (!cJSON_IsNumber(item) || !(item->valuedouble > 1e-6) || !(item->valuedouble < 1e6))
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: 'unit' is not a length in metres", path);
    *unit = item->valuedouble;
    return PSFM_OK;
}

/* ---- drawings within the drawing ---- */

/* The court or the lines and arcs of a part, about its own origin. */
static psfm_status read_content(psfm_context *ctx, const cJSON *item, double unit, const char *path,
                                psfm_drawing *content) {
    const cJSON *court_name = cJSON_GetObjectItemCaseSensitive(item, "court");
    const cJSON *size = cJSON_GetObjectItemCaseSensitive(item, "size");
    psfm_court court;
    psfm_status status = PSFM_OK;
    *content = (psfm_drawing){0};
    if (court_name == NULL) {
        for (int arcs = 0; arcs < 2 && status == PSFM_OK; ++arcs)
            status = read_parts(ctx, item, arcs == 1, unit, path, content);
        return status;
    }
    double sides[2];
    if (!cJSON_IsString(court_name))
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: 'court' is not a name", path);
    if (!psfm_court_get(court_name->valuestring, &court))
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: there is no court '%s'", path,
                         court_name->valuestring);
    if (size != NULL &&
        (!psfm_json_get_numbers(size, 2, sides) || !(sides[0] >= 1.0 && sides[1] >= 1.0) ||
         !(sides[0] <= 1000.0 && sides[1] <= 1000.0)))
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: 'size' is not length, width in metres", path);
    court.length = size != NULL ? sides[0] : court.length;
    court.width = size != NULL ? sides[1] : court.width;
    return psfm_drawing_from_court(ctx, &court, content);
}

static psfm_status place_part(psfm_context *ctx, const cJSON *item, double unit, const char *path,
                              psfm_drawing *drawing) {
    const cJSON *at = cJSON_GetObjectItemCaseSensitive(item, "at");
    const cJSON *turn = cJSON_GetObjectItemCaseSensitive(item, "turn");
    double place[2] = {0.0, 0.0}, degrees = turn == NULL ? 0.0 : turn->valuedouble;
    psfm_drawing content;
    if (at != NULL && (!psfm_json_get_numbers(at, 2, place) || !is_place(place)))
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: 'at' is not x, y", path);
    if (turn != NULL && (!cJSON_IsNumber(turn) || !(fabs(degrees) <= 360.0)))
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: 'turn' is not an angle in degrees", path);
    for (int d = 0; d < 2; ++d)
        place[d] *= unit;
    psfm_status status = read_content(ctx, item, unit, path, &content);
    if (status == PSFM_OK && drawing->num_parts + content.num_parts > MAX_PARTS)
        status =
            psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: more than %d lines and arcs", path, MAX_PARTS);
    if (status == PSFM_OK)
        status = psfm_drawing_place(ctx, &content, place, degrees, drawing);
    psfm_drawing_free(&content);
    return status;
}

static psfm_status read_placed(psfm_context *ctx, const cJSON *root, double unit, const char *path,
                               psfm_drawing *drawing) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "parts"), *item;
    psfm_status status = PSFM_OK;
    if (list != NULL && !cJSON_IsArray(list))
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: 'parts' is not a list", path);
    cJSON_ArrayForEach(item, list) {
        const cJSON *name = cJSON_GetObjectItemCaseSensitive(item, "name");
        char where[256];
        snprintf(where, sizeof where, "%s: part %s", path,
                 cJSON_IsString(name) ? name->valuestring : "without a name");
        if (status == PSFM_OK)
            status = place_part(ctx, item, unit, where, drawing);
    }
    return status;
}

static psfm_status read_root(psfm_context *ctx, const cJSON *root, const char *path, double given,
                             psfm_drawing *drawing) {
    double unit;
    if (!cJSON_IsObject(root))
        return psfm_fail(ctx, PSFM_ERR_FORMAT,
                         "%s: not a JSON object with lists 'lines' and 'arcs'", path);
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(root, "name");
    psfm_status status =
        psfm_strdup(ctx, cJSON_IsString(name) ? name->valuestring : path, &drawing->name);
    if (status == PSFM_OK)
        status = read_paint(ctx, root, path, drawing);
    if (status == PSFM_OK)
        status = read_unit(ctx, root, path, &unit);
    unit = given > 0.0 ? given : unit;
    for (int arcs = 0; arcs < 2 && status == PSFM_OK; ++arcs)
        status = read_parts(ctx, root, arcs == 1, unit, path, drawing);
    if (status == PSFM_OK)
        status = read_placed(ctx, root, unit, path, drawing);
    if (status == PSFM_OK)
        psfm_drawing_stretch_parts(drawing);
    return status == PSFM_OK ? psfm_drawing_check(ctx, drawing) : status;
}

psfm_status psfm_drawing_parse(psfm_context *ctx, const char *text, size_t size, const char *path,
                               double unit, psfm_drawing *drawing) {
    *drawing = (psfm_drawing){0};
    cJSON *root = psfm_json_parse_whole(text, size);
    psfm_status status = read_root(ctx, root, path, unit, drawing);
    cJSON_Delete(root);
    if (status != PSFM_OK)
        psfm_drawing_free(drawing);
    return status;
}

psfm_status psfm_drawing_read(psfm_context *ctx, const char *path, double unit,
                              psfm_drawing *drawing) {
    char *text = NULL;
    size_t size = 0;
    *drawing = (psfm_drawing){0};
    psfm_status status = psfm_read_file(ctx, path, MAX_FILE, &text, &size);
    size_t first = status == PSFM_OK ? strspn(text, " \t\r\n\xef\xbb\xbf") : 0;
    if (status == PSFM_OK && text[first] == '\0')
        status = psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: there is nothing in it", path);
    else if (status == PSFM_OK && text[first] == '<')
        status = psfm_fail(ctx, PSFM_ERR_FORMAT,
                           "%s: a drawing is JSON; python/examples/svg_to_drawing.py makes it of "
                           "an SVG file",
                           path);
    else if (status == PSFM_OK)
        status = psfm_drawing_parse(ctx, text, size, path, unit, drawing);
    free(text);
    return status;
}

/* ---- a drawing as JSON ---- */

enum { PIECES = 40 }; /* of an arc */

bool psfm_drawing_add_strokes(cJSON *object, const psfm_drawing *drawing) {
    psfm_json_maker m = {false};
    cJSON *list = psfm_json_list(&m, object, "strokes");
    for (size_t k = 0; k < drawing->num_parts; ++k) {
        int pieces = drawing->parts[k].radius > 0.0 ? PIECES : 1;
        double xy[2 * (PIECES + 1)];
        for (int i = 0; i <= pieces; ++i)
            psfm_drawing_part_at(&drawing->parts[k], (double)i / pieces, xy + 2 * i);
        psfm_json_numbers(&m, list, NULL, xy, 2 * (size_t)(pieces + 1));
    }
    return !m.failed;
}
