/* Efforts as limits to the options of SIFT. Where the exact places come from the photographs in the
 * end (src/photo), features only have to connect the images: the doubled image, with three quarters
 * of the time of SIFT and two thirds of the features, is for images that are not connected well
 * without it, and so is the finest detail of large photographs. */
#include "feature/effort.h"

#define LOW_FEATURES 2000
#define LOW_IMAGE 800
#define NORMAL_IMAGE 2000

static const char *const names[] = {"auto", "low", "normal", "high", NULL};

static const psfm_option rows[] = {
    PSFM_OPTION_CHOICE(psfm_effort_options, level, "effort", PSFM_EFFORT_AUTO, names,
                       "what SIFT may cost: normal does not double images and shrinks larger "
                       "ones to 2000 pixels; low shrinks to 800 and keeps 2000 features, for a "
                       "first look; high takes the options of sift as they are; auto starts normal "
                       "and raises to high the images that their pairs do not hold well (extract "
                       "has no pairs: high)"),
};
const psfm_option_table psfm_effort_option_table = {"", rows, 1};

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
    if (effort == PSFM_EFFORT_LOW && sift->max_num_features > LOW_FEATURES)
        sift->max_num_features = LOW_FEATURES;
    return sift->first_octave != before.first_octave ||
           sift->max_num_features != before.max_num_features;
}
