/* Reprojection errors: a histogram of all of them, up to a limit that 99 per cent are below, and
 * an even choice of residual vectors of each image. O(observations log points). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"
#include "planarsfm/model.h"
#include "report/binary_column.h"
#include "report/report_input.h"

/* ---- mean residuals over the sensor ---- */

/* Residuals of one camera are noise round a mean; the mean over many images at one place of the
 * sensor is what its lens model does not explain. */

enum { FIELD_COLUMNS = 16, FIELD_ROWS = 12 };

/* Sums of one camera: how many residuals fell into each cell, and their sums in x and y. */
typedef struct {
    const psfm_camera *camera;
    size_t num_images, num_residuals;
    double cell[FIELD_ROWS * FIELD_COLUMNS][3];
} residual_field;

/* Owns its array: one field per camera of all models. Zero-initialise, free in any case. */
typedef struct {
    residual_field *fields;
    size_t num;
    const psfm_model *models; /* of the caller */
    size_t num_models;
} residual_fields;

static psfm_status init_fields(psfm_context *ctx, const psfm_model *models, size_t num_models,
                               residual_fields *fields) {
    size_t num = 0;
    for (size_t m = 0; m < num_models; ++m)
        num += models[m].num_cameras;
    *fields = (residual_fields){.models = models, .num_models = num_models};
    psfm_status status = PSFM_ALLOC(ctx, num, &fields->fields);
    for (size_t m = 0; status == PSFM_OK && m < num_models; ++m)
        for (size_t c = 0; c < models[m].num_cameras; ++c)
            fields->fields[fields->num++].camera = &models[m].cameras[c];
    return status;
}

static void free_fields(residual_fields *fields) {
    free(fields->fields);
    *fields = (residual_fields){0};
}

/* The field of a camera of one of the models, which counts one image more; NULL if it has none.
 * Fields are in the order of the cameras in memory, model by model. O(models). */
static residual_field *find_field(residual_fields *fields, const psfm_camera *camera) {
    residual_field *first = fields->fields;
    for (size_t m = 0; m < fields->num_models; ++m) {
        const psfm_model *model = &fields->models[m];
        if (camera >= model->cameras && camera < model->cameras + model->num_cameras) {
            first += camera - model->cameras;
            ++first->num_images;
            return first;
        }
        first += model->num_cameras;
    }
    return NULL;
}

static size_t cell_along(double x, uint64_t size, int cells) {
    double at = floor(x / (double)size * cells);
    return (size_t)fmin(fmax(at, 0.0), cells - 1.0);
}

/* Adds a residual d at a pixel; pixels outside the image count in the nearest cell. */
static void add_to_field(residual_field *field, const double xy[2], const double d[2]) {
    size_t column = cell_along(xy[0], field->camera->width, FIELD_COLUMNS);
    size_t row = cell_along(xy[1], field->camera->height, FIELD_ROWS);
    double *cell = field->cell[row * FIELD_COLUMNS + column];
    cell[0] += 1.0;
    cell[1] += d[0];
    cell[2] += d[1];
    ++field->num_residuals;
}

static int by_residuals(const void *a, const void *b) {
    const residual_field *p = a, *q = b;
    if (p->num_residuals != q->num_residuals)
        return p->num_residuals < q->num_residuals ? 1 : -1;
    return (p->camera->id > q->camera->id) - (p->camera->id < q->camera->id);
}

static bool print_field(const residual_field *field, FILE *file) {
    const psfm_camera *camera = field->camera;
    psfm_column mean = {0};
    fprintf(file, "{\"camera\":%llu,\"width\":%llu,\"height\":%llu,\"images\":%zu",
            (unsigned long long)camera->id, (unsigned long long)camera->width,
            (unsigned long long)camera->height, field->num_images);
    fprintf(file, ",\"columns\":%d,\"rows\":%d", FIELD_COLUMNS, FIELD_ROWS);
    for (size_t k = 0; k < FIELD_ROWS * FIELD_COLUMNS; ++k) {
        double num = field->cell[k][0];
        psfm_column_f32(&mean, num);
        for (int d = 1; d < 3; ++d)
            psfm_column_f32(&mean, num > 0.0 ? field->cell[k][d] / num : 0.0);
    }
    bool good = psfm_column_print(&mean, "mean", file);
    fprintf(file, "}");
    return good;
}

/* Prints ,"fields":[...],"fieldsTotal":N with the `most` fields of most residuals. False when
 * memory is out. Changes the order of the fields. */
static bool print_fields(residual_fields *fields, size_t most, FILE *file) {
    size_t used = 0;
    bool good = true;
    if (fields->num > 0)
        qsort(fields->fields, fields->num, sizeof *fields->fields, by_residuals);
    while (used < fields->num && fields->fields[used].num_residuals > 0)
        ++used;
    fprintf(file, ",\"fieldsTotal\":%zu,\"fields\":[", used);
    for (size_t k = 0; good && k < used && k < most; ++k) {
        fprintf(file, "%s", k == 0 ? "" : ",");
        good = print_field(&fields->fields[k], file);
    }
    fprintf(file, "]");
    return good;
}

/* ---- all residuals ---- */

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
    residual_fields fields;
    psfm_column first;  /* per image of the graph, and one at the end: its samples */
    psfm_column sample; /* x, y in pixels and the residual there, projected - observed */
} residuals;

/* Pixels from the observation to the projection; false if the point is gone or has no image. */
static bool find_residual(const psfm_model *model, const psfm_model_image *image, const double R[9],
                          size_t keypoint, double out[2]) {
    const uint64_t wanted = image->point3D_ids[keypoint];
    const psfm_model_point *point = wanted == PSFM_NO_POINT
                                        ? NULL
                                        : psfm_find(&wanted, model->points, model->num_points,
                                                    sizeof *model->points, psfm_compare_u64);
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
    residual_field *field = find_field(&r->fields, psfm_model_camera(model, image->camera_id));
    psfm_rotation_from_quat(image->cam_from_world_q, R);
    for (size_t k = 0; k < image->num_keypoints; ++k) {
        if (image->point3D_ids[k] == PSFM_NO_POINT)
            continue;
        bool picked = (seen + 1) * take / num > seen * take / num;
        ++seen;
        if (!find_residual(model, image, R, k, d))
            continue;
        double bin = floor(hypot(d[0], d[1]) * FINE_PER_PX);
        ++r->fine[bin < FINE_BINS ? (size_t)bin : FINE_BINS];
        ++r->num;
        r->sum_px += hypot(d[0], d[1]);
        if (field != NULL)
            add_to_field(field, image->keypoints[k], d);
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

static bool print_residuals(residuals *r, FILE *file) {
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
    bool good = psfm_column_print(&r->first, "first", file);
    good = psfm_column_print(&r->sample, "samples", file) && good;
    good = print_fields(&r->fields, most_fields, file) && good;
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
        status = init_fields(ctx, input->models, input->num_models, &r->fields);
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
        if (!print_residuals(r, file))
            status = psfm_fail_memory(ctx);
    }
    if (r != NULL)
        free_fields(&r->fields);
    free(views);
    free(r);
    return status;
}
