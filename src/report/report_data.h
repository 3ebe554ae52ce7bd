/* The parts of the report's data. Each prints one member (or several) of the page's JSON object,
 * with a comma before it. Columns of numbers are base64 texts, see column.h; docs are in
 * web/data.js, which reads them. */
#ifndef PSFM_REPORT_REPORT_DATA_H
#define PSFM_REPORT_REPORT_DATA_H

#include "report/column.h"
#include "report/report_input.h"

/* Limits that keep the page small. */
typedef struct {
    size_t max_points;     /* of all models */
    size_t max_pairs;      /* with the tree before other kept edges before pruned ones */
    size_t max_residuals;  /* sampled observations, of all images */
    size_t max_thumb_size; /* bytes of all thumbnails before base64 */
} psfm_report_limits;

/* A second run beside the one of the page. */
typedef struct {
    const psfm_report_input *input;
    const char *label[2]; /* what the two are called */
} psfm_report_other;

/* Where the photographs lie, in the summary: nobody's business whom the page is sent to. */
psfm_json_value psfm_report_photo_folder(const psfm_report_input *input);

/* "pairs" and "homographies". */
psfm_status psfm_report_print_pairs(psfm_context *ctx, const psfm_graph_file *graph,
                                    size_t max_pairs, FILE *file);

/* "models": cameras and points of each. */
psfm_status psfm_report_print_models(psfm_context *ctx, const psfm_report_input *input,
                                     size_t max_points, FILE *file);

/* "residuals": the distribution of reprojection errors and lengths of tracks, and some errors of
 * each image. */
psfm_status psfm_report_print_residuals(psfm_context *ctx, const psfm_report_input *input,
                                        size_t max_residuals, FILE *file);

/* "comparison" and "other". PSFM_ERR_DATA if one of the two has no model, or they have no image in
 * common. */
psfm_status psfm_report_print_other(psfm_context *ctx, const psfm_report_input *input,
                                    const psfm_report_other *other, size_t max_points, FILE *file);

#endif
