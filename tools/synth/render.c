/* Rendering a scene: image by image (parallel), each with a stage of its own, because what stands
 * in the scene may depend on the image (players that move). Exposure, white balance and noise come
 * from the seed and the number of the image. The truth is the planned poses with the camera scaled
 * to the rendered size. */
#include "synth/render.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/output.h"
#include "core/base/parallel.h"
#include "core/base/path.h"
#include "core/camera/camera_convert.h"
#include "images/image/image_list.h"
#include "synth/observe.h"
#include "synth/render_camera.h"
#include "synth/render_floor.h"
#include "synth/render_scenes.h"

static const psfm_option rows[] = {
    PSFM_OPTION_INT(psfm_render_options, width, "width", 1280, 32, 16000,
                    "width of the images; the height is 9/16 of it, and intrinsics are scaled"),
    PSFM_OPTION_INT(psfm_render_options, samples, "samples", 2, 2, 64,
                    "n samples a pixel, and (3n / 2)^2 more at edges"),
    PSFM_OPTION_DOUBLE(psfm_render_options, noise, "noise", 2, 0, 100,
                       "standard deviation of the sensor noise, in grey levels"),
    PSFM_OPTION_DOUBLE(psfm_render_options, exposure, "exposure", 0.3, 0, 5,
                       "exposures differ by up to so many stops either way"),
    PSFM_OPTION_DOUBLE(psfm_render_options, white_balance, "white-balance", 0.05, 0, 0.9,
                       "red and blue differ by up to this share either way"),
    PSFM_OPTION_DOUBLE(psfm_render_options, vignetting, "vignetting", 0.12, 0, 1,
                       "share of the light that is missing in the corners"),
    PSFM_OPTION_DOUBLE(psfm_render_options, gloss, "gloss", 0.4, 0, 1,
                       "share of the mirror image in the floor of an arena at a grazing angle"),
    PSFM_OPTION_INT(psfm_render_options, num_players, "players", 12, 0, 1000,
                    "players on the court of an arena"),
    PSFM_OPTION_DOUBLE(psfm_render_options, moving, "moving", 0, 0, 1,
                       "share of the players who stand elsewhere in every image"),
    PSFM_OPTION_CHOICE(psfm_render_options, game, "game", PSFM_GAME_BASKETBALL, psfm_game_names,
                       "whose lines are on the floor of an arena; all but basketball on bare wood"),
    PSFM_OPTION_DOUBLE(psfm_render_options, people, "people", 0, 0, 0.6,
                       "share of the lines in view that people hide, who stand elsewhere in every "
                       "image of an arena"),
    PSFM_OPTION_DOUBLE(psfm_render_options, wear, "wear", 0, 0, 1,
                       "share of the lines' paint that is gone; the rest has faded"),
    PSFM_OPTION_DOUBLE(psfm_render_options, glare, "glare", 0, 0, 1,
                       "strength of the lamps' patches on the floor; 1: they are white"),
    PSFM_OPTION_INT(psfm_render_options, num_other_games, "other-games", 0, 0, PSFM_MAX_OTHER_GAMES,
                    "games whose lines are on the floor as well: volleyball, badminton, handball, "
                    "futsal"),
    PSFM_OPTION_INT(psfm_render_options, num_advertisements, "advertisements", 0, 0, 100,
                    "signs painted on the floor"),
    PSFM_OPTION_INT(psfm_render_options, jpeg_quality, "jpeg-quality", 92, 1, 100,
                    "quality of the JPEG files"),
};

const psfm_option_table psfm_render_option_table = PSFM_OPTION_TABLE("render", rows);

typedef void (*build_fn)(const psfm_take *take, psfm_stage *stage);

