/* The two lists, and setting by name. */
#include "sfm/registry.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/number_locale.h"
#include "core/base/path.h"

#define AT(member) offsetof(psfm_run_options, member)
#define OF_NETWORK(kind, name)                                                         \
    {                                                                                  \
        &psfm_##name##_option_table, AT(folder.detector.neural[PSFM_FEATURES_##kind]), \
            PSFM_OF_FEATURES                                                           \
    }
#define OF_POSES(member) offsetof(psfm_run_options, settings.options.member), PSFM_OF_POSES

const psfm_option_group psfm_run_groups[] = {
    {&psfm_feature_option_table, AT(folder.detector), PSFM_OF_FEATURES},
    PSFM_NEURAL_DETECTORS(OF_NETWORK),
    {&psfm_matcher_option_table, AT(match.matcher), PSFM_OF_MATCHES},
    {&psfm_nearest_float_option_table, AT(match.matcher.nearest), PSFM_OF_MATCHES},
    {&psfm_superglue_option_table, AT(match.matcher.superglue), PSFM_OF_MATCHES},
    {&psfm_lightglue_option_table, AT(match.matcher.lightglue), PSFM_OF_MATCHES},
    {&psfm_effort_option_table, AT(folder.effort), PSFM_OF_FEATURES},
    {&psfm_extract_option_table, AT(folder.extract), PSFM_OF_FEATURES},
    {&psfm_sift_option_table, AT(folder.sift), PSFM_OF_FEATURES},
    {&psfm_expand_option_table, AT(match.expand), PSFM_OF_MATCHES},
    {&psfm_nearest_option_table, AT(match.nearest), PSFM_OF_MATCHES},
    {&psfm_guided_option_table, AT(match.guided), PSFM_OF_MATCHES},
    {&psfm_calibrate_option_table, OF_POSES(calibrate)},
    {&psfm_focal_option_table, OF_POSES(focal)},
    {&psfm_noise_option_table, OF_POSES(noise)},
    {&psfm_two_view_option_table, OF_POSES(two_view) | PSFM_OF_MATCHES},
    {&psfm_photo_control_option_table, OF_POSES(photo.control)},
    {&psfm_pair_plane_option_table, OF_POSES(photo.planes)},
    {&psfm_patch_option_table, OF_POSES(photo.patch)},
    {&psfm_essential_weight_option_table, OF_POSES(skeleton.weight)},
    {&psfm_similarity_option_table, OF_POSES(skeleton.similarity)},
    {&psfm_lud_option_table, OF_POSES(skeleton.lud)},
    {&psfm_paper_option_table, OF_POSES(paper)},
    {&psfm_robust_control_option_table, OF_POSES(robust.control)},
    {&psfm_ambiguity_option_table, OF_POSES(robust.ambiguity)},
    {&psfm_refine_control_option_table, OF_POSES(refine.control)},
    {&psfm_triangulate_option_table, OF_POSES(refine.triangulate)},
    {&psfm_bundle_option_table, OF_POSES(refine.bundle)},
    {&psfm_resection_option_table, OF_POSES(refine.resection)},
    {&psfm_track_align_option_table, OF_POSES(photo.tracks)},
    {&psfm_court_option_table, OF_POSES(court) | PSFM_OF_COURT},
    {&psfm_line_option_table, OF_POSES(court.line) | PSFM_OF_COURT},
    {NULL, 0, 0},
};

/* ---- options that are no rows ---- */

static psfm_status set_text(psfm_context *ctx, const char *name, const char *value, void *field) {
    char **text = field, *copy = NULL;
    if (value[0] == '\0')
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%s: its value is empty", name);
    psfm_status status = psfm_strdup(ctx, value, &copy);
    if (status != PSFM_OK)
        return status;
    free(*text);
    *text = copy;
    return PSFM_OK;
}

