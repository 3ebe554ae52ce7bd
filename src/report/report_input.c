/* The files of a run or of a model, read and linked: images of models to images of the graph, by
 * name. Files that do not belong together are refused. The folder of the photographs is left out,
 * because the page may be sent to others. */
#include "report/report_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "base/path.h"
#include "io/model_folder.h"
#include "report/report_bare.h"

#define MAX_JSON ((size_t)1 << 30)

static psfm_status check_json(psfm_context *ctx, const char *path, const char *text, size_t size,
                              psfm_json_value *object) {
    if (!psfm_json_text_check(text, size, object) || !psfm_json_is_object(*object))
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: not a JSON object", path);
    return PSFM_OK;
}

/* Reads a file that holds an object. *text is the caller's to free in any case. */
static psfm_status read_json(psfm_context *ctx, const char *path, char **text,
                             psfm_json_value *object) {
    size_t size = 0;
    psfm_status status = psfm_read_file(ctx, path, MAX_JSON, text, &size);
    return status == PSFM_OK ? check_json(ctx, path, *text, size, object) : status;
}

static size_t count_items(psfm_json_value list) {
    psfm_json_value item = {0};
    size_t num = 0;
    while (psfm_json_next(list, item.end, NULL, &item))
        ++num;
    return num;
}

psfm_status psfm_report_read_summary(psfm_context *ctx, const char *path,
                                     psfm_report_input *input) {
    size_t size = 0;
    psfm_status status = psfm_read_file(ctx, path, MAX_JSON, &input->summary_text, &size);
    return status == PSFM_OK ? psfm_report_take_summary(ctx, path, size, input) : status;
}

psfm_status psfm_report_take_summary(psfm_context *ctx, const char *path, size_t size,
                                     psfm_report_input *input) {
    psfm_status status = check_json(ctx, path, input->summary_text, size, &input->summary);
    if (status != PSFM_OK)
        return status;
    psfm_json_value images = psfm_json_find(input->summary, "images"), image = {0};
    if (!psfm_json_is_array(images) || count_items(images) != input->graph.num_images)
        return psfm_fail(ctx, PSFM_ERR_FORMAT,
                         "%s: its images are not those of graph.json beside it", path);
    status = PSFM_ALLOC(ctx, input->graph.num_images, &input->names);
    for (size_t v = 0; status == PSFM_OK && v < input->graph.num_images; ++v) {
        psfm_json_next(images, image.end, NULL, &image);
        input->names[v] = psfm_json_string(psfm_json_find(image, "name"));
        if (input->names[v] == NULL)
            return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: image %zu has no name", path, v);
    }
    return status;
}

static psfm_status read_planes(psfm_context *ctx, const char *path, psfm_report_input *input) {
    psfm_json_value root = {0};
    if (!psfm_path_is_file(path))
        return PSFM_OK;
    psfm_status status = read_json(ctx, path, &input->planes_text, &root);
    if (status != PSFM_OK)
        return status;
    input->planes = psfm_json_find(root, "planes");
    if (!psfm_json_is_array(input->planes))
        status = psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: it has no list of planes", path);
    return status;
}

/* The planes of a run are those that its graph tells the models of. */
static psfm_status check_planes(psfm_context *ctx, const char *path,
                                const psfm_report_input *input) {
    if (input->planes.begin != NULL && count_items(input->planes) != input->graph.num_planes)
        return psfm_fail(ctx, PSFM_ERR_FORMAT,
                         "%s: its planes are not those of graph.json beside it", path);
    return PSFM_OK;
}

typedef struct {
    const char *name;
    uint32_t view;
} named;

static int by_name(const void *a, const void *b) {
    const named *p = a, *q = b;
    int order = strcmp(p->name, q->name);
    return order != 0 ? order : (p->view > q->view) - (p->view < q->view);
}

static int name_only(const void *a, const void *b) {
    return strcmp(((const named *)a)->name, ((const named *)b)->name);
}

