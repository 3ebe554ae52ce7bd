/* Evaluation of models against ground truth.
 *
 * With A_i = R_true,i^T R_est,i the error of the relative rotation of (i, j) is the angle between
 * A_i and A_j, and that of the direction of the relative translation, seen in camera j, the angle
 * between A_j (c_i - c_j) of the estimate and c_i - c_j of the truth. So each image is reduced to
 * A (matrix and quaternion) and two centres, and a pair costs two arcus tangents. */
#include "eval/evaluate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/number_locale.h"
#include "core/base/parallel.h"
#include "core/base/rng.h"
#include "core/base/text.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"
#include "core/linalg/sim3.h"
#include "eval/compare_models.h"
#include "formats/json.h"

#define NOT_REGISTERED UINT32_MAX

/* Pairs that are compared, about; they tell an AUC to 0.01 per cent. */
enum { MOST_PAIRS = 1 << 22 };

typedef struct {
    uint32_t model; /* NOT_REGISTERED if in none */
    double A[9], q[4];
    double true_center[3], center[3];
} pose_pair;

static void relate_poses(const psfm_model_image *truth, const psfm_model_image *estimate,
                         pose_pair *pose) {
    double R_true[9], R[9];
    psfm_rotation_from_quat(truth->cam_from_world_q, R_true);
    psfm_rotation_from_quat(estimate->cam_from_world_q, R);
    psfm_mat3_t_mul(R_true, R, pose->A);
    psfm_rotation_to_quat(pose->A, pose->q);
    psfm_mat3_tmul_vec(R, estimate->cam_from_world_t, pose->center);
    psfm_scale3(-1.0, pose->center, pose->center);
}

/* Finds the images of one model among the truth's; those found in an earlier model stay there. */
static psfm_status match_model(psfm_context *ctx, const psfm_model *truth, const psfm_model *model,
                               uint32_t model_idx, pose_pair *poses) {
    psfm_named_image *index = NULL;
    psfm_status status = psfm_sort_names(ctx, model, &index);
    for (size_t k = 0; status == PSFM_OK && k < truth->num_images; ++k) {
        if (poses[k].model != NOT_REGISTERED)
            continue;
        const psfm_named_image *found = bsearch(&truth->images[k].name, index, model->num_images,
                                                sizeof *index, psfm_compare_strings);
        if (found == NULL)
            continue;
        poses[k].model = model_idx;
        relate_poses(&truth->images[k], &model->images[found->idx], &poses[k]);
    }
    free(index);
    return status;
}

static psfm_status match_all(psfm_context *ctx, const psfm_model *truth, const psfm_model *models,
                             size_t num_models, pose_pair *poses) {
    psfm_named_image *index = NULL;
    psfm_status status = psfm_sort_names(ctx, truth, &index);
    free(index);
    for (size_t k = 0; k < truth->num_images; ++k) {
        const psfm_model_image *image = &truth->images[k];
        double R[9];
        poses[k].model = NOT_REGISTERED;
        psfm_rotation_from_quat(image->cam_from_world_q, R);
        psfm_mat3_tmul_vec(R, image->cam_from_world_t, poses[k].true_center);
        psfm_scale3(-1.0, poses[k].true_center, poses[k].true_center);
    }
    for (size_t m = 0; status == PSFM_OK && m < num_models; ++m)
        status = match_model(ctx, truth, &models[m], (uint32_t)m, poses);
    return status;
}

/* The errors of pairs, row by row of the upper triangle, in degrees. */
typedef struct {
    const pose_pair *poses;
    size_t num, step; /* of so many pairs of a row one is compared */
    size_t *begin;    /* per row: its first slot */
    double *rotation;
    double *translation; /* NAN where the true centres coincide: no direction to compare */
    double *largest;
    double *extent; /* per row */
} pair_errors;

static double degrees_or_infinity(double radians) {
    double d = psfm_degrees(radians);
    return isnan(d) ? INFINITY : d;
}

/* Angle of the rotation between two unit quaternions, accurate for small ones. */
static double quaternion_angle(const double p[4], const double q[4]) {
    double minus = 0.0, plus = 0.0;
    for (int k = 0; k < 4; ++k) {
        minus += (p[k] - q[k]) * (p[k] - q[k]);
        plus += (p[k] + q[k]) * (p[k] + q[k]);
    }
    return 4.0 * atan2(sqrt(fmin(minus, plus)), sqrt(fmax(minus, plus)));
}

