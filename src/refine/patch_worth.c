/* Patches beside keypoints.
 *
 * A match says how far two positions are from what a motion and a plane predict, and its variance
 * is the sum of theirs. With the information i = 1 / variance of a coordinate, the mean of both, a
 * match of patches has 1 / (1 / i1 + 1 / i2), and one of keypoints 1 / (2 noise^2). Their ratio is
 * what one is worth in the other: at 0.1 px beside 0.3 px, nine. Correlations between patches,
 * which share the errors of a plane that is not quite flat, are not known here. */
#include "refine/patch_worth.h"

/* Mean information of a coordinate; 0 for a keypoint as a detector finds it. */
static double patch_information(const psfm_view *view, uint32_t keypoint) {
    if (view->sqrt_info == NULL)
        return 0.0;
    const double *s = view->sqrt_info[keypoint];
    const bool is_detected = s[0] == 1.0 && s[1] == 0.0 && s[2] == 1.0;
    return is_detected ? 0.0 : 0.5 * (s[0] * s[0] + s[1] * s[1] + s[2] * s[2]);
}

double psfm_patch_worth(const psfm_match_set *set, const psfm_match_pair *pair, double noise_px) {
    const psfm_view *view1 = &set->views[pair->view1], *view2 = &set->views[pair->view2];
    double sum = 0.0;
    for (size_t k = 0; k < pair->num_matches; ++k) {
        const double i1 = patch_information(view1, pair->matches[k][0]);
        const double i2 = patch_information(view2, pair->matches[k][1]);
        if (i1 > 0.0 && i2 > 0.0)
            sum += i1 * i2 / (i1 + i2);
    }
    return 2.0 * noise_px * noise_px * sum;
}
