/* A drone over a flat field: straight lines back and forth, the camera looking down but for a few
 * degrees, or a given angle ahead; about 70 % overlap along and across the lines. An image shows 53
 * x 30 m whatever the focal length, which sets the altitude (50 m at 1200 px). Off the plane: huts
 * and trees. With duplicates the field repeats: cells with the same crop marks, each symmetric
 * under half a turn, so that neighbouring images can be matched half a turn and some cells off. */
#include <math.h>

#include "core/linalg/mat3.h"
#include "synth/world.h"

#define HUT_SPACING 25.0 /* metres, on average */
#define POINTS_PER_IMAGE 600.0

static const double shown[2] = {160.0 / 3.0, 30.0}; /* metres of ground in an image */
static const double spacing[2] = {16.0, 9.0};
static const double duplicate_cell[2] = {18.0, 15.0};

static double field_altitude(const psfm_plan *plan) {
    return plan->focal_px / 24.0;
}

static void measure_field(psfm_plan *plan) {
    double n = (double)plan->num_cameras;
    double columns = ceil(sqrt(n)), area = 1.0;
    plan->columns = (int)columns;
    const double lines[2] = {columns, ceil(n / columns)};
    for (int k = 0; k < 2; ++k) {
        double size = (lines[k] - 1.0) * spacing[k] + 1.4 * shown[k];
        area *= size;
        plan->num_cells[k] =
            plan->options->duplicates > 0.0 ? (int)ceil(size / duplicate_cell[k]) : 1;
        plan->cell_size[k] = size / plan->num_cells[k];
        plan->origin[k] = -0.5 * (plan->num_cells[k] - 1) * plan->cell_size[k];
    }
    if (plan->num_points == 0)
        plan->num_points = (size_t)(POINTS_PER_IMAGE * area / (shown[0] * shown[1]));
    plan->reach = 0.9 * hypot(shown[0], shown[1]);
}

static void place_camera(const psfm_plan *plan, size_t index, psfm_synth_pose *pose) {
    psfm_rng rng = psfm_synth_rng(plan, PSFM_STREAM_CAMERA, index);
    size_t columns = (size_t)plan->columns, line = index / columns, col = index % columns;
    size_t num_lines = (plan->num_cameras + columns - 1) / columns;
    bool back = line % 2 == 1;
    double x = (double)(back ? columns - 1 - col : col) - 0.5 * (double)(columns - 1);
    double y = (double)line - 0.5 * (double)(num_lines - 1);
    double center[3] = {spacing[0] * x + 0.5 * psfm_rng_normal(&rng),
                        spacing[1] * y + 0.3 * psfm_rng_normal(&rng),
                        field_altitude(plan) * psfm_rng_range(&rng, 0.96, 1.04)};
    /* x along the line, y to its right, z down; the drone turns round at the end of a line. A
     * camera that looks ahead hangs so far behind that it sees the same ground. */
    double ahead = back ? -1.0 : 1.0, oblique = plan->options->oblique_deg * M_PI / 180.0;
    double down[9] = {ahead, 0, 0, 0, -ahead, 0, 0, 0, -1}, tilt[9], R[9], w[3];
    double pitch[3] = {0, -oblique, 0}, level[9];
    center[0] -= ahead * center[2] * tan(oblique);
    double wobble = 0.03 * fmin(1.0, 50.0 / field_altitude(plan));
    for (int k = 0; k < 3; ++k)
        w[k] = wobble * psfm_rng_normal(&rng);
    psfm_rotation_exp(w, tilt);
    psfm_mat3_mul(tilt, down, level);
    psfm_rotation_exp(pitch, tilt);
    psfm_mat3_mul(tilt, level, R);
    psfm_synth_set_pose(center, R, pose);
    const double *axis = pose->R + 6;
    for (int k = 0; k < 2; ++k)
        pose->view[k] = center[k] - center[2] * axis[k] / axis[2];
}

size_t psfm_field_num_objects(const psfm_plan *plan) {
    double area = plan->cell_size[0] * plan->cell_size[1];
    return (size_t)ceil(area / (HUT_SPACING * HUT_SPACING));
}

bool psfm_field_object(const psfm_plan *plan, size_t object, double foot[3], double size[3]) {
    psfm_rng own = psfm_synth_rng(plan, PSFM_STREAM_OBJECT, object);
    for (int k = 0; k < 2; ++k) {
        size[k] = psfm_rng_range(&own, 2.0, 7.0);
        foot[k] = psfm_rng_range(&own, -0.5, 0.5) * (plan->cell_size[k] - size[k]);
    }
    foot[2] = 0.0;
    size[2] = field_altitude(plan) * psfm_rng_range(&own, 0.05, 0.2);
    return object % 2 == 1;
}

static int draw_point(const psfm_plan *plan, psfm_rng *rng, bool off_plane, double xyz[3]) {
    if (!off_plane) {
        for (int k = 0; k < 2; ++k)
            xyz[k] = plan->cell_size[k] * psfm_rng_range(rng, -0.5, 0.5);
        xyz[2] = 0.0;
        return 0;
    }
    size_t object = psfm_rng_below(rng, psfm_field_num_objects(plan));
    double foot[3], size[3];
    bool is_tree = psfm_field_object(plan, object, foot, size);
    psfm_synth_draw_on_box(rng, foot, size, xyz);
    if (is_tree) { /* its crown fills the upper part of the box */
        for (int k = 0; k < 2; ++k)
            xyz[k] += size[k] * 0.15 * psfm_rng_normal(rng);
        xyz[2] = size[2] * psfm_rng_range(rng, 0.3, 1.0);
    }
    return -1;
}

const psfm_layout psfm_layout_field = {.name = "field",
                                       .never_wraps = true,
                                       .measure = measure_field,
                                       .place = place_camera,
                                       .draw = draw_point};
