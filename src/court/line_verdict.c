/* A registration has no points whose halves could be compared. What tells right from
 * wrong is how many distinct lines confirm it and how far behind the best other pose is: a logistic
 * regression on registrations with known truth, accepted or not, most of them of wrong drawings
 * (docs/measurements.md). That the drawing is there, which other photographs show, counts less than
 * the share of wrong drawings among those would make it. Turns are
 * told by floors; one floor is right in eight of ten pairs where least can be seen (SanbaPolis),
 * and floors of one image are not independent, so each counts half. */
#include "court/line_verdict.h"

#include <math.h>

#include "core/base/alloc.h"
#include "core/verdict/signal_calibration.h"

#define BIAS (-3.2) /* of the log-odds, as all below */
#define PER_LINE 0.84
#define MOST_LINES 10    /* more make it no surer */
#define RUNNER_UP (-5.3) /* of a runner-up that is as good */
#define SHOWN 2.0        /* if other photographs show that the drawing is there */
#define MIN_SHOWN 3      /* so many of them */
#define FLOOR 0.75       /* half of log(0.82 / 0.18) */

double psfm_line_probability(const psfm_court_pose *pose, bool is_shown) {
    double share = pose->score > 0.0 ? fmin(fmax(pose->runner_up, 0.0) / pose->score, 1.0) : 1.0;
    double lines = fmin(pose->num_lines, MOST_LINES);
    return psfm_probability_of(BIAS + PER_LINE * lines + RUNNER_UP * share +
                               (is_shown ? SHOWN : 0.0));
}

/* Whether enough photographs beside this one show the drawing. */
static bool is_shown(const psfm_court_evidence *court, uint32_t view) {
    uint32_t num = 0;
    for (uint32_t v = 0; v < court->num_views; ++v)
        num += v != view && court->agrees[v] && psfm_court_accepts(court, v);
    return num >= MIN_SHOWN;
}

/* 1: the pair of floors wants the turns that the views have; -1: others; 0: it is of another view,
 * or says nothing. */
static int vote_of(const psfm_court_evidence *court, const psfm_turn_link *link, uint32_t view) {
    if ((link->view1 != view && link->view2 != view) || !(link->margin > 0.0) ||
        !court->agrees[link->view1] || !court->agrees[link->view2])
        return 0;
    int turn = court->quarters[link->view2] - court->quarters[link->view1];
    return (turn & 3) == (link->quarters & 3) ? 1 : -1;
}

double psfm_turn_probability(const psfm_court_evidence *court, uint32_t view) {
    int votes = 0;
    if (court->num_turns < 2)
        return 1.0;
    for (size_t k = 0; k < court->num_links; ++k)
        votes += vote_of(court, &court->links[k], view);
    return psfm_probability_of(FLOOR * votes);
}

static psfm_status fill_verdicts(psfm_context *ctx, const psfm_verdict_input *input,
                                 psfm_verdicts *out) {
    psfm_status status = PSFM_OK;
    if (out->models != NULL)
        return PSFM_OK;
    out->num_models = input->solution->num_components;
    out->num_images = input->solution->num_nodes;
    status = PSFM_ALLOC(ctx, out->num_models, &out->models);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, out->num_images, &out->images);
    for (uint32_t c = 0; status == PSFM_OK && c < out->num_models; ++c)
        out->models[c].probability = out->models[c].sigma_factor = NAN;
    for (uint32_t v = 0; status == PSFM_OK && v < out->num_images; ++v)
        out->images[v].probability = NAN;
    return status;
}

typedef struct {
    const psfm_court_evidence *court;
    const psfm_verdict_input *input;
    uint32_t min_points;
    psfm_verdicts *verdicts;
} judging;

static bool rests_on_lines(const judging *j, uint32_t v) {
    return j->court->agrees[v] && j->input->refined->images[v].num_points < j->min_points;
}

/* The verdict on one model. */
static void judge_model(const judging *j, uint32_t component) {
    psfm_model_verdict *model = &j->verdicts->models[component];
    double lines = 1.0, turn = 1.0, others = 1.0;
    model->num_by_lines = 0;
    for (uint32_t v = 0; v < j->court->num_views; ++v) {
        double *own = &j->verdicts->images[v].probability;
        if (j->input->solution->poses.component[v] != component)
            continue;
        double registered = psfm_line_probability(&j->court->poses[v], is_shown(j->court, v));
        double turned = psfm_turn_probability(j->court, v);
        if (rests_on_lines(j, v)) {
            lines *= registered;
            turn = fmin(turn, turned);
            *own = registered * turned;
            j->verdicts->images[v].by_lines = true;
            ++model->num_by_lines;
            continue;
        }
        if (j->court->agrees[v] && !(*own > registered * turned))
            *own = registered * turned;
        others = fmin(others, isnan(*own) ? 0.0 : *own);
    }
    model->probability = lines * turn * others;
    model->sigma_factor = NAN;
}

psfm_status psfm_line_verdicts_find(psfm_context *ctx, const psfm_court_evidence *court,
                                    const psfm_verdict_input *input, uint32_t min_points,
                                    psfm_verdicts *verdicts) {
    judging j = {court, input, min_points, verdicts};
    psfm_status status = PSFM_OK;
    for (uint32_t c = 0; c < input->solution->num_components && status == PSFM_OK; ++c) {
        bool any = false;
        for (uint32_t v = 0; v < court->num_views; ++v)
            any = any || (input->solution->poses.component[v] == c && rests_on_lines(&j, v));
        if (!any)
            continue;
        status = fill_verdicts(ctx, input, verdicts);
        if (status == PSFM_OK)
            judge_model(&j, c);
    }
    return status;
}
