#include "test_util.h"

#include "core/base/alloc.h"
#include "core/linalg/mat3.h"
#include "synth/scene.h"

#define NUM_KINDS 5 /* that have matches */
#define NUM_NAMES 10

static psfm_scene_options defaults(void) {
    psfm_scene_options options;
    psfm_options_init(&psfm_scene_option_table, &options);
    return options;
}

static psfm_scene make(psfm_context *ctx, int kind, uint64_t seed, psfm_scene_options options) {
    psfm_scene scene;
    assert_ok(ctx, psfm_scene_make(ctx, (psfm_scene_kind)kind, seed, &options, &scene));
    assert_ok(ctx, psfm_match_set_check(ctx, &scene.matches));
    return scene;
}

/* The point of a keypoint of an image, as an index into the truth. */
static size_t point_of(const psfm_scene *scene, uint32_t view, uint32_t keypoint) {
    return (size_t)scene->truth.images[view].point3D_ids[keypoint] - 1;
}

static void project_truth(const psfm_scene *scene, size_t image, const double xyz[3],
                          double xy[2]) {
    const psfm_model_image *view = &scene->truth.images[image];
    double R[9], ray[3];
    psfm_rotation_from_quat(view->cam_from_world_q, R);
    psfm_mat3_mul_vec(R, xyz, ray);
    psfm_axpy3(view->cam_from_world_t, 1.0, ray, ray);
    assert_true(psfm_camera_project(&scene->truth.cameras[0], ray, xy));
}

static void kinds_have_names(void **state) {
    (void)state;
    const char *const names[NUM_NAMES] = {"arena",     "field",  "room",  "facade", "general",
                                          "turntable", "statue", "board", "mug",    "city"};
    for (int k = 0; k < NUM_NAMES; ++k) {
        psfm_scene_kind kind;
        assert_string_equal(psfm_scene_kind_name((psfm_scene_kind)k), names[k]);
        assert_true(psfm_scene_kind_from_name(names[k], &kind));
        assert_int_equal(kind, k);
    }
    psfm_scene_kind kind;
    assert_null(psfm_scene_kind_name((psfm_scene_kind)NUM_NAMES));
    assert_false(psfm_scene_kind_from_name("court", &kind));
    assert_false(psfm_scene_kind_from_name(NULL, &kind));
}

static void without_noise_keypoints_are_exact(void **state) {
    psfm_context *ctx = *state;
    for (int kind = 0; kind < NUM_KINDS; ++kind) {
        for (int model = 0; model < PSFM_CAMERA_EQUIRECTANGULAR; ++model) {
            psfm_scene_options options = defaults();
            options.num_cameras = 6;
            options.noise_px = 0.0;
            options.off_plane = 0.3;
            options.camera_model = model;
            options.focal_px = model % 2 == 0 ? 1200 : 700;
            psfm_scene scene = make(ctx, kind, 3, options);
            assert_int_equal(scene.truth.cameras[0].model, model);
            for (size_t k = 0; k < scene.truth.num_points; ++k) {
                const psfm_model_point *point = &scene.truth.points[k];
                assert_close(point->error, 0.0, 1e-12);
                for (size_t m = 0; m < point->track_length; ++m) {
                    uint32_t image = point->track[m].image_id - 1;
                    const double *keypoint =
                        scene.truth.images[image].keypoints[point->track[m].keypoint_idx];
                    double xy[2];
                    project_truth(&scene, image, point->xyz, xy);
                    assert_true(xy[0] == keypoint[0] && xy[1] == keypoint[1]);
                }
            }
            psfm_scene_free(&scene);
        }
    }
}

