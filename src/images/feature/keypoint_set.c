/* Keypoints with their affine shapes, descriptors and scores. A shape is the matrix that takes the
 * unit circle to the keypoint's region; of a keypoint with scale s and orientation t it is s times
 * the rotation by t. */
#include "images/feature/keypoint_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/camera/camera_turn.h"

void psfm_keypoint_set_free(psfm_keypoint_set *set) {
    free(set->keypoints);
    free(set->descriptors_u8);
    free(set->descriptors_f32);
    free(set->scores);
    *set = (psfm_keypoint_set){0};
}

psfm_keypoint psfm_keypoint_make(float x, float y, float scale, float orientation) {
    float c = scale * cosf(orientation), s = scale * sinf(orientation);
    return (psfm_keypoint){.x = x, .y = y, .a11 = c, .a12 = -s, .a21 = s, .a22 = c};
}

float psfm_keypoint_scale(const psfm_keypoint *keypoint) {
    return 0.5F * (hypotf(keypoint->a11, keypoint->a21) + hypotf(keypoint->a12, keypoint->a22));
}

float psfm_keypoint_orientation(const psfm_keypoint *keypoint) {
    return atan2f(keypoint->a21, keypoint->a11);
}

void psfm_keypoint_set_rescale(psfm_keypoint_set *set, double scale_x, double scale_y) {
    float sx = (float)scale_x, sy = (float)scale_y;
    for (size_t k = 0; k < set->num; ++k) {
        psfm_keypoint *p = &set->keypoints[k];
        p->x *= sx;
        p->y *= sy;
        p->a11 *= sx;
        p->a12 *= sx;
        p->a21 *= sy;
        p->a22 *= sy;
    }
}

static void turn_axis(int quarters, float *x, float *y) {
    double axis[2] = {*x, *y};
    psfm_vector_turn(quarters, axis);
    *x = (float)axis[0];
    *y = (float)axis[1];
}

void psfm_keypoint_set_turn(psfm_keypoint_set *set, int quarters, double width, double height) {
    for (size_t k = 0; k < set->num; ++k) {
        psfm_keypoint *p = &set->keypoints[k];
        double xy[2] = {p->x, p->y};
        psfm_pixel_turn(quarters, width, height, xy);
        p->x = (float)xy[0];
        p->y = (float)xy[1];
        turn_axis(quarters, &p->a11, &p->a21);
        turn_axis(quarters, &p->a12, &p->a22);
    }
}

void psfm_keypoint_set_filter(psfm_keypoint_set *set, const bool *keep) {
    size_t kept = 0, size = set->descriptor_size;
    for (size_t k = 0; k < set->num; ++k) {
        if (!keep[k])
            continue;
        set->keypoints[kept] = set->keypoints[k];
        if (set->descriptors_u8 != NULL)
            memmove(set->descriptors_u8 + kept * size, set->descriptors_u8 + k * size, size);
        if (set->descriptors_f32 != NULL)
            memmove(set->descriptors_f32 + kept * size, set->descriptors_f32 + k * size,
                    size * sizeof *set->descriptors_f32);
        if (set->scores != NULL)
            set->scores[kept] = set->scores[k];
        ++kept;
    }
    set->num = kept;
}
