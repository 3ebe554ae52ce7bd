/* A scene in the layout of the Image Matching Challenge's Phototourism data: photographs,
 * calibration_<image>.h5 (K 3 x 3, R 3 x 3, T 3, world to camera) and lists of images ("bags"),
 * anywhere below one folder. */
#ifndef PSFM_BENCH_IMC_SCENE_H
#define PSFM_BENCH_IMC_SCENE_H

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/name_index.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "core/linalg/mat3.h"
#include "formats/hdf5_file.h"
#include "images/image/image_io.h"
#include "images/image/image_list.h"
#include "planarsfm/model.h"

/* One list of images. */
typedef struct {
    char *path; /* relative to the scene */
    size_t *images;
    size_t num;
} imc_bag;

/* Owns everything. Images are known by their names without folders. */
typedef struct {
    psfm_context *ctx;
    const char *folder;
    psfm_image_list files;
    const char **names;    /* of files.names, without folders */
    psfm_name_index index; /* of names and of names without their endings */
    imc_bag *bags;
    size_t num_bags, capacity;
    bool *wanted; /* per image: it is in a bag */
} imc_scene;

static inline const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

static inline void imc_scene_free(imc_scene *s) {
    for (size_t k = 0; k < s->num_bags; ++k) {
        free(s->bags[k].path);
        free(s->bags[k].images);
    }
    free(s->bags);
    free(s->wanted);
    free((void *)s->names);
    psfm_name_index_free(&s->index);
    psfm_image_list_free(&s->files);
}

static inline psfm_status index_images(imc_scene *s) {
    psfm_status status = PSFM_ALLOC(s->ctx, s->files.num, &s->names);
    for (size_t k = 0; status == PSFM_OK && k < s->files.num; ++k)
        s->names[k] = base_name(s->files.names[k]);
    if (status == PSFM_OK)
        status = psfm_name_index_init(s->ctx, s->names, s->files.num, &s->index);
    for (size_t k = 1; status == PSFM_OK && k < s->files.num; ++k)
        if (strcmp(s->index.sorted[k - 1].name, s->index.sorted[k].name) == 0)
            status = psfm_fail(s->ctx, PSFM_ERR_DATA, "%s: two images are called %s", s->folder,
                               s->index.sorted[k].name);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(s->ctx, s->files.num, &s->wanted);
    return status;
}

/* Adds the image that a line begins with; lines that begin with no image are an error. */
static inline psfm_status add_line(imc_scene *s, imc_bag *bag, size_t *capacity, const char *line,
                                   size_t length) {
    size_t end = 0, begin = 0, idx;
    while (end < length && line[end] != ' ' && line[end] != '\t' && line[end] != ',')
        ++end;
    for (size_t k = 0; k < end; ++k)
        begin = line[k] == '/' ? k + 1 : begin;
    if (!psfm_name_index_find(&s->index, line + begin, end - begin, &idx))
        return psfm_fail(s->ctx, PSFM_ERR_DATA, "%s/%s: there is no image %.*s", s->folder,
                         bag->path, (int)(end - begin), line + begin);
    psfm_status status = PSFM_RESERVE(s->ctx, &bag->images, capacity, bag->num + 1);
    if (status == PSFM_OK) {
        bag->images[bag->num++] = idx;
        s->wanted[idx] = true;
    }
    return status;
}

static inline psfm_status read_bag(imc_scene *s, const char *name) {
    char *path = NULL, *bytes = NULL;
    size_t size = 0, capacity = 0;
    psfm_status status = PSFM_RESERVE(s->ctx, &s->bags, &s->capacity, s->num_bags + 1);
    if (status != PSFM_OK)
        return status;
    imc_bag *bag = &s->bags[s->num_bags++];
    *bag = (imc_bag){0};
    status = psfm_strdup(s->ctx, name, &bag->path);
    if (status == PSFM_OK)
        status = psfm_path_join(s->ctx, s->folder, name, &path);
    if (status == PSFM_OK)
        status = psfm_read_file(s->ctx, path, (size_t)1 << 24, &bytes, &size);
    for (size_t begin = 0; status == PSFM_OK && begin < size;) {
        const char *newline = memchr(bytes + begin, '\n', size - begin);
        size_t end = newline == NULL ? size : (size_t)(newline - bytes), next = end + 1;
        psfm_trim(bytes, &begin, &end);
        if (end > begin && bytes[begin] != '#')
            status = add_line(s, bag, &capacity, bytes + begin, end - begin);
        begin = next;
    }
    free(bytes);
    free(path);
    return status;
}

/* Lists of images are text files with "bag" in their names. */
static inline bool is_bag(const char *path) {
    const char *name = base_name(path), *end = strrchr(name, '.');
    return end != NULL && strcmp(end, ".txt") == 0 && strstr(name, "bag") != NULL;
}

