/* Cameras and points of the models on the page, and a second run beside the first. */
#include "eval/compare_models.h"
#include "unit/report/report_page.h"

static psfm_context *ctx;

static cJSON *print(const fixture *f, size_t max_points) {
    printed_part embedding_component;
    assert_ok(ctx, psfm_report_print_models(ctx, &f->input, max_points,
                                            begin_part(&embedding_component)));
    return end_part(&embedding_component);
}

static const cJSON *model_of(const cJSON *tree, int k) {
    const cJSON *model = cJSON_GetArrayItem(member(tree, "models"), k);
    assert_non_null(model);
    return model;
}

/* ---- images ---- */

/* Each column of an image beside the model: its centre is -R^T t, its corners are where the lens
 * sees them at depth 1. */
static void every_image_is_that_of_the_model(void **state) {
    (void)state;
    fixture f;
    make_fixture(&f);
    f.camera.model = PSFM_CAMERA_OPENCV;
    const double params[8] = {500, 510, 315, 243, -0.1, 0.02, 1e-3, -2e-3};
    memcpy(f.camera.params, params, sizeof params);
    const double corner[4][2] = {{0, 0}, {640, 0}, {640, 480}, {0, 480}};
    double center[6], rotation[8], corners[16];
    for (int k = 0; k < 2; ++k) {
        double R[9], back[3];
        psfm_rotation_from_quat(f.images[k].cam_from_world_q, R);
        psfm_mat3_tmul_vec(R, f.images[k].cam_from_world_t, back);
        psfm_scale3(-1.0, back, center + 3 * k);
        memcpy(rotation + 4 * k, f.images[k].cam_from_world_q, 4 * sizeof(double));
        for (int c = 0; c < 4; ++c) {
            double ray[3];
            assert_true(psfm_camera_unproject(&f.camera, corner[c], ray));
            corners[8 * k + 2 * c] = ray[0] / ray[2];
            corners[8 * k + 2 * c + 1] = ray[1] / ray[2];
        }
    }
    cJSON *tree = print(&f, 10);
    const cJSON *model = model_of(tree, 0);
    assert_close(number_of(model, "points"), NUM, 0.0);
    assert_close(number_of(model, "cameras"), 1.0, 0.0);
    assert_column(model, "view", COLUMN_U32, (double[]){2, 1}, 2, 0.0);
    assert_column(model, "center", COLUMN_F32, center, 6, 1e-6);
    assert_column(model, "rotation", COLUMN_F32, rotation, 8, 1e-7);
    assert_column(model, "corners", COLUMN_F32, corners, 16, 1e-6);
    assert_column(model, "focal", COLUMN_F32, (double[]){500, 500}, 2, 0.0);
    cJSON_Delete(tree);
}

/* A fisheye sees its corners far off the axis: they are drawn at a right angle, each in its own
 * quarter. */
static void wide_corners_are_drawn_at_a_right_angle(void **state) {
    (void)state;
    fixture f;
    make_fixture(&f);
    f.camera.model = PSFM_CAMERA_OPENCV_FISHEYE;
    f.camera.params[0] = f.camera.params[1] = 230.0; /* 100 degrees off the axis */
    cJSON *tree = print(&f, 10);
    const double expected[16] = {-1, -1, 1, -1, 1, 1, -1, 1, -1, -1, 1, -1, 1, 1, -1, 1};
    assert_column(model_of(tree, 0), "corners", COLUMN_F32, expected, 16, 1e-7);
    cJSON_Delete(tree);
}

