/* Planes for other programs: OUT/planes.json and OUT/planes.ply. */
#ifndef PSFM_FORMATS_PLANES_FILE_H
#define PSFM_FORMATS_PLANES_FILE_H

#include "core/structure/planes.h"

/* One object per plane: normal, distance, points, sigma, area, colour, polygon. Whole or absent.
 * *text (NULL: not wanted) is what was written, freed by the caller; NULL on failure. */
psfm_status psfm_planes_write_json(psfm_context *ctx, const psfm_scene_planes *planes,
                                   const char *path, char **text);

/* The polygons as faces with colours (ASCII PLY). Whole or absent. */
psfm_status psfm_planes_write_ply(psfm_context *ctx, const psfm_scene_planes *planes,
                                  const char *path);

/* Reads what psfm_planes_write_json wrote; point_plane is NULL. Free with psfm_scene_planes_free;
 * on failure *planes is empty. */
psfm_status psfm_planes_read_json(psfm_context *ctx, const char *path, psfm_scene_planes *planes);

/* The same from text; `path` is for messages. */
psfm_status psfm_planes_parse_json(psfm_context *ctx, const char *text, size_t size,
                                   const char *path, psfm_scene_planes *planes);

/* Colour of plane k: well apart from those before it. */
void psfm_plane_color(uint32_t k, uint8_t rgb[3]);

#endif
