/* The verdict: features of models and images go through the calibrated tables. Without halves of
 * the points there is none: most of it rests on them. */
#include "verdict/verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/number_locale.h"
#include "linalg/vec3.h"
#include "verdict/calibration.h"
#include "verdict/sigma_factor.h"

#define CLEAR_GAIN 20.0 /* of the fit by free focal lengths, at which they count half */

/* Free focal lengths count as far as the observations ask for them: where they do not, any focal
 * length would do, and the one that was given stands. */
static void weaken(double gain, uint32_t num, psfm_pose_shift *shift) {
    double share = gain / (gain + CLEAR_GAIN);
    for (uint32_t v = 0; v < num; ++v) {
        psfm_scale3(share, shift[v].rotation, shift[v].rotation);
        psfm_scale3(share, shift[v].center, shift[v].center);
    }
}

static psfm_status find_shifts(psfm_context *ctx, const psfm_verdict_input *input,
                               psfm_pose_shift *shift[PSFM_NUM_PROBES]) {
    const psfm_poses *poses = &input->solution->poses;
    psfm_status status = PSFM_OK;
    for (int k = 0; k < PSFM_NUM_PROBES && status == PSFM_OK; ++k) {
        const psfm_probe *probe = &input->refined->probe[k];
        if (probe->posed == NULL)
            continue;
        status = PSFM_ALLOC(ctx, poses->num_views, &shift[k]);
        for (uint32_t c = 0; status == PSFM_OK && c < input->solution->num_components; ++c)
            psfm_pose_shifts_find(poses, c, probe, shift[k]);
        if (status == PSFM_OK && k == PSFM_PROBE_INTRINSICS)
            weaken(probe->gain, poses->num_views, shift[k]);
    }
    return status;
}

static bool is_piece(const psfm_model_features *features) {
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
            is_piece(&model->features) ? PSFM_PIECE_RIGHT : 1.0,
            psfm_probability_of(psfm_clues_log_odds(&psfm_model_calibration, &model->features)));
    }
    return status;
}

/* What speaks against a model, in log-odds. */
static double doubt(const psfm_model_verdict *model) {
    return psfm_model_calibration.bias -
           psfm_clues_log_odds(&psfm_model_calibration, &model->features);
}

static psfm_image_case case_of(const psfm_image_features *image, const psfm_model_verdict *model) {
    return (psfm_image_case){
        .runner_up = image->runner_up,
        .joint = image->joint,
        .residual = image->residual,
        .half_shift_deg = fmax(image->half_deg, psfm_center_angle_deg(image, image->half_center)),
        .focal_shift_deg =
            fmax(image->focal_deg, psfm_center_angle_deg(image, image->focal_center)),
        .points = image->points,
        .model_doubt = doubt(model),
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
            psfm_probability_of(psfm_clues_log_odds(&psfm_image_calibration, &about));
    }
}

static psfm_status judge(psfm_context *ctx, const psfm_verdict_input *input, psfm_verdicts *out) {
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
    psfm_pose_shift *shift[PSFM_NUM_PROBES] = {NULL};
    if (input->refined->probe[PSFM_PROBE_HALF_A].posed == NULL)
        return PSFM_OK;
    psfm_status status = find_shifts(ctx, input, shift);
    for (int k = 0; k < PSFM_NUM_PROBES; ++k)
        in.shift[k] = shift[k];
    out->num_models = input->solution->num_components;
    out->num_images = input->solution->num_nodes;
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, out->num_models, &out->models);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, out->num_images, &out->images);
    if (status == PSFM_OK)
        status = judge(ctx, &in, out);
    for (int k = 0; k < PSFM_NUM_PROBES; ++k)
        free(shift[k]);
    return status;
}

void psfm_verdicts_free(psfm_verdicts *verdicts) {
    free(verdicts->models);
    free(verdicts->images);
    *verdicts = (psfm_verdicts){0};
}

bool psfm_is_called_right(const psfm_model_verdict *model) {
    return model->probability >= PSFM_CALLED_RIGHT &&
           (model->num_by_lines > 0 || psfm_is_confirmed(&model->features));
}

/* Neither a single image nor one or two pairs that nothing confirms hold it together; and where
 * parts hang on more of those, a runner-up has weighed them. */
static bool is_joined(const psfm_model_features *features) {
    bool weighed = features->joint == 0.0 ||
                   (features->runner_up > 0.0 && features->joint <= PSFM_MOST_AGAINST_JOINT);
    return weighed && features->thin_cuts == 0.0 && features->cut_images == 0.0;
}

/* No other explanation is nearly as good. Turns have their clue: they count as far as they go. */
static bool is_alone(const psfm_model_features *features) {
    return features->flip == 0.0 && features->shift <= PSFM_MOST_FOR_SHIFT;
}

bool psfm_is_confirmed(const psfm_model_features *features) {
    return !is_piece(features) && is_joined(features) && is_alone(features) &&
           features->shifted <= PSFM_MOST_SHIFTED &&
           features->half_shift_deg <= PSFM_HALVES_AGREE_DEG;
}

/* The clue that weighs most of those that weigh less than `below`, and its weight; NULL if none is
 * worth a word. */
static const psfm_clue *find_worst(const psfm_model_verdict *model, double below, double *weight) {
    const psfm_clue_table *table = &psfm_model_calibration;
    const psfm_clue *worst = NULL;
    *weight = PSFM_REASON_PENALTY;
    for (int k = 0; k < table->num_rows; ++k) {
        double own = psfm_clue_penalty(&table->rows[k], &model->features);
        if (own < below && own > *weight) {
            worst = &table->rows[k];
            *weight = own;
        }
    }
    return worst;
}

/* A model may be likely and yet not be called right: nothing would tell if a pair were wrong. */
static const psfm_verdict_reason not_joined = {
    .name = "thin_cuts",
    .advice = "match more pairs (--pairs), or take photographs in between",
    .text = "parts hang on single images, or on one or two pairs that nothing confirms",
};

static const psfm_verdict_reason only_a_piece = {
    .name = "left_out",
    .advice = "match more pairs (--pairs), or take photographs in between",
    .text = "a few images, apart from most of the photographs: too few to contradict each other",
};

static const psfm_verdict_reason not_alone = {
    .name = "ambiguity",
    .advice = "match neighbours only (--pairs sequential:K), or take photographs in between",
    .text = "a part could as well be shifted, or an image flipped",
};

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
    if (is_piece(&model->features) && num < most)
        reasons[num++] = only_a_piece;
    if (!is_joined(&model->features) && num < most)
        reasons[num++] = not_joined;
    if (!is_alone(&model->features) && num < most)
        reasons[num++] = not_alone;
    for (; num < most; ++num) {
        const psfm_clue *clue = find_worst(model, weight, &weight);
        if (clue == NULL)
            break;
        reasons[num].name = clue->name;
        reasons[num].advice = clue->advice;
        snprintf(reasons[num].text, sizeof reasons[num].text, clue->reason,
                 clue->shown * psfm_clue_value(clue, &model->features));
    }
    psfm_number_locale_end(before);
    return num;
}