static void noise_is_as_asked(void **state) {
    psfm_context *ctx = *state;
    psfm_scene scene = make(ctx, PSFM_SCENE_ARENA, 1, defaults());
    double sum[2] = {0}, squares[2] = {0};
    size_t n = 0;
    for (size_t k = 0; k < scene.truth.num_points; ++k) {
        const psfm_model_point *point = &scene.truth.points[k];
        double mean = 0.0;
        for (size_t m = 0; m < point->track_length; ++m) {
            uint32_t image = point->track[m].image_id - 1;
            const double *keypoint =
                scene.truth.images[image].keypoints[point->track[m].keypoint_idx];
            double xy[2];
            project_truth(&scene, image, point->xyz, xy);
            mean += hypot(keypoint[0] - xy[0], keypoint[1] - xy[1]) / (double)point->track_length;
            for (int c = 0; c < 2; ++c) {
                sum[c] += keypoint[c] - xy[c];
                squares[c] += (keypoint[c] - xy[c]) * (keypoint[c] - xy[c]);
            }
            ++n;
        }
        assert_close(point->error, mean, 1e-10);
    }
    for (int c = 0; c < 2; ++c) {
        assert_close(sqrt(squares[c] / (double)n), 0.7, 0.01);
        assert_close(sum[c] / (double)n, 0.0, 0.015);
    }
    psfm_scene_free(&scene);
}

static void truth_and_matches_are_of_one_piece(void **state) {
    psfm_context *ctx = *state;
    for (int kind = 0; kind < NUM_KINDS; ++kind) {
        psfm_scene_options options = defaults();
        options.num_cameras = 9;
        psfm_scene scene = make(ctx, kind, 2, options);
        const psfm_model *truth = &scene.truth;
        assert_int_equal(truth->num_images, 9);
        assert_int_equal(scene.matches.num_views, 9);
        assert_memory_equal(&truth->cameras[0], &scene.matches.cameras[0], sizeof(psfm_camera));
        size_t num_observations = 0, num_in_tracks = 0;
        for (size_t i = 0; i < 9; ++i) {
            const psfm_model_image *image = &truth->images[i];
            const psfm_view *view = &scene.matches.views[i];
            char name[32];
            snprintf(name, sizeof name, "cam_%04zu.jpg", i + 1);
            assert_string_equal(image->name, name);
            assert_string_equal(view->name, name);
            assert_true(image->id == i + 1 && view->id == image->id && image->camera_id == 1);
            assert_int_equal(image->num_keypoints, view->num_keypoints);
            assert_memory_equal(image->keypoints, view->keypoints,
                                view->num_keypoints * sizeof *view->keypoints);
            assert_non_null(view->rays);
            num_observations += image->num_keypoints;
            size_t num_rising = 0;
            for (size_t k = 0; k < image->num_keypoints; ++k) {
                assert_true(image->point3D_ids[k] >= 1 &&
                            image->point3D_ids[k] <= truth->num_points);
                num_rising += k > 0 && image->point3D_ids[k - 1] < image->point3D_ids[k];
            }
            /* the order of the keypoints tells nothing about the points */
            assert_close((double)num_rising / (double)image->num_keypoints, 0.5, 0.1);
        }
        for (size_t k = 0; k < truth->num_points; ++k) {
            const psfm_model_point *point = &truth->points[k];
            assert_int_equal(point->id, k + 1);
            assert_true(point->track_length > 0);
            num_in_tracks += point->track_length;
            for (size_t m = 0; m < point->track_length; ++m) {
                const psfm_track_element *element = &point->track[m];
                assert_true(m == 0 || element[-1].image_id < element->image_id);
                assert_int_equal(
                    truth->images[element->image_id - 1].point3D_ids[element->keypoint_idx],
                    point->id);
            }
        }
        assert_int_equal(num_observations, num_in_tracks);
        psfm_scene_free(&scene);
    }
}

/* Each keypoint is matched at most once; returns how many matches join different points. */
static size_t count_wrong(const psfm_scene *scene, const psfm_match_pair *pair) {
    const psfm_view *views = scene->matches.views;
    bool *used = calloc(views[pair->view2].num_keypoints + 1, sizeof *used);
    assert_non_null(used);
    size_t wrong = 0;
    for (size_t m = 0; m < pair->num_matches; ++m) {
        uint32_t k1 = pair->matches[m][0], k2 = pair->matches[m][1];
        assert_true(m == 0 || pair->matches[m - 1][0] < k1);
        assert_false(used[k2]);
        used[k2] = true;
        wrong += point_of(scene, pair->view1, k1) != point_of(scene, pair->view2, k2);
    }
    free(used);
    return wrong;
}

