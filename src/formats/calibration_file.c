/* Calibrations of other programs.
 *
 * Whatever the text is, it becomes a tree (formats/tree_text.h). A camera is an object of the tree
 * with a matrix or a list of intrinsics under one of the names that programs use; what surrounds it
 * gives its name. EasyMocap has all matrices in one object, K_<name> and dist_<name>. Agisoft has a
 * focal length and distances from the middle. */
#include "formats/calibration_file.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/alloc.h"
#include "core/base/number_locale.h"
#include "core/base/path.h"
#include "formats/tree_text.h"

#define MAX_FILE ((size_t)1 << 24)
#define MAX_COEFFICIENTS 14
#define MAX_SKEW 1e-4 /* of the focal length */

typedef struct {
    psfm_context *ctx;
    const char *path, *stem;
    psfm_calibration *out;
} reader;

/* What a file says of one camera, before it is a camera. */
typedef struct {
    const char *name;
    double K[4]; /* fx, fy, cx, cy */
    double size[2];
    double k[MAX_COEFFICIENTS];
    int num_k;
    bool is_fisheye, is_fov;
} raw_camera;

static psfm_status refuse_camera(const reader *r, const char *name, const char *reason) {
    return psfm_fail(r->ctx, PSFM_ERR_FORMAT, "%s: camera %s: %s", r->path, name, reason);
}

static psfm_status add_camera(reader *r, const char *name, const psfm_camera *camera) {
    psfm_calibration *c = r->out;
    for (size_t k = 0; k < c->num; ++k)
        if (strcmp(c->items[k].name, name) == 0)
            return refuse_camera(r, name, "it is there twice");
    psfm_status status = PSFM_RESERVE(r->ctx, &c->items, &c->capacity, c->num + 1);
    if (status == PSFM_OK)
        status = psfm_strdup(r->ctx, name, &c->items[c->num].name);
    if (status == PSFM_OK)
        c->items[c->num++].camera = *camera;
    return status;
}

/* ---- lenses ---- */

/* OpenCV's order: k1 k2 p1 p2 [k3 [k4 k5 k6 [s1 s2 s3 s4 [tx ty]]]]; two are k1 k2. */
static psfm_status choose_model(const reader *r, const raw_camera *raw, psfm_camera *camera) {
    int num = raw->num_k;
    while (num > 0 && raw->k[num - 1] == 0.0)
        --num;
    if (raw->is_fov) {
        if (raw->num_k != 1)
            return refuse_camera(r, raw->name, "a FOV lens has one coefficient");
        camera->model = PSFM_CAMERA_FOV;
        camera->params[4] = raw->k[0];
        return PSFM_OK;
    }
    if (raw->is_fisheye && raw->num_k != 4)
        return refuse_camera(r, raw->name, "a fisheye lens has four coefficients");
    if (num > 8)
        return refuse_camera(
            r, raw->name,
            "its lens has a thin prism or a tilted sensor, which no camera model here "
            "has with the rest; calibrate without them");
    camera->model = raw->is_fisheye ? PSFM_CAMERA_OPENCV_FISHEYE
                    : num == 0      ? PSFM_CAMERA_PINHOLE
                    : num <= 4      ? PSFM_CAMERA_OPENCV
                                    : PSFM_CAMERA_FULL_OPENCV;
    memcpy(camera->params + 4, raw->k, (size_t)num * sizeof *raw->k);
    return PSFM_OK;
}

/* `shift` is half a pixel where the file counts from the centre of the first one. */
static psfm_status finish_camera(reader *r, const raw_camera *raw, double shift) {
    psfm_camera camera = {.id = (uint32_t)r->out->num + 1, .has_prior_focal_length = true};
    memcpy(camera.params, raw->K, sizeof raw->K);
    camera.params[2] += shift;
    camera.params[3] += shift;
    psfm_status status = choose_model(r, raw, &camera);
    if (status != PSFM_OK)
        return status;
    bool has_size = raw->size[0] != 0.0 || raw->size[1] != 0.0;
    if (!(raw->size[0] >= 0.0 && raw->size[0] < 1e6 && raw->size[1] >= 0.0 && raw->size[1] < 1e6))
        return refuse_camera(r, raw->name, "its size is no size of an image");
    camera.width = has_size ? (uint64_t)raw->size[0] : 1;
    camera.height = has_size ? (uint64_t)raw->size[1] : 1;
    status = psfm_camera_check(r->ctx, &camera);
    if (status != PSFM_OK) {
        char reason[256];
        snprintf(reason, sizeof reason, "%s", psfm_context_message(r->ctx));
        return status == PSFM_ERR_MEMORY ? status : refuse_camera(r, raw->name, reason);
    }
    if (!has_size)
        camera.width = camera.height = 0;
    return add_camera(r, raw->name, &camera);
}

