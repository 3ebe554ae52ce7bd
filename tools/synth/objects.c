/* Where cameras stand round single things. All of them hide parts of themselves, so there are only
 * photographs of them (render_turntable.c and so on say what is seen).
 *
 * turntable: one turn at even steps from above, through a lens four times as long as the others';
 * statue: visitors in a square, anywhere on three quarters of a circle and at any distance;
 * board: from all sides and heights above a board that lies on the ground;
 * mug: once round a table at arm's length. */
#include <math.h>

#include "synth/world.h"

#define SHOWN 720.0 /* pixels, the height of an image */

static void measure_object(psfm_plan *plan) {
    plan->num_cells[0] = plan->num_cells[1] = 1;
}

/* The distance at which the height of the image shows `metres`. */
static double distance_for(const psfm_plan *plan, double metres) {
    return plan->focal_px * metres / SHOWN;
}

/* A camera at an angle round the z axis, at `height` radians above the horizon as seen from
 * `target`, looking there, give or take `aim` metres. */
static void look_from(psfm_rng *rng, double angle, double height, double distance,
                      const double target[3], double aim, psfm_synth_pose *pose) {
    const double center[3] = {target[0] + distance * cos(height) * cos(angle),
                              target[1] + distance * cos(height) * sin(angle),
                              target[2] + distance * sin(height)};
    double at[3];
    for (int k = 0; k < 3; ++k)
        at[k] = target[k] + aim * psfm_rng_normal(rng);
    psfm_synth_look_at(center, at, 0.02 * psfm_rng_normal(rng), pose);
}

static double angle_of(const psfm_plan *plan, size_t index) {
    return 2.0 * M_PI * (double)index / (double)plan->num_cameras;
}

static void place_turntable(const psfm_plan *plan, size_t index, psfm_synth_pose *pose) {
    static const double target[3] = {0.0, 0.0, 0.15};
    psfm_rng rng = psfm_synth_rng(plan, PSFM_STREAM_CAMERA, index);
    double angle = angle_of(plan, index) + 0.01 * psfm_rng_normal(&rng);
    double height = 0.35 + 0.01 * psfm_rng_normal(&rng);
    look_from(&rng, angle, height, distance_for(plan, 0.4), target, 0.002, pose);
}

static void place_statue(const psfm_plan *plan, size_t index, psfm_synth_pose *pose) {
    psfm_rng rng = psfm_synth_rng(plan, PSFM_STREAM_CAMERA, index);
    double angle = psfm_rng_range(&rng, -0.75 * M_PI, 0.75 * M_PI);
    double away = distance_for(plan, 5.0) * exp(psfm_rng_range(&rng, 0.0, 1.0));
    const double center[3] = {away * cos(angle), away * sin(angle), psfm_rng_range(&rng, 1.4, 2.0)};
    double target[3] = {0.5 * psfm_rng_normal(&rng), 0.5 * psfm_rng_normal(&rng),
                        psfm_rng_range(&rng, 2.0, 3.5)};
    psfm_synth_look_at(center, target, 0.03 * psfm_rng_normal(&rng), pose);
}

static void place_board(const psfm_plan *plan, size_t index, psfm_synth_pose *pose) {
    static const double target[3] = {0.0, 0.0, 0.0};
    psfm_rng rng = psfm_synth_rng(plan, PSFM_STREAM_CAMERA, index);
    double angle = angle_of(plan, index) + 0.1 * psfm_rng_normal(&rng);
    double height = psfm_rng_range(&rng, 0.6, 1.2);
    double distance = distance_for(plan, psfm_rng_range(&rng, 0.9, 1.3));
    look_from(&rng, angle, height, distance, target, 0.04, pose);
}

static void place_mug(const psfm_plan *plan, size_t index, psfm_synth_pose *pose) {
    static const double target[3] = {0.0, 0.0, PSFM_TABLE_HEIGHT + 0.5 * PSFM_MUG_HEIGHT};
    psfm_rng rng = psfm_synth_rng(plan, PSFM_STREAM_CAMERA, index);
    double angle = angle_of(plan, index) + 0.02 * psfm_rng_normal(&rng);
    double height = psfm_rng_range(&rng, 0.2, 0.35);
    double distance = distance_for(plan, psfm_rng_range(&rng, 0.19, 0.22));
    look_from(&rng, angle, height, distance, target, 0.004, pose);
}

const psfm_layout psfm_layout_turntable = {
    .name = "turntable", .zoom = 4.0, .measure = measure_object, .place = place_turntable};
const psfm_layout psfm_layout_statue = {
    .name = "statue", .focal_spread = 1.5, .measure = measure_object, .place = place_statue};
const psfm_layout psfm_layout_board = {
    .name = "board", .measure = measure_object, .place = place_board};
const psfm_layout psfm_layout_mug = {.name = "mug", .measure = measure_object, .place = place_mug};
