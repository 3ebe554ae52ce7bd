/* Poses are the views' own; the drawing belongs to whoever registered them. */
#include "court/court_evidence.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/mat3.h"

psfm_status psfm_court_evidence_init(psfm_context *ctx, psfm_drawing *drawing, uint32_t num_views,
                                     psfm_court_evidence *evidence) {
    *evidence = (psfm_court_evidence){.drawing = drawing};
    psfm_drawing_middle(drawing, evidence->middle);
    evidence->num_turns = psfm_drawing_turns(drawing, evidence->turns);
    psfm_status status = PSFM_ALLOC(ctx, num_views, &evidence->poses);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num_views, &evidence->agrees);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num_views, &evidence->quarters);
    if (status != PSFM_OK)
        return status;
    evidence->num_views = num_views;
    for (uint32_t v = 0; v < num_views; ++v)
        evidence->poses[v].verdict = PSFM_COURT_NO_LINES;
    return PSFM_OK;
}

void psfm_court_evidence_free(psfm_court_evidence *evidence) {
    for (uint32_t v = 0; v < evidence->num_views; ++v)
        psfm_court_pose_free(&evidence->poses[v]);
    free(evidence->poses);
    free(evidence->links);
    free(evidence->agrees);
    free(evidence->quarters);
    *evidence = (psfm_court_evidence){0};
}

/* ---- quarter turns ---- */

/* Turns by quarters have cosines of 0 and 1, so that a turn and its inverse give the same bytes. */

static const double cosines[4] = {1, 0, -1, 0}, sines[4] = {0, 1, 0, -1};

void psfm_drawing_middle(const psfm_drawing *drawing, double middle[2]) {
    double low[2], high[2];
    psfm_drawing_bounds(drawing, low, high);
    for (int d = 0; d < 2; ++d)
        middle[d] = 0.5 * (low[d] + high[d]);
}

/* A place before the turn: where the turned pose sees what was at `at`. */
static void turn_back(const double middle[2], int quarters, const double at[2], double out[2]) {
    double c = cosines[quarters], s = sines[quarters];
    double x = at[0] - middle[0], y = at[1] - middle[1];
    out[0] = middle[0] + c * x + s * y;
    out[1] = middle[1] - s * x + c * y;
}

void psfm_turn_pose(const double middle[2], int quarters, const double R[9], const double center[3],
                    double R_out[9], double center_out[3]) {
    double c = cosines[quarters & 3], s = sines[quarters & 3], turned[9];
    const double Q[9] = {c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0};
    psfm_mat3_mul(R, Q, turned);
    memcpy(R_out, turned, sizeof turned);
    double at[2] = {center[0], center[1]};
    center_out[2] = center[2];
    turn_back(middle, quarters & 3, at, center_out);
}

static void find_translation(const double R[9], const double center[3], double t[3]) {
    psfm_mat3_mul_vec(R, center, t);
    psfm_scale3(-1.0, t, t);
}

void psfm_court_pose_turn(const psfm_drawing *drawing, int quarters, const psfm_court_pose *pose,
                          double R[9], double t[3]) {
    double middle[2], center[3];
    psfm_drawing_middle(drawing, middle);
    psfm_turn_pose(middle, quarters, pose->R, pose->center, R, center);
    find_translation(R, center, t);
}

/* What lines confirm goes with the parts that are now where they were seen. */
static psfm_status turn_parts(psfm_context *ctx, const psfm_drawing *drawing, int quarters,
                              double *values) {
    double *before = NULL;
    psfm_status status = PSFM_ALLOC(ctx, drawing->num_parts, &before);
    if (status != PSFM_OK)
        return status;
    memcpy(before, values, drawing->num_parts * sizeof *before);
    for (size_t k = 0; k < drawing->num_parts; ++k)
        values[k] = before[psfm_drawing_turned_part(drawing, k, quarters)];
    free(before);
    return PSFM_OK;
}

static void turn_line(const double middle[2], int quarters, psfm_line_point *line) {
    static const double origin[2] = {0.0, 0.0};
    const psfm_line_point before = *line;
    turn_back(middle, quarters, before.on, line->on);
    turn_back(origin, quarters, before.move, line->move);
}

psfm_status psfm_court_pose_take_turn(psfm_context *ctx, const psfm_drawing *drawing, int quarters,
                                      psfm_court_pose *pose) {
    double middle[2];
    psfm_status status = PSFM_OK;
    if ((quarters & 3) == 0)
        return PSFM_OK;
    psfm_drawing_middle(drawing, middle);
    psfm_turn_pose(middle, quarters, pose->R, pose->center, pose->R, pose->center);
    find_translation(pose->R, pose->center, pose->t);
    for (size_t k = 0; k < pose->lines.num; ++k)
        turn_line(middle, quarters & 3, &pose->lines.items[k]);
    if (pose->part_visible != NULL)
        status = turn_parts(ctx, drawing, quarters & 3, pose->part_visible);
    if (status == PSFM_OK && pose->part_hit != NULL)
        status = turn_parts(ctx, drawing, quarters & 3, pose->part_hit);
    return status;
}

psfm_status psfm_court_pose_make_canonical(psfm_context *ctx, const psfm_drawing *drawing,
                                           psfm_court_pose *pose) {
    double middle[2], R[9], center[3], lowest = pose->center[1];
    int best = 0;
    psfm_drawing_middle(drawing, middle);
    for (int k = 1; k < pose->num_turns; ++k) {
        psfm_turn_pose(middle, pose->turns[k], pose->R, pose->center, R, center);
        if (center[1] < lowest) {
            lowest = center[1];
            best = pose->turns[k];
        }
    }
    return psfm_court_pose_take_turn(ctx, drawing, best, pose);
}
