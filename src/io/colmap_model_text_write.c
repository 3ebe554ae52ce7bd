/* COLMAP's text model, written; colmap_model_text.c has what is in it. Doubles are printed with 17
 * digits, enough to read back the same bits. That takes most of the time, so blocks of records are
 * printed to memory side by side and put into the file in order. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/number_locale.h"
#include "base/parallel.h"
#include "camera/camera_model.h"
#include "io/colmap_model.h"

static void print_camera(const psfm_model *model, size_t index, FILE *file) {
    const psfm_camera *camera = &model->cameras[index];
    fprintf(file, "%" PRIu32 " %s %" PRIu64 " %" PRIu64, camera->id,
            psfm_camera_model_name(camera->model), camera->width, camera->height);
    for (int k = 0; k < psfm_camera_num_params(camera->model); ++k)
        fprintf(file, " %.17g", camera->params[k]);
    fputc('\n', file);
}

static void print_keypoints(const psfm_model_image *image, FILE *file) {
    for (size_t k = 0; k < image->num_keypoints; ++k) {
        fprintf(file, "%s%.17g %.17g ", k == 0 ? "" : " ", image->keypoints[k][0],
                image->keypoints[k][1]);
        if (image->point3D_ids[k] == PSFM_NO_POINT)
            fputs("-1", file);
        else
            fprintf(file, "%" PRIu64, image->point3D_ids[k]);
    }
    fputc('\n', file);
}

static void print_image(const psfm_model *model, size_t index, FILE *file) {
    const psfm_model_image *image = &model->images[index];
    fprintf(file, "%" PRIu32, image->id);
    for (int k = 0; k < 4; ++k)
        fprintf(file, " %.17g", image->cam_from_world_q[k]);
    for (int k = 0; k < 3; ++k)
        fprintf(file, " %.17g", image->cam_from_world_t[k]);
    fprintf(file, " %" PRIu32 " %s\n", image->camera_id, image->name);
    print_keypoints(image, file);
}

static void print_point(const psfm_model *model, size_t index, FILE *file) {
    const psfm_model_point *point = &model->points[index];
    fprintf(file, "%" PRIu64 " %.17g %.17g %.17g %d %d %d %.17g", point->id, point->xyz[0],
            point->xyz[1], point->xyz[2], point->rgb[0], point->rgb[1], point->rgb[2],
            point->error);
    for (size_t k = 0; k < point->track_length; ++k)
        fprintf(file, " %" PRIu32 " %" PRIu32, point->track[k].image_id,
                point->track[k].keypoint_idx);
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
