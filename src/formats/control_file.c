/* Text files of what is known of the world: positions of cameras, control points, labelled points.
 *
 * All go through one reader of lines. Coordinates on the earth become east, north and up of the
 * first position, so that everything behind works in metres. Lines that show the same point (the
 * same coordinates, or the same label) are views of one. */
#include "formats/control_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/number_locale.h"
#include "core/base/path.h"
#include "core/base/text.h"

#define MAX_FILE ((size_t)1 << 28)
#define MAX_LINE 4096
#define MAX_FIELDS 16

/* A text file line by line, without comments, empty lines and outer blanks. */
typedef struct {
    psfm_context *ctx;
    const char *path, *text;
    size_t size, at, line;
    char buffer[MAX_LINE];
} reader;

/* Puts the next line into the buffer; *found is false at the end. */
static psfm_status next_line(reader *r, bool *found) {
    *found = false;
    while (r->at < r->size) {
        const char *begin = r->text + r->at, *newline = memchr(begin, '\n', r->size - r->at);
        size_t length = newline == NULL ? r->size - r->at : (size_t)(newline - begin);
        r->at += length + 1;
        ++r->line;
        while (length > 0 && psfm_is_blank(begin[length - 1]))
            --length;
        while (length > 0 && psfm_is_blank(begin[0])) {
            ++begin;
            --length;
        }
        if (length == 0 || begin[0] == '#')
            continue;
        if (length >= MAX_LINE || memchr(begin, '\0', length) != NULL)
            return psfm_fail(r->ctx, PSFM_ERR_FORMAT, "%s: line %zu: not a line of text", r->path,
                             r->line);
        memcpy(r->buffer, begin, length);
        r->buffer[length] = '\0';
        *found = true;
        return PSFM_OK;
    }
    return PSFM_OK;
}

/* Cuts the buffer into fields, at tabs if it has one, otherwise at blanks. Returns their number,
 * MAX_FIELDS + 1 if there are more than MAX_FIELDS. */
static int split_fields(char *line, char *fields[MAX_FIELDS]) {
    const char *separators = strchr(line, '\t') != NULL ? "\t" : " ";
    int num = 0;
    char *rest = NULL;
    for (char *field = strtok_r(line, separators, &rest); field != NULL;
         field = strtok_r(NULL, separators, &rest)) {
        if (num == MAX_FIELDS)
            return MAX_FIELDS + 1;
        fields[num++] = field;
    }
    return num;
}

static psfm_status bad_line(const reader *r, const char *wanted) {
    return psfm_fail(r->ctx, PSFM_ERR_FORMAT, "%s: line %zu: should be %s", r->path, r->line,
                     wanted);
}

psfm_status psfm_positions_add(psfm_context *ctx, psfm_positions *positions, const char *image,
                               const double at[3]) {
    for (size_t k = 0; k < positions->num; ++k)
        if (strcmp(positions->items[k].image, image) == 0)
            return psfm_fail(ctx, PSFM_ERR_FORMAT, "the image '%s' has two positions", image);
    psfm_status status =
        PSFM_RESERVE(ctx, &positions->items, &positions->capacity, positions->num + 1);
    if (status != PSFM_OK)
        return status;
    psfm_known_position *item = &positions->items[positions->num];
    memcpy(item->at, at, sizeof item->at);
    status = psfm_strdup(ctx, image, &item->image);
    positions->num += status == PSFM_OK;
    return status;
}

/* East, north and up; the first position is the origin. */
static void locate_position(bool *has_geo, psfm_geo_reference *geo, const psfm_geodetic *at,
                            double out[3]) {
    if (!*has_geo)
        geo->origin = (psfm_geodetic){at->latitude_deg, at->longitude_deg, 0.0};
    *has_geo = true;
    psfm_geodetic_to_enu(&geo->origin, at, out);
}

psfm_status psfm_positions_add_geodetic(psfm_context *ctx, psfm_positions *positions,
                                        const char *image, const psfm_geodetic *at) {
    double enu[3];
    if (!psfm_geodetic_is_valid(at))
        return psfm_fail(ctx, PSFM_ERR_FORMAT,
                         "the image '%s': latitude %g, longitude %g, altitude %g is not a place on "
                         "the earth",
                         image, at->latitude_deg, at->longitude_deg, at->altitude_m);
    locate_position(&positions->has_geo, &positions->geo, at, enu);
    return psfm_positions_add(ctx, positions, image, enu);
}

