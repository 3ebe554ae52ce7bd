/* Synthetic scenes of points and matches. A layout (arena.c, field.c, room.c, facade.c, general.c,
 * city.c)
 * says where points and cameras are; the rest is the same for all: points are seen (observe.c),
 * pairs are matched with misses, wrong matches and duplicates (pairs.c), and the truth is written
 * down (truth.c). Every random draw has a stream of its own, so that one option does not change
 * what another draws. */
#include "synth/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/camera/camera_model.h"
#include "synth/observe.h"

#define NUM_LAYOUTS 10

static const psfm_option rows[] = {
    PSFM_OPTION_INT(psfm_scene_options, num_cameras, "cameras", 46, 1, 100000, "number of images"),
    PSFM_OPTION_INT(psfm_scene_options, num_points, "points", 0, 0, 50000000,
                    "points in the whole scene; 0 lets the scene choose so that an image shows "
                    "some hundreds"),
    PSFM_OPTION_DOUBLE(psfm_scene_options, noise_px, "noise-px", 0.7, 0, 100,
                       "standard deviation of the keypoints per coordinate, in pixels"),
    PSFM_OPTION_DOUBLE(psfm_scene_options, outliers, "outliers", 0.2, 0, 1,
                       "share of each pair's matches that join a wrong keypoint"),
    PSFM_OPTION_DOUBLE(psfm_scene_options, off_plane, "off-plane", 0, 0, 1,
                       "share of the points off the main planes: stands, huts, furniture, "
                       "balconies"),
    PSFM_OPTION_DOUBLE(
        psfm_scene_options, duplicates, "duplicates", 0, 0, 1,
        "share of the pairs that are matched to the scene's duplicate: the scene turned "
        "by 180 degrees, or the next bay of a facade"),
    PSFM_OPTION_INT(psfm_scene_options, neighbours, "neighbours", 2, 1, 1000,
                    "each image is matched with so many on either side, in the order of the ring "
                    "or chain, or with those so many steps away in a grid or a city"),
    PSFM_OPTION_BOOL(psfm_scene_options, open_chain, "open-chain", 0,
                     "do not close the ring; fields and facades are always open"),
    PSFM_OPTION_DOUBLE(psfm_scene_options, miss, "miss", 0.3, 0, 1,
                       "share of the common points that a pair fails to match"),
    PSFM_OPTION_CHOICE(psfm_scene_options, camera_model, "camera-model", PSFM_CAMERA_PINHOLE,
                       psfm_camera_model_names,
                       "camera model, with moderate distortion where it has some"),
    PSFM_OPTION_DOUBLE(psfm_scene_options, focal_px, "focal-px", 1200, 100, 100000,
                       "focal length in pixels; images are 1280 x 720 (a turntable takes four "
                       "times as much, a city half)"),
    PSFM_OPTION_DOUBLE(psfm_scene_options, focal_spread, "focal-spread", 1, 1, 10,
                       "each image has a camera of its own, whose focal length differs from the "
                       "scene's by a factor of up to this; 1: one camera for all (a statue: at "
                       "least 1.5)"),
    PSFM_OPTION_DOUBLE(psfm_scene_options, oblique_deg, "oblique-deg", 0, 0, 60,
                       "fields: angle between the view and straight down, in degrees"),
};

const psfm_option_table psfm_scene_option_table = PSFM_OPTION_TABLE("", rows);

static const psfm_layout *const layouts[NUM_LAYOUTS] = {
    [PSFM_SCENE_ARENA] = &psfm_layout_arena,     [PSFM_SCENE_FIELD] = &psfm_layout_field,
    [PSFM_SCENE_ROOM] = &psfm_layout_room,       [PSFM_SCENE_FACADE] = &psfm_layout_facade,
    [PSFM_SCENE_GENERAL] = &psfm_layout_general, [PSFM_SCENE_TURNTABLE] = &psfm_layout_turntable,
    [PSFM_SCENE_STATUE] = &psfm_layout_statue,   [PSFM_SCENE_BOARD] = &psfm_layout_board,
    [PSFM_SCENE_MUG] = &psfm_layout_mug,         [PSFM_SCENE_CITY] = &psfm_layout_city,
};

