/* COLMAP model folders: finding the files, reading, replacing.
 *
 * Binary files are read if all three are there, otherwise text files. Writing makes all new files
 * under temporary names, removes the model that is there in either format, with the rig files that
 * would speak of images that are gone, and renames: there may be no model for a moment, but never a
 * mixture of two. */
#include "formats/colmap_model.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/number_locale.h"
#include "core/base/output.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"

static const char *const file_names[2][PSFM_NUM_MODEL_FILES] = {
    [PSFM_MODEL_TEXT] = {"cameras.txt", "images.txt", "points3D.txt"},
    [PSFM_MODEL_BINARY] = {"cameras.bin", "images.bin", "points3D.bin"},
};

void psfm_model_free(psfm_model *model) {
    if (model == NULL)
        return;
    if (model == NULL)
        return;
    for (size_t i = 0; i < model->num_images; ++i) {
        free(model->images[i].name);
        free(model->images[i].keypoints);
        free(model->images[i].point3D_ids);
    }
    for (size_t i = 0; i < model->num_points; ++i)
        free(model->points[i].track);
    free(model->cameras);
    free(model->images);
    free(model->points);
    *model = (psfm_model){0};
}

const psfm_camera *psfm_model_camera(const psfm_model *model, uint32_t camera_id) {
    if (model == NULL)
        return NULL;
    return psfm_find(&camera_id, model->cameras, model->num_cameras, sizeof *model->cameras,
                     psfm_compare_u32);
}

const psfm_model_image *psfm_model_image_by_id(const psfm_model *model, uint32_t image_id) {
    if (model == NULL)
        return NULL;
    return psfm_find(&image_id, model->images, model->num_images, sizeof *model->images,
                     psfm_compare_u32);
}

void psfm_model_image_center(const psfm_model_image *image, double center[3]) {
    double R[9];
    if (image == NULL || center == NULL)
        return;
    psfm_rotation_from_quat(image->cam_from_world_q, R);
    psfm_mat3_tmul_vec(R, image->cam_from_world_t, center);
    for (int k = 0; k < 3; ++k)
        center[k] = -center[k];
}

/* Models are often cut down to their poses: points3D emptied, images left as they were. The
 * references to points mean nothing then. */
static void drop_references_without_points(psfm_context *ctx, psfm_model_builder *builder) {
    psfm_model *model = &builder->model;
    size_t dropped = 0;
    for (size_t i = 0; model->num_points == 0 && i < model->num_images; ++i)
        for (size_t k = 0; k < model->images[i].num_keypoints; ++k) {
            dropped += model->images[i].point3D_ids[k] != PSFM_NO_POINT;
            model->images[i].point3D_ids[k] = PSFM_NO_POINT;
        }
    if (dropped > 0)
        psfm_log(ctx, PSFM_LOG_WARNING, "%s: no points, so %zu references to them are dropped",
                 builder->origin[PSFM_MODEL_POINTS].path, dropped);
}

psfm_status psfm_model_parse(psfm_context *ctx, psfm_model_format format,
                             const psfm_model_file files[PSFM_NUM_MODEL_FILES], psfm_model *model) {
    bool is_text = format == PSFM_MODEL_TEXT;
    psfm_model_builder builder = {0};
    psfm_status status = PSFM_OK;
    locale_t locale = psfm_number_locale_begin();
    for (int part = 0; status == PSFM_OK && part < PSFM_NUM_MODEL_FILES; ++part) {
        builder.origin[part].path = files[part].path;
        builder.origin[part].unit = is_text ? "line" : "byte";
        status = (is_text ? psfm_model_parse_text : psfm_model_parse_binary)(
            ctx, &files[part], (psfm_model_part)part, &builder);
    }
    psfm_number_locale_end(locale);
    if (status == PSFM_OK)
        status = psfm_model_sort(ctx, &builder);
    if (status == PSFM_OK) {
        drop_references_without_points(ctx, &builder);
        status = psfm_model_check(ctx, &builder.model, builder.origin, PSFM_ERR_FORMAT);
    }
    if (status != PSFM_OK)
        psfm_model_free(&builder.model);
    *model = builder.model;
    for (int part = 0; part < PSFM_NUM_MODEL_FILES; ++part)
        free(builder.origin[part].records);
    return status;
}

/* Which of the files of a format are there, as bits. */
static psfm_status find_files(psfm_context *ctx, const char *folder, psfm_model_format format,
                              unsigned *found) {
    *found = 0;
    for (unsigned part = 0; part < PSFM_NUM_MODEL_FILES; ++part) {
        char *path = NULL;
        psfm_status status = psfm_path_join(ctx, folder, file_names[format][part], &path);
        if (status != PSFM_OK)
            return status;
        if (psfm_path_is_file(path))
            *found |= 1u << part;
        free(path);
    }
    return PSFM_OK;
}