static void compare_pair(const pose_pair *i, const pose_pair *j, const double true_diff[3],
                         double *rotation, double *translation) {
    double diff[3], turned[3];
    bool has_direction = psfm_norm3(true_diff) > 0.0;
    *rotation = INFINITY;
    *translation = has_direction ? INFINITY : (double)NAN;
    if (i->model == NOT_REGISTERED || i->model != j->model)
        return;
    *rotation = degrees_or_infinity(quaternion_angle(i->q, j->q));
    psfm_sub3(i->center, j->center, diff);
    psfm_mat3_mul_vec(j->A, diff, turned);
    if (has_direction && psfm_norm3(diff) > 0.0)
        *translation = degrees_or_infinity(psfm_angle3(turned, true_diff));
}

/* Makes room for the errors; returns their number in *num_pairs. */
static psfm_status alloc_errors(psfm_context *ctx, pair_errors *e, size_t *num_pairs) {
    size_t all = e->num * (e->num - (e->num > 0)) / 2;
    e->step = 1 + all / MOST_PAIRS;
    psfm_status status = PSFM_ALLOC(ctx, e->num + 1, &e->begin);
    if (status != PSFM_OK)
        return status;
    for (size_t i = 0; i < e->num; ++i)
        e->begin[i + 1] = e->begin[i] + (e->num - 1 - i + e->step - 1) / e->step;
    *num_pairs = e->begin[e->num];
    if ((status = PSFM_ALLOC(ctx, *num_pairs, &e->rotation)) ||
        (status = PSFM_ALLOC(ctx, *num_pairs, &e->translation)) ||
        (status = PSFM_ALLOC(ctx, *num_pairs, &e->largest)))
        return status;
    return PSFM_ALLOC(ctx, e->num, &e->extent);
}

static psfm_status compare_row(psfm_context *ctx, size_t i, int worker, void *user) {
    (void)ctx;
    (void)worker;
    pair_errors *e = user;
    double diff[3];
    for (size_t j = i + 1; j < e->num; ++j) {
        psfm_sub3(e->poses[i].true_center, e->poses[j].true_center, diff);
        e->extent[i] = fmax(e->extent[i], psfm_norm3(diff));
    }
    psfm_rng rng = psfm_rng_make(0, PSFM_RNG_EVALUATION, i, 0);
    size_t slot = e->begin[i];
    for (size_t first = i + 1; first < e->num; first += e->step, ++slot) {
        size_t left = e->num - first;
        size_t j = first + psfm_rng_below(&rng, left < e->step ? left : e->step);
        psfm_sub3(e->poses[i].true_center, e->poses[j].true_center, diff);
        compare_pair(&e->poses[i], &e->poses[j], diff, &e->rotation[slot], &e->translation[slot]);
        e->largest[slot] = fmax(e->rotation[slot], e->translation[slot]);
    }
    return PSFM_OK;
}

/* Moves the numbers in front of the NANs; returns how many there are. */
static size_t drop_nan(double *values, size_t num) {
    size_t kept = 0;
    for (size_t k = 0; k < num; ++k)
        if (!isnan(values[k]))
            values[kept++] = values[k];
    return kept;
}

typedef struct {
    double *errors[3];
    size_t num[3];
    double *auc[3];
} auc_job;

static psfm_status auc_task(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx;
    (void)worker;
    auc_job *job = user;
    job->num[index] = drop_nan(job->errors[index], job->num[index]);
    psfm_auc(job->errors[index], job->num[index], psfm_auc_thresholds_deg, PSFM_NUM_AUC,
             job->auc[index]);
    return PSFM_OK;
}

static double sorted_median(const double *values, size_t num) {
    return num == 0 ? (double)NAN : values[(num - 1) / 2];
}

static psfm_status evaluate_pairs(psfm_context *ctx, const pose_pair *poses, size_t num,
                                  psfm_evaluation *out) {
    size_t num_pairs = 0;
    pair_errors e = {.poses = poses, .num = num};
    psfm_status status = alloc_errors(ctx, &e, &num_pairs);
    if (status == PSFM_OK)
        status = psfm_parallel_for(ctx, NULL, num, compare_row, &e);
    auc_job job = {{e.rotation, e.translation, e.largest},
                   {num_pairs, num_pairs, num_pairs},
                   {out->auc_rotation, out->auc_translation, out->auc_max}};
    if (status == PSFM_OK)
        status = psfm_parallel_for(ctx, NULL, 3, auc_task, &job);
    if (status == PSFM_OK) {
        out->num_pairs = num_pairs;
        out->pair_step = e.step;
        psfm_recall(e.rotation, job.num[0], psfm_auc_thresholds_deg, PSFM_NUM_AUC,
                    out->recall_rotation);
        psfm_recall(e.largest, job.num[2], psfm_auc_thresholds_deg, PSFM_NUM_AUC, out->recall_max);
        out->median_rotation_deg = sorted_median(e.rotation, job.num[0]);
        out->median_translation_deg = sorted_median(e.translation, job.num[1]);
        for (size_t i = 0; i < num; ++i)
            out->scene_extent = fmax(out->scene_extent, e.extent[i]);
    }
    free(e.begin);
    free(e.rotation);
    free(e.translation);
    free(e.largest);
    free(e.extent);
    return status;
}