static inline psfm_status imc_scene_open(psfm_context *ctx, const char *folder, imc_scene *s) {
    *s = (imc_scene){.ctx = ctx, .folder = folder};
    psfm_status status = psfm_image_list_folder(ctx, folder, &s->files);
    if (status == PSFM_OK)
        status = index_images(s);
    for (size_t k = 0; status == PSFM_OK && k < s->files.num_others; ++k)
        if (is_bag(s->files.others[k]))
            status = read_bag(s, s->files.others[k]);
    return status;
}

/* ---- calibrations ---- */

/* The file calibration_<image>.h5 of an image, with or without the image's ending. */
static inline const char *find_calibration(const imc_scene *s, const char *image) {
    const char *end = strrchr(image, '.');
    int length = end == NULL ? (int)strlen(image) : (int)(end - image);
    char wanted[2][512];
    snprintf(wanted[0], sizeof wanted[0], "calibration_%.*s.h5", length, image);
    snprintf(wanted[1], sizeof wanted[1], "calibration_%s.h5", image);
    for (size_t k = 0; k < s->files.num_others; ++k)
        for (int w = 0; w < 2; ++w)
            if (strcmp(base_name(s->files.others[k]), wanted[w]) == 0)
                return s->files.others[k];
    return NULL;
}

static inline psfm_status read_matrix(psfm_h5 *h5, const char *name, size_t num, double *out) {
    hid_t dataset = H5Dopen2(h5->file, name, H5P_DEFAULT);
    hid_t space = dataset < 0 ? -1 : H5Dget_space(dataset);
    bool ok = space >= 0 && H5Sget_simple_extent_npoints(space) == (hssize_t)num &&
              H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0;
    if (space >= 0)
        H5Sclose(space);
    if (dataset >= 0)
        H5Dclose(dataset);
    return ok ? PSFM_OK
              : psfm_fail(h5->ctx, PSFM_ERR_FORMAT, "%s: %s does not have %zu numbers", h5->path,
                          name, num);
}

static inline psfm_status read_calibration(psfm_h5 *h5, psfm_camera *camera,
                                           psfm_model_image *image) {
    double K[9], R[9];
    psfm_status status = read_matrix(h5, "K", 9, K);
    if (status == PSFM_OK)
        status = read_matrix(h5, "R", 9, R);
    if (status == PSFM_OK)
        status = read_matrix(h5, "T", 3, image->cam_from_world_t);
    if (status != PSFM_OK)
        return status;
    const double params[4] = {K[0], K[4], K[2], K[5]};
    memcpy(camera->params, params, sizeof params);
    psfm_rotation_to_quat(R, image->cam_from_world_q);
    return PSFM_OK;
}

/* Adds the camera and the pose of an image; id is that of both. */
static inline psfm_status add_image(const imc_scene *s, size_t idx, uint32_t id,
                                    psfm_model *model) {
    char *image_path = NULL, *h5_path = NULL;
    psfm_h5 h5 = {0};
    psfm_image photo = {0};
    psfm_camera *camera = &model->cameras[model->num_cameras++];
    psfm_model_image *image = &model->images[model->num_images++];
    *camera = (psfm_camera){.id = id, .model = PSFM_CAMERA_PINHOLE};
    *image = (psfm_model_image){.id = id, .camera_id = id};
    const char *calibration = find_calibration(s, s->names[idx]);
    psfm_status status = psfm_strdup(s->ctx, s->names[idx], &image->name);
    if (status == PSFM_OK && calibration == NULL)
        status = psfm_fail(s->ctx, PSFM_ERR_DATA, "%s: there is no calibration_*.h5 of image %s",
                           s->folder, s->names[idx]);
    if (status == PSFM_OK)
        status = psfm_path_join(s->ctx, s->folder, calibration, &h5_path);
    if (status == PSFM_OK)
        status = psfm_h5_open(s->ctx, h5_path, &h5);
    if (status == PSFM_OK)
        status = read_calibration(&h5, camera, image);
    psfm_h5_close(&h5);
    if (status == PSFM_OK)
        status = psfm_path_join(s->ctx, s->folder, s->files.names[idx], &image_path);
    if (status == PSFM_OK)
        status = psfm_image_read(s->ctx, image_path, PSFM_IMAGE_GRAY, &photo);
    camera->width = (uint64_t)photo.width;
    camera->height = (uint64_t)photo.height;
    psfm_image_free(&photo);
    free(h5_path);
    free(image_path);
    return status;
}

/* The true cameras and poses of the images that are in a bag; the image of index k has id k + 1. */
static inline psfm_status imc_scene_truth(const imc_scene *s, psfm_model *model) {
    *model = (psfm_model){0};
    psfm_status status = PSFM_ALLOC(s->ctx, s->files.num, &model->cameras);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(s->ctx, s->files.num, &model->images);
    for (size_t k = 0; status == PSFM_OK && k < s->files.num; ++k)
        if (s->wanted[k])
            status = add_image(s, k, (uint32_t)k + 1, model);
    if (status != PSFM_OK)
        psfm_model_free(model);
    return status;
}

#endif
