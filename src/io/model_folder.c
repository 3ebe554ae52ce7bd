/* Results of a run hold their models in folders of their own. Whoever names a run means its largest
 * model. */
#include "io/model_folder.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/path.h"

static bool has_model(psfm_context *ctx, const char *folder) {
    static const char *const names[] = {"cameras.txt", "cameras.bin"};
    bool found = false;
    for (int k = 0; k < 2 && !found; ++k) {
        char *path = NULL;
        if (psfm_path_join(ctx, folder, names[k], &path) == PSFM_OK)
            found = psfm_path_is_file(path);
        free(path);
    }
    return found;
}

psfm_status psfm_model_folder(psfm_context *ctx, const char *path, char **folder) {
    static const char *const places[] = {"0", "model/0"};
    psfm_status status = PSFM_OK;
    for (int k = 0; k < 2 && !has_model(ctx, path); ++k) {
        char *inside = NULL;
        status = psfm_path_join(ctx, path, places[k], &inside);
        if (status != PSFM_OK)
            return status;
        if (has_model(ctx, inside)) {
            *folder = inside;
            return PSFM_OK;
        }
        free(inside);
    }
    return psfm_path_join(ctx, "", path, folder);
}