/* A lens that bends has a grid of rays from edge to edge, row by row; a pinhole has none. */
static void bent_photographs_have_their_rays(void **state) {
    (void)state;
    fixture f;
    for (int bent = 0; bent < 2; ++bent) {
        make_fixture(&f);
        if (bent) {
            const double params[4] = {500, 320, 240, -0.1};
            f.camera.model = PSFM_CAMERA_SIMPLE_RADIAL;
            memcpy(f.camera.params, params, sizeof params);
        }
        cJSON *tree = print(&f, 10);
        const cJSON *rays = member(model_of(tree, 0), "rays");
        size_t size, side = (size_t)number_of(rays, "side");
        assert_int_equal(cJSON_GetArraySize(member(rays, "xy")), 2);
        for (int k = 0; k < 2; ++k) {
            cJSON *text = cJSON_GetArrayItem(member(rays, "xy"), k);
            uint8_t *bytes = decode_text(cJSON_GetStringValue(text), &size);
            assert_int_equal(size, bent ? 8 * side * side : 0);
            for (size_t i = 0; i < size / 8; ++i) {
                const double xy[2] = {640.0 * (double)(i % side) / (double)(side - 1),
                                      480.0 * (double)(i / side) / (double)(side - 1)};
                double ray[3];
                assert_true(psfm_camera_unproject(&f.camera, xy, ray));
                for (size_t d = 0; d < 2; ++d)
                    assert_close(column_value(bytes + 8 * i + 4 * d, COLUMN_F32), ray[d] / ray[2],
                                 1e-6);
            }
            free(bytes);
        }
        cJSON_Delete(tree);
    }
}

/* ---- points ---- */

/* All points beside the model: errors in steps of a thirty-second of a pixel up to 8, unknown ones
 * as none, tracks of 255 images and more alike. */
static void every_point_is_that_of_the_model(void **state) {
    (void)state;
    fixture f;
    double xyz[3 * NUM], rgb[3 * NUM], error[NUM], length[NUM];
    make_fixture(&f);
    for (size_t k = 0; k < NUM; ++k) {
        f.points[k].track_length = 3 * k;
        for (int d = 0; d < 3; ++d) {
            xyz[3 * k + (size_t)d] = f.points[k].xyz[d];
            rgb[3 * k + (size_t)d] = f.points[k].rgb[d];
        }
        error[k] = fmin(round(32.0 * fmax(f.points[k].error, 0.0)), 255.0);
        length[k] = fmin(3.0 * (double)k, 255.0);
    }
    cJSON *tree = print(&f, 1000);
    assert_column(model_of(tree, 0), "xyz", COLUMN_F32, xyz, 3 * NUM, 1e-7);
    assert_column(model_of(tree, 0), "rgb", COLUMN_U8, rgb, 3 * NUM, 0.0);
    assert_column(model_of(tree, 0), "error", COLUMN_U8, error, NUM, 0.0);
    assert_column(model_of(tree, 0), "length", COLUMN_U8, length, NUM, 0.0);
    cJSON_Delete(tree);
}

/* Of too many, every so many-th; of two models in proportion. */
static void points_are_thinned_evenly(void **state) {
    (void)state;
    fixture f;
    make_fixture(&f);
    psfm_model models[2] = {f.model, f.model};
    uint32_t *views[2] = {f.views, f.views};
    models[1].num_points = 40;
    f.input.models = models;
    f.input.model_views = views;
    f.input.num_models = 2;
    for (int round = 0; round < 2; ++round) {
        size_t take[2] = {round == 0 ? NUM : 15, round == 0 ? 40 : 6};
        cJSON *tree = print(&f, round == 0 ? 140 : 21);
        for (int m = 0; m < 2; ++m) {
            double rgb[3 * NUM];
            for (size_t k = 0; k < take[m]; ++k)
                for (size_t d = 0; d < 3; ++d)
                    rgb[3 * k + d] = f.points[k * models[m].num_points / take[m]].rgb[d];
            assert_close(number_of(model_of(tree, m), "points"), m == 0 ? NUM : 40.0, 0.0);
            assert_column(model_of(tree, m), "rgb", COLUMN_U8, rgb, 3 * take[m], 0.0);
        }
        cJSON_Delete(tree);
    }
}

