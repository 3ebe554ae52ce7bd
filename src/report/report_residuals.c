/* Reprojection errors: a histogram of all of them, up to a limit that 99 per cent are below, and
 * an even choice of residual vectors of each image. O(observations log points). */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "linalg/mat3.h"
#include "report/report_data.h"
#include "report/report_fields.h"

enum {
    FINE_BINS = 4096, /* of 1/64 px: enough for percentiles */
    FINE_PER_PX = 64,
    BINS = 48,         /* of the histogram that is shown */
    MAX_LENGTH = 64,   /* tracks this long or longer are counted together */
    UNITS_PER_PX = 128 /* of sampled residuals */
};
static const size_t fewest_samples = 12, most_samples = 150; /* of an image */
static const size_t most_fields = 60;

typedef struct {
    size_t fine[FINE_BINS + 1]; /* the last one is for all beyond */
    size_t lengths[MAX_LENGTH + 1];
    size_t num;
    double sum_px; /* of all errors */
    psfm_residual_fields fields;
    psfm_column first;  /* per image of the graph, and one at the end: its samples */
    psfm_column sample; /* x, y in pixels and the residual there, projected - observed */
} residuals;

static int by_id(const void *a, const void *b) {
    uint64_t p = ((const psfm_model_point *)a)->id, q = ((const psfm_model_point *)b)->id;
    return (p > q) - (p < q);
}

/* Pixels from the observation to the projection; false if the point is gone or has no image. */
static bool residual(const psfm_model *model, const psfm_model_image *image, const double R[9],
                     size_t keypoint, double out[2]) {
    psfm_model_point wanted = {.id = image->point3D_ids[keypoint]};
    const psfm_model_point *point =
        wanted.id == PSFM_NO_POINT || model->num_points == 0
            ? NULL
            : bsearch(&wanted, model->points, model->num_points, sizeof wanted, by_id);
    double ray[3], xy[2];
    if (point == NULL)
        return false;
    psfm_mat3_mul_vec(R, point->xyz, ray);
    for (int d = 0; d < 3; ++d)
        ray[d] += image->cam_from_world_t[d];
    if (!psfm_camera_project(psfm_model_camera(model, image->camera_id), ray, xy))
        return false;
    out[0] = xy[0] - image->keypoints[keypoint][0];
    out[1] = xy[1] - image->keypoints[keypoint][1];
    return true;
}

static size_t count_observations(const psfm_model_image *image) {
    size_t num = 0;
    for (size_t k = 0; k < image->num_keypoints; ++k)
        num += image->point3D_ids[k] != PSFM_NO_POINT ? 1 : 0;
    return num;
}

/* Counts all observations of an image and keeps `most` of them, evenly picked. */
static void add_image(residuals *r, const psfm_model *model, const psfm_model_image *image,
                      size_t most) {
    double R[9], d[2];
    size_t num = count_observations(image), seen = 0, take = num < most ? num : most;
    psfm_residual_field *field =
        psfm_residual_field_of(&r->fields, psfm_model_camera(model, image->camera_id));
    psfm_rotation_from_quat(image->cam_from_world_q, R);
    for (size_t k = 0; k < image->num_keypoints; ++k) {
        if (image->point3D_ids[k] == PSFM_NO_POINT)
            continue;
        bool picked = (seen + 1) * take / num > seen * take / num;
        ++seen;
        if (!residual(model, image, R, k, d))
            continue;
        double bin = floor(hypot(d[0], d[1]) * FINE_PER_PX);
        ++r->fine[bin < FINE_BINS ? (size_t)bin : FINE_BINS];
        ++r->num;
        r->sum_px += hypot(d[0], d[1]);
        if (field != NULL)
            psfm_residual_field_add(field, image->keypoints[k], d);
        if (!picked)
            continue;
        for (int c = 0; c < 2; ++c)
            psfm_column_i16(&r->sample, image->keypoints[k][c]);
        for (int c = 0; c < 2; ++c)
            psfm_column_i16(&r->sample, d[c] * UNITS_PER_PX);
    }
}

