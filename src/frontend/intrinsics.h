/* Which camera took which photograph. */
#ifndef PSFM_FRONTEND_INTRINSICS_H
#define PSFM_FRONTEND_INTRINSICS_H

#include "formats/calibration_file.h"
#include "planarsfm/model.h"

/* Which photographs share a camera, if no model says so. A camera is of one size: photographs of
 * another size have another one. */
typedef enum {
    /* One given camera: all. Otherwise those of the same make, model and focal length by EXIF data,
     * as far as these tell; the reconstruction splits them if focal lengths differ. */
    PSFM_SHARE_AUTO,
    PSFM_SHARE_IMAGE,
    PSFM_SHARE_FOLDER,
    PSFM_SHARE_ALL,
} psfm_camera_sharing;

#define PSFM_SHARE_CHOICES "auto | image | folder | all"

/* False if the name is unknown. */
bool psfm_camera_sharing_from_name(const char *name, psfm_camera_sharing *sharing);

typedef struct {
    /* A COLMAP model (folder), whose images give each photograph of the same name its camera, the
     * cameras file of one with a single camera for all, or the calibration of another program
     * (formats/calibration_file.h), a file or a folder of files; NULL for none. */
    const char *cameras_path;
    const char *camera_text; /* "MODEL,width,height,parameters..." for all; NULL for none */
    bool opencv_pixels;      /* given principal points count from the centre of the first pixel */
    psfm_camera_sharing sharing;
} psfm_intrinsics_options;

typedef enum {
    PSFM_INTRINSICS_PHOTOGRAPHS,
    PSFM_INTRINSICS_ONE,
    PSFM_INTRINSICS_MODEL,
    PSFM_INTRINSICS_CALIBRATION /* another program's, by the names of its cameras */
} psfm_intrinsics_kind;

typedef struct psfm_shared_camera psfm_shared_camera;

/* Owns its parts. */
typedef struct {
    psfm_intrinsics_kind kind;
    psfm_camera_sharing sharing;
    const char *path;   /* of the given file, for messages; the caller's */
    psfm_camera camera; /* ONE */
    psfm_model model;   /* MODEL; images sorted by name */
    psfm_calibration calibration;
    psfm_shared_camera *shared; /* first camera of each source */
    size_t num_shared, capacity;
    size_t num_images;  /* resolved so far */
    size_t num_unknown; /* of these, with a guessed focal length */
} psfm_intrinsics;

/* Reads and checks what was given. Without anything given, focal lengths come from the
 * photographs, and are guessed where these tell none. Free in any case. */
psfm_status psfm_intrinsics_open(psfm_context *ctx, const psfm_intrinsics_options *options,
                                 psfm_intrinsics *out);
void psfm_intrinsics_free(psfm_intrinsics *intrinsics);

/* What a photograph says of itself. */
typedef struct {
    const char *name;
    int width, height; /* 0: not known, and not checked */
    double focal_px;   /* told by its EXIF data; 0: nothing */
    const char *body;  /* make and model of the camera by the same; NULL: nothing */
} psfm_photo_facts;

/* The camera of a photograph. *source, malloc'ed, is a text that
 * photographs of the same camera share; that of a given camera begins with "given:", that of one
 * which they are only taken for with "group:". A guess has
 * no prior focal length. PSFM_ERR_DATA if the size is not the camera's, or nothing is known about
 * this photograph, not even its size. */
psfm_status psfm_intrinsics_find(psfm_context *ctx, psfm_intrinsics *intrinsics,
                                 const psfm_photo_facts *photo, psfm_camera *camera, char **source);

/* Words for the summary: "EXIF focal lengths", "one given camera", "cameras of a model". */
const char *psfm_intrinsics_describe(const psfm_intrinsics *intrinsics);

#endif