/* Cuts the last number off the line; false if there is none. */
static bool take_number(char *line, double *value) {
    size_t end = strlen(line);
    while (end > 0 && (psfm_is_blank(line[end - 1]) || line[end - 1] == ','))
        --end;
    line[end] = '\0';
    size_t begin = end;
    while (begin > 0 && !psfm_is_blank(line[begin - 1]) && line[begin - 1] != ',')
        --begin;
    if (begin == 0 || !psfm_parse_number(line + begin, value))
        return false;
    line[begin] = '\0';
    return true;
}

static psfm_status parse_position(reader *r, bool geodetic, psfm_positions *positions) {
    double at[3];
    char *name = r->buffer;
    for (int k = 2; k >= 0; --k)
        if (!take_number(name, &at[k]))
            return bad_line(r, geodetic ? "IMAGE latitude longitude altitude" : "IMAGE x y z");
    size_t length = strlen(name);
    while (length > 0 && (psfm_is_blank(name[length - 1]) || name[length - 1] == ','))
        name[--length] = '\0';
    if (length == 0)
        return bad_line(r, "the name of an image before three numbers");
    psfm_geodetic place = {at[0], at[1], at[2]};
    psfm_status status = geodetic ? psfm_positions_add_geodetic(r->ctx, positions, name, &place)
                                  : psfm_positions_add(r->ctx, positions, name, at);
    if (status == PSFM_ERR_FORMAT) {
        char reason[512];
        snprintf(reason, sizeof reason, "%s", psfm_context_message(r->ctx));
        return psfm_fail(r->ctx, status, "%s: line %zu: %s", r->path, r->line, reason);
    }
    return status;
}

psfm_status psfm_positions_parse(psfm_context *ctx, const char *text, size_t size, const char *path,
                                 bool geodetic, psfm_positions *positions) {
    reader r = {.ctx = ctx, .path = path, .text = text, .size = size};
    bool found = true;
    *positions = (psfm_positions){0};
    psfm_status status = PSFM_OK;
    while (status == PSFM_OK && (status = next_line(&r, &found)) == PSFM_OK && found)
        status = parse_position(&r, geodetic, positions);
    if (status == PSFM_OK && positions->num == 0)
        status = psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: there are no positions in it", path);
    if (status != PSFM_OK)
        psfm_positions_free(positions);
    return status;
}

psfm_status psfm_positions_read(psfm_context *ctx, const char *path, bool geodetic,
                                psfm_positions *positions) {
    char *text = NULL;
    size_t size = 0;
    *positions = (psfm_positions){0};
    psfm_status status = psfm_read_file(ctx, path, MAX_FILE, &text, &size);
    if (status == PSFM_OK)
        status = psfm_positions_parse(ctx, text, size, path, geodetic, positions);
    free(text);
    return status;
}

void psfm_positions_free(psfm_positions *positions) {
    for (size_t k = 0; k < positions->num; ++k)
        free(positions->items[k].image);
    free(positions->items);
    *positions = (psfm_positions){0};
}

/* What the coordinates of a file of control points are. */
typedef enum { COORDINATES_LOCAL, COORDINATES_DEGREES, COORDINATES_UTM } coordinate_kind;

typedef struct {
    coordinate_kind kind;
    int zone;
    bool south;
} coordinates;

/* A whole number behind a prefix; what follows it is left in *rest. */
static bool number_behind(const char *line, const char *prefix, long *value, char **rest) {
    size_t length = strlen(prefix);
    if (strncmp(line, prefix, length) != 0 || line[length] < '0' || line[length] > '9')
        return false;
    *value = strtol(line + length, rest, 10);
    return *value < 100000;
}

/* PROJ's name of UTM, as OpenDroneMap writes it: "+proj=utm +zone=33 +south +datum=WGS84 ...". On
 * an ellipsoid that is not WGS84's it would be another grid. */
static bool parse_proj_utm(const char *line, coordinates *out) {
    static const char *const harmless[] = {"+datum=WGS84", "+ellps=WGS84", "+units=m",
                                           "+no_defs",     "+type=crs",    "+proj=utm"};
    char *rest = NULL, *end = NULL, copy[MAX_LINE];
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok_r(copy, " \t", &rest); word != NULL;
         word = strtok_r(NULL, " \t", &rest)) {
        bool known = false;
        long zone;
        for (size_t k = 0; k < sizeof harmless / sizeof *harmless; ++k)
            known = known || strcmp(word, harmless[k]) == 0;
        if (number_behind(word, "+zone=", &zone, &end) && *end == '\0')
            out->zone = (int)zone;
        else if (strcmp(word, "+south") == 0)
            out->south = true;
        else if (!known)
            return false;
    }
    return out->zone >= 1 && out->zone <= 60;
}

