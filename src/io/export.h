/* Models for other programs: one function per format, one table of names. docs/formats.md has the
 * conventions of each. */
#ifndef PSFM_IO_EXPORT_H
#define PSFM_IO_EXPORT_H

#include "camera/lens.h"
#include "io/geo_reference.h"
#include "planarsfm/model.h"
#include "scene/planes.h"

typedef struct {
    const psfm_model *model;
    const psfm_geo_reference *geo;   /* NULL: not geo-referenced */
    const psfm_scene_planes *planes; /* NULL: none are known */
    const char *image_folder;        /* put before image names; NULL or "": nothing */
} psfm_export_input;

/* Writes one file or folder at `path`; files are whole or absent. PSFM_ERR_DATA, with nothing
 * written, if the format cannot hold the model, with the camera and the reason. */
typedef psfm_status (*psfm_export_fn)(psfm_context *ctx, const psfm_export_input *in,
                                      const char *path);

typedef struct {
    const char *name; /* as in `convert --to` */
    psfm_export_fn write;
} psfm_export_format;

/* Ended by name == NULL. */
extern const psfm_export_format psfm_export_formats[];

/* The format with this name; NULL, with a message that lists all names, if there is none. */
const psfm_export_format *psfm_export_find(psfm_context *ctx, const char *name);

/* Runs the format's function with numbers in the "C" locale, whatever the caller's is. */
psfm_status psfm_export(psfm_context *ctx, const psfm_export_format *format,
                        const psfm_export_input *in, const char *path);

/* The formats. */
psfm_status psfm_export_transforms(psfm_context *ctx, const psfm_export_input *in,
                                   const char *path);
psfm_status psfm_export_tum(psfm_context *ctx, const psfm_export_input *in, const char *path);
psfm_status psfm_export_bundler(psfm_context *ctx, const psfm_export_input *in, const char *path);
psfm_status psfm_export_opencv(psfm_context *ctx, const psfm_export_input *in, const char *folder);
psfm_status psfm_export_kml(psfm_context *ctx, const psfm_export_input *in, const char *path);
psfm_status psfm_export_geojson(psfm_context *ctx, const psfm_export_input *in, const char *path);
/* Points as vertices, cameras as pyramids, planes as polygons. */
psfm_status psfm_export_ply(psfm_context *ctx, const psfm_export_input *in, const char *path);
/* The points alone. */
psfm_status psfm_export_points_ply(psfm_context *ctx, const psfm_export_input *in,
                                   const char *path);

/* What a format can say of a lens beyond focal lengths, principal point, k1 and k2 (r^2, r^4). */
typedef enum {
    PSFM_LENS_TWO_FOCALS = 1, /* focal lengths that differ by more than a hundredth */
    PSFM_LENS_K3 = 2,
    PSFM_LENS_TANGENTIAL = 4,
    PSFM_LENS_RATIONAL = 8,
    PSFM_LENS_FISHEYE = 16, /* with k1 to k4, without tangential terms */
} psfm_lens_term;

/* Reads the lens of a camera. PSFM_ERR_DATA, naming camera and `program`, if it has terms beyond
 * `terms` (a sum of psfm_lens_term). */
psfm_status psfm_export_lens(psfm_context *ctx, const psfm_camera *camera, int terms,
                             const char *program, psfm_lens *lens);

/* The image's name behind the image folder; *path is malloc'ed. */
psfm_status psfm_export_image_path(psfm_context *ctx, const psfm_export_input *in, const char *name,
                                   char **path);

#endif
