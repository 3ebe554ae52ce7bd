/* Tracks to a tenth of a pixel: after the bundle adjustment each point is sought in the photographs
 * once more, by one patch of its best image. */
#ifndef PSFM_PHOTOMETRIC_ALIGN_TRACKS_H
#define PSFM_PHOTOMETRIC_ALIGN_TRACKS_H

#include "images/photometric/track_plan.h"

typedef struct {
    bool done;
    size_t num_points;  /* sought */
    size_t num_tried;   /* patches */
    size_t num_aligned; /* observations that were there before */
    size_t num_new;     /* observations that were not */
    size_t outcomes[PSFM_NUM_PATCH_OUTCOMES];
    double median_shift_px; /* from where the poses had put them */
} psfm_track_align_stats;

/* Seeks points of the structure, spread evenly over the images, in the photographs of the scene, by
 * the patch about each in the image that shows it largest, whose radius is that of the track
 * options. Keypoints
 * of the set move to where it is found, new ones join them, all with their information, and the
 * structure's tracks get the new observations. What is not found stays as it is. Parallel over
 * pairs of images, on the ranks of the context's link if there is one; the same bytes for any
 * number of threads and ranks. Memory: that of the cache of photographs, 100 bytes a patch. */
psfm_status psfm_align_tracks(psfm_context *ctx, const psfm_track_scene *scene,
                              const psfm_patch_options *patch,
                              const psfm_track_align_options *options, psfm_match_set *set,
                              psfm_structure *structure, psfm_track_align_stats *stats);

/* One line about the stage. */
void psfm_align_tracks_describe(const psfm_track_align_stats *stats, char *text, size_t size);

#endif
