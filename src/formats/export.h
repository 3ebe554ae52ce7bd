/* Models for other programs: one function per format, and one list of them. */
#ifndef PSFM_FORMATS_EXPORT_H
#define PSFM_FORMATS_EXPORT_H

#include "core/camera/lens.h"
#include "core/structure/planes.h"
#include "formats/geo_reference.h"
#include "planarsfm/model.h"

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

/* One line a format: its name as in `convert --to`, its function, and what the manual says. */
#define PSFM_EXPORT_FORMATS(FORMAT)                                                               \
    FORMAT("colmap-text", psfm_export_colmap_text, "a folder with COLMAP's text files")           \
    FORMAT("colmap-bin", psfm_export_colmap_binary, "a folder with COLMAP's binary files")        \
    FORMAT("transforms.json", psfm_export_transforms,                                             \
           "for nerfstudio and instant-ngp, and sparse_pc.ply with the points beside it.\n"       \
           "  transform_matrix is camera to world, camera axes x right, y up, z backwards "       \
           "(OpenGL);\n  the world is left as it is (ours has z up; applied_transform is the "    \
           "identity).\n  Intrinsics at the top if all images share a camera, else in each "      \
           "frame; cx, cy as\n  COLMAP's. Perspective: k1, k2, k3, p1, p2; fisheye "              \
           "(OPENCV_FISHEYE, is_fisheye):\n  k1 to k4. One kind of lens for all")                 \
    FORMAT(                                                                                       \
        "tum", psfm_export_tum,                                                                   \
        "one line per image, timestamp tx ty tz qx qy qz qw: the camera's centre and the\n"       \
        "  rotation from camera (x right, y down, z forward) to world. Times are the names if\n"  \
        "  these are numbers (16 digits and more: nanoseconds), else 0, 1, 2, ... in the order\n" \
        "  of names, which comments list")                                                        \
    FORMAT("ply", psfm_export_ply, "points, cameras as pyramids, planes as polygons")             \
    FORMAT(                                                                                       \
        "opencv-yaml", psfm_export_opencv,                                                        \
        "a folder with camera_ID.yml for FileStorage: principal point half a pixel less\n"        \
        "  than COLMAP's; distortion k1 k2 p1 p2 k3 (k4 k5 k6), or cv::fisheye's; images with\n"  \
        "  rvec, tvec (camera from world)")                                                       \
    FORMAT("kml", psfm_export_kml,                                                                \
           "a point per camera of a geo-referenced model (see align): longitude, latitude,\n"     \
           "  altitude")                                                                          \
    FORMAT("geojson", psfm_export_geojson, "the same")

typedef struct {
    const char *name;
    psfm_export_fn write;
} psfm_export_format;

#define PSFM_EXPORT_DECLARE(name, function, help) \
    psfm_status function(psfm_context *ctx, const psfm_export_input *in, const char *path);
PSFM_EXPORT_FORMATS(PSFM_EXPORT_DECLARE)
#undef PSFM_EXPORT_DECLARE

/* The format with this name; NULL, with a message that lists all names, if there is none. */
const psfm_export_format *psfm_export_find(psfm_context *ctx, const char *name);

/* Runs the format's function with numbers in the "C" locale, whatever the caller's is. */
psfm_status psfm_export(psfm_context *ctx, const psfm_export_format *format,
                        const psfm_export_input *in, const char *path);

/* Refuses a file that psfm_export_points_ply did not write: it is named by us, not by the user. */
psfm_status psfm_check_points_ply(psfm_context *ctx, const char *path);

/* The points alone. */
psfm_status psfm_export_points_ply(psfm_context *ctx, const psfm_export_input *in,
                                   const char *path);

/* Reads the lens of a camera. PSFM_ERR_DATA, naming camera and `program`, if it has terms that the
 * formats have no words for; `rational`: this one has them for k4 to k6 of the rational model. */
psfm_status psfm_export_lens(psfm_context *ctx, const psfm_camera *camera, bool rational,
                             const char *program, psfm_lens *lens);

#endif
