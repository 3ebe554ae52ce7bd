/* The defaults of a run, for tests of its parts. */
#ifndef PSFM_TESTS_RUN_DEFAULTS_H
#define PSFM_TESTS_RUN_DEFAULTS_H

#include "sfm/settings.h"

static inline psfm_detector_options default_detector(void) {
    psfm_run_options options;
    psfm_run_options_init(PSFM_MODE_DEFAULT, &options);
    return options.folder.detector;
}

static inline psfm_matcher_options default_matcher(void) {
    psfm_run_options options;
    psfm_run_options_init(PSFM_MODE_DEFAULT, &options);
    return options.match.matcher;
}

#endif
