/* Thresholds that are stated for a pixel of noise follow the noise. */
#include "sfm/reconstruct_options.h"

#include <math.h>
#include <string.h>

#include "sfm/registry.h"

static const psfm_option noise_rows[] = {
    PSFM_OPTION_DOUBLE(
        psfm_noise_options, px, "px", 0.0, 0.0, 100.0,
        "standard deviation of a keypoint's coordinate, in pixels; thresholds in pixels "
        "are for noise of one pixel and are multiplied by it; 0: measured from the "
        "matches, and nothing changes below one pixel"),
};
const psfm_option_table psfm_noise_option_table = PSFM_OPTION_TABLE("noise", noise_rows);

/* The place of the struct of a group. */
static size_t place_of(const psfm_option_group *group) {
    return group->offset - offsetof(psfm_run_options, settings.options);
}

void psfm_reconstruct_options_init(psfm_mode mode, psfm_reconstruct_options *options) {
    memset(options, 0, sizeof *options);
    options->mode = (int)mode;
    for (const psfm_option_group *g = psfm_run_groups; g->table != NULL; ++g) {
        if (!(g->parts & PSFM_OF_POSES))
            continue;
        if (mode == PSFM_MODE_PAPER)
            psfm_options_init_paper(g->table, (char *)options + place_of(g));
        else
            psfm_options_init(g->table, (char *)options + place_of(g));
    }
}

psfm_status psfm_reconstruct_options_check(psfm_context *ctx,
                                           const psfm_reconstruct_options *options) {
    psfm_status status = PSFM_OK;
    for (const psfm_option_group *g = psfm_run_groups; status == PSFM_OK && g->table != NULL; ++g)
        if (g->parts & PSFM_OF_POSES)
            status = psfm_options_check(ctx, g->table, (const char *)options + place_of(g));
    return status;
}

static const char *const mode_names[] = {"robust", "paper"};

const char *psfm_mode_name(psfm_mode mode) {
    return mode_names[mode];
}

bool psfm_mode_from_name(const char *name, psfm_mode *mode) {
    for (size_t k = 0; k < sizeof mode_names / sizeof *mode_names; ++k) {
        if (strcmp(mode_names[k], name) == 0) {
            *mode = (psfm_mode)k;
            return true;
        }
    }
    return false;
}

psfm_reconstruct_options psfm_reconstruct_options_scale(const psfm_reconstruct_options *options,
                                                        double sigma_px) {
    psfm_reconstruct_options scaled = *options;
    double factor = options->noise.px > 0.0 ? options->noise.px : fmax(sigma_px, 1.0);
    scaled.two_view.max_error_px *= factor;
    scaled.two_view.rotation_px *= factor;
    scaled.robust.control.noise_px *= factor;
    scaled.refine.control.first_error_px *= factor;
    scaled.refine.triangulate.max_error_px *= factor;
    scaled.refine.resection.max_error_px *= factor;
    scaled.refine.bundle.loss_scale_px *= factor;
    return scaled;
}