static psfm_status add_weights(psfm_context *ctx, const char *name, const char *value,
                               void *field) {
    psfm_weights_paths *weights = field;
    psfm_status status = PSFM_RESERVE(ctx, &weights->paths, &weights->capacity, weights->num + 1);
    if (status != PSFM_OK)
        return status;
    weights->paths[weights->num] = NULL;
    status = set_text(ctx, name, value, &weights->paths[weights->num]);
    weights->num += status == PSFM_OK;
    return status;
}

static psfm_status set_photo_folder(psfm_context *ctx, const char *name, const char *value,
                                    void *field) {
    if (value[0] != '\0' && !psfm_path_is_folder(value))
        return psfm_fail(ctx, PSFM_ERR_IO, "%s: no such folder of photographs", value);
    return set_text(ctx, name, value, field);
}

static psfm_status set_switch(psfm_context *ctx, const char *name, const char *value, void *field) {
    bool *is_on = field;
    if (strcmp(value, "on") != 0 && strcmp(value, "off") != 0)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%s: '%s' is not allowed (on | off)", name, value);
    *is_on = strcmp(value, "on") == 0;
    return PSFM_OK;
}

static psfm_status set_distortion(psfm_context *ctx, const char *name, const char *value,
                                  void *field) {
    bool *is_on = field;
    if (strcmp(value, "distortion") != 0)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%s: '%s' is not allowed (distortion)", name,
                         value);
    *is_on = true;
    return PSFM_OK;
}

static psfm_status set_positive(psfm_context *ctx, const char *name, const char *value,
                                void *field) {
    double x, *number = field;
    if (!psfm_parse_number(value, &x) || !(x > 0.0))
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%s: '%s' is not a positive number", name, value);
    *number = x;
    return PSFM_OK;
}

static psfm_status set_sharing(psfm_context *ctx, const char *name, const char *value,
                               void *field) {
    if (psfm_camera_sharing_from_name(value, field))
        return PSFM_OK;
    return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%s: '%s' is not allowed (%s)", name, value,
                     PSFM_SHARE_CHOICES);
}

static psfm_status set_mode(psfm_context *ctx, const char *name, const char *value, void *field) {
    psfm_settings *settings = field;
    psfm_mode mode;
    if (!psfm_mode_from_name(value, &mode))
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%s: '%s' is not allowed (%s)", name, value,
                         PSFM_MODE_CHOICES);
    psfm_settings_clear(settings);
    psfm_reconstruct_options_init(mode, &settings->options);
    return PSFM_OK;
}

/* "IMAGE:x,y IMAGE:x,y METRES"; names may have blanks, so every blank is tried. */
static psfm_status set_distance(psfm_context *ctx, const char *name, const char *value,
                                void *field) {
    char *text = NULL;
    psfm_status status = psfm_strdup(ctx, value, &text);
    if (status != PSFM_OK)
        return status;
    char *metres = strrchr(text, ' '), *blank = NULL;
    if (metres != NULL) {
        *metres++ = '\0';
        blank = strchr(text, ' ');
    }
    status = psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%s: '%s' is not IMAGE:x,y IMAGE:x,y METRES", name,
                       value);
    for (; status == PSFM_ERR_ARGUMENT && blank != NULL; blank = strchr(blank + 1, ' ')) {
        *blank = '\0';
        status = psfm_settings_set_distance(ctx, field, text, blank + 1, metres);
        *blank = ' ';
    }
    free(text);
    return status;
}

