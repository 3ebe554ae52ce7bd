/* planarsfm compare: two models of the same images. */
#include <stdio.h>

#include "base/context.h"
#include "cli.h"
#include "eval/comparison_svg.h"

static const char *const positional[] = {"A", "B", NULL};
static const cli_flag flags[] = {
    {"-o", "PICTURE", "an SVG file of both models from above and from the side", 0},
    {"--json", NULL, "print JSON instead of a table", 0},
    {0},
};

static void print_table(const psfm_comparison *c, const psfm_model *a) {
    printf("%-32s %12s %14s\n", "image", "position", "rotation (deg)");
    for (size_t k = 0; k < c->num_images; ++k) {
        cli_print_name(a->images[c->images[k].image_a].name);
        printf(" %12.6g %14.6f\n", c->images[k].position, c->images[k].rotation_deg);
    }
    printf("\n%zu common images, %zu only in A, %zu only in B; scale of B: %.9g\n", c->num_images,
           c->num_only_a, c->num_only_b, c->a_from_b.scale);
    printf("position: median %.6g, largest %.6g (cameras span %.6g)\n", c->median_position,
           c->max_position, c->extent);
    printf("rotation: median %.6f, largest %.6f degrees\n", c->median_rotation_deg,
           c->max_rotation_deg);
}

static psfm_status compare(psfm_context *ctx, const cli_arguments *arguments) {
    const char *picture = cli_flag_value(&cli_compare, arguments, "-o");
    cli_model a = {0}, b = {0};
    psfm_comparison comparison = {0};
    psfm_status status = cli_read_model(ctx, arguments->positional[0], NULL, &a);
    if (status == PSFM_OK)
        status = cli_read_model(ctx, arguments->positional[1], NULL, &b);
    if (status == PSFM_OK)
        status = psfm_compare_models(ctx, &a.model, &b.model, &comparison);
    if (status == PSFM_OK && picture != NULL)
        status = psfm_comparison_write_svg(ctx, &comparison, &a.model, &b.model, picture);
    if (status == PSFM_OK && cli_flag_value(&cli_compare, arguments, "--json") != NULL)
        status = cli_print_json(ctx, psfm_comparison_to_json(&comparison, &a.model));
    else if (status == PSFM_OK)
        print_table(&comparison, &a.model);
    psfm_comparison_free(&comparison);
    cli_model_free(&a);
    cli_model_free(&b);
    return status;
}

const cli_command cli_compare = {
    .name = "compare",
    .summary = "differences between two models of the same images, and a picture",
    .usage = "A B [-o PICTURE.svg] [--json]",
    .description =
        "Brings model B into the frame of model A by a robust similarity of the camera centres\n"
        "(images are matched by name) and prints for every image how far its two positions and\n"
        "orientations are apart. A and B are COLMAP models or the OUT of run or reconstruct. The\n"
        "picture shows A in blue and B in orange, from above (x, y) and from the side (x, z) in\n"
        "the frame of A; 'align --upright' gives a model from another program an upright frame.\n\n"
        "    planarsfm compare out colmap/sparse/0 -o both.svg",
    .positional = positional,
    .flags = flags,
    .work = compare,
};
