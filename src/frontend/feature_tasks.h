/* Features of photographs as tasks: one photograph each, on any rank that sees it. */
#ifndef PSFM_FRONTEND_FEATURE_TASKS_H
#define PSFM_FRONTEND_FEATURE_TASKS_H

#include "core/tasks/tasks.h"
#include "images/feature/effort.h"
#include "images/feature/extract.h"

/* The setup is a psfm_feature_setup, an item a psfm_feature_item, its result a psfm_photo. */
extern const psfm_task_kind psfm_feature_tasks;

/* Photographs that are compared before the work begins. */
#define PSFM_NUM_COMPARED 16

/* A photograph, by its name, which the item of a task owns. The prints
 * (core/base/file_fingerprint.h) are of its file and its mask, where the first rank is; 0: there is
 * none. */
typedef struct {
    char *name;
    uint64_t photo, mask;
    psfm_effort effort;
} psfm_feature_item;

/* What all photographs share. */
typedef struct {
    const char *folder, *mask_folder; /* the second may be NULL */
    const char *weights;              /* path; NULL for SIFT */
    psfm_extract_options extract;
    psfm_sift_options sift[PSFM_EFFORT_HIGH + 1]; /* within each effort */
    psfm_detector_options detector;
    /* There are other ranks: one that sees another file of weights, another photograph or mask
     * fails. Some photographs are compared before the work begins, the others in their tasks. */
    bool is_checked;
    uint64_t weights_print;
    psfm_feature_item compared[PSFM_NUM_COMPARED];
    size_t num_compared;
} psfm_feature_setup;

/* Fills what is checked of a setup that has all else, for photographs of these names. */
psfm_status psfm_feature_setup_check(psfm_context *ctx, const char *const *names, size_t num,
                                     psfm_feature_setup *setup);

/* Fills an item with a photograph and, if they are checked, its prints. */
psfm_status psfm_feature_item_fill(psfm_context *ctx, const psfm_feature_setup *setup,
                                   const char *name, psfm_effort effort, psfm_feature_item *item);

/* Keypoints may be missing where there are descriptors, and the other way round. */
void psfm_features_move(psfm_transfer *t, psfm_keypoint_set *set);

#endif
