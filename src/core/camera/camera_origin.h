/* Where the focal length of a camera comes from, and how surely it is known. */
#ifndef PSFM_CAMERA_CAMERA_ORIGIN_H
#define PSFM_CAMERA_CAMERA_ORIGIN_H

#include "planarsfm/camera.h"

/* From the surest to the least sure. */
typedef enum {
    PSFM_FOCAL_GIVEN,  /* by the user, or by whoever made the database */
    PSFM_FOCAL_LINES,  /* estimated from the lines of a known drawing */
    PSFM_FOCAL_PLANES, /* estimated from the homographies of planes */
    PSFM_FOCAL_PAIRS,  /* estimated from the epipolar geometry of pairs */
    PSFM_FOCAL_POINTS, /* of an adjustment that started from what is less sure */
    PSFM_FOCAL_EXIF,   /* told by the photograph */
    PSFM_FOCAL_HINT,   /* estimated from planes or pairs that do not determine it */
    PSFM_FOCAL_GUESS,  /* PSFM_GUESS_FACTOR times the longer side */
} psfm_focal_source;

#define PSFM_GUESS_FACTOR 1.2 /* 45 degrees across the longer side; COLMAP's guess, too */
#define PSFM_GUESS_SIGMA 0.4  /* of the logarithm of a guess: phones to short telephoto lenses */
#define PSFM_EXIF_SIGMA 0.05  /* of an EXIF focal length: rounded, and nominal */

typedef struct {
    psfm_focal_source source;
    double sigma;     /* standard deviation of the logarithm of the focal length; 0: not doubted */
    bool is_open;     /* planes show it, and do not determine it: nor would other uses of the same
                         matches */
    bool from_exif;   /* the value that it came with was told by the photograph */
    bool keeps_model; /* the camera model was asked for by name */
    /* Id of the camera that its photographs were taken for; they may be of several. 0: who has
     * which camera is known. */
    uint32_t group;
    psfm_camera before; /* as it came */
} psfm_camera_origin;

/* A word for the summary, e.g. "planes". */
const char *psfm_focal_source_name(psfm_focal_source source);

/* Whether a focal length is known too little to be relied upon. */
bool psfm_focal_is_doubtful(psfm_focal_source source);

/* SIMPLE_RADIAL of this size without distortion, principal point in the middle. */
psfm_camera psfm_camera_simple(uint64_t width, uint64_t height, double focal_px);

/* A camera without a prior focal length whose value is the guess is a guess; every other one is
 * given, or from EXIF data if the caller knows that. */
psfm_camera_origin psfm_camera_origin_of(const psfm_camera *camera, bool from_exif);

#endif
