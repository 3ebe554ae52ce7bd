/* Parts of the summary that are more than a row of numbers each: runner-ups, cameras,
 * warnings, the court. Runner-ups are told by the names of their images, in the frame and unit of
 * the model. */
#include <math.h>
#include <string.h>

#include "core/camera/camera_model.h"
#include "core/camera/camera_origin.h"
#include "core/linalg/mat3.h"
#include "core/linalg/vec3.h"
#include "formats/court_request.h"
#include "sfm/summary_parts.h"

void psfm_summary_add_names(psfm_json_maker *m, cJSON *parent, const char *what,
                            const psfm_match_set *set, const uint32_t *views, uint32_t num) {
    cJSON *list = psfm_json_list(m, parent, what);
    for (uint32_t k = 0; k < num; ++k)
        psfm_json_text(m, list, NULL, set->views[views[k]].name);
    psfm_json_sort(list, NULL, NULL);
}

void psfm_summary_add_pairs(psfm_json_maker *m, cJSON *parent, const char *what, const psfm_sfm *s,
                            const uint32_t *edges, uint32_t num) {
    cJSON *list = psfm_json_list(m, parent, what);
    for (uint32_t k = 0; k < num; ++k) {
        const psfm_edge *edge = &s->graph.edges[edges[k]];
        const char *one = s->set.views[edge->node1].name, *other = s->set.views[edge->node2].name;
        bool in_order = strcmp(one, other) < 0;
        cJSON *pair = psfm_json_object(m, list, NULL);
        psfm_json_text(m, pair, "image1", in_order ? one : other);
        psfm_json_text(m, pair, "image2", in_order ? other : one);
    }
    psfm_json_sort(list, "image1", "image2");
}

/* The axis of a turn, or the direction of a shift, in the world of the model, unless its reference
 * has no pose. */
static void add_direction(psfm_json_maker *m, cJSON *item, const char *what,
                          const psfm_poses *poses, const psfm_ambiguity *a) {
    double direction[3];
    if (!psfm_has_pose(poses, a->cut.reference))
        return;
    psfm_mat3_tmul_vec(poses->cam_from_world[a->cut.reference], a->direction, direction);
    psfm_json_numbers(m, item, what, direction, 3);
}

/* By how much it is shifted, in the unit of the model, and whereto. */
static void add_shift(psfm_json_maker *m, cJSON *item, const psfm_sfm *s, const psfm_ambiguity *a) {
    const psfm_edge *ruler = &s->graph.edges[a->ruler];
    const psfm_poses *poses = &s->solution.poses;
    double between[3];
    if (!psfm_share_world(poses, ruler->node1, ruler->node2))
        return;
    psfm_sub3(poses->center[ruler->node1], poses->center[ruler->node2], between);
    psfm_json_number(m, item, "shift", a->shift * psfm_norm3(between));
    add_direction(m, item, "shift_direction", poses, a);
}

static void add_ambiguity(psfm_json_maker *m, cJSON *item, const psfm_sfm *s,
                          const psfm_ambiguity *a) {
    static const char *const kinds[PSFM_NUM_AMBIGUITIES] = {"rotation", "flip", "shift"};
    const psfm_runner_up *cut = &a->cut;
    psfm_json_text(m, item, "kind", kinds[a->kind]);
    psfm_summary_add_names(m, item, "images", &s->set, cut->node, cut->num_nodes);
    if (a->kind == PSFM_AMBIGUITY_SHIFT) {
        add_shift(m, item, s, a);
    } else {
        psfm_json_number(m, item, "rotation_deg", a->rotation_deg);
        add_direction(m, item, "rotation_axis", &s->solution.poses, a);
    }
    psfm_json_number(m, item, "evidence_ratio", psfm_ambiguity_ratio(a));
    psfm_json_flag(m, item, "decided", cut->decided);
    psfm_json_number(m, item, "agreeing", cut->agreeing);
    psfm_json_number(m, item, "opposing", cut->opposing);
    psfm_json_number(m, item, "opposing_pairs", cut->num_opposing);
    psfm_summary_add_pairs(m, item, "agreeing_pairs", s, cut->edge, cut->num_agreeing);
}

