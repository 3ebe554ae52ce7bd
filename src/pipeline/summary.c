/* summary.json. Every number that a reader may want is put here by one function per section; what
 * runs out of memory on the way is noticed once at the end. Images are in the order of their names,
 * which is not that of the views. */
#include "pipeline/summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "camera/camera_model.h"
#include "linalg/mat3.h"
#include "pipeline/summary_ambiguity.h"
#include "pipeline/summary_cameras.h"
#include "pipeline/summary_court.h"
#include "pipeline/summary_warnings.h"
#include "planarsfm/version.h"

/* cJSON's Add functions return NULL when memory is out; the tree is then incomplete. Every call
 * goes through these, which remember it. */
typedef struct {
    bool failed;
} builder;

static cJSON *object(builder *b, cJSON *parent, const char *name) {
    cJSON *item = cJSON_AddObjectToObject(parent, name);
    b->failed = b->failed || item == NULL;
    return item;
}

static cJSON *array(builder *b, cJSON *parent, const char *name) {
    cJSON *item = cJSON_AddArrayToObject(parent, name);
    b->failed = b->failed || item == NULL;
    return item;
}

/* A new object at the end of a list. */
static cJSON *element(builder *b, cJSON *list) {
    cJSON *item = cJSON_CreateObject();
    if (item == NULL || !cJSON_AddItemToArray(list, item)) {
        cJSON_Delete(item);
        b->failed = true;
        return NULL;
    }
    return item;
}

static void number(builder *b, cJSON *parent, const char *name, double value) {
    cJSON *item = isfinite(value) ? cJSON_AddNumberToObject(parent, name, value)
                                  : cJSON_AddNullToObject(parent, name);
    b->failed = b->failed || item == NULL;
}

static void boolean(builder *b, cJSON *parent, const char *name, bool value) {
    b->failed = cJSON_AddBoolToObject(parent, name, value) == NULL || b->failed;
}

static void text(builder *b, cJSON *parent, const char *name, const char *value) {
    b->failed = cJSON_AddStringToObject(parent, name, value) == NULL || b->failed;
}

static void number_element(builder *b, cJSON *list, double value) {
    cJSON *item = cJSON_CreateNumber(value);
    if (item == NULL || !cJSON_AddItemToArray(list, item)) {
        cJSON_Delete(item);
        b->failed = true;
    }
}

static void add_options(builder *b, cJSON *root, const psfm_reconstruct_options *options) {
    cJSON *groups = object(b, root, "options");
    for (const psfm_option_group *g = psfm_reconstruct_option_groups; g->table != NULL; ++g) {
        cJSON *values = psfm_options_to_json(g->table, (const char *)options + g->offset);
        if (values == NULL || !cJSON_AddItemToObject(groups, g->table->prefix, values)) {
            cJSON_Delete(values);
            b->failed = true;
        }
    }
}

static void add_input(builder *b, cJSON *root, const psfm_evidence *evidence,
                      const psfm_database_stats *stats) {
    const psfm_match_set *set = evidence->set;
    cJSON *input = object(b, root, "input");
    number(b, input, "cameras", (double)set->num_cameras);
    number(b, input, "images", (double)set->num_views);
    number(b, input, "pairs", (double)set->num_pairs);
    number(b, input, "noise_px", evidence->noise.sigma_px);
    if (stats == NULL)
        return;
    number(b, input, "pairs_from_matches", (double)stats->num_pairs_from_matches);
    number(b, input, "pairs_from_two_view_geometries", (double)stats->num_pairs_from_geometries);
    number(b, input, "images_without_keypoints", (double)stats->num_images_without_keypoints);
    number(b, input, "keypoints_without_ray", (double)stats->num_keypoints_without_ray);
    number(b, input, "matches_dropped", (double)stats->num_matches_dropped);
}