static psfm_status fail_missing(psfm_context *ctx, const char *folder, unsigned has_binary,
                                unsigned has_text) {
    char *first = NULL;
    unsigned in_first[2] = {0, 0};
    psfm_status status = psfm_path_join(ctx, folder, "0", &first);
    for (int format = 0; status == PSFM_OK && format < 2; ++format)
        status = find_files(ctx, first, (psfm_model_format)format, &in_first[format]);
    free(first);
    if (status != PSFM_OK)
        return status;
    if (!psfm_path_is_folder(folder))
        return psfm_fail(ctx, PSFM_ERR_IO, "%s: there is no such folder", folder);
    const char *const *names = file_names[has_binary != 0 ? PSFM_MODEL_BINARY : PSFM_MODEL_TEXT];
    unsigned has = has_binary != 0 ? has_binary : has_text;
    for (unsigned part = 0; has != 0 && part < PSFM_NUM_MODEL_FILES; ++part)
        if ((has & 1u << part) == 0)
            return psfm_fail(ctx, PSFM_ERR_IO, "%s: the COLMAP model lacks %s", folder,
                             names[part]);
    return psfm_fail(ctx, PSFM_ERR_IO, "%s: no COLMAP model (cameras, images, points3D) here%s",
                     folder,
                     (in_first[0] | in_first[1]) != 0 ? "; there is one in its folder 0" : "");
}

static psfm_status choose_format(psfm_context *ctx, const char *folder, psfm_model_format *format) {
    const unsigned all = (1u << PSFM_NUM_MODEL_FILES) - 1;
    unsigned has_binary = 0, has_text = 0;
    psfm_status status = find_files(ctx, folder, PSFM_MODEL_BINARY, &has_binary);
    if (status == PSFM_OK)
        status = find_files(ctx, folder, PSFM_MODEL_TEXT, &has_text);
    if (status != PSFM_OK)
        return status;
    if (has_binary != all && has_text != all)
        return fail_missing(ctx, folder, has_binary, has_text);
    if (has_binary == all && has_text == all)
        psfm_log(ctx, PSFM_LOG_WARNING, "%s: holds a binary and a text model; reading the binary",
                 folder);
    *format = has_binary == all ? PSFM_MODEL_BINARY : PSFM_MODEL_TEXT;
    return PSFM_OK;
}

psfm_status psfm_model_read(psfm_context *ctx, const char *folder, psfm_model *model) {
    psfm_status status = psfm_check_given(ctx, "psfm_model_read", folder != NULL && model != NULL);
    if (status != PSFM_OK)
        return status;
    *model = (psfm_model){0};
    psfm_model_format format = PSFM_MODEL_BINARY;
    psfm_model_file files[PSFM_NUM_MODEL_FILES] = {{0}};
    char *paths[PSFM_NUM_MODEL_FILES] = {NULL}, *bytes[PSFM_NUM_MODEL_FILES] = {NULL};
    status = psfm_path_check(ctx, folder);
    if (status == PSFM_OK)
        status = choose_format(ctx, folder, &format);
    for (int part = 0; status == PSFM_OK && part < PSFM_NUM_MODEL_FILES; ++part) {
        status = psfm_path_join(ctx, folder, file_names[format][part], &paths[part]);
        if (status == PSFM_OK)
            status =
                psfm_read_file(ctx, paths[part], PTRDIFF_MAX - 1, &bytes[part], &files[part].size);
        files[part].path = paths[part];
        files[part].bytes = bytes[part];
    }
    if (status == PSFM_OK)
        status = psfm_model_parse(ctx, format, files, model);
    for (int part = 0; part < PSFM_NUM_MODEL_FILES; ++part) {
        free(paths[part]);
        free(bytes[part]);
    }
    return status;
}

/* A text line keeps a name only without line ends, and without blanks around it. */
static psfm_status check_text_names(psfm_context *ctx, const psfm_model *model) {
    size_t with_blanks = 0;
    for (size_t i = 0; i < model->num_images; ++i) {
        const char *name = model->images[i].name;
        if (!psfm_name_fits_line(name))
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                             "image %u: a text model cannot keep the name '%.200s' (blank at its "
                             "end, or a line end); write a binary one",
                             model->images[i].id, name);
        with_blanks += strpbrk(name, " \t\v\f") != NULL;
    }
    if (with_blanks > 0)
        psfm_log(ctx, PSFM_LOG_WARNING,
                 "%zu image names have blanks; COLMAP reads such names from text models only up to "
                 "the first blank",
                 with_blanks);
    return PSFM_OK;
}

