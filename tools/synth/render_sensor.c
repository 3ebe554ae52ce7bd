/* Bytes are 255 f(light) with the curve f of sRGB. The noise is added to bytes, as it is there that
 * its size is given; each value is the sum of four uniform ones, scaled to standard deviation 1,
 * which has tails to 3.5 standard deviations and takes one draw. */
#include "synth/render_sensor.h"

#include <math.h>
#include <string.h>

#include "synth/world.h"

static double srgb_curve(double light) {
    return light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1.0 / 2.4) - 0.055;
}

void psfm_sensor_init(psfm_sensor *sensor) {
    memset(sensor, 0, sizeof *sensor);
    for (int k = 0; k < 3; ++k)
        sensor->gain[k] = 1.0;
    for (int k = 0; k < PSFM_CURVE_SIZE + 2; ++k) {
        double root = (double)k / PSFM_CURVE_SIZE;
        sensor->curve[k] = (float)(255.0 * fmin(srgb_curve(root * root), 1.0));
    }
}

static float develop_light(const float *curve, float light) {
    float clipped = light > 1.0F ? 1.0F : light > 0.0F ? light : 0.0F;
    float at = (float)PSFM_CURVE_SIZE * sqrtf(clipped);
    int k = (int)at;
    return curve[k] + (at - (float)k) * (curve[k + 1] - curve[k]);
}

static float draw_normal(psfm_rng *rng) {
    uint64_t bits = psfm_rng_next(rng);
    int sum = 0;
    for (int k = 0; k < 4; ++k)
        sum += (int)(bits >> 16 * k & 0xffffu);
    const float mean = 2.0F * 65535.0F, deviation = 37837.227F; /* sqrt(4 (2^32 - 1) / 12) */
    return ((float)sum - mean) / deviation;
}

/* Share of the light that the lens lets through at a pixel. */
static float lens_shade(const psfm_sensor *sensor, int width, int height, int x, int y) {
    double dx = x + 0.5 - 0.5 * width, dy = y + 0.5 - 0.5 * height;
    double corner = 0.25 * ((double)width * width + (double)height * height);
    return (float)(1.0 - sensor->vignetting * (dx * dx + dy * dy) / corner);
}

void psfm_sensor_expose(const psfm_sensor *sensor, int width, int height, int y, const float *light,
                        uint8_t *bytes) {
    uint64_t row = sensor->image << 32 | (uint64_t)y;
    psfm_rng rng = psfm_rng_make(sensor->seed, PSFM_RNG_SYNTH, PSFM_STREAM_SENSOR, row);
    float noise = (float)sensor->noise;
    for (int x = 0; x < width; ++x) {
        float shade = lens_shade(sensor, width, height, x, y);
        for (int k = 0; k < 3; ++k) {
            float value =
                develop_light(sensor->curve, light[3 * x + k] * shade * (float)sensor->gain[k]);
            if (noise > 0.0F)
                value += noise * draw_normal(&rng);
            bytes[3 * x + k] = (uint8_t)(value < 0.0F     ? 0.0F
                                         : value > 254.5F ? 255.0F
                                                          : value + 0.5F);
        }
    }
}