static const build_fn builders[] = {
    [PSFM_SCENE_ARENA] = psfm_stage_build_arena,
    [PSFM_SCENE_FIELD] = psfm_stage_build_field,
    [PSFM_SCENE_ROOM] = psfm_stage_build_room,
    [PSFM_SCENE_FACADE] = psfm_stage_build_facade,
    [PSFM_SCENE_GENERAL] = NULL,
    [PSFM_SCENE_TURNTABLE] = psfm_stage_build_turntable,
    [PSFM_SCENE_STATUE] = psfm_stage_build_statue,
    [PSFM_SCENE_BOARD] = psfm_stage_build_board,
    [PSFM_SCENE_MUG] = psfm_stage_build_mug,
    [PSFM_SCENE_CITY] = NULL,
};

uint32_t psfm_paint_seed(const psfm_plan *plan, uint64_t part) {
    psfm_rng rng = psfm_synth_rng(plan, PSFM_STREAM_PAINT, part);
    return (uint32_t)psfm_rng_next(&rng);
}

/* What all images have in common. */
typedef struct {
    psfm_plan plan;
    const psfm_render_options *options;
    build_fn build;
    const char *folder; /* for the images */
} rendering;

static void init_sensor(const rendering *r, size_t image, psfm_sensor *sensor) {
    const psfm_render_options *options = r->options;
    psfm_rng rng = psfm_synth_rng(&r->plan, PSFM_STREAM_EXPOSURE, image);
    psfm_sensor_init(sensor);
    sensor->noise = options->noise;
    sensor->vignetting = options->vignetting;
    sensor->seed = r->plan.seed;
    sensor->image = image;
    double gain = exp2(options->exposure * psfm_rng_range(&rng, -1.0, 1.0));
    for (int k = 0; k < 3; ++k)
        sensor->gain[k] = gain;
    sensor->gain[0] *= 1.0 + options->white_balance * psfm_rng_range(&rng, -1.0, 1.0);
    sensor->gain[2] *= 1.0 + options->white_balance * psfm_rng_range(&rng, -1.0, 1.0);
}

/* The camera of an image, of the size that is rendered. */
static psfm_camera camera_of(const rendering *r, size_t image) {
    psfm_camera camera = psfm_plan_camera(&r->plan, image);
    uint64_t width = (uint64_t)r->options->width;
    psfm_camera_scale(&camera, width, (width * camera.height + camera.width / 2) / camera.width);
    return camera;
}

static psfm_status render_image(psfm_context *ctx, size_t index, int worker, void *user) {
    const rendering *r = user;
    (void)worker;
    psfm_synth_pose pose;
    psfm_stage stage;
    psfm_image image = {0};
    char *name = NULL, *path = NULL;
    r->plan.layout->place(&r->plan, index, &pose);
    const psfm_camera camera = camera_of(r, index);
    psfm_shot shot = {.camera = &camera, .pose = &pose, .samples = r->options->samples};
    init_sensor(r, index, &shot.sensor);
    psfm_stage_init(ctx, pose.center, &stage);
    r->build(&(psfm_take){&r->plan, r->options, index, &pose}, &stage);
    psfm_status status = psfm_stage_finish(&stage);
    if (status == PSFM_OK)
        status = psfm_shot_take(ctx, &stage, &shot, &image);
    if (status == PSFM_OK)
        status = psfm_synth_image_name(ctx, index, &name);
    if (status == PSFM_OK)
        status = psfm_path_join(ctx, r->folder, name, &path);
    if (status == PSFM_OK)
        status = psfm_image_write(ctx, &image, r->options->jpeg_quality, path);
    psfm_stage_free(&stage);
    psfm_image_free(&image);
    free(name);
    free(path);
    return status;
}

