/* What the two fuzz targets of the model reader share. */
#ifndef PSFM_FUZZ_MODEL_H
#define PSFM_FUZZ_MODEL_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/colmap_model.h"

/* A copy of exactly that many bytes and the '\0' that the parsers may look at. */
static inline char *copy_bytes(const uint8_t *bytes, size_t size) {
    char *copy = malloc(size + 1);
    if (copy == NULL)
        abort();
    if (size > 0)
        memcpy(copy, bytes, size);
    copy[size] = '\0';
    return copy;
}

static inline void print_model(psfm_context *ctx, const psfm_model *model, psfm_model_format format,
                               char *parts[PSFM_NUM_MODEL_FILES],
                               size_t sizes[PSFM_NUM_MODEL_FILES]) {
    for (int part = 0; part < PSFM_NUM_MODEL_FILES; ++part) {
        FILE *file = open_memstream(&parts[part], &sizes[part]);
        if (file == NULL)
            abort();
        if (format == PSFM_MODEL_BINARY)
            psfm_model_print_binary(model, (psfm_model_part)part, file);
        else if (psfm_model_print_text(ctx, model, (psfm_model_part)part, file) != PSFM_OK)
            abort();
        if (fclose(file) != 0)
            abort();
    }
}

static inline psfm_status parse_model(psfm_context *ctx, psfm_model_format format,
                                      char *parts[PSFM_NUM_MODEL_FILES],
                                      const size_t sizes[PSFM_NUM_MODEL_FILES], psfm_model *model) {
    static const char *const names[] = {"cameras", "images", "points3D"};
    psfm_model_file files[PSFM_NUM_MODEL_FILES];
    for (int part = 0; part < PSFM_NUM_MODEL_FILES; ++part)
        files[part] = (psfm_model_file){names[part], parts[part], sizes[part]};
    return psfm_model_parse(ctx, format, files, model);
}

/* Parses the parts, which it frees; prints and parses what was accepted, twice over. */
static inline void try_model(psfm_model_format format, char *parts[PSFM_NUM_MODEL_FILES],
                             size_t sizes[PSFM_NUM_MODEL_FILES]) {
    static psfm_context *ctx;
    if (ctx == NULL)
        ctx = psfm_context_create();
    psfm_model model, back;
    psfm_status status = parse_model(ctx, format, parts, sizes, &model);
    for (int part = 0; part < PSFM_NUM_MODEL_FILES; ++part)
        free(parts[part]);
    if (status != PSFM_OK) {
        if (psfm_context_message(ctx)[0] == '\0' || model.cameras != NULL || model.images != NULL)
            abort();
        return;
    }
    char *first[PSFM_NUM_MODEL_FILES], *second[PSFM_NUM_MODEL_FILES];
    size_t first_size[PSFM_NUM_MODEL_FILES], second_size[PSFM_NUM_MODEL_FILES];
    print_model(ctx, &model, format, first, first_size);
    if (parse_model(ctx, format, first, first_size, &back) != PSFM_OK)
        abort();
    print_model(ctx, &back, format, second, second_size);
    for (int part = 0; part < PSFM_NUM_MODEL_FILES; ++part) {
        if (first_size[part] != second_size[part] ||
            memcmp(first[part], second[part], first_size[part]) != 0)
            abort();
        free(first[part]);
        free(second[part]);
    }
    psfm_model_free(&model);
    psfm_model_free(&back);
}

#endif
