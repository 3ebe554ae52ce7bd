/* The ablation of the published method: pruning (Algorithm 1, or a random tree) times confidence
 * (Eq. 4, or random weights); the numbers are those of docs/paper.md. A run is one scene under one
 * seed: the stages of paper mode make the pose graph once, and every row solves it with weights of
 * its own. Scores of all runs are kept, and reduced in their order at the end. */
#include "ablate/ablation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "sfm/stages.h"
#include "world/build_model.h"

static const psfm_ablation_row variants[PSFM_NUM_ABLATIONS] = {
    {.name = "full method", .pruning = true, .confidence = true},
    {.name = "pruning off", .pruning = false, .confidence = true},
    {.name = "confidence off", .pruning = true, .confidence = false},
    {.name = "both off", .pruning = false, .confidence = false},
    {.name = "bi-connected",
     .pruning = true,
     .confidence = true,
     .has_positions = true,
     .positions = PSFM_POSITIONS_BICONNECTED},
    {.name = "until rigid",
     .pruning = true,
     .confidence = true,
     .has_positions = true,
     .positions = PSFM_POSITIONS_RIGID},
    {.name = "agreeing edges",
     .pruning = true,
     .confidence = true,
     .has_positions = true,
     .positions = PSFM_POSITIONS_AGREEING},
};

typedef enum { AUC, RECALL, NUM_SCORES } score_kind;

/* Of one row in one run. */
typedef struct {
    double value[NUM_SCORES][PSFM_NUM_AUC];
} score;

/* One run. */
typedef struct {
    const psfm_ablation_scene *scene;
    const psfm_sfm *s; /* with the graph */
    score *scores;     /* per row */
} run;

/* The graph with hypotheses of its own: each row sets its own weights. */
static psfm_status copy_hypotheses(psfm_context *ctx, const psfm_pose_graph *graph,
                                   psfm_pose_graph *copy) {
    *copy = *graph;
    psfm_status status = PSFM_ALLOC(ctx, graph->num_hypotheses, &copy->hypotheses);
    if (status == PSFM_OK && graph->num_hypotheses > 0)
        memcpy(copy->hypotheses, graph->hypotheses,
               graph->num_hypotheses * sizeof *copy->hypotheses);
    return status;
}

static psfm_status evaluate_solution(psfm_context *ctx, const psfm_ablation_scene *scene,
                                     const psfm_pose_solution *solution, bool has_positions,
                                     score *out) {
    psfm_model *models = NULL;
    size_t num_models = 0;
    psfm_evaluation e;
    psfm_status status = psfm_build_models(ctx, &scene->set, solution, NULL, &models, &num_models);
    if (status == PSFM_OK && num_models > 0)
        status = psfm_evaluate(ctx, &scene->truth, models, num_models, &e);
    if (status == PSFM_OK && num_models > 0) {
        memcpy(out->value[AUC], has_positions ? e.auc_max : e.auc_rotation, sizeof *out->value);
        memcpy(out->value[RECALL], has_positions ? e.recall_max : e.recall_rotation,
               sizeof *out->value);
    }
    for (size_t k = 0; k < num_models; ++k)
        psfm_model_free(&models[k]);
    free(models);
    return status;
}

static psfm_status solve_row(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    const run *r = user;
    const psfm_reconstruct_options *options = &r->s->scaled;
    const psfm_ablation_row *row = &variants[index];
    psfm_skeleton_variant variant = {.random_tree = !row->pruning,
                                     .random_weights = !row->confidence,
                                     .seed = psfm_context_seed(ctx)};
    psfm_paper_options paper = options->paper;
    psfm_pose_graph graph;
    psfm_pose_solution solution = {0};
    psfm_status status = copy_hypotheses(ctx, &r->s->graph, &graph);
    if (status == PSFM_OK)
        status =
            psfm_skeleton_rotations(ctx, &options->skeleton, &variant, &graph, NULL, &solution);
    paper.positions = row->positions;
    if (status == PSFM_OK && row->has_positions)
        status = psfm_paper_positions(ctx, &options->skeleton, &paper, &graph, NULL, &solution);
    if (status == PSFM_OK)
        status = evaluate_solution(ctx, r->scene, &solution, row->has_positions, &r->scores[index]);
    free(graph.hypotheses);
    psfm_pose_solution_free(&solution);
    return status;
}

/* All rows on the pose graph that paper mode makes of a scene under the context's seed. */
static psfm_status run_once(psfm_context *ctx, const psfm_ablation_scene *scene,
                            const psfm_reconstruct_options *options, score *scores) {
    static const psfm_step steps[] = {
        {psfm_stage_measure_noise, PSFM_AT_TWO_VIEWS},
        {psfm_stage_verify, PSFM_AT_TWO_VIEWS},
        {psfm_stage_build_graph, PSFM_AT_GRAPH},
        {NULL, PSFM_AT_START},
    };
    psfm_sfm s;
    psfm_sfm_open(NULL, &s);
    s.asked.settings.options = *options;
    s.set = scene->set; /* lent */
    s.stage = PSFM_AT_CAMERAS;
    run r = {scene, &s, scores};
    psfm_status status = psfm_sfm_advance(ctx, steps, &s);
    if (status == PSFM_OK)
        status = psfm_parallel_for(ctx, "ablation", PSFM_NUM_ABLATIONS, solve_row, &r);
    s.set = (psfm_match_set){0};
    psfm_sfm_close(&s);
    return status;
}

