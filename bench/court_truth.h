/* What the benches of courts share: failures, medians, and a pose compared with the truth, which is
 * known up to half a turn of the court. */
#ifndef PSFM_BENCH_COURT_TRUTH_H
#define PSFM_BENCH_COURT_TRUTH_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/context.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "court/court_evidence.h"
#include "planarsfm/model.h"

/* A pose is right within these. */
#define RIGHT_DEG 3.0
#define RIGHT_M 1.0

static inline void court_check(psfm_context *ctx, psfm_status status) {
    if (status == PSFM_OK)
        return;
    fprintf(stderr, "%s\n", psfm_context_message(ctx));
    exit(1);
}

static inline int court_ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts; NaN of nothing. */
static inline double court_median(double *values, size_t num) {
    if (num == 0)
        return NAN;
    qsort(values, num, sizeof *values, court_ascending);
    return values[num / 2];
}

/* Angle and distance between a pose and the truth after `quarters` of a turn about the origin. */
static inline void court_error(const psfm_model_image *truth, int quarters, const double R[9],
                               const double center[3], double *deg, double *m) {
    static const double middle[2] = {0.0, 0.0};
    double R_true[9], center_true[3], R_turned[9], turned[3], away[3];
    psfm_rotation_from_quat(truth->cam_from_world_q, R_true);
    psfm_model_image_center(truth, center_true);
    psfm_turn_pose(middle, quarters, R_true, center_true, R_turned, turned);
    psfm_sub3(center, turned, away);
    *deg = psfm_degrees(psfm_rotation_angle(R, R_turned));
    *m = psfm_norm3(away);
}

static inline bool court_is_right(double deg, double m) {
    return deg < RIGHT_DEG && m < RIGHT_M;
}

#endif
