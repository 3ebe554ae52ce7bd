/* Intrinsics come from a COLMAP model or another program's calibration, from one camera for all, or
 * from the photographs: the focal length that their EXIF data tell, or a guess where they tell
 * none. Cameras of photographs are SIMPLE_RADIAL without distortion, the principal point in the
 * middle; what is guessed is marked by the missing prior of the focal length, and calibrated later
 * (src/core/calibration). */
#include "frontend/intrinsics.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/number_locale.h"
#include "core/base/path.h"
#include "core/camera/camera_model.h"
#include "core/camera/camera_origin.h"
#include "formats/colmap_model.h"

#define MAX_CAMERAS_FILE ((size_t)1 << 28)

struct psfm_shared_camera {
    char *source;
    psfm_camera camera;
};

/* ---- one camera as text ---- */

static psfm_status parse_fields(psfm_context *ctx, const char *text, psfm_camera *camera) {
    char name[32] = {0};
    size_t length = strcspn(text, ",");
    double values[2 + PSFM_CAMERA_MAX_PARAMS] = {0};
    int num = 0;
    if (length < sizeof name)
        memcpy(name, text, length);
    if (!psfm_camera_model_from_name(name, &camera->model))
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                         "camera '%s': it begins with the name of a COLMAP camera model, such as "
                         "OPENCV",
                         text);
    int wanted = 2 + psfm_camera_num_params(camera->model);
    const char *p = text + length;
    for (; *p == ',' && num < wanted; ++num) {
        char *end;
        errno = 0;
        values[num] = strtod(p + 1, &end);
        if (end == p + 1 || errno == ERANGE)
            break;
        p = end;
    }
    bool whole = num == wanted && *p == '\0' && values[0] >= 1.0 && values[0] < 1e9 &&
                 values[1] >= 1.0 && values[1] < 1e9 && values[0] == (double)(long)values[0] &&
                 values[1] == (double)(long)values[1];
    if (!whole)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                         "camera '%s': after %s come width, height and %d parameters, with commas "
                         "between them",
                         text, name, wanted - 2);
    camera->width = (uint64_t)values[0];
    camera->height = (uint64_t)values[1];
    memcpy(camera->params, values + 2, (size_t)(wanted - 2) * sizeof *values);
    return PSFM_OK;
}

static psfm_status parse_camera(psfm_context *ctx, const char *text, psfm_camera *camera) {
    *camera = (psfm_camera){.id = 1};
    locale_t before = psfm_number_locale_begin();
    psfm_status status = parse_fields(ctx, text, camera);
    psfm_number_locale_end(before);
    return status == PSFM_OK ? psfm_camera_check_lens(ctx, camera) : status;
}

/* ---- files ---- */

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Reads a cameras file as a model without images. */
static psfm_status read_cameras(psfm_context *ctx, const char *path, psfm_model *model) {
    static const char none[8] = {0}; /* a binary count of zero, or an empty text */
    char *bytes = NULL;
    size_t size = 0;
    bool binary = ends_with(path, ".bin");
    psfm_status status = psfm_read_file(ctx, path, MAX_CAMERAS_FILE, &bytes, &size);
    if (status == PSFM_OK) {
        size_t rest = binary ? sizeof none : 0;
        psfm_model_file files[PSFM_NUM_MODEL_FILES] = {
            {path, bytes, size}, {path, none, rest}, {path, none, rest}};
        status = psfm_model_parse(ctx, binary ? PSFM_MODEL_BINARY : PSFM_MODEL_TEXT, files, model);
    }
    free(bytes);
    return status;
}

/* Whether the folder holds a file of this name; its path is made in *path. */
static psfm_status find_file(psfm_context *ctx, const char *folder, const char *name, char **path,
                             bool *found) {
    free(*path);
    *path = NULL;
    psfm_status status = psfm_path_join(ctx, folder, name, path);
    *found = status == PSFM_OK && psfm_path_is_file(*path);
    return status;
}