const psfm_run_flag psfm_run_flags[] = {
    {"--cameras", "PATH",
     "intrinsics: a COLMAP model with an image of each photograph's name, the results of a run, "
     "a cameras file with one camera for all, or a calibration (a file, or a folder of one per "
     "camera): OpenCV, ROS, Kalibr, Agisoft, Pose2Sim, EasyMocap, or lines NAME fx fy cx cy",
     0, PSFM_OF_FEATURES | PSFM_OF_COURT, AT(cameras), set_text, NULL},
    {"--camera", "TEXT", "intrinsics for all: MODEL,width,height,parameters in COLMAP's order", 0,
     PSFM_OF_FEATURES | PSFM_OF_COURT, AT(camera), set_text, NULL},
    {"--share-cameras", "WHICH",
     PSFM_SHARE_CHOICES ": which photographs share a camera; auto: all if one camera is "
                        "given, else those of one size, make, model and EXIF focal length, as far "
                        "as they tell, until their matches contradict it",
     0, PSFM_OF_FEATURES, AT(folder.intrinsics.sharing), set_sharing, NULL},
    {"--images-list", "FILE",
     "text file that names the photographs to take, one path a line, relative to PHOTOS or "
     "absolute; # begins a comment",
     0, PSFM_OF_FEATURES, AT(images_list), set_text, NULL},
    {"--replace", NULL, "OUT may lose most of its photographs: PHOTOS is another folder", 0,
     PSFM_OF_FEATURES, AT(folder.replace), set_switch, NULL},
    {"--opencv-pixels", NULL,
     "given principal points have the first pixel's centre at 0, 0: add 0.5", 0,
     PSFM_OF_FEATURES | PSFM_OF_COURT, AT(folder.intrinsics.opencv_pixels), set_switch, NULL},
    {"--max-size", "N", "the same as --extract.max-image-size", 0, PSFM_OF_FEATURES, 0, NULL,
     "extract.max-image-size"},
    {"--masks", "DIR", "DIR/NAME.png is the mask of photograph NAME: black forbids features", 0,
     PSFM_OF_FEATURES, AT(masks), set_text, NULL},
    {"--weights", "PATH",
     "a network's weights (.safetensors), or a folder of them; may be given several times",
     PSFM_TAKES_MANY, PSFM_OF_FEATURES | PSFM_OF_MATCHES, AT(weights), add_weights, NULL},
    {"--pairs", "RULE", PSFM_PAIR_RULES, 0, PSFM_OF_MATCHES, AT(pairs), set_text, NULL},
    {"--mode", "MODE", PSFM_MODE_CHOICES ": the method; its options get their defaults from it", 0,
     PSFM_OF_RESULTS, AT(settings), set_mode, NULL},
    {"--plane-points", "free|soft|hard", "the same as --bundle.planes", 0, PSFM_OF_RESULTS, 0, NULL,
     "bundle.planes"},
    {"--ambiguous", "mark|split|best", "the same as --ambiguity.models", 0, PSFM_OF_RESULTS, 0,
     NULL, "ambiguity.models"},
    {"--refine", "WHAT", "intrinsics to refine, the same as --bundle.refine", 0, PSFM_OF_RESULTS, 0,
     NULL, "bundle.refine"},
    {"--camera-model", "MODEL", "of uncalibrated cameras, the same as --calibrate.camera-model", 0,
     PSFM_OF_RESULTS, 0, NULL, "calibrate.camera-model"},
    {"--refine-matches", "on|off",
     "align points of planes in the photographs, the same as --photo.refine-matches", 0,
     PSFM_OF_RESULTS, 0, NULL, "photo.refine-matches"},
    {"--scale", "S", "distance of the median camera from the dominant plane in the results", 0,
     PSFM_OF_RESULTS, AT(settings.options.frame.scale), set_positive, NULL},
    {"--court", "KIND,...",
     "courts on the floor, docs/courts.md: their lines give poses, frame and scale", 0,
     PSFM_OF_RESULTS | PSFM_OF_COURT, AT(settings.court), set_text, NULL},
    {"--court-size", "LENGTH,WIDTH", "of a court that is not of the usual size, in metres", 0,
     PSFM_OF_RESULTS | PSFM_OF_COURT, AT(settings.court_size), set_text, NULL},
    {"--drawing", "FILE",
     "a drawing of your own on the floor instead of a court (JSON, docs/formats.md)", 0,
     PSFM_OF_RESULTS | PSFM_OF_COURT, AT(settings.drawing), set_text, NULL},
    {"--drawing-scale", "METRES", "that a unit of the drawing has (default: what the file says)", 0,
     PSFM_OF_RESULTS | PSFM_OF_COURT, AT(settings.drawing_unit), set_positive, NULL},
    {"--refine", "distortion", "find the distortion of lenses, the same as --court.distortion on",
     0, PSFM_OF_COURT, AT(settings.options.court.distortion), set_distortion, NULL},
    {"--geometries", NULL,
     "fill the database's two_view_geometries, from which COLMAP's mappers start", 0,
     PSFM_OF_RESULTS, AT(settings.geometries), set_switch, NULL},
    {"--no-report", NULL, "leave OUT/report.html out", 0, PSFM_OF_RESULTS, AT(settings.no_report),
     set_switch, NULL},
    {"--distance", "IMAGE:x,y IMAGE:x,y METRES",
     "metric scale from the distance of two pixels' points on the dominant plane", 3,
     PSFM_OF_RESULTS, AT(settings), set_distance, NULL},
    {"--images", "PHOTOS",
     "folder of the photographs: points are aligned in them and get their colours", 0,
     PSFM_OF_DATABASE, AT(settings.photo_folder), set_photo_folder, NULL},
    {0},
};

