/* summary.json. Every number that a reader may want is put here by one function per section; what
 * runs out of memory on the way is noticed once at the end. Images are in the order of their names,
 * which is not that of the views. */
#include "sfm/summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/matches/camera_groups.h"
#include "formats/json.h"
#include "planarsfm/version.h"
#include "sfm/registry.h"
#include "sfm/summary_parts.h"

/* An object with the current values. */
static void add_table(psfm_json_maker *m, cJSON *parent, const psfm_option_table *table,
                      const void *options) {
    cJSON *values = psfm_json_object(m, parent, table->prefix);
    for (size_t k = 0; k < table->num_rows; ++k) {
        const psfm_option *row = &table->rows[k];
        const double value = psfm_option_value(row, options);
        if (row->type == PSFM_OPTION_IS_BOOL)
            psfm_json_flag(m, values, row->name, value != 0.0);
        else if (row->type == PSFM_OPTION_IS_CHOICE)
            psfm_json_text(m, values, row->name, row->choices[(int)value]);
        else
            psfm_json_number(m, values, row->name, value);
    }
}

static void add_options(psfm_json_maker *m, cJSON *root, const psfm_run_options *options) {
    cJSON *groups = psfm_json_object(m, root, "options");
    for (const psfm_option_group *g = psfm_run_groups; g->table != NULL; ++g)
        if (g->parts & PSFM_OF_POSES)
            add_table(m, groups, g->table, (const char *)options + g->offset);
}

static void add_input(psfm_json_maker *m, cJSON *root, const psfm_sfm *s) {
    const psfm_match_set *set = &s->set;
    const psfm_database_stats *stats = &s->stats.input;
    cJSON *input = psfm_json_object(m, root, "input");
    psfm_json_number(m, input, "cameras", (double)set->num_cameras);
    psfm_json_number(m, input, "images", (double)set->num_views);
    psfm_json_number(m, input, "pairs", (double)set->num_pairs);
    psfm_json_number(m, input, "noise_px", s->noise.sigma_px);
    if (s->database == NULL)
        return;
    psfm_json_number(m, input, "pairs_from_matches", (double)stats->num_pairs_from_matches);
    psfm_json_number(m, input, "pairs_from_two_view_geometries",
                     (double)stats->num_pairs_from_geometries);
    psfm_json_number(m, input, "images_without_keypoints",
                     (double)stats->num_images_without_keypoints);
    psfm_json_number(m, input, "keypoints_without_ray", (double)stats->num_keypoints_without_ray);
    psfm_json_number(m, input, "matches_dropped", (double)stats->num_matches_dropped);
}

/* What was found out about uncalibrated cameras. */
static void add_calibration(psfm_json_maker *m, cJSON *root, const psfm_calibrate_stats *stats) {
    if (!stats->done)
        return;
    cJSON *calibration = psfm_json_object(m, root, "calibration");
    psfm_json_number(m, calibration, "unknown", (double)stats->num_unknown);
    psfm_json_number(m, calibration, "determined", (double)stats->num_determined);
    psfm_json_number(m, calibration, "determined_by_pairs", (double)stats->num_by_pairs);
    psfm_json_number(m, calibration, "contradict_exif", (double)stats->num_wrong_exif);
    psfm_json_number(m, calibration, "planes", stats->num_planes);
    psfm_json_number(m, calibration, "homographies", stats->num_homographies);
    psfm_json_number(m, calibration, "pairs", stats->num_pairs);
    psfm_json_number(m, calibration, "distortion", stats->distortion);
    psfm_json_number(m, calibration, "distortion_free", (double)stats->num_k1_free);
    psfm_json_number(m, calibration, "distortion_determined", (double)stats->num_k1_determined);
    psfm_json_number(m, calibration, "fisheye", (double)stats->num_fisheye);
}

/* Which photographs were taken for those of one camera, and came out so. */
static void add_camera_groups(psfm_json_maker *m, cJSON *root, const psfm_match_set *set) {
    const psfm_camera_groups groups = psfm_camera_groups_count(set);
    char text[256];
    if (groups.num_groups == 0)
        return;
    psfm_camera_groups_describe(&groups, text, sizeof text);
    cJSON *item = psfm_json_object(m, root, "camera_groups");
    psfm_json_number(m, item, "images", (double)groups.num_images);
    psfm_json_number(m, item, "groups", (double)groups.num_groups);
    psfm_json_number(m, item, "cameras", (double)groups.num_cameras);
    psfm_json_number(m, item, "alone", (double)groups.num_alone);
    psfm_json_text(m, item, "text", text);
}