/* Whether a text is COLMAP's cameras.txt: the second word of its first line is that of a model. */
static psfm_status is_cameras_text(psfm_context *ctx, const char *path, bool *is_colmap) {
    char *text = NULL, name[64] = {0};
    size_t size = 0;
    psfm_status status = psfm_read_file(ctx, path, MAX_CAMERAS_FILE, &text, &size);
    const char *line = text;
    while (line != NULL && (*line == '#' || *line == '\n' || *line == '\r')) {
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    const bool has_word = line != NULL && sscanf(line, "%*s %63s", name) == 1;
    *is_colmap = has_word && name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_")] == '\0';
    free(text);
    return status;
}

/* Images and cameras of a model that came without its points. */
static psfm_status read_without_points(psfm_context *ctx, const char *folder, bool binary,
                                       psfm_model *model) {
    static const char *const names[2][2] = {{"cameras.txt", "images.txt"},
                                            {"cameras.bin", "images.bin"}};
    static const char none[8] = {0};
    psfm_model_file files[PSFM_NUM_MODEL_FILES] = {
        [PSFM_MODEL_POINTS] = {folder, none, binary ? sizeof none : 0}};
    char *path[2] = {NULL, NULL}, *bytes[2] = {NULL, NULL};
    psfm_status status = PSFM_OK;
    for (int k = 0; status == PSFM_OK && k < 2; ++k) {
        status = psfm_path_join(ctx, folder, names[binary][k], &path[k]);
        if (status == PSFM_OK)
            status = psfm_read_file(ctx, path[k], MAX_CAMERAS_FILE, &bytes[k], &files[k].size);
        files[k].path = path[k];
        files[k].bytes = bytes[k];
    }
    if (status == PSFM_OK)
        status = psfm_model_parse(ctx, binary ? PSFM_MODEL_BINARY : PSFM_MODEL_TEXT, files, model);
    for (int k = 0; k < 2; ++k) {
        free(path[k]);
        free(bytes[k]);
    }
    return status;
}

/* Reads images and cameras, and the points if they are there. */
static psfm_status read_model(psfm_context *ctx, const char *folder, bool binary,
                              psfm_model *model) {
    char *points = NULL;
    bool found = false;
    psfm_status status =
        find_file(ctx, folder, binary ? "points3D.bin" : "points3D.txt", &points, &found);
    free(points);
    if (status != PSFM_OK)
        return status;
    return found ? psfm_model_read(ctx, folder, model)
                 : read_without_points(ctx, folder, binary, model);
}

/* Reads a whole model, or the cameras alone if that is all there is. */
static psfm_status read_folder(psfm_context *ctx, const char *path, psfm_model *model) {
    char *file = NULL;
    bool found = false;
    psfm_status status = find_file(ctx, path, "images.bin", &file, &found);
    const bool binary = found;
    if (status == PSFM_OK && !found)
        status = find_file(ctx, path, "images.txt", &file, &found);
    if (status == PSFM_OK && found) {
        status = read_model(ctx, path, binary, model);
    } else if (status == PSFM_OK) {
        status = find_file(ctx, path, "cameras.bin", &file, &found);
        if (status == PSFM_OK && !found)
            status = find_file(ctx, path, "cameras.txt", &file, &found);
        if (status == PSFM_OK && found)
            status = read_cameras(ctx, file, model);
    }
    free(file);
    return status;
}

/* What is no COLMAP model leaves *model empty. */
static psfm_status read_given(psfm_context *ctx, const char *path, psfm_model *model) {
    char *folder = NULL;
    if (!psfm_path_is_folder(path)) {
        bool is_colmap = ends_with(path, ".bin");
        psfm_status status = is_colmap ? PSFM_OK : is_cameras_text(ctx, path, &is_colmap);
        return status == PSFM_OK && is_colmap ? read_cameras(ctx, path, model) : status;
    }
    psfm_status status = psfm_model_folder(ctx, path, &folder);
    if (status == PSFM_OK)
        status = read_folder(ctx, folder, model);
    free(folder);
    return status;
}

static psfm_status take_calibration(psfm_context *ctx, bool opencv_pixels, psfm_intrinsics *in) {
    psfm_status status = psfm_calibration_read(ctx, in->path, opencv_pixels, &in->calibration);
    in->kind = PSFM_INTRINSICS_CALIBRATION;
    if (status == PSFM_OK && in->calibration.num == 0)
        status =
            psfm_fail(ctx, PSFM_ERR_FORMAT,
                      "%s: no cameras in it: neither a COLMAP model nor a calibration of "
                      "OpenCV, Kalibr, Agisoft, Pose2Sim or EasyMocap, nor lines NAME fx fy cx "
                      "cy [k1 k2 p1 p2 k3]",
                      in->path);
    return status;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const psfm_model_image *)a)->name, ((const psfm_model_image *)b)->name);
}

