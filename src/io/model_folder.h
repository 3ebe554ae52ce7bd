/* Where the model is that a path stands for. */
#ifndef PSFM_IO_MODEL_FOLDER_H
#define PSFM_IO_MODEL_FOLDER_H

#include "base/context.h"

/* The folder of model files that PATH stands for: PATH itself, or the largest model of a run
 * (PATH/0 or PATH/model/0). PATH if there is none. *folder is malloc'ed. */
psfm_status psfm_model_folder(psfm_context *ctx, const char *path, char **folder);

#endif