/* Whether given focal lengths want to change. */
static void add_check(psfm_json_maker *m, cJSON *root, const psfm_match_set *set,
                      const psfm_intrinsics_check *check) {
    if (check->num_checked == 0)
        return;
    cJSON *item = psfm_json_object(m, root, "given_intrinsics");
    psfm_json_number(m, item, "checked", (double)check->num_checked);
    psfm_json_number(m, item, "wrong", (double)check->num_wrong);
    if (check->num_wrong == 0)
        return;
    psfm_json_number(m, item, "worst_camera", set->cameras[check->worst].id);
    psfm_json_number(m, item, "wanted_change", check->change);
    psfm_json_number(m, item, "sigma", check->sigma);
    psfm_json_number(m, item, "mean_error_px", check->before_px);
    psfm_json_number(m, item, "mean_error_px_if_free", check->after_px);
}

static void add_pairs(psfm_json_maker *m, cJSON *root, const psfm_sfm *s) {
    const psfm_pose_graph *graph = &s->graph;
    size_t kinds[PSFM_PAIR_ROTATION + 1] = {0}, homographies = 0, degenerate = 0, rotations = 0;
    for (size_t p = 0; p < s->num_two_views; ++p) {
        ++kinds[s->two_views[p].kind];
        homographies += s->two_views[p].num_homographies;
        degenerate += s->two_views[p].essential.is_degenerate ? 1 : 0;
    }
    for (uint32_t e = 0; e < graph->num_edges; ++e)
        rotations += graph->edges[e].is_rotation;
    cJSON *pairs = psfm_json_object(m, root, "pairs");
    for (int k = 0; k <= PSFM_PAIR_ROTATION; ++k)
        psfm_json_number(m, pairs, psfm_pair_kind_name((psfm_pair_kind)k), (double)kinds[k]);
    psfm_json_number(m, pairs, "homographies", (double)homographies);
    psfm_json_number(m, pairs, "essential_matrices_decided_by_a_plane", (double)degenerate);
    psfm_json_number(m, pairs, "pose_graph_edges", graph->num_edges);
    psfm_json_number(m, pairs, "pose_graph_rotations", (double)rotations);
    psfm_json_number(m, pairs, "pose_graph_hypotheses", graph->num_hypotheses);
}

static cJSON *add_rejected(psfm_json_maker *m, cJSON *parent, const size_t *outcomes) {
    cJSON *rejected = psfm_json_object(m, parent, "rejected");
    for (int k = PSFM_PATCH_ALIGNED + 1; k < PSFM_NUM_PATCH_OUTCOMES; ++k)
        psfm_json_number(m, rejected, psfm_patch_outcome_name((psfm_patch_outcome)k),
                         (double)outcomes[k]);
    return rejected;
}

/* What became of the patches, if there were photographs. */
static void add_matches(psfm_json_maker *m, cJSON *root, const psfm_refine_matches_stats *stats) {
    if (!stats->done)
        return;
    const psfm_pair_plane_stats *patches = &stats->patches;
    cJSON *matches = psfm_json_object(m, root, "refine_matches");
    psfm_json_number(m, matches, "photographs", (double)stats->num_photos);
    psfm_json_number(m, matches, "photographs_unusable", (double)stats->num_unusable);
    psfm_json_number(m, matches, "pairs", (double)stats->num_pairs);
    psfm_json_number(m, matches, "corners", (double)stats->num_corners);
    psfm_json_number(m, matches, "patches", (double)patches->num_tried);
    psfm_json_number(m, matches, "accepted", (double)stats->num_matches);
    cJSON *rejected = add_rejected(m, matches, patches->outcomes);
    psfm_json_number(m, rejected, "off_plane", (double)patches->num_off_plane);
    psfm_json_number(m, rejected, "plane_given_up",
                     (double)(patches->outcomes[PSFM_PATCH_ALIGNED] - stats->num_matches -
                              patches->num_off_plane));
    psfm_json_number(m, matches, "planes_refined", (double)patches->num_refined_planes);
    psfm_json_number(m, matches, "planes_kept_raw", (double)patches->num_raw_planes);
    psfm_json_number(m, matches, "median_shift_px", stats->median_shift_px);
    psfm_json_number(m, matches, "median_sigma_px", stats->median_sigma_px);
}

