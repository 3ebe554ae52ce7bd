/* Reprojection errors on the page: counted, sampled, and their means over the sensor. */
#include "core/base/rng.h"
#include "unit/report/report_page.h"

static psfm_context *ctx;

static cJSON *print(const psfm_report_input *input, size_t max_residuals) {
    printed_part embedding_component;
    assert_ok(ctx, psfm_report_print_residuals(ctx, input, max_residuals,
                                               begin_part(&embedding_component)));
    return end_part(&embedding_component);
}

static double item_of(const cJSON *object, const char *name, size_t k) {
    const cJSON *item = cJSON_GetArrayItem(member(object, name), (int)k);
    assert_non_null(item);
    return item->valuedouble;
}

/* Moves the keypoints of both images by errors of up to `most` pixels, far more of small ones. */
static void scatter(fixture *f, double most) {
    psfm_rng rng = psfm_rng_make(7, PSFM_RNG_TEST, 1, 1);
    make_fixture(f);
    for (int i = 0; i < 2; ++i)
        for (int k = 0; k < NUM; ++k) {
            double length = most * pow(psfm_rng_uniform(&rng), 3.0);
            double way = psfm_rng_range(&rng, 0.0, 2.0 * M_PI);
            f->keypoints[i][k][0] += 0.25 * i + length * cos(way);
            f->keypoints[i][k][1] += 0.5 * i + length * sin(way);
        }
}

/* Projected minus observed, of an observation that has a point. */
static void residual_of(const fixture *f, int image, int keypoint, double d[2]) {
    const psfm_model_image *i = &f->images[image];
    double R[9], ray[3];
    psfm_rotation_from_quat(i->cam_from_world_q, R);
    psfm_mat3_mul_vec(R, f->points[i->point3D_ids[keypoint] - 10].xyz, ray);
    psfm_axpy3(ray, 1.0, i->cam_from_world_t, ray);
    assert_true(psfm_camera_project(&f->camera, ray, d));
    for (int c = 0; c < 2; ++c)
        d[c] -= i->keypoints[keypoint][c];
}

static bool has_point(const fixture *f, int image, int keypoint) {
    return f->images[image].point3D_ids[keypoint] != PSFM_NO_POINT;
}

/* ---- the distribution ---- */

/* The bins are those of a histogram up to a limit that no more than one in a hundred is above. */
static void errors_are_counted_in_bins(void **state) {
    (void)state;
    static const double most[] = {0.05, 0.9, 11.0, 90.0};
    for (int m = 0; m < 4; ++m) {
        fixture f;
        double sum = 0.0, limit, above = 0.0;
        scatter(&f, most[m]);
        cJSON *tree = print(&f.input, 1000000);
        const cJSON *r = member(tree, "residuals");
        size_t num = (size_t)number_of(r, "observations"), bins[48] = {0};
        size_t num_bins = (size_t)cJSON_GetArraySize(member(r, "bins"));
        limit = number_of(r, "limit");
        assert_true(num_bins == 48 && num == 2 * NUM - 1);
        assert_true(log2(limit) == round(log2(limit)) && limit >= 0.25);
        for (int k = 0; k < 2 * NUM; ++k) {
            double d[2];
            if (!has_point(&f, k / NUM, k % NUM))
                continue;
            residual_of(&f, k / NUM, k % NUM, d);
            double fine = floor(64.0 * hypot(d[0], d[1])) / 64.0; /* as it is counted */
            sum += hypot(d[0], d[1]);
            if (fine < limit && fine < 64.0)
                ++bins[(size_t)(fine / limit * 48.0)];
            else
                above += 1.0;
        }
        for (size_t k = 0; k < 48; ++k)
            assert_close(item_of(r, "bins", k), (double)bins[k], 0.0);
        assert_close(number_of(r, "above"), above, 0.0);
        assert_true(above <= 0.01 * (double)num || limit >= 64.0);
        assert_close(number_of(r, "mean"), sum / (double)num, 1e-8 * (1.0 + sum));
        cJSON_Delete(tree);
    }
}

/* Observations of points that are gone, or behind their image, do not count. */
static void what_has_no_error_is_not_counted(void **state) {
    (void)state;
    fixture f;
    make_fixture(&f);
    f.ids[1][5] = 999;
    f.points[20].xyz[2] = -50.0; /* seen by both */
    cJSON *tree = print(&f.input, 1000000);
    assert_close(number_of(member(tree, "residuals"), "observations"), 2.0 * NUM - 4.0, 0.0);
    cJSON_Delete(tree);
}

