/* The options of the refinement as they are by default. */
#ifndef PSFM_TESTS_REFINE_DEFAULTS_H
#define PSFM_TESTS_REFINE_DEFAULTS_H

#include "core/refine/refine_poses.h"

static inline void init_options(psfm_refine_options *o) {
    *o = (psfm_refine_options){0};
    psfm_options_init(&psfm_refine_control_option_table, &o->control);
    psfm_options_init(&psfm_triangulate_option_table, &o->triangulate);
    psfm_options_init(&psfm_bundle_option_table, &o->bundle);
    psfm_options_init(&psfm_resection_option_table, &o->resection);
}

#endif
