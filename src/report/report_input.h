/* What a report is made from: the files of a run, read and checked against each other. */
#ifndef PSFM_REPORT_REPORT_INPUT_H
#define PSFM_REPORT_REPORT_INPUT_H

#include <cjson/cJSON.h>

#include "io/graph_file.h"
#include "planarsfm/model.h"

/* Owns everything. */
typedef struct {
    cJSON *summary;     /* its `images` are those of the graph, in the same order */
    const char **names; /* of the images, byte by byte as their files are called */
    cJSON *planes;      /* a list; NULL if there is no planes.json */
    psfm_graph_file graph;
    psfm_model *models;
    uint32_t **model_views; /* per model and image of it: index of the image in the graph */
    size_t num_models;
} psfm_report_input;

/* Free *input in any case. */
psfm_status psfm_report_input_read(psfm_context *ctx, const char *out_folder,
                                   psfm_report_input *input);
void psfm_report_input_free(psfm_report_input *input);

#endif
