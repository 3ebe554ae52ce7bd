/* planarsfm compare: two models of the same images. */
#include <stdio.h>

#include "cli.h"
#include "core/base/context.h"
#include "eval/compare_models.h"

static const char *const positional[] = {"A", "B", NULL};
static const cli_flag flags[] = {
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

static psfm_status work_compare(psfm_context *ctx, const cli_arguments *arguments) {
    psfm_model_source a = {0}, b = {0};
    psfm_comparison comparison = {0};
    psfm_status status = psfm_model_source_read(ctx, arguments->positional[0], NULL, &a);
    if (status == PSFM_OK)
        status = psfm_model_source_read(ctx, arguments->positional[1], NULL, &b);
    if (status == PSFM_OK)
        status = psfm_compare_models(ctx, &a.model, &b.model, &comparison);
    if (status == PSFM_OK && cli_flag_value(&cli_compare, arguments, "--json") != NULL)
        status = cli_print_json(ctx, psfm_comparison_to_json(&comparison, &a.model));
    else if (status == PSFM_OK)
        print_table(&comparison, &a.model);
    psfm_comparison_free(&comparison);
    psfm_model_source_free(&a);
    psfm_model_source_free(&b);
    return status;
}

const cli_command cli_compare = {
    .name = "compare",
    .summary = "differences between two models of the same images",
    .usage = "A B [--json]",
    .description =
        "Brings model B into the frame of model A by a robust similarity of the camera centres\n"
        "(images are matched by name) and prints for every image how far its two positions and\n"
        "orientations are apart. A and B are COLMAP models or the OUT of run or reconstruct.\n"
        "'planarsfm report A B' shows both in one 3D view; 'align --upright' gives a model from\n"
        "another program an upright frame for it.\n\n"
        "    planarsfm compare out colmap/sparse/0",
    .positional = positional,
    .flags = flags,
    .work = work_compare,
};
