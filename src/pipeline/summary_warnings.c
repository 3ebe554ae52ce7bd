/* Warnings name the images that they are about, as far as there are any: those at which the model
 * hangs together, those that the strongest runner-up moves, or those with the worst value of a clue
 * that images have as well. Of thousands of images a sentence that names none helps nobody. */
#include "pipeline/summary_warnings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

#define MOST_REASONS 3
#define MOST_NAMES 10    /* the others are counted */
#define NEARLY_WORST 0.5 /* share of the worst value from which an image is meant as well */

/* The images that a warning is about. */
typedef struct {
    uint32_t first[MOST_NAMES], num;
} concerned;

static void add_view(concerned *c, uint32_t view) {
    if (c->num < MOST_NAMES)
        c->first[c->num] = view;
    ++c->num;
}

/* Images that the strongest runner-up moves: one that turns them, or one of the others. */
static void find_moved(const psfm_reconstruction *found, uint32_t component, bool turned,
                       concerned *c) {
    const psfm_ambiguities *all = &found->edges.ambiguities;
    const psfm_ambiguity *strongest = NULL;
    for (size_t k = 0; k < all->num; ++k) {
        const psfm_ambiguity *a = &all->item[k];
        if ((a->kind == PSFM_AMBIGUITY_TURN) == turned &&
            found->solution.poses.component[a->cut.node[0]] == component &&
            (strongest == NULL || psfm_ambiguity_ratio(a) > psfm_ambiguity_ratio(strongest)))
            strongest = a;
    }
    for (uint32_t k = 0; strongest != NULL && k < strongest->cut.num_nodes; ++k)
        add_view(c, strongest->cut.node[k]);
}

/* The value of a model's clue at an image; NAN if images have none. */
static double value_at(const char *clue, const psfm_image_features *f) {
    if (strcmp(clue, "joint") == 0)
        return f->joint;
    if (strcmp(clue, "half_shift_deg") == 0)
        return fmax(f->half_deg, psfm_center_angle_deg(f, f->half_center));
    if (strcmp(clue, "focal_shift_deg") == 0)
        return fmax(f->focal_deg, psfm_center_angle_deg(f, f->focal_center));
    return NAN;
}

/* The worst image, which is among those that are named, and those that are nearly as bad. */
static void find_worst(const psfm_reconstruction *found, uint32_t component, const char *clue,
                       concerned *c) {
    const psfm_verdicts *verdicts = &found->verdicts;
    const uint32_t *of = found->solution.poses.component;
    double most = 0.0;
    uint32_t worst = 0;
    for (uint32_t v = 0; v < verdicts->num_images; ++v) {
        double value = value_at(clue, &verdicts->images[v].features);
        if (of[v] == component && value > most) {
            most = value;
            worst = v;
        }
    }
    if (most == 0.0)
        return;
    add_view(c, worst);
    for (uint32_t v = 0; v < verdicts->num_images; ++v)
        if (of[v] == component && v != worst &&
            value_at(clue, &verdicts->images[v].features) >= NEARLY_WORST * most)
            add_view(c, v);
}

/* Images that alone hold parts together; without any, those of pairs that do; without these, all
 * outside the largest part. */
static void find_cuts(const psfm_reconstruction *found, uint32_t component, concerned *c) {
    const psfm_component_facts *facts = &found->solution.components[component];
    for (uint32_t k = 0; k < facts->num_cut_nodes; ++k)
        add_view(c, facts->cut_nodes[k]);
    for (uint32_t k = 0; facts->num_cut_nodes == 0 && k < facts->num_bridges; ++k) {
        const psfm_edge *edge = &found->graph.edges[facts->bridges[k]];
        add_view(c, edge->node1);
        add_view(c, edge->node2);
    }
    if (c->num == 0)
        find_worst(found, component, "joint", c);
}

static concerned find_concerned(const psfm_reconstruction *found, uint32_t component,
                                const char *clue) {
    concerned c = {{0}, 0};
    if (strcmp(clue, "thin_cuts") == 0)
        find_cuts(found, component, &c);
    else if (strcmp(clue, "ambiguity") == 0 || strcmp(clue, "runner_up") == 0)
        find_moved(found, component, strcmp(clue, "runner_up") == 0, &c);
    else
        find_worst(found, component, clue, &c);
    return c;
}

static bool add_names(cJSON *warning, const psfm_match_set *set, const concerned *c) {
    cJSON *names = cJSON_AddArrayToObject(warning, "images");
    for (uint32_t k = 0; names != NULL && k < c->num && k < MOST_NAMES; ++k) {
        cJSON *name = cJSON_CreateString(set->views[c->first[k]].name);
        if (name == NULL || !cJSON_AddItemToArray(names, name)) {
            cJSON_Delete(name);
            return false;
        }
    }
    if (names != NULL)
        psfm_json_sort(names, NULL, NULL);
    return names != NULL && psfm_json_add_number(warning, "num_images", c->num);
}

static bool add_warning(cJSON *list, const psfm_match_set *set, const psfm_reconstruction *found,
                        uint32_t component, const psfm_verdict_reason *reason) {
    cJSON *warning = cJSON_CreateObject();
    if (warning == NULL || !cJSON_AddItemToArray(list, warning)) {
        cJSON_Delete(warning);
        return false;
    }
    concerned c = find_concerned(found, component, reason->name);
    return psfm_json_add_number(warning, "model", component) &&
           cJSON_AddStringToObject(warning, "kind", reason->name) != NULL &&
           cJSON_AddStringToObject(warning, "text", reason->text) != NULL &&
           cJSON_AddStringToObject(warning, "advice", reason->advice) != NULL &&
           add_names(warning, set, &c);
}

bool psfm_summary_add_warnings(cJSON *root, const psfm_match_set *set,
                               const psfm_reconstruction *found) {
    cJSON *list = cJSON_AddArrayToObject(root, "warnings");
    for (uint32_t c = 0; list != NULL && c < found->verdicts.num_models; ++c) {
        psfm_verdict_reason reasons[MOST_REASONS];
        const psfm_model_verdict *model = &found->verdicts.models[c];
        if (psfm_is_called_right(model))
            continue;
        int num = psfm_verdict_reasons(model, MOST_REASONS, reasons);
        for (int k = 0; k < num; ++k)
            if (!add_warning(list, set, found, c, &reasons[k]))
                return false;
    }
    return list != NULL;
}
