/* The summary against the reconstruction it is of. */
#include "sfm/registry.h"
#include "sfm/summary.h"

#include "planarsfm/version.h"
#include "reconstruct_util.h"
#include "synth/scene.h"
#include "test_util.h"

enum { NUM_CAMERAS = 8, LOST = 5 };

typedef struct {
    psfm_context *ctx;
    psfm_scene scene;
    psfm_reconstruct_options options;
    psfm_sfm found;
    cJSON *root;
} fixture;

/* An open chain whose image LOST has no matches: two models. */
static void make_fixture(fixture *f, psfm_mode mode) {
    psfm_scene_options options;
    *f = (fixture){.ctx = psfm_context_create()};
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = NUM_CAMERAS;
    options.neighbours = 1;
    options.open_chain = true;
    assert_ok(f->ctx, psfm_scene_make(f->ctx, PSFM_SCENE_ARENA, 2, &options, &f->scene));
    psfm_match_set *set = &f->scene.matches;
    for (size_t p = 0; p < set->num_pairs; ++p)
        if (set->pairs[p].view1 == LOST || set->pairs[p].view2 == LOST)
            set->pairs[p].num_matches = 0;
    psfm_reconstruct_options_init(mode, &f->options);
    assert_ok(f->ctx, reconstruct_set(f->ctx, set, &f->options, &f->found));
}

static cJSON *summarise(fixture *f, const psfm_database_stats *input) {
    cJSON_Delete(f->root);
    f->found.database = input == NULL ? NULL : "database.db";
    if (input != NULL)
        f->found.stats.input = *input;
    f->root = psfm_summary_make(&f->found);
    return f->root;
}

static void free_fixture(fixture *f) {
    cJSON_Delete(f->root);
    reconstruct_close(&f->found);
    psfm_scene_free(&f->scene);
    psfm_context_destroy(&f->ctx);
}

static const cJSON *get(const cJSON *object, const char *name) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    if (item == NULL)
        fail_msg("there is no '%s'", name);
    return item;
}

static double number(const cJSON *object, const char *name) {
    assert_true(cJSON_IsNumber(get(object, name)));
    return get(object, name)->valuedouble;
}

static const char *text(const cJSON *object, const char *name) {
    assert_true(cJSON_IsString(get(object, name)));
    return get(object, name)->valuestring;
}

static void counts_are_those_of_the_scene(void **state) {
    (void)state;
    fixture f;
    make_fixture(&f, PSFM_MODE_ROBUST);
    const psfm_database_stats input = {.num_pairs_from_matches = 3, .num_matches_dropped = 4};
    const cJSON *root = summarise(&f, &input);
    assert_string_equal(text(root, "version"), PSFM_VERSION);
    assert_string_equal(text(root, "mode"), "robust");
    assert_true(number(root, "images_total") == NUM_CAMERAS);
    assert_true(number(root, "images_posed") == NUM_CAMERAS - 1);
    const cJSON *in = get(root, "input"), *pairs = get(root, "pairs");
    assert_true(number(in, "images") == NUM_CAMERAS && number(in, "pairs") == NUM_CAMERAS - 1);
    assert_true(number(in, "pairs_from_matches") == 3 && number(in, "matches_dropped") == 4);
    assert_true(number(pairs, "few_matches") == 2 && number(pairs, "ok") == NUM_CAMERAS - 3);
    assert_true(number(pairs, "pose_graph_edges") == NUM_CAMERAS - 3);
    assert_true(number(get(root, "robust"), "edges_accepted") == NUM_CAMERAS - 3);
    assert_true(number(get(root, "robust"), "points") ==
                (double)f.found.refined.structure.num_points);
    /* no database, no facts about it */
    assert_null(cJSON_GetObjectItem(get(summarise(&f, NULL), "input"), "pairs_from_matches"));
    free_fixture(&f);
}