/* Reads the line that names the coordinates. */
static bool parse_coordinates(const char *line, coordinates *out) {
    long number = 0;
    char *rest = NULL;
    *out = (coordinates){COORDINATES_LOCAL, 0, false};
    if (strcmp(line, "local") == 0)
        return true;
    out->kind = COORDINATES_DEGREES;
    if (strcmp(line, "WGS84") == 0 || strcmp(line, "EPSG:4326") == 0)
        return true;
    out->kind = COORDINATES_UTM;
    if (strncmp(line, "+proj=utm", 9) == 0)
        return parse_proj_utm(line, out);
    if (number_behind(line, "WGS84 UTM ", &number, &rest)) {
        out->south = strcmp(rest, "S") == 0;
        if (!out->south && strcmp(rest, "N") != 0)
            return false;
    } else if (number_behind(line, "EPSG:", &number, &rest) && *rest == '\0' &&
               (number / 100 == 326 || number / 100 == 327)) {
        out->south = number / 100 == 327;
        number %= 100;
    } else {
        return false;
    }
    out->zone = (int)number;
    return number >= 1 && number <= 60;
}

/* The point of this place, or in a file of labels of this label; added if it is new. */
static psfm_status find_point(psfm_context *ctx, psfm_control_kind kind, psfm_control_set *set,
                              const char *label, const double at[3], uint32_t *out) {
    for (size_t k = 0; k < set->num_points; ++k) {
        const psfm_control_point *known = &set->points[k];
        bool same_place = known->at[0] == at[0] && known->at[1] == at[1] && known->at[2] == at[2];
        if (kind == PSFM_FILE_LABELS ? strcmp(known->label, label) == 0 : same_place) {
            *out = (uint32_t)k;
            return PSFM_OK;
        }
    }
    psfm_status status =
        PSFM_RESERVE(ctx, &set->points, &set->points_capacity, set->num_points + 1);
    if (status != PSFM_OK)
        return status;
    psfm_control_point *point = &set->points[set->num_points];
    char number[32];
    snprintf(number, sizeof number, "point %zu", set->num_points + 1);
    memcpy(point->at, at, sizeof point->at);
    status = psfm_strdup(ctx, label == NULL ? number : label, &point->label);
    if (status == PSFM_OK)
        *out = (uint32_t)set->num_points++;
    return status;
}

static psfm_status add_view(reader *r, psfm_control_set *set, uint32_t point, const char *image,
                            const double xy[2]) {
    for (size_t k = 0; k < set->num_views; ++k)
        if (set->views[k].point == point && strcmp(set->views[k].image, image) == 0)
            return psfm_fail(r->ctx, PSFM_ERR_FORMAT, "%s: line %zu: '%s' shows '%s' twice",
                             r->path, r->line, image, set->points[point].label);
    psfm_status status =
        PSFM_RESERVE(r->ctx, &set->views, &set->views_capacity, set->num_views + 1);
    if (status != PSFM_OK)
        return status;
    psfm_control_view *view = &set->views[set->num_views];
    view->point = point;
    view->xy[0] = xy[0];
    view->xy[1] = xy[1];
    status = psfm_strdup(r->ctx, image, &view->image);
    set->num_views += status == PSFM_OK;
    return status;
}

static psfm_status parse_control(reader *r, const coordinates *kind, psfm_control_set *set) {
    char *fields[MAX_FIELDS];
    double value[5], at[3];
    uint32_t point = 0;
    int num = split_fields(r->buffer, fields);
    bool ok = num == 6 || num == 7;
    for (int k = 0; ok && k < 5; ++k)
        ok = psfm_parse_number(fields[k], &value[k]);
    if (!ok)
        return bad_line(r, "X Y Z x y IMAGE [LABEL]");
    memcpy(at, value, sizeof at);
    psfm_geodetic place = {value[1], value[0], value[2]};
    if (kind->kind == COORDINATES_UTM)
        ok = psfm_geodetic_from_utm(kind->zone, kind->south, value[0], value[1], value[2], &place);
    if (!ok || (kind->kind != COORDINATES_LOCAL && !psfm_geodetic_is_valid(&place)))
        return bad_line(r, "a place on the earth, in the coordinates that the first line names");
    if (kind->kind != COORDINATES_LOCAL)
        locate_position(&set->has_geo, &set->geo, &place, at);
    psfm_status status =
        find_point(r->ctx, PSFM_FILE_CONTROL, set, num == 7 ? fields[6] : NULL, at, &point);
    return status == PSFM_OK ? add_view(r, set, point, fields[5], value + 3) : status;
}

