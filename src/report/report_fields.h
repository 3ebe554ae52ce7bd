/* The mean residual over the sensor of each camera. */
#ifndef PSFM_REPORT_REPORT_FIELDS_H
#define PSFM_REPORT_REPORT_FIELDS_H

#include <stdio.h>

#include "planarsfm/model.h"

enum { PSFM_FIELD_COLUMNS = 16, PSFM_FIELD_ROWS = 12 };

/* Sums of one camera: how many residuals fell into each cell, and their sums in x and y. */
typedef struct {
    const psfm_camera *camera;
    size_t num_images, num_residuals;
    double cell[PSFM_FIELD_ROWS * PSFM_FIELD_COLUMNS][3];
} psfm_residual_field;

/* Owns its array: one field per camera of all models. Zero-initialise, free in any case. */
typedef struct {
    psfm_residual_field *fields;
    size_t num;
    const psfm_model *models; /* of the caller */
    size_t num_models;
} psfm_residual_fields;

psfm_status psfm_residual_fields_init(psfm_context *ctx, const psfm_model *models,
                                      size_t num_models, psfm_residual_fields *fields);
void psfm_residual_fields_free(psfm_residual_fields *fields);

/* The field of a camera of one of the models, which counts one image more; NULL if it has none.
 * O(models). */
psfm_residual_field *psfm_residual_field_of(psfm_residual_fields *fields,
                                            const psfm_camera *camera);
/* Adds a residual d at a pixel; pixels outside the image count in the nearest cell. */
void psfm_residual_field_add(psfm_residual_field *field, const double xy[2], const double d[2]);

/* Prints ,"fields":[...],"fieldsTotal":N with the `most` fields of most residuals. False when
 * memory is out. Changes the order of the fields. */
bool psfm_residual_fields_print(psfm_residual_fields *fields, size_t most, FILE *file);

#endif