static psfm_status take_model(psfm_context *ctx, bool opencv_pixels, psfm_intrinsics *in) {
    psfm_model *model = &in->model;
    psfm_status status = read_given(ctx, in->path, model);
    if (status == PSFM_OK && model->num_cameras == 0)
        return take_calibration(ctx, opencv_pixels, in);
    if (status != PSFM_OK)
        return status;
    in->kind = PSFM_INTRINSICS_MODEL;
    if (model->num_images > 0) {
        qsort(model->images, model->num_images, sizeof *model->images, by_name);
        for (size_t k = 1; k < model->num_images; ++k)
            if (by_name(&model->images[k - 1], &model->images[k]) == 0)
                return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: two images are called %s", in->path,
                                 model->images[k].name);
        return PSFM_OK;
    }
    if (model->num_cameras != 1)
        return psfm_fail(ctx, PSFM_ERR_DATA,
                         "%s: %zu cameras and no images; one camera can serve all photographs, "
                         "several need a model that says whose they are",
                         in->path, model->num_cameras);
    in->kind = PSFM_INTRINSICS_ONE;
    in->camera = model->cameras[0];
    return PSFM_OK;
}

static void shift_center(psfm_camera *camera) {
    const psfm_camera_model_info *info = psfm_camera_model_get(camera->model);
    if (info->is_panorama)
        return;
    camera->params[info->center[0]] += 0.5;
    camera->params[info->center[1]] += 0.5;
}

psfm_status psfm_intrinsics_open(psfm_context *ctx, const psfm_intrinsics_options *options,
                                 psfm_intrinsics *out) {
    psfm_status status = PSFM_OK;
    *out = (psfm_intrinsics){.kind = PSFM_INTRINSICS_PHOTOGRAPHS, .sharing = options->sharing};
    if (options->cameras_path != NULL && options->camera_text != NULL)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "--cameras and --camera exclude each other");
    if (options->cameras_path != NULL) {
        out->path = options->cameras_path;
        status = take_model(ctx, options->opencv_pixels, out);
    } else if (options->camera_text != NULL) {
        out->path = "--camera";
        out->kind = PSFM_INTRINSICS_ONE;
        status = parse_camera(ctx, options->camera_text, &out->camera);
    } else if (options->opencv_pixels) {
        status = psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                           "--opencv-pixels is about given intrinsics; it wants --cameras or "
                           "--camera");
    }
    const bool says_whose =
        out->kind == PSFM_INTRINSICS_MODEL || out->kind == PSFM_INTRINSICS_CALIBRATION;
    if (status == PSFM_OK && says_whose && out->sharing != PSFM_SHARE_AUTO)
        status = psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                           "%s: says which images share a camera; --share-cameras does not go with "
                           "it",
                           out->path);
    if (status == PSFM_OK && options->opencv_pixels) {
        for (size_t k = 0; k < out->model.num_cameras; ++k)
            shift_center(&out->model.cameras[k]);
        if (out->kind == PSFM_INTRINSICS_ONE)
            shift_center(&out->camera);
    }
    return status;
}

void psfm_intrinsics_free(psfm_intrinsics *in) {
    psfm_model_free(&in->model);
    psfm_calibration_free(&in->calibration);
    for (size_t k = 0; k < in->num_shared; ++k)
        free(in->shared[k].source);
    free(in->shared);
    *in = (psfm_intrinsics){0};
}

/* ---- one photograph ---- */