void psfm_summary_add_ambiguities(psfm_json_maker *m, cJSON *model, const psfm_sfm *s,
                                  uint32_t component) {
    const psfm_ambiguities *all = &s->edges.ambiguities;
    const uint32_t *of = s->solution.poses.component;
    cJSON *list = psfm_json_list(m, model, "ambiguity");
    for (size_t k = 0; k < all->num; ++k) {
        const psfm_ambiguity *a = &all->item[k];
        if (of[a->cut.node[0]] == component || of[a->cut.reference] == component)
            add_ambiguity(m, psfm_json_object(m, list, NULL), s, a);
    }
}

/* ---- cameras ---- */

/* Intrinsics as they came and as they left, one object per camera. */

/* Standard deviation of the logarithm of a focal length that is known: as planes have to know it.
 */
#define SURE 0.02

/* Standard deviation of the logarithm of a focal length: after the adjustment if it moved there. */
static double focal_sigma(const double *sigma, const psfm_camera *after, double before) {
    int focal = psfm_camera_model_get(after->model)->focal[0];
    double moved = sigma == NULL ? NAN : sigma[focal];
    return isfinite(moved) ? moved / after->params[focal] : before;
}

psfm_focal_source psfm_final_focal_source(const psfm_camera_origin *origin,
                                          const psfm_camera *after, const double *sigma) {
    bool is_sure = focal_sigma(sigma, after, INFINITY) < SURE;
    return psfm_focal_is_doubtful(origin->source) && is_sure ? PSFM_FOCAL_POINTS : origin->source;
}

static void add_camera(psfm_json_maker *m, cJSON *item, const psfm_camera *after,
                       const psfm_camera_origin *origin, const double *sigma) {
    size_t num = (size_t)psfm_camera_num_params(after->model);
    psfm_json_number(m, item, "id", after->id);
    psfm_json_text(m, item, "model", psfm_camera_model_name(after->model));
    psfm_json_text(m, item, "source",
                   psfm_focal_source_name(psfm_final_focal_source(origin, after, sigma)));
    psfm_json_number(m, item, "focal_px_before", psfm_camera_mean_focal(&origin->before));
    psfm_json_number(m, item, "focal_px", psfm_camera_mean_focal(after));
    psfm_json_number(m, item, "focal_sigma", focal_sigma(sigma, after, origin->sigma));
    psfm_json_numbers(m, item, "params", after->params, num);
    if (origin->before.model == after->model)
        psfm_json_numbers(m, item, "params_before", origin->before.params, num);
    if (sigma != NULL)
        psfm_json_numbers(m, item, "params_sigma", sigma, num);
}

/* Its size, how many photographs it took, and the first of them by name. */
static void add_camera_images(psfm_json_maker *m, cJSON *item, const psfm_match_set *set,
                              uint32_t camera) {
    const char *first = NULL;
    double num = 0.0;
    for (size_t v = 0; v < set->num_views; ++v) {
        if (set->views[v].camera_idx != camera)
            continue;
        if (first == NULL || strcmp(set->views[v].name, first) < 0)
            first = set->views[v].name;
        num += 1.0;
    }
    psfm_json_number(m, item, "width", (double)set->cameras[camera].width);
    psfm_json_number(m, item, "height", (double)set->cameras[camera].height);
    psfm_json_number(m, item, "num_images", num);
    if (first != NULL)
        psfm_json_text(m, item, "first_image", first);
}

