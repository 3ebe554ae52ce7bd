/* A model with what lies beside it: planes, and where on the earth it is. */
#ifndef PSFM_WORLD_MODEL_SOURCE_H
#define PSFM_WORLD_MODEL_SOURCE_H

#include "formats/geo_reference.h"
#include "formats/planes_file.h"
#include "planarsfm/model.h"

typedef struct {
    char *folder; /* of the model's files */
    psfm_model model;
    psfm_geo_reference geo;
    psfm_scene_planes planes;
    bool has_geo, has_planes;
} psfm_model_source;

/* Reads the model that PATH stands for (formats/colmap_model.h) with its geo-reference, and the
 * planes from planes_path or, if that is NULL, from PATH/planes.json where there is one. Free in
 * any case. */
psfm_status psfm_model_source_read(psfm_context *ctx, const char *path, const char *planes_path,
                                   psfm_model_source *out);
void psfm_model_source_free(psfm_model_source *model);

#endif