/* The model with the most images of the truth; the first on ties. */
static uint32_t largest_model(psfm_context *ctx, const pose_pair *poses, size_t num,
                              size_t num_models, psfm_status *status) {
    size_t *count = NULL, best = 0;
    *status = PSFM_ALLOC(ctx, num_models, &count);
    if (*status != PSFM_OK)
        return 0;
    for (size_t k = 0; k < num; ++k)
        if (poses[k].model != NOT_REGISTERED)
            ++count[poses[k].model];
    for (size_t m = 1; m < num_models; ++m)
        if (count[m] > count[best])
            best = m;
    free(count);
    return (uint32_t)best;
}

static void measure_positions(size_t num, const double (*x)[3], const double (*y)[3],
                              const psfm_sim3 *s, double *error, psfm_evaluation *out) {
    for (size_t k = 0; k < num; ++k) {
        double mapped[3], d[3];
        psfm_sim3_apply(s, x[k], mapped);
        psfm_sub3(mapped, y[k], d);
        error[k] = isnan(psfm_norm3(d)) ? INFINITY : psfm_norm3(d);
    }
    psfm_sort(error, num);
    out->position_median = sorted_median(error, num);
    out->position_p90 = error[(size_t)ceil(0.9 * (double)num) - 1];
    out->position_max = error[num - 1];
}

static psfm_status evaluate_positions(psfm_context *ctx, const pose_pair *poses, size_t num,
                                      size_t num_models, psfm_evaluation *out) {
    double(*x)[3] = NULL, (*y)[3] = NULL, *error = NULL;
    size_t used = 0;
    psfm_status status;
    uint32_t model = largest_model(ctx, poses, num, num_models, &status);
    out->position_median = out->position_p90 = out->position_max = (double)NAN;
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num, &x);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num, &y);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num, &error);
    if (status != PSFM_OK)
        goto cleanup;
    for (size_t k = 0; k < num; ++k)
        if (poses[k].model == model) {
            memcpy(x[used], poses[k].center, sizeof *x);
            memcpy(y[used++], poses[k].true_center, sizeof *y);
        }
    psfm_sim3 s;
    status = psfm_sim3_fit_robust(ctx, used, (const double(*)[3])x, (const double(*)[3])y, &s);
    if (status == PSFM_OK)
        measure_positions(used, (const double(*)[3])x, (const double(*)[3])y, &s, error, out);
    if (status == PSFM_ERR_DATA)
        status = PSFM_OK; /* cannot be aligned: the errors stay NAN */

cleanup:
    free(x);
    free(y);
    free(error);
    return status;
}

psfm_status psfm_evaluate(psfm_context *ctx, const psfm_model *truth, const psfm_model *models,
                          size_t num_models, psfm_evaluation *out) {
    pose_pair *poses = NULL;
    psfm_evaluation e = {.num_images = truth->num_images, .num_components = num_models};
    psfm_status status = PSFM_ALLOC(ctx, truth->num_images, &poses);
    if (status == PSFM_OK)
        status = match_all(ctx, truth, models, num_models, poses);
    for (size_t k = 0; status == PSFM_OK && k < truth->num_images; ++k)
        e.num_registered += poses[k].model != NOT_REGISTERED;
    if (status == PSFM_OK && e.num_registered == 0)
        status = psfm_fail(ctx, PSFM_ERR_DATA,
                           "no image of the %zu estimated models has the name of one of the %zu "
                           "true images",
                           num_models, truth->num_images);
    if (status == PSFM_OK)
        status = evaluate_pairs(ctx, poses, truth->num_images, &e);
    if (status == PSFM_OK)
        status = evaluate_positions(ctx, poses, truth->num_images, num_models, &e);
    if (status == PSFM_OK)
        *out = e;
    free(poses);
    return status;
}