/* The true model: the cameras, a pose per image. */
static psfm_status make_truth(psfm_context *ctx, const rendering *r, psfm_model *model) {
    size_t num_cameras = psfm_plan_num_cameras(&r->plan);
    psfm_status status = PSFM_ALLOC(ctx, num_cameras, &model->cameras);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, r->plan.num_cameras, &model->images);
    if (status != PSFM_OK)
        return status;
    model->num_images = r->plan.num_cameras;
    model->num_cameras = num_cameras;
    for (size_t k = 0; k < num_cameras; ++k)
        model->cameras[k] = camera_of(r, k);
    for (size_t k = 0; k < model->num_images && status == PSFM_OK; ++k) {
        psfm_model_image *image = &model->images[k];
        psfm_synth_pose pose;
        r->plan.layout->place(&r->plan, k, &pose);
        image->id = (uint32_t)k + 1;
        image->camera_id = psfm_plan_camera(&r->plan, k).id;
        memcpy(image->cam_from_world_q, pose.q, sizeof pose.q);
        memcpy(image->cam_from_world_t, pose.t, sizeof pose.t);
        status = psfm_synth_image_name(ctx, k, &image->name);
    }
    return status;
}

/* Whether a file is of the kind that psfm_scene_render writes: cam_ and at least four digits. */
static bool is_rendered_name(const char *name) {
    if (strncmp(name, "cam_", 4) != 0)
        return false;
    size_t digits = strspn(name + 4, "0123456789");
    return digits >= 4 && strcmp(name + 4 + digits, ".jpg") == 0;
}

/* Refuses a folder that holds other people's files, since it is going to be replaced. */
static psfm_status check_folder(psfm_context *ctx, const char *images) {
    psfm_image_list list = {0};
    if (!psfm_path_is_folder(images))
        return PSFM_OK;
    psfm_status status = psfm_image_list_folder(ctx, images, &list);
    const char *strange = status == PSFM_OK && list.num_others > 0 ? list.others[0] : NULL;
    for (size_t k = 0; k < list.num && strange == NULL; ++k)
        if (!is_rendered_name(list.names[k]))
            strange = list.names[k];
    if (status == PSFM_OK && strange != NULL)
        status = psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                           "%s holds %s, which is not an image of a rendered scene: choose another "
                           "folder",
                           images, strange);
    psfm_image_list_free(&list);
    return status;
}

static psfm_status write_all(psfm_context *ctx, rendering *r, const char *folder) {
    char *images = NULL, *truth = NULL, *unfinished = NULL;
    psfm_model model = {0};
    psfm_status status = psfm_path_join(ctx, folder, "images", &images);
    if (status == PSFM_OK)
        status = psfm_path_join(ctx, folder, "gt", &truth);
    if (status == PSFM_OK)
        status = check_folder(ctx, images);
    if (status == PSFM_OK)
        status = make_truth(ctx, r, &model);
    if (status == PSFM_OK)
        status = psfm_output_folder_open(ctx, images, &unfinished);
    if (status == PSFM_OK) {
        r->folder = unfinished;
        status = psfm_parallel_for(ctx, "render", r->plan.num_cameras, render_image, r);
    }
    if (status == PSFM_OK)
        status = psfm_model_write(ctx, &model, PSFM_MODEL_TEXT, truth);
    if (status == PSFM_OK)
        status = psfm_output_folder_commit(ctx, images, &unfinished);
    psfm_output_folder_abort(&unfinished);
    psfm_model_free(&model);
    free(images);
    free(truth);
    return status;
}

psfm_status psfm_scene_render(psfm_context *ctx, psfm_scene_kind kind, uint64_t seed,
                              const psfm_scene_options *scene, const psfm_render_options *render,
                              const char *folder) {
    psfm_scene_options scene_defaults;
    psfm_render_options render_defaults;
    psfm_options_init(&psfm_scene_option_table, &scene_defaults);
    psfm_options_init(&psfm_render_option_table, &render_defaults);
    rendering r = {.options = render == NULL ? &render_defaults : render};
    psfm_status status =
        psfm_plan_init(ctx, kind, seed, scene == NULL ? &scene_defaults : scene, &r.plan);
    if (status == PSFM_OK)
        status = psfm_options_check(ctx, &psfm_render_option_table, r.options);
    if (status != PSFM_OK)
        return status;
    r.build = builders[kind];
    if (r.build == NULL)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                         "a %s scene is points without surfaces and cannot be rendered",
                         psfm_scene_kind_name(kind));
    return write_all(ctx, &r, folder);
}
