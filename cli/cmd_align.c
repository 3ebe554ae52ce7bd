/* planarsfm align: a model into a known world. The flags say by what, and a table says how well it
 * fits. */
#include <math.h>
#include <stdio.h>

#include "cli.h"
#include "core/base/context.h"
#include "sfm/align_model.h"

static const char *const positional[] = {"MODEL", NULL};
static const cli_flag flags[] = {
    {"-o", "OUT", "folder for the aligned model (COLMAP text)", 0},
    {"--positions", "FILE", "known camera positions: lines IMAGE x y z", 0},
    {"--geo-positions", "FILE", "the same on the earth: lines IMAGE latitude longitude altitude",
     0},
    {"--exif", "PHOTOS", "folder of the photographs: positions from their GPS data", 0},
    {"--gcp", "FILE", "ground control points: lines X Y Z x y IMAGE [LABEL]", 0},
    {"--court", "KIND", "a court of docs/courts.md, with --court-points or --images", 0},
    {"--images", "PHOTOS", "folder of the photographs: the court is found by its lines", 0},
    {"--court-points", "FILE", "points of the court in images: lines LABEL IMAGE x y", 0},
    {"--court-size", "LENGTH,WIDTH", "of a court that is not of the usual size, in metres", 0},
    {"--distance", "END END METRES",
     "scale from a known distance; an END is IMAGE (its camera) or IMAGE:x,y (a pixel on the "
     "dominant plane)",
     3},
    {"--upright", NULL, "the dominant plane becomes z = 0 with the cameras above it", 0},
    {"--opencv-pixels", NULL, "given pixels have the first pixel's centre at 0, 0: add 0.5", 0},
    {"--planes", "FILE", "planes.json (default: MODEL/planes.json if it is there)", 0},
    {"--no-report", NULL, "leave OUT/report.html out", 0},
    {"--json", NULL, "print the similarity and the residuals as JSON", 0},
    {0},
};

static const char *value_of(const cli_arguments *arguments, const char *name) {
    return cli_flag_value(&cli_align, arguments, name);
}

static void print_table(const psfm_alignment *a, const char *label, bool points) {
    if (a->num_items == 0)
        return;
    printf("%-32s %12s %12s %12s %12s%s\n", label, "x", "y", "z", "residual",
           points ? "    residual px  views" : "");
    for (size_t k = 0; k < a->num_items; ++k) {
        const psfm_alignment_item *item = &a->items[k];
        cli_print_name(item->label);
        for (int e = 0; e < 3; ++e)
            printf(" %12.4f", item->offset[e]);
        printf(" %12.4f", item->residual);
        if (points)
            printf(" %14.2f %6zu", item->residual_px, item->num_views);
        printf("%s\n", item->is_inlier         ? ""
                       : isnan(item->residual) ? "  not placed"
                                               : "  left out");
    }
    printf("%zu of %zu used: root mean square %.4g (x %.4g, y %.4g, z %.4g)", a->num_inliers,
           a->num_items, a->rms_inliers, a->rms_xyz[0], a->rms_xyz[1], a->rms_xyz[2]);
    if (points)
        printf(", %.2f px", a->rms_inliers_px);
    printf(", median of all %.4g\n", a->median_residual);
    if (a->verdict != NULL)
        printf("alignment: %s; places at random fit so well once in 10^%.0f\n", a->verdict,
               -a->chance_log10);
}

static psfm_align_request read_request(const cli_arguments *arguments) {
    char **distance = cli_flag_values(&cli_align, arguments, "--distance");
    psfm_align_request request = {.struct_size = sizeof request,
                                  .positions = value_of(arguments, "--positions"),
                                  .geo_positions = value_of(arguments, "--geo-positions"),
                                  .exif = value_of(arguments, "--exif"),
                                  .gcp = value_of(arguments, "--gcp"),
                                  .court = value_of(arguments, "--court"),
                                  .court_points = value_of(arguments, "--court-points"),
                                  .court_size = value_of(arguments, "--court-size"),
                                  .images = value_of(arguments, "--images"),
                                  .upright = value_of(arguments, "--upright") != NULL,
                                  .opencv_pixels = value_of(arguments, "--opencv-pixels") != NULL,
                                  .planes = value_of(arguments, "--planes"),
                                  .no_report = value_of(arguments, "--no-report") != NULL};
    for (int k = 0; distance != NULL && k < 3; ++k)
        request.distance[k] = distance[k];
    return request;
}

static psfm_status work_align(psfm_context *ctx, const cli_arguments *arguments) {
    psfm_alignment alignment;
    bool points;
    const char *out = value_of(arguments, "-o");
    const psfm_align_request request = read_request(arguments);
    if (out == NULL)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "-o OUT is missing");
    psfm_status status =
        psfm_align_and_tell(ctx, arguments->positional[0], &request, out, &alignment, &points);
    if (status == PSFM_OK && value_of(arguments, "--json") != NULL)
        status = cli_print_json(ctx, psfm_alignment_to_json(&alignment, points));
    else if (status == PSFM_OK || status == PSFM_ERR_DATA)
        print_table(&alignment, points ? "point" : "image", points);
    if (status == PSFM_OK && value_of(arguments, "--json") == NULL)
        printf("scale %.9g; aligned model in %s\n", alignment.world_from_model.scale, out);
    psfm_alignment_free(&alignment);
    return status;
}

const cli_command cli_align = {
    .name = "align",
    .summary = "puts a model into a known world: positions, control points, GPS, a court",
    .usage = "MODEL -o OUT (--positions FILE | --geo-positions FILE | --exif PHOTOS | --gcp FILE | "
             "--court KIND (--court-points FILE | --images PHOTOS) | --distance END END METRES | "
             "--upright)",
    .description =
        "Finds the similarity (rotation, shift, scale) from the model to what is known of the\n"
        "world, robustly: wrong positions or labels are left out and shown. What chance would\n"
        "give is refused. Prints how far each\n"
        "known thing is from its place and writes the moved model, with planes.json if the model\n"
        "has one, alignment.json and report.html, a page that shows it with the residuals.\n"
        "MODEL is a COLMAP model folder or the OUT of run or reconstruct.\n"
        "With --exif, --geo-positions, and control points in degrees or UTM, x, y, z become "
        "metres\n"
        "east, north and up, and OUT/geo_reference.json keeps where that is: convert --to kml\n"
        "needs it. Control points and court points that two images show are triangulated; one\n"
        "image is enough for points on the dominant plane. docs/courts.md has the labels of the\n"
        "courts, docs/formats.md the files.\n\n"
        "    planarsfm align out -o out/metric --court basketball --court-points points.txt\n"
        "    planarsfm align out -o out/metric --court basketball --images photos\n"
        "    planarsfm align out -o out/metric --exif photos\n"
        "    planarsfm align out -o out/metric --upright --distance a.jpg:100,420 b.jpg:900,380 28",
    .positional = positional,
    .flags = flags,
    .work = work_align,
};
