/* Inside a box of 8 x 6 x 3 m: floor, ceiling and four walls are the planes 0 to 5. Cameras stand
 * in a ring along the walls and look across, mostly at the far wall, the floor and a side wall. Off
 * the planes: furniture. The duplicate is the room turned by 180 degrees about its middle. */
#include <math.h>

#include "synth/world.h"

static const double half_size[2] = {0.5 * PSFM_ROOM_LENGTH, 0.5 * PSFM_ROOM_WIDTH};
static const double height = PSFM_ROOM_HEIGHT;

static void measure_room(psfm_plan *plan) {
    if (plan->num_points == 0)
        plan->num_points = 4000;
    plan->num_cells[0] = plan->num_cells[1] = 1;
}

static void place_camera(const psfm_plan *plan, size_t index, psfm_synth_pose *pose) {
    psfm_rng rng = psfm_synth_rng(plan, PSFM_STREAM_CAMERA, index);
    double step = 2.0 * M_PI / (double)plan->num_cameras;
    double angle = step * ((double)index + 0.073 * psfm_rng_normal(&rng));
    double center[3] = {0.82 * half_size[0] * cos(angle), 0.82 * half_size[1] * sin(angle),
                        psfm_rng_range(&rng, 1.3, 2.1)};
    double target[3] = {-0.3 * center[0] + psfm_rng_range(&rng, -0.6, 0.6),
                        -0.3 * center[1] + psfm_rng_range(&rng, -0.6, 0.6),
                        psfm_rng_range(&rng, 0.3, 0.9)};
    psfm_synth_look_at(center, target, 0.03 * psfm_rng_normal(&rng), pose);
}

void psfm_room_piece(const psfm_plan *plan, size_t piece, double foot[3], double size[3]) {
    psfm_rng rng = psfm_synth_rng(plan, PSFM_STREAM_OBJECT, piece);
    foot[0] = psfm_rng_range(&rng, -2.0, 2.0);
    foot[1] = psfm_rng_range(&rng, -1.3, 1.3);
    foot[2] = 0.0;
    for (int k = 0; k < 3; ++k)
        size[k] = psfm_rng_range(&rng, 0.4, 1.1);
}

static int draw_furniture(const psfm_plan *plan, psfm_rng *rng, double xyz[3]) {
    double foot[3], size[3];
    psfm_room_piece(plan, psfm_rng_below(rng, PSFM_ROOM_NUM_PIECES), foot, size);
    psfm_synth_draw_on_box(rng, foot, size, xyz);
    return -1;
}

static int draw_point(const psfm_plan *plan, psfm_rng *rng, bool off_plane, double xyz[3]) {
    if (off_plane)
        return draw_furniture(plan, rng, xyz);
    /* Areas of the faces: 48, 48, 18, 18, 24, 24 square metres. */
    static const double bounds[6] = {48.0, 96.0, 114.0, 132.0, 156.0, 180.0};
    double pick = psfm_rng_range(rng, 0.0, 180.0);
    int plane = 0;
    while (pick >= bounds[plane])
        ++plane;
    for (int k = 0; k < 2; ++k)
        xyz[k] = psfm_rng_range(rng, -half_size[k], half_size[k]);
    xyz[2] = psfm_rng_range(rng, 0.0, height);
    double side = plane % 2 == 0 ? 1.0 : -1.0;
    if (plane < 2)
        xyz[2] = plane == 0 ? 0.0 : height;
    else if (plane < 4)
        xyz[0] = side * half_size[0];
    else
        xyz[1] = side * half_size[1];
    return plane;
}

const psfm_layout psfm_layout_room = {.name = "room",
                                      .swaps_planes = true,
                                      .measure = measure_room,
                                      .place = place_camera,
                                      .draw = draw_point};
