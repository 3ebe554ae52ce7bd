/* Photographs turned upright for the search of a court, and poses turned back. */
#include "court/upright.h"

#include "core/camera/camera_turn.h"
#include "images/image/image_turn.h"

psfm_status psfm_upright_init(psfm_context *ctx, const psfm_image *image, const psfm_camera *camera,
                              psfm_upright *out) {
    *out = (psfm_upright){.image = image, .camera = camera, .quarters = image->quarters};
    if (out->quarters == 0)
        return PSFM_OK;
    psfm_status status = psfm_image_turn(ctx, image, out->quarters, &out->turned);
    out->image = &out->turned;
    if (camera != NULL) {
        out->turned_camera = psfm_camera_turn(camera, out->quarters);
        out->camera = &out->turned_camera;
    }
    return status;
}

void psfm_upright_free(psfm_upright *upright) {
    psfm_image_free(&upright->turned);
}

void psfm_upright_undo(const psfm_upright *upright, psfm_court_pose *pose) {
    const int back = 4 - upright->quarters;
    const double width = (double)pose->camera.width, height = (double)pose->camera.height;
    if (upright->quarters == 0)
        return;
    psfm_pose_turn(back, pose->R, pose->t);
    pose->camera = psfm_camera_turn(&pose->camera, back);
    for (size_t k = 0; k < pose->lines.num; ++k) {
        psfm_pixel_turn(back, width, height, pose->lines.items[k].xy);
        psfm_vector_turn(back, pose->lines.items[k].row);
    }
}