/* Finds the image of the graph behind each image of the model. */
static psfm_status link_model(psfm_context *ctx, const char *folder, const named *sorted,
                              size_t num_views, const psfm_model *model, uint32_t **views) {
    psfm_status status = PSFM_ALLOC(ctx, model->num_images, views);
    for (size_t k = 0; status == PSFM_OK && k < model->num_images; ++k) {
        char *name = NULL; /* as JSON has it */
        status = psfm_utf8_copy(ctx, model->images[k].name, &name);
        named wanted = {name, 0};
        const named *found = status == PSFM_OK
                                 ? bsearch(&wanted, sorted, num_views, sizeof *sorted, name_only)
                                 : NULL;
        if (found != NULL)
            (*views)[k] = found->view;
        else if (status == PSFM_OK)
            status = psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: image %s is not in summary.json", folder,
                               model->images[k].name);
        free(name);
    }
    return status;
}

static psfm_status read_model(psfm_context *ctx, const char *folder, const named *sorted,
                              size_t *capacity, psfm_report_input *input) {
    size_t k = input->num_models, link_capacity = *capacity;
    psfm_status status = PSFM_RESERVE(ctx, &input->read_models, capacity, k + 1);
    input->models = input->read_models;
    if (status == PSFM_OK)
        status = PSFM_RESERVE(ctx, &input->model_views, &link_capacity, k + 1);
    if (status == PSFM_OK)
        status = psfm_model_read(ctx, folder, &input->read_models[k]);
    if (status != PSFM_OK)
        return status;
    input->num_models = k + 1;
    return link_model(ctx, folder, sorted, input->graph.num_images, &input->models[k],
                      &input->model_views[k]);
}

/* Images of the graph in the order of their names. */
static psfm_status sort_names(psfm_context *ctx, const psfm_report_input *input, named **sorted) {
    size_t num = input->graph.num_images;
    psfm_status status = PSFM_ALLOC(ctx, num, sorted);
    for (uint32_t v = 0; status == PSFM_OK && v < num; ++v)
        (*sorted)[v] = (named){input->names[v], v};
    if (status == PSFM_OK && num > 0)
        qsort(*sorted, num, sizeof **sorted, by_name);
    return status;
}

/* model/0, 1, ... as far as they go. */
static psfm_status read_models(psfm_context *ctx, const char *out_folder,
                               psfm_report_input *input) {
    size_t capacity = 0;
    named *sorted = NULL;
    bool more = true;
    psfm_status status = sort_names(ctx, input, &sorted);
    while (status == PSFM_OK && more) {
        char name[32], *path = NULL;
        snprintf(name, sizeof name, "model/%zu", input->num_models);
        status = psfm_path_join(ctx, out_folder, name, &path);
        more = status == PSFM_OK && psfm_path_is_folder(path);
        if (more)
            status = read_model(ctx, path, sorted, &capacity, input);
        free(path);
    }
    free(sorted);
    return status;
}

static psfm_status take_models(psfm_context *ctx, const char *out_folder, const psfm_model *models,
                               size_t num_models, psfm_report_input *input) {
    named *sorted = NULL;
    psfm_status status = PSFM_ALLOC(ctx, num_models, &input->model_views);
    if (status == PSFM_OK) {
        input->models = models;
        input->num_models = num_models;
        status = sort_names(ctx, input, &sorted);
    }
    for (size_t k = 0; status == PSFM_OK && k < num_models; ++k)
        status = link_model(ctx, out_folder, sorted, input->graph.num_images, &models[k],
                            &input->model_views[k]);
    free(sorted);
    return status;
}

/* graph.json and summary.json of a run. */
static psfm_status read_record(psfm_context *ctx, const char *folder, psfm_report_input *input) {
    char *graph = NULL, *summary = NULL;
    psfm_status status = psfm_path_join(ctx, folder, "graph.json", &graph);
    if (status == PSFM_OK)
        status = psfm_path_join(ctx, folder, "summary.json", &summary);
    if (status == PSFM_OK)
        status = psfm_graph_file_read(ctx, graph, &input->graph);
    if (status == PSFM_OK)
        status = psfm_report_read_summary(ctx, summary, input);
    free(graph);
    free(summary);
    return status;
}

static psfm_status read_run(psfm_context *ctx, const char *folder, const char *planes,
                            psfm_report_input *input) {
    psfm_status status = read_record(ctx, folder, input);
    if (status == PSFM_OK)
        status = read_planes(ctx, planes, input);
    if (status == PSFM_OK)
        status = check_planes(ctx, planes, input);
    return status;
}

