/* How much is spent on the features of a photograph. */
#ifndef PSFM_FEATURE_EFFORT_H
#define PSFM_FEATURE_EFFORT_H

#include "images/feature/sift.h"

typedef enum {
    PSFM_EFFORT_AUTO,   /* low, and more where that does not do; where nothing tells, high */
    PSFM_EFFORT_LOW,    /* a small image and few features */
    PSFM_EFFORT_NORMAL, /* the image is not doubled, and a large one is shrunk */
    PSFM_EFFORT_HIGH,   /* the options as they are */
} psfm_effort;

typedef struct {
    int level; /* psfm_effort */
} psfm_effort_options;

extern const psfm_option_table psfm_effort_option_table;

/* A word for messages and JSON, e.g. "normal". */
const char *psfm_effort_name(psfm_effort effort);

/* Lowers the options to what an effort allows. False if they stay as they are, but for the size of
 * large photographs. That stays, too, if the user chose one (max_image_size is not 0). */
bool psfm_effort_limit(psfm_effort effort, int max_image_size, psfm_sift_options *sift);

/* What an effort gave a photograph. */
typedef struct {
    psfm_effort reached; /* that gives the same; less spent on a small photograph may be as much */
    double growth; /* factor that its features would grow by, about: from low to normal effort,
                      from normal to high effort; 1: by none */
} psfm_effort_given;

/* `sift` are the options before any limit, `num_features` what was found with the effort. */
psfm_effort_given psfm_effort_give(psfm_effort spent, int max_image_size,
                                   const psfm_sift_options *sift, int width, int height,
                                   size_t num_features);

#endif
