/* Programs that show photographs, or train on them, turn them by their EXIF orientation; a model
 * for those has the cameras of the turned photographs. */
#include "world/upright_model.h"

#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/path.h"
#include "core/camera/camera_turn.h"
#include "core/linalg/mat3.h"
#include "images/image/exif.h"

static void turn_image(int quarters, const psfm_camera *stored, psfm_model_image *image) {
    double R[9];
    psfm_rotation_from_quat(image->cam_from_world_q, R);
    psfm_pose_turn(quarters, R, image->cam_from_world_t);
    psfm_rotation_to_quat(R, image->cam_from_world_q);
    for (size_t k = 0; k < image->num_keypoints; ++k)
        psfm_pixel_turn(quarters, (double)stored->width, (double)stored->height,
                        image->keypoints[k]);
}

/* Cameras by the place of the stored one and quarter turns; made when an image needs them. */
typedef struct {
    psfm_camera *cameras;
    size_t num;
    uint32_t *ids; /* per stored camera and quarter turns; 0: not made */
} turned_cameras;

/* The first turn of a camera keeps its id, so that a model without turns stays as it is. */
static uint32_t find_camera(const psfm_model *model, const psfm_camera *stored, int quarters,
                            uint32_t *next_id, turned_cameras *out) {
    size_t place = (size_t)(stored - model->cameras);
    uint32_t *id = &out->ids[4 * place + (size_t)quarters];
    if (*id != 0)
        return *id - 1;
    bool is_first = true;
    for (int q = 0; q < 4; ++q)
        is_first = is_first && out->ids[4 * place + (size_t)q] == 0;
    psfm_camera *camera = &out->cameras[out->num++];
    *camera = psfm_camera_turn(stored, quarters);
    camera->id = is_first ? stored->id : (*next_id)++;
    *id = camera->id + 1;
    return camera->id;
}

static int by_id(const void *a, const void *b) {
    const uint32_t x = ((const psfm_camera *)a)->id, y = ((const psfm_camera *)b)->id;
    return (x > y) - (x < y);
}

psfm_status psfm_model_turn(psfm_context *ctx, const int *quarters, psfm_model *model) {
    turned_cameras made = {0};
    uint32_t next_id = 0;
    psfm_status status = PSFM_ALLOC(ctx, 4 * model->num_cameras, &made.cameras);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, 4 * model->num_cameras, &made.ids);
    for (size_t k = 0; k < model->num_cameras; ++k)
        if (model->cameras[k].id >= next_id)
            next_id = model->cameras[k].id + 1;
    for (size_t k = 0; status == PSFM_OK && k < model->num_images; ++k) {
        psfm_model_image *image = &model->images[k];
        const psfm_camera *stored = psfm_model_camera(model, image->camera_id);
        turn_image(quarters[k] & 3, stored, image);
        image->camera_id = find_camera(model, stored, quarters[k] & 3, &next_id, &made);
    }
    free(made.ids);
    if (status != PSFM_OK || model->num_images == 0) {
        free(made.cameras);
        return status;
    }
    qsort(made.cameras, made.num, sizeof *made.cameras, by_id);
    free(model->cameras);
    model->cameras = made.cameras;
    model->num_cameras = made.num;
    return PSFM_OK;
}

static psfm_status read_quarters(psfm_context *ctx, const char *folder, const char *name,
                                 int *quarters) {
    char *path = NULL;
    psfm_exif exif = {0};
    psfm_status status = psfm_path_join(ctx, folder, name, &path);
    if (status == PSFM_OK)
        status = psfm_exif_read(ctx, path, 1, 1, &exif);
    *quarters = exif.quarters;
    free(path);
    return status;
}

psfm_status psfm_model_turn_upright(psfm_context *ctx, const char *folder, psfm_model *model,
                                    size_t *num) {
    int *quarters = NULL;
    psfm_status status = PSFM_ALLOC(ctx, model->num_images, &quarters);
    *num = 0;
    for (size_t k = 0; status == PSFM_OK && k < model->num_images; ++k) {
        status = read_quarters(ctx, folder, model->images[k].name, &quarters[k]);
        *num += quarters[k] != 0;
    }
    if (status == PSFM_OK)
        status = psfm_model_turn(ctx, quarters, model);
    free(quarters);
    return status;
}
