/* From light to bytes: lens shading, exposure, white balance, tone curve, noise. */
#ifndef PSFM_SYNTH_RENDER_SENSOR_H
#define PSFM_SYNTH_RENDER_SENSOR_H

#include <stdint.h>

/* The curve is steep at 0, so it is tabulated over the square root of the light. */
#define PSFM_CURVE_SIZE 1024

typedef struct {
    double gain[3];    /* of the channels: exposure and white balance */
    double vignetting; /* share of the light missing in the corners */
    double noise;      /* standard deviation in grey levels */
    uint64_t seed;     /* of the noise */
    uint64_t image;    /* index of the image, so that images differ in noise */
    float curve[PSFM_CURVE_SIZE + 2];
} psfm_sensor;

/* A sensor without vignetting and noise, of gain 1. */
void psfm_sensor_init(psfm_sensor *sensor);

/* Turns row y of an image of width x height pixels from linear light (3 x width) into sRGB bytes.
 */
void psfm_sensor_expose(const psfm_sensor *sensor, int width, int height, int y, const float *light,
                        uint8_t *bytes);

#endif