static void images_have_a_model_or_a_reason(void **state) {
    (void)state;
    fixture f;
    make_fixture(&f, PSFM_MODE_ROBUST);
    const cJSON *images = get(summarise(&f, NULL), "images");
    assert_int_equal(cJSON_GetArraySize(images), NUM_CAMERAS);
    for (int v = 0; v < NUM_CAMERAS; ++v) {
        const cJSON *image = cJSON_GetArrayItem(images, v);
        assert_string_equal(text(image, "name"), f.scene.matches.views[v].name);
        if (v == LOST) {
            assert_string_equal(text(image, "state"), "no_matches");
            assert_true(strlen(text(image, "advice")) > 10);
            assert_null(cJSON_GetObjectItem(image, "model"));
            continue;
        }
        assert_string_equal(text(image, "state"), "posed");
        assert_true(number(image, "model") == (v < LOST ? 0 : 1));
        assert_true(number(image, "points") == f.found.refined.images[v].num_points);
        assert_true(number(image, "mean_error_px") == f.found.refined.images[v].mean_px);
        const cJSON *C = get(image, "center_covariance");
        double trace = cJSON_GetArrayItem(C, 0)->valuedouble +
                       cJSON_GetArrayItem(C, 3)->valuedouble +
                       cJSON_GetArrayItem(C, 5)->valuedouble;
        assert_close(sqrt(trace), number(image, "center_sigma"), 1e-12);
    }
    free_fixture(&f);
}

/* A chain of five hangs on its four pairs and its three inner images, a chain of two on one. */
static void models_name_what_they_hang_on(void **state) {
    (void)state;
    fixture f;
    make_fixture(&f, PSFM_MODE_ROBUST);
    const cJSON *models = get(summarise(&f, NULL), "models");
    assert_int_equal(cJSON_GetArraySize(models), 2);
    const cJSON *first = cJSON_GetArrayItem(models, 0), *second = cJSON_GetArrayItem(models, 1);
    assert_true(number(first, "images") == LOST && number(first, "edges") == LOST - 1);
    assert_string_equal(text(first, "unit"), "arbitrary");
    assert_int_equal(cJSON_GetArraySize(get(first, "bridges")), LOST - 1);
    assert_int_equal(cJSON_GetArraySize(get(first, "cut_images")), LOST - 2);
    const cJSON *bridge = cJSON_GetArrayItem(get(second, "bridges"), 0);
    assert_string_equal(text(bridge, "image1"), f.scene.matches.views[LOST + 1].name);
    assert_string_equal(text(bridge, "image2"), f.scene.matches.views[LOST + 2].name);
    assert_int_equal(cJSON_GetArraySize(get(second, "cut_images")), 0);
    free_fixture(&f);
}

static void options_and_times_are_recorded(void **state) {
    (void)state;
    fixture f;
    make_fixture(&f, PSFM_MODE_PAPER);
    f.found.asked.settings.options.two_view.max_error_px = 3.5;
    const cJSON *root = summarise(&f, NULL), *options = get(root, "options");
    assert_string_equal(text(root, "mode"), "paper");
    assert_true(number(get(options, "twoview"), "max-error-px") == 3.5);
    assert_string_equal(text(get(options, "bundle"), "planes"), "soft");
    assert_true(cJSON_IsTrue(get(get(options, "robust"), "joint-choice")));
    for (const psfm_option_group *g = psfm_run_groups; g->table != NULL; ++g)
        for (size_t k = 0; (g->parts & PSFM_OF_POSES) && k < g->table->num_rows; ++k)
            get(get(options, g->table->prefix), g->table->rows[k].name);
    for (int k = 0; k < f.found.stats.timings.num_stages; ++k) {
        assert_true(number(get(root, "cpu_seconds"), f.found.stats.timings.stages[k].name) ==
                    f.found.stats.timings.stages[k].cpu_seconds);
        assert_true(number(get(root, "seconds"), f.found.stats.timings.stages[k].name) ==
                    f.found.stats.timings.stages[k].seconds);
    }
    assert_null(cJSON_GetObjectItem(root, "robust")); /* the other mode's */
    free_fixture(&f);
}