/* Tracks by their length, of all models; those of 64 images and more together. */
static void tracks_are_counted_by_length(void **state) {
    (void)state;
    fixture f;
    make_fixture(&f);
    for (size_t k = 0; k < NUM; ++k)
        f.points[k].track_length = 2 + k;
    cJSON *tree = print(&f.input, 1000000);
    const cJSON *r = member(tree, "residuals");
    assert_int_equal(cJSON_GetArraySize(member(r, "lengths")), 65);
    for (size_t k = 0; k < 65; ++k)
        assert_close(item_of(r, "lengths", k), k < 2 ? 0.0 : k < 64 ? 1.0 : NUM - 62.0, 0.0);
    cJSON_Delete(tree);
}

/* ---- samples ---- */

/* All errors of each image, in the order of the graph: where, and projected minus observed. */
static void samples_are_those_of_the_model(void **state) {
    (void)state;
    fixture f;
    static const int order[2] = {1, 0}; /* b is image 1 of the graph, a is 2 */
    double expected[8 * NUM];
    size_t num = 0;
    scatter(&f, 3.0);
    for (int i = 0; i < 2; ++i)
        for (int k = 0; k < NUM; ++k) {
            double d[2];
            if (!has_point(&f, order[i], k))
                continue;
            residual_of(&f, order[i], k, d);
            for (int c = 0; c < 2; ++c) {
                expected[num + (size_t)c] = round(f.keypoints[order[i]][k][c]);
                expected[num + 2 + (size_t)c] = round(128.0 * d[c]);
            }
            num += 4;
        }
    cJSON *tree = print(&f.input, 1000000);
    const cJSON *r = member(tree, "residuals");
    assert_close(number_of(r, "unit"), 128.0, 0.0);
    assert_column(r, "first", COLUMN_U32, (double[]){0, 0, NUM, 2 * NUM - 1}, 4, 0.0);
    assert_column(r, "samples", COLUMN_I16, expected, num, 0.0);
    cJSON_Delete(tree);
}

/* Of a limit every image gets its share, 12 at least and 150 at most, spread over its keypoints. */
static void samples_are_spread_over_an_image(void **state) {
    (void)state;
    static const struct {
        size_t most, each;
    } cases[] = {{0, 12}, {30, 12}, {80, 20}, {400, 99}, {400000, 99}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
        fixture f;
        size_t num;
        make_fixture(&f);
        f.ids[1][50] = PSFM_NO_POINT; /* 99 of each */
        for (int k = 0; k < NUM; ++k)
            f.keypoints[1][k][0] = k;
        cJSON *tree = print(&f.input, cases[c].most);
        const cJSON *r = member(tree, "residuals");
        double *samples = column_of(r, "samples", COLUMN_I16, &num);
        double each = (double)cases[c].each, last = -1.0;
        assert_column(r, "first", COLUMN_U32, (double[]){0, 0, each, 2.0 * each}, 4, 0.0);
        assert_int_equal(num, 8 * cases[c].each);
        for (size_t k = 0; k < cases[c].each; ++k) {
            double gap = samples[4 * k] - last;
            assert_true(gap >= 1.0 && gap <= 99.0 / each + 2.0);
            last = samples[4 * k];
        }
        assert_close(last, 99.0, 0.0); /* the last one is among them */
        free(samples);
        cJSON_Delete(tree);
    }
}

/* ---- over the sensor ---- */

/* Cells have the number and the mean of the residuals at the keypoints that fall into them; those
 * outside the photograph fall into the nearest. */
static void fields_are_means_over_the_sensor(void **state) {
    (void)state;
    enum { CELLS = 16 * 12 };
    fixture f;
    double sums[CELLS][3] = {{0.0}}, expected[3 * CELLS];
    scatter(&f, 4.0);
    f.keypoints[0][0][0] = -5.0;
    f.keypoints[0][1][1] = 480.0;
    f.keypoints[1][2][0] = 700.0;
    for (int k = 0; k < 2 * NUM; ++k) {
        const double *xy = f.keypoints[k / NUM][k % NUM];
        double d[2];
        if (!has_point(&f, k / NUM, k % NUM))
            continue;
        residual_of(&f, k / NUM, k % NUM, d);
        double column = fmin(fmax(floor(xy[0] / 40.0), 0.0), 15.0);
        double row = fmin(fmax(floor(xy[1] / 40.0), 0.0), 11.0);
        double *cell = sums[(size_t)(16.0 * row + column)];
        cell[0] += 1.0;
        cell[1] += d[0];
        cell[2] += d[1];
    }
    for (size_t k = 0; k < 3 * CELLS; ++k)
        expected[k] = sums[k / 3][k % 3] / (k % 3 == 0 ? 1.0 : fmax(sums[k / 3][0], 1.0));
    cJSON *tree = print(&f.input, 1000000);
    const cJSON *fields = member(member(tree, "residuals"), "fields");
    assert_int_equal(cJSON_GetArraySize(fields), 1);
    const cJSON *field = cJSON_GetArrayItem(fields, 0);
    assert_close(number_of(field, "camera"), 1.0, 0.0);
    assert_close(number_of(field, "width"), 640.0, 0.0);
    assert_close(number_of(field, "height"), 480.0, 0.0);
    assert_close(number_of(field, "images"), 2.0, 0.0);
    assert_close(number_of(field, "columns"), 16.0, 0.0);
    assert_close(number_of(field, "rows"), 12.0, 0.0);
    assert_column(field, "mean", COLUMN_F32, expected, 3 * CELLS, 1e-5);
    cJSON_Delete(tree);
}