psfm_status psfm_ablation_read(psfm_context *ctx, const char *database,
                               const psfm_reconstruct_options *options, psfm_match_set *set) {
    static const psfm_step steps[] = {
        {psfm_stage_read, PSFM_AT_SET},
        {psfm_stage_calibrate, PSFM_AT_CAMERAS},
        {NULL, PSFM_AT_START},
    };
    psfm_sfm s;
    psfm_sfm_open(NULL, &s);
    s.asked.settings.options = *options;
    s.database = database;
    s.stage = PSFM_AT_MATCHES;
    psfm_status status = psfm_sfm_advance(ctx, steps, &s);
    *set = s.set;
    s.set = (psfm_match_set){0};
    psfm_sfm_close(&s);
    return status;
}

/* Mean and standard deviation of one row over the runs, at each threshold; `first` is its score in
 * the first run. */
static void find_spread(const score *first, size_t num_runs, score_kind kind,
                        psfm_ablation_score *out) {
    for (size_t t = 0; t < PSFM_NUM_AUC; ++t) {
        double sum = 0.0, square = 0.0;
        for (size_t k = 0; k < num_runs; ++k)
            sum += first[k * PSFM_NUM_ABLATIONS].value[kind][t];
        out->mean[t] = sum / (double)num_runs;
        for (size_t k = 0; k < num_runs; ++k) {
            double off = first[k * PSFM_NUM_ABLATIONS].value[kind][t] - out->mean[t];
            square += off * off;
        }
        out->sigma[t] = num_runs > 1 ? sqrt(square / ((double)num_runs - 1.0)) : 0.0;
    }
}

static void summarise_scores(const score *scores, psfm_ablation *out) {
    for (size_t row = 0; row < PSFM_NUM_ABLATIONS; ++row) {
        out->rows[row] = variants[row];
        if (out->num_runs == 0)
            continue;
        find_spread(&scores[row], out->num_runs, AUC, &out->rows[row].auc);
        find_spread(&scores[row], out->num_runs, RECALL, &out->rows[row].recall);
    }
}

psfm_status psfm_ablate(psfm_context *ctx, const psfm_ablation_scene *scenes, size_t num_scenes,
                        const psfm_reconstruct_options *options, int num_seeds,
                        psfm_ablation *out) {
    uint64_t seed = psfm_context_seed(ctx);
    score *scores = NULL;
    *out = (psfm_ablation){.num_scenes = num_scenes, .num_runs = num_scenes * (size_t)num_seeds};
    psfm_status status = PSFM_ALLOC(ctx, out->num_runs * PSFM_NUM_ABLATIONS, &scores);
    for (size_t k = 0; status == PSFM_OK && k < out->num_runs; ++k) {
        psfm_context_set_seed(ctx, seed + k % (size_t)num_seeds);
        status =
            run_once(ctx, &scenes[k / (size_t)num_seeds], options, scores + k * PSFM_NUM_ABLATIONS);
    }
    psfm_context_set_seed(ctx, seed);
    if (status == PSFM_OK)
        summarise_scores(scores, out);
    free(scores);
    return status;
}

static bool add_numbers(cJSON *object, const char *name, const double *values) {
    cJSON *array = cJSON_CreateDoubleArray(values, PSFM_NUM_AUC);
    if (array != NULL && cJSON_AddItemToObject(object, name, array))
        return true;
    cJSON_Delete(array);
    return false;
}

static bool add_row(cJSON *list, const psfm_ablation_row *row) {
    cJSON *object = cJSON_CreateObject();
    if (object == NULL || !cJSON_AddItemToArray(list, object)) {
        cJSON_Delete(object);
        return false;
    }
    return cJSON_AddStringToObject(object, "name", row->name) != NULL &&
           cJSON_AddBoolToObject(object, "pruning", row->pruning) != NULL &&
           cJSON_AddBoolToObject(object, "confidence", row->confidence) != NULL &&
           cJSON_AddStringToObject(object, "error", row->has_positions ? "max" : "rotation") !=
               NULL &&
           add_numbers(object, "auc_mean", row->auc.mean) &&
           add_numbers(object, "auc_deviation", row->auc.sigma) &&
           add_numbers(object, "recall_mean", row->recall.mean) &&
           add_numbers(object, "recall_deviation", row->recall.sigma);
}

cJSON *psfm_ablation_to_json(const psfm_ablation *ablation) {
    cJSON *root = cJSON_CreateObject();
    bool ok = root != NULL &&
              cJSON_AddNumberToObject(root, "scenes", (double)ablation->num_scenes) != NULL &&
              cJSON_AddNumberToObject(root, "runs", (double)ablation->num_runs) != NULL &&
              add_numbers(root, "thresholds_deg", psfm_auc_thresholds_deg);
    cJSON *list = ok ? cJSON_AddArrayToObject(root, "rows") : NULL;
    ok = list != NULL;
    for (int k = 0; ok && k < PSFM_NUM_ABLATIONS; ++k)
        ok = add_row(list, &ablation->rows[k]);
    if (!ok) {
        cJSON_Delete(root);
        return NULL;
    }
    return root;
}