/* Made-up results of the stages with photographs; what is not finite is null. */
static void patches_and_tracks_add_up(void **state) {
    (void)state;
    fixture f;
    make_fixture(&f, PSFM_MODE_ROBUST);
    assert_null(cJSON_GetObjectItem(summarise(&f, NULL), "refine_matches"));
    psfm_refine_matches_stats *m = &f.found.stats.matches;
    *m = (psfm_refine_matches_stats){.done = true, .num_photos = 8, .num_matches = 60};
    m->patches = (psfm_pair_plane_stats){.num_tried = 100, .num_off_plane = 9};
    m->patches.outcomes[PSFM_PATCH_ALIGNED] = 80;
    m->patches.outcomes[PSFM_PATCH_FLAT] = 20;
    m->median_sigma_px = NAN;
    f.found.stats.tracks = (psfm_track_align_stats){.done = true, .num_points = 7, .num_new = 3};
    const cJSON *root = summarise(&f, NULL), *matches = get(root, "refine_matches");
    const cJSON *rejected = get(matches, "rejected");
    assert_true(number(matches, "patches") == 100 && number(matches, "accepted") == 60);
    assert_true(number(rejected, "flat") == 20 && number(rejected, "off_plane") == 9);
    assert_true(number(rejected, "plane_given_up") == 80 - 60 - 9);
    assert_true(cJSON_IsNull(get(matches, "median_sigma_px")));
    assert_true(number(get(root, "align_tracks"), "new") == 3);
    free_fixture(&f);
}

static int allocations_left;

static void *allocate(size_t size) {
    return allocations_left-- > 0 ? malloc(size) : NULL;
}

static void no_memory_gives_no_summary(void **state) {
    (void)state;
    fixture f;
    make_fixture(&f, PSFM_MODE_ROBUST);
    for (int n = 0; n < 400; n += 7) {
        allocations_left = n;
        cJSON_InitHooks(&(cJSON_Hooks){allocate, free});
        cJSON *root = psfm_summary_make(&f.found);
        cJSON_InitHooks(NULL);
        assert_null(root);
    }
    free_fixture(&f);
}

/* A scene with pairs matched to its duplicate: the summary says who could be turned, how, and what
 * holds them. */
static void runner_ups_are_named(void **state) {
    (void)state;
    fixture f = {.ctx = psfm_context_create()};
    psfm_scene_options options;
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = 16;
    options.duplicates = 0.15;
    assert_ok(f.ctx, psfm_scene_make(f.ctx, PSFM_SCENE_ARENA, 3, &options, &f.scene));
    psfm_reconstruct_options_init(PSFM_MODE_ROBUST, &f.options);
    assert_ok(f.ctx, reconstruct_set(f.ctx, &f.scene.matches, &f.options, &f.found));
    const cJSON *model = cJSON_GetArrayItem(get(summarise(&f, NULL), "models"), 0);
    const cJSON *list = get(model, "ambiguity"), *first = cJSON_GetArrayItem(list, 0);
    assert_true(cJSON_GetArraySize(list) >= 1);
    const psfm_runner_up *a = &f.found.edges.ambiguities.item[0].cut;
    assert_string_equal(get(first, "kind")->valuestring, "rotation");
    const cJSON *images = get(first, "images"), *axis = get(first, "rotation_axis");
    assert_int_equal(cJSON_GetArraySize(images), a->num_nodes);
    assert_string_equal(cJSON_GetArrayItem(images, 0)->valuestring,
                        f.scene.matches.views[a->node[0]].name);
    assert_close(number(first, "rotation_deg"), 180.0, 1.0);
    assert_close(fabs(cJSON_GetArrayItem(axis, 2)->valuedouble), 1.0, 0.01);
    double ratio = (number(first, "opposing") + 0.5) / (number(first, "agreeing") + 0.5);
    assert_close(number(first, "evidence_ratio"), fmin(1.0, ratio), 1e-9);
    assert_int_equal(cJSON_GetArraySize(get(first, "agreeing_pairs")), a->num_agreeing);
    assert_true(number(first, "opposing_pairs") == a->num_opposing);
    assert_true(cJSON_IsTrue(get(first, "decided")) == a->decided);
    free_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_of_the_scene),
        cmocka_unit_test(images_have_a_model_or_a_reason),
        cmocka_unit_test(models_name_what_they_hang_on),
        cmocka_unit_test(options_and_times_are_recorded),
        cmocka_unit_test(patches_and_tracks_add_up),
        cmocka_unit_test(runner_ups_are_named),
        cmocka_unit_test(no_memory_gives_no_summary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
