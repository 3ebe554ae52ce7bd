/* A ring of cameras round a ball of points: no plane anywhere. The duplicate is the cloud turned by
 * 180 degrees about the vertical. */
#include <math.h>

#include "core/linalg/vec3.h"
#include "synth/world.h"

static void measure_ball(psfm_plan *plan) {
    if (plan->num_points == 0)
        plan->num_points = 1000;
    plan->num_cells[0] = plan->num_cells[1] = 1;
}

static void place_camera(const psfm_plan *plan, size_t index, psfm_synth_pose *pose) {
    psfm_rng rng = psfm_synth_rng(plan, PSFM_STREAM_CAMERA, index);
    double step = 2.0 * M_PI / (double)plan->num_cameras;
    double angle = step * ((double)index + 0.073 * psfm_rng_normal(&rng));
    double distance = psfm_rng_range(&rng, 12.0, 15.0);
    double center[3] = {distance * cos(angle), distance * sin(angle),
                        psfm_rng_range(&rng, -2.0, 4.0)};
    double target[3] = {0.5 * psfm_rng_normal(&rng), 0.5 * psfm_rng_normal(&rng),
                        0.5 * psfm_rng_normal(&rng)};
    psfm_synth_look_at(center, target, 0.05 * psfm_rng_normal(&rng), pose);
}

static int draw_point(const psfm_plan *plan, psfm_rng *rng, bool off_plane, double xyz[3]) {
    (void)plan;
    (void)off_plane;
    psfm_rng_direction(rng, xyz);
    psfm_scale3(4.5 * cbrt(psfm_rng_uniform(rng)), xyz, xyz);
    return -1;
}

const psfm_layout psfm_layout_general = {
    .name = "general", .measure = measure_ball, .place = place_camera, .draw = draw_point};
