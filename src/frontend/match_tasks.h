/* Matches of pairs as tasks: some pairs each, on any rank; the images are parts. */
#ifndef PSFM_FRONTEND_MATCH_TASKS_H
#define PSFM_FRONTEND_MATCH_TASKS_H

#include "core/matches/match_set.h"
#include "core/tasks/tasks.h"
#include "core/twoview/two_view.h"
#include "images/match/guided_matching.h"
#include "images/match/neural_matcher.h"

/* The setup is a psfm_match_setup, a part a psfm_match_image, an item the indices of two images,
 * uint32_t[2], its result a psfm_pair_result. */
extern const psfm_task_kind psfm_match_tasks;

/* What all pairs share. */
typedef struct {
    psfm_feature_kind features;
    psfm_matcher_kind matcher;
    psfm_matcher_options matcher_options; /* of other features than SIFT */
    const char *weights;                  /* path; NULL if the matcher has none */
    uint64_t weights_print;               /* where the first rank is; 0: not compared */
    psfm_nearest_options nearest;         /* of SIFT */
    bool is_guided;                       /* SIFT is matched again along homographies */
    psfm_two_view_options two_view;       /* of these homographies */
    size_t num_images;
} psfm_match_setup;

/* An image of a pair. */
typedef struct {
    size_t width, height;
    psfm_keypoint_set set;
    /* If pairs are guided: */
    psfm_camera camera;
    psfm_view view; /* its id and keypoints; no name, no rays */
} psfm_match_image;

/* The memory that an image takes in a rank. */
size_t psfm_match_image_memory(const psfm_match_image *image);

/* What became of a pair. */
typedef struct {
    /* Matchers know a first and a second image. Which is which comes from the images, not from
     * their names: photographs under other names have the same matches. Here the second one came
     * first, and stands first in the list. */
    bool is_turned;
    size_t num_verified; /* matches that the pair's geometry explains */
    size_t num_guided;   /* matches found along homographies */
    psfm_match_list list;
} psfm_pair_result;

#endif
