/* Two models of the same images: paired by name, aligned by a robust similarity of the centres,
 * and measured camera by camera. Where centres tell no rotation (two cameras, or all on a line),
 * the mean of the orientations does. */
#include "eval/compare_models.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/text.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"
#include "formats/json.h"

psfm_status psfm_sort_names(psfm_context *ctx, const psfm_model *model, psfm_named_image **out) {
    psfm_status status = PSFM_ALLOC(ctx, model->num_images, out);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < model->num_images; ++k)
        (*out)[k] = (psfm_named_image){model->images[k].name, (uint32_t)k};
    qsort(*out, model->num_images, sizeof **out, psfm_compare_strings);
    for (size_t k = 1; k < model->num_images; ++k)
        if (strcmp((*out)[k - 1].name, (*out)[k].name) == 0)
            return psfm_fail(ctx, PSFM_ERR_DATA, "a model has two images '%s'", (*out)[k].name);
    return PSFM_OK;
}

/* Walks both sorted lists at once. */
static psfm_status pair_images(psfm_context *ctx, const psfm_model *a, const psfm_model *b,
                               psfm_comparison *out) {
    psfm_named_image *names_a = NULL, *names_b = NULL;
    psfm_status status = psfm_sort_names(ctx, a, &names_a);
    if (status == PSFM_OK)
        status = psfm_sort_names(ctx, b, &names_b);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, a->num_images, &out->images);
    for (size_t i = 0, j = 0; status == PSFM_OK && i < a->num_images && j < b->num_images;) {
        int order = strcmp(names_a[i].name, names_b[j].name);
        if (order == 0) {
            psfm_camera_difference *d = &out->images[out->num_images++];
            d->image_a = names_a[i].idx;
            d->image_b = names_b[j].idx;
            psfm_model_image_center(&a->images[d->image_a], d->center_a);
            psfm_model_image_center(&b->images[d->image_b], d->center_b);
        }
        i += order <= 0;
        j += order >= 0;
    }
    free(names_a);
    free(names_b);
    if (status == PSFM_OK && out->num_images == 0)
        status = psfm_fail(ctx, PSFM_ERR_DATA, "no image is in both models");
    out->num_only_a = a->num_images - out->num_images;
    out->num_only_b = b->num_images - out->num_images;
    return status;
}

/* Rotation of A's world from B's that one image tells. */
static void world_rotation(const psfm_model *a, const psfm_model *b,
                           const psfm_camera_difference *d, double R[9]) {
    double R_a[9], R_b[9];
    psfm_rotation_from_quat(a->images[d->image_a].cam_from_world_q, R_a);
    psfm_rotation_from_quat(b->images[d->image_b].cam_from_world_q, R_b);
    psfm_mat3_t_mul(R_a, R_b, R);
}

static double find_spread(const psfm_comparison *c, bool of_b, double middle[3]) {
    double sum = 0.0, n = (double)c->num_images;
    memset(middle, 0, 3 * sizeof *middle);
    for (size_t k = 0; k < c->num_images; ++k)
        psfm_axpy3(middle, 1.0 / n, of_b ? c->images[k].center_b : c->images[k].center_a, middle);
    for (size_t k = 0; k < c->num_images; ++k) {
        double d[3];
        psfm_sub3(of_b ? c->images[k].center_b : c->images[k].center_a, middle, d);
        sum += psfm_dot3(d, d) / n;
    }
    return sqrt(sum);
}

/* For centres that tell no rotation: from the orientations. */
static void align_by_rotations(const psfm_model *a, const psfm_model *b, psfm_comparison *c) {
    double sum[9] = {0}, R[9], middle_a[3], middle_b[3], moved[3];
    for (size_t k = 0; k < c->num_images; ++k) {
        world_rotation(a, b, &c->images[k], R);
        for (int e = 0; e < 9; ++e)
            sum[e] += R[e];
    }
    if (!psfm_mat3_nearest_rotation(sum, c->a_from_b.R))
        world_rotation(a, b, &c->images[0], c->a_from_b.R);
    double of_a = find_spread(c, false, middle_a), of_b = find_spread(c, true, middle_b);
    c->a_from_b.scale = of_a > 0.0 && of_b > 0.0 ? of_a / of_b : 1.0;
    psfm_mat3_mul_vec(c->a_from_b.R, middle_b, moved);
    psfm_axpy3(middle_a, -c->a_from_b.scale, moved, c->a_from_b.t);
}