/* What became of the points that were sought in the photographs. */
static void add_tracks(psfm_json_maker *m, cJSON *root, const psfm_track_align_stats *stats) {
    if (!stats->done)
        return;
    cJSON *tracks = psfm_json_object(m, root, "align_tracks");
    psfm_json_number(m, tracks, "points", (double)stats->num_points);
    psfm_json_number(m, tracks, "patches", (double)stats->num_tried);
    psfm_json_number(m, tracks, "aligned", (double)stats->num_aligned);
    psfm_json_number(m, tracks, "new", (double)stats->num_new);
    add_rejected(m, tracks, stats->outcomes);
    psfm_json_number(m, tracks, "median_shift_px", stats->median_shift_px);
}

/* How likely a model is right, and what that rests on. */
static void add_model_verdict(psfm_json_maker *m, cJSON *model, const psfm_verdicts *verdicts,
                              uint32_t component) {
    if (verdicts->models == NULL)
        return;
    const psfm_model_verdict *verdict = &verdicts->models[component];
    psfm_json_text(m, model, "verdict", psfm_verdict_word_name(psfm_model_word(verdict)));
    psfm_json_number(m, model, "probability", verdict->probability);
    if (verdict->num_by_lines > 0) {
        psfm_json_number(m, model, "images_by_lines", verdict->num_by_lines);
        return;
    }
    psfm_json_number(m, model, "sigma_factor", verdict->sigma_factor);
    cJSON *evidence = psfm_json_object(m, model, "evidence");
    for (int k = 0; k < psfm_model_features_num(); ++k)
        psfm_json_number(m, evidence, psfm_model_feature_name(k),
                         psfm_model_feature(&verdict->features, k));
}

static void add_image_verdict(psfm_json_maker *m, cJSON *image, const psfm_verdicts *verdicts,
                              uint32_t component, size_t v) {
    if (verdicts->images == NULL)
        return;
    const psfm_model_verdict *model = &verdicts->models[component];
    const psfm_image_verdict *verdict = &verdicts->images[v];
    const psfm_image_features *f = &verdict->features;
    psfm_json_text(m, image, "verdict",
                   psfm_verdict_word_name(psfm_image_word(verdict, psfm_model_word(model))));
    psfm_json_number(m, image, "probability", verdict->probability);
    if (verdict->by_lines)
        return;
    cJSON *evidence = psfm_json_object(m, image, "evidence");
    psfm_json_number(m, evidence, "depth", f->depth);
    psfm_json_number(m, evidence, "edges_accepted", f->accepted);
    psfm_json_number(m, evidence, "edges_rejected", f->rejected);
    psfm_json_number(m, evidence, "unexplained", f->unexplained);
    psfm_json_number(m, evidence, "residual", f->residual);
    psfm_json_number(m, evidence, "runner_up", f->runner_up);
    psfm_json_number(m, evidence, "weak_connection", f->weak_connection);
    psfm_json_number(m, evidence, "half_deg", f->half_deg);
    psfm_json_number(m, evidence, "half_center_deg", psfm_center_angle_deg(f, f->half_center));
    psfm_json_number(m, evidence, "focal_deg", f->focal_deg);
    psfm_json_number(m, evidence, "focal_center_deg", psfm_center_angle_deg(f, f->focal_center));
}

/* Whether a unit of a model is a metre: a drawing, a known distance or a scale says so. */
static bool is_metric(const psfm_sfm *s, uint32_t component) {
    const psfm_frame_options *frame = &s->asked.settings.options.frame;
    const psfm_poses *poses = &s->solution.poses;
    bool metric = frame->scale > 0.0;
    for (size_t v = 0; !metric && v < s->set.num_views; ++v) {
        if (poses->component[v] != component)
            continue;
        metric = s->court != NULL && s->court->agrees[v];
        if (frame->distance.image1 != NULL)
            metric = metric || strcmp(s->set.views[v].name, frame->distance.image1) == 0;
    }
    return metric && s->refined.images != NULL;
}

