/* Writing cJSON trees to files. */
#ifndef PSFM_BASE_JSON_H
#define PSFM_BASE_JSON_H

#include <cjson/cJSON.h>

#include "base/context.h"

/* Writes the tree, indented, with a final newline; whole or absent. */
psfm_status psfm_json_write(psfm_context *ctx, const cJSON *tree, const char *path);

#endif
