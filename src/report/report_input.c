/* The files of a run or of a model, read and linked: images of models to images of the graph, by
 * name. Files that do not belong together are refused. The folder of the photographs is left out,
 * because the page may be sent to others. */
#include "report/report_input.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/escape.h"
#include "core/base/number_locale.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "core/camera/camera_model.h"
#include "core/linalg/order_statistics.h"
#include "formats/colmap_model.h"

/* ---- a folder with models alone ---- */

/* The graph and the summary of a model that another program made, or whose run is not there: the
 * page then shows what a model alone tells. */

static int compare_names(const void *a, const void *b) {
    const psfm_model_image *const *p = a, *const *q = b;
    return strcmp((*p)->name, (*q)->name);
}

static psfm_status fill_graph(psfm_context *ctx, const psfm_model *model,
                              const psfm_model_image *const *sorted, psfm_graph_file *graph) {
    psfm_status status = PSFM_ALLOC(ctx, model->num_images, &graph->images);
    for (size_t k = 0; status == PSFM_OK && k < model->num_images; ++k) {
        const psfm_camera *camera = psfm_model_camera(model, sorted[k]->camera_id);
        psfm_graph_image *image = &graph->images[k];
        graph->num_images = k + 1;
        image->width = camera->width;
        image->height = camera->height;
        image->num_keypoints = sorted[k]->num_keypoints;
        status = psfm_utf8_copy(ctx, sorted[k]->name, &image->name);
    }
    return status;
}

static void print_image(const psfm_model_image *image, FILE *file) {
    size_t points = 0;
    for (size_t k = 0; k < image->num_keypoints; ++k)
        points += image->point3D_ids[k] != PSFM_NO_POINT ? 1 : 0;
    fprintf(file, "{\"name\":");
    psfm_print_json_string(file, image->name);
    fprintf(file, ",\"state\":\"posed\",\"model\":0,\"points\":%zu}", points);
}

static void print_camera(const psfm_camera *camera, FILE *file) {
    double focal = psfm_camera_mean_focal(camera);
    fprintf(file,
            "{\"id\":%llu,\"model\":\"%s\",\"source\":\"given\",\"focal_px_before\":%.17g,"
            "\"focal_px\":%.17g,\"focal_sigma\":0,\"params\":[",
            (unsigned long long)camera->id, psfm_camera_model_name(camera->model), focal, focal);
    for (int k = 0; k < psfm_camera_num_params(camera->model); ++k)
        fprintf(file, "%s%.17g", k == 0 ? "" : ",", camera->params[k]);
    fprintf(file, "]}");
}

static void print_summary(const psfm_model *model, const psfm_model_image *const *sorted,
                          FILE *file) {
    fprintf(file, "{\"images\":[");
    for (size_t k = 0; k < model->num_images; ++k) {
        fprintf(file, "%s", k == 0 ? "" : ",");
        print_image(sorted[k], file);
    }
    fprintf(file, "],\"cameras\":[");
    for (size_t k = 0; k < model->num_cameras; ++k) {
        fprintf(file, "%s", k == 0 ? "" : ",");
        print_camera(&model->cameras[k], file);
    }
    fprintf(file, "]}");
}

static psfm_status write_summary(psfm_context *ctx, const psfm_model *model,
                                 const psfm_model_image *const *sorted, psfm_report_input *input) {
    size_t size = 0;
    FILE *file = open_memstream(&input->summary_text, &size);
    if (file == NULL)
        return psfm_fail_memory(ctx);
    locale_t before = psfm_number_locale_begin();
    print_summary(model, sorted, file);
    psfm_number_locale_end(before);
    if (fclose(file) != 0)
        return psfm_fail_memory(ctx);
    return psfm_report_take_summary(ctx, "the model", size, input);
}

/* Fills the graph (images in the order of their names, no pairs) and the text of a summary, which
 * says no more of them than the model does. */
static psfm_status make_bare(psfm_context *ctx, const psfm_model *model, psfm_report_input *input) {
    const psfm_model_image **sorted = NULL;
    psfm_status status = PSFM_ALLOC(ctx, model->num_images, &sorted);
    for (size_t k = 0; status == PSFM_OK && k < model->num_images; ++k)
        sorted[k] = &model->images[k];
    if (status == PSFM_OK && model->num_images > 0)
        qsort((void *)sorted, model->num_images, sizeof(const psfm_model_image *), compare_names);
    if (status == PSFM_OK)
        status = fill_graph(ctx, model, sorted, &input->graph);
    if (status == PSFM_OK)
        status = write_summary(ctx, model, sorted, input);
    input->is_bare = status == PSFM_OK;
    free((void *)sorted);
    return status;
}