void psfm_summary_add_cameras(psfm_json_maker *m, cJSON *root, const psfm_sfm *s) {
    const psfm_match_set *set = &s->set;
    const psfm_refined *refined = &s->refined;
    cJSON *list = psfm_json_list(m, root, "cameras");
    for (size_t c = 0; c < set->num_cameras; ++c) {
        psfm_camera_origin origin = {.before = set->cameras[c]};
        if (set->origins != NULL)
            origin = set->origins[c];
        cJSON *item = psfm_json_object(m, list, NULL);
        add_camera(m, item, refined->cameras == NULL ? &set->cameras[c] : &refined->cameras[c],
                   &origin, refined->camera_sigma == NULL ? NULL : refined->camera_sigma[c]);
        add_camera_images(m, item, set, (uint32_t)c);
    }
    psfm_json_sort(list, "id", NULL);
}

/* ---- warnings ---- */

/* Warnings name the images that they are about, as far as there are any: those at which the model
 * is weakly connected, those that the strongest runner-up moves, or those with the worst value of a
 * signal that images have as well. A sentence about thousands of images that names none does not
 * help.
 */

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
static void find_moved(const psfm_sfm *s, uint32_t component, bool turned, concerned *c) {
    const psfm_ambiguities *all = &s->edges.ambiguities;
    const psfm_ambiguity *strongest = NULL;
    for (size_t k = 0; k < all->num; ++k) {
        const psfm_ambiguity *a = &all->item[k];
        if ((a->kind == PSFM_AMBIGUITY_ROTATION) == turned &&
            s->solution.poses.component[a->cut.node[0]] == component &&
            (strongest == NULL || psfm_ambiguity_ratio(a) > psfm_ambiguity_ratio(strongest)))
            strongest = a;
    }
    for (uint32_t k = 0; strongest != NULL && k < strongest->cut.num_nodes; ++k)
        add_view(c, strongest->cut.node[k]);
}

/* The value of a model's signal at an image; NAN if images have none. */
static double value_at(const char *signal, const psfm_image_features *f) {
    if (strcmp(signal, "weak_connection") == 0)
        return f->weak_connection;
    if (strcmp(signal, "unexplained") == 0)
        return f->unexplained;
    if (strcmp(signal, "half_shift_deg") == 0)
        return fmax(f->half_deg, psfm_center_angle_deg(f, f->half_center));
    if (strcmp(signal, "focal_shift_deg") == 0)
        return fmax(f->focal_deg, psfm_center_angle_deg(f, f->focal_center));
    return NAN;
}

/* The worst image, which is among those that are named, and those that are nearly as bad. */
static void find_worst(const psfm_sfm *s, uint32_t component, const char *signal, concerned *c) {
    const psfm_verdicts *verdicts = &s->verdicts;
    const uint32_t *of = s->solution.poses.component;
    double most = 0.0;
    uint32_t worst = 0;
    for (uint32_t v = 0; v < verdicts->num_images; ++v) {
        double value = value_at(signal, &verdicts->images[v].features);
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
            value_at(signal, &verdicts->images[v].features) >= NEARLY_WORST * most)
            add_view(c, v);
}

/* Cut images; without any, those of bridges; without these, all outside the largest triangle
 * component. */
static void find_cuts(const psfm_sfm *s, uint32_t component, concerned *c) {
    const psfm_component_facts *facts = &s->solution.components[component];
    for (uint32_t k = 0; k < facts->num_cut_nodes; ++k)
        add_view(c, facts->cut_nodes[k]);
    for (uint32_t k = 0; facts->num_cut_nodes == 0 && k < facts->num_bridges; ++k) {
        const psfm_edge *edge = &s->graph.edges[facts->bridges[k]];
        add_view(c, edge->node1);
        add_view(c, edge->node2);
    }
    if (c->num == 0)
        find_worst(s, component, "weak_connection", c);
}

