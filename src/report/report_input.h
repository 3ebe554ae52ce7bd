/* What a report is made from: the files of a run, read and checked against each other. */
#ifndef PSFM_REPORT_REPORT_INPUT_H
#define PSFM_REPORT_REPORT_INPUT_H

#include "io/graph_file.h"
#include "io/json_text.h"
#include "planarsfm/model.h"

/* Owns everything but models that were given. */
typedef struct {
    char *summary_text, *planes_text, *alignment_text;
    psfm_json_value summary;   /* its `images` are those of the graph, in the same order */
    char **names;              /* of the images, byte by byte as their files are called */
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
/* The OUT of a run whose models, as they are in OUT/model, are in memory still and outlive *input.
 */
psfm_status psfm_report_input_of_run(psfm_context *ctx, const char *folder,
                                     const psfm_model *models, size_t num_models,
                                     psfm_report_input *input);
/* The part of it that reads summary.json, after the graph; the same from input->summary_text. */
psfm_status psfm_report_read_summary(psfm_context *ctx, const char *path, psfm_report_input *input);
psfm_status psfm_report_take_summary(psfm_context *ctx, const char *path, size_t size,
                                     psfm_report_input *input);
void psfm_report_input_free(psfm_report_input *input);

#endif
