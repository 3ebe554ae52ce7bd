/* Runner-ups by the names of their images, in the frame and unit of the model. */
#include "pipeline/summary_ambiguity.h"

#include <string.h>

#include "base/json.h"
#include "linalg/mat3.h"
#include "linalg/vec3.h"

/* Adds an item to a list; false, and the item is gone, if that is not possible. */
static bool append(cJSON *list, cJSON *item) {
    if (item != NULL && cJSON_AddItemToArray(list, item))
        return true;
    cJSON_Delete(item);
    return false;
}

bool psfm_summary_add_names(cJSON *parent, const char *what, const psfm_match_set *set,
                            const uint32_t *views, uint32_t num) {
    cJSON *list = cJSON_AddArrayToObject(parent, what);
    for (uint32_t k = 0; k < num; ++k)
        if (!append(list, cJSON_CreateString(set->views[views[k]].name)))
            return false;
    if (list != NULL)
        psfm_json_sort(list, NULL, NULL);
    return list != NULL;
}

static cJSON *make_pair(const char *one, const char *other) {
    bool in_order = strcmp(one, other) < 0;
    cJSON *pair = cJSON_CreateObject();
    if (cJSON_AddStringToObject(pair, "image1", in_order ? one : other) != NULL &&
        cJSON_AddStringToObject(pair, "image2", in_order ? other : one) != NULL)
        return pair;
    cJSON_Delete(pair);
    return NULL;
}

bool psfm_summary_add_pairs(cJSON *parent, const char *what, const psfm_match_set *set,
                            const psfm_pose_graph *graph, const uint32_t *edges, uint32_t num) {
    cJSON *list = cJSON_AddArrayToObject(parent, what);
    for (uint32_t k = 0; k < num; ++k) {
        const psfm_edge *edge = &graph->edges[edges[k]];
        if (!append(list, make_pair(set->views[edge->node1].name, set->views[edge->node2].name)))
            return false;
    }
    if (list != NULL)
        psfm_json_sort(list, "image1", "image2");
    return list != NULL;
}

/* The axis of a turn, or the direction of a shift, in the world of the model, unless its reference
 * has no pose. */
static bool add_direction(cJSON *item, const char *what, const psfm_poses *poses,
                          const psfm_ambiguity *a) {
    double direction[3];
    if (!psfm_has_pose(poses, a->cut.reference))
        return true;
    psfm_mat3_tmul_vec(poses->cam_from_world[a->cut.reference], a->direction, direction);
    cJSON *list = cJSON_CreateDoubleArray(direction, 3);
    if (list != NULL && cJSON_AddItemToObject(item, what, list))
        return true;
    cJSON_Delete(list);
    return false;
}

/* By how much it is shifted, in the unit of the model, and whereto. */
static bool add_shift(cJSON *item, const psfm_reconstruction *found, const psfm_ambiguity *a) {
    const psfm_edge *ruler = &found->graph.edges[a->ruler];
    const psfm_poses *poses = &found->solution.poses;
    double between[3];
    if (!psfm_share_world(poses, ruler->node1, ruler->node2))
        return true;
    psfm_sub3(poses->center[ruler->node1], poses->center[ruler->node2], between);
    return psfm_json_add_number(item, "shift", a->shift * psfm_norm3(between)) &&
           add_direction(item, "shift_direction", poses, a);
}

static bool add_move(cJSON *item, const psfm_reconstruction *found, const psfm_ambiguity *a) {
    if (a->kind == PSFM_AMBIGUITY_SHIFT)
        return add_shift(item, found, a);
    return psfm_json_add_number(item, "turn_deg", a->turn_deg) &&
           add_direction(item, "turn_axis", &found->solution.poses, a);
}

static bool add_ambiguity(cJSON *list, const psfm_match_set *set, const psfm_reconstruction *found,
                          const psfm_ambiguity *a) {
    static const char *const kinds[PSFM_NUM_AMBIGUITIES] = {"turn", "flip", "shift"};
    const psfm_runner_up *cut = &a->cut;
    cJSON *item = cJSON_CreateObject();
    return append(list, item) && cJSON_AddStringToObject(item, "kind", kinds[a->kind]) != NULL &&
           psfm_summary_add_names(item, "images", set, cut->node, cut->num_nodes) &&
           add_move(item, found, a) &&
           psfm_json_add_number(item, "evidence_ratio", psfm_ambiguity_ratio(a)) &&
           cJSON_AddBoolToObject(item, "decided", cut->decided) != NULL &&
           psfm_json_add_number(item, "agreeing", cut->agreeing) &&
           psfm_json_add_number(item, "opposing", cut->opposing) &&
           psfm_json_add_number(item, "opposing_pairs", cut->num_opposing) &&
           psfm_summary_add_pairs(item, "agreeing_pairs", set, &found->graph, cut->edge,
                                  cut->num_agreeing);
}

bool psfm_summary_add_ambiguities(cJSON *model, const psfm_match_set *set,
                                  const psfm_reconstruction *found, uint32_t component) {
    const psfm_ambiguities *all = &found->edges.ambiguities;
    const uint32_t *of = found->solution.poses.component;
    cJSON *list = cJSON_AddArrayToObject(model, "ambiguity");
    for (size_t k = 0; k < all->num; ++k) {
        const psfm_ambiguity *a = &all->item[k];
        if ((of[a->cut.node[0]] == component || of[a->cut.reference] == component) &&
            !add_ambiguity(list, set, found, a))
            return false;
    }
    return list != NULL;
}