static concerned find_concerned(const psfm_sfm *s, uint32_t component, const char *signal) {
    concerned c = {{0}, 0};
    if (strcmp(signal, "two_edge_cuts") == 0)
        find_cuts(s, component, &c);
    else if (strcmp(signal, "ambiguity") == 0 || strcmp(signal, "runner_up") == 0)
        find_moved(s, component, strcmp(signal, "runner_up") == 0, &c);
    else
        find_worst(s, component, signal, &c);
    return c;
}

static void add_warning(psfm_json_maker *m, cJSON *warning, const psfm_sfm *s, uint32_t component,
                        const psfm_verdict_reason *reason) {
    concerned c = find_concerned(s, component, reason->name);
    psfm_json_number(m, warning, "model", component);
    psfm_json_text(m, warning, "verdict",
                   psfm_verdict_word_name(psfm_model_word(&s->verdicts.models[component])));
    psfm_json_text(m, warning, "kind", reason->name);
    psfm_json_text(m, warning, "text", reason->text);
    psfm_summary_add_names(m, warning, "images", &s->set, c.first,
                           c.num < MOST_NAMES ? c.num : MOST_NAMES);
    psfm_json_number(m, warning, "num_images", c.num);
}

void psfm_summary_add_warnings(psfm_json_maker *m, cJSON *root, const psfm_sfm *s) {
    cJSON *list = psfm_json_list(m, root, "warnings");
    for (uint32_t c = 0; c < s->verdicts.num_models; ++c) {
        psfm_verdict_reason reasons[MOST_REASONS];
        const psfm_model_verdict *model = &s->verdicts.models[c];
        if (psfm_is_called_right(model))
            continue;
        int num = psfm_verdict_reasons(model, MOST_REASONS, reasons);
        for (int k = 0; k < num; ++k)
            add_warning(m, psfm_json_object(m, list, NULL), s, c, &reasons[k]);
    }
}

/* ---- the court ---- */

/* The drawing goes into the summary as each photograph sees it, part by part, so that a page can
 * lay it over the photographs without knowing of lenses. */

#define SEGMENTS 40     /* of a part as long as the drawing is large */
#define FOUND 0.5       /* share of a part's pixels that lines confirm */
#define MOST_POINTS 256 /* of a stroke */

/* A photograph of the drawing. */
typedef struct {
    const psfm_drawing *drawing;
    const psfm_court_pose *lines; /* what its lines say */
    const psfm_camera *camera;
    double R[9], center[3];
} photograph;

static bool project_place(const photograph *p, const double at[2], double xy[2]) {
    double X[3] = {at[0] - p->center[0], at[1] - p->center[1], -p->center[2]}, q[3];
    psfm_mat3_mul_vec(p->R, X, q);
    return q[2] > 0.0 && psfm_camera_project(p->camera, q, xy) && xy[0] >= 0.0 && xy[1] >= 0.0 &&
           xy[0] <= (double)p->camera->width && xy[1] <= (double)p->camera->height;
}

static void add_stroke(psfm_json_maker *m, cJSON *list, const double *xy, int num, bool found) {
    cJSON *stroke = psfm_json_object(m, list, NULL);
    psfm_json_numbers(m, stroke, "xy", xy, 2 * (size_t)num);
    psfm_json_flag(m, stroke, "found", found);
}

/* The segments of a part that are in the photograph, each one stroke. */
static void add_part(psfm_json_maker *m, cJSON *list, const photograph *p, size_t k) {
    const psfm_drawing_part *part = &p->drawing->parts[k];
    double share = psfm_drawing_part_length(part) / psfm_drawing_size(p->drawing);
    int segments = (int)fmin(ceil(SEGMENTS * share), MOST_POINTS - 1), num = 0;
    double visible = p->lines->part_visible[k], xy[2 * MOST_POINTS];
    bool found = visible > 0.0 && p->lines->part_hit[k] >= FOUND * visible;
    for (int i = 0; i <= segments; ++i) {
        double at[2], pixel[2];
        psfm_drawing_part_at(part, (double)i / segments, at);
        bool seen = project_place(p, at, pixel);
        if (seen) {
            xy[2 * num] = 0.1 * round(10.0 * pixel[0]);
            xy[2 * num++ + 1] = 0.1 * round(10.0 * pixel[1]);
        }
        if (num > 1 && (!seen || i == segments))
            add_stroke(m, list, xy, num, found);
        num = seen ? num : 0;
    }
}

