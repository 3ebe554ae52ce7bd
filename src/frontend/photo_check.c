/* A photograph is looked at by its name and the header of its file, without decoding it: what is
 * known against it then is told before the long work begins. */
#include "frontend/photo_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "images/image/image_io.h"

static psfm_status check_name(psfm_context *ctx, const char *path, char **reason) {
    static const char text[] = ": its name begins or ends with a blank or has a line end, which "
                               "text files cannot keep; rename it";
    size_t size = strlen(path) + sizeof text;
    psfm_status status = PSFM_ALLOC(ctx, size, reason);
    if (status == PSFM_OK)
        snprintf(*reason, size, "%s%s", path, text);
    return status;
}

/* No camera of that name or one of another size is a reason, not a failure. */
static psfm_status check_camera(psfm_context *ctx, const char *path, const char *name,
                                psfm_intrinsics *intrinsics, char **reason) {
    psfm_camera camera;
    psfm_photo_facts facts = {name, 0, 0, 0.0, NULL};
    char *source = NULL;
    int width, height;
    if (psfm_image_file_size(path, &width, &height)) {
        facts.width = width;
        facts.height = height;
    }
    psfm_status status = psfm_intrinsics_find(ctx, intrinsics, &facts, &camera, &source);
    free(source);
    return status == PSFM_ERR_DATA ? psfm_strdup(ctx, psfm_context_message(ctx), reason) : status;
}

psfm_status psfm_photo_check(psfm_context *ctx, const char *folder, const char *name,
                             psfm_intrinsics *intrinsics, char **reason) {
    char *path = NULL;
    bool given = intrinsics->kind != PSFM_INTRINSICS_PHOTOGRAPHS;
    *reason = NULL;
    psfm_status status = psfm_path_join(ctx, folder, name, &path);
    if (status == PSFM_OK && !psfm_name_fits_line(name))
        status = check_name(ctx, path, reason);
    else if (status == PSFM_OK && given)
        status = check_camera(ctx, path, name, intrinsics, reason);
    free(path);
    return status;
}