/* Whether a folder has the files of a run. */
static psfm_status is_run(psfm_context *ctx, const char *folder, bool *yes) {
    char *path = NULL;
    psfm_status status = psfm_path_join(ctx, folder, "graph.json", &path);
    *yes = status == PSFM_OK && psfm_path_is_file(path);
    free(path);
    return status;
}

/* alignment.json and the record of the run it names; *found is false if that is gone. */
static psfm_status read_alignment(psfm_context *ctx, const char *path, psfm_report_input *input,
                                  bool *found) {
    *found = false;
    if (!psfm_path_is_file(path))
        return PSFM_OK;
    psfm_status status = read_json(ctx, path, &input->alignment_text, &input->alignment);
    if (status != PSFM_OK)
        return status;
    char *source = psfm_json_string(psfm_json_find(input->alignment, "source"));
    if (source != NULL)
        status = is_run(ctx, source, found);
    if (status == PSFM_OK && *found)
        status = read_record(ctx, source, input);
    free(source);
    return status;
}

/* All planes belong to the one model. */
static psfm_status own_planes(psfm_context *ctx, psfm_report_input *input) {
    free(input->graph.plane_models);
    input->graph.plane_models = NULL;
    input->graph.num_planes = count_items(input->planes);
    return PSFM_ALLOC(ctx, input->graph.num_planes, &input->graph.plane_models);
}

/* A model alone, with the run behind it if it was aligned and the run is there. */
static psfm_status read_single(psfm_context *ctx, const char *folder, const char *planes,
                               psfm_report_input *input) {
    char *alignment = NULL, *model = NULL;
    named *sorted = NULL;
    size_t capacity = 0;
    bool found = false;
    psfm_status status = psfm_path_join(ctx, folder, "alignment.json", &alignment);
    if (status == PSFM_OK)
        status = psfm_model_folder(ctx, folder, &model);
    if (status == PSFM_OK)
        status = read_alignment(ctx, alignment, input, &found);
    if (status == PSFM_OK && !found) {
        psfm_model alone = {0};
        status = psfm_model_read(ctx, model, &alone);
        if (status == PSFM_OK)
            status = psfm_report_make_bare(ctx, &alone, input);
        psfm_model_free(&alone);
    }
    if (status == PSFM_OK)
        status = read_planes(ctx, planes, input);
    if (status == PSFM_OK)
        status = own_planes(ctx, input);
    if (status == PSFM_OK)
        status = sort_names(ctx, input, &sorted);
    if (status == PSFM_OK)
        status = read_model(ctx, model, sorted, &capacity, input);
    free(sorted);
    free(alignment);
    free(model);
    return status;
}

psfm_status psfm_report_input_read(psfm_context *ctx, const char *folder,
                                   psfm_report_input *input) {
    char *planes = NULL;
    bool run = false;
    *input = (psfm_report_input){0};
    psfm_status status = psfm_path_join(ctx, folder, "planes.json", &planes);
    if (status == PSFM_OK)
        status = is_run(ctx, folder, &run);
    if (status == PSFM_OK)
        status =
            run ? read_run(ctx, folder, planes, input) : read_single(ctx, folder, planes, input);
    if (status == PSFM_OK && run)
        status = read_models(ctx, folder, input);
    free(planes);
    return status;
}

psfm_status psfm_report_input_of_run(psfm_context *ctx, const char *folder,
                                     const psfm_model *models, size_t num_models,
                                     psfm_report_input *input) {
    char *planes = NULL;
    *input = (psfm_report_input){0};
    psfm_status status = psfm_path_join(ctx, folder, "planes.json", &planes);
    if (status == PSFM_OK)
        status = read_run(ctx, folder, planes, input);
    if (status == PSFM_OK)
        status = take_models(ctx, folder, models, num_models, input);
    free(planes);
    return status;
}

void psfm_report_input_free(psfm_report_input *input) {
    for (size_t v = 0; input->names != NULL && v < input->graph.num_images; ++v)
        free(input->names[v]);
    free(input->names);
    free(input->summary_text);
    free(input->planes_text);
    free(input->alignment_text);
    psfm_graph_file_free(&input->graph);
    for (size_t k = 0; k < input->num_models; ++k) {
        if (input->read_models != NULL)
            psfm_model_free(&input->read_models[k]);
        free(input->model_views[k]);
    }
    free(input->read_models);
    free((void *)input->model_views);
    *input = (psfm_report_input){0};
}
