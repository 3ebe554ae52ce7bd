/* The database of a positional argument. */
#include "cli.h"
#include "core/base/alloc.h"
#include "core/base/path.h"

psfm_status cli_find_database(psfm_context *ctx, const char *path, char **out) {
    *out = NULL;
    if (!psfm_path_is_folder(path))
        return psfm_strdup(ctx, path, out);
    psfm_status status = psfm_path_join(ctx, path, "database.db", out);
    if (status == PSFM_OK && !psfm_path_is_file(*out))
        status = psfm_fail(ctx, PSFM_ERR_IO, "%s: a folder without a database.db", path);
    return status;
}