static void outliers_are_as_many_as_asked(void **state) {
    psfm_context *ctx = *state;
    const double shares[] = {0.0, 0.2, 0.6, 1.0};
    for (int kind = 0; kind < NUM_KINDS; ++kind) {
        for (int s = 0; s < 4; ++s) {
            psfm_scene_options options = defaults();
            options.num_cameras = 8;
            options.outliers = shares[s];
            psfm_scene scene = make(ctx, kind, 5, options);
            assert_true(scene.matches.num_pairs > 0);
            for (size_t p = 0; p < scene.matches.num_pairs; ++p) {
                const psfm_match_pair *pair = &scene.matches.pairs[p];
                assert_true(pair->num_matches >= 10);
                assert_close((double)count_wrong(&scene, pair),
                             shares[s] * (double)pair->num_matches, 0.5001);
            }
            psfm_scene_free(&scene);
        }
    }
}

static void misses_are_as_many_as_asked(void **state) {
    psfm_context *ctx = *state;
    const double shares[] = {0.0, 0.3, 0.9, 1.0};
    for (int s = 0; s < 4; ++s) {
        psfm_scene_options options = defaults();
        options.outliers = 0.0;
        options.miss = shares[s];
        psfm_scene scene = make(ctx, PSFM_SCENE_ARENA, 1, options);
        double common = 0.0, matched = 0.0;
        for (size_t p = 0; p < scene.matches.num_pairs; ++p) {
            const psfm_match_pair *pair = &scene.matches.pairs[p];
            const psfm_model_image *a = &scene.truth.images[pair->view1];
            for (size_t k = 0; k < a->num_keypoints; ++k) {
                const psfm_model_point *point = &scene.truth.points[a->point3D_ids[k] - 1];
                for (size_t m = 0; m < point->track_length; ++m)
                    common += point->track[m].image_id == pair->view2 + 1;
            }
            matched += (double)pair->num_matches;
        }
        assert_close(matched / common, 1.0 - shares[s], 0.005);
        psfm_scene_free(&scene);
    }
}

/* Whether xyz2 is the duplicate of xyz1: turned by 180 degrees about a vertical axis, whose place
 * is given by the first true match of the pair, or moved by one bay. */
static bool is_duplicate_of(int kind, const double xyz1[3], const double xyz2[3],
                            const double axis_sum[2]) {
    if (kind == PSFM_SCENE_FACADE)
        return fabs(xyz2[0] - xyz1[0] - 4.0) < 1e-9 && xyz1[1] == xyz2[1] && xyz1[2] == xyz2[2];
    return fabs(xyz1[0] + xyz2[0] - axis_sum[0]) < 1e-9 &&
           fabs(xyz1[1] + xyz2[1] - axis_sum[1]) < 1e-9 && xyz1[2] == xyz2[2];
}

/* The largest number of matches of a pair that agree on one duplicate. */
static size_t count_duplicates(const psfm_scene *scene, int kind, const psfm_match_pair *pair) {
    size_t best = 0;
    for (size_t first = 0; first < 20 && first < pair->num_matches; ++first) {
        size_t num = 0;
        double axis_sum[2] = {0};
        for (size_t m = first; m < pair->num_matches; ++m) {
            size_t p1 = point_of(scene, pair->view1, pair->matches[m][0]);
            size_t p2 = point_of(scene, pair->view2, pair->matches[m][1]);
            const double *a = scene->truth.points[p1].xyz, *b = scene->truth.points[p2].xyz;
            for (int c = 0; c < 2 && m == first; ++c)
                axis_sum[c] = a[c] + b[c];
            num += is_duplicate_of(kind, a, b, axis_sum);
        }
        best = num + first > best ? num + first : best;
    }
    return best;
}

static void duplicates_are_consistent_and_as_many_as_asked(void **state) {
    psfm_context *ctx = *state;
    for (int kind = 0; kind < NUM_KINDS; ++kind) {
        psfm_scene_options options = defaults();
        options.num_cameras = 30;
        options.duplicates = 0.15;
        options.outliers = 0.1;
        options.off_plane = 0.2;
        psfm_scene scene = make(ctx, kind, 4, options);
        size_t num_duplicates = 0;
        for (size_t p = 0; p < scene.matches.num_pairs; ++p) {
            const psfm_match_pair *pair = &scene.matches.pairs[p];
            double n = (double)pair->num_matches;
            double wrong = (double)count_wrong(&scene, pair);
            double duplicates = (double)count_duplicates(&scene, kind, pair);
            num_duplicates += scene.pair_is_duplicate[p];
            if (scene.pair_is_duplicate[p]) {
                assert_true(pair->num_matches >= 8);
                assert_true(duplicates >= 0.9 * n - 0.6 && duplicates <= 0.9 * n + 20.6);
                assert_true(wrong >= n - 3.0); /* a wrong match may hit the point itself */
            } else {
                assert_close(wrong, 0.1 * n, 0.5001);
            }
        }
        assert_close((double)num_duplicates, 0.15 * (double)scene.matches.num_pairs, 0.5001);
        psfm_scene_free(&scene);
    }
}