/* ---- values of the tree ---- */

/* The first member of any of these names, whatever its case. */
static const cJSON *find_member(const cJSON *object, const char *const *names) {
    for (; cJSON_IsObject(object) && *names != NULL; ++names) {
        const cJSON *member = cJSON_GetObjectItem(object, *names);
        if (member != NULL)
            return member;
    }
    return NULL;
}

/* Numbers of a list, of lists in lists, of OpenCV's matrices, and of texts with blanks or commas
 * between them; how many, or -1 if they are more than `most` or no numbers. */
static int read_numbers(const cJSON *item, double *out, int most) {
    if (cJSON_IsNumber(item) && most > 0) {
        *out = item->valuedouble;
        return 1;
    }
    if (cJSON_IsArray(item)) {
        int num = 0;
        for (const cJSON *child = item->child; child != NULL; child = child->next) {
            int more = read_numbers(child, out + num, most - num);
            if (more < 0)
                return -1;
            num += more;
        }
        return num;
    }
    if (cJSON_IsObject(item))
        return read_numbers(cJSON_GetObjectItem(item, "data"), out, most);
    if (!cJSON_IsString(item))
        return -1;
    int num = 0;
    char copy[64];
    for (const char *at = item->valuestring; *(at += strspn(at, " \t\r\n,")) != '\0';) {
        size_t length = strcspn(at, " \t\r\n,");
        if (num == most || length >= sizeof copy)
            return -1;
        memcpy(copy, at, length);
        copy[length] = '\0';
        if (!psfm_parse_number(copy, &out[num++]))
            return -1;
        at += length;
    }
    return num;
}

static double read_number(const cJSON *object, const char *name, double otherwise) {
    double value = otherwise;
    const cJSON *member = cJSON_GetObjectItem(object, name);
    return member == NULL || read_numbers(member, &value, 1) != 1 ? otherwise : value;
}

static bool is_text(const cJSON *item, const char *text) {
    return cJSON_IsString(item) && strcasecmp(item->valuestring, text) == 0;
}

static psfm_status read_matrix(const reader *r, const cJSON *item, raw_camera *raw) {
    double K[9];
    int num = read_numbers(item, K, 9);
    if (num == 4) { /* fx, fy, cx, cy */
        memcpy(raw->K, K, sizeof raw->K);
        return PSFM_OK;
    }
    if (num != 9)
        return refuse_camera(r, raw->name, "its camera matrix does not have nine numbers");
    if (fabs(K[1]) > MAX_SKEW * fabs(K[0]))
        return refuse_camera(r, raw->name,
                             "its camera matrix has a skew, which no camera model has");
    const double values[4] = {K[0], K[4], K[2], K[5]};
    memcpy(raw->K, values, sizeof values);
    return PSFM_OK;
}

static psfm_status read_coefficients(const reader *r, const cJSON *item, raw_camera *raw) {
    raw->num_k =
        item == NULL || cJSON_IsNull(item) ? 0 : read_numbers(item, raw->k, MAX_COEFFICIENTS);
    if (raw->num_k < 0)
        return refuse_camera(r, raw->name, "its distortion is no list of 14 numbers or fewer");
    return PSFM_OK;
}

static void read_size(const cJSON *object, raw_camera *raw) {
    static const char *const lists[] = {
        "size",     "resolution",     "image_size",       "imagesize",
        "img_size", "image_shape_wh", "image_resolution", NULL};
    const cJSON *list = find_member(object, lists);
    double values[2];
    if (list != NULL && read_numbers(list, values, 2) == 2)
        memcpy(raw->size, values, sizeof values);
    static const char *const width[] = {"image_width", "imagewidth", "width", "w", NULL};
    static const char *const height[] = {"image_height", "imageheight", "height", "h", NULL};
    const cJSON *w = find_member(object, width), *h = find_member(object, height);
    if (w != NULL && h != NULL && read_numbers(w, &values[0], 1) == 1 &&
        read_numbers(h, &values[1], 1) == 1)
        memcpy(raw->size, values, sizeof values);
}

/* ---- kinds of cameras ---- */

