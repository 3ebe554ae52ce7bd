/* The page: web/page.html with the style, the data, three.js and the scripts put in at its marks.
 */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/escape.h"
#include "core/base/number_locale.h"
#include "core/base/output.h"
#include "core/base/path.h"
#include "core/camera/camera_model.h"
#include "planarsfm/version.h"
#include "report/assets.h"
#include "report/report_input.h"
#include "report/thumbnails.h"

static const psfm_report_limits limits = {
    .max_points = 80000,
    .max_pairs = 60000,
    .max_residuals = 120000,
    .max_thumb_size = 4500000,
};

static void print_images(const psfm_report_input *input, FILE *file) {
    fprintf(file, ",\n\"images\":[");
    for (size_t v = 0; v < input->graph.num_images; ++v) {
        const psfm_graph_image *image = &input->graph.images[v];
        fprintf(file, "%s{\"name\":", v == 0 ? "" : ",");
        psfm_print_json_string(file, input->names[v]);
        fprintf(file, ",\"width\":%llu,\"height\":%llu,\"keypoints\":%zu}",
                (unsigned long long)image->width, (unsigned long long)image->height,
                image->num_keypoints);
    }
    fprintf(file, "]");
}

static void print_components(const psfm_graph_file *graph, FILE *file) {
    fprintf(file, ",\n\"components\":[");
    for (size_t k = 0; k < graph->num_components; ++k) {
        const psfm_graph_component *c = &graph->components[k];
        fprintf(file, "%s{\"images\":%u,\"edges\":%u,\"low\":%.9g,\"high\":%.9g}",
                k == 0 ? "" : ",", c->num_images, c->num_edges, c->low, c->high);
    }
    fprintf(file, "],\n\"planeModels\":[");
    for (size_t k = 0; k < graph->num_planes; ++k)
        fprintf(file, "%s%u", k == 0 ? "" : ",", graph->plane_models[k]);
    fprintf(file, "]");
}

psfm_json_value psfm_report_photo_folder(const psfm_report_input *input) {
    return psfm_json_find(psfm_json_find(input->summary, "photographs"), "folder");
}

static void print_record(const psfm_report_input *input, FILE *file) {
    fprintf(file, ",\n\"summary\":");
    psfm_json_print_value(file, input->summary, psfm_report_photo_folder(input));
    fprintf(file, ",\n\"planes\":");
    psfm_json_print_value(file, input->planes, (psfm_json_value){0});
    if (input->alignment.begin != NULL) {
        fprintf(file, ",\n\"alignment\":");
        psfm_json_print_value(file, input->alignment, psfm_json_find(input->alignment, "source"));
    }
    if (input->is_bare)
        fprintf(file, ",\n\"isBare\":true");
}

/* What the parameters of each camera model are called. */
static void print_parameters(FILE *file) {
    fprintf(file, ",\n\"parameters\":{");
    for (int k = 0; k < PSFM_NUM_CAMERA_MODELS; ++k)
        fprintf(file, "%s\"%s\":\"%s\"", k == 0 ? "" : ",", psfm_camera_model_names[k],
                psfm_camera_model_get((psfm_camera_model)k)->parameters);
    fprintf(file, "}");
}

static psfm_status print_data(psfm_context *ctx, const psfm_report_input *input,
                              const psfm_report_other *other, FILE *file) {
    size_t max_points = other == NULL ? limits.max_points : limits.max_points / 2;
    fprintf(file, "<script id=\"data\" type=\"application/json\">{\"version\":\"%s\"",
            PSFM_VERSION);
    print_parameters(file);
    print_record(input, file);
    print_images(input, file);
    print_components(&input->graph, file);
    psfm_status status = psfm_report_print_pairs(ctx, &input->graph, limits.max_pairs, file);
    if (status == PSFM_OK)
        status = psfm_report_print_models(ctx, input, max_points, file);
    if (status == PSFM_OK)
        status = psfm_report_print_residuals(ctx, input, limits.max_residuals, file);
    if (status == PSFM_OK && other != NULL)
        status = psfm_report_print_other(ctx, input, other, max_points, file);
    fprintf(file, "}</script>\n");
    return status;
}

psfm_status psfm_report_begin_thumbnails(psfm_context *ctx, size_t num_images,
                                         psfm_thumbnails *out) {
    return psfm_thumbnails_begin(ctx, num_images, limits.max_thumb_size, out);
}

/* One line of base64 per image, empty without a thumbnail; they are decoded when they are shown.
 * "1:" before it: upright after so many clockwise quarter turns. */
static psfm_status print_thumbnails(psfm_context *ctx, const psfm_report_input *input,
                                    const char *photo_folder, psfm_thumbnails *thumbnails,
                                    FILE *file) {
    psfm_status status = PSFM_OK;
    if (photo_folder != NULL)
        status = psfm_thumbnails_complete(ctx, thumbnails, photo_folder,
                                          (const char *const *)input->names);
    fprintf(file, "<script id=\"thumbnails\" type=\"text/plain\">");
    size_t used = 0;
    for (size_t k = 0; status == PSFM_OK && photo_folder != NULL && k < thumbnails->num; ++k) {
        used += thumbnails->images[k].size;
        if (used <= 2 * limits.max_thumb_size && thumbnails->images[k].size > 0 &&
            thumbnails->images[k].quarters > 0)
            fprintf(file, "%d:", thumbnails->images[k].quarters);
        if (used <= 2 * limits.max_thumb_size)
            psfm_base64_print(thumbnails->images[k].bytes, thumbnails->images[k].size, file);
        fputc('\n', file);
    }
    fprintf(file, "</script>\n");
    return status;
}

