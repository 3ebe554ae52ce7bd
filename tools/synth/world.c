/* Points are drawn for one cell and repeated in all cells. Where duplicates are wanted that turn by
 * 180 degrees, each point drawn is followed by its turned copy, so that in a cell the points 2k and
 * 2k + 1 are each other's duplicates. With cell (a, b) centred on origin + (a, b) * size, a turn
 * about origin + (A, B) / 2 * size takes cell (a, b) to (A - a, B - b). */
#include "synth/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/camera/camera_model.h"
#include "core/linalg/mat3.h"

size_t psfm_plan_num_cameras(const psfm_plan *plan) {
    return plan->focal_spread > 1.0 ? plan->num_cameras : 1;
}

psfm_camera psfm_plan_camera(const psfm_plan *plan, size_t index) {
    psfm_camera camera = plan->camera;
    if (psfm_plan_num_cameras(plan) == 1)
        return camera;
    const psfm_camera_model_info *info = psfm_camera_model_get(camera.model);
    psfm_rng rng = psfm_synth_rng(plan, PSFM_STREAM_FOCAL, index);
    double factor = pow(plan->focal_spread, psfm_rng_range(&rng, -1.0, 1.0));
    camera.id = (uint32_t)index + 1;
    camera.params[info->focal[0]] *= factor;
    if (info->focal[1] != info->focal[0])
        camera.params[info->focal[1]] *= factor;
    return camera;
}

psfm_rng psfm_synth_rng(const psfm_plan *plan, psfm_synth_stream stream, uint64_t index) {
    return psfm_rng_make(plan->seed, PSFM_RNG_SYNTH, (uint64_t)stream, index);
}

void psfm_synth_set_pose(const double center[3], const double R[9], psfm_synth_pose *pose) {
    double minus_t[3];
    psfm_rotation_to_quat(R, pose->q);
    psfm_rotation_from_quat(pose->q, pose->R);
    psfm_mat3_mul_vec(pose->R, center, minus_t);
    psfm_scale3(-1.0, minus_t, pose->t);
    memcpy(pose->center, center, sizeof pose->center);
}

void psfm_synth_look_at(const double center[3], const double target[3], double roll,
                        psfm_synth_pose *pose) {
    const double up[3] = {0, 0, 1}, turn[3] = {0, 0, roll};
    double axes[9], rolled[9], R[9];
    psfm_sub3(target, center, axes + 6);
    psfm_normalize3(axes + 6);
    psfm_cross3(axes + 6, up, axes);
    psfm_normalize3(axes);
    psfm_cross3(axes + 6, axes, axes + 3);
    psfm_rotation_exp(turn, rolled);
    psfm_mat3_mul(rolled, axes, R);
    psfm_synth_set_pose(center, R, pose);
    memcpy(pose->view, target, sizeof pose->view);
}

void psfm_synth_draw_on_box(psfm_rng *rng, const double foot[3], const double size[3],
                            double xyz[3]) {
    double side = psfm_rng_uniform(rng), local[3];
    for (int k = 0; k < 3; ++k)
        local[k] = psfm_rng_range(rng, -0.5, 0.5);
    if (side < 0.3)
        local[0] = local[0] < 0.0 ? -0.5 : 0.5;
    else if (side < 0.6)
        local[1] = local[1] < 0.0 ? -0.5 : 0.5;
    else
        local[2] = 0.5;
    for (int k = 0; k < 2; ++k)
        xyz[k] = foot[k] + local[k] * size[k];
    xyz[2] = foot[2] + (local[2] + 0.5) * size[2];
}

/* Draws the points of the first cell. */
static void draw_cell(psfm_world *world) {
    const psfm_plan *plan = &world->plan;
    const psfm_layout *layout = plan->layout;
    psfm_rng rng = psfm_synth_rng(plan, PSFM_STREAM_POINTS, 0);
    size_t n = world->num_per_cell;
    size_t num_on_plane = n - (size_t)lround(plan->options->off_plane * (double)n);
    bool turned = plan->options->duplicates > 0.0 && !layout->duplicate_is_shift;
    for (size_t k = 0; k < n; ++k) {
        int plane = layout->draw(plan, &rng, k >= num_on_plane, world->points[k]);
        world->plane[k] = plane;
        if (!turned || k + 1 == n)
            continue;
        ++k;
        world->points[k][0] = -world->points[k - 1][0];
        world->points[k][1] = -world->points[k - 1][1];
        world->points[k][2] = world->points[k - 1][2];
        world->plane[k] = layout->swaps_planes && plane >= 2 ? plane ^ 1 : plane;
    }
}

/* Copies the first cell to the others and moves all of them to their places. */
static void repeat_cell(psfm_world *world) {
    const psfm_plan *plan = &world->plan;
    size_t n = world->num_per_cell, num_cells = world->num_points / n;
    for (size_t cell = num_cells; cell-- > 0;) {
        size_t row = cell / (size_t)plan->num_cells[0], column = cell % (size_t)plan->num_cells[0];
        double x = plan->origin[0] + plan->cell_size[0] * (double)column;
        double y = plan->origin[1] + plan->cell_size[1] * (double)row;
        for (size_t k = 0; k < n; ++k) {
            double *to = world->points[cell * n + k];
            to[0] = world->points[k][0] + x;
            to[1] = world->points[k][1] + y;
            to[2] = world->points[k][2];
            world->plane[cell * n + k] = world->plane[k];
        }
    }
}

psfm_status psfm_world_init(psfm_context *ctx, const psfm_plan *plan, psfm_world *world) {
    memset(world, 0, sizeof *world);
    world->plan = *plan;
    size_t num_cells = (size_t)plan->num_cells[0] * (size_t)plan->num_cells[1];
    world->num_per_cell = plan->num_points / num_cells;
    if (world->num_per_cell < 2 && num_cells > 1)
        world->num_per_cell = 2; /* a point and its duplicate */
    world->num_points = num_cells * world->num_per_cell;
    psfm_status status = PSFM_ALLOC(ctx, world->num_points, &world->points);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, world->num_points, &world->plane);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, plan->num_cameras, &world->poses);
    if (status != PSFM_OK) {
        psfm_world_free(world);
        return status;
    }
    draw_cell(world);
    repeat_cell(world);
    for (size_t k = 0; k < plan->num_cameras; ++k)
        plan->layout->place(plan, k, &world->poses[k]);
    return PSFM_OK;
}

void psfm_world_free(psfm_world *world) {
    free(world->points);
    free(world->plane);
    free(world->poses);
    memset(world, 0, sizeof *world);
}

uint32_t psfm_world_duplicate(const psfm_world *world, const double middle[2], uint32_t point) {
    const psfm_plan *plan = &world->plan;
    size_t k = point % world->num_per_cell, cell = point / world->num_per_cell;
    long columns = plan->num_cells[0], rows = plan->num_cells[1];
    long a = (long)cell % columns, b = (long)cell / columns;
    if (plan->layout->duplicate_is_shift) {
        ++a;
    } else {
        double A = columns > 1 ? 2.0 * (middle[0] - plan->origin[0]) / plan->cell_size[0] : 0.0;
        double B = rows > 1 ? 2.0 * (middle[1] - plan->origin[1]) / plan->cell_size[1] : 0.0;
        a = lround(A) - a;
        b = lround(B) - b;
        k ^= 1;
    }
    if (a < 0 || a >= columns || b < 0 || b >= rows || k >= world->num_per_cell)
        return PSFM_NO_INDEX;
    return (uint32_t)((size_t)(b * columns + a) * world->num_per_cell + k);
}