static const char *const matrix_names[] = {"camera_matrix",
                                           "cameramatrix",
                                           "camera-matrix",
                                           "intrinsic_matrix",
                                           "intrinsicmatrix",
                                           "matrix",
                                           "intrinsics_matrix",
                                           "K",
                                           "mtx",
                                           "M1",
                                           NULL};
static const char *const distortion_names[] = {"distortion_coefficients",
                                               "distortion_coeffs",
                                               "dist_coeffs",
                                               "distcoeffs",
                                               "distcoefficients",
                                               "distortions",
                                               "distortion",
                                               "dist",
                                               "D",
                                               "D1",
                                               NULL};

/* OpenCV, ROS, Pose2Sim, Caliscope, Anipose: a matrix and coefficients. */
static psfm_status read_opencv(reader *r, const cJSON *object, raw_camera *raw) {
    static const char *const models[] = {"distortion_model", "camera_model", "model", NULL};
    const cJSON *model = find_member(object, models);
    const cJSON *fisheye = cJSON_GetObjectItem(object, "fisheye");
    raw->is_fisheye = is_text(model, "equidistant") || is_text(model, "fisheye") ||
                      cJSON_IsTrue(fisheye) || is_text(fisheye, "true");
    psfm_status status = read_matrix(r, find_member(object, matrix_names), raw);
    if (status == PSFM_OK)
        status = read_coefficients(r, find_member(object, distortion_names), raw);
    read_size(object, raw);
    return status == PSFM_OK ? finish_camera(r, raw, 0.5) : status;
}

static psfm_status read_kalibr(reader *r, const cJSON *object, raw_camera *raw) {
    const cJSON *model = cJSON_GetObjectItem(object, "camera_model");
    const cJSON *lens = cJSON_GetObjectItem(object, "distortion_model");
    if (model != NULL && !is_text(model, "pinhole")) {
        char reason[128];
        snprintf(reason, sizeof reason,
                 "Kalibr's camera model '%s' is not one of COLMAP's; calibrate with pinhole",
                 cJSON_IsString(model) ? model->valuestring : "?");
        return refuse_camera(r, raw->name, reason);
    }
    if (read_numbers(cJSON_GetObjectItem(object, "intrinsics"), raw->K, 4) != 4)
        return refuse_camera(r, raw->name, "its intrinsics are not fx, fy, cx, cy");
    raw->is_fisheye = is_text(lens, "equidistant");
    raw->is_fov = is_text(lens, "fov");
    psfm_status status =
        read_coefficients(r, cJSON_GetObjectItem(object, "distortion_coeffs"), raw);
    if (is_text(lens, "none"))
        raw->num_k = 0;
    read_size(object, raw);
    return status == PSFM_OK ? finish_camera(r, raw, 0.5) : status;
}

/* Metashape: fx = f + b1, fy = f; p1 and p2 are OpenCV's p2 and p1; the principal point from the
 * middle of the image, whose pixels have their centres at halves, as COLMAP's do. */
static psfm_status read_agisoft(reader *r, const cJSON *object, raw_camera *raw) {
    double f = read_number(object, "f", 0.0);
    const cJSON *projection = cJSON_GetObjectItem(object, "projection");
    read_size(object, raw);
    if (raw->size[0] <= 0.0) {
        const cJSON *resolution = cJSON_GetObjectItem(object, "resolution");
        raw->size[0] = read_number(resolution, "width", 0.0);
        raw->size[1] = read_number(resolution, "height", 0.0);
    }
    raw->K[0] = read_number(object, "fx", f + read_number(object, "b1", 0.0));
    raw->K[1] = read_number(object, "fy", f);
    if (raw->size[0] <= 0.0)
        return refuse_camera(r, raw->name, "its width and height are missing");
    bool is_old = cJSON_GetObjectItem(object, "fx") != NULL;
    raw->K[2] = read_number(object, "cx", 0.0) + (is_old ? 0.0 : 0.5 * raw->size[0]);
    raw->K[3] = read_number(object, "cy", 0.0) + (is_old ? 0.0 : 0.5 * raw->size[1]);
    double skew = read_number(object, "b2", read_number(object, "skew", 0.0));
    if (fabs(skew) > MAX_SKEW * raw->K[0])
        return refuse_camera(r, raw->name,
                             "it has a skew (b2), which no camera model has; fix it at 0");
    if (projection != NULL && !is_text(projection, "frame"))
        return refuse_camera(
            r, raw->name,
            "its projection is not 'frame'; Agisoft's fisheye is not one of COLMAP's");
    static const char *const order[] = {"k1", "k2", "p2", "p1", "k3"};
    for (int k = 0; k < 5; ++k)
        raw->k[k] = read_number(object, order[k], 0.0);
    raw->num_k = 5;
    if (read_number(object, "k4", 0.0) != 0.0 || read_number(object, "p3", 0.0) != 0.0 ||
        read_number(object, "p4", 0.0) != 0.0)
        return refuse_camera(
            r, raw->name, "it has k4, p3 or p4, which no camera model has; adjust it without them");
    return finish_camera(r, raw, 0.0);
}

