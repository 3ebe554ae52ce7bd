/* How much is spent on the features of a photograph. */
#ifndef PSFM_FEATURE_EFFORT_H
#define PSFM_FEATURE_EFFORT_H

#include "feature/sift.h"

typedef enum {
    PSFM_EFFORT_AUTO,   /* normal, and high where that does not do; where nothing tells, high */
    PSFM_EFFORT_LOW,    /* a small image and few features: a first look */
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

#endif
