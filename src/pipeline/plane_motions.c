#include "pipeline/plane_motions.h"

#include <string.h>

#include "linalg/mat3.h"
#include "twoview/homography_decompose.h"

/* A motion is found again if it turned by less than this; farther apart, the decomposition is too
 * unsure to tell which is which. */
static const double same_motion_rad = 0.2;

/* Normal and translation of `m` on the side of the plane of `like`. */
static void orient_like(const psfm_plane_motion *like, psfm_plane_motion *m) {
    if (psfm_dot3(like->n1, m->n1) >= 0.0)
        return;
    psfm_scale3(-1.0, m->t_21, m->t_21);
    psfm_scale3(-1.0, m->n1, m->n1);
    psfm_scale3(-1.0, m->n2, m->n2);
}

/* Distance of two motions by rotation and normal, radians. */
static double distance(const psfm_plane_motion *a, const psfm_plane_motion *b) {
    double c = psfm_dot3(a->n1, b->n1);
    return psfm_rotation_angle(a->R_21, b->R_21) + (c < 1.0 ? 1.0 - c : 0.0);
}

void psfm_replace_homography(psfm_two_view *view, size_t h, const double H_21[9], double rms_px) {
    psfm_homography *to = &view->homographies[h];
    psfm_plane_motion found[2], kept[2];
    if (to->is_rotation || (view->essential.found && !view->essential.is_degenerate))
        return;
    int num = psfm_homography_decompose(H_21, found);
    if (num < to->num_motions)
        return;
    bool swap = false;
    if (num == 2) {
        psfm_plane_motion a = found[0], b = found[1];
        orient_like(&to->motions[0], &a);
        orient_like(&to->motions[0], &b);
        swap = distance(&to->motions[0], &b) < distance(&to->motions[0], &a);
    }
    for (int k = 0; k < to->num_motions; ++k) {
        kept[k] = found[swap ? 1 - k : k];
        orient_like(&to->motions[k], &kept[k]);
        if (distance(&to->motions[k], &kept[k]) > same_motion_rad)
            return;
    }
    memcpy(to->motions, kept, (size_t)to->num_motions * sizeof *kept);
    memcpy(to->H_21, H_21, sizeof to->H_21);
    to->rms_px = rms_px;
}