/* Area under the curve of recall over error, as the evaluation code of SuperGlue (Sarlin et al.,
 * 2020) defines it: sorted errors e_1 <= e_2 <= ..., recall k / n at e_k, the point (0, 0) put in
 * front; up to the threshold T the curve is joined by straight lines, from the last error below T
 * on it stays level; the area is divided by T. */

const double psfm_auc_thresholds_deg[PSFM_NUM_AUC] = {0.5, 1.0, 3.0, 5.0, 10.0};

static double area_under_curve(const double *sorted, size_t num, double threshold) {
    double sum = 0.0, last = 0.0;
    size_t k = 0;
    for (; k < num && sorted[k] < threshold; ++k) {
        sum += (sorted[k] - last) * ((double)k + 0.5);
        last = sorted[k];
    }
    sum += (threshold - last) * (double)k;
    return 100.0 * sum / ((double)num * threshold);
}

void psfm_auc(double *errors, size_t num_errors, const double *thresholds, size_t num_thresholds,
              double *auc) {
    for (size_t k = 0; k < num_errors; ++k)
        if (isnan(errors[k]))
            errors[k] = INFINITY;
    psfm_sort(errors, num_errors);
    for (size_t t = 0; t < num_thresholds; ++t)
        auc[t] = num_errors == 0 ? 0.0 : area_under_curve(errors, num_errors, thresholds[t]);
}

void psfm_recall(const double *errors, size_t num_errors, const double *thresholds,
                 size_t num_thresholds, double *recall) {
    for (size_t t = 0; t < num_thresholds; ++t) {
        size_t num = 0;
        for (size_t k = 0; k < num_errors; ++k)
            num += errors[k] < thresholds[t];
        recall[t] = num_errors == 0 ? 0.0 : 100.0 * (double)num / (double)num_errors;
    }
}

/* ---- as JSON ---- */

/* {"0.5": ..., "1": ..., ...}: one entry per threshold in degrees. */
static void add_auc(psfm_json_maker *m, cJSON *object, const char *name,
                    const double auc[PSFM_NUM_AUC]) {
    cJSON *entry = psfm_json_object(m, object, name);
    for (int k = 0; k < PSFM_NUM_AUC; ++k) {
        char threshold[32];
        locale_t before = psfm_number_locale_begin();
        (void)snprintf(threshold, sizeof threshold, "%g", psfm_auc_thresholds_deg[k]);
        psfm_number_locale_end(before);
        psfm_json_number(m, entry, threshold, auc[k]);
    }
}

static void add_fit(psfm_json_maker *m, cJSON *entry, const psfm_track_fit *fit) {
    psfm_json_number(m, entry, "num_observations", (double)fit->num_observations);
    psfm_json_number(m, entry, "estimate_px", fit->estimate_px);
    psfm_json_number(m, entry, "truth_px", fit->truth_px);
}

cJSON *psfm_evaluation_to_json(const psfm_evaluation *e, const psfm_track_fit *fit) {
    psfm_json_maker m = {false};
    cJSON *json = cJSON_CreateObject();
    psfm_json_number(&m, json, "num_images", (double)e->num_images);
    psfm_json_number(&m, json, "num_registered", (double)e->num_registered);
    psfm_json_number(&m, json, "num_components", (double)e->num_components);
    psfm_json_number(&m, json, "num_pairs", (double)e->num_pairs);
    psfm_json_number(&m, json, "pair_step", (double)e->pair_step);
    add_auc(&m, json, "auc_rotation", e->auc_rotation);
    add_auc(&m, json, "auc_translation", e->auc_translation);
    add_auc(&m, json, "auc_max", e->auc_max);
    add_auc(&m, json, "recall_rotation", e->recall_rotation);
    add_auc(&m, json, "recall_max", e->recall_max);
    psfm_json_number(&m, json, "median_rotation_deg", e->median_rotation_deg);
    psfm_json_number(&m, json, "median_translation_deg", e->median_translation_deg);
    psfm_json_number(&m, json, "position_median", e->position_median);
    psfm_json_number(&m, json, "position_p90", e->position_p90);
    psfm_json_number(&m, json, "position_max", e->position_max);
    psfm_json_number(&m, json, "scene_extent", e->scene_extent);
    psfm_json_number(&m, json, "position_median_share", e->position_median / e->scene_extent);
    psfm_json_number(&m, json, "position_p90_share", e->position_p90 / e->scene_extent);
    psfm_json_number(&m, json, "position_max_share", e->position_max / e->scene_extent);
    if (fit != NULL)
        add_fit(&m, psfm_json_object(&m, json, "track_fit"), fit);
    return psfm_json_finish(&m, json);
}
