/* Two models of the same images, side by side. */
#ifndef PSFM_EVAL_COMPARE_MODELS_H
#define PSFM_EVAL_COMPARE_MODELS_H

#include <cjson/cJSON.h>

#include "core/linalg/sim3.h"
#include "planarsfm/model.h"

/* One image that both models have. */
typedef struct {
    uint32_t image_a, image_b; /* indices into the models' images */
    double center_a[3];        /* in the frame of A */
    double center_b[3];        /* in the frame of A, after the similarity */
    double position;           /* distance between the two, in units of A */
    double rotation_deg;       /* between the two orientations */
} psfm_camera_difference;

/* Owns its array. */
typedef struct {
    psfm_sim3 a_from_b;
    psfm_camera_difference *images; /* in the order of the names */
    size_t num_images;
    size_t num_only_a, num_only_b; /* images that the other model lacks */
    double extent; /* largest distance of a centre of A from their middle, doubled */
    double median_position, max_position;
    double median_rotation_deg, max_rotation_deg;
} psfm_comparison;

/* Matches images by name, brings B into the frame of A by a robust similarity of the centres, and
 * measures what is left. Centres that do not determine a similarity (fewer than three, or on a
 * line) are aligned by the mean of the relative rotations and the spread of the centres.
 * PSFM_ERR_DATA if no image is in both, or a name comes twice. Free in any case. O(n log n). */
psfm_status psfm_compare_models(psfm_context *ctx, const psfm_model *a, const psfm_model *b,
                                psfm_comparison *out);
void psfm_comparison_free(psfm_comparison *comparison);

/* All of it as an object; NULL when memory is out. */
cJSON *psfm_comparison_to_json(const psfm_comparison *comparison, const psfm_model *a);

/* An image of a model by its name. */
typedef struct {
    const char *name;
    uint32_t idx;
} psfm_named_image;

/* The images of a model sorted by name; PSFM_ERR_DATA if a name comes twice. *out is freed by the
 * caller in any case. */
psfm_status psfm_sort_names(psfm_context *ctx, const psfm_model *model, psfm_named_image **out);

#endif
