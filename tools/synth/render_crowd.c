/* People who hide lines. What they hide is found with their own solids: a ray from the camera to
 * each of many places along the lines of the court. */
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/mat3.h"
#include "court/drawing.h"
#include "synth/render_floor.h"
#include "synth/render_scenes.h"

#define STEP 0.2        /* metres between places along the lines */
#define MOST_PEOPLE 400 /* more hide no more */

/* Places of the lines that an image would show. */
typedef struct {
    double (*at)[3];
    bool *is_hidden;
    size_t num, num_hidden;
} places;

static bool is_seen(const psfm_camera *camera, const psfm_synth_pose *pose, const double at[3]) {
    double ray[3], xy[2];
    psfm_mat3_mul_vec(pose->R, at, ray);
    psfm_axpy3(ray, 1.0, pose->t, ray);
    return ray[2] > 0.0 && psfm_camera_project(camera, ray, xy) && xy[0] >= 0.0 && xy[1] >= 0.0 &&
           xy[0] < (double)camera->width && xy[1] < (double)camera->height;
}

/* Lines of the game, or of basketball on an empty floor. */
static psfm_status find_places(psfm_context *ctx, const psfm_take *take, places *lines) {
    psfm_court court;
    psfm_drawing drawing = {0};
    psfm_drawing_sample *samples = NULL;
    size_t num = 0;
    const psfm_camera camera = psfm_plan_camera(take->plan, take->image);
    if (!psfm_court_get(psfm_game_names[take->options->game], &court))
        court = psfm_courts[0];
    psfm_status status = psfm_drawing_from_court(ctx, &court, &drawing);
    if (status == PSFM_OK)
        status = psfm_drawing_sample_lines(ctx, &drawing, STEP, &samples, &num);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num, &lines->at);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num, &lines->is_hidden);
    for (size_t k = 0; k < num && status == PSFM_OK; ++k) {
        const double at[3] = {(double)samples[k].x, (double)samples[k].y, 0.0};
        if (is_seen(&camera, take->pose, at))
            memcpy(lines->at[lines->num++], at, sizeof at);
    }
    psfm_drawing_free(&drawing);
    free(samples);
    return status;
}

/* Marks the places that the solids from number `first` on hide. */
static void hide_places(const psfm_stage *stage, size_t first, places *lines) {
    for (size_t k = 0; k < lines->num; ++k) {
        double dir[3];
        psfm_sub3(lines->at[k], stage->base, dir);
        for (size_t s = first; s < stage->num_solids && !lines->is_hidden[k]; ++s)
            if (psfm_solid_meet(&stage->solids[s], stage->base, dir, 0.0, 1.0) < 1.0) {
                lines->is_hidden[k] = true;
                ++lines->num_hidden;
            }
    }
}

static void add_person(psfm_rng *rng, psfm_stage *stage) {
    psfm_outfit outfit = {.number = "1"};
    psfm_rgb_hue(psfm_rng_uniform(rng), 0.6, psfm_rng_range(rng, 0.1, 0.8), outfit.shirt);
    psfm_rgb_hue(psfm_rng_uniform(rng), 0.4, psfm_rng_range(rng, 0.05, 0.5), outfit.shorts);
    const double foot[2] = {psfm_rng_range(rng, -14.0, 14.0), psfm_rng_range(rng, -7.5, 7.5)};
    psfm_stage_player(stage, rng, foot, &outfit);
}

void psfm_stage_crowd(const psfm_take *take, size_t first, psfm_stage *stage) {
    places lines = {0};
    psfm_rng rng = psfm_synth_rng(take->plan, PSFM_STREAM_CROWD, take->image);
    if (stage->status == PSFM_OK)
        stage->status = find_places(stage->ctx, take, &lines);
    hide_places(stage, first, &lines);
    for (int k = 0; k < MOST_PEOPLE && stage->status == PSFM_OK; ++k) {
        if ((double)lines.num_hidden >= take->options->people * (double)lines.num)
            break;
        size_t own = stage->num_solids;
        add_person(&rng, stage);
        hide_places(stage, own, &lines);
    }
    free(lines.at);
    free(lines.is_hidden);
}