static psfm_status find_in_model(psfm_context *ctx, const psfm_intrinsics *in, const char *name,
                                 psfm_camera *camera) {
    psfm_model_image wanted = {.name = (char *)name};
    const psfm_model_image *image =
        bsearch(&wanted, in->model.images, in->model.num_images, sizeof wanted, by_name);
    if (image == NULL)
        return psfm_fail(ctx, PSFM_ERR_DATA, "%s: no image is called %s, so its camera is unknown",
                         in->path, name);
    *camera = *psfm_model_camera(&in->model, image->camera_id);
    return PSFM_OK;
}

/* A file that tells no size leaves it to the photograph. */
static psfm_status find_in_calibration(psfm_context *ctx, const psfm_intrinsics *in,
                                       const psfm_photo_facts *photo, psfm_camera *camera) {
    const psfm_camera *found = psfm_calibration_find(&in->calibration, photo->name);
    if (found == NULL)
        return psfm_fail(ctx, PSFM_ERR_DATA,
                         "%s: none of its %zu cameras (%s, ...) is that of %s: a name of a "
                         "photograph or of its folder begins with that of its camera",
                         in->path, in->calibration.num, in->calibration.items[0].name, photo->name);
    *camera = *found;
    if (camera->width == 0 && photo->width <= 0)
        return psfm_fail(ctx, PSFM_ERR_DATA, "%s: neither the file nor %s tells its size", in->path,
                         photo->name);
    if (camera->width == 0) {
        camera->width = (uint64_t)photo->width;
        camera->height = (uint64_t)photo->height;
    }
    return PSFM_OK;
}

/* The camera of a photograph whose EXIF data tell a focal length, or none. */
static psfm_status from_photograph(psfm_context *ctx, const psfm_photo_facts *photo,
                                   psfm_camera *camera) {
    int width = photo->width, height = photo->height;
    bool is_told = photo->focal_px > 0.0;
    if (width <= 0 || height <= 0)
        return psfm_fail(
            ctx, PSFM_ERR_DATA,
            "%s: its size is not known; give the intrinsics: --cameras MODEL (a COLMAP "
            "model or cameras.txt) or --camera \"PINHOLE,width,height,fx,fy,cx,cy\"",
            photo->name);
    double guess = PSFM_GUESS_FACTOR * (width > height ? width : height);
    *camera =
        psfm_camera_simple((uint64_t)width, (uint64_t)height, is_told ? photo->focal_px : guess);
    camera->has_prior_focal_length = is_told;
    return PSFM_OK;
}

/* Whose camera a photograph has, without its size. */
static void name_owner(const psfm_intrinsics *in, const psfm_photo_facts *photo,
                       const psfm_camera *camera, char *text, size_t size) {
    const char *name = photo->name, *slash = strrchr(name, '/');
    bool is_one = in->kind == PSFM_INTRINSICS_ONE;
    if (in->kind == PSFM_INTRINSICS_MODEL)
        snprintf(text, size, "model:%u", camera->id);
    else if (in->kind == PSFM_INTRINSICS_CALIBRATION)
        snprintf(text, size, "calibration:%u@%llux%llu", camera->id,
                 (unsigned long long)camera->width, (unsigned long long)camera->height);
    else if (in->sharing == PSFM_SHARE_FOLDER)
        snprintf(text, size, "folder:%.*s", slash == NULL ? 0 : (int)(slash - name), name);
    else if (in->sharing == PSFM_SHARE_ALL || (is_one && in->sharing == PSFM_SHARE_AUTO))
        snprintf(text, size, "all");
    else if (in->sharing == PSFM_SHARE_AUTO)
        snprintf(text, size, "group:%.6g %s", photo->focal_px,
                 photo->body == NULL ? "" : photo->body);
    else
        snprintf(text, size, "image:%s", name);
}

