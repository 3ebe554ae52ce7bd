/* Efforts as limits to the options of SIFT. Where the exact places come from the photographs in the
 * end (src/images/photometric), features only have to connect the images: the doubled image, with
 * three quarters of the time of SIFT and two thirds of the features, is for images that are not
 * connected well without it, and so is the finest detail of large photographs. */
#include "images/feature/effort.h"

#include <math.h>

#define LOW_FEATURES 2000
#define LOW_IMAGE 800
#define NORMAL_IMAGE 2000
#define DOUBLED_GROWTH 3.0 /* times the features, with the doubled image */

static const char *const names[] = {"auto", "low", "normal", "high", NULL};

static const psfm_option rows[] = {
    PSFM_OPTION_CHOICE(psfm_effort_options, level, "effort", PSFM_EFFORT_AUTO, names,
                       "what SIFT may cost: low shrinks images to 800 pixels and keeps 2000 "
                       "features; normal shrinks them to 2000 and does not double them; high takes "
                       "the options of sift as they are; auto starts low and gives more to images "
                       "that their pairs do not hold well (extract has no pairs: high)"),
};
const psfm_option_table psfm_effort_option_table = PSFM_OPTION_TABLE("", rows);

const char *psfm_effort_name(psfm_effort effort) {
    return names[effort];
}

bool psfm_effort_limit(psfm_effort effort, int max_image_size, psfm_sift_options *sift) {
    const psfm_sift_options before = *sift;
    if (effort == PSFM_EFFORT_AUTO || effort == PSFM_EFFORT_HIGH)
        return false;
    if (sift->first_octave < 0)
        sift->first_octave = 0;
    if (max_image_size == 0 && sift->max_image_size == 0)
        sift->max_image_size = effort == PSFM_EFFORT_LOW ? LOW_IMAGE : NORMAL_IMAGE;
    if (effort == PSFM_EFFORT_LOW)
        sift->reduced_decoding = true;
    if (effort == PSFM_EFFORT_LOW && sift->max_num_features > LOW_FEATURES)
        sift->max_num_features = LOW_FEATURES;
    return sift->first_octave != before.first_octave ||
           sift->max_num_features != before.max_num_features;
}

/* Of the longer side, as features are sought. */
static double side_of(const psfm_sift_options *sift, int max_image_size, double side) {
    const int limit = max_image_size > 0 ? max_image_size : sift->max_image_size;
    return limit > 0 ? fmin(side, limit) : side;
}

psfm_effort_given psfm_effort_give(psfm_effort spent, int max_image_size,
                                   const psfm_sift_options *sift, int width, int height,
                                   size_t num_features) {
    const double side = width > height ? width : height;
    psfm_sift_options low = *sift, normal = *sift;
    psfm_effort_limit(PSFM_EFFORT_LOW, max_image_size, &low);
    psfm_effort_limit(PSFM_EFFORT_NORMAL, max_image_size, &normal);
    const double scale =
        side_of(&normal, max_image_size, side) / side_of(&low, max_image_size, side);
    const bool is_cut = (double)num_features >= low.max_num_features &&
                        low.max_num_features < normal.max_num_features;
    if (spent == PSFM_EFFORT_LOW && (scale > 1.0 || is_cut))
        return (psfm_effort_given){spent, scale > 1.0 ? scale * scale : DOUBLED_GROWTH};
    if (spent <= PSFM_EFFORT_NORMAL)
        return (psfm_effort_given){PSFM_EFFORT_NORMAL, DOUBLED_GROWTH};
    return (psfm_effort_given){spent, 1.0};
}