/* What was found out about cameras that nobody gave. */
static void add_calibration(builder *b, cJSON *root, const psfm_calibrate_stats *stats) {
    if (!stats->done)
        return;
    cJSON *calibration = object(b, root, "calibration");
    number(b, calibration, "unknown", (double)stats->num_unknown);
    number(b, calibration, "determined", (double)stats->num_determined);
    number(b, calibration, "determined_by_pairs", (double)stats->num_by_pairs);
    number(b, calibration, "contradict_exif", (double)stats->num_wrong_exif);
    number(b, calibration, "planes", stats->num_planes);
    number(b, calibration, "homographies", stats->num_homographies);
    number(b, calibration, "pairs", stats->num_pairs);
    number(b, calibration, "distortion", stats->distortion);
    number(b, calibration, "distortion_free", (double)stats->num_bends);
    number(b, calibration, "distortion_determined", (double)stats->num_bent);
    number(b, calibration, "fisheye", (double)stats->num_fisheye);
}

/* Whether given focal lengths want to change. */
static void add_check(builder *b, cJSON *root, const psfm_match_set *set,
                      const psfm_intrinsics_check *check) {
    if (check->num_checked == 0)
        return;
    cJSON *item = object(b, root, "given_intrinsics");
    number(b, item, "checked", (double)check->num_checked);
    number(b, item, "wrong", (double)check->num_wrong);
    if (check->num_wrong == 0)
        return;
    number(b, item, "worst_camera", set->cameras[check->worst].id);
    number(b, item, "wanted_change", check->change);
    number(b, item, "sigma", check->sigma);
    number(b, item, "mean_error_px", check->before_px);
    number(b, item, "mean_error_px_if_free", check->after_px);
}

/* How much flat ground owes to planes. */
static void add_bow(builder *b, cJSON *root, double bow) {
    if (isfinite(bow))
        number(b, root, "bow", bow);
}

static void add_pairs(builder *b, cJSON *root, const psfm_evidence *evidence,
                      const psfm_pose_graph *graph) {
    size_t kinds[PSFM_PAIR_ROTATION + 1] = {0}, homographies = 0, degenerate = 0, rotations = 0;
    for (size_t p = 0; p < evidence->num_pairs; ++p) {
        ++kinds[evidence->two_views[p].kind];
        homographies += evidence->two_views[p].num_homographies;
        degenerate += evidence->two_views[p].essential.is_degenerate ? 1 : 0;
    }
    for (uint32_t e = 0; e < graph->num_edges; ++e)
        rotations += graph->edges[e].is_rotation;
    cJSON *pairs = object(b, root, "pairs");
    for (int k = 0; k <= PSFM_PAIR_ROTATION; ++k)
        number(b, pairs, psfm_pair_kind_name((psfm_pair_kind)k), (double)kinds[k]);
    number(b, pairs, "homographies", (double)homographies);
    number(b, pairs, "essential_matrices_decided_by_a_plane", (double)degenerate);
    number(b, pairs, "pose_graph_edges", graph->num_edges);
    number(b, pairs, "pose_graph_rotations", (double)rotations);
    number(b, pairs, "pose_graph_hypotheses", graph->num_hypotheses);
}

static cJSON *add_rejected(builder *b, cJSON *parent, const size_t *outcomes) {
    cJSON *rejected = object(b, parent, "rejected");
    for (int k = PSFM_PATCH_ALIGNED + 1; k < PSFM_NUM_PATCH_OUTCOMES; ++k)
        number(b, rejected, psfm_patch_outcome_name((psfm_patch_outcome)k), (double)outcomes[k]);
    return rejected;
}

/* What became of the patches, if there were photographs. */
static void add_matches(builder *b, cJSON *root, const psfm_refine_matches_stats *stats) {
    if (!stats->done)
        return;
    const psfm_pair_plane_stats *patches = &stats->patches;
    cJSON *matches = object(b, root, "refine_matches");
    number(b, matches, "photographs", (double)stats->num_photos);
    number(b, matches, "photographs_unusable", (double)stats->num_unusable);
    number(b, matches, "pairs", (double)stats->num_pairs);
    number(b, matches, "corners", (double)stats->num_corners);
    number(b, matches, "patches", (double)patches->num_tried);
    number(b, matches, "accepted", (double)stats->num_matches);
    cJSON *rejected = add_rejected(b, matches, patches->outcomes);
    number(b, rejected, "off_plane", (double)patches->num_off_plane);
    number(b, rejected, "plane_given_up",
           (double)(patches->outcomes[PSFM_PATCH_ALIGNED] - stats->num_matches -
                    patches->num_off_plane));
    number(b, matches, "planes_refined", (double)patches->num_refined_planes);
    number(b, matches, "planes_kept_raw", (double)patches->num_raw_planes);
    number(b, matches, "median_shift_px", stats->median_shift_px);
    number(b, matches, "median_sigma_px", stats->median_sigma_px);
}