/* The text that photographs of one camera share. */
static psfm_status name_source(psfm_context *ctx, const psfm_intrinsics *in,
                               const psfm_photo_facts *photo, const psfm_camera *camera,
                               char **source) {
    size_t size = strlen(photo->name) + (photo->body == NULL ? 0 : strlen(photo->body)) + 96;
    psfm_status status = PSFM_ALLOC(ctx, size, source);
    if (status != PSFM_OK)
        return status;
    bool is_given = in->kind != PSFM_INTRINSICS_PHOTOGRAPHS;
    size_t prefix = is_given ? (size_t)snprintf(*source, size, "given:") : 0;
    name_owner(in, photo, camera, *source + prefix, size - prefix);
    size_t length = strlen(*source);
    if (!is_given)
        snprintf(*source + length, size - length, "@%llux%llu", (unsigned long long)camera->width,
                 (unsigned long long)camera->height);
    return PSFM_OK;
}

/* The first photograph that knows its focal length decides about the camera that all share. */
static psfm_status share_camera(psfm_context *ctx, psfm_intrinsics *in, const char *source,
                                psfm_camera *camera) {
    for (size_t k = 0; k < in->num_shared; ++k) {
        psfm_camera *shared = &in->shared[k].camera;
        if (strcmp(in->shared[k].source, source) != 0)
            continue;
        if (!shared->has_prior_focal_length)
            *shared = *camera;
        *camera = *shared;
        return PSFM_OK;
    }
    psfm_status status = PSFM_RESERVE(ctx, &in->shared, &in->capacity, in->num_shared + 1);
    if (status == PSFM_OK)
        status = psfm_strdup(ctx, source, &in->shared[in->num_shared].source);
    if (status == PSFM_OK)
        in->shared[in->num_shared++].camera = *camera;
    return status;
}

psfm_status psfm_intrinsics_find(psfm_context *ctx, psfm_intrinsics *in,
                                 const psfm_photo_facts *photo, psfm_camera *camera,
                                 char **source) {
    char *text = NULL;
    psfm_status status = PSFM_OK;
    if (in->kind == PSFM_INTRINSICS_MODEL)
        status = find_in_model(ctx, in, photo->name, camera);
    else if (in->kind == PSFM_INTRINSICS_CALIBRATION)
        status = find_in_calibration(ctx, in, photo, camera);
    else if (in->kind == PSFM_INTRINSICS_ONE)
        *camera = in->camera;
    else
        status = from_photograph(ctx, photo, camera);
    if (status == PSFM_OK)
        status = name_source(ctx, in, photo, camera, &text);
    if (status == PSFM_OK && in->kind == PSFM_INTRINSICS_PHOTOGRAPHS)
        status = share_camera(ctx, in, text, camera);
    if (status == PSFM_OK && photo->width > 0 &&
        (camera->width != (uint64_t)photo->width || camera->height != (uint64_t)photo->height))
        status = psfm_fail(ctx, PSFM_ERR_DATA,
                           "%s: the photograph has %d x %d pixels, its camera %llu x %llu",
                           photo->name, photo->width, photo->height,
                           (unsigned long long)camera->width, (unsigned long long)camera->height);
    if (in->kind != PSFM_INTRINSICS_PHOTOGRAPHS)
        camera->has_prior_focal_length = true;
    if (status == PSFM_OK) {
        *source = text;
        ++in->num_images;
        in->num_unknown += !camera->has_prior_focal_length;
    } else {
        free(text);
    }
    return status;
}

bool psfm_camera_sharing_from_name(const char *name, psfm_camera_sharing *sharing) {
    static const char *const names[] = {"auto", "image", "folder", "all"};
    for (size_t k = 0; k < sizeof names / sizeof *names; ++k) {
        if (strcmp(names[k], name) == 0) {
            *sharing = (psfm_camera_sharing)k;
            return true;
        }
    }
    return false;
}

const char *psfm_intrinsics_describe(const psfm_intrinsics *in) {
    switch (in->kind) {
    case PSFM_INTRINSICS_MODEL:
        return "cameras of a COLMAP model";
    case PSFM_INTRINSICS_CALIBRATION:
        return "cameras of a calibration";
    case PSFM_INTRINSICS_ONE:
        return "one given camera";
    case PSFM_INTRINSICS_PHOTOGRAPHS:
        break;
    }
    return in->num_unknown == 0                ? "EXIF focal lengths"
           : in->num_unknown == in->num_images ? "unknown focal lengths, to be estimated"
                                               : "EXIF focal lengths, unknown ones to be estimated";
}
