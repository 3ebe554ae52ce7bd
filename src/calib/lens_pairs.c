/* Lenses of cameras that planes leave undetermined: their distortion moves points, not fundamental
 * matrices, so it is known to first order only, and is applied and estimated again until nothing
 * moves. A distortion that matches do not ask for stays away; it is in the deviations all the same.
 */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "calib/focal_pairs.h"
#include "calib/radial_search.h"

#define SETTLED 0.1 /* of its standard deviation: a bend that matters no more */
#define MAX_ROUNDS 5

static bool can_bend(const psfm_camera_knowledge *known) {
    return known->free && known->bend_sigma > 0.0;
}

/* Whether a lens that can bend does. */
static bool is_bent(const psfm_match_set *set, const psfm_camera_knowledge *known) {
    for (size_t c = 0; c < set->num_cameras; ++c)
        if (can_bend(&known[c]) && psfm_radial_strength(&set->cameras[c]) != 0.0)
            return true;
    return false;
}

/* Bends the lenses as the estimate asks, and computes their rays anew; *moved says whether it was
 * worth it. */
static psfm_status bend_lenses(psfm_context *ctx, psfm_match_set *set,
                               const psfm_camera_knowledge *known,
                               const psfm_pair_estimate *estimate, double *total, bool *moved) {
    *moved = false;
    for (size_t c = 0; c < set->num_cameras; ++c) {
        psfm_camera *camera = &set->cameras[c];
        if (!can_bend(&known[c]) || !isfinite(estimate->sigma[c]))
            continue;
        psfm_radial_set(camera, psfm_radial_strength(camera) + estimate->bend[c]);
        total[c] += estimate->bend[c];
        *moved = *moved || fabs(estimate->bend[c]) > SETTLED * estimate->bend_sigma[c];
    }
    return psfm_match_set_compute_rays(ctx, set, NULL);
}

psfm_status psfm_lenses_from_pairs(psfm_context *ctx, psfm_match_set *set,
                                   const psfm_two_view *two_views,
                                   const psfm_two_view_options *options,
                                   const psfm_camera_knowledge *known, psfm_pair_estimate *out) {
    double *total = NULL;
    bool again = true;
    *out = (psfm_pair_estimate){0};
    psfm_status status = PSFM_ALLOC(ctx, set->num_cameras, &total);
    for (int round = 0; status == PSFM_OK && again && round < MAX_ROUNDS; ++round) {
        psfm_pair_estimate_free(out);
        status = psfm_focal_from_pairs(ctx, set, two_views, options, known, out);
        again = status == PSFM_OK && (out->asks_bends || is_bent(set, known));
        if (again)
            status = bend_lenses(ctx, set, known, out, total, &again);
    }
    if (status == PSFM_OK) {
        free(out->bend);
        out->bend = total;
    } else {
        free(total);
        psfm_pair_estimate_free(out);
    }
    return status;
}
