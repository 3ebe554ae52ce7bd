/* The verdict: features of models and images go through the calibrated tables. Without halves of
 * the points there is none: most of it rests on them. */
#include "core/verdict/verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/number_locale.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"
#include "core/linalg/vec3.h"
#include "core/verdict/signal_calibration.h"

#define CLEAR_GAIN 20.0 /* of the fit by free focal lengths, at which they count half */

/* Free focal lengths count as far as the observations ask for them: where they do not, any focal
 * length would do, and the one that was given stands. */
static void weaken_shifts(double gain, uint32_t num, psfm_pose_shift *shift) {
    double share = gain / (gain + CLEAR_GAIN);
    for (uint32_t v = 0; v < num; ++v) {
        psfm_scale3(share, shift[v].rotation, shift[v].rotation);
        psfm_scale3(share, shift[v].center, shift[v].center);
    }
}

static psfm_status find_shifts(psfm_context *ctx, const psfm_verdict_input *input,
                               psfm_pose_shift *shift[PSFM_NUM_STABILITY_TESTS]) {
    const psfm_poses *poses = &input->solution->poses;
    psfm_status status = PSFM_OK;
    for (int k = 0; k < PSFM_NUM_STABILITY_TESTS && status == PSFM_OK; ++k) {
        const psfm_stability_test *test = &input->refined->stability[k];
        if (test->posed == NULL)
            continue;
        status = PSFM_ALLOC(ctx, poses->num_views, &shift[k]);
        for (uint32_t c = 0; status == PSFM_OK && c < input->solution->num_components; ++c)
            psfm_pose_shifts_find(poses, c, test, shift[k]);
        if (status == PSFM_OK && k == PSFM_STABILITY_INTRINSICS)
            weaken_shifts(test->gain, poses->num_views, shift[k]);
    }
    return status;
}

static bool is_small_submodel(const psfm_model_features *features) {
    return features->images < PSFM_FEW_IMAGES && features->left_out > 0.5;
}

static psfm_status judge_models(psfm_context *ctx, const psfm_verdict_input *input,
                                const psfm_image_features *images, psfm_verdicts *out) {
    psfm_status status = PSFM_OK;
    for (uint32_t c = 0; status == PSFM_OK && c < out->num_models; ++c) {
        psfm_model_verdict *model = &out->models[c];
        status = psfm_model_features_find(ctx, input, images, c, &model->features);
        if (status == PSFM_OK)
            status = psfm_sigma_factor_find(ctx, input, c, &model->sigma_factor);
        model->probability = fmin(
            is_small_submodel(&model->features) ? PSFM_FEW_IMAGES_RIGHT : 1.0,
            psfm_probability_of(psfm_signals_log_odds(&psfm_model_calibration, &model->features)));
    }
    return status;
}

/* By how much the signals lower the log-odds of a model. */
static double model_doubt_of(const psfm_model_verdict *model) {
    return psfm_model_calibration.bias -
           psfm_signals_log_odds(&psfm_model_calibration, &model->features);
}

static psfm_image_case case_of(const psfm_image_features *image, const psfm_model_verdict *model) {
    return (psfm_image_case){
        .runner_up = image->runner_up,
        .weak_connection = image->weak_connection,
        .residual = image->residual,
        .half_shift_deg = fmax(image->half_deg, psfm_center_angle_deg(image, image->half_center)),
        .focal_shift_deg =
            fmax(image->focal_deg, psfm_center_angle_deg(image, image->focal_center)),
        .points = image->points,
        .model_doubt = model_doubt_of(model),
    };
}

static void judge_images(const psfm_verdict_input *input, const psfm_image_features *images,
                         psfm_verdicts *out) {
    for (uint32_t v = 0; v < out->num_images; ++v) {
        const psfm_poses *poses = &input->solution->poses;
        out->images[v] = (psfm_image_verdict){.features = images[v], .probability = NAN};
        if (!psfm_has_pose(poses, v))
            continue;
        psfm_image_case about = case_of(&images[v], &out->models[poses->component[v]]);
        out->images[v].probability =
            psfm_probability_of(psfm_signals_log_odds(&psfm_image_calibration, &about));
    }
}

