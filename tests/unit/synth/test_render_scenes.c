#include "test_util.h"

#include "unit/synth/render_util.h"

#include "core/camera/camera_convert.h"
#include "core/linalg/mat3.h"
#include "synth/render_camera.h"
#include "synth/render_scenes.h"

/* Planes n . X = d of the scenes, as far as they are to be seen. */
static size_t scene_planes(int kind, double planes[6][4]) {
    const double all[7][4] = {{0, 0, 1, 0}, {0, 0, 1, 3},  {1, 0, 0, 4}, {1, 0, 0, -4},
                              {0, 1, 0, 3}, {0, 1, 0, -3}, {0, 1, 0, 0}};
    memcpy(planes, kind == PSFM_SCENE_FACADE ? all + 6 : all,
           (kind == PSFM_SCENE_ROOM ? 6 : 1) * sizeof *all);
    return kind == PSFM_SCENE_ROOM ? 6 : 1;
}

/* A photograph and how it was taken. */
typedef struct {
    psfm_image image;
    psfm_camera camera;
    psfm_synth_pose pose;
    int kind;
    double left; /* x of a border between the bays of a facade */
} view;

/* Takes image `index` of a scene, from `pose` if that is not NULL. */
static view take(psfm_context *ctx, int kind, const settings *s, size_t index,
                 const psfm_synth_pose *pose) {
    static void (*const builders[NUM_RENDERED])(const psfm_take *, psfm_stage *) = {
        psfm_stage_build_arena, psfm_stage_build_field, psfm_stage_build_room,
        psfm_stage_build_facade};
    psfm_plan plan;
    psfm_stage stage;
    view v;
    assert_ok(ctx, psfm_plan_init(ctx, (psfm_scene_kind)kind, 3, &s->scene, &plan));
    plan.layout->place(&plan, index, &v.pose);
    if (pose != NULL)
        v.pose = *pose;
    v.kind = kind;
    v.left = plan.origin[0] - 0.5 * plan.cell_size[0];
    v.camera = plan.camera;
    psfm_camera_scale(&v.camera, (uint64_t)s->render.width, (uint64_t)s->render.width * 9 / 16);
    psfm_shot shot = {.camera = &v.camera, .pose = &v.pose, .samples = 2};
    psfm_sensor_init(&shot.sensor);
    psfm_stage_init(ctx, v.pose.center, &stage);
    builders[kind](&(psfm_take){&plan, &s->render, index, &v.pose}, &stage);
    assert_ok(ctx, psfm_stage_finish(&stage));
    assert_ok(ctx, psfm_shot_take(ctx, &stage, &shot, &v.image));
    psfm_stage_free(&stage);
    return v;
}

/* Whether a place on the plane of a facade shows bricks, not what stands out of them. */
static bool is_brick(const view *v, const double xyz[3]) {
    double bays = (xyz[0] - v->left) / 4.0, along = 4.0 * (bays - floor(bays));
    return along > 0.3 && along < 2.1 && xyz[2] > 5.5 && xyz[2] < 7.6;
}

/* Where a pixel of `a` is seen in `b`, if it shows the nearest of the planes, and which that is. */
static bool transfer(const view *a, const view *b, double planes[6][4], size_t num_planes,
                     const double xy[2], double out[2], size_t *plane) {
    double ray[3], dir[3], xyz[3], nearest = HUGE_VAL;
    const double *center = a->pose.center;
    if (!psfm_camera_unproject(&a->camera, xy, ray))
        return false;
    psfm_mat3_tmul_vec(a->pose.R, ray, dir);
    for (size_t k = 0; k < num_planes; ++k) {
        double s = (planes[k][3] - psfm_dot3(planes[k], center)) / psfm_dot3(planes[k], dir);
        if (s > 0.0 && s < nearest) {
            nearest = s;
            *plane = k;
        }
    }
    if (nearest == HUGE_VAL)
        return false;
    psfm_axpy3(center, nearest, dir, xyz);
    if (a->kind == PSFM_SCENE_FACADE && !is_brick(a, xyz))
        return false;
    psfm_mat3_mul_vec(b->pose.R, xyz, ray);
    psfm_axpy3(ray, 1.0, b->pose.t, ray);
    return psfm_camera_project(&b->camera, ray, out);
}