static void print_asset(const char *begin, const char *end, FILE *file) {
    fwrite(begin, 1, (size_t)(end - begin), file);
}

/* Prints the page up to a mark and returns where it goes on; to the end without a mark. */
static const char *print_up_to(const char *page, const char *mark, FILE *file) {
    const char *at = mark == NULL ? NULL : strstr(page, mark);
    if (at == NULL) {
        print_asset(page, psfm_asset_page_end, file);
        return psfm_asset_page_end;
    }
    print_asset(page, at, file);
    return at + strlen(mark);
}

bool psfm_report_has_3d(void) {
    return psfm_asset_three_end - psfm_asset_three > 0;
}

static psfm_status print_page(psfm_context *ctx, const psfm_report_input *input,
                              const psfm_report_other *other, const char *photo_folder,
                              psfm_thumbnails *thumbnails, FILE *file) {
    const char *page = print_up_to(psfm_asset_page, "<!-- style -->", file);
    fprintf(file, "<style>\n");
    print_asset(psfm_asset_style, psfm_asset_style_end, file);
    fprintf(file, "</style>\n");
    page = print_up_to(page, "<!-- data -->", file);
    psfm_status status = print_data(ctx, input, other, file);
    if (status == PSFM_OK)
        status = print_thumbnails(ctx, input, photo_folder, thumbnails, file);
    page = print_up_to(page, "<!-- scripts -->", file);
    if (psfm_report_has_3d()) {
        print_asset(psfm_asset_licence, psfm_asset_licence_end, file);
        fprintf(file, "<script id=\"three\">");
        print_asset(psfm_asset_three, psfm_asset_three_end, file);
        fprintf(file, "</script>\n");
    }
    fprintf(file, "<script>\n");
    print_asset(psfm_asset_script, psfm_asset_script_end, file);
    fprintf(file, "</script>\n");
    print_up_to(page, NULL, file);
    return status;
}

/* Writes the page; whole or absent. `made` are thumbnails that there are already, or none. */
static psfm_status write_page(psfm_context *ctx, const psfm_report_input *input,
                              const psfm_report_other *other, const char *photo_folder,
                              psfm_thumbnails *made, const char *path) {
    psfm_output out = {0};
    psfm_thumbnails own = {0};
    const bool are_made = made != NULL && made->num == input->graph.num_images;
    const char *photos = photo_folder != NULL ? photo_folder : input->graph.photo_folder;
    psfm_status status = psfm_output_open(ctx, path, &out);
    if (status == PSFM_OK && !are_made)
        status = psfm_report_begin_thumbnails(ctx, input->graph.num_images, &own);
    if (status == PSFM_OK) {
        locale_t before = psfm_number_locale_begin();
        status = print_page(ctx, input, other, photos, are_made ? made : &own, out.file);
        psfm_number_locale_end(before);
    }
    if (status == PSFM_OK)
        status = psfm_output_commit(ctx, &out);
    psfm_output_abort(&out);
    psfm_thumbnails_free(&own);
    return status;
}

static psfm_status write_report(psfm_context *ctx, const psfm_report_input *input,
                                const char *folder, const char *photo_folder,
                                psfm_thumbnails *made) {
    char *path = NULL;
    psfm_status status = psfm_path_join(ctx, folder, "report.html", &path);
    if (status == PSFM_OK)
        status = write_page(ctx, input, NULL, photo_folder, made, path);
    free(path);
    return status;
}

psfm_status psfm_report_write(psfm_context *ctx, const char *folder, const char *photo_folder) {
    psfm_report_input input;
    psfm_status status = psfm_report_input_read(ctx, folder, &input);
    if (status == PSFM_OK)
        status = write_report(ctx, &input, folder, photo_folder, NULL);
    psfm_report_input_free(&input);
    return status;
}

psfm_status psfm_report_write_run(psfm_context *ctx, const char *folder, psfm_run_record *record,
                                  psfm_thumbnails *thumbnails) {
    psfm_report_input input;
    psfm_status status = psfm_report_input_of_run(ctx, record, &input);
    if (status == PSFM_OK)
        status = write_report(ctx, &input, folder, NULL, thumbnails);
    psfm_report_input_free(&input);
    return status;
}

psfm_status psfm_report_compare(psfm_context *ctx, const char *folder_a, const char *folder_b,
                                const char *photo_folder, const char *path) {
    psfm_report_input a = {0}, b = {0};
    psfm_status status = psfm_report_input_read(ctx, folder_a, &a);
    if (status == PSFM_OK)
        status = psfm_report_input_read(ctx, folder_b, &b);
    if (status == PSFM_OK) {
        const psfm_report_other other = {&b, {folder_a, folder_b}};
        status = write_page(ctx, &a, &other, photo_folder, NULL, path);
    }
    psfm_report_input_free(&a);
    psfm_report_input_free(&b);
    return status;
}
