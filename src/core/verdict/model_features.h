/* Signals for and against a model, without knowing the truth. */
#ifndef PSFM_VERDICT_MODEL_FEATURES_H
#define PSFM_VERDICT_MODEL_FEATURES_H

#include "core/posegraph/pose_graph.h"
#include "core/structure/poses.h"
#include "core/verdict/image_features.h"

typedef struct {
    double images;            /* with a pose in it */
    double unexplained;       /* share of the matches of its pairs that contradict it ... */
    double worst_unexplained; /* ... and of those of its worst image */
    double no_lens;           /* share of its images whose intrinsics no lens has */
    double seen;    /* least share, over cuts of its images, of what should be seen across and is */
    double guessed; /* share of its images whose focal length nothing determines */
    double rejected;        /* share of the edges between its images that contradict it */
    double worst_rejected;  /* the largest such share at an image with three edges or more */
    double common_rotation; /* share of the edges that contradict it and agree on another rotation
                               ... */
    double shifted;   /* ... that contradict it though their rotation agrees, both by weight */
    double runner_up; /* largest evidence ratio of an explanation that rotates a sub-model */
    double flip;      /* the same of one that flips an image; only if it is undecided */
    double shift;     /* the same of one that shifts a sub-model */
    double weak_connection;  /* weakness of its weakest connection */
    double two_edge_cuts;    /* share of its accepted edges that alone or in twos are a cut */
    double residual;         /* mean reprojection error over what the noise explains */
    double edge_deg;         /* median difference of an accepted edge's rotation from the poses', as
                              * far as its matches do not explain it */
    double half_deg;         /* largest difference of rotations from two halves, halved */
    double half_center_deg;  /* the same of the centres, as seen from the points */
    double focal_deg;        /* largest shift of a rotation by free focal lengths */
    double focal_center_deg; /* the same of the centres, as seen from the points */
    double half_shift_deg, focal_shift_deg; /* the larger of either two */
    double fewest_points;                   /* of an image */
    double median_points;
    double track_length; /* mean number of images that see a point */
    double parallax_deg; /* median of the largest angles at the points */
    double bridges;      /* share of its edges that alone hold it together */
    double cut_images;   /* share of its images that do */
    double fewest_edges; /* accepted, of an image */
    double left_out;     /* share of all images that it does not pose */
    double resected;     /* share of its images that were posed from points */
} psfm_model_features;

/* Features of one component, from those of the images. */
psfm_status psfm_model_features_find(psfm_context *ctx, const psfm_verdict_input *input,
                                     const psfm_image_features *images, uint32_t component,
                                     psfm_model_features *features);

/* The features in the order of the struct: number, name for JSON, and value. */
int psfm_model_features_num(void);
const char *psfm_model_feature_name(int k);
double psfm_model_feature(const psfm_model_features *features, int k);

/* The largest share of the edges between images of a component that are not accepted and ask for
 * one and the same gauge rotation, to PSFM_AGREEMENT_DEG; each counts by its weight
 * (core/posegraph/missing_matches.h). Single edges agree with none: 0. Where more than a few
 * hundred were rejected, a sample of them is compared. */
psfm_status psfm_common_rotation_find(psfm_context *ctx, const psfm_pose_graph *graph,
                                      const bool *accepted, const psfm_poses *poses,
                                      uint32_t component, double *share);

#endif