const char *psfm_scene_kind_name(psfm_scene_kind kind) {
    return (size_t)kind < NUM_LAYOUTS ? layouts[kind]->name : NULL;
}

bool psfm_scene_kind_from_name(const char *name, psfm_scene_kind *kind) {
    for (size_t k = 0; k < NUM_LAYOUTS; ++k) {
        if (name != NULL && strcmp(layouts[k]->name, name) == 0) {
            *kind = (psfm_scene_kind)k;
            return true;
        }
    }
    return false;
}

/* A 1280 x 720 camera of the model with the distortion of an ordinary lens. */
static psfm_camera make_camera(const psfm_scene_options *options, double focal_px) {
    static const double coefficients[PSFM_NUM_CAMERA_MODELS][12] = {
        [PSFM_CAMERA_SIMPLE_RADIAL] = {-0.1},
        [PSFM_CAMERA_RADIAL] = {-0.15, 0.05},
        [PSFM_CAMERA_OPENCV] = {-0.15, 0.05, 8e-4, -6e-4},
        [PSFM_CAMERA_OPENCV_FISHEYE] = {0.03, -0.02, 0.01, -0.002},
        [PSFM_CAMERA_FULL_OPENCV] = {-0.12, 0.06, 8e-4, -6e-4, 0.01, 0.03, 0.02, 0.005},
        [PSFM_CAMERA_FOV] = {0.9},
        [PSFM_CAMERA_SIMPLE_RADIAL_FISHEYE] = {0.03},
        [PSFM_CAMERA_RADIAL_FISHEYE] = {0.03, -0.02},
        [PSFM_CAMERA_THIN_PRISM_FISHEYE] = {0.03, -0.02, 8e-4, -6e-4, 0.01, -0.002, 5e-4, -4e-4},
        [PSFM_CAMERA_RAD_TAN_THIN_PRISM_FISHEYE] = {0.03, -0.02, 0.01, -0.002, 1e-3, -2e-4, 8e-4,
                                                    -6e-4, 5e-4, 2e-4, -4e-4, 1e-4},
        [PSFM_CAMERA_SIMPLE_DIVISION] = {-0.1},
        [PSFM_CAMERA_DIVISION] = {-0.1},
        [PSFM_CAMERA_EUCM] = {0.5, 1.1},
    };
    psfm_camera camera = {.id = 1,
                          .model = (psfm_camera_model)options->camera_model,
                          .width = 1280,
                          .height = 720,
                          .has_prior_focal_length = true};
    const psfm_camera_model_info *info = psfm_camera_model_get(camera.model);
    camera.params[info->focal[0]] = camera.params[info->focal[1]] = focal_px;
    camera.params[info->center[0]] = 640.0;
    camera.params[info->center[1]] = 360.0;
    int first = info->center[1] + 1;
    for (int k = first; k < info->num_params; ++k)
        camera.params[k] = coefficients[camera.model][k - first];
    return camera;
}

/* Fills the match set from what was seen; takes the keypoints out of the seen. */
static psfm_status make_views(psfm_context *ctx, const psfm_world *world, psfm_synth_view *seen,
                              psfm_match_set *set) {
    size_t num_cameras = psfm_plan_num_cameras(&world->plan);
    psfm_status status = PSFM_ALLOC(ctx, num_cameras, &set->cameras);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, world->plan.num_cameras, &set->views);
    if (status != PSFM_OK)
        return status;
    set->num_cameras = num_cameras;
    for (size_t k = 0; k < num_cameras; ++k)
        set->cameras[k] = psfm_plan_camera(&world->plan, k);
    set->num_views = world->plan.num_cameras;
    for (size_t k = 0; k < set->num_views && status == PSFM_OK; ++k) {
        psfm_view *view = &set->views[k];
        view->id = (uint32_t)k + 1;
        view->camera_idx = num_cameras > 1 ? (uint32_t)k : 0;
        view->num_keypoints = seen[k].num;
        view->keypoints = seen[k].xy;
        seen[k].xy = NULL;
        status = psfm_synth_image_name(ctx, k, &view->name);
    }
    return status;
}

