/* Matches of pairs as tasks: some pairs each, on any rank; the images are parts. */
#ifndef PSFM_INTAKE_MATCH_TASKS_H
#define PSFM_INTAKE_MATCH_TASKS_H

#include "match/guided.h"
#include "match/neural_matcher.h"
#include "tasks/tasks.h"
#include "view/match_set.h"

extern const psfm_task_kind psfm_match_tasks;

/* What all pairs share. */
typedef struct {
    psfm_feature_kind features;
    psfm_matcher_kind matcher;
    psfm_matcher_options matcher_options; /* of other features than SIFT */
    const char *weights;                  /* path; NULL if the matcher has none */
    psfm_nearest_options nearest;         /* of SIFT */
    bool is_guided;                       /* SIFT is matched again along homographies */
    psfm_guided_options guided;
    size_t num_images, num_pairs;
} psfm_match_setup;

psfm_status psfm_match_setup_pack(psfm_context *ctx, const psfm_match_setup *setup,
                                  psfm_packet *packet);

/* An image of a pair. */
typedef struct {
    size_t width, height;
    psfm_keypoint_set set;
    /* If pairs are guided: */
    psfm_camera camera;
    psfm_view view; /* its id and keypoints; no name, no rays */
} psfm_match_image;

/* Also the memory that the image takes in a rank. */
psfm_status psfm_match_image_pack(psfm_context *ctx, const psfm_match_image *image,
                                  psfm_packet *packet, size_t *memory);
void psfm_match_image_free(psfm_match_image *image);

/* Pairs of indices of images, as the input of a task. */
psfm_status psfm_match_task_pack(psfm_context *ctx, const uint32_t (*pairs)[2], size_t num,
                                 psfm_packet *packet);

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

/* The result of the next pair of a task. The caller frees out->list. */
psfm_status psfm_pair_result_unpack(psfm_context *ctx, psfm_packet_reader *reader,
                                    psfm_pair_result *out);

#endif
