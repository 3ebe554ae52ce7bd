/* Signals for and against the pose of an image, without knowing the truth. */
#ifndef PSFM_VERDICT_IMAGE_FEATURES_H
#define PSFM_VERDICT_IMAGE_FEATURES_H

#include "core/matches/match_set.h"
#include "core/refine/refine_poses.h"
#include "core/refine/stability_tests.h"
#include "core/solve/robust.h"
#include "core/structure/poses.h"

typedef struct {
    bool known;         /* the test has a pose of this image */
    double rotation[3]; /* rotation vector in the axes of the camera, radians */
    double center[3];   /* in the frame and the unit of the model */
} psfm_pose_shift;

/* The shifts of the images of one component, after the similarity that brings most images of the
 * test onto it (least sum of distances). shift[v] of other images is left as it is. Images less
 * than two: not known. O(images). */
void psfm_pose_shifts_find(const psfm_poses *poses, uint32_t component,
                           const psfm_stability_test *test, psfm_pose_shift *shift);

/* The final results that the features are about. */
typedef struct {
    const psfm_pose_graph *graph;
    const psfm_pose_solution *solution;
    const psfm_robust_edges *edges;
    const psfm_refined *refined;
    const psfm_match_set *set; /* NULL: what should be seen is not asked */
    /* Per view; NULL: there is no such test. Those of free focal lengths as far as they count. */
    const psfm_pose_shift *shift[PSFM_NUM_STABILITY_TESTS];
    const bool *is_guessed; /* per view: nothing determines its focal length; NULL: none */
    const bool *is_no_lens; /* per view: no lens has its intrinsics; NULL: none */
    double noise_px;        /* standard deviation of a keypoint's coordinate; 0: not known */
} psfm_verdict_input;

/* Whether most of the matches of an edge that its own geometry explains contradict the poses. Where
 * they were not counted, what is not accepted does. */
bool psfm_edge_contradicts(const psfm_verdict_input *input, uint32_t edge);

/* What cannot be measured (an image that one half of the points does not hold) is as bad as this.
 */
#define PSFM_UNKNOWN_DEG 90.0

typedef struct {
    double points;          /* that it sees */
    double accepted;        /* its edges that agree with the poses ... */
    double rejected;        /* ... and those that do not, with images of its model */
    double unexplained;     /* share of the matches of its pairs that the poses do not explain */
    double residual;        /* mean reprojection error over what the noise explains */
    double runner_up;       /* evidence ratio of the strongest explanation that turns it; 0: none */
    double weak_connection; /* how weakly its sub-model is connected; see
                               core/verdict/weak_connection.h */
    double half_deg;        /* rotation from one half of the points against the other, halved */
    double half_center;     /* the same of the centre, in units of the model */
    double focal_deg;       /* rotation with free focal lengths against the model's */
    double focal_center;    /* the same of the centre */
    double depth;           /* median distance of its points; 0 without points */
    bool resected;
} psfm_image_features;

/* Features of all views; those without a pose get zeros. Without halves their features
 * are PSFM_UNKNOWN_DEG, without free focal lengths 0. `features` has one entry per view.
 * O(observations + edges). */
psfm_status psfm_image_features_find(psfm_context *ctx, const psfm_verdict_input *input,
                                     psfm_image_features *features);

/* The angle under which a shift of a centre is seen from the image's points, in degrees. */
double psfm_center_angle_deg(const psfm_image_features *image, double shift);

#endif