static void add_models(psfm_json_maker *m, cJSON *root, const psfm_sfm *s) {
    const psfm_match_set *set = &s->set;
    cJSON *models = psfm_json_list(m, root, "models");
    for (uint32_t c = 0; c < s->solution.num_components; ++c) {
        const psfm_component_facts *facts = &s->solution.components[c];
        cJSON *model = psfm_json_object(m, models, NULL);
        psfm_json_number(m, model, "images", facts->num_images);
        psfm_json_text(m, model, "unit", is_metric(s, c) ? "m" : "arbitrary");
        psfm_json_number(m, model, "edges", facts->num_edges);
        psfm_json_number(m, model, "embedding_components", facts->num_similarity_components);
        psfm_json_number(m, model, "tree_range", facts->tree_high - facts->tree_low);
        psfm_json_number(m, model, "graph_range", facts->graph_high - facts->graph_low);
        psfm_json_number(m, model, "lud_iterations", facts->lud.iterations);
        psfm_json_flag(m, model, "lud_converged", facts->lud.converged);
        psfm_json_flag(m, model, "scale_undetermined", facts->is_split);
        psfm_json_number(m, model, "free_scales", (double)facts->num_free);
        psfm_summary_add_names(m, model, "cut_images", set, facts->cut_nodes, facts->num_cut_nodes);
        psfm_summary_add_pairs(m, model, "bridges", s, facts->bridges, facts->num_bridges);
        psfm_summary_add_ambiguities(m, model, s, c);
        add_model_verdict(m, model, &s->verdicts, c);
    }
}

/* The least that is said of a model; "unknown" if nothing was judged, "none" if there is no model.
 */
static const char *verdict_on_all(const psfm_sfm *s) {
    if (s->num_models == 0)
        return "none";
    if (s->verdicts.models == NULL)
        return "unknown";
    psfm_verdict_word least = PSFM_RIGHT;
    for (uint32_t c = 0; c < s->verdicts.num_models; ++c) {
        psfm_verdict_word own = psfm_model_word(&s->verdicts.models[c]);
        least = own < least ? own : least;
    }
    return psfm_verdict_word_name(least);
}

/* Says so where only some of the posed images have standard deviations. */
static void add_deviations(psfm_json_maker *m, cJSON *root, const psfm_sfm *s) {
    const psfm_match_set *set = &s->set;
    size_t posed = 0, known = 0;
    char line[128];
    for (size_t v = 0; s->refined.images != NULL && v < set->num_views; ++v) {
        posed += s->outcome[v] == PSFM_OUTCOME_POSED;
        known += s->outcome[v] == PSFM_OUTCOME_POSED &&
                 isfinite(s->refined.images[v].rotation_sigma_deg);
    }
    if (known == 0 || known == posed)
        return;
    cJSON *deviations = psfm_json_object(m, root, "standard_deviations");
    snprintf(line, sizeof line,
             "only %zu of %zu posed images have standard deviations; the others have none", known,
             posed);
    psfm_json_number(m, deviations, "images", (double)known);
    psfm_json_text(m, deviations, "text", line);
}

/* The upper triangle: xx, xy, xz, yy, yz, zz. */
static void add_covariance(psfm_json_maker *m, cJSON *image, const psfm_refined_image *refined) {
    static const int upper[6] = {0, 1, 2, 4, 5, 8};
    if (!isfinite(refined->center_sigma))
        return;
    cJSON *list = psfm_json_list(m, image, "center_covariance");
    for (int k = 0; k < 6; ++k)
        psfm_json_number(m, list, NULL, refined->center_covariance[upper[k]]);
}

static void add_images(psfm_json_maker *m, cJSON *root, const psfm_sfm *s) {
    const psfm_match_set *set = &s->set;
    cJSON *images = psfm_json_list(m, root, "images");
    for (size_t v = 0; v < set->num_views; ++v) {
        cJSON *image = psfm_json_object(m, images, NULL);
        psfm_outcome state = s->outcome[v];
        psfm_json_text(m, image, "name", set->views[v].name);
        psfm_json_text(m, image, "state", psfm_outcome_name(state));
        if (state != PSFM_OUTCOME_POSED) {
            psfm_json_text(m, image, "advice", psfm_outcome_advice(state));
            continue;
        }
        psfm_json_number(m, image, "model", s->solution.poses.component[v]);
        if (s->refined.images == NULL)
            continue;
        const psfm_refined_image *refined = &s->refined.images[v];
        psfm_json_number(m, image, "points", refined->num_points);
        psfm_json_number(m, image, "mean_error_px", refined->mean_px);
        psfm_json_number(m, image, "rotation_sigma_deg", refined->rotation_sigma_deg);
        psfm_json_number(m, image, "center_sigma", refined->center_sigma);
        add_covariance(m, image, refined);
        psfm_json_flag(m, image, "resected", refined->resected);
        add_image_verdict(m, image, &s->verdicts, s->solution.poses.component[v], v);
    }
    psfm_json_sort(images, "name", NULL);
}