/* No model, and a model of nothing. */
static void nothing_is_an_empty_list(void **state) {
    (void)state;
    fixture f;
    make_fixture(&f);
    f.input.num_models = 0;
    cJSON *tree = print(&f, 10);
    assert_int_equal(cJSON_GetArraySize(member(tree, "models")), 0);
    cJSON_Delete(tree);
    f.input.num_models = 1;
    f.model.num_images = f.model.num_points = 0;
    tree = print(&f, 10);
    assert_string_equal(string_of(model_of(tree, 0), "view"), "");
    assert_string_equal(string_of(model_of(tree, 0), "xyz"), "");
    cJSON_Delete(tree);
}

/* ---- a second run ---- */

/* The same cameras moved, turned and twice as large, one of them a tenth off. */
static void make_other(const fixture *f, fixture *other) {
    static const double w[3] = {0.3, -0.2, 0.5};
    double G[9], R[9], turned[9], center[3], moved[3];
    *other = *f;
    other->model.cameras = &other->camera;
    other->model.images = other->images;
    other->model.points = other->points;
    other->input.models = &other->model;
    other->input.model_views = &other->model_views;
    other->model_views = other->views;
    psfm_rotation_exp(w, G);
    for (int k = 0; k < 2; ++k) {
        psfm_model_image *image = &other->images[k];
        psfm_model_image_center(&f->images[k], center);
        center[0] += 0.1 * k;
        psfm_mat3_mul_vec(G, center, moved);
        psfm_scale3(2.0, moved, moved);
        psfm_rotation_from_quat(image->cam_from_world_q, R);
        psfm_mat3_mul_t(R, G, turned);
        psfm_rotation_to_quat(turned, image->cam_from_world_q);
        psfm_mat3_mul_vec(turned, moved, image->cam_from_world_t);
        psfm_scale3(-1.0, image->cam_from_world_t, image->cam_from_world_t);
    }
}

static psfm_status print_other(const fixture *f, const fixture *g, cJSON **tree) {
    const psfm_report_other other = {&g->input, {"one </script>", "two \"2\""}};
    printed_part embedding_component;
    psfm_status status =
        psfm_report_print_other(ctx, &f->input, &other, 10, begin_part(&embedding_component));
    *tree = status == PSFM_OK ? end_part(&embedding_component) : NULL;
    if (status != PSFM_OK) {
        fclose(embedding_component.file);
        free(embedding_component.text);
    }
    return status;
}

static void assert_list(const cJSON *object, const char *name, const double *expected, int num) {
    assert_int_equal(cJSON_GetArraySize(member(object, name)), num);
    for (int k = 0; k < num; ++k)
        assert_close(cJSON_GetArrayItem(member(object, name), k)->valuedouble, expected[k], 1e-15);
}

/* The names of the graph, and a summary that says where the photographs are. */
static void name_images(fixture *f) {
    static char *names[3] = {"c", "b", "a"};
    static const char summary[] = "{\"photographs\":{\"folder\":\"/home/me\"},\"images\":[]}";
    f->input.names = names;
    assert_true(psfm_json_text_check(summary, sizeof summary - 1, &f->input.summary));
}