/* EasyMocap: K_<name>, dist_<name> or D_<name>, H_<name>, W_<name>. */
static psfm_status read_easymocap(reader *r, const cJSON *root, const char *name) {
    raw_camera raw = {.name = name};
    char key[128];
    snprintf(key, sizeof key, "K_%s", name);
    psfm_status status = read_matrix(r, cJSON_GetObjectItem(root, key), &raw);
    snprintf(key, sizeof key, "dist_%s", name);
    const cJSON *dist = cJSON_GetObjectItem(root, key);
    snprintf(key, sizeof key, "D_%s", name);
    if (status == PSFM_OK)
        status = read_coefficients(r, dist != NULL ? dist : cJSON_GetObjectItem(root, key), &raw);
    snprintf(key, sizeof key, "W_%s", name);
    raw.size[0] = read_number(root, key, 0.0);
    snprintf(key, sizeof key, "H_%s", name);
    raw.size[1] = read_number(root, key, 0.0);
    if (raw.size[0] <= 0.0 || raw.size[1] <= 0.0)
        raw.size[0] = raw.size[1] = 0.0;
    return status == PSFM_OK ? finish_camera(r, &raw, 0.5) : status;
}

/* ---- the tree ---- */

/* What the file calls a camera: a member, or the key above it that says something. */
static const char *name_camera(const reader *r, const cJSON *object, const char *above) {
    static const char *const members[] = {"name", "camera_name", "label", NULL};
    const cJSON *name = find_member(object, members);
    if (cJSON_IsString(name) && name->valuestring[0] != '\0')
        return name->valuestring;
    return above == NULL ? r->stem : above;
}

static bool is_wrapper(const char *key) {
    static const char *const words[] = {"opencv_storage", "calibration", "intrinsics", "cameras",
                                        "camera",         "data",        NULL};
    for (const char *const *word = words; *word != NULL; ++word)
        if (strcasecmp(key, *word) == 0)
            return true;
    return false;
}

static psfm_status walk_tree(reader *r, const cJSON *item, const char *above) {
    raw_camera raw = {.name = name_camera(r, item, above)};
    psfm_status status = PSFM_OK;
    if (cJSON_IsObject(item)) {
        const cJSON *intrinsics = cJSON_GetObjectItem(item, "intrinsics");
        if (cJSON_IsArray(intrinsics))
            return read_kalibr(r, item, &raw);
        if (find_member(item, matrix_names) != NULL)
            return read_opencv(r, item, &raw);
        if (cJSON_GetObjectItem(item, "f") != NULL || cJSON_GetObjectItem(item, "fx") != NULL)
            return read_agisoft(r, item, &raw);
    } else if (!cJSON_IsArray(item)) {
        return PSFM_OK;
    }
    for (const cJSON *child = item->child; status == PSFM_OK && child != NULL;
         child = child->next) {
        const char *key = child->string;
        if (key != NULL && strncmp(key, "K_", 2) == 0 && key[2] != '\0')
            status = read_easymocap(r, item, key + 2);
        else
            status = walk_tree(r, child, key == NULL || is_wrapper(key) ? above : key);
    }
    return status;
}

/* ---- lists ---- */

static psfm_status read_list(reader *r, const char *text, bool shift) {
    psfm_status status = PSFM_OK;
    char line[1024];
    size_t number = 0;
    while (status == PSFM_OK && *text != '\0') {
        char *rest = NULL;
        size_t length = strcspn(text, "\n");
        ++number;
        snprintf(line, sizeof line, "%.*s", length < sizeof line ? (int)length : 0, text);
        text += length + (text[length] == '\n');
        char *name = strtok_r(line, " \t\r,;", &rest);
        if (name == NULL || name[0] == '#')
            continue;
        raw_camera raw = {.name = name};
        double values[4 + MAX_COEFFICIENTS];
        int num = 0;
        bool ok = true;
        for (char *word; ok && (word = strtok_r(NULL, " \t\r,;", &rest)) != NULL; ++num)
            ok = num < 4 + MAX_COEFFICIENTS && psfm_parse_number(word, &values[num]);
        if (!ok || num < 4)
            return number == 1 ? PSFM_OK /* a line of headings, or no list at all */
                               : psfm_fail(r->ctx, PSFM_ERR_FORMAT,
                                           "%s: line %zu: should be NAME fx fy cx cy [k1 k2 p1 p2 "
                                           "k3]",
                                           r->path, number);
        memcpy(raw.K, values, sizeof raw.K);
        raw.num_k = num - 4;
        memcpy(raw.k, values + 4, (size_t)raw.num_k * sizeof *raw.k);
        status = finish_camera(r, &raw, shift ? 0.5 : 0.0);
    }
    return status;
}

