/* The other run of a page that shows two: what the tables need of it, its largest model for the 3D
 * view, and how the poses of the two differ. */
#include <stdlib.h>

#include "base/escape.h"
#include "eval/compare_models.h"
#include "report/report_data.h"

static void print_numbers(const char *name, const double *values, int num, FILE *file) {
    fprintf(file, "\"%s\":[", name);
    for (int k = 0; k < num; ++k)
        fprintf(file, "%s%.17g", k == 0 ? "" : ",", values[k]);
    fprintf(file, "],");
}

static void print_differences(const psfm_comparison *c, const psfm_model *a, FILE *file) {
    fprintf(file, ",\"images\":[");
    for (size_t k = 0; k < c->num_images; ++k) {
        const psfm_camera_difference *d = &c->images[k];
        fprintf(file, "%s{\"name\":", k == 0 ? "" : ",");
        psfm_print_json_string(file, a->images[d->image_a].name);
        fprintf(file, ",\"position\":%.9g,\"rotation_deg\":%.9g}", d->position, d->rotation_deg);
    }
    fprintf(file, "]");
}

static void print_comparison(const psfm_comparison *c, const psfm_model *a, FILE *file) {
    fprintf(file, ",\n\"comparison\":{\"from_other\":{");
    print_numbers("rotation", c->a_from_b.R, 9, file);
    print_numbers("translation", c->a_from_b.t, 3, file);
    fprintf(file, "\"scale\":%.17g}", c->a_from_b.scale);
    fprintf(file, ",\"common\":%zu,\"only_a\":%zu,\"only_b\":%zu,\"extent\":%.9g", c->num_images,
            c->num_only_a, c->num_only_b, c->extent);
    fprintf(file, ",\"median_position\":%.9g,\"max_position\":%.9g", c->median_position,
            c->max_position);
    fprintf(file, ",\"median_rotation_deg\":%.9g,\"max_rotation_deg\":%.9g", c->median_rotation_deg,
            c->max_rotation_deg);
    print_differences(c, a, file);
    fprintf(file, "}");
}

static void print_names(const psfm_report_input *input, FILE *file) {
    fprintf(file, ",\"names\":[");
    for (size_t v = 0; v < input->graph.num_images; ++v) {
        fprintf(file, "%s", v == 0 ? "" : ",");
        psfm_print_json_string(file, input->names[v]);
    }
    fprintf(file, "]");
}

psfm_status psfm_report_print_other(psfm_context *ctx, const psfm_report_input *input,
                                    const psfm_report_other *other, size_t max_points, FILE *file) {
    const psfm_report_input *b = other->input;
    psfm_comparison comparison = {0};
    if (input->num_models == 0 || b->num_models == 0)
        return psfm_fail(ctx, PSFM_ERR_DATA, "%s has no model to compare",
                         other->label[input->num_models == 0 ? 0 : 1]);
    psfm_status status = psfm_compare_models(ctx, &input->models[0], &b->models[0], &comparison);
    if (status == PSFM_OK) {
        print_comparison(&comparison, &input->models[0], file);
        fprintf(file, ",\n\"other\":{\"labels\":[");
        psfm_print_json_string(file, other->label[0]);
        fputc(',', file);
        psfm_print_json_string(file, other->label[1]);
        fprintf(file, "],\"summary\":");
        psfm_json_print_value(file, b->summary, psfm_report_photo_folder(b));
        print_names(b, file);
        status = psfm_report_print_models(ctx, b, max_points, file);
    }
    if (status == PSFM_OK)
        status = psfm_report_print_residuals(ctx, b, 0, file);
    if (status == PSFM_OK)
        fprintf(file, "}");
    psfm_comparison_free(&comparison);
    return status;
}
