/* Putting solids, light and shadows on a stage. A failed allocation is kept in the stage and found
 * once, when it is finished; the builders of scenes need no checks. */
#include "synth/render_stage.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/mat3.h"

void psfm_stage_init(psfm_context *ctx, const double base[3], psfm_stage *stage) {
    memset(stage, 0, sizeof *stage);
    stage->ctx = ctx;
    memcpy(stage->base, base, sizeof stage->base);
}

void psfm_stage_free(psfm_stage *stage) {
    free(stage->solids);
    free(stage->nodes);
    free(stage->shadows);
    memset(stage, 0, sizeof *stage);
}

static void append_solid(psfm_stage *stage, const psfm_solid *solid) {
    if (stage->status == PSFM_OK)
        stage->status =
            PSFM_RESERVE(stage->ctx, &stage->solids, &stage->capacity, stage->num_solids + 1);
    if (stage->status == PSFM_OK)
        stage->solids[stage->num_solids++] = *solid;
}

static void turn_solid(psfm_solid *solid, const double about[2]) {
    for (int k = 0; k < 2; ++k) {
        solid->origin[k] = 2.0 * about[k] - solid->origin[k];
        for (int a = 0; a < 3; ++a)
            solid->axes[3 * a + k] = -solid->axes[3 * a + k];
    }
}

void psfm_stage_turn(psfm_stage *stage, size_t first, const double about[2]) {
    for (size_t k = first; k < stage->num_solids; ++k)
        turn_solid(&stage->solids[k], about);
}

void psfm_stage_add(psfm_stage *stage, const psfm_solid *solid) {
    static const double middle[2] = {0.0, 0.0};
    append_solid(stage, solid);
    if (!stage->is_turned)
        return;
    psfm_solid copy = *solid;
    turn_solid(&copy, middle);
    append_solid(stage, &copy);
}

void psfm_stage_rect(psfm_stage *stage, const double corner[3], const double right[3],
                     const double up[3], const psfm_coat *coat) {
    psfm_solid solid = {.kind = PSFM_RECT, .coat = *coat};
    memcpy(solid.origin, corner, sizeof solid.origin);
    memcpy(solid.axes, right, 3 * sizeof *right);
    memcpy(solid.axes + 3, up, 3 * sizeof *up);
    solid.size[0] = psfm_normalize3(solid.axes);
    solid.size[1] = psfm_normalize3(solid.axes + 3);
    psfm_cross3(solid.axes, solid.axes + 3, solid.axes + 6);
    psfm_stage_add(stage, &solid);
}

void psfm_stage_box(psfm_stage *stage, const double foot[3], const double size[3], double yaw,
                    const psfm_coat *coat) {
    double c = cos(yaw), s = sin(yaw);
    psfm_solid solid = {.kind = PSFM_BOX,
                        .origin = {foot[0], foot[1], foot[2] + 0.5 * size[2]},
                        .axes = {c, s, 0, -s, c, 0, 0, 0, 1},
                        .size = {0.5 * size[0], 0.5 * size[1], 0.5 * size[2]},
                        .coat = *coat};
    psfm_stage_add(stage, &solid);
}

void psfm_stage_ellipsoid(psfm_stage *stage, const double center[3], const double radii[3],
                          const psfm_coat *coat) {
    psfm_solid solid = {.kind = PSFM_ELLIPSOID, .axes = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .coat = *coat};
    memcpy(solid.origin, center, sizeof solid.origin);
    memcpy(solid.size, radii, sizeof solid.size);
    psfm_stage_add(stage, &solid);
}

void psfm_stage_capsule(psfm_stage *stage, const double from[3], const double to[3], double radius,
                        const psfm_coat *coat) {
    psfm_solid solid = {.kind = PSFM_CAPSULE, .coat = *coat};
    double *axis = solid.axes + 6, *across = solid.axes;
    psfm_sub3(to, from, axis);
    psfm_axpy3(from, 0.5, axis, solid.origin);
    double length = psfm_normalize3(axis);
    if (length == 0.0)
        axis[2] = 1.0;
    double helper[3] = {0, 0, 0};
    helper[fabs(axis[2]) < 0.9 ? 2 : 0] = 1.0;
    psfm_cross3(helper, axis, across);
    psfm_normalize3(across);
    psfm_cross3(axis, across, solid.axes + 3);
    solid.size[0] = solid.size[1] = radius;
    solid.size[2] = 0.5 * length;
    psfm_stage_add(stage, &solid);
}

void psfm_stage_cylinder(psfm_stage *stage, const double foot[3], double radius, double height,
                         const psfm_coat *coat) {
    psfm_solid solid = {.kind = PSFM_CYLINDER,
                        .origin = {foot[0], foot[1], foot[2] + 0.5 * height},
                        .axes = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                        .size = {radius, radius, 0.5 * height},
                        .coat = *coat};
    psfm_stage_add(stage, &solid);
}

void psfm_stage_shadow(psfm_stage *stage, const psfm_foot_shadow *shadow) {
    size_t need = stage->num_shadows + 2;
    if (stage->status == PSFM_OK)
        stage->status = PSFM_RESERVE(stage->ctx, &stage->shadows, &stage->shadows_capacity, need);
    if (stage->status != PSFM_OK)
        return;
    stage->shadows[stage->num_shadows++] = *shadow;
    if (stage->is_turned) {
        psfm_foot_shadow *copy = &stage->shadows[stage->num_shadows++];
        *copy = *shadow;
        copy->center[0] = -copy->center[0];
        copy->center[1] = -copy->center[1];
    }
}

bool psfm_stage_keeps(const psfm_stage *stage, double x, double y) {
    if (!stage->is_turned)
        return true;
    return y > 1e-6 || (y > -1e-6 && x > 0.0);
}

void psfm_stage_raise_sun(psfm_stage *stage) {
    stage->light.sun[0] = stage->light.sun[1] = 0.0;
    stage->light.sun[2] = 1.0;
}

double psfm_stage_foot_light(const psfm_stage *stage, double x, double y) {
    double light = 1.0;
    for (size_t k = 0; k < stage->num_shadows; ++k) {
        const psfm_foot_shadow *shadow = &stage->shadows[k];
        double dx = psfm_max(fabs(x - shadow->center[0]) - shadow->half[0], 0.0);
        double dy = psfm_max(fabs(y - shadow->center[1]) - shadow->half[1], 0.0);
        double square = dx * dx + dy * dy, reach2 = shadow->reach * shadow->reach;
        if (square >= reach2)
            continue;
        double near = 1.0 - square / reach2;
        light *= 1.0 - shadow->strength * near * near;
    }
    return light;
}
