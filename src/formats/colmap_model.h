/* The parts of the model reader and writer: parsing from memory, checking, printing. The public
 * functions of planarsfm/model.h put them together. */
#ifndef PSFM_FORMATS_COLMAP_MODEL_H
#define PSFM_FORMATS_COLMAP_MODEL_H

#include <stdbool.h>
#include <stdio.h>

#include "core/base/context.h"
#include "planarsfm/model.h"

/* The three files of a model. */
typedef enum {
    PSFM_MODEL_CAMERAS,
    PSFM_MODEL_IMAGES,
    PSFM_MODEL_POINTS,
    PSFM_NUM_MODEL_FILES,
} psfm_model_part;

/* One file in memory. A '\0' must follow the last byte (psfm_read_file puts it there). */
typedef struct {
    const char *path; /* for messages */
    const char *bytes;
    size_t size;
} psfm_model_file;

/* Parses and checks a model. Its strings and arrays are copies; the files may go afterwards. */
psfm_status psfm_model_parse(psfm_context *ctx, psfm_model_format format,
                             const psfm_model_file files[PSFM_NUM_MODEL_FILES], psfm_model *model);

/* Print one file. Whether writing worked, ferror(file) tells. The model has been checked. */
psfm_status psfm_model_print_text(psfm_context *ctx, const psfm_model *model, psfm_model_part part,
                                  FILE *file);
void psfm_model_print_binary(const psfm_model *model, psfm_model_part part, FILE *file);

/* Where the records of one file stand: line or byte offset per record. */
typedef struct {
    uint64_t id;
    size_t at;
} psfm_model_record;

typedef struct {
    const char *path;
    const char *unit; /* "line" or "byte" */
    psfm_model_record *records;
    size_t num_records, capacity;
} psfm_model_origin;

/* A model on its way from the files. */
typedef struct {
    psfm_model model;
    size_t capacity[PSFM_NUM_MODEL_FILES];
    psfm_model_origin origin[PSFM_NUM_MODEL_FILES];
} psfm_model_builder;

/* Add an empty record, which the builder owns, read at line or byte `at`. The pointer is good until
 * the next one is added. */
psfm_status psfm_model_add_camera(psfm_context *ctx, psfm_model_builder *builder, uint32_t id,
                                  size_t at, psfm_camera **camera);
psfm_status psfm_model_add_image(psfm_context *ctx, psfm_model_builder *builder, uint32_t id,
                                 size_t at, psfm_model_image **image);
psfm_status psfm_model_add_point(psfm_context *ctx, psfm_model_builder *builder, uint64_t id,
                                 size_t at, psfm_model_point **point);

/* Allocate the arrays of a record: `num` keypoints, `num` track elements. */
psfm_status psfm_model_image_alloc(psfm_context *ctx, psfm_model_image *image, size_t num);
psfm_status psfm_model_point_alloc(psfm_context *ctx, psfm_model_point *point, size_t num);

/* The two parsers. They append to the builder and leave all checks between records to
 * psfm_model_sort and psfm_model_check. */
psfm_status psfm_model_parse_text(psfm_context *ctx, const psfm_model_file *file,
                                  psfm_model_part part, psfm_model_builder *builder);
psfm_status psfm_model_parse_binary(psfm_context *ctx, const psfm_model_file *file,
                                    psfm_model_part part, psfm_model_builder *builder);

/* Sorts by id. PSFM_ERR_FORMAT if an id comes twice. */
psfm_status psfm_model_sort(psfm_context *ctx, psfm_model_builder *builder);

/* Checks a sorted model: values finite, cameras sane, rotations rotations, references resolved,
 * tracks and keypoints in agreement. Fails with `status`; `origin` (NULL: none) has one entry per
 * file and lets the message name file and line or byte. O(n log n). */
psfm_status psfm_model_check(psfm_context *ctx, const psfm_model *model,
                             const psfm_model_origin *origin, psfm_status status);

/* Removes the model in a folder, in either format, with the rig files of newer versions, which
 * would speak of images that are gone. Other files stay; a missing model is fine. */
psfm_status psfm_model_remove(psfm_context *ctx, const char *folder);

/* The folder of model files that PATH stands for: PATH itself, or the largest model of a run
 * (PATH/0 or PATH/model/0). PATH if there is none. *folder is malloc'ed. */
psfm_status psfm_model_folder(psfm_context *ctx, const char *path, char **folder);

#endif
