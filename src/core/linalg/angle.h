/* Degrees, as people read angles, and radians, as everything computes. */
#ifndef PSFM_LINALG_ANGLE_H
#define PSFM_LINALG_ANGLE_H

static inline double psfm_radians(double degrees) {
    return degrees * 0.017453292519943295;
}

static inline double psfm_degrees(double radians) {
    return radians * 57.29577951308232;
}

#endif
