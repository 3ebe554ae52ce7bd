#define _GNU_SOURCE /* asprintf */
#include "core/base/alloc.h"
#include "formats/graph_file.h"
#include "unit/formats/io_util.h"

static psfm_context *ctx;

/* Three images, an edge with two homographies, and a pair without any. */
static float samples[2][4] = {{1.5F, 2.0F, 3.0F, 4.5F}, {10.0F, 20.0F, 30.0F, 40.0F}};
static psfm_graph_homography homographies[2] = {
    {.H_21 = {1, 0, 0.1, 0, 1, 0, 0, 0, 1},
     .num_inliers = 40,
     .rms_px = 0.75,
     .chosen = true,
     .group = 3,
     .samples = samples,
     .num_samples = 2},
    {.H_21 = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .num_inliers = 9, .is_rotation = true, .group = -1},
};
static psfm_graph_pair pairs[2] = {
    {.image1 = 0,
     .image2 = 2,
     .num_matches = 70,
     .essential_inliers = 12,
     .homographies = homographies,
     .num_homographies = 2,
     .is_edge = true,
     .h = -0.0625,
     .embedding_component = 1,
     .in_tree = true,
     .kept = true,
     .rotation_deg = 0.125,
     .missing_share = 0.25},
    {.image1 = 1, .image2 = 2, .num_matches = 3, .kind = PSFM_PAIR_FEW_MATCHES},
};
static psfm_graph_image images[3];
static psfm_graph_component component = {2, 1, -0.0625, -0.0625};
static uint32_t plane_models[2] = {0, 1};

static psfm_graph_file make_graph(void) {
    static char names[3][16] = {"a<b>.jpg", "b \"c\".jpg", "d/e.jpg"};
    for (int k = 0; k < 3; ++k)
        images[k] = (psfm_graph_image){names[k], 640, 480, (size_t)(100 + k)};
    return (psfm_graph_file){images, 3, pairs, 2, &component, 1, plane_models, 2, NULL};
}

static char *written(const psfm_graph_file *graph, size_t *size) {
    char folder[MAX_PATH], path[MAX_PATH];
    make_scratch(folder);
    join(path, folder, "graph.json");
    assert_ok(ctx, psfm_graph_file_write(ctx, graph, path));
    char *text = get_file(folder, "graph.json", size);
    remove_scratch(folder);
    return text;
}

static void a_round_trip_keeps_everything(void **state) {
    (void)state;
    psfm_graph_file graph = make_graph(), back;
    size_t size, again_size;
    graph.photo_folder = (char *)"photos/here";
    char *text = written(&graph, &size);
    assert_ok(ctx, psfm_graph_file_parse(ctx, text, size, "graph", &back));
    assert_int_equal(back.num_images, 3);
    assert_string_equal(back.images[1].name, "b \"c\".jpg");
    assert_int_equal(back.images[2].num_keypoints, 102);
    assert_string_equal(back.photo_folder, "photos/here");
    assert_int_equal(back.pairs[1].kind, PSFM_PAIR_FEW_MATCHES);
    assert_false(back.pairs[1].is_edge);
    const psfm_graph_pair *edge = &back.pairs[0];
    assert_true(edge->is_edge && edge->in_tree && edge->kept);
    assert_close(edge->h, -0.0625, 0.0);
    assert_close(edge->missing_share, 0.25, 0.0);
    assert_int_equal(edge->homographies[0].group, 3);
    assert_true(edge->homographies[0].chosen && !edge->homographies[1].chosen);
    assert_memory_equal(edge->homographies[0].samples, samples, sizeof samples);
    assert_true(edge->homographies[1].is_rotation);
    assert_int_equal(edge->homographies[1].group, -1);
    assert_int_equal(back.plane_models[1], 1);
    char *again = written(&back, &again_size);
    assert_int_equal(size, again_size);
    assert_memory_equal(text, again, size);
    psfm_graph_file_free(&back);
    free(text);
    free(again);
}

static void unknown_numbers_are_null(void **state) {
    (void)state;
    psfm_graph_file graph = make_graph(), back;
    size_t size;
    pairs[0].rotation_deg = (double)NAN;
    char *text = written(&graph, &size);
    pairs[0].rotation_deg = 0.125;
    assert_non_null(strstr(text, "\"rotation_deg\":null"));
    assert_ok(ctx, psfm_graph_file_parse(ctx, text, size, "graph", &back));
    assert_true(isnan(back.pairs[0].rotation_deg));
    psfm_graph_file_free(&back);
    free(text);
}

/* Replaces the first `from` in the file by `to` and wants a message with `embedding_component`. */
static void refuses(const char *from, const char *to, const char *embedding_component) {
    psfm_graph_file graph = make_graph(), back;
    size_t size;
    char *text = written(&graph, &size), *at = strstr(text, from), *changed = NULL;
    assert_non_null(at);
    assert_true(asprintf(&changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) > 0);
    psfm_status status = psfm_graph_file_parse(ctx, changed, strlen(changed), "graph", &back);
    assert_int_equal(status, PSFM_ERR_FORMAT);
    if (strstr(psfm_context_message(ctx), embedding_component) == NULL)
        fail_msg("no '%s' in: %s", embedding_component, psfm_context_message(ctx));
    assert_null(back.images);
    free(changed);
    free(text);
}

static void nonsense_is_refused(void **state) {
    (void)state;
    refuses("{", "", "not JSON");
    refuses("\"version\":1", "\"version\":2", "version 2");
    refuses("\"image2\":2", "\"image2\":3", "pair 0");
    refuses("\"image1\":0,\"image2\":2", "\"image1\":2,\"image2\":2", "behind image1");
    refuses("\"matches\":70", "\"matches\":-1", "matches");
    refuses("\"kind\":\"ok\"", "\"kind\":\"fine\"", "kind");
    refuses("\"component\":0", "\"component\":1", "component");
    refuses("\"h\":-0.0625", "\"h\":null", "'h'");
    refuses("\"h\":-0.0625", "\"h\":1e999", "'h'");
    refuses("\"H\":[1,", "\"H\":[1,1,", "'H'");
    refuses("1.5,2.0,", "2.0,", "samples");
    refuses("\"name\":\"d/e.jpg\"", "\"name\":5", "image 2");
    refuses("\"tree\":true", "\"tree\":1", "tree");
    refuses("\"plane_models\":[0,", "\"plane_models\":[-1,", "plane_models");
}

static void every_failed_allocation_is_reported(void **state) {
    (void)state;
    psfm_graph_file graph = make_graph(), back;
    size_t size;
    char *text = written(&graph, &size);
    psfm_status status = PSFM_ERR_MEMORY;
    for (size_t n = 1; status != PSFM_OK; ++n) {
        psfm_alloc_fail_after(n);
        status = psfm_graph_file_parse(ctx, text, size, "graph", &back);
        psfm_alloc_fail_after(0);
        assert_true(status == PSFM_OK || status == PSFM_ERR_MEMORY);
        psfm_graph_file_free(&back);
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_round_trip_keeps_everything),
        cmocka_unit_test(unknown_numbers_are_null),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    ctx = psfm_context_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    psfm_context_destroy(&ctx);
    return failed;
}
