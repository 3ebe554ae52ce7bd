/* Models and planes in another world frame. */
#ifndef PSFM_EVAL_MOVE_MODEL_H
#define PSFM_EVAL_MOVE_MODEL_H

#include "eval/align_models.h"
#include "planarsfm/model.h"
#include "scene/planes.h"

/* Moves all poses and points: X becomes scale R X + t. Quaternions come out normalised, w >= 0. */
void psfm_model_move(psfm_model *model, const psfm_similarity *to_from);

/* The same for a plane: normal, distance, sigma, area and polygon. */
void psfm_scene_plane_move(psfm_scene_plane *plane, const psfm_similarity *to_from);

#endif