/* The comparison is the one of the two models, number by number; labels are text. */
static void comparisons_are_those_of_the_models(void **state) {
    (void)state;
    fixture f, g;
    psfm_comparison c;
    cJSON *tree;
    make_fixture(&f);
    make_other(&f, &g);
    name_images(&f);
    name_images(&g);
    assert_ok(ctx, psfm_compare_models(ctx, &f.model, &g.model, &c));
    assert_ok(ctx, print_other(&f, &g, &tree));
    const cJSON *comparison = member(tree, "comparison"), *from = member(comparison, "from_other");
    assert_list(from, "rotation", c.a_from_b.R, 9);
    assert_list(from, "translation", c.a_from_b.t, 3);
    assert_close(number_of(from, "scale"), c.a_from_b.scale, 1e-15);
    assert_true(fabs(c.a_from_b.scale - 0.5) < 0.1 && c.max_position > 1e-3);
    assert_close(number_of(comparison, "common"), 2.0, 0.0);
    assert_close(number_of(comparison, "only_a"), 0.0, 0.0);
    assert_close(number_of(comparison, "extent"), c.extent, 1e-8);
    assert_close(number_of(comparison, "median_position"), c.median_position, 1e-8);
    assert_close(number_of(comparison, "max_position"), c.max_position, 1e-8);
    assert_close(number_of(comparison, "median_rotation_deg"), c.median_rotation_deg, 1e-8);
    assert_close(number_of(comparison, "max_rotation_deg"), c.max_rotation_deg, 1e-8);
    for (int k = 0; k < 2; ++k) {
        const cJSON *image = cJSON_GetArrayItem(member(comparison, "images"), k);
        assert_string_equal(string_of(image, "name"), f.images[c.images[k].image_a].name);
        assert_close(number_of(image, "position"), c.images[k].position, 1e-8);
        assert_close(number_of(image, "rotation_deg"), c.images[k].rotation_deg, 1e-8);
    }
    const cJSON *labels = member(member(tree, "other"), "labels");
    assert_string_equal(cJSON_GetArrayItem(labels, 0)->valuestring, "one </script>");
    assert_string_equal(cJSON_GetArrayItem(labels, 1)->valuestring, "two \"2\"");
    psfm_comparison_free(&c);
    cJSON_Delete(tree);
}

/* What else the page has of the second run is that run's, but for where its photographs are. */
static void the_other_run_is_there(void **state) {
    (void)state;
    fixture f, g;
    cJSON *tree;
    make_fixture(&f);
    make_other(&f, &g);
    name_images(&f);
    name_images(&g);
    g.model.num_points = 40;
    assert_ok(ctx, print_other(&f, &g, &tree));
    const cJSON *other = member(tree, "other");
    assert_close(number_of(model_of(other, 0), "points"), 40.0, 0.0);
    assert_string_equal(cJSON_GetArrayItem(member(other, "names"), 2)->valuestring, "a");
    assert_true(cJSON_IsNull(member(member(member(other, "summary"), "photographs"), "folder")));
    assert_close(number_of(member(other, "residuals"), "observations"), 79.0, 0.0);
    cJSON_Delete(tree);
}

/* A run without a model, on either side, or without an image in common, is refused by name. */
static void what_cannot_be_compared_is_refused(void **state) {
    (void)state;
    fixture f, g;
    cJSON *tree;
    make_fixture(&f);
    make_other(&f, &g);
    f.input.num_models = 0;
    assert_int_equal(print_other(&f, &g, &tree), PSFM_ERR_DATA);
    assert_non_null(strstr(psfm_context_message(ctx), "one </script> has no model"));
    assert_int_equal(print_other(&g, &f, &tree), PSFM_ERR_DATA);
    assert_non_null(strstr(psfm_context_message(ctx), "two \"2\" has no model"));
    f.input.num_models = 1;
    for (int k = 0; k < 2; ++k)
        g.images[k].name = (char *)(k == 0 ? "x" : "y");
    assert_int_equal(print_other(&f, &g, &tree), PSFM_ERR_DATA);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_image_is_that_of_the_model),
        cmocka_unit_test(wide_corners_are_drawn_at_a_right_angle),
        cmocka_unit_test(bent_photographs_have_their_rays),
        cmocka_unit_test(every_point_is_that_of_the_model),
        cmocka_unit_test(points_are_thinned_evenly),
        cmocka_unit_test(nothing_is_an_empty_list),
        cmocka_unit_test(comparisons_are_those_of_the_models),
        cmocka_unit_test(the_other_run_is_there),
        cmocka_unit_test(what_cannot_be_compared_is_refused),
    };
    ctx = psfm_context_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    psfm_context_destroy(&ctx);
    return failed;
}
