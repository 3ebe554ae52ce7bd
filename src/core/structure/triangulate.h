/* Points from tracks and poses, and the observations that agree with them. */
#ifndef PSFM_STRUCTURE_TRIANGULATE_H
#define PSFM_STRUCTURE_TRIANGULATE_H

#include "core/base/options.h"
#include "core/structure/poses.h"
#include "core/structure/tracks.h"

/* Points with their observations. Point k has the elements of track k of `tracks`; it came from
 * track source[k] of the input. All observations of a point are of one component, whose coordinates
 * it has. Owns its arrays. */
typedef struct {
    size_t num_points;
    double (*points)[3];
    uint32_t *component;
    psfm_tracks tracks;
    uint32_t *source;
    double *error_px;  /* mean reprojection error; negative if not known */
    double *angle_deg; /* largest angle at the point between two of its rays */
} psfm_structure;

void psfm_structure_free(psfm_structure *structure);

typedef struct {
    double max_error_px;  /* largest reprojection error of an observation */
    double min_angle_deg; /* a point whose rays all meet at less has no depth */
} psfm_triangulate_options;

extern const psfm_option_table psfm_triangulate_option_table;

typedef struct {
    size_t num_points;
    size_t num_observations; /* of the points */
    size_t num_dropped;      /* of posed images with a ray, but of no point */
    size_t num_unposed;      /* in images without pose, or keypoints without ray */
    size_t num_few;          /* tracks with too few posed observations */
    size_t num_no_agreement; /* tracks without a point that enough observations agree on */
    size_t num_small_angle;  /* tracks whose point has no depth */
    double mean_error_px;
} psfm_triangulate_stats;

/* Triangulates all tracks of the set's views. Views without a pose take no part; of a track whose
 * images belong to several components, only those of the component with most (the first of equals)
 * do. Points are in front of all their images. A track gives no point, one, or (with `reuse`) more.
 * Parallel; the same bytes for any number of threads. Random draws come from (seed,
 * PSFM_RNG_TRIANGULATE, track, 0). stats may be NULL. Cost: about a microsecond per observation
 * where all of a track agree. */
psfm_status psfm_triangulate(psfm_context *ctx, const psfm_match_set *set,
                             const psfm_tracks *tracks, const psfm_poses *poses,
                             const psfm_triangulate_options *options, psfm_structure *structure,
                             psfm_triangulate_stats *stats);

#endif
