/* Where a camera may stand over a drawing, given how it is turned. */
#ifndef PSFM_COURT_POSE_SEARCH_H
#define PSFM_COURT_POSE_SEARCH_H

#include "court/line_evidence.h"
#include "court/manhattan_frames.h"

/* A frame and its quarter turn. Courts look the same after half a turn. Of other drawings the two
 * half turns are not tried: they bring poses that fit by chance and make right ones doubtful. */
#define PSFM_SEARCH_QUARTERS 2

/* A drawing, made ready for searching. Owns its arrays but the drawing. */
typedef struct {
    const psfm_drawing *drawing;
    double size;                   /* of the drawing, metres */
    double min_height, max_height; /* of the camera above it, metres */
    double *offsets[2];            /* of the lines along x, along y */
    size_t num_offsets[2];
    psfm_drawing_sample *coarse, *fine; /* about size / 50 and size / 160 apart; the coarse ones in
                                           an order of which every beginning is spread over all */
    size_t num_coarse, num_fine;
    double coarse_step, fine_step; /* metres */
} psfm_search_plan;

/* Free in any case. */
psfm_status psfm_search_plan_init(psfm_context *ctx, const psfm_drawing *drawing, double min_height,
                                  double max_height, psfm_search_plan *plan);
void psfm_search_plan_free(psfm_search_plan *plan);

typedef struct {
    double R[9];      /* cam_from_world */
    double center[3]; /* of the camera, metres */
    double focal;     /* factor on the camera's focal lengths */
    double grow[2];   /* metres by which the drawing is longer and wider */
    double score;     /* evidence, see court/line_evidence.h; coarse */
} psfm_court_guess;

/* What a photograph shows: lines, straight segments of them, and the camera of both (PINHOLE). */
typedef struct {
    const psfm_line_evidence *evidence;
    const psfm_segments *segments;
    const psfm_camera *camera;
} psfm_search_scene;

/* Tries the frame and its quarter turns: adds up to PSFM_GUESSES of the best guesses for each of
 * PSFM_SEARCH_QUARTERS to guesses, which has room for all, best first. */
#define PSFM_GUESSES 24
psfm_status psfm_court_search(psfm_context *ctx, const psfm_search_plan *plan,
                              const psfm_search_scene *scene, const psfm_court_frame *frame,
                              psfm_court_guess *guesses, size_t *num_guesses);

#endif