static psfm_status print_files(psfm_context *ctx, const psfm_model *model, psfm_model_format format,
                               const char *folder, psfm_output out[PSFM_NUM_MODEL_FILES]) {
    psfm_status status = PSFM_OK;
    for (int part = 0; status == PSFM_OK && part < PSFM_NUM_MODEL_FILES; ++part) {
        char *path = NULL;
        status = psfm_path_join(ctx, folder, file_names[format][part], &path);
        if (status == PSFM_OK)
            status = psfm_output_open(ctx, path, &out[part]);
        free(path);
        if (status != PSFM_OK)
            return status;
        FILE *file = out[part].file;
        if (format == PSFM_MODEL_TEXT)
            status = psfm_model_print_text(ctx, model, (psfm_model_part)part, file);
        else
            psfm_model_print_binary(model, (psfm_model_part)part, file);
        if (status != PSFM_OK)
            return status;
        if (ferror(file) || fflush(file) != 0 || fsync(fileno(file)) != 0)
            status = psfm_fail(ctx, PSFM_ERR_IO, "%s: write failed: %s", out[part].path,
                               strerror(errno));
    }
    return status;
}

psfm_status psfm_model_remove(psfm_context *ctx, const char *folder) {
    static const char *const names[] = {"cameras.txt",  "cameras.bin",  "images.txt", "images.bin",
                                        "points3D.txt", "points3D.bin", "rigs.txt",   "rigs.bin",
                                        "frames.txt",   "frames.bin"};
    psfm_status status = PSFM_OK;
    for (size_t k = 0; status == PSFM_OK && k < sizeof names / sizeof names[0]; ++k) {
        char *path = NULL;
        status = psfm_path_join(ctx, folder, names[k], &path);
        if (status == PSFM_OK && unlink(path) != 0 && errno != ENOENT && errno != ENOTDIR)
            status =
                psfm_fail(ctx, PSFM_ERR_IO, "%s: cannot be replaced: %s", path, strerror(errno));
        free(path);
    }
    return status;
}

psfm_status psfm_model_write(psfm_context *ctx, const psfm_model *model, psfm_model_format format,
                             const char *folder) {
    psfm_output out[PSFM_NUM_MODEL_FILES] = {{0}};
    psfm_status status = psfm_check_given(ctx, "psfm_model_write", model != NULL && folder != NULL);
    if (status == PSFM_OK && format != PSFM_MODEL_TEXT && format != PSFM_MODEL_BINARY)
        status = psfm_fail(ctx, PSFM_ERR_ARGUMENT, "there is no model format %d", (int)format);
    if (status == PSFM_OK)
        status = psfm_model_check(ctx, model, NULL, PSFM_ERR_ARGUMENT);
    if (status == PSFM_OK && format == PSFM_MODEL_TEXT)
        status = check_text_names(ctx, model);
    if (status == PSFM_OK)
        status = psfm_make_folders(ctx, folder);
    if (status == PSFM_OK)
        status = print_files(ctx, model, format, folder, out);
    /* All new files are safe on disk under temporary names. The old model goes before the first of
     * them appears, so that an interruption leaves no model rather than half of two. */
    if (status == PSFM_OK)
        status = psfm_model_remove(ctx, folder);
    for (int part = 0; status == PSFM_OK && part < PSFM_NUM_MODEL_FILES; ++part)
        status = psfm_output_commit(ctx, &out[part]);
    for (int part = 0; part < PSFM_NUM_MODEL_FILES; ++part)
        psfm_output_abort(&out[part]);
    return status;
}

/* Results of a run hold their models in folders of their own. Whoever names a run means its largest
 * model. */

static bool has_model(psfm_context *ctx, const char *folder) {
    static const char *const names[] = {"cameras.txt", "cameras.bin"};
    bool found = false;
    for (int k = 0; k < 2 && !found; ++k) {
        char *path = NULL;
        if (psfm_path_join(ctx, folder, names[k], &path) == PSFM_OK)
            found = psfm_path_is_file(path);
        free(path);
    }
    return found;
}

psfm_status psfm_model_folder(psfm_context *ctx, const char *path, char **folder) {
    static const char *const places[] = {"0", "model/0"};
    psfm_status status = PSFM_OK;
    for (int k = 0; k < 2 && !has_model(ctx, path); ++k) {
        char *inside = NULL;
        status = psfm_path_join(ctx, path, places[k], &inside);
        if (status != PSFM_OK)
            return status;
        if (has_model(ctx, inside)) {
            *folder = inside;
            return PSFM_OK;
        }
        free(inside);
    }
    return psfm_path_join(ctx, "", path, folder);
}
