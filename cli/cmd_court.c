/* planarsfm court: photographs registered one by one to the drawing of a court. */
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "core/base/context.h"
#include "core/base/escape.h"
#include "core/base/path.h"
#include "core/linalg/vec3.h"
#include "formats/colmap_model.h"
#include "formats/court_request.h"
#include "formats/json.h"
#include "frontend/court_folder.h"

static psfm_run_options options;

static const char *const positional[] = {"PHOTOS", NULL};
static const cli_flag flags[] = {
    {"-o", "OUT", "folder for court.json, overlay/ and model/0 (created if missing)", 0},
    {"--search-focal", NULL, "take focal lengths as unknown, whatever was given", 0},
    {"--no-overlay", NULL, "do not write OUT/overlay", 0},
    {"--json", NULL, "print what is in court.json", 0},
    {0},
};

static const char *value_of(const cli_arguments *arguments, const char *name) {
    return cli_flag_value(&cli_court, arguments, name);
}

static void print_results(const psfm_court_results *results) {
    printf("%-32s %8s %9s %6s %9s %8s %9s %9s\n", "photograph", "score", "runner-up", "lines",
           "confirmed", "rms px", "sigma deg", "sigma m");
    for (size_t k = 0; k < results->num; ++k) {
        const psfm_court_result *r = &results->items[k];
        cli_print_name(r->name);
        if (r->problem != NULL || r->pose.part_hit == NULL) {
            putchar(' ');
            psfm_print_plain(stdout, r->problem != NULL ? r->problem
                                                        : psfm_court_verdict_text(r->pose.verdict));
            putchar('\n');
            continue;
        }
        const psfm_court_pose *p = &r->pose;
        printf(" %8.0f %9.0f %6d %8.0f%% %8.2f %9.3f %9.3f", p->score, p->runner_up, p->num_lines,
               100.0 * p->hit, p->rms_px, p->sigma_rotation_deg, psfm_norm3(p->sigma_center));
        if (p->verdict != PSFM_COURT_ACCEPTED)
            printf("  refused: %s", psfm_court_verdict_text(p->verdict));
        printf("\n");
    }
}

/* The model of the accepted photographs; one of an earlier run goes if there are none now. */
static psfm_status write_model(psfm_context *ctx, const psfm_court_results *results,
                               const char *out) {
    psfm_model model = {0};
    char *folder = NULL;
    psfm_status status = psfm_path_join(ctx, out, "model/0", &folder);
    if (status == PSFM_OK && results->num_accepted == 0) {
        status = psfm_model_remove(ctx, folder);
    } else if (status == PSFM_OK) {
        status = psfm_court_results_to_model(ctx, results, &model);
        if (status == PSFM_OK)
            status = psfm_model_write(ctx, &model, PSFM_MODEL_TEXT, folder);
    }
    psfm_model_free(&model);
    free(folder);
    return status;
}

static psfm_status write_results(psfm_context *ctx, const psfm_drawing *drawing,
                                 const psfm_court_results *results, const char *out, bool json) {
    char *path = NULL;
    cJSON *tree = psfm_court_results_to_json(drawing, results);
    psfm_status status =
        tree == NULL ? psfm_fail_memory(ctx) : psfm_path_join(ctx, out, "court.json", &path);
    if (status == PSFM_OK)
        status = psfm_json_write(ctx, tree, path);
    if (status == PSFM_OK)
        status = write_model(ctx, results, out);
    if (status == PSFM_OK && json) {
        status = cli_print_json(ctx, tree);
        tree = NULL;
    } else if (status == PSFM_OK) {
        print_results(results);
        printf("%zu of %zu registered; poses in %s", results->num_accepted, results->num, path);
        if (results->num_accepted > 0)
            printf(", %s/model/0", out);
        printf("\n");
    }
    cJSON_Delete(tree);
    free(path);
    return status;
}

static psfm_status register_photographs(psfm_context *ctx, const cli_arguments *arguments) {
    static const char *const names[] = {"court.json", "model", "overlay", NULL};
    const char *out = value_of(arguments, "-o");
    psfm_own_folder own = {.path = out, .names = names};
    const psfm_settings *settings = &options.settings;
    const psfm_court_request request = {settings->court, settings->court_size, settings->drawing,
                                        settings->drawing_unit};
    psfm_court_folder_options how = {.court = settings->options.court,
                                     .intrinsics = options.folder.intrinsics,
                                     .search_focal = value_of(arguments, "--search-focal") != NULL};
    psfm_court_target target = {0};
    psfm_court_results results = {0};
    char *overlay = NULL;
    if (out == NULL)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "-o OUT is missing");
    psfm_status status = psfm_court_request_open(ctx, &request, &target);
    if (status == PSFM_OK)
        status = psfm_own_folder_take(ctx, &own);
    if (status == PSFM_OK)
        status = psfm_path_join(ctx, out, "overlay", &overlay);
    how.overlay_folder = value_of(arguments, "--no-overlay") == NULL ? overlay : NULL;
    if (status == PSFM_OK)
        status = psfm_court_folder_register(ctx, arguments->positional[0], &target, &how, &results);
    if (status == PSFM_OK)
        status = write_results(ctx, &target.drawing, &results, out,
                               value_of(arguments, "--json") != NULL);
    psfm_own_folder_leave(&own);
    psfm_court_results_free(&results);
    psfm_court_target_free(&target);
    free(overlay);
    return status;
}

const cli_command cli_court = {
    .name = "court",
    .summary = "camera poses from the lines of a court, one photograph at a time",
    .usage = "PHOTOS -o OUT (--court KIND | --drawing FILE) [--cameras PATH | --camera TEXT]",
    .description =
        "Finds where the camera of each photograph stood, from nothing but the lines painted on\n"
        "the floor: no labels, no matches, no other photograph. Writes OUT/court.json (pose,\n"
        "uncertainty, score and the lines found for each photograph), OUT/overlay (the\n"
        "photographs with the drawing over them: magenta where a line was found, yellow where\n"
        "not) and OUT/model/0, a COLMAP model of the photographs that were registered, in the\n"
        "frame of the court: metres, z up.\n"
        "A photograph is refused if the lines do not fit well enough, or nearly as well in "
        "another\n"
        "place: a wrong drawing gives no poses. Most courts look the same turned by 180 degrees,\n"
        "and one photograph cannot tell: of such poses the one with the camera towards -y is\n"
        "given, and \"turns\" in court.json names the others.\n"
        "Without --cameras or --camera a focal length in a photograph's EXIF data is refined;\n"
        "where there is none it is searched, with the principal point in the middle and no\n"
        "distortion.\n\n"
        "    planarsfm court photos -o out --court basketball --cameras calibration\n"
        "    planarsfm court photos -o out --court soccer --court-size 100,64\n"
        "    planarsfm court photos -o out --court basketball,volleyball\n"
        "    planarsfm court photos -o out --drawing floor.json",
    .positional = positional,
    .flags = flags,
    .run = &options,
    .parts = PSFM_OF_COURT,
    .work = register_photographs,
};
