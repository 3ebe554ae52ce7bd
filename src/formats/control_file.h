/* What is known of the world: positions of cameras, and points with their places in images. */
#ifndef PSFM_FORMATS_CONTROL_FILE_H
#define PSFM_FORMATS_CONTROL_FILE_H

#include <stdint.h>

#include "court/court.h"
#include "formats/geo_reference.h"

/* Known camera positions, each image at most once. Owns its parts. */
typedef struct {
    char *image;
    double at[3]; /* world; metres east, north and up of the origin if geo-referenced */
} psfm_known_position;

typedef struct {
    psfm_known_position *items;
    size_t num, capacity;
    bool has_geo;
    psfm_geo_reference geo;
} psfm_positions;

/* Adds one; an image that is there already is PSFM_ERR_FORMAT. */
psfm_status psfm_positions_add(psfm_context *ctx, psfm_positions *positions, const char *image,
                               const double at[3]);
/* The same from a position on the earth. The first one's latitude and longitude at height 0 become
 * the origin, so that z is the altitude. */
psfm_status psfm_positions_add_geodetic(psfm_context *ctx, psfm_positions *positions,
                                        const char *image, const psfm_geodetic *at);

/* Reads lines "IMAGE x y z", or with `geodetic` "IMAGE latitude longitude altitude", separated by
 * blanks, tabs or commas; the image's name is all before the last three numbers. '#' begins a
 * comment line. Free in any case; on failure *positions is empty. */
psfm_status psfm_positions_read(psfm_context *ctx, const char *path, bool geodetic,
                                psfm_positions *positions);
/* The same from text; `path` is for messages. */
psfm_status psfm_positions_parse(psfm_context *ctx, const char *text, size_t size, const char *path,
                                 bool geodetic, psfm_positions *positions);
void psfm_positions_free(psfm_positions *positions);

/* Known points and where images show them. Owns its parts. */
typedef struct {
    char *label;
    double at[3]; /* world, as above */
} psfm_control_point;

typedef struct {
    uint32_t point; /* index into points */
    char *image;
    double xy[2]; /* pixels */
} psfm_control_view;

typedef struct {
    psfm_control_point *points;
    size_t num_points, points_capacity;
    psfm_control_view *views;
    size_t num_views, views_capacity;
    bool has_geo;
    psfm_geo_reference geo;
} psfm_control_set;

/* Reads ground control points: lines "X Y Z x y IMAGE [LABEL]", the pixel (x, y) of IMAGE shows the
 * point (X, Y, Z). Fields are separated by tabs if a line has one, otherwise by blanks. Lines with
 * the same coordinates are one point. A first line without numbers names the coordinates: "local"
 * (the default: taken as they are), "WGS84" or "EPSG:4326" (longitude, latitude, altitude),
 * "WGS84 UTM 33N", "EPSG:326zz", "EPSG:327zz" or "+proj=utm +zone=33 [+south]" (UTM). Pixels as
 * COLMAP's. Free in any case; on failure *set is empty. */
psfm_status psfm_control_read(psfm_context *ctx, const char *path, psfm_control_set *set);

/* Reads points of a court: lines "LABEL IMAGE x y", labels as in court/court.h. */
psfm_status psfm_court_points_read(psfm_context *ctx, const char *path, const psfm_court *court,
                                   psfm_control_set *set);
/* Reads points by name alone: lines "LABEL IMAGE x y" with any labels, which are the points; places
 * in the world are zero. */
psfm_status psfm_labels_read(psfm_context *ctx, const char *path, psfm_control_set *set);

/* The three kinds of files, by what makes two lines show the same point. */
typedef enum { PSFM_FILE_CONTROL, PSFM_FILE_COURT, PSFM_FILE_LABELS } psfm_control_kind;

/* The same from text; `path` is for messages, `court` for PSFM_FILE_COURT alone. */
psfm_status psfm_control_parse(psfm_context *ctx, const char *text, size_t size, const char *path,
                               psfm_control_kind kind, const psfm_court *court,
                               psfm_control_set *set);
void psfm_control_free(psfm_control_set *set);

#endif