#define HALF 7

/* How far the image b, warped to a by the truth, is off around the pixel (x, y): one Gauss-Newton
 * step for a shift, after the means. False where they do not agree, i.e. something stands there,
 * or the patch is not on one plane. */
static bool residual_shift(const view *a, const view *b, double planes[6][4], size_t num_planes,
                           int x, int y, double shift[2], size_t *plane) {
    enum { SIDE = 2 * HALF + 3 };
    double warped[SIDE][SIDE], target[SIDE][SIDE], mean[2] = {0};
    for (int j = 0; j < SIDE; ++j) {
        for (int i = 0; i < SIDE; ++i) {
            const double xy[2] = {x + i - HALF - 0.5, y + j - HALF - 0.5};
            double there[2];
            size_t own = 0;
            if (!transfer(a, b, planes, num_planes, xy, there, &own) ||
                !gray_at(&b->image, there, &warped[j][i]) || !gray_at(&a->image, xy, &target[j][i]))
                return false;
            if (i + j == 0)
                *plane = own;
            if (own != *plane)
                return false;
            mean[0] += warped[j][i] / (SIDE * SIDE);
            mean[1] += target[j][i] / (SIDE * SIDE);
        }
    }
    double A[3] = {0}, r[2] = {0}, ww = 0, tt = 0, wt = 0;
    for (int j = 1; j < SIDE - 1; ++j) {
        for (int i = 1; i < SIDE - 1; ++i) {
            double w = warped[j][i] - mean[0], t = target[j][i] - mean[1];
            double gx = 0.5 * (warped[j][i + 1] - warped[j][i - 1]);
            double gy = 0.5 * (warped[j + 1][i] - warped[j - 1][i]);
            ww += w * w;
            tt += t * t;
            wt += w * t;
            A[0] += gx * gx;
            A[1] += gx * gy;
            A[2] += gy * gy;
            r[0] += gx * (t - w);
            r[1] += gy * (t - w);
        }
    }
    double det = A[0] * A[2] - A[1] * A[1], trace = A[0] + A[2];
    if (wt < 0.9 * sqrt(ww * tt) || tt < 16.0 * SIDE * SIDE || det < 0.02 * trace * trace)
        return false;
    shift[0] = (A[2] * r[0] - A[1] * r[1]) / det;
    shift[1] = (A[0] * r[1] - A[1] * r[0]) / det;
    return true;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The planes are where the truth has them: two neighbouring images agree under the homography of
 * the plane, patch by patch, without a shift in the middle. */
static void planes_are_where_the_truth_has_them(void **state) {
    psfm_context *ctx = *state;
    static const int models[NUM_RENDERED] = {PSFM_CAMERA_PINHOLE, PSFM_CAMERA_RADIAL,
                                             PSFM_CAMERA_OPENCV, PSFM_CAMERA_SIMPLE_RADIAL};
    static double shifts[6][2][3000];
    for (int kind = 0; kind < NUM_RENDERED; ++kind) {
        settings s = plain_settings(46, 480);
        double planes[6][4];
        size_t num_planes = scene_planes(kind, planes), n[6] = {0}, num_checked = 0;
        s.scene.camera_model = models[kind];
        view a = take(ctx, kind, &s, 0, NULL), b = take(ctx, kind, &s, 1, NULL);
        for (int y = 12; y < 258; y += 8) {
            for (int x = 12; x < 468; x += 8) {
                double shift[2];
                size_t plane = 0;
                if (!residual_shift(&a, &b, planes, num_planes, x, y, shift, &plane))
                    continue;
                shifts[plane][0][n[plane]] = shift[0];
                shifts[plane][1][n[plane]++] = shift[1];
            }
        }
        for (size_t k = 0; k < num_planes; ++k) {
            for (int c = 0; c < 2 && n[k] > 20; ++c) {
                qsort(shifts[k][c], n[k], sizeof(double), compare_doubles);
                assert_close(shifts[k][c][n[k] / 2], 0.0, 0.03);
            }
            num_checked += n[k] > 20;
        }
        assert_true(n[0] > (kind == PSFM_SCENE_FACADE ? 20u : 100u));
        assert_true(num_checked >= (kind == PSFM_SCENE_ROOM ? 3u : 1u));
        psfm_image_free(&a.image);
        psfm_image_free(&b.image);
    }
}

/* Mean difference of two images in grey levels. */
static double difference(const psfm_image *a, const psfm_image *b) {
    size_t n = (size_t)a->width * (size_t)a->height;
    double sum = 0.0;
    assert_true(a->width == b->width && a->height == b->height);
    for (size_t k = 0; k < n; ++k)
        sum += abs((int)a->gray[k] - (int)b->gray[k]);
    return sum / (double)n;
}

/* The camera as the scene's duplicate has it: turned by 180 degrees about (x, y), or moved by one
 * bay.
 */
static psfm_synth_pose duplicate_pose(const psfm_synth_pose *pose, bool is_shift,
                                      const double about[2]) {
    psfm_synth_pose duplicate = *pose;
    double R[9], center[3] = {pose->center[0] + 4.0, pose->center[1], pose->center[2]};
    memcpy(R, pose->R, sizeof R);
    for (int k = 0; k < 2 && !is_shift; ++k) {
        center[k] = 2.0 * about[k] - pose->center[k];
        for (int row = 0; row < 3; ++row)
            R[3 * row + k] = -R[3 * row + k];
    }
    psfm_synth_set_pose(center, R, &duplicate);
    duplicate.view[0] = is_shift ? pose->view[0] + 4.0 : 2.0 * about[0] - pose->view[0];
    duplicate.view[1] = is_shift ? pose->view[1] : 2.0 * about[1] - pose->view[1];
    return duplicate;
}

/* With duplicates a scene looks the same from a camera and its duplicate; without, it does not. */
static void duplicates_look_alike(void **state) {
    psfm_context *ctx = *state;
    for (int kind = 0; kind < NUM_RENDERED; ++kind) {
        for (int has_duplicate = 0; has_duplicate < 2; ++has_duplicate) {
            settings s = plain_settings(46, 128);
            psfm_plan plan;
            s.scene.duplicates = 0.2 * has_duplicate;
            s.render.num_players = 0;
            assert_ok(ctx, psfm_plan_init(ctx, (psfm_scene_kind)kind, 3, &s.scene, &plan));
            view a = take(ctx, kind, &s, 5, NULL);
            /* half-way between two cells of a field, else the origin */
            const double about[2] = {
                plan.num_cells[0] > 1 ? plan.origin[0] + 1.5 * plan.cell_size[0] : 0.0,
                plan.num_cells[0] > 1 ? plan.origin[1] + plan.cell_size[1] : 0.0};
            psfm_synth_pose pose = duplicate_pose(&a.pose, kind == PSFM_SCENE_FACADE, about);
            view b = take(ctx, kind, &s, 5, &pose);
            if (has_duplicate == 1)
                assert_below(difference(&a.image, &b.image), 0.2);
            else
                assert_true(difference(&a.image, &b.image) > 8.0);
            psfm_image_free(&a.image);
            psfm_image_free(&b.image);
        }
    }
}

/* Players stand still, or move from image to image, and can be left out. */
static void players_move_if_asked(void **state) {
    psfm_context *ctx = *state;
    double changed[4];
    settings s = plain_settings(46, 128);
    view base = take(ctx, PSFM_SCENE_ARENA, &s, 0, NULL);
    s.render.num_players = 0;
    view empty = take(ctx, PSFM_SCENE_ARENA, &s, 0, NULL);
    s.render.num_players = 12;
    const double moving[4] = {0.0, 0.25, 0.5, 1.0};
    for (int k = 0; k < 4; ++k) {
        s.render.moving = moving[k];
        view next = take(ctx, PSFM_SCENE_ARENA, &s, 1, &base.pose);
        changed[k] = difference(&base.image, &next.image);
        psfm_image_free(&next.image);
    }
    assert_true(difference(&base.image, &empty.image) > 0.3);
    assert_below(changed[0], 0.1);
    assert_true(changed[0] < changed[1] && changed[1] < changed[2] && changed[2] < changed[3]);
    psfm_image_free(&base.image);
    psfm_image_free(&empty.image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_are_where_the_truth_has_them),
        cmocka_unit_test(duplicates_look_alike),
        cmocka_unit_test(players_move_if_asked),
    };
    return cmocka_run_group_tests_name("synth/render_scenes", tests, setup, teardown);
}
