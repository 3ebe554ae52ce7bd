/* Models and planes in another world frame. */
#ifndef PSFM_WORLD_MOVE_MODEL_H
#define PSFM_WORLD_MOVE_MODEL_H

#include "linalg/sim3.h"
#include "planarsfm/model.h"
#include "scene/planes.h"

/* Moves all poses and points: X becomes scale R X + t. Quaternions come out normalised, w >= 0. */
void psfm_model_move(psfm_model *model, const psfm_sim3 *to_from);

/* The same for a plane: normal, distance, sigma, area and polygon. */
void psfm_scene_plane_move(psfm_scene_plane *plane, const psfm_sim3 *to_from);

#endif
