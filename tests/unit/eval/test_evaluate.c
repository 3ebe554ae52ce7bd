#include "test_util.h"

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "core/linalg/sim3.h"
#include "eval/evaluate.h"

enum { NAME_SIZE = 32 };

/* Models are built from rotation and centre; names are "a0", "a1", ... */
static psfm_model make_model(size_t num) {
    psfm_model model = {.num_images = num};
    model.images = calloc(num + 1, sizeof *model.images);
    for (size_t k = 0; k < num; ++k) {
        model.images[k].id = (uint32_t)k + 1;
        model.images[k].name = calloc(1, NAME_SIZE);
        (void)snprintf(model.images[k].name, NAME_SIZE, "a%zu", k);
    }
    return model;
}

static void free_model(psfm_model *model) {
    for (size_t k = 0; k < model->num_images; ++k)
        free(model->images[k].name);
    free(model->images);
}

static void set_pose(psfm_model_image *image, const double R[9], const double center[3]) {
    psfm_rotation_to_quat(R, image->cam_from_world_q);
    psfm_mat3_mul_vec(R, center, image->cam_from_world_t);
    psfm_scale3(-1.0, image->cam_from_world_t, image->cam_from_world_t);
}

static void get_pose(const psfm_model_image *image, double R[9], double center[3]) {
    psfm_rotation_from_quat(image->cam_from_world_q, R);
    psfm_mat3_tmul_vec(R, image->cam_from_world_t, center);
    psfm_scale3(-1.0, center, center);
}

static void random_rotation(psfm_rng *rng, double angle, double R[9]) {
    double w[3];
    psfm_rng_direction(rng, w);
    psfm_scale3(angle, w, w);
    psfm_rotation_exp(w, R);
}

static psfm_model random_truth(psfm_rng *rng, size_t num) {
    psfm_model truth = make_model(num);
    for (size_t k = 0; k < num; ++k) {
        double R[9], c[3];
        random_rotation(rng, psfm_rng_range(rng, 0, M_PI), R);
        for (int i = 0; i < 3; ++i)
            c[i] = 10 * psfm_rng_normal(rng);
        set_pose(&truth.images[k], R, c);
    }
    return truth;
}

/* The truth in another frame, in reverse order, each camera turned by `turn` radians and shifted by
 * `shift` in units of the truth. */
static psfm_model transformed(psfm_rng *rng, const psfm_model *truth, double turn, double shift) {
    size_t num = truth->num_images;
    psfm_model model = make_model(num);
    psfm_sim3 s = {.scale = 0.3, .t = {5, -6, 7}};
    random_rotation(rng, 2.0, s.R);
    for (size_t k = 0; k < num; ++k) {
        double R[9], c[3], moved[3], E[9], ER[9], out[9], d[3];
        get_pose(&truth->images[num - 1 - k], R, c);
        psfm_rng_direction(rng, d);
        psfm_axpy3(c, shift, d, c);
        random_rotation(rng, turn, E);
        psfm_mat3_mul(E, R, ER);
        psfm_mat3_mul_t(ER, s.R, out); /* cam_from_world of the new world */
        psfm_sim3_apply(&s, c, moved);
        set_pose(&model.images[k], out, moved);
        (void)snprintf(model.images[k].name, NAME_SIZE, "a%zu", num - 1 - k);
    }
    return model;
}

static void truth_in_another_frame_is_perfect(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    psfm_model truth = random_truth(&rng, 30), model = transformed(&rng, &truth, 0, 0);
    psfm_evaluation e;
    assert_ok(ctx, psfm_evaluate(ctx, &truth, &model, 1, &e));
    assert_int_equal(e.num_images, 30);
    assert_int_equal(e.num_registered, 30);
    assert_int_equal(e.num_pairs, 435);
    for (int k = 0; k < PSFM_NUM_AUC; ++k) {
        assert_close(e.auc_rotation[k], 100, 1e-9);
        assert_close(e.auc_translation[k], 100, 1e-9);
        assert_close(e.auc_max[k], 100, 1e-9);
    }
    assert_below(e.median_rotation_deg, 1e-12);
    assert_below(e.position_max, 1e-10);
    assert_true(e.scene_extent > 20);
    free_model(&truth);
    free_model(&model);
    psfm_context_destroy(&ctx);
}

/* One camera of four turned by 2 degrees: three pairs of six are 2 degrees off. */
static void one_turned_camera(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 0, 0);
    psfm_model truth = random_truth(&rng, 4), model = transformed(&rng, &truth, 0, 0);
    double R[9], c[3], E[9], ER[9];
    get_pose(&model.images[0], R, c);
    random_rotation(&rng, psfm_radians(2.0), E);
    psfm_mat3_mul(E, R, ER);
    set_pose(&model.images[0], ER, c);
    psfm_evaluation e;
    assert_ok(ctx, psfm_evaluate(ctx, &truth, &model, 1, &e));
    assert_close(e.auc_rotation[1], 50, 1e-6);
    /* up to 3: level 1/2 rising to 4/6 at the fourth error, which is 2 like the rest, then 1 */
    assert_close(e.auc_rotation[2], 100 * (2 * (0.5 + 4.0 / 6) / 2 + 1) / 3, 1e-6);
    assert_below(e.position_max, 1e-10);
    free_model(&truth);
    free_model(&model);
    psfm_context_destroy(&ctx);
}