static void duplicates_that_nobody_sees_are_refused(void **state) {
    psfm_context *ctx = *state;
    psfm_scene_options options = defaults();
    options.num_points = 10;
    options.duplicates = 0.5;
    psfm_scene scene;
    assert_int_equal(psfm_scene_make(ctx, PSFM_SCENE_ARENA, 1, &options, &scene), PSFM_ERR_DATA);
    assert_non_null(strstr(psfm_context_message(ctx), "scene arena: 46 of 92 pairs"));
    assert_null(scene.matches.views);
    psfm_scene_free(&scene);
}

static void assert_same(const void *a, const void *b, size_t size) {
    if (size > 0)
        assert_memory_equal(a, b, size);
}

static void assert_scenes_equal(const psfm_scene *a, const psfm_scene *b) {
    assert_int_equal(a->matches.num_pairs, b->matches.num_pairs);
    assert_int_equal(a->truth.num_points, b->truth.num_points);
    assert_same(a->pair_is_duplicate, b->pair_is_duplicate, a->matches.num_pairs);
    assert_same(a->point_plane, b->point_plane, a->truth.num_points * sizeof(int));
    for (size_t k = 0; k < a->matches.num_views; ++k) {
        const psfm_view *x = &a->matches.views[k], *y = &b->matches.views[k];
        const psfm_model_image *p = &a->truth.images[k], *q = &b->truth.images[k];
        assert_int_equal(x->num_keypoints, y->num_keypoints);
        assert_same(x->keypoints, y->keypoints, x->num_keypoints * sizeof *x->keypoints);
        assert_same(x->rays, y->rays, x->num_keypoints * sizeof *x->rays);
        assert_same(p->cam_from_world_q, q->cam_from_world_q, sizeof p->cam_from_world_q);
        assert_same(p->cam_from_world_t, q->cam_from_world_t, sizeof p->cam_from_world_t);
        assert_same(p->point3D_ids, q->point3D_ids, p->num_keypoints * sizeof *p->point3D_ids);
    }
    for (size_t k = 0; k < a->matches.num_pairs; ++k) {
        const psfm_match_pair *x = &a->matches.pairs[k], *y = &b->matches.pairs[k];
        assert_int_equal(x->num_matches, y->num_matches);
        assert_same(x->matches, y->matches, x->num_matches * sizeof *x->matches);
    }
    for (size_t k = 0; k < a->truth.num_points; ++k)
        assert_same(a->truth.points[k].xyz, b->truth.points[k].xyz, sizeof a->truth.points[k].xyz);
}

static void same_seed_same_scene_for_any_threads(void **state) {
    psfm_context *ctx = *state;
    for (int kind = 0; kind < NUM_KINDS; ++kind) {
        psfm_scene_options options = defaults();
        options.num_cameras = 12;
        options.duplicates = 0.2;
        options.off_plane = 0.2;
        psfm_context_set_threads(ctx, 1);
        psfm_scene one = make(ctx, kind, 7, options);
        psfm_context_set_threads(ctx, 5);
        psfm_context_set_seed(ctx, 99); /* the context's seed is not the scene's */
        psfm_scene five = make(ctx, kind, 7, options), other = make(ctx, kind, 8, options);
        assert_scenes_equal(&one, &five);
        const double *t = one.truth.images[3].cam_from_world_t;
        assert_true(memcmp(t, other.truth.images[3].cam_from_world_t, 3 * sizeof *t) != 0);
        assert_true(
            memcmp(one.truth.points[3].xyz, other.truth.points[3].xyz, 3 * sizeof(double)) != 0);
        psfm_scene_free(&one);
        psfm_scene_free(&five);
        psfm_scene_free(&other);
    }
}

