/* A folder with the files of a run: three photographs with names that try to be more than names, a
 * pair, two planes, a model of two images. */
#ifndef PSFM_TEST_RUN_FOLDER_H
#define PSFM_TEST_RUN_FOLDER_H

#include "unit/formats/io_util.h"
#include "unit/report/report_page.h"

#define QUOTED "a \"quoted\" </script><b>.jpg"
#define FOREIGN "b\xff\xe4.jpg" /* as other encodings have it */

static const char run_summary[] =
    "{\"photographs\":{\"folder\":\"/home/me/photos\"},\"mode\":\"robust\",\"images\":["
    "{\"name\":\"a \\\"quoted\\\" <\\/script><b>.jpg\",\"state\":\"posed\",\"points\":99},"
    "{\"name\":\"b\xef\xbf\xbd\xef\xbf\xbd.jpg\",\"state\":\"posed\",\"points\":100},"
    "{\"name\":\"c.jpg\",\"state\":\"no_matches\"}],\"cameras\":[]}";
static const char run_planes[] = "{\"planes\":[{\"normal\":[0,0,1]},{\"normal\":[0,1,0]}]}";

/* Images 0 and 1 of the graph are in the model, the other way round. */
static inline void make_run(fixture *f) {
    make_fixture(f);
    f->images[0].name = (char *)FOREIGN;
    f->images[1].name = (char *)QUOTED;
    f->tracks[3][0] = f->tracks[3][1]; /* seen by the second image only */
    f->points[3].track_length = 1;
    f->views[0] = 1;
    f->views[1] = 0;
}

/* The graph; its arrays live on. */
static inline psfm_graph_file run_graph(void) {
    static psfm_graph_image images[3];
    static psfm_graph_pair pair;
    static psfm_graph_component component = {2, 1, -0.5, -0.5};
    static uint32_t plane_models[2] = {0, 0};
    static const char *const names[3] = {QUOTED, FOREIGN, "c.jpg"};
    for (size_t k = 0; k < 3; ++k)
        images[k] = (psfm_graph_image){(char *)names[k], 640 + k, 480, 100 + k};
    pair = (psfm_graph_pair){.image2 = 1,
                             .num_matches = 100,
                             .is_edge = true,
                             .in_tree = true,
                             .kept = true,
                             .h = -0.5,
                             .rotation_deg = (double)NAN,
                             .missing_share = (double)NAN};
    return (psfm_graph_file){.images = images,
                             .num_images = 3,
                             .pairs = &pair,
                             .num_pairs = 1,
                             .components = &component,
                             .num_components = 1,
                             .plane_models = plane_models,
                             .num_planes = 2};
}

static inline void put_model(psfm_context *ctx, const fixture *f, const char *folder,
                             const char *name) {
    char path[MAX_PATH];
    join(path, folder, name);
    assert_ok(ctx, psfm_make_folders(ctx, path));
    assert_ok(ctx, psfm_model_write(ctx, &f->model, PSFM_MODEL_BINARY, path));
}

static inline void put_run(psfm_context *ctx, const fixture *f, const char *folder) {
    const psfm_graph_file graph = run_graph();
    char path[MAX_PATH];
    join(path, folder, "graph.json");
    assert_ok(ctx, psfm_graph_file_write(ctx, &graph, path));
    put_text(folder, "summary.json", run_summary);
    put_text(folder, "planes.json", run_planes);
    put_model(ctx, f, folder, "model/0");
}

#endif