/* What became of the points that were sought in the photographs. */
static void add_tracks(builder *b, cJSON *root, const psfm_track_align_stats *stats) {
    if (!stats->done)
        return;
    cJSON *tracks = object(b, root, "align_tracks");
    number(b, tracks, "points", (double)stats->num_points);
    number(b, tracks, "patches", (double)stats->num_tried);
    number(b, tracks, "aligned", (double)stats->num_aligned);
    number(b, tracks, "new", (double)stats->num_new);
    add_rejected(b, tracks, stats->outcomes);
    number(b, tracks, "median_shift_px", stats->median_shift_px);
}

static void add_bridges(builder *b, cJSON *parent, const psfm_match_set *set,
                        const psfm_pose_graph *graph, const psfm_component_facts *facts) {
    b->failed = !psfm_summary_add_names(parent, "cut_images", set, facts->cut_nodes,
                                        facts->num_cut_nodes) ||
                !psfm_summary_add_pairs(parent, "bridges", set, graph, facts->bridges,
                                        facts->num_bridges) ||
                b->failed;
}

/* How likely a model is right, and what that rests on. */
static void add_model_verdict(builder *b, cJSON *model, const psfm_verdicts *verdicts,
                              uint32_t component) {
    if (verdicts->models == NULL)
        return;
    const psfm_model_verdict *verdict = &verdicts->models[component];
    text(b, model, "verdict", psfm_is_called_right(verdict) ? "right" : "doubtful");
    number(b, model, "probability", verdict->probability);
    if (verdict->num_by_lines > 0) {
        number(b, model, "images_by_lines", verdict->num_by_lines);
        return;
    }
    number(b, model, "sigma_factor", verdict->sigma_factor);
    cJSON *evidence = object(b, model, "evidence");
    for (int k = 0; k < psfm_model_features_num(); ++k)
        number(b, evidence, psfm_model_feature_name(k), psfm_model_feature(&verdict->features, k));
}

static void add_image_verdict(builder *b, cJSON *image, const psfm_verdicts *verdicts, size_t v) {
    if (verdicts->images == NULL)
        return;
    const psfm_image_verdict *verdict = &verdicts->images[v];
    const psfm_image_features *f = &verdict->features;
    number(b, image, "probability", verdict->probability);
    if (verdict->by_lines)
        return;
    cJSON *evidence = object(b, image, "evidence");
    number(b, evidence, "depth", f->depth);
    number(b, evidence, "edges_accepted", f->accepted);
    number(b, evidence, "edges_rejected", f->rejected);
    number(b, evidence, "residual", f->residual);
    number(b, evidence, "runner_up", f->runner_up);
    number(b, evidence, "joint", f->joint);
    number(b, evidence, "half_deg", f->half_deg);
    number(b, evidence, "half_center_deg", psfm_center_angle_deg(f, f->half_center));
    number(b, evidence, "focal_deg", f->focal_deg);
    number(b, evidence, "focal_center_deg", psfm_center_angle_deg(f, f->focal_center));
}

/* Whether a unit of a model is a metre: a drawing, a known distance or a scale says so. */
static bool is_metric(const psfm_evidence *evidence, const psfm_frame_options *frame,
                      const psfm_reconstruction *r, uint32_t component) {
    const psfm_poses *poses = &r->solution.poses;
    bool metric = frame->scale > 0.0;
    for (size_t v = 0; !metric && v < evidence->set->num_views; ++v) {
        if (poses->component[v] != component)
            continue;
        metric = evidence->court != NULL && evidence->court->agrees[v];
        if (frame->distance.image1 != NULL)
            metric = metric || strcmp(evidence->set->views[v].name, frame->distance.image1) == 0;
    }
    return metric && r->refined.images != NULL;
}