/* What the robust engine found out. */
static void add_robust(psfm_json_maker *m, cJSON *root, const psfm_sfm *s) {
    uint32_t accepted = 0;
    if (s->edges.accepted == NULL)
        return;
    for (uint32_t e = 0; e < s->graph.num_edges; ++e)
        accepted += s->edges.accepted[e];
    cJSON *robust = psfm_json_object(m, root, "robust");
    psfm_json_number(m, robust, "edges_accepted", accepted);
    psfm_json_number(m, robust, "edges_rejected", s->graph.num_edges - accepted);
    psfm_json_number(m, robust, "consensus_node_moves", s->edges.consensus.num_node_moves);
    psfm_json_number(m, robust, "consensus_gauge_moves", s->edges.consensus.num_gauge_moves);
    psfm_json_number(m, robust, "physical_planes_in_graph", s->edges.groups.num_groups);
    if (s->refined.images == NULL)
        return;
    psfm_json_number(m, robust, "points", (double)s->refined.structure.num_points);
    psfm_json_number(m, robust, "planes", s->refined.planes.num_planes);
    psfm_json_number(m, robust, "mean_error_px", s->refined.mean_px);
    psfm_json_number(m, robust, "bundle_iterations", s->refined.iterations);
    psfm_json_text(m, robust, "bundle_stop", psfm_bundle_stop_name(s->refined.stop));
}

static void add_timings(psfm_json_maker *m, cJSON *root, const psfm_timings *timings) {
    cJSON *seconds = psfm_json_object(m, root, "seconds");
    cJSON *cpu = psfm_json_object(m, root, "cpu_seconds");
    cJSON *memory = psfm_json_object(m, root, "peak_memory_mb");
    for (int k = 0; k < timings->num_stages; ++k) {
        const char *name = timings->stages[k].name;
        psfm_json_number(m, seconds, name, timings->stages[k].seconds);
        psfm_json_number(m, cpu, name, timings->stages[k].cpu_seconds);
        psfm_json_number(m, memory, name, timings->stages[k].peak_mb);
    }
}

cJSON *psfm_summary_make(const psfm_sfm *s) {
    psfm_json_maker m = {false};
    cJSON *root = cJSON_CreateObject();
    size_t posed = 0;
    for (size_t v = 0; v < s->set.num_views; ++v)
        posed += s->outcome[v] == PSFM_OUTCOME_POSED ? 1 : 0;
    psfm_json_text(&m, root, "program", "planarsfm");
    psfm_json_text(&m, root, "version", PSFM_VERSION);
    psfm_json_text(&m, root, "mode", psfm_mode_name((psfm_mode)s->asked.settings.options.mode));
    psfm_json_text(&m, root, "headline", s->headline);
    psfm_json_text(&m, root, "verdict", verdict_on_all(s));
    psfm_summary_add_warnings(&m, root, s);
    psfm_json_number(&m, root, "images_posed", (double)posed);
    psfm_json_number(&m, root, "images_total", (double)s->set.num_views);
    add_input(&m, root, s);
    add_calibration(&m, root, &s->stats.calibration);
    add_camera_groups(&m, root, &s->set);
    psfm_summary_add_cameras(&m, root, s);
    add_check(&m, root, &s->set, &s->refined.check);
    if (s->refined.cameras != NULL && isfinite(s->refined.doming))
        psfm_json_number(&m, root, "doming", s->refined.doming);
    add_pairs(&m, root, s);
    add_matches(&m, root, &s->stats.matches);
    add_tracks(&m, root, &s->stats.tracks);
    add_robust(&m, root, s);
    add_models(&m, root, s);
    add_deviations(&m, root, s);
    add_images(&m, root, s);
    add_options(&m, root, &s->asked);
    add_timings(&m, root, &s->stats.timings);
    psfm_summary_add_court(&m, root, s);
    psfm_summary_add_front_end(&m, root, s);
    return psfm_json_finish(&m, root);
}
