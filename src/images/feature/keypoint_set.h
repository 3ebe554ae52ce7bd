/* Keypoints with descriptors of one image. */
#ifndef PSFM_FEATURE_KEYPOINT_SET_H
#define PSFM_FEATURE_KEYPOINT_SET_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/context.h"

/* As COLMAP stores it (N x 6 float32): position in pixels, centre of the first pixel at (0.5, 0.5),
 * and the affine shape, which takes a unit circle to the keypoint's ellipse. Of a keypoint with a
 * scale s and an orientation t (radians): a11 = a22 = s cos t, a21 = -a12 = s sin t. */
typedef struct {
    float x, y;
    float a11, a12, a21, a22;
} psfm_keypoint;

/* Owns its arrays. Descriptors are either bytes or floats, one row of descriptor_size per
 * keypoint; the other pointer is NULL. */
typedef struct {
    size_t num;
    psfm_keypoint *keypoints;
    size_t descriptor_size;
    uint8_t *descriptors_u8; /* SIFT: 128 bytes, L2 norm 512 */
    float *descriptors_f32;  /* unit length */
    float *scores;           /* detector's confidence per keypoint, or NULL */
} psfm_keypoint_set;

void psfm_keypoint_set_free(psfm_keypoint_set *set);

psfm_keypoint psfm_keypoint_make(float x, float y, float scale, float orientation);
/* Mean of the lengths of the two axes of the shape, in pixels. */
float psfm_keypoint_scale(const psfm_keypoint *keypoint);
/* Direction of the first axis in radians, -pi to pi. */
float psfm_keypoint_orientation(const psfm_keypoint *keypoint);

/* Multiplies positions and shapes: from a shrunk image back to the original one. */
void psfm_keypoint_set_rescale(psfm_keypoint_set *set, double scale_x, double scale_y);

/* Positions and shapes after so many clockwise quarter turns of their image, of this size. */
void psfm_keypoint_set_turn(psfm_keypoint_set *set, int quarters, double width, double height);

/* Keeps the keypoints for which keep[k] is true, in their order. */
void psfm_keypoint_set_filter(psfm_keypoint_set *set, const bool *keep);

#endif