/* A point of a court, or of any name (court == NULL). */
static psfm_status parse_named_point(reader *r, const psfm_court *court, psfm_control_set *set) {
    char *fields[MAX_FIELDS];
    double xy[2], at[3] = {0};
    uint32_t point = 0;
    if (split_fields(r->buffer, fields) != 4 || !psfm_parse_number(fields[2], &xy[0]) ||
        !psfm_parse_number(fields[3], &xy[1]))
        return bad_line(r, "LABEL IMAGE x y");
    if (court != NULL && !psfm_court_find(court, fields[0], at)) {
        char labels[1024];
        psfm_court_labels(court, labels, sizeof labels);
        return psfm_fail(r->ctx, PSFM_ERR_FORMAT, "%s: line %zu: %s has no point '%s'; it has %s",
                         r->path, r->line, court->name, fields[0], labels);
    }
    psfm_control_kind kind = court == NULL ? PSFM_FILE_LABELS : PSFM_FILE_COURT;
    psfm_status status = find_point(r->ctx, kind, set, fields[0], at, &point);
    return status == PSFM_OK ? add_view(r, set, point, fields[1], xy) : status;
}

/* All kinds of files; `court` is for PSFM_FILE_COURT alone. */
static psfm_status parse_set(psfm_context *ctx, const char *text, size_t size, const char *path,
                             psfm_control_kind file, const psfm_court *court,
                             psfm_control_set *set) {
    reader r = {.ctx = ctx, .path = path, .text = text, .size = size};
    coordinates kind = {COORDINATES_LOCAL, 0, false};
    bool found = true, first = true;
    psfm_status status = PSFM_OK;
    while (status == PSFM_OK && (status = next_line(&r, &found)) == PSFM_OK && found) {
        double number;
        char head[MAX_LINE];
        (void)sscanf(r.buffer, "%4095s", head);
        if (file != PSFM_FILE_CONTROL)
            status = parse_named_point(&r, court, set);
        else if (!first || psfm_parse_number(head, &number))
            status = parse_control(&r, &kind, set);
        else if (!parse_coordinates(r.buffer, &kind))
            status =
                psfm_fail(ctx, PSFM_ERR_FORMAT,
                          "%s: the coordinates '%s' are not known (local, WGS84, EPSG:4326, "
                          "WGS84 UTM 33N, EPSG:326zz, EPSG:327zz, +proj=utm +zone=33 +datum=WGS84)",
                          path, r.buffer);
        first = false;
    }
    if (status == PSFM_OK && set->num_views == 0)
        status = psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: there are no points in it", path);
    return status;
}

psfm_status psfm_control_parse(psfm_context *ctx, const char *text, size_t size, const char *path,
                               psfm_control_kind kind, const psfm_court *court,
                               psfm_control_set *set) {
    *set = (psfm_control_set){0};
    psfm_status status = parse_set(ctx, text, size, path, kind, court, set);
    if (status != PSFM_OK)
        psfm_control_free(set);
    return status;
}

static psfm_status read_set(psfm_context *ctx, const char *path, psfm_control_kind file,
                            const psfm_court *court, psfm_control_set *set) {
    char *text = NULL;
    size_t size = 0;
    *set = (psfm_control_set){0};
    psfm_status status = psfm_read_file(ctx, path, MAX_FILE, &text, &size);
    if (status == PSFM_OK)
        status = psfm_control_parse(ctx, text, size, path, file, court, set);
    free(text);
    return status;
}

psfm_status psfm_control_read(psfm_context *ctx, const char *path, psfm_control_set *set) {
    return read_set(ctx, path, PSFM_FILE_CONTROL, NULL, set);
}

psfm_status psfm_court_points_read(psfm_context *ctx, const char *path, const psfm_court *court,
                                   psfm_control_set *set) {
    return read_set(ctx, path, PSFM_FILE_COURT, court, set);
}

psfm_status psfm_labels_read(psfm_context *ctx, const char *path, psfm_control_set *set) {
    return read_set(ctx, path, PSFM_FILE_LABELS, NULL, set);
}

void psfm_control_free(psfm_control_set *set) {
    for (size_t k = 0; k < set->num_points; ++k)
        free(set->points[k].label);
    for (size_t k = 0; k < set->num_views; ++k)
        free(set->views[k].image);
    free(set->points);
    free(set->views);
    *set = (psfm_control_set){0};
}