/* ---- the input ---- */

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

/* Finds the list in input->planes_text. */
static psfm_status take_planes(psfm_context *ctx, const char *path, size_t size,
                               psfm_report_input *input) {
    psfm_json_value root = {0};
    psfm_status status = check_json(ctx, path, input->planes_text, size, &root);
    if (status != PSFM_OK)
        return status;
    input->planes = psfm_json_find(root, "planes");
    if (!psfm_json_is_array(input->planes))
        status = psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: it has no list of planes", path);
    return status;
}

static psfm_status read_planes(psfm_context *ctx, const char *path, psfm_report_input *input) {
    size_t size = 0;
    if (!psfm_path_is_file(path))
        return PSFM_OK;
    psfm_status status = psfm_read_file(ctx, path, MAX_JSON, &input->planes_text, &size);
    return status == PSFM_OK ? take_planes(ctx, path, size, input) : status;
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
    bool is_taken; /* by an image of a model */
} named;

static int by_name(const void *a, const void *b) {
    const named *p = a, *q = b;
    int order = strcmp(p->name, q->name);
    return order != 0 ? order : (p->view > q->view) - (p->view < q->view);
}

/* The first image of this name that is not taken; names that differ only in bytes that are not
 * UTF-8 are the same in JSON. The last one if all are taken; NULL if there is none. */
static named *find_name(named *sorted, size_t num, const char *name) {
    const named wanted = {.name = name};
    size_t at = psfm_lower_bound(&wanted, sorted, num, sizeof *sorted, psfm_compare_strings);
    while (at + 1 < num && sorted[at].is_taken && strcmp(sorted[at + 1].name, name) == 0)
        ++at;
    return at < num && strcmp(sorted[at].name, name) == 0 ? &sorted[at] : NULL;
}

/* Finds the image of the graph behind each image of the model. */
static psfm_status link_model(psfm_context *ctx, const char *folder, named *sorted,
                              size_t num_views, const psfm_model *model, uint32_t **views) {
    psfm_status status = PSFM_ALLOC(ctx, model->num_images, views);
    for (size_t k = 0; status == PSFM_OK && k < model->num_images; ++k) {
        char *name = NULL; /* as JSON has it */
        status = psfm_utf8_copy(ctx, model->images[k].name, &name);
        named *found = status == PSFM_OK ? find_name(sorted, num_views, name) : NULL;
        if (found != NULL) {
            (*views)[k] = found->view;
            found->is_taken = true;
        } else if (status == PSFM_OK) {
            status = psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: image %s is not in summary.json", folder,
                               model->images[k].name);
        }
        free(name);
    }
    return status;
}

static psfm_status read_model(psfm_context *ctx, const char *folder, named *sorted,
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
        (*sorted)[v] = (named){.name = input->names[v], .view = v};
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

static psfm_status take_models(psfm_context *ctx, const psfm_model *models, size_t num_models,
                               psfm_report_input *input) {
    named *sorted = NULL;
    psfm_status status = PSFM_ALLOC(ctx, num_models, &input->model_views);
    if (status == PSFM_OK) {
        input->models = models;
        input->num_models = num_models;
        status = sort_names(ctx, input, &sorted);
    }
    for (size_t k = 0; status == PSFM_OK && k < num_models; ++k)
        status = link_model(ctx, "a model", sorted, input->graph.num_images, &models[k],
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
            status = make_bare(ctx, &alone, input);
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

psfm_status psfm_report_input_of_run(psfm_context *ctx, psfm_run_record *record,
                                     psfm_report_input *input) {
    *input = (psfm_report_input){
        .summary_text = record->summary, .planes_text = record->planes, .graph = record->graph};
    psfm_status status =
        psfm_report_take_summary(ctx, "summary.json", strlen(input->summary_text), input);
    if (status == PSFM_OK && input->planes_text != NULL)
        status = take_planes(ctx, "planes.json", strlen(input->planes_text), input);
    if (status == PSFM_OK)
        status = check_planes(ctx, "planes.json", input);
    if (status == PSFM_OK)
        status = take_models(ctx, record->models, record->num_models, input);
    *record = (psfm_run_record){0};
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
