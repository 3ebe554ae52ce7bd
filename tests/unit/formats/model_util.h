/* A small model with everything in it, and the comparison of models bit by bit. */
#ifndef PSFM_TEST_MODEL_UTIL_H
#define PSFM_TEST_MODEL_UTIL_H

#include <float.h>

#include "unit/formats/io_util.h"

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "formats/colmap_model.h"

static inline bool same_doubles(const double *a, const double *b, size_t num) {
    return num == 0 || memcmp(a, b, num * sizeof *a) == 0;
}

static inline void assert_same_image(const psfm_model_image *a, const psfm_model_image *b) {
    assert_int_equal(a->id, b->id);
    assert_int_equal(a->camera_id, b->camera_id);
    assert_string_equal(a->name, b->name);
    assert_true(same_doubles(a->cam_from_world_q, b->cam_from_world_q, 4));
    assert_true(same_doubles(a->cam_from_world_t, b->cam_from_world_t, 3));
    assert_int_equal(a->num_keypoints, b->num_keypoints);
    for (size_t k = 0; k < a->num_keypoints; ++k) {
        assert_true(same_doubles(a->keypoints[k], b->keypoints[k], 2));
        assert_true(a->point3D_ids[k] == b->point3D_ids[k]);
    }
}

static inline void assert_same_model(const psfm_model *a, const psfm_model *b) {
    assert_int_equal(a->num_cameras, b->num_cameras);
    assert_int_equal(a->num_images, b->num_images);
    assert_int_equal(a->num_points, b->num_points);
    for (size_t i = 0; i < a->num_cameras; ++i) {
        const psfm_camera *left = &a->cameras[i], *right = &b->cameras[i];
        assert_int_equal(left->id, right->id);
        assert_int_equal(left->model, right->model);
        assert_true(left->width == right->width && left->height == right->height);
        assert_true(same_doubles(left->params, right->params, PSFM_CAMERA_MAX_PARAMS));
    }
    for (size_t i = 0; i < a->num_images; ++i)
        assert_same_image(&a->images[i], &b->images[i]);
    for (size_t i = 0; i < a->num_points; ++i) {
        const psfm_model_point *left = &a->points[i], *right = &b->points[i];
        assert_true(left->id == right->id);
        assert_true(same_doubles(left->xyz, right->xyz, 3));
        assert_memory_equal(left->rgb, right->rgb, 3);
        assert_true(same_doubles(&left->error, &right->error, 1));
        assert_int_equal(left->track_length, right->track_length);
        for (size_t k = 0; k < left->track_length; ++k) {
            assert_int_equal(left->track[k].image_id, right->track[k].image_id);
            assert_int_equal(left->track[k].keypoint_idx, right->track[k].keypoint_idx);
        }
    }
}

static inline void *test_alloc(size_t num, size_t size) {
    void *memory = NULL;
    assert_int_equal(psfm_alloc(NULL, num, size, &memory), PSFM_OK);
    return memory;
}

static inline void make_cameras(psfm_model *model, psfm_rng *rng) {
    enum { COLMAP_MODELS = 11 }; /* of version 3.8, which reads them back */
    model->num_cameras = COLMAP_MODELS;
    model->cameras = test_alloc(model->num_cameras, sizeof *model->cameras);
    for (size_t i = 0; i < model->num_cameras; ++i) {
        psfm_camera *camera = &model->cameras[i];
        camera->id = (uint32_t)(2 * i + 1);
        camera->model = (psfm_camera_model)i;
        camera->width = 1280 + i;
        camera->height = 720;
        int num = psfm_camera_num_params(camera->model);
        for (int k = 0; k < num; ++k)
            camera->params[k] = k < 4 ? psfm_rng_range(rng, 600, 700) : psfm_rng_normal(rng) * 0.01;
        if (num == 4 && camera->model != PSFM_CAMERA_PINHOLE)
            camera->params[3] = -0.01;
    }
}

/* Image i sees point k with keypoint 2 k; odd keypoints see nothing. */
static inline void make_images(psfm_model *model, psfm_rng *rng, size_t num, size_t num_points) {
    model->num_images = num;
    model->images = test_alloc(num, sizeof *model->images);
    for (size_t i = 0; i < num; ++i) {
        psfm_model_image *image = &model->images[i];
        image->id = (uint32_t)(i * i + 1);
        image->camera_id = model->cameras[i % model->num_cameras].id;
        char name[64];
        snprintf(name, sizeof name, "folder/%02zu.jpg", i);
        assert_int_equal(psfm_strdup(NULL, name, &image->name), PSFM_OK);
        double norm = 0.0;
        for (int k = 0; k < 4; ++k) {
            image->cam_from_world_q[k] = psfm_rng_normal(rng);
            norm += image->cam_from_world_q[k] * image->cam_from_world_q[k];
        }
        for (int k = 0; k < 4; ++k)
            image->cam_from_world_q[k] /= sqrt(norm);
        for (int k = 0; k < 3; ++k)
            image->cam_from_world_t[k] = psfm_rng_normal(rng);
        assert_int_equal(psfm_model_image_alloc(NULL, image, 2 * num_points), PSFM_OK);
        for (size_t k = 0; k < 2 * num_points; ++k) {
            image->keypoints[k][0] = psfm_rng_range(rng, 0, 1280);
            image->keypoints[k][1] = psfm_rng_range(rng, 0, 720);
            image->point3D_ids[k] = k % 2 == 0 ? 10 + k / 2 : PSFM_NO_POINT;
        }
    }
}

static inline void make_points(psfm_model *model, psfm_rng *rng, size_t num) {
    model->num_points = num;
    model->points = test_alloc(num, sizeof *model->points);
    for (size_t i = 0; i < num; ++i) {
        psfm_model_point *point = &model->points[i];
        point->id = 10 + i;
        for (int k = 0; k < 3; ++k) {
            point->xyz[k] = psfm_rng_normal(rng);
            point->rgb[k] = (uint8_t)psfm_rng_below(rng, 256);
        }
        point->error = psfm_rng_uniform(rng);
        assert_int_equal(psfm_model_point_alloc(NULL, point, model->num_images), PSFM_OK);
        for (size_t k = 0; k < model->num_images; ++k)
            point->track[k] = (psfm_track_element){model->images[k].id, (uint32_t)(2 * i)};
    }
}

/* All camera models, `num_images` images, every point in every image. */
static inline void make_model(psfm_model *model, size_t num_images, size_t num_points) {
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, num_images, num_points);
    *model = (psfm_model){0};
    make_cameras(model, &rng);
    make_images(model, &rng, num_images, num_points);
    make_points(model, &rng, num_points);
}

/* Numbers that a careless printer or parser bends. */
static inline void make_awkward(psfm_model *model) {
    double(*keypoints)[2] = model->images[0].keypoints;
    keypoints[1][0] = -0.0;
    keypoints[1][1] = DBL_TRUE_MIN;
    keypoints[3][0] = DBL_MAX;
    keypoints[3][1] = 0.1 + 0.2;
    model->points[0].error = -1.0;
    model->points[1].xyz[0] = nextafter(1.0, 2.0);
    model->images[1].cam_from_world_t[0] = -DBL_MIN;
    model->images[2].cam_from_world_q[0] = 5.0; /* need not be normalised */
}

#endif