static void add_models(builder *b, cJSON *root, const psfm_evidence *evidence,
                       const psfm_frame_options *frame, const psfm_reconstruction *r) {
    const psfm_match_set *set = evidence->set;
    cJSON *models = array(b, root, "models");
    for (uint32_t c = 0; c < r->solution.num_components; ++c) {
        const psfm_component_facts *facts = &r->solution.components[c];
        cJSON *model = element(b, models);
        number(b, model, "images", facts->num_images);
        text(b, model, "unit", is_metric(evidence, frame, r, c) ? "m" : "arbitrary");
        number(b, model, "edges", facts->num_edges);
        number(b, model, "embedding_components", facts->num_similarity_components);
        number(b, model, "tree_range", facts->tree_high - facts->tree_low);
        number(b, model, "graph_range", facts->graph_high - facts->graph_low);
        number(b, model, "lud_iterations", facts->lud.iterations);
        boolean(b, model, "lud_converged", facts->lud.converged);
        boolean(b, model, "scale_undetermined", facts->is_split);
        number(b, model, "free_scales", (double)facts->num_free);
        add_bridges(b, model, set, &r->graph, facts);
        b->failed = !psfm_summary_add_ambiguities(model, set, r, c) || b->failed;
        add_model_verdict(b, model, &r->verdicts, c);
    }
}

/* "right" if every model is called so, "doubtful" if one is not, "unknown" if nothing was judged,
 * "none" if there is no model. */
static const char *verdict_on_all(const psfm_reconstruction *r) {
    if (r->num_models == 0)
        return "none";
    if (r->verdicts.models == NULL)
        return "unknown";
    for (uint32_t c = 0; c < r->verdicts.num_models; ++c)
        if (!psfm_is_called_right(&r->verdicts.models[c]))
            return "doubtful";
    return "right";
}

/* Says so where only some of the posed images have standard deviations. */
static void add_deviations(builder *b, cJSON *root, const psfm_match_set *set,
                           const psfm_reconstruction *r) {
    size_t posed = 0, known = 0;
    char line[128];
    for (size_t v = 0; r->refined.images != NULL && v < set->num_views; ++v) {
        posed += r->outcome[v] == PSFM_OUTCOME_POSED;
        known += r->outcome[v] == PSFM_OUTCOME_POSED &&
                 isfinite(r->refined.images[v].rotation_sigma_deg);
    }
    if (known == 0 || known == posed)
        return;
    cJSON *deviations = object(b, root, "deviations");
    snprintf(line, sizeof line,
             "only %zu of %zu posed images have standard deviations; the others have none", known,
             posed);
    number(b, deviations, "images", (double)known);
    text(b, deviations, "text", line);
}

/* The upper triangle: xx, xy, xz, yy, yz, zz. */
static void add_covariance(builder *b, cJSON *image, const psfm_refined_image *refined) {
    static const int upper[6] = {0, 1, 2, 4, 5, 8};
    if (!isfinite(refined->center_sigma))
        return;
    cJSON *list = array(b, image, "center_covariance");
    for (int k = 0; k < 6; ++k)
        number_element(b, list, refined->center_covariance[upper[k]]);
}

static void add_images(builder *b, cJSON *root, const psfm_match_set *set,
                       const psfm_reconstruction *r) {
    cJSON *images = array(b, root, "images");
    for (size_t v = 0; v < set->num_views; ++v) {
        cJSON *image = element(b, images);
        psfm_outcome state = r->outcome[v];
        text(b, image, "name", set->views[v].name);
        text(b, image, "state", psfm_outcome_name(state));
        if (state != PSFM_OUTCOME_POSED) {
            text(b, image, "advice", psfm_outcome_advice(state));
            continue;
        }
        number(b, image, "model", r->solution.poses.component[v]);
        if (r->refined.images == NULL)
            continue;
        const psfm_refined_image *refined = &r->refined.images[v];
        number(b, image, "points", refined->num_points);
        number(b, image, "mean_error_px", refined->mean_px);
        number(b, image, "rotation_sigma_deg", refined->rotation_sigma_deg);
        number(b, image, "center_sigma", refined->center_sigma);
        add_covariance(b, image, refined);
        boolean(b, image, "resected", refined->resected);
        add_image_verdict(b, image, &r->verdicts, v);
    }
    psfm_json_sort(images, "name", NULL);
}

