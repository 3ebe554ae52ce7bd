/* Photographs to poses in memory, and the same through files:
 *     cc photographs.c $(pkg-config --cflags --libs planarsfm) && ./a.out PHOTOS CAMERAS
 * CAMERAS is a COLMAP model or file with the cameras, as `planarsfm run --cameras` takes it. */
#include <planarsfm/planarsfm.h>
#include <stdio.h>

static psfm_status print_result(psfm_context *ctx, const char *folder,
                                const psfm_run_settings *settings) {
    psfm_result *result = NULL;
    psfm_image_result image = {.struct_size = sizeof image};
    psfm_edge_result edge = {.struct_size = sizeof edge};
    psfm_plane_result plane = {.struct_size = sizeof plane};
    psfm_points_result points = {.struct_size = sizeof points};
    psfm_verdict_result verdict = {.struct_size = sizeof verdict};
    size_t posed = 0, known = 0, in_tree = 0;
    psfm_status status = psfm_solve_photographs(ctx, folder, settings, &result);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; psfm_result_image(result, k, &image); ++k) {
        posed += image.model >= 0;
        known += image.pose_covariance[0] >= 0; /* NaN is not */
    }
    for (size_t k = 0; psfm_result_edge(result, k, &edge); ++k)
        in_tree += edge.is_in_tree;
    printf("%zu of %zu images posed, %zu with covariances; %zu model; %zu edges in the tree, %s\n",
           posed, psfm_result_num_images(result), known, psfm_result_num_models(result), in_tree,
           psfm_result_num_edges(result) > in_tree ? "others beside it" : "no others");
    if (psfm_result_points(result, &points) && points.num_points > 100 &&
        psfm_result_model(result, 0) != NULL && psfm_result_verdict(result, 0, &verdict))
        printf("more than 100 points, each seen by %s; called %s\n",
               points.track_begin[1] >= 2 ? "two images or more" : "fewer",
               verdict.is_right ? "right" : "doubtful");
    if (psfm_result_num_planes(result) > 0 && psfm_result_plane(result, 0, &plane))
        printf("a plane; the summary is %s\n",
               psfm_result_summary(result)[0] == '{' ? "JSON" : "empty");
    psfm_result_destroy(&result);
    return status;
}

/* Files instead: a database and results, the same once more from the database, a model read back.
 */
static psfm_status go_through_files(psfm_context *ctx, const char *folder,
                                    const psfm_run_settings *settings) {
    psfm_settings *again = psfm_settings_create();
    psfm_model model = {0};
    double center[3];
    psfm_status status = psfm_run_photographs(ctx, folder, settings, "out");
    if (status == PSFM_OK)
        status = psfm_settings_set(ctx, again, "no-report", "on");
    if (status == PSFM_OK)
        status = psfm_reconstruct_database(ctx, "out/database.db", again, "again");
    if (status == PSFM_OK)
        status = psfm_model_read(ctx, "again/model/0", &model);
    if (status == PSFM_OK)
        status = psfm_model_write(ctx, &model, PSFM_MODEL_BINARY, "binary");
    if (status == PSFM_OK) {
        const psfm_model_image *image = psfm_model_image_by_id(&model, model.images[0].id);
        psfm_model_image_center(image, center);
        printf("read back: %zu images, the first of a camera with %d parameters\n",
               model.num_images,
               psfm_camera_num_params(psfm_model_camera(&model, image->camera_id)->model));
        if (psfm_settings_set_distance(ctx, again, "no colon", "a.jpg:1,1", "2") != PSFM_OK)
            printf("%s\n", psfm_status_name(PSFM_ERR_ARGUMENT)); /* points are IMAGE:x,y */
    }
    psfm_model_free(&model);
    psfm_settings_destroy(&again);
    return status;
}

int main(int argc, char **argv) {
    if (argc < 3)
        return fprintf(stderr, "usage: %s PHOTOS CAMERAS\n", argv[0]), 2;
    psfm_context *ctx = psfm_context_create();
    psfm_run_settings *settings = psfm_run_settings_create();
    psfm_status status = psfm_run_settings_set(ctx, settings, "cameras", argv[2]);
    if (status == PSFM_OK)
        status = print_result(ctx, argv[1], settings);
    if (status == PSFM_OK)
        status = go_through_files(ctx, argv[1], settings);
    if (status != PSFM_OK)
        fprintf(stderr, "%s\n", psfm_context_message(ctx));
    psfm_run_settings_destroy(&settings);
    psfm_context_destroy(&ctx);
    return status != PSFM_OK;
}
