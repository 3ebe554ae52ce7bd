/* The ablation of the published method: pruning (Algorithm 1, or a random tree) times confidence
 * (Eq. 4, or random weights); the numbers are those of docs/paper.md. All variants start from one
 * pose graph; each run has its own copy of the hypotheses, whose weights it sets. Runs are tasks;
 * run k of a variant draws from the context's seed + k. What draws nothing runs once and stands for
 * all seeds. */
#include "pipeline/ablation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "world/build_model.h"

static const psfm_ablation_row variants[PSFM_NUM_ABLATIONS] = {
    {.name = "full method", .pruning = true, .confidence = true},
    {.name = "pruning off", .pruning = false, .confidence = true},
    {.name = "confidence off", .pruning = true, .confidence = false},
    {.name = "both off", .pruning = false, .confidence = false},
};

typedef struct {
    const psfm_match_set *set;
    const psfm_pose_graph *graph;
    const psfm_model *truth;
    const psfm_skeleton_options *options;
    int num_seeds;
    double (*auc)[PSFM_NUM_AUC]; /* per (variant, seed) */
} study;

/* The graph with hypotheses of its own: each run sets its own weights. */
static psfm_status copy_hypotheses(psfm_context *ctx, const psfm_pose_graph *graph,
                                   psfm_pose_graph *copy) {
    *copy = *graph;
    psfm_status status = PSFM_ALLOC(ctx, graph->num_hypotheses, &copy->hypotheses);
    if (status == PSFM_OK && graph->num_hypotheses > 0)
        memcpy(copy->hypotheses, graph->hypotheses,
               graph->num_hypotheses * sizeof *copy->hypotheses);
    return status;
}

static psfm_status evaluate(psfm_context *ctx, const study *s, const psfm_pose_solution *solution,
                            double auc[PSFM_NUM_AUC]) {
    psfm_model *models = NULL;
    size_t num_models = 0;
    psfm_evaluation evaluation;
    psfm_status status = psfm_build_models(ctx, s->set, solution, NULL, &models, &num_models);
    if (status == PSFM_OK)
        status = psfm_evaluate(ctx, s->truth, models, num_models, &evaluation);
    if (status == PSFM_OK)
        memcpy(auc, evaluation.auc_rotation, sizeof evaluation.auc_rotation);
    for (size_t k = 0; k < num_models; ++k)
        psfm_model_free(&models[k]);
    free(models);
    return status;
}

static psfm_status run_one(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    const study *s = user;
    size_t row = index / (size_t)s->num_seeds, seed = index % (size_t)s->num_seeds;
    psfm_skeleton_variant variant = {.random_tree = !variants[row].pruning,
                                     .random_weights = !variants[row].confidence,
                                     .seed = psfm_context_seed(ctx) + seed};
    bool is_random = variant.random_tree || variant.random_weights;
    if (seed > 0 && !is_random)
        return PSFM_OK; /* the same for every seed: filled in below */
    psfm_pose_graph graph;
    psfm_pose_solution solution = {0};
    psfm_status status = copy_hypotheses(ctx, s->graph, &graph);
    if (status == PSFM_OK)
        status = psfm_skeleton_rotations(ctx, s->options, &variant, &graph, NULL, &solution);
    if (status == PSFM_OK)
        status = evaluate(ctx, s, &solution, s->auc[index]);
    for (size_t k = 1; status == PSFM_OK && !is_random && k < (size_t)s->num_seeds; ++k)
        memcpy(s->auc[index + k], s->auc[index], sizeof s->auc[index]);
    free(graph.hypotheses);
    psfm_pose_solution_free(&solution);
    return status;
}

static void average(const study *s, int row, psfm_ablation_row *out) {
    *out = variants[row];
    double n = s->num_seeds;
    for (int t = 0; t < PSFM_NUM_AUC; ++t) {
        double sum = 0.0, square = 0.0;
        for (int k = 0; k < s->num_seeds; ++k)
            sum += s->auc[row * s->num_seeds + k][t];
        out->mean[t] = sum / n;
        for (int k = 0; k < s->num_seeds; ++k)
            square += pow(s->auc[row * s->num_seeds + k][t] - out->mean[t], 2.0);
        out->deviation[t] = s->num_seeds > 1 ? sqrt(square / (n - 1.0)) : 0.0;
    }
}

psfm_status psfm_ablate(psfm_context *ctx, const psfm_match_set *set, const psfm_pose_graph *graph,
                        const psfm_model *truth, const psfm_skeleton_options *options,
                        int num_seeds, psfm_ablation_row rows[PSFM_NUM_ABLATIONS]) {
    study s = {set, graph, truth, options, num_seeds, NULL};
    size_t num_runs = PSFM_NUM_ABLATIONS * (size_t)num_seeds;
    psfm_status status = PSFM_ALLOC(ctx, num_runs, &s.auc);
    if (status == PSFM_OK)
        status = psfm_parallel_for(ctx, "ablation", num_runs, run_one, &s);
    for (int row = 0; status == PSFM_OK && row < PSFM_NUM_ABLATIONS; ++row)
        average(&s, row, &rows[row]);
    free(s.auc);
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
           add_numbers(object, "auc_rotation_mean", row->mean) &&
           add_numbers(object, "auc_rotation_deviation", row->deviation);
}

cJSON *psfm_ablation_to_json(const psfm_ablation_row rows[PSFM_NUM_ABLATIONS]) {
    cJSON *root = cJSON_CreateObject();
    bool ok = root != NULL && add_numbers(root, "thresholds_deg", psfm_auc_thresholds_deg);
    cJSON *list = ok ? cJSON_AddArrayToObject(root, "rows") : NULL;
    ok = list != NULL;
    for (int k = 0; ok && k < PSFM_NUM_ABLATIONS; ++k)
        ok = add_row(list, &rows[k]);
    if (!ok) {
        cJSON_Delete(root);
        return NULL;
    }
    return root;
}
