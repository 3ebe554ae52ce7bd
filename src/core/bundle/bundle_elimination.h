/* What the elimination of a point takes from the reduced system, as the square of something:
 * S_ij -= U_i U_j^T. See bundle_elimination.c; for bundle_rows.c and bundle_schur.c. */
#ifndef PSFM_BUNDLE_BUNDLE_ELIMINATION_H
#define PSFM_BUNDLE_BUNDLE_ELIMINATION_H

#include "core/bundle/bundle_internal.h"
#include "core/bundle/schur_kernel.h"

/* U^T of the blocks that see a point: 3 x 6 of poses, 3 x number of free parameters of cameras,
 * each block once. Memory of one worker. */
typedef struct {
    uint32_t num_poses, num_cameras;
    uint32_t *pose_block;
    double (*pose)[18];
    double (*point)[6]; /* K = J G of a pose's observation, 2 x 3 */
    uint32_t *camera;   /* of an entry */
    uint32_t *entry;    /* of a camera, if camera[entry] says so, too */
    double (*intrinsics)[3 * PSFM_CAMERA_MAX_PARAMS];
} psfm_bundle_halves;

psfm_status psfm_bundle_halves_alloc(psfm_context *ctx, const psfm_bundle *b,
                                     psfm_bundle_halves *halves);
void psfm_bundle_halves_free(psfm_bundle_halves *halves);

/* Fills inverse, root and e of the points' systems, with damping lambda. */
psfm_status psfm_bundle_damp_points(psfm_context *ctx, psfm_bundle *b, double lambda);

/* The poses of the observations first .. end - 1 of one point that move. */
void psfm_bundle_halve_poses(const psfm_bundle *b, const psfm_schur_kernel *kernel, uint32_t first,
                             uint32_t end, psfm_bundle_halves *halves);

/* The cameras of a point that move. */
void psfm_bundle_halve_cameras(const psfm_bundle *b, uint32_t p, psfm_bundle_halves *halves);

/* A diagonal of the normal equations with its damping. */
double psfm_bundle_damped(double diagonal, double lambda);

#endif
