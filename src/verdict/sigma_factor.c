/* The normal equations take every observation for independent and the intrinsics for true. Where
 * lens, print or wrong matches push neighbouring points the same way, poses are off by many of
 * their standard deviations, and halves of the points disagree by as many; where intrinsics are a
 * little off, poses move when focal lengths are set free.
 *
 * Standard deviations are relative to the datum image, which has none itself. So shifts are taken
 * relative to it as well: w'_v = w_v - R_v R_d^T w_d for rotation vectors in the axes of the
 * cameras. Half of the difference of the halves is an error of the whole (refine/probes.c). Its
 * length over the deviation has the distribution of a chi variable, of which the median is known.
 * In a chain all images share most of their error, so that the median over them is as uncertain as
 * one error is. */
#include "verdict/sigma_factor.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "linalg/angle.h"
#include "linalg/mat3.h"
#include "linalg/order.h"

#define CHI_MEDIAN 0.888 /* of a vector of three equal normal errors, over its deviation */
#define CHANCE 1.5       /* a factor up to this may be chance */

static const psfm_refined_image *refined(const psfm_verdict_input *in, uint32_t v) {
    return &in->refined->images[v];
}

/* The image that the deviations of a component are relative to; UINT32_MAX if there is none. */
static uint32_t find_datum(const psfm_verdict_input *in, uint32_t component) {
    const psfm_poses *poses = &in->solution->poses;
    for (uint32_t v = 0; v < poses->num_views; ++v)
        if (poses->component[v] == component && refined(in, v)->rotation_sigma_deg == 0.0)
            return v;
    return UINT32_MAX;
}

static bool both_known(const psfm_verdict_input *in, uint32_t v) {
    return in->shift[PSFM_PROBE_HALF_A][v].known && in->shift[PSFM_PROBE_HALF_B][v].known;
}

/* Half the difference of the halves' rotations, and the shift by free focal lengths, in the axes of
 * the world. */
static void find_errors(const psfm_verdict_input *in, uint32_t v, double half[3], double focal[3]) {
    const psfm_pose_shift *intrinsics = in->shift[PSFM_PROBE_INTRINSICS];
    const double *R = in->solution->poses.cam_from_world[v], none[3] = {0};
    psfm_sub3(in->shift[PSFM_PROBE_HALF_A][v].rotation, in->shift[PSFM_PROBE_HALF_B][v].rotation,
              half);
    psfm_scale3(0.5, half, half);
    psfm_mat3_tmul_vec(R, half, half);
    psfm_mat3_tmul_vec(R, intrinsics == NULL ? none : intrinsics[v].rotation, focal);
}

psfm_status psfm_sigma_factor_find(psfm_context *ctx, const psfm_verdict_input *input,
                                   uint32_t component, double *factor) {
    const psfm_poses *poses = &input->solution->poses;
    uint32_t datum = find_datum(input, component), num = 0;
    double *ratio = NULL, base_half[3], base_focal[3];
    *factor = NAN;
    if (datum == UINT32_MAX || input->shift[PSFM_PROBE_HALF_A] == NULL ||
        input->shift[PSFM_PROBE_HALF_B] == NULL || !both_known(input, datum))
        return PSFM_OK;
    psfm_status status = PSFM_ALLOC(ctx, poses->num_views, &ratio);
    find_errors(input, datum, base_half, base_focal);
    for (uint32_t v = 0; status == PSFM_OK && v < poses->num_views; ++v) {
        double half[3], focal[3], sigma = psfm_radians(refined(input, v)->rotation_sigma_deg);
        if (poses->component[v] != component || !both_known(input, v) || !(sigma > 0.0))
            continue;
        find_errors(input, v, half, focal);
        psfm_sub3(half, base_half, half);
        psfm_sub3(focal, base_focal, focal);
        ratio[num++] = hypot(psfm_norm3(half), psfm_norm3(focal)) / sigma;
    }
    double found = num > 0 ? psfm_median(ratio, num) / CHI_MEDIAN : 1.0;
    if (num > 0)
        *factor = found > CHANCE ? found : 1.0;
    free(ratio);
    return status;
}