/* The straightforward definition, pair by pair, against the one of the library. */
static void agrees_with_the_definition(void **state) {
    (void)state;
    enum { N = 40 };
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 0, 0);
    psfm_model truth = random_truth(&rng, N), model = transformed(&rng, &truth, 0.03, 0.5);
    double *rotation = calloc(N * N, sizeof *rotation),
           *direction = calloc(N * N, sizeof *direction);
    double *largest = calloc(N * N, sizeof *largest), expected[PSFM_NUM_AUC];
    size_t num = 0;
    for (size_t i = 0; i < N; ++i)
        for (size_t j = i + 1; j < N; ++j, ++num) {
            double R[2][9], t[2][3];
            for (int m = 0; m < 2; ++m) {
                const psfm_model_image *a = m == 0 ? &truth.images[i] : &model.images[N - 1 - i];
                const psfm_model_image *b = m == 0 ? &truth.images[j] : &model.images[N - 1 - j];
                double Ra[9], Rb[9];
                psfm_rotation_from_quat(a->cam_from_world_q, Ra);
                psfm_rotation_from_quat(b->cam_from_world_q, Rb);
                psfm_mat3_mul_t(Rb, Ra, R[m]);
                psfm_mat3_mul_vec(R[m], a->cam_from_world_t, t[m]);
                psfm_sub3(b->cam_from_world_t, t[m], t[m]);
            }
            rotation[num] = psfm_degrees(psfm_rotation_angle(R[0], R[1]));
            direction[num] = psfm_degrees(psfm_angle3(t[0], t[1]));
            largest[num] = fmax(rotation[num], direction[num]);
        }
    psfm_evaluation e;
    assert_ok(ctx, psfm_evaluate(ctx, &truth, &model, 1, &e));
    assert_int_equal(e.num_pairs, num);
    psfm_auc(rotation, num, psfm_auc_thresholds_deg, PSFM_NUM_AUC, expected);
    for (int k = 0; k < PSFM_NUM_AUC; ++k)
        assert_close(e.auc_rotation[k], expected[k], 1e-9);
    assert_close(e.median_rotation_deg, rotation[(num - 1) / 2], 1e-9);
    psfm_auc(direction, num, psfm_auc_thresholds_deg, PSFM_NUM_AUC, expected);
    for (int k = 0; k < PSFM_NUM_AUC; ++k)
        assert_close(e.auc_translation[k], expected[k], 1e-9);
    psfm_auc(largest, num, psfm_auc_thresholds_deg, PSFM_NUM_AUC, expected);
    for (int k = 0; k < PSFM_NUM_AUC; ++k)
        assert_close(e.auc_max[k], expected[k], 1e-9);
    assert_true(expected[4] > 1 && expected[4] < 99); /* a mixed case, or the test says nothing */
    assert_true(e.position_median > 0.1 && e.position_median < 1.0);
    assert_true(e.position_max < 1.5 && e.position_p90 <= e.position_max);
    free(rotation);
    free(direction);
    free(largest);
    free_model(&truth);
    free_model(&model);
    psfm_context_destroy(&ctx);
}

/* Two components of 6 and 4 of 12 images: 15 + 6 of 66 pairs are good, the rest failed. */
static void components_and_missing_images(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(4, PSFM_RNG_TEST, 0, 0);
    psfm_model truth = random_truth(&rng, 12);
    psfm_model whole[2] = {transformed(&rng, &truth, 0, 0), transformed(&rng, &truth, 0, 0)};
    psfm_model parts[2] = {{.images = whole[0].images, .num_images = 6},
                           {.images = whole[1].images + 6, .num_images = 4}};
    psfm_evaluation e;
    assert_ok(ctx, psfm_evaluate(ctx, &truth, parts, 2, &e));
    assert_int_equal(e.num_registered, 10);
    assert_int_equal(e.num_components, 2);
    assert_close(e.auc_rotation[4], 100.0 * 21 / 66, 1e-9);
    assert_true(isinf(e.median_rotation_deg));
    assert_below(e.position_max, 1e-10);
    /* An image in both models counts in the first: no pair more than before is lost or won. */
    parts[1] = (psfm_model){.images = whole[1].images + 5, .num_images = 5};
    assert_ok(ctx, psfm_evaluate(ctx, &truth, parts, 2, &e));
    assert_close(e.auc_rotation[4], 100.0 * 21 / 66, 1e-9);
    free_model(&truth);
    free_model(&whole[0]);
    free_model(&whole[1]);
    psfm_context_destroy(&ctx);
}