static psfm_status judge_all(psfm_context *ctx, const psfm_verdict_input *input,
                             psfm_verdicts *out) {
    psfm_image_features *images = NULL;
    psfm_status status = PSFM_ALLOC(ctx, out->num_images, &images);
    if (status == PSFM_OK)
        status = psfm_image_features_find(ctx, input, images);
    if (status == PSFM_OK)
        status = judge_models(ctx, input, images, out);
    if (status == PSFM_OK)
        judge_images(input, images, out);
    free(images);
    return status;
}

psfm_status psfm_verdicts_find(psfm_context *ctx, const psfm_verdict_input *input,
                               psfm_verdicts *out) {
    psfm_verdict_input in = *input;
    psfm_pose_shift *shift[PSFM_NUM_STABILITY_TESTS] = {NULL};
    if (input->refined->stability[PSFM_STABILITY_HALF_A].posed == NULL)
        return PSFM_OK;
    psfm_status status = find_shifts(ctx, input, shift);
    for (int k = 0; k < PSFM_NUM_STABILITY_TESTS; ++k)
        in.shift[k] = shift[k];
    out->num_models = input->solution->num_components;
    out->num_images = input->solution->num_nodes;
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, out->num_models, &out->models);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, out->num_images, &out->images);
    if (status == PSFM_OK)
        status = judge_all(ctx, &in, out);
    for (int k = 0; k < PSFM_NUM_STABILITY_TESTS; ++k)
        free(shift[k]);
    return status;
}

void psfm_verdicts_free(psfm_verdicts *verdicts) {
    free(verdicts->models);
    free(verdicts->images);
    *verdicts = (psfm_verdicts){0};
}

/* Neither a single image nor one or two pairs that nothing confirms connect it; and where weak
 * connections have more pairs, a runner-up has weighed them. */
static bool is_joined(const psfm_model_features *features) {
    bool weighed =
        features->weak_connection == 0.0 ||
        (features->runner_up > 0.0 && features->weak_connection <= PSFM_MOST_AGAINST_CONNECTION);
    return weighed && features->two_edge_cuts == 0.0 && features->cut_images == 0.0;
}

/* No other explanation is nearly as good. Rotations have a signal of their own: they count as far
 * as they go. */
static bool is_alone(const psfm_model_features *features) {
    return features->flip == 0.0 && features->shift <= PSFM_MOST_FOR_SHIFT;
}

static bool leaves_matches(const psfm_model_features *features) {
    return features->unexplained > PSFM_MOST_UNEXPLAINED ||
           features->worst_unexplained > PSFM_MOST_UNEXPLAINED_OF_IMAGE;
}

/* Nothing of what must not be is against it. */
static bool is_uncontradicted(const psfm_model_features *features) {
    return is_alone(features) && features->shifted <= PSFM_MOST_SHIFTED &&
           features->half_shift_deg <= PSFM_HALVES_AGREE_DEG &&
           features->focal_shift_deg <= PSFM_MOST_BY_INTRINSICS_DEG && !leaves_matches(features) &&
           features->no_lens == 0.0 && features->seen >= PSFM_LEAST_SEEN;
}

bool psfm_is_confirmed(const psfm_model_features *features) {
    return !is_small_submodel(features) && is_joined(features) && is_uncontradicted(features);
}

bool psfm_is_called_right(const psfm_model_verdict *model) {
    return psfm_model_word(model) == PSFM_RIGHT;
}

psfm_verdict_word psfm_model_word(const psfm_model_verdict *model) {
    const psfm_model_features *features = &model->features;
    bool is_likely = model->probability >= PSFM_CALLED_RIGHT;
    if (model->num_by_lines > 0)
        return is_likely ? PSFM_RIGHT : PSFM_DOUBTFUL;
    if (is_likely && psfm_is_confirmed(features) && features->guessed == 0.0)
        return PSFM_RIGHT;
    double against = psfm_signals_against(&psfm_model_calibration, features);
    return is_uncontradicted(features) && psfm_probability_of(against) >= PSFM_CALLED_RIGHT
               ? PSFM_PLAUSIBLE
               : PSFM_DOUBTFUL;
}

psfm_verdict_word psfm_image_word(const psfm_image_verdict *image, psfm_verdict_word model) {
    const psfm_image_features *f = &image->features;
    if (image->probability >= PSFM_CALLED_RIGHT || model == PSFM_DOUBTFUL)
        return model;
    bool is_against = f->unexplained > PSFM_MOST_UNEXPLAINED_OF_IMAGE ||
                      f->half_deg > PSFM_HALVES_AGREE_DEG ||
                      f->focal_deg > PSFM_MOST_BY_INTRINSICS_DEG;
    return is_against ? PSFM_DOUBTFUL : PSFM_PLAUSIBLE;
}

