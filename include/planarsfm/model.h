/* Models: cameras, images with poses, points; COLMAP's sparse model, text and binary. */
#ifndef PLANARSFM_MODEL_H
#define PLANARSFM_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "planarsfm/camera.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PSFM_NO_POINT UINT64_MAX /* point3D id of a keypoint that sees no point */

typedef struct {
    uint32_t id; /* COLMAP counts from 1, others from 0; never 2^32 - 1 */
    uint32_t camera_id;
    char *name; /* never empty */
    /* X_cam = R X_world + t; quaternion (w, x, y, z) as in the file, not re-normalised. */
    double cam_from_world_q[4];
    double cam_from_world_t[3];
    size_t num_keypoints;
    double (*keypoints)[2]; /* pixels */
    uint64_t *point3D_ids;  /* per keypoint, or PSFM_NO_POINT */
} psfm_model_image;

typedef struct {
    uint32_t image_id;
    uint32_t keypoint_idx;
} psfm_track_element;

typedef struct {
    uint64_t id;
    double xyz[3];
    uint8_t rgb[3];
    double error; /* mean reprojection error in pixels; negative if unknown */
    size_t track_length;
    psfm_track_element *track;
} psfm_model_point;

/* Owns everything below it. Sorted by id: cameras, images, points. */
typedef struct {
    psfm_camera *cameras;
    size_t num_cameras;
    psfm_model_image *images;
    size_t num_images;
    psfm_model_point *points;
    size_t num_points;
} psfm_model;

typedef enum { PSFM_MODEL_TEXT, PSFM_MODEL_BINARY } psfm_model_format;

/* Reads a COLMAP model folder: cameras, images, points3D as .bin or, failing that, .txt. `rigs`
 * and `frames` files of newer versions are ignored. Everything is checked: ids, references
 * between the files, finite numbers; the message of a failure names file and line or byte. Without
 * a single point the keypoints' references to points are dropped. The files do not carry
 * has_prior_focal_length; it is false. *model is freed by the caller with psfm_model_free; on
 * failure it is empty. */
PSFM_API psfm_status psfm_model_read(psfm_context *ctx, const char *folder, psfm_model *model);

/* Writes cameras, images and points3D into the folder, which is made if need be. A model that is
 * there, in either format and with `rigs` and `frames`, is replaced; other files stay. While
 * anything can fail the old model is untouched; an interruption at the very end leaves none
 * rather than a mixture. A contradictory model is refused. A text round trip is exact (17 digits);
 * COLMAP itself reads names with blanks from binary models only. */
PSFM_API psfm_status psfm_model_write(psfm_context *ctx, const psfm_model *model,
                                      psfm_model_format format, const char *folder);

/* Frees what the model owns and empties it. */
PSFM_API void psfm_model_free(psfm_model *model);

/* The camera or image with this id, or NULL. O(log n). */
PSFM_API const psfm_camera *psfm_model_camera(const psfm_model *model, uint32_t camera_id);
PSFM_API const psfm_model_image *psfm_model_image_by_id(const psfm_model *model, uint32_t image_id);

/* Centre of projection in the world, -R^T t. */
PSFM_API void psfm_model_image_center(const psfm_model_image *image, double center[3]);

#ifdef __cplusplus
}
#endif
#endif
