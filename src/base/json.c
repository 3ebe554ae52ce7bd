#include "base/json.h"

#include <stdio.h>

#include "base/path.h"

psfm_status psfm_json_write(psfm_context *ctx, const cJSON *tree, const char *path) {
    char *text = cJSON_Print(tree);
    if (text == NULL)
        return psfm_fail(ctx, PSFM_ERR_MEMORY, "%s: out of memory", path);
    psfm_output out = {0};
    psfm_status status = psfm_output_open(ctx, path, &out);
    if (status == PSFM_OK) {
        fprintf(out.file, "%s\n", text);
        status = psfm_output_commit(ctx, &out);
    }
    cJSON_free(text);
    return status;
}