/* Many cameras: those with most residuals first, equal ones by their ids, 60 of them; those without
 * any are not counted. */
static void the_busiest_cameras_have_fields(void **state) {
    (void)state;
    enum { CAMERAS = 70 };
    fixture f;
    psfm_camera cameras[CAMERAS];
    psfm_model_image images[CAMERAS];
    uint32_t views[CAMERAS], *model_views = views;
    make_fixture(&f);
    for (uint32_t c = 0; c < CAMERAS; ++c) {
        cameras[c] = f.camera;
        cameras[c].id = 100 + c;
        images[c] = f.images[0];
        images[c].id = c + 1;
        images[c].camera_id = 100 + c;
        images[c].num_keypoints = c < 4 ? 0 : c % 2 == 0 ? 20 : 30; /* the fourth sees nothing */
        views[c] = c;
    }
    psfm_model model = {cameras, CAMERAS, images, CAMERAS, f.points, NUM};
    const psfm_report_input input = {.graph = {.num_images = CAMERAS},
                                     .models = &model,
                                     .model_views = &model_views,
                                     .num_models = 1};
    cJSON *tree = print(&input, 1000);
    const cJSON *r = member(tree, "residuals"), *fields = member(r, "fields");
    assert_close(number_of(r, "fieldsTotal"), CAMERAS - 4.0, 0.0);
    assert_int_equal(cJSON_GetArraySize(fields), 60);
    for (int k = 0; k < 60; ++k) {
        double id = number_of(cJSON_GetArrayItem(fields, k), "camera");
        assert_close(id, k < 33 ? 105.0 + 2.0 * k : 104.0 + 2.0 * (k - 33), 0.0);
    }
    cJSON_Delete(tree);
}

/* Two models: each camera has a field of its own, whatever its id. */
static void models_have_fields_of_their_own(void **state) {
    (void)state;
    fixture f, g;
    make_fixture(&f);
    make_fixture(&g);
    g.model.num_images = 1;
    g.views[0] = 0;
    psfm_model models[2] = {f.model, g.model};
    uint32_t *views[2] = {f.views, g.views};
    f.input.models = models;
    f.input.model_views = views;
    f.input.num_models = 2;
    cJSON *tree = print(&f.input, 1000);
    const cJSON *r = member(tree, "residuals");
    assert_close(number_of(r, "observations"), 3.0 * NUM - 2.0, 0.0);
    assert_close(number_of(r, "fieldsTotal"), 2.0, 0.0);
    assert_close(number_of(cJSON_GetArrayItem(member(r, "fields"), 0), "images"), 2.0, 0.0);
    assert_close(number_of(cJSON_GetArrayItem(member(r, "fields"), 1), "images"), 1.0, 0.0);
    assert_close(item_of(r, "lengths", 2), 2.0 * NUM, 0.0);
    cJSON_Delete(tree);
}

/* Without a model there is nothing to count, and no mean. */
static void nothing_has_no_mean(void **state) {
    (void)state;
    const psfm_report_input input = {.graph = {.num_images = 2}};
    cJSON *tree = print(&input, 1000);
    const cJSON *r = member(tree, "residuals");
    assert_close(number_of(r, "observations"), 0.0, 0.0);
    assert_null(cJSON_GetObjectItem(r, "mean"));
    assert_close(number_of(r, "above"), 0.0, 0.0);
    assert_column(r, "first", COLUMN_U32, (double[]){0, 0, 0}, 3, 0.0);
    assert_close(number_of(r, "fieldsTotal"), 0.0, 0.0);
    cJSON_Delete(tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_counted_in_bins),
        cmocka_unit_test(what_has_no_error_is_not_counted),
        cmocka_unit_test(tracks_are_counted_by_length),
        cmocka_unit_test(samples_are_those_of_the_model),
        cmocka_unit_test(samples_are_spread_over_an_image),
        cmocka_unit_test(fields_are_means_over_the_sensor),
        cmocka_unit_test(the_busiest_cameras_have_fields),
        cmocka_unit_test(models_have_fields_of_their_own),
        cmocka_unit_test(nothing_has_no_mean),
    };
    ctx = psfm_context_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    psfm_context_destroy(&ctx);
    return failed;
}
