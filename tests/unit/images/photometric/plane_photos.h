/* Photographs of a textured plane with known homographies: the texture is a sum of waves, so that
 * its value at any point is exact. */
#ifndef PLANE_PHOTOS_H
#define PLANE_PHOTOS_H

#include "core/base/hash.h"
#include "core/base/rng.h"
#include "core/linalg/mat3.h"
#include "images/photometric/patch.h"

#include "test_util.h"

#define NUM_WAVES 24

typedef struct {
    double kx[NUM_WAVES], ky[NUM_WAVES], phase[NUM_WAVES], height[NUM_WAVES];
} texture;

/* Waves of 6 to 40 pixels of the first photograph, about 25 gray levels in all. */
static inline texture make_texture(uint64_t seed) {
    psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 1, 0);
    texture t;
    for (int k = 0; k < NUM_WAVES; ++k) {
        double length = 6.0 * pow(40.0 / 6.0, psfm_rng_uniform(&rng));
        double angle = psfm_rng_range(&rng, 0.0, 6.283185307179586);
        t.kx[k] = 6.283185307179586 / length * cos(angle);
        t.ky[k] = 6.283185307179586 / length * sin(angle);
        t.phase[k] = psfm_rng_range(&rng, 0.0, 6.283185307179586);
        t.height[k] = 7.0;
    }
    return t;
}

static inline double texture_at(const texture *t, double x, double y) {
    double sum = 128.0;
    for (int k = 0; k < NUM_WAVES; ++k)
        sum += t->height[k] * sin(t->kx[k] * x + t->ky[k] * y + t->phase[k]);
    return sum;
}

/* The photograph of `camera` that shows at each pixel the texture at the pixel of camera1 that H_1
 * (ray1 ~ H_1 ray) leads to, times gain plus offset, with noise of its own (gray levels). */
static inline void take_photo(psfm_context *ctx, const texture *t, const psfm_camera *camera1,
                              const psfm_camera *camera, const double H_1[9], double gain,
                              double offset, double noise, psfm_pyramid *photo) {
    psfm_image image = {0};
    psfm_rng rng =
        psfm_rng_make(7, PSFM_RNG_TEST, 2, psfm_hash(PSFM_HASH_START, H_1, 9 * sizeof *H_1));
    assert_ok(ctx, psfm_image_init(ctx, (int)camera->width, (int)camera->height, PSFM_IMAGE_GRAY,
                                   &image));
    for (int y = 0; y < image.height; ++y) {
        for (int x = 0; x < image.width; ++x) {
            double xy[2] = {x + 0.5, y + 0.5}, ray[3], ray1[3], at[2], value = 0.0;
            if (psfm_camera_unproject(camera, xy, ray)) {
                psfm_mat3_mul_vec(H_1, ray, ray1);
                if (psfm_camera_project(camera1, ray1, at))
                    value = texture_at(t, at[0], at[1]);
            }
            value = gain * value + offset + (noise > 0.0 ? noise * psfm_rng_normal(&rng) : 0.0);
            image.gray[y * image.width + x] = (uint8_t)fmin(fmax(value + 0.5, 0.0), 255.0);
        }
    }
    assert_ok(ctx, psfm_pyramid_init(ctx, &image, photo));
    psfm_image_free(&image);
}

/* A homography of a plane seen from another place: some turn, some tilt, some zoom. */
static inline void tilted(double H_21[9]) {
    const double H[9] = {1.03, 0.04, 0.01, -0.05, 0.97, -0.02, 0.08, -0.06, 1.0};
    memcpy(H_21, H, sizeof H);
}

static inline psfm_camera pinhole(double f) {
    return (psfm_camera){.id = 1,
                         .model = PSFM_CAMERA_PINHOLE,
                         .width = 320,
                         .height = 240,
                         .params = {f, f, 160.0, 120.0}};
}

static inline psfm_camera distorted(double f) {
    return (psfm_camera){.id = 2,
                         .model = PSFM_CAMERA_RADIAL,
                         .width = 320,
                         .height = 240,
                         .params = {f, 160.0, 120.0, -0.15, 0.04}};
}

#endif
