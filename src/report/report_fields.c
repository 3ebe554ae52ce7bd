/* Residuals of one camera are noise round a mean; the mean over many images at one place of the
 * sensor is what its lens model does not explain. */
#include "report/report_fields.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "report/column.h"

psfm_status psfm_residual_fields_init(psfm_context *ctx, const psfm_model *models,
                                      size_t num_models, psfm_residual_fields *fields) {
    size_t num = 0;
    for (size_t m = 0; m < num_models; ++m)
        num += models[m].num_cameras;
    *fields = (psfm_residual_fields){.models = models, .num_models = num_models};
    psfm_status status = PSFM_ALLOC(ctx, num, &fields->fields);
    for (size_t m = 0; status == PSFM_OK && m < num_models; ++m)
        for (size_t c = 0; c < models[m].num_cameras; ++c)
            fields->fields[fields->num++].camera = &models[m].cameras[c];
    return status;
}

void psfm_residual_fields_free(psfm_residual_fields *fields) {
    free(fields->fields);
    *fields = (psfm_residual_fields){0};
}

/* Fields are in the order of the cameras in memory, model by model. */
psfm_residual_field *psfm_residual_field_of(psfm_residual_fields *fields,
                                            const psfm_camera *camera) {
    psfm_residual_field *first = fields->fields;
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

void psfm_residual_field_add(psfm_residual_field *field, const double xy[2], const double d[2]) {
    size_t column = cell_along(xy[0], field->camera->width, PSFM_FIELD_COLUMNS);
    size_t row = cell_along(xy[1], field->camera->height, PSFM_FIELD_ROWS);
    double *cell = field->cell[row * PSFM_FIELD_COLUMNS + column];
    cell[0] += 1.0;
    cell[1] += d[0];
    cell[2] += d[1];
    ++field->num_residuals;
}

static int by_residuals(const void *a, const void *b) {
    const psfm_residual_field *p = a, *q = b;
    if (p->num_residuals != q->num_residuals)
        return p->num_residuals < q->num_residuals ? 1 : -1;
    return (p->camera->id > q->camera->id) - (p->camera->id < q->camera->id);
}

static bool print_field(const psfm_residual_field *field, FILE *file) {
    const psfm_camera *camera = field->camera;
    psfm_column mean = {0};
    fprintf(file, "{\"camera\":%llu,\"width\":%llu,\"height\":%llu,\"images\":%zu",
            (unsigned long long)camera->id, (unsigned long long)camera->width,
            (unsigned long long)camera->height, field->num_images);
    fprintf(file, ",\"columns\":%d,\"rows\":%d", PSFM_FIELD_COLUMNS, PSFM_FIELD_ROWS);
    for (size_t k = 0; k < PSFM_FIELD_ROWS * PSFM_FIELD_COLUMNS; ++k) {
        double num = field->cell[k][0];
        psfm_column_f32(&mean, num);
        for (int d = 1; d < 3; ++d)
            psfm_column_f32(&mean, num > 0.0 ? field->cell[k][d] / num : 0.0);
    }
    bool failed = mean.failed;
    psfm_column_print(&mean, "mean", file);
    fprintf(file, "}");
    psfm_column_free(&mean);
    return !failed;
}

bool psfm_residual_fields_print(psfm_residual_fields *fields, size_t most, FILE *file) {
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