const char *psfm_verdict_word_name(psfm_verdict_word word) {
    static const char *const names[] = {"doubtful", "plausible", "right"};
    return names[word];
}

/* The signal that weighs most of those that weigh less than `below`, and its weight; NULL if none
 * is worth a sentence. */
static const psfm_signal *find_worst(const psfm_model_verdict *model, double below,
                                     double *weight) {
    const psfm_signal_table *table = &psfm_model_calibration;
    const psfm_signal *worst = NULL;
    *weight = PSFM_REASON_PENALTY;
    for (int k = 0; k < table->num_rows; ++k) {
        double own = psfm_signal_penalty(&table->rows[k], &model->features);
        if (own < below && own > *weight) {
            worst = &table->rows[k];
            *weight = own;
        }
    }
    return worst;
}

/* A model may be likely and yet not be called right: nothing would tell if a pair were wrong. */
static const psfm_verdict_reason not_joined = {
    .name = "two_edge_cuts",
    .advice = "match more pairs (--pairs), or take photographs in between",
    .text = "parts hang on single images, or on one or two pairs that nothing confirms",
};

static const psfm_verdict_reason only_a_submodel = {
    .name = "left_out",
    .advice = "match more pairs (--pairs), or take photographs in between",
    .text = "a few images, apart from most of the photographs: too few to contradict each other",
};

static const psfm_verdict_reason guesses = {
    .name = "guessed",
    .advice = "give intrinsics (--cameras), photographs with EXIF data, or some at a slant",
    .text = "nothing determines the focal lengths of some images",
};

static const psfm_verdict_reason not_seen = {
    .name = "seen",
    .advice =
        "do two places look the same, or share a poster? reconstruct them apart (--images-list)",
    .text = "two parts see next to nothing of each other where they should",
};

static const psfm_verdict_reason impossible = {
    .name = "no_lens",
    .advice =
        "give intrinsics (--cameras), or let photographs share a camera (--share-cameras all)",
    .text = "no lens has the focal length or the tangential distortion of some images",
};

static const psfm_verdict_reason not_explained = {
    .name = "unexplained",
    .advice =
        "does the scene look the same from two sides, or has something moved? match neighbours "
        "only (--pairs sequential:K or ring:K)",
    .text = "",
};

static const psfm_verdict_reason not_alone = {
    .name = "ambiguity",
    .advice = "match neighbours only (--pairs sequential:K), or take photographs in between",
    .text = "a part could as well be shifted, or an image flipped",
};

static void write_reason(const psfm_signal *signal, double value, char text[PSFM_REASON_SIZE]) {
    if (strcmp(signal->name, "half_shift_deg") == 0 && value >= PSFM_UNKNOWN_DEG)
        snprintf(text, PSFM_REASON_SIZE, "either half of the points alone does not hold an image");
    else
        snprintf(text, PSFM_REASON_SIZE, signal->reason, signal->shown * value);
}

/* Images that lines alone hold: no points tell more. */
static int line_reason(const psfm_model_verdict *model, psfm_verdict_reason *reason) {
    *reason = (psfm_verdict_reason){
        .name = "lines",
        .advice = "take photographs that show more of the drawing, or that share matches"};
    snprintf(reason->text, sizeof reason->text,
             "lines of the drawing alone hold %u images; all are right with a probability of %.0f "
             "%%",
             model->num_by_lines, 100.0 * model->probability);
    return 1;
}

int psfm_verdict_reasons(const psfm_model_verdict *model, int most, psfm_verdict_reason *reasons) {
    if (model->num_by_lines > 0)
        return most > 0 ? line_reason(model, reasons) : 0;
    locale_t before = psfm_number_locale_begin();
    int num = 0;
    double weight = INFINITY;
    if (is_small_submodel(&model->features) && num < most)
        reasons[num++] = only_a_submodel;
    if (!is_joined(&model->features) && num < most)
        reasons[num++] = not_joined;
    if (!is_alone(&model->features) && num < most)
        reasons[num++] = not_alone;
    if (leaves_matches(&model->features) && num < most) {
        reasons[num] = not_explained;
        snprintf(reasons[num].text, sizeof reasons[num].text,
                 "%.2g %% of the matches of its pairs contradict the poses, %.2g %% at one image",
                 100.0 * model->features.unexplained, 100.0 * model->features.worst_unexplained);
        ++num;
    }
    if (model->features.seen < PSFM_LEAST_SEEN && num < most)
        reasons[num++] = not_seen;
    if (model->features.no_lens > 0.0 && num < most)
        reasons[num++] = impossible;
    if (model->features.guessed > 0.0 && num < most)
        reasons[num++] = guesses;
    for (; num < most; ++num) {
        const psfm_signal *signal = find_worst(model, weight, &weight);
        if (signal == NULL)
            break;
        reasons[num].name = signal->name;
        reasons[num].advice = signal->advice;
        write_reason(signal, psfm_signal_value(signal, &model->features), reasons[num].text);
    }
    psfm_number_locale_end(before);
    return num;
}