/* Everything after the world is made. */
static psfm_status observe_world(psfm_context *ctx, const psfm_world *world, psfm_scene *scene) {
    psfm_synth_view *seen = NULL;
    psfm_match_set *set = &scene->matches;
    size_t n = world->plan.num_cameras;
    psfm_status status = PSFM_ALLOC(ctx, n, &seen);
    if (status == PSFM_OK)
        status = psfm_synth_views_make(ctx, world, seen);
    if (status == PSFM_OK)
        status = psfm_synth_list_pairs(ctx, &world->plan, &set->pairs, &set->num_pairs);
    if (status == PSFM_OK)
        status = psfm_synth_match(ctx, world, seen, set->pairs, set->num_pairs,
                                  &scene->pair_is_duplicate);
    if (status == PSFM_OK)
        status = psfm_synth_truth(ctx, world, seen, &scene->truth, &scene->point_plane);
    if (status == PSFM_OK)
        status = make_views(ctx, world, seen, set);
    if (status == PSFM_OK)
        status = psfm_match_set_compute_rays(ctx, set, NULL);
    psfm_synth_views_free(seen, n);
    return status;
}

psfm_status psfm_plan_init(psfm_context *ctx, psfm_scene_kind kind, uint64_t seed,
                           const psfm_scene_options *options, psfm_plan *plan) {
    if ((size_t)kind >= NUM_LAYOUTS)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%d is not a kind of scene", (int)kind);
    psfm_status status = psfm_options_check(ctx, &psfm_scene_option_table, options);
    if (status != PSFM_OK)
        return status;
    const psfm_layout *layout = layouts[kind];
    double zoom = layout->zoom > 0.0 ? layout->zoom : 1.0;
    *plan = (psfm_plan){.layout = layout,
                        .options = options,
                        .seed = seed,
                        .focal_px = zoom * options->focal_px,
                        .focal_spread = fmax(options->focal_spread, layout->focal_spread),
                        .camera = make_camera(options, zoom * options->focal_px),
                        .num_cameras = (size_t)options->num_cameras,
                        .num_points = (size_t)options->num_points};
    plan->layout->measure(plan);
    return psfm_camera_check_lens(ctx, &plan->camera);
}

psfm_status psfm_scene_make(psfm_context *ctx, psfm_scene_kind kind, uint64_t seed,
                            const psfm_scene_options *options, psfm_scene *scene) {
    psfm_scene_options defaults;
    psfm_plan plan;
    psfm_world world = {0};
    memset(scene, 0, sizeof *scene);
    psfm_options_init(&psfm_scene_option_table, &defaults);
    psfm_status status =
        psfm_plan_init(ctx, kind, seed, options == NULL ? &defaults : options, &plan);
    if (status == PSFM_OK && plan.layout->draw == NULL)
        status = psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                           "a %s hides its own points: there are photographs of it, no matches",
                           plan.layout->name);
    if (status == PSFM_OK)
        status = psfm_world_init(ctx, &plan, &world);
    if (status == PSFM_OK)
        status = observe_world(ctx, &world, scene);
    psfm_world_free(&world);
    if (status != PSFM_OK)
        psfm_scene_free(scene);
    return status;
}

void psfm_scene_free(psfm_scene *scene) {
    psfm_match_set_free(&scene->matches);
    psfm_model_free(&scene->truth);
    free(scene->pair_is_duplicate);
    free(scene->point_plane);
    memset(scene, 0, sizeof *scene);
}