/* Distance of the points with this label from their best plane: the worst, in metres. Returns how
 * many there are. */
static size_t fit_plane(const psfm_scene *scene, int label, double *worst) {
    double mean[3] = {0}, C[9] = {0}, w[3], V[9];
    size_t n = 0;
    for (size_t k = 0; k < scene->truth.num_points; ++k)
        if (scene->point_plane[k] == label)
            psfm_axpy3(mean, 1.0, scene->truth.points[k].xyz, mean), ++n;
    psfm_scale3(n > 0 ? 1.0 / (double)n : 0.0, mean, mean);
    for (size_t k = 0; k < scene->truth.num_points; ++k) {
        double d[3];
        psfm_sub3(scene->truth.points[k].xyz, mean, d);
        for (int c = 0; c < 9 && scene->point_plane[k] == label; ++c)
            C[c] += d[c / 3] * d[c % 3];
    }
    psfm_mat3_eigen_symmetric(C, w, V);
    const double normal[3] = {V[0], V[3], V[6]};
    *worst = 0.0;
    for (size_t k = 0; k < scene->truth.num_points; ++k) {
        double d[3];
        psfm_sub3(scene->truth.points[k].xyz, mean, d);
        if (scene->point_plane[k] == label)
            *worst = fmax(*worst, fabs(psfm_dot3(d, normal)));
    }
    return n;
}

static void planes_are_planes(void **state) {
    psfm_context *ctx = *state;
    const int num_planes[NUM_KINDS] = {1, 1, 6, 1, 0};
    for (int round = 0; round < 2 * NUM_KINDS; ++round) {
        int kind = round % NUM_KINDS;
        psfm_scene_options options = defaults();
        options.num_cameras = 40;
        options.num_points = 3000;
        options.off_plane = 0.25;
        options.focal_px = kind == PSFM_SCENE_ROOM ? 500 : 1200; /* see the ceiling too */
        options.duplicates = round < NUM_KINDS ? 0.0 : 0.1;
        psfm_scene scene = make(ctx, kind, 6, options);
        double worst;
        for (int plane = 0; plane < num_planes[kind]; ++plane) {
            assert_true(fit_plane(&scene, plane, &worst) > 50);
            assert_close(worst, 0.0, 1e-11);
        }
        assert_int_equal(fit_plane(&scene, num_planes[kind], &worst), 0);
        double off = (double)fit_plane(&scene, -1, &worst) / (double)scene.truth.num_points;
        assert_true(worst > 0.3);
        assert_close(off, kind == PSFM_SCENE_GENERAL ? 1.0 : 0.25, 0.05);
        psfm_scene_free(&scene);
    }
}

static void every_image_sees_enough(void **state) {
    psfm_context *ctx = *state;
    const int sizes[] = {1, 2, 3, 46, 150};
    for (int kind = 0; kind < NUM_KINDS; ++kind) {
        for (int s = 0; s < 5; ++s) {
            psfm_scene_options options = defaults();
            options.num_cameras = sizes[s];
            psfm_scene scene = make(ctx, kind, 11, options);
            double sum = 0.0;
            for (int k = 0; k < sizes[s]; ++k) {
                assert_true(scene.matches.views[k].num_keypoints >= 350);
                sum += (double)scene.matches.views[k].num_keypoints;
            }
            assert_true(sum / sizes[s] >= 400 && sum / sizes[s] <= 1400);
            for (size_t p = 0; p < scene.matches.num_pairs; ++p)
                assert_true(scene.matches.pairs[p].num_matches >= 20);
            psfm_scene_free(&scene);
        }
    }
}

static void small_scenes_work(void **state) {
    psfm_context *ctx = *state;
    for (int kind = 0; kind < NUM_KINDS; ++kind) {
        for (int points = 1; points <= 64; points *= 4) {
            for (int cameras = 1; cameras <= 3; ++cameras) {
                psfm_scene_options options = defaults();
                options.num_cameras = cameras;
                options.num_points = points;
                options.outliers = points == 4 ? 1.0 : 0.2;
                options.off_plane = 0.5;
                psfm_scene scene = make(ctx, kind, 1, options);
                assert_int_equal(scene.matches.num_views, cameras);
                assert_int_equal(scene.matches.num_pairs, cameras * (cameras - 1) / 2);
                assert_true(scene.truth.num_points <= (size_t)points);
                psfm_scene_free(&scene);
            }
        }
    }
    psfm_scene scene;
    assert_ok(ctx, psfm_scene_make(ctx, PSFM_SCENE_ARENA, 0, NULL, &scene));
    assert_int_equal(scene.matches.num_views, 46);
    assert_int_equal(scene.matches.num_pairs, 92);
    assert_int_equal(scene.truth.num_points, 1500);
    psfm_scene_free(&scene);
}