static void coincident_and_collinear_centres(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(5, PSFM_RNG_TEST, 0, 0);
    psfm_model truth = make_model(4);
    for (int k = 0; k < 4; ++k) {
        double R[9], c[3] = {k / 2, 0, 0};
        random_rotation(&rng, 1.0, R);
        set_pose(&truth.images[k], R, c);
        if (k % 2 == 1) { /* bit for bit the centre of the one before */
            memcpy(truth.images[k].cam_from_world_q, truth.images[k - 1].cam_from_world_q,
                   sizeof truth.images[k].cam_from_world_q);
            memcpy(truth.images[k].cam_from_world_t, truth.images[k - 1].cam_from_world_t,
                   sizeof truth.images[k].cam_from_world_t);
        }
    }
    psfm_evaluation e;
    assert_ok(ctx, psfm_evaluate(ctx, &truth, &truth, 1, &e));
    assert_close(e.auc_translation[0], 100, 1e-9);
    assert_close(e.auc_max[0], 100, 1e-9);
    assert_true(isnan(e.position_median) && isnan(e.position_max));
    cJSON *json = psfm_evaluation_to_json(&e, NULL);
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(json, "position_max")));
    assert_close(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "auc_max"), "0.5")->valuedouble, 100,
                 1e-9);
    assert_int_equal(cJSON_GetObjectItem(json, "num_pairs")->valueint, 6);
    cJSON_Delete(json);
    free_model(&truth);
    psfm_context_destroy(&ctx);
}

/* Every third image is missing: also where one pair in three is compared, as many fail as of all.
 */
static void a_share_of_many_pairs_stands_for_all(void **state) {
    (void)state;
    enum { N = 5000 };
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(8, PSFM_RNG_TEST, 0, 0);
    psfm_model truth = random_truth(&rng, N), model = transformed(&rng, &truth, 0, 0);
    double all = N * (N - 1) / 2.0, posed = 0;
    for (size_t k = 0; k < N; ++k) {
        if (k % 3 == 0)
            model.images[k].name[0] = 'b';
        posed += k % 3 == 0 ? 0 : 1;
    }
    psfm_evaluation e;
    assert_ok(ctx, psfm_evaluate(ctx, &truth, &model, 1, &e));
    assert_int_equal(e.num_registered, posed);
    assert_int_equal(e.pair_step, 3);
    assert_close((double)e.num_pairs, all / 3, 0.001 * all);
    assert_close(e.recall_rotation[0], 100 * posed * (posed - 1) / 2 / all, 0.2);
    free_model(&truth);
    free_model(&model);
    psfm_context_destroy(&ctx);
}

static void bad_names_are_said(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(6, PSFM_RNG_TEST, 0, 0);
    psfm_model truth = random_truth(&rng, 5), model = transformed(&rng, &truth, 0, 0);
    psfm_evaluation e = {.num_images = 99};
    model.images[3].name[1] = model.images[1].name[1];
    assert_int_equal(psfm_evaluate(ctx, &truth, &model, 1, &e), PSFM_ERR_DATA);
    assert_non_null(strstr(psfm_context_message(ctx), "a3"));
    assert_int_equal(psfm_evaluate(ctx, &model, &truth, 1, &e), PSFM_ERR_DATA);
    for (int k = 0; k < 5; ++k)
        (void)snprintf(model.images[k].name, NAME_SIZE, "b%d", k);
    assert_int_equal(psfm_evaluate(ctx, &truth, &model, 1, &e), PSFM_ERR_DATA);
    assert_int_equal(psfm_evaluate(ctx, &truth, NULL, 0, &e), PSFM_ERR_DATA);
    assert_int_equal(e.num_images, 99);
    free_model(&truth);
    free_model(&model);
    psfm_context_destroy(&ctx);
}

static void threads_and_failing_memory(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(7, PSFM_RNG_TEST, 0, 0);
    psfm_model truth = random_truth(&rng, 150), model = transformed(&rng, &truth, 0.05, 0.3);
    psfm_evaluation e[2];
    memset(e, 0, sizeof e);
    for (int run = 0; run < 2; ++run) {
        psfm_context_set_threads(ctx, run == 0 ? 1 : 5);
        assert_ok(ctx, psfm_evaluate(ctx, &truth, &model, 1, &e[run]));
    }
    assert_memory_equal(&e[0], &e[1], sizeof e[0]);
    psfm_context_set_threads(ctx, 1);
    psfm_status status = PSFM_ERR_MEMORY;
    for (size_t n = 1; status != PSFM_OK; ++n) {
        psfm_alloc_fail_after(n);
        status = psfm_evaluate(ctx, &truth, &model, 1, &e[1]);
        psfm_alloc_fail_after(0);
        assert_true(status == PSFM_OK ? n > 8 : status == PSFM_ERR_MEMORY);
    }
    free_model(&truth);
    free_model(&model);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truth_in_another_frame_is_perfect),
        cmocka_unit_test(one_turned_camera),
        cmocka_unit_test(agrees_with_the_definition),
        cmocka_unit_test(components_and_missing_images),
        cmocka_unit_test(coincident_and_collinear_centres),
        cmocka_unit_test(a_share_of_many_pairs_stands_for_all),
        cmocka_unit_test(bad_names_are_said),
        cmocka_unit_test(threads_and_failing_memory),
    };
    return cmocka_run_group_tests_name("eval/evaluate", tests, NULL, NULL);
}