psfm_status psfm_calibration_parse(psfm_context *ctx, const char *text, size_t size,
                                   const char *path, const char *stem, bool shift_lists,
                                   psfm_calibration *out) {
    reader r = {ctx, path, stem, out};
    cJSON *tree = NULL;
    psfm_status status = psfm_tree_parse(ctx, text, size, path, &tree);
    if (status == PSFM_OK && tree != NULL)
        status = walk_tree(&r, tree, NULL);
    else if (status == PSFM_OK)
        status = read_list(&r, text, shift_lists);
    cJSON_Delete(tree);
    return status;
}

/* ---- files ---- */

static psfm_status read_file(psfm_context *ctx, const char *path, bool shift_lists,
                             psfm_calibration *out) {
    char *text = NULL, stem[256];
    size_t size = 0;
    const char *slash = strrchr(path, '/');
    snprintf(stem, sizeof stem, "%s", slash == NULL ? path : slash + 1);
    char *dot = strrchr(stem, '.');
    if (dot != NULL)
        *dot = '\0';
    psfm_status status = psfm_read_file(ctx, path, MAX_FILE, &text, &size);
    if (status == PSFM_OK)
        status = psfm_calibration_parse(ctx, text, size, path, stem, shift_lists, out);
    free(text);
    return status;
}

static int is_calibration(const struct dirent *entry) {
    static const char *const endings[] = {"yml", "yaml", "xml", "json", "toml", "txt", NULL};
    const char *dot = strrchr(entry->d_name, '.');
    for (const char *const *ending = endings; dot != NULL && *ending != NULL; ++ending)
        if (strcasecmp(dot + 1, *ending) == 0)
            return 1;
    return 0;
}

static int by_entry_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

psfm_status psfm_calibration_read(psfm_context *ctx, const char *path, bool shift_lists,
                                  psfm_calibration *out) {
    struct dirent **entries = NULL;
    *out = (psfm_calibration){0};
    if (!psfm_path_is_folder(path))
        return read_file(ctx, path, shift_lists, out);
    psfm_status status = PSFM_OK;
    int num = scandir(path, &entries, is_calibration, by_entry_name);
    for (int k = 0; k < num; ++k) {
        char *inside = NULL;
        if (status == PSFM_OK)
            status = psfm_path_join(ctx, path, entries[k]->d_name, &inside);
        if (status == PSFM_OK)
            status = read_file(ctx, inside, shift_lists, out);
        free(inside);
        free(entries[k]);
    }
    free(entries);
    return status;
}

void psfm_calibration_free(psfm_calibration *calibration) {
    for (size_t k = 0; k < calibration->num; ++k)
        free(calibration->items[k].name);
    free(calibration->items);
    *calibration = (psfm_calibration){0};
}

/* ---- whose camera ---- */

static bool is_word_end(char c) {
    return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'));
}

/* Whether a folder of the image's path, or its name up to a word's end, is that of the camera. */
static bool is_of_camera(const char *image, const char *name) {
    const size_t length = strlen(name);
    if (strcmp(image, name) == 0)
        return true;
    for (const char *part = image; part != NULL && *part != '\0';) {
        const char *slash = strchr(part, '/');
        if (strncasecmp(part, name, length) == 0 &&
            (slash != NULL ? part + length == slash : is_word_end(part[length])))
            return true;
        part = slash == NULL ? NULL : slash + 1;
    }
    return false;
}

const psfm_camera *psfm_calibration_find(const psfm_calibration *c, const char *image) {
    const psfm_calibrated_camera *best = NULL;
    for (size_t k = 0; k < c->num; ++k)
        if (is_of_camera(image, c->items[k].name) &&
            (best == NULL || strlen(c->items[k].name) > strlen(best->name)))
            best = &c->items[k];
    if (best == NULL && c->num == 1)
        best = &c->items[0];
    return best == NULL ? NULL : &best->camera;
}