/* What the robust engine found out. */
static void add_robust(builder *b, cJSON *root, const psfm_reconstruction *r) {
    uint32_t accepted = 0;
    if (r->edges.accepted == NULL)
        return;
    for (uint32_t e = 0; e < r->graph.num_edges; ++e)
        accepted += r->edges.accepted[e];
    cJSON *robust = object(b, root, "robust");
    number(b, robust, "edges_accepted", accepted);
    number(b, robust, "edges_rejected", r->graph.num_edges - accepted);
    number(b, robust, "consensus_node_moves", r->edges.consensus.num_node_moves);
    number(b, robust, "consensus_world_turns", r->edges.consensus.num_world_turns);
    number(b, robust, "physical_planes_in_graph", r->edges.groups.num_groups);
    if (r->refined.images == NULL)
        return;
    number(b, robust, "points", (double)r->refined.structure.num_points);
    number(b, robust, "planes", r->refined.planes.num_planes);
    number(b, robust, "mean_error_px", r->refined.mean_px);
    number(b, robust, "bundle_iterations", r->refined.iterations);
    text(b, robust, "bundle_stop", psfm_bundle_stop_name(r->refined.stop));
}

static void add_timings(builder *b, cJSON *root, const psfm_timings *timings) {
    cJSON *seconds = object(b, root, "seconds");
    for (int k = 0; k < timings->num_stages; ++k)
        number(b, seconds, timings->stages[k].name, timings->stages[k].seconds);
    cJSON *cpu = object(b, root, "cpu_seconds");
    for (int k = 0; k < timings->num_stages; ++k)
        number(b, cpu, timings->stages[k].name, timings->stages[k].cpu_seconds);
    cJSON *memory = object(b, root, "peak_memory_mb");
    for (int k = 0; k < timings->num_stages; ++k)
        number(b, memory, timings->stages[k].name, timings->stages[k].peak_mb);
}

cJSON *psfm_summary_make(const psfm_evidence *evidence, const psfm_database_stats *input,
                         const psfm_reconstruct_options *options,
                         const psfm_reconstruct_stats *stats, const psfm_reconstruction *found) {
    builder b = {false};
    cJSON *root = cJSON_CreateObject();
    if (root == NULL)
        return NULL;
    const psfm_match_set *set = evidence->set;
    size_t posed = 0;
    for (size_t v = 0; v < set->num_views; ++v)
        posed += found->outcome[v] == PSFM_OUTCOME_POSED ? 1 : 0;
    text(&b, root, "program", "planarsfm");
    text(&b, root, "version", PSFM_VERSION);
    text(&b, root, "mode", psfm_mode_name((psfm_mode)options->mode));
    text(&b, root, "headline", found->headline);
    text(&b, root, "verdict", verdict_on_all(found));
    b.failed = !psfm_summary_add_warnings(root, set, found) || b.failed;
    number(&b, root, "images_posed", (double)posed);
    number(&b, root, "images_total", (double)set->num_views);
    add_input(&b, root, evidence, input);
    add_calibration(&b, root, &stats->calibration);
    b.failed = !psfm_summary_add_cameras(root, set, found) || b.failed;
    add_check(&b, root, set, &found->refined.check);
    if (found->refined.cameras != NULL)
        add_bow(&b, root, found->refined.bow);
    add_pairs(&b, root, evidence, &found->graph);
    add_matches(&b, root, &stats->matches);
    add_tracks(&b, root, &found->refined.aligned);
    add_robust(&b, root, found);
    add_models(&b, root, evidence, &options->frame, found);
    add_deviations(&b, root, set, found);
    add_images(&b, root, set, found);
    add_options(&b, root, options);
    add_timings(&b, root, &stats->timings);
    b.failed = !psfm_summary_add_court(root, evidence, found) || b.failed;
    if (b.failed) {
        cJSON_Delete(root);
        return NULL;
    }
    return root;
}