static void bad_options_are_refused(void **state) {
    psfm_context *ctx = *state;
    psfm_scene scene;
    psfm_scene_options options = defaults();
    struct {
        double *field;
        double value;
        const char *name;
    } doubles[] = {
        {&options.noise_px, -0.1, "noise-px"},  {&options.noise_px, NAN, "noise-px"},
        {&options.outliers, 1.1, "outliers"},   {&options.off_plane, -1, "off-plane"},
        {&options.duplicates, 2, "duplicates"}, {&options.miss, INFINITY, "miss"},
        {&options.focal_px, 0, "focal-px"},
    };
    for (size_t k = 0; k < sizeof doubles / sizeof *doubles; ++k) {
        *doubles[k].field = doubles[k].value;
        assert_int_equal(psfm_scene_make(ctx, PSFM_SCENE_ROOM, 1, &options, &scene),
                         PSFM_ERR_ARGUMENT);
        assert_non_null(strstr(psfm_context_message(ctx), doubles[k].name));
        options = defaults();
    }
    struct {
        int *field;
        int value;
        const char *name;
    } ints[] = {
        {&options.num_cameras, 0, "cameras"},        {&options.num_points, -1, "points"},
        {&options.neighbours, 0, "neighbours"},      {&options.camera_model, 18, "camera-model"},
        {&options.camera_model, -1, "camera-model"},
    };
    for (size_t k = 0; k < sizeof ints / sizeof *ints; ++k) {
        *ints[k].field = ints[k].value;
        assert_int_equal(psfm_scene_make(ctx, PSFM_SCENE_ROOM, 1, &options, &scene),
                         PSFM_ERR_ARGUMENT);
        assert_non_null(strstr(psfm_context_message(ctx), ints[k].name));
        options = defaults();
    }
    assert_int_equal(psfm_scene_make(ctx, (psfm_scene_kind)5, 1, &options, &scene),
                     PSFM_ERR_ARGUMENT);
    psfm_scene_free(&scene);
}

static void every_failing_allocation_is_survived(void **state) {
    psfm_context *ctx = *state;
    psfm_context_set_threads(ctx, 1);
    for (int kind = 0; kind < 2; ++kind) { /* one without and one with buckets */
        psfm_scene_options options = defaults();
        options.num_cameras = 3;
        options.num_points = 200;
        options.duplicates = 0.3;
        psfm_status status = PSFM_ERR_MEMORY;
        size_t n = 1;
        for (; status != PSFM_OK; ++n) {
            psfm_scene scene;
            psfm_alloc_fail_after(n);
            status = psfm_scene_make(ctx, (psfm_scene_kind)kind, 1, &options, &scene);
            assert_true(status == PSFM_OK || status == PSFM_ERR_MEMORY);
            assert_true(status == PSFM_OK || scene.matches.views == NULL);
            psfm_scene_free(&scene);
        }
        psfm_alloc_fail_after(0);
        assert_true(n > 100);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_have_names),
        cmocka_unit_test(without_noise_keypoints_are_exact),
        cmocka_unit_test(noise_is_as_asked),
        cmocka_unit_test(truth_and_matches_are_of_one_piece),
        cmocka_unit_test(outliers_are_as_many_as_asked),
        cmocka_unit_test(misses_are_as_many_as_asked),
        cmocka_unit_test(duplicates_are_consistent_and_as_many_as_asked),
        cmocka_unit_test(duplicates_that_nobody_sees_are_refused),
        cmocka_unit_test(same_seed_same_scene_for_any_threads),
        cmocka_unit_test(planes_are_planes),
        cmocka_unit_test(every_image_sees_enough),
        cmocka_unit_test(small_scenes_work),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests_name("synth/scene", tests, open_context, close_context);
}