/* ---- the factor of the standard deviations ---- */

/* The normal equations take every observation for independent. Where lens, print or wrong matches
 * push neighbouring points the same way, poses are off by many of their standard deviations, and
 * halves of the points disagree by as many of those that the noise alone makes. (Intrinsics, which
 * the halves have in common, are in the covariance: core/refine/intrinsics_prior.c.)
 *
 * Standard deviations are relative to the datum image, which has none itself. So shifts are taken
 * relative to it as well: w'_v = w_v - R_v R_d^T w_d for rotation vectors in the axes of the
 * cameras. Half of the difference of the halves is an error of the whole
 * (core/refine/stability_tests.c). Its length over the standard deviation has the distribution of a
 * chi variable, of which the median is known. In a chain all images share most of their error, so
 * that the median over them is as uncertain as one error is. */

#define CHI_MEDIAN 0.888 /* of a vector of three unit normal errors */
#define CHANCE 1.5       /* a factor up to this may be chance */

static const psfm_refined_image *refined_image(const psfm_verdict_input *in, uint32_t v) {
    return &in->refined->images[v];
}

/* The image that the standard deviations of a component are relative to; UINT32_MAX if there is
 * none. */
static uint32_t find_datum(const psfm_verdict_input *in, uint32_t component) {
    const psfm_poses *poses = &in->solution->poses;
    for (uint32_t v = 0; v < poses->num_views; ++v)
        if (poses->component[v] == component && refined_image(in, v)->noise_sigma_deg == 0.0)
            return v;
    return UINT32_MAX;
}

static bool both_known(const psfm_verdict_input *in, uint32_t v) {
    return in->shift[PSFM_STABILITY_HALF_A][v].known && in->shift[PSFM_STABILITY_HALF_B][v].known;
}

/* Half the difference of the halves' rotations, in the axes of the world. */
static void find_half(const psfm_verdict_input *in, uint32_t v, double half[3]) {
    psfm_sub3(in->shift[PSFM_STABILITY_HALF_A][v].rotation,
              in->shift[PSFM_STABILITY_HALF_B][v].rotation, half);
    psfm_scale3(0.5, half, half);
    psfm_mat3_tmul_vec(in->solution->poses.cam_from_world[v], half, half);
}

psfm_status psfm_sigma_factor_find(psfm_context *ctx, const psfm_verdict_input *input,
                                   uint32_t component, double *factor) {
    const psfm_poses *poses = &input->solution->poses;
    uint32_t datum = find_datum(input, component), num = 0;
    double *ratio = NULL, base[3];
    *factor = NAN;
    if (datum == UINT32_MAX || input->shift[PSFM_STABILITY_HALF_A] == NULL ||
        input->shift[PSFM_STABILITY_HALF_B] == NULL || !both_known(input, datum))
        return PSFM_OK;
    psfm_status status = PSFM_ALLOC(ctx, poses->num_views, &ratio);
    find_half(input, datum, base);
    for (uint32_t v = 0; status == PSFM_OK && v < poses->num_views; ++v) {
        double half[3], sigma = psfm_radians(refined_image(input, v)->noise_sigma_deg);
        if (poses->component[v] != component || !both_known(input, v) || !(sigma > 0.0))
            continue;
        find_half(input, v, half);
        psfm_sub3(half, base, half);
        ratio[num++] = psfm_norm3(half) / sigma;
    }
    double found = num > 0 ? psfm_median(ratio, num) / CHI_MEDIAN : 1.0;
    if (num > 0)
        *factor = found > CHANCE ? found : 1.0;
    free(ratio);
    return status;
}