static void add_lines(psfm_json_maker *m, cJSON *item, const photograph *p) {
    const psfm_court_pose *pose = p->lines;
    cJSON *strokes = psfm_json_list(m, item, "drawing");
    psfm_json_number(m, item, "score", pose->score);
    psfm_json_number(m, item, "runner_up", pose->runner_up);
    psfm_json_number(m, item, "lines", pose->num_lines);
    psfm_json_number(m, item, "confirmed", pose->hit);
    psfm_json_number(m, item, "rms_px", pose->rms_px);
    psfm_json_number(m, item, "width", (double)p->camera->width);
    psfm_json_number(m, item, "height", (double)p->camera->height);
    for (size_t k = 0; k < p->drawing->num_parts; ++k)
        add_part(m, strokes, p, k);
}

static void add_photograph(psfm_json_maker *m, cJSON *item, const psfm_sfm *s, uint32_t v) {
    const psfm_court_evidence *court = s->court;
    const psfm_view *view = &s->set.views[v];
    const psfm_poses *poses = &s->solution.poses;
    photograph p = {.drawing = court->drawing, .lines = &court->poses[v]};
    bool in_model = court->agrees[v] && psfm_has_pose(poses, v);
    p.camera = in_model ? &s->set.cameras[view->camera_idx] : &court->poses[v].camera;
    memcpy(p.R, in_model ? poses->cam_from_world[v] : court->poses[v].R, sizeof p.R);
    memcpy(p.center, in_model ? poses->center[v] : court->poses[v].center, sizeof p.center);
    psfm_json_text(m, item, "name", view->name);
    psfm_json_text(m, item, "registration", psfm_court_verdict_text(p.lines->verdict));
    psfm_json_flag(m, item, "in_model", in_model);
    if (in_model)
        psfm_json_number(m, item, "turn_deg", 90.0 * court->quarters[v]);
    if (psfm_court_has_pose(court, v))
        add_lines(m, item, &p);
}

/* The model in the frame of the drawing, if there is one, and the drawing on its z = 0. */
static void add_model(psfm_json_maker *m, cJSON *object, const psfm_court_evidence *court,
                      const psfm_poses *poses) {
    for (uint32_t v = 0; v < court->num_views; ++v) {
        if (!court->agrees[v] || !psfm_has_pose(poses, v))
            continue;
        psfm_json_number(m, object, "model", poses->component[v]);
        m->failed = !psfm_drawing_add_strokes(object, court->drawing) || m->failed;
        return;
    }
}

void psfm_summary_add_court(psfm_json_maker *m, cJSON *root, const psfm_sfm *s) {
    const psfm_court_evidence *court = s->court;
    uint32_t registered = 0, in_model = 0;
    if (court == NULL)
        return;
    for (uint32_t v = 0; v < court->num_views; ++v) {
        registered += psfm_court_accepts(court, v);
        in_model += court->agrees[v] && psfm_has_pose(&s->solution.poses, v);
    }
    cJSON *object = psfm_json_object(m, root, "court");
    psfm_json_text(m, object, "drawing", court->drawing->name);
    psfm_json_number(m, object, "registered", registered);
    psfm_json_number(m, object, "in_model", in_model);
    psfm_json_numbers(m, object, "expected_size", court->expected_size, 2);
    psfm_json_numbers(m, object, "size", court->drawing->size, 2);
    psfm_json_numbers(m, object, "sigma_size", court->sigma_size, 2);
    add_model(m, object, court, &s->solution.poses);
    cJSON *list = psfm_json_list(m, object, "photographs");
    for (uint32_t v = 0; v < court->num_views; ++v)
        add_photograph(m, psfm_json_object(m, list, NULL), s, v);
    psfm_json_sort(list, "name", NULL);
}

