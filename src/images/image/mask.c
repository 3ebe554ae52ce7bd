/* Masks: FOLDER/NAME.png forbids keypoints of image NAME where it is black, as COLMAP's masks do.
 */
#include "images/image/mask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/path.h"

psfm_status psfm_mask_path(psfm_context *ctx, const char *folder, const char *name, char **path) {
    char *file = NULL;
    size_t size = strlen(name) + 5;
    psfm_status status = PSFM_ALLOC(ctx, size, &file);
    if (status == PSFM_OK) {
        snprintf(file, size, "%s.png", name);
        status = psfm_path_join(ctx, folder, file, path);
    }
    free(file);
    return status;
}

psfm_status psfm_mask_read(psfm_context *ctx, const char *folder, const char *name, int width,
                           int height, psfm_image *mask, bool *found) {
    char *path = NULL;
    psfm_image image = {0};
    *mask = image;
    *found = false;
    psfm_status status = psfm_mask_path(ctx, folder, name, &path);
    if (status == PSFM_OK && psfm_path_is_file(path)) {
        status = psfm_image_read(ctx, path, PSFM_IMAGE_GRAY, &image);
        if (status == PSFM_OK && (image.width != width || image.height != height))
            status =
                psfm_fail(ctx, PSFM_ERR_DATA, "%s: the mask has %d x %d pixels, its image %d x %d",
                          path, image.width, image.height, width, height);
        *found = status == PSFM_OK;
    }
    if (status == PSFM_OK)
        *mask = image;
    else
        psfm_image_free(&image);
    free(path);
    return status;
}

bool psfm_mask_forbids(const psfm_image *mask, double x, double y) {
    if (!(x >= 0.0 && y >= 0.0 && x < mask->width && y < mask->height))
        return true;
    return mask->gray[(size_t)y * (size_t)mask->width + (size_t)x] == 0;
}
