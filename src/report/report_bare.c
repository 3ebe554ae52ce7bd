/* The graph and the summary of a model that another program made, or whose run is not there: the
 * page then shows what a model alone tells. */
#include "report/report_bare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "base/number_locale.h"
#include "camera/camera_model.h"

static int by_name(const void *a, const void *b) {
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
    const psfm_camera_model_info *info = psfm_camera_model_get(camera->model);
    double focal = sqrt(camera->params[info->focal[0]] * camera->params[info->focal[1]]);
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
        return psfm_fail(ctx, PSFM_ERR_MEMORY, "out of memory");
    locale_t before = psfm_number_locale_begin();
    print_summary(model, sorted, file);
    psfm_number_locale_end(before);
    if (fclose(file) != 0)
        return psfm_fail(ctx, PSFM_ERR_MEMORY, "out of memory");
    return psfm_report_take_summary(ctx, "the model", size, input);
}

psfm_status psfm_report_make_bare(psfm_context *ctx, const psfm_model *model,
                                  psfm_report_input *input) {
    const psfm_model_image **sorted = NULL;
    psfm_status status = PSFM_ALLOC(ctx, model->num_images, &sorted);
    for (size_t k = 0; status == PSFM_OK && k < model->num_images; ++k)
        sorted[k] = &model->images[k];
    if (status == PSFM_OK && model->num_images > 0)
        qsort((void *)sorted, model->num_images, sizeof(const psfm_model_image *), by_name);
    if (status == PSFM_OK)
        status = fill_graph(ctx, model, sorted, &input->graph);
    if (status == PSFM_OK)
        status = write_summary(ctx, model, sorted, input);
    input->is_bare = status == PSFM_OK;
    free((void *)sorted);
    return status;
}
