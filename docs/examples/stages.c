/* A run stage by stage, each from files to files; then its model moved into metres, and written as
 * points. cc stages.c $(pkg-config --cflags --libs planarsfm) && ./a.out PHOTOS CAMERAS */
#include <planarsfm/planarsfm.h>
#include <stdio.h>
#include <string.h>

/* Says whether the facts of a stage name what it did, and frees them. */
static void print_fact(const char *stage, char **facts, const char *name) {
    printf("%s: %s\n", stage, *facts != NULL && strstr(*facts, name) != NULL ? name : "nothing");
    psfm_text_free(facts);
}

static psfm_status make_model(psfm_context *ctx, const char *photos,
                              const psfm_run_settings *settings) {
    char *facts = NULL;
    psfm_status status = psfm_extract_features(ctx, photos, "stages.db", settings, &facts);
    print_fact("extraction", &facts, "images");
    if (status == PSFM_OK)
        status = psfm_match_features(ctx, "stages.db", settings, &facts);
    print_fact("matching", &facts, "pairs");
    if (status == PSFM_OK)
        status = psfm_verify_matches(ctx, "stages.db", NULL, &facts);
    print_fact("verification", &facts, "homographies");
    return status == PSFM_OK ? psfm_reconstruct_database(ctx, "stages.db", NULL, "model") : status;
}

/* The first two cameras are five metres apart. */
static psfm_status measure_model(psfm_context *ctx) {
    char *facts = NULL;
    psfm_model model = {0};
    psfm_align_request request = {.struct_size = sizeof request, .upright = true};
    psfm_status status = psfm_model_read(ctx, "model/model/0", &model);
    if (status != PSFM_OK)
        return status;
    request.distance[0] = model.images[0].name;
    request.distance[1] = model.images[1].name;
    request.distance[2] = "5";
    request.no_report = true;
    status = psfm_align_model(ctx, "model", &request, "metres", &facts);
    print_fact("alignment", &facts, "scale");
    psfm_model_free(&model);
    return status;
}

int main(int argc, char **argv) {
    if (argc < 3)
        return fprintf(stderr, "usage: %s PHOTOS CAMERAS\n", argv[0]), 2;
    psfm_context *ctx = psfm_context_create();
    psfm_run_settings *settings = psfm_run_settings_create();
    psfm_status status = psfm_run_settings_set(ctx, settings, "cameras", argv[2]);
    if (status == PSFM_OK)
        status = make_model(ctx, argv[1], settings);
    if (status == PSFM_OK)
        status = measure_model(ctx);
    if (status == PSFM_OK)
        status = psfm_make_report(ctx, "metres", argv[1]);
    if (status == PSFM_OK)
        status = psfm_convert_model(ctx, "metres", "ply", "points.ply", NULL, NULL);
    if (status != PSFM_OK)
        fprintf(stderr, "%s\n", psfm_context_message(ctx));
    psfm_run_settings_destroy(&settings);
    psfm_context_destroy(&ctx);
    return status != PSFM_OK;
}