/* ---- extraction and matching ---- */

/* What extraction and matching tell about themselves. */

cJSON *psfm_extract_stats_to_json(const psfm_extract_stats *stats) {
    psfm_json_maker m = {false};
    cJSON *object = cJSON_CreateObject();
    psfm_json_number(&m, object, "images", (double)stats->num_images);
    psfm_json_number(&m, object, "extracted", (double)stats->num_extracted);
    psfm_json_number(&m, object, "unchanged", (double)stats->num_unchanged);
    psfm_json_number(&m, object, "removed", (double)stats->num_removed);
    psfm_json_number(&m, object, "features", (double)stats->num_features);
    psfm_json_text(&m, object, "kind", stats->features);
    psfm_json_number(&m, object, "other_files", (double)stats->num_other_files);
    psfm_json_text(&m, object, "intrinsics", stats->intrinsics);
    cJSON *unused = psfm_json_list(&m, object, "left_out");
    for (size_t k = 0; k < stats->num_unused; ++k) {
        cJSON *entry = psfm_json_object(&m, unused, NULL);
        psfm_json_text(&m, entry, "name", stats->unused[k].name);
        psfm_json_text(&m, entry, "reason", stats->unused[k].reason);
    }
    return psfm_json_finish(&m, object);
}

cJSON *psfm_match_stats_to_json(const psfm_match_stats *stats) {
    psfm_json_maker m = {false};
    cJSON *object = cJSON_CreateObject();
    psfm_json_text(&m, object, "pairs_rule", stats->rule);
    psfm_json_text(&m, object, "matcher", stats->matcher);
    psfm_json_number(&m, object, "pairs", (double)stats->num_pairs);
    psfm_json_number(&m, object, "added_pairs", (double)stats->num_added);
    psfm_json_number(&m, object, "matched", (double)stats->num_matched);
    psfm_json_number(&m, object, "kept", (double)stats->num_kept);
    psfm_json_number(&m, object, "failed", (double)stats->num_failed);
    psfm_json_number(&m, object, "removed_pairs", (double)stats->num_dropped);
    psfm_json_number(&m, object, "matches", (double)stats->num_matches);
    psfm_json_number(&m, object, "guided", (double)stats->num_guided);
    return psfm_json_finish(&m, object);
}

/* What was spent: the effort of all photographs, and the names of those that were given more. */
static void add_effort(psfm_json_maker *m, cJSON *facts, const psfm_taken_photos *taken) {
    cJSON *second_pass = psfm_json_object(m, facts, "second_pass");
    psfm_json_text(m, facts, "effort", psfm_effort_name(taken->effort));
    for (int level = PSFM_EFFORT_NORMAL; level <= PSFM_EFFORT_HIGH; ++level) {
        cJSON *names = psfm_json_list(m, second_pass, psfm_effort_name((psfm_effort)level));
        for (size_t k = 0; k < taken->second_pass.num; ++k)
            if (taken->second_pass.photos[k].effort == (psfm_effort)level)
                psfm_json_text(m, names, NULL, taken->second_pass.photos[k].name);
    }
}

void psfm_summary_add_front_end(psfm_json_maker *m, cJSON *root, const psfm_sfm *s) {
    if (!s->front.is_used)
        return;
    cJSON *photographs = psfm_extract_stats_to_json(&s->front.taken.extracted);
    psfm_json_put(m, root, "photographs", photographs);
    if (m->failed)
        return;
    psfm_json_text(m, photographs, "folder", s->photo_folder);
    add_effort(m, photographs, &s->front.taken);
    psfm_json_put(m, root, "matching", psfm_match_stats_to_json(&s->front.taken.matched));
}
