/* The points of a court, found in the photographs of a model by its lines. */
#ifndef PSFM_WORLD_ALIGN_COURT_H
#define PSFM_WORLD_ALIGN_COURT_H

#include "court/court.h"
#include "io/control_file.h"
#include "planarsfm/model.h"

/* Registers the photographs of a model's images to the court, keeps the registrations that turn
 * against each other as the model's images do, and lists where each of them sees the court's marks:
 * what psfm_align_points wants. Half a turn of the whole is free: the first image that is kept has
 * its camera at the smaller y. PSFM_ERR_DATA if no photograph is registered. Parallel. Free *points
 * in any case. */
psfm_status psfm_court_points_find(psfm_context *ctx, const psfm_model *model, const char *folder,
                                   const psfm_court *court, psfm_control_set *points);

#endif
