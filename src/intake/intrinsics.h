/* Which camera took which photograph. */
#ifndef PSFM_INTAKE_INTRINSICS_H
#define PSFM_INTAKE_INTRINSICS_H

#include "planarsfm/model.h"

typedef struct {
    /* A COLMAP model (folder), whose images give each photograph of the same name its camera, or
     * the cameras file of one with a single camera for all; NULL for none. */
    const char *cameras_path;
    const char *camera_text; /* "MODEL,width,height,parameters..." for all; NULL for none */
    bool opencv_pixels;      /* given principal points count from the centre of the first pixel */
    bool per_folder;         /* photographs of one folder share a camera of their own */
} psfm_intrinsics_options;

typedef enum {
    PSFM_INTRINSICS_EXIF,
    PSFM_INTRINSICS_ONE,
    PSFM_INTRINSICS_MODEL
} psfm_intrinsics_kind;

typedef struct psfm_shared_camera psfm_shared_camera;

/* Owns its parts. */
typedef struct {
    psfm_intrinsics_kind kind;
    bool per_folder;
    const char *path;           /* of the given file, for messages; the caller's */
    psfm_camera camera;         /* ONE */
    psfm_model model;           /* MODEL; images sorted by name */
    psfm_shared_camera *shared; /* first camera of each source */
    size_t num_shared, capacity;
    size_t num_images; /* resolved so far */
} psfm_intrinsics;

/* Reads and checks what was given. Without anything given, focal lengths come from the
 * photographs. Free in any case. */
psfm_status psfm_intrinsics_open(psfm_context *ctx, const psfm_intrinsics_options *options,
                                 psfm_intrinsics *out);
void psfm_intrinsics_free(psfm_intrinsics *intrinsics);

/* The camera of a photograph of width x height pixels whose EXIF data tell focal_px (0: nothing).
 * With width 0 the size is not known, and not checked. *source, malloc'ed, is a text that
 * photographs of the same camera share. PSFM_ERR_DATA if the size is not the camera's, or nothing
 * is known about this photograph. */
psfm_status psfm_intrinsics_find(psfm_context *ctx, psfm_intrinsics *intrinsics, const char *name,
                                 int width, int height, double focal_px, psfm_camera *camera,
                                 char **source);

/* Words for the summary: "EXIF focal lengths", "one camera for all", "cameras of a model". */
const char *psfm_intrinsics_describe(const psfm_intrinsics *intrinsics);

#endif