/* ---- by name ---- */

/* Sets an option of the structs at `base`, which begin at `begin` in psfm_run_options. */
static psfm_status set_option(psfm_context *ctx, unsigned parts, const char *name,
                              const char *value, char *base, size_t begin) {
    const psfm_run_flag *flag = psfm_run_flags;
    const psfm_option_group *group;
    while (flag->flag != NULL &&
           (!(flag->parts & parts) || !psfm_option_is_meant(flag->flag + 2, name)))
        ++flag;
    if (flag->flag != NULL && flag->set != NULL)
        return flag->set(ctx, flag->flag + 2, value, base + (flag->offset - begin));
    const psfm_option *row = psfm_option_groups_find(
        psfm_run_groups, parts, flag->flag != NULL ? flag->alias : name, &group);
    if (row == NULL)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "there is no option '%s'", name);
    return psfm_option_set(ctx, group->table, row, value, base + (group->offset - begin));
}

/* Lets extraction and matching see the texts that the options own. */
static void show_texts(psfm_run_options *o) {
    const psfm_weights_list weights = {(const char *const *)o->weights.paths, o->weights.num};
    o->folder.intrinsics.cameras_path = o->cameras;
    o->folder.intrinsics.camera_text = o->camera;
    o->folder.mask_folder = o->masks;
    o->folder.list_path = o->images_list;
    o->folder.weights = o->match.weights = weights;
    o->match.pairs = o->pairs;
}

psfm_status psfm_run_option_set(psfm_context *ctx, unsigned parts, const char *name,
                                const char *value, psfm_run_options *options) {
    psfm_status status = set_option(ctx, parts, name, value, (char *)options, 0);
    show_texts(options);
    return status;
}

psfm_status psfm_run_settings_set(psfm_context *ctx, psfm_run_settings *settings, const char *name,
                                  const char *value) {
    psfm_status status = psfm_check_given(ctx, "psfm_run_settings_set",
                                          settings != NULL && name != NULL && value != NULL);
    return status == PSFM_OK ? psfm_run_option_set(ctx, PSFM_OF_RUN, name, value, settings)
                             : status;
}

psfm_status psfm_settings_set(psfm_context *ctx, psfm_settings *settings, const char *name,
                              const char *value) {
    psfm_status status = psfm_check_given(ctx, "psfm_settings_set",
                                          settings != NULL && name != NULL && value != NULL);
    return status == PSFM_OK ? set_option(ctx, PSFM_OF_RECONSTRUCTION, name, value,
                                          (char *)settings, AT(settings))
                             : status;
}

psfm_status psfm_reconstruct_option_set(psfm_context *ctx, const char *name, const char *value,
                                        psfm_reconstruct_options *options) {
    return set_option(ctx, PSFM_OF_POSES, name, value, (char *)options, AT(settings.options));
}
