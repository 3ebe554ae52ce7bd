/* A walk along a building front, the plane y = 0: cameras on its side y < 0 that look at it from
 * slightly varying distance and direction. An image shows 12.8 m of the front whatever the focal
 * length, which sets the distance (12 m at 1200 px). Off the plane: balconies in front of it and
 * window niches behind it, one of either in every bay of 4 m and storey of 4 m. With duplicates all
 * bays are equal, and the duplicate of a bay is the next one. */
#include <math.h>

#include "synth/world.h"

#define BAY PSFM_FACADE_BAY
#define NUM_STOREYS PSFM_FACADE_NUM_STOREYS
#define STEP 2.56
#define SHOWN 12.8
#define POINTS_PER_METRE 52.0 /* of front, which gives about 600 in an image */

static void measure_facade(psfm_plan *plan) {
    double length = (double)(plan->num_cameras - 1) * STEP + 1.6 * SHOWN;
    double num_bays = ceil(length / BAY);
    bool repeats = plan->options->duplicates > 0.0;
    plan->num_cells[0] = repeats ? (int)num_bays : 1;
    plan->num_cells[1] = 1;
    plan->cell_size[0] = repeats ? BAY : num_bays * BAY;
    plan->origin[0] = 0.5 * (plan->cell_size[0] - num_bays * BAY);
    if (plan->num_points == 0)
        plan->num_points = (size_t)(POINTS_PER_METRE * num_bays * BAY);
    plan->reach = 1.2 * SHOWN;
}

static void place_camera(const psfm_plan *plan, size_t index, psfm_synth_pose *pose) {
    psfm_rng rng = psfm_synth_rng(plan, PSFM_STREAM_CAMERA, index);
    double distance = plan->focal_px / 100.0;
    double x = STEP * ((double)index - 0.5 * (double)(plan->num_cameras - 1));
    double center[3] = {x + 0.2 * psfm_rng_normal(&rng),
                        -distance * psfm_rng_range(&rng, 0.88, 1.12),
                        psfm_rng_range(&rng, 1.5, 1.9)};
    double target[3] = {center[0] + 0.06 * SHOWN * psfm_rng_normal(&rng), 0.0,
                        psfm_rng_range(&rng, 3.2, 4.2)};
    psfm_synth_look_at(center, target, 0.02 * psfm_rng_normal(&rng), pose);
}

static int draw_point(const psfm_plan *plan, psfm_rng *rng, bool off_plane, double xyz[3]) {
    double width = plan->cell_size[0];
    if (!off_plane) {
        xyz[0] = width * psfm_rng_range(rng, -0.5, 0.5);
        xyz[1] = 0.0;
        xyz[2] = psfm_rng_range(rng, 0.0, NUM_STOREYS * 4.0);
        return 0;
    }
    size_t num_bays = (size_t)lround(width / BAY);
    double bay = ((double)psfm_rng_below(rng, num_bays) + 0.5) * BAY - 0.5 * width;
    double floor = 4.0 * (double)psfm_rng_below(rng, NUM_STOREYS);
    if (psfm_rng_uniform(rng) < 0.5) { /* balcony */
        xyz[0] = bay + psfm_rng_range(rng, -1.9, -0.1);
        xyz[1] = psfm_rng_range(rng, -1.4, 0.0);
        xyz[2] = floor + psfm_rng_range(rng, 0.2, 1.4);
    } else {
        xyz[0] = bay + psfm_rng_range(rng, 0.4, 1.6);
        xyz[1] = psfm_rng_range(rng, 0.0, 0.6);
        xyz[2] = floor + psfm_rng_range(rng, 0.9, 2.6);
    }
    return -1;
}

const psfm_layout psfm_layout_facade = {.name = "facade",
                                        .never_wraps = true,
                                        .duplicate_is_shift = true,
                                        .measure = measure_facade,
                                        .place = place_camera,
                                        .draw = draw_point};
