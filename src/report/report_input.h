/* What a report is made from: the files of a run, read and checked against each other. */
#ifndef PSFM_REPORT_REPORT_INPUT_H
#define PSFM_REPORT_REPORT_INPUT_H

#include "formats/graph_file.h"
#include "formats/json_text.h"
#include "planarsfm/model.h"
#include "report/binary_column.h"

/* Owns everything but models that were given. */
typedef struct {
    char *summary_text, *planes_text, *alignment_text;
    psfm_json_value summary;   /* its `images` are those of the graph, in the same order */
    char **names;              /* of the images, as JSON has them: what is not UTF-8 is replaced */
    psfm_json_value planes;    /* a list; none if there is no planes.json */
    psfm_json_value alignment; /* the object that align wrote; none for other models */
    bool is_bare;              /* a model alone: the graph has no pairs, the summary little */
    psfm_graph_file graph;
    const psfm_model *models;
    psfm_model *read_models; /* the same, owned; NULL if they were given */
    uint32_t **model_views;  /* per model and image of it: index of the image in the graph */
    size_t num_models;
} psfm_report_input;

/* Reads the OUT of a run, the OUT of align with the run behind it if that is still there, or any
 * model. Free *input in any case. */
psfm_status psfm_report_input_read(psfm_context *ctx, const char *folder, psfm_report_input *input);

/* What a run wrote to its OUT and has in memory still: the same as its files say. */
typedef struct {
    psfm_graph_file graph;
    char *summary, *planes; /* texts; planes may be NULL */
    const psfm_model *models;
    size_t num_models;
} psfm_run_record;

/* The same of a run that wrote it a moment ago. Takes over all but the models, which outlive
 * *input. */
psfm_status psfm_report_input_of_run(psfm_context *ctx, psfm_run_record *record,
                                     psfm_report_input *input);
/* The part of it that reads summary.json, after the graph; the same from input->summary_text. */
psfm_status psfm_report_read_summary(psfm_context *ctx, const char *path, psfm_report_input *input);
psfm_status psfm_report_take_summary(psfm_context *ctx, const char *path, size_t size,
                                     psfm_report_input *input);
void psfm_report_input_free(psfm_report_input *input);

/* ---- what is printed of it ---- */

/* The parts of the report's data. Each prints one member (or several) of the page's JSON object,
 * with a comma before it. Columns of numbers are base64 texts, see column.h; docs are in
 * web/data.js, which reads them. */

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