/* A round limit above which at most one per cent of the errors lies. */
static double round_limit(const residuals *r) {
    size_t sum = 0, k = 0;
    while (k < FINE_BINS && (sum += r->fine[k]) < r->num - r->num / 100)
        ++k;
    double limit = 0.25;
    while (limit * FINE_PER_PX < (double)k + 1.0)
        limit *= 2.0;
    return limit;
}

static void print_counts(const char *name, const size_t *counts, size_t num, FILE *file) {
    fprintf(file, ",\"%s\":[", name);
    for (size_t k = 0; k < num; ++k)
        fprintf(file, "%s%zu", k == 0 ? "" : ",", counts[k]);
    fprintf(file, "]");
}

static bool print(residuals *r, FILE *file) {
    size_t bins[BINS] = {0}, above = 0;
    double limit = round_limit(r);
    for (size_t k = 0; k <= FINE_BINS; ++k) {
        size_t bin = (size_t)((double)k * BINS / (limit * FINE_PER_PX));
        if (k < FINE_BINS && bin < BINS)
            bins[bin] += r->fine[k];
        else
            above += r->fine[k];
    }
    fprintf(file, ",\n\"residuals\":{\"observations\":%zu,\"limit\":%g,\"above\":%zu,\"unit\":%d",
            r->num, limit, above, UNITS_PER_PX);
    if (r->num > 0)
        fprintf(file, ",\"mean\":%.9g", r->sum_px / (double)r->num);
    print_counts("bins", bins, BINS, file);
    print_counts("lengths", r->lengths, MAX_LENGTH + 1, file);
    psfm_column_print(&r->first, "first", file);
    psfm_column_print(&r->sample, "samples", file);
    bool good = psfm_residual_fields_print(&r->fields, most_fields, file);
    fprintf(file, "}");
    return good;
}

/* Which image of which model each image of the graph is; NULL where it has no pose. */
typedef struct {
    const psfm_model *model;
    const psfm_model_image *image;
} posed_view;

psfm_status psfm_report_print_residuals(psfm_context *ctx, const psfm_report_input *input,
                                        size_t max_residuals, FILE *file) {
    residuals *r = NULL;
    posed_view *views = NULL;
    size_t num_views = input->graph.num_images, most = max_residuals / (num_views + 1);
    most = most < fewest_samples ? fewest_samples : most > most_samples ? most_samples : most;
    psfm_status status = PSFM_ALLOC(ctx, 1, &r);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num_views, &views);
    if (status == PSFM_OK)
        status = psfm_residual_fields_init(ctx, input->models, input->num_models, &r->fields);
    for (size_t m = 0; status == PSFM_OK && m < input->num_models; ++m) {
        const psfm_model *model = &input->models[m];
        for (size_t k = 0; k < model->num_images; ++k)
            views[input->model_views[m][k]] = (posed_view){model, &model->images[k]};
        for (size_t k = 0; k < model->num_points; ++k) {
            size_t length = model->points[k].track_length;
            ++r->lengths[length < MAX_LENGTH ? length : MAX_LENGTH];
        }
    }
    for (size_t v = 0; status == PSFM_OK && v < num_views; ++v) {
        psfm_column_u32(&r->first, (uint32_t)(r->sample.size / 8));
        if (views[v].image != NULL)
            add_image(r, views[v].model, views[v].image, most);
    }
    if (status == PSFM_OK) {
        psfm_column_u32(&r->first, (uint32_t)(r->sample.size / 8));
        bool failed = r->first.failed || r->sample.failed;
        if (!print(r, file) || failed)
            status = psfm_fail(ctx, PSFM_ERR_MEMORY, "out of memory");
        psfm_column_free(&r->first);
        psfm_column_free(&r->sample);
    }
    if (r != NULL)
        psfm_residual_fields_free(&r->fields);
    free(views);
    free(r);
    return status;
}
