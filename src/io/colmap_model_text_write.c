/* COLMAP's text model, written; colmap_model_text.c has what is in it. Doubles are printed with 17
 * digits, enough to read back the same bits. Blocks of records are printed to memory side by side
 * and put into the file in order. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/number_locale.h"
#include "base/parallel.h"
#include "base/print_number.h"
#include "camera/camera_model.h"
#include "io/colmap_model.h"

static void put_double(double x, FILE *file) {
    char text[PSFM_NUMBER_CHARS];
    fwrite(text, 1, psfm_print_double(x, text), file);
}

static void put_count(uint64_t n, FILE *file) {
    char text[PSFM_NUMBER_CHARS];
    fwrite(text, 1, psfm_print_count(n, text), file);
}

/* Each after a space. */
static void put_doubles(const double *x, int num, FILE *file) {
    for (int k = 0; k < num; ++k) {
        fputc(' ', file);
        put_double(x[k], file);
    }
}

static void print_camera(const psfm_model *model, size_t index, FILE *file) {
    const psfm_camera *camera = &model->cameras[index];
    fprintf(file, "%" PRIu32 " %s %" PRIu64 " %" PRIu64, camera->id,
            psfm_camera_model_name(camera->model), camera->width, camera->height);
    put_doubles(camera->params, psfm_camera_num_params(camera->model), file);
    fputc('\n', file);
}

static void print_keypoints(const psfm_model_image *image, FILE *file) {
    for (size_t k = 0; k < image->num_keypoints; ++k) {
        if (k > 0)
            fputc(' ', file);
        put_double(image->keypoints[k][0], file);
        fputc(' ', file);
        put_double(image->keypoints[k][1], file);
        fputc(' ', file);
        if (image->point3D_ids[k] == PSFM_NO_POINT)
            fputs("-1", file);
        else
            put_count(image->point3D_ids[k], file);
    }
    fputc('\n', file);
}

static void print_image(const psfm_model *model, size_t index, FILE *file) {
    const psfm_model_image *image = &model->images[index];
    put_count(image->id, file);
    put_doubles(image->cam_from_world_q, 4, file);
    put_doubles(image->cam_from_world_t, 3, file);
    fprintf(file, " %" PRIu32 " %s\n", image->camera_id, image->name);
    print_keypoints(image, file);
}

static void print_point(const psfm_model *model, size_t index, FILE *file) {
    const psfm_model_point *point = &model->points[index];
    put_count(point->id, file);
    put_doubles(point->xyz, 3, file);
    fprintf(file, " %d %d %d", point->rgb[0], point->rgb[1], point->rgb[2]);
    put_doubles(&point->error, 1, file);
    for (size_t k = 0; k < point->track_length; ++k) {
        fputc(' ', file);
        put_count(point->track[k].image_id, file);
        fputc(' ', file);
        put_count(point->track[k].keypoint_idx, file);
    }
    fputc('\n', file);
}

static void print_head(const psfm_model *model, psfm_model_part part, FILE *file) {
    if (part == PSFM_MODEL_CAMERAS)
        fprintf(file, "# cameras: %zu, one per line\n# CAMERA_ID MODEL WIDTH HEIGHT PARAMS[]\n",
                model->num_cameras);
    else if (part == PSFM_MODEL_IMAGES)
        fprintf(file,
                "# images: %zu, two lines each; X_cam = R(Q) X_world + T\n"
                "# IMAGE_ID QW QX QY QZ TX TY TZ CAMERA_ID NAME\n"
                "# X Y POINT3D_ID of every keypoint; -1 for no point\n",
                model->num_images);
    else
        fprintf(file,
                "# points: %zu, one per line\n"
                "# POINT3D_ID X Y Z R G B ERROR TRACK[] as IMAGE_ID KEYPOINT_IDX\n",
                model->num_points);
}

enum { WAVE = 64 }; /* blocks in memory at a time */

/* Blocks of one file's records as text. */
typedef struct {
    const psfm_model *model;
    void (*print)(const psfm_model *model, size_t index, FILE *file);
    size_t num, block; /* records, and how many of them are worth a thread's while */
    size_t first;      /* record of the wave */
    char *text[WAVE];
    size_t size[WAVE];
} blocks;

static blocks blocks_of(const psfm_model *model, psfm_model_part part) {
    blocks b = {.model = model, .print = print_point, .num = model->num_points, .block = 1024};
    if (part == PSFM_MODEL_CAMERAS)
        b = (blocks){
            .model = model, .print = print_camera, .num = model->num_cameras, .block = 256};
    if (part == PSFM_MODEL_IMAGES)
        b = (blocks){.model = model, .print = print_image, .num = model->num_images, .block = 2};
    return b;
}

static psfm_status print_block(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    blocks *b = user;
    size_t begin = b->first + index * b->block, end = begin + b->block;
    FILE *file = open_memstream(&b->text[index], &b->size[index]);
    if (file == NULL)
        return psfm_fail(ctx, PSFM_ERR_MEMORY, "out of memory");
    locale_t locale = psfm_number_locale_begin();
    for (size_t k = begin; k < end && k < b->num; ++k)
        b->print(b->model, k, file);
    psfm_number_locale_end(locale);
    bool is_whole = !ferror(file);
    if (fclose(file) != 0 || !is_whole)
        return psfm_fail(ctx, PSFM_ERR_MEMORY, "out of memory");
    return PSFM_OK;
}

psfm_status psfm_model_print_text(psfm_context *ctx, const psfm_model *model, psfm_model_part part,
                                  FILE *file) {
    blocks b = blocks_of(model, part);
    psfm_status status = PSFM_OK;
    print_head(model, part, file);
    for (; status == PSFM_OK && b.first < b.num; b.first += WAVE * b.block) {
        size_t left = (b.num - b.first + b.block - 1) / b.block;
        size_t num = left < WAVE ? left : WAVE;
        status = psfm_parallel_for(ctx, NULL, num, print_block, &b);
        for (size_t k = 0; k < num; ++k) {
            if (status == PSFM_OK)
                fwrite(b.text[k], 1, b.size[k], file);
            free(b.text[k]);
            b.text[k] = NULL;
        }
    }
    return status;
}