static psfm_status align_models(psfm_context *ctx, const psfm_model *a, const psfm_model *b,
                                psfm_comparison *c) {
    double(*x)[3] = NULL, (*y)[3] = NULL;
    psfm_status status = PSFM_ALLOC(ctx, c->num_images, &x);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, c->num_images, &y);
    for (size_t k = 0; status == PSFM_OK && k < c->num_images; ++k) {
        memcpy(x[k], c->images[k].center_b, sizeof x[k]);
        memcpy(y[k], c->images[k].center_a, sizeof y[k]);
    }
    if (status == PSFM_OK)
        status = psfm_sim3_fit_robust(ctx, c->num_images, (const double(*)[3])x,
                                      (const double(*)[3])y, &c->a_from_b);
    if (status == PSFM_ERR_DATA) {
        align_by_rotations(a, b, c);
        status = PSFM_OK;
    }
    free(x);
    free(y);
    return status;
}

/* Median and largest of a field over all images. */
static psfm_status find_statistics(psfm_context *ctx, const psfm_comparison *c, bool rotation,
                                   double *median, double *largest) {
    double *values = NULL;
    psfm_status status = PSFM_ALLOC(ctx, c->num_images, &values);
    *largest = 0.0;
    for (size_t k = 0; status == PSFM_OK && k < c->num_images; ++k) {
        values[k] = rotation ? c->images[k].rotation_deg : c->images[k].position;
        *largest = fmax(*largest, values[k]);
    }
    *median = status == PSFM_OK ? psfm_median(values, c->num_images) : 0.0;
    free(values);
    return status;
}

static void measure_differences(const psfm_model *a, const psfm_model *b, psfm_comparison *c) {
    double middle[3];
    (void)find_spread(c, false, middle);
    c->extent = 0.0;
    for (size_t k = 0; k < c->num_images; ++k) {
        psfm_camera_difference *d = &c->images[k];
        double moved[3], R[9], off[3];
        psfm_sim3_apply(&c->a_from_b, d->center_b, moved);
        memcpy(d->center_b, moved, sizeof moved);
        psfm_sub3(d->center_b, d->center_a, off);
        d->position = psfm_norm3(off);
        world_rotation(a, b, d, R);
        d->rotation_deg = psfm_degrees(psfm_rotation_angle(R, c->a_from_b.R));
        psfm_sub3(d->center_a, middle, off);
        c->extent = fmax(c->extent, 2.0 * psfm_norm3(off));
    }
}

psfm_status psfm_compare_models(psfm_context *ctx, const psfm_model *a, const psfm_model *b,
                                psfm_comparison *out) {
    *out = (psfm_comparison){0};
    psfm_status status = pair_images(ctx, a, b, out);
    if (status == PSFM_OK)
        status = align_models(ctx, a, b, out);
    if (status != PSFM_OK)
        return status;
    measure_differences(a, b, out);
    status = find_statistics(ctx, out, false, &out->median_position, &out->max_position);
    if (status == PSFM_OK)
        status = find_statistics(ctx, out, true, &out->median_rotation_deg, &out->max_rotation_deg);
    return status;
}

void psfm_comparison_free(psfm_comparison *comparison) {
    free(comparison->images);
    *comparison = (psfm_comparison){0};
}

cJSON *psfm_comparison_to_json(const psfm_comparison *c, const psfm_model *a) {
    psfm_json_maker m = {false};
    cJSON *root = cJSON_CreateObject();
    psfm_json_number(&m, root, "common", (double)c->num_images);
    psfm_json_number(&m, root, "only_a", (double)c->num_only_a);
    psfm_json_number(&m, root, "only_b", (double)c->num_only_b);
    psfm_json_number(&m, root, "scale", c->a_from_b.scale);
    psfm_json_number(&m, root, "extent", c->extent);
    psfm_json_number(&m, root, "median_position", c->median_position);
    psfm_json_number(&m, root, "max_position", c->max_position);
    psfm_json_number(&m, root, "median_rotation_deg", c->median_rotation_deg);
    psfm_json_number(&m, root, "max_rotation_deg", c->max_rotation_deg);
    cJSON *list = psfm_json_list(&m, root, "images");
    for (size_t k = 0; k < c->num_images; ++k) {
        const psfm_camera_difference *d = &c->images[k];
        cJSON *object = psfm_json_object(&m, list, NULL);
        psfm_json_text(&m, object, "name", a->images[d->image_a].name);
        psfm_json_number(&m, object, "position", d->position);
        psfm_json_number(&m, object, "rotation_deg", d->rotation_deg);
    }
    return psfm_json_finish(&m, root);
}
