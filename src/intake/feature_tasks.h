/* Features of photographs as tasks: one photograph each, on any rank that sees it. */
#ifndef PSFM_INTAKE_FEATURE_TASKS_H
#define PSFM_INTAKE_FEATURE_TASKS_H

#include "feature/effort.h"
#include "feature/extract.h"
#include "tasks/tasks.h"

extern const psfm_task_kind psfm_feature_tasks;

/* What all photographs share. */
typedef struct {
    const char *folder, *mask_folder; /* the second may be NULL */
    const char *weights;              /* path; NULL for SIFT */
    psfm_extract_options extract;
    psfm_sift_options sift[PSFM_EFFORT_HIGH + 1]; /* within each effort */
    psfm_detector_options detector;
    const char *const *names; /* of the photographs */
    size_t num_photos;
    /* A rank that sees another file of a photograph's name, or another mask, fails: some are
     * compared before the work begins, the others in their tasks. That costs reading some of them
     * here. */
    bool is_checked;
} psfm_feature_setup;

psfm_status psfm_feature_setup_pack(psfm_context *ctx, const psfm_feature_setup *setup,
                                    psfm_packet *packet);

/* One photograph. */
psfm_status psfm_feature_task_pack(psfm_context *ctx, const psfm_feature_setup *setup, size_t photo,
                                   psfm_effort effort, psfm_packet *packet);

/* The result of a task. The caller frees *photo. */
psfm_status psfm_feature_result_unpack(psfm_context *ctx, psfm_packet_reader *reader,
                                       psfm_photo *photo);

#endif
