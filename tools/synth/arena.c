/* A ring of cameras round a 28 x 15 m court (its surroundings included, 30 x 17 m), as broadcast or
 * motion-capture cameras hang in an arena. Off the plane: the stands, rows that rise outward all
 * round; a camera sees those on the other side. The duplicate is the court turned by 180 degrees.
 */
#include <math.h>

#include "synth/world.h"

static void measure_arena(psfm_plan *plan) {
    if (plan->num_points == 0)
        plan->num_points = 1500;
    plan->num_cells[0] = plan->num_cells[1] = 1;
}

static void place_camera(const psfm_plan *plan, size_t index, psfm_synth_pose *pose) {
    psfm_rng rng = psfm_synth_rng(plan, PSFM_STREAM_CAMERA, index);
    double step = 2.0 * M_PI / (double)plan->num_cameras;
    double angle = step * ((double)index + 0.073 * psfm_rng_normal(&rng));
    double center[3] = {22.0 * cos(angle), 16.0 * sin(angle), psfm_rng_range(&rng, 5.0, 9.0)};
    double target[3] = {psfm_rng_range(&rng, -4.0, 4.0), psfm_rng_range(&rng, -2.0, 2.0), 0.0};
    psfm_synth_look_at(center, target, 0.03 * psfm_rng_normal(&rng), pose);
}

static int draw_point(const psfm_plan *plan, psfm_rng *rng, bool off_plane, double xyz[3]) {
    (void)plan;
    if (off_plane) {
        double angle = psfm_rng_range(rng, 0.0, 2.0 * M_PI), out = psfm_rng_range(rng, 1.15, 1.6);
        xyz[0] = 19.0 * out * cos(angle);
        xyz[1] = 13.0 * out * sin(angle);
        xyz[2] = 14.0 * (out - 1.1) + 0.3 * psfm_rng_normal(rng);
        return -1;
    }
    xyz[0] = psfm_rng_range(rng, -15.0, 15.0);
    xyz[1] = psfm_rng_range(rng, -8.5, 8.5);
    xyz[2] = 0.0;
    return 0;
}

const psfm_layout psfm_layout_arena = {
    .name = "arena", .measure = measure_arena, .place = place_camera, .draw = draw_point};
