/* A small table: sizes of sensors come in classes, and few cameras leave the other entries out.
 * Models are found by how they begin, the longest entry first, so that a family needs one row. */
#include "core/camera/sensor_table.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#define FULL_FRAME 36.0
#define APS_C_CANON 22.3
#define APS_C_NIKON 23.5
#define ONE_INCH 13.2
#define ONE_2_3 6.17 /* 1/2.3 inch */

/* Within a family the longer beginning stands before the shorter. */
static const struct {
    const char *make, *model;
    double width_mm;
} sensors[] = {
    {"canon", "canon eos 5d", FULL_FRAME},
    {"canon", "canon eos 6d", FULL_FRAME},
    {"canon", "canon eos d60", 22.7},
    {"canon", "canon eos d30", 22.7},
    {"canon", "canon eos 1000d", 22.2},
    {"canon", "canon eos 300d", 22.7},
    {"canon", "canon eos 350d", 22.2},
    {"canon", "canon eos 400d", 22.2},
    {"canon", "canon eos 450d", 22.2},
    {"canon", "canon eos 10d", 22.7},
    {"canon", "canon eos 20d", 22.5},
    {"canon", "canon eos", APS_C_CANON},
    {"nikon", "nikon d600", FULL_FRAME},
    {"nikon", "nikon d610", FULL_FRAME},
    {"nikon", "nikon d7000", 23.6},
    {"nikon", "nikon d700", FULL_FRAME},
    {"nikon", "nikon d750", FULL_FRAME},
    {"nikon", "nikon d780", FULL_FRAME},
    {"nikon", "nikon d800", FULL_FRAME},
    {"nikon", "nikon d810", FULL_FRAME},
    {"nikon", "nikon d850", FULL_FRAME},
    {"nikon", "nikon d40", 23.7},
    {"nikon", "nikon d50", 23.7},
    {"nikon", "nikon d70", 23.7},
    {"nikon", "nikon d80", 23.6},
    {"nikon", "nikon d90", 23.6},
    {"nikon", "nikon d5", APS_C_NIKON},
    {"nikon", "nikon d71", APS_C_NIKON},
    {"nikon", "nikon d72", APS_C_NIKON},
    {"sony", "ilce-7", FULL_FRAME},
    {"sony", "ilce-9", FULL_FRAME},
    {"sony", "ilce-", APS_C_NIKON},
    {"sony", "dsc-rx100", ONE_INCH},
    {"sony", "dsc-rx1", 35.8},
    {"dji", "fc220", ONE_2_3},
    {"dji", "fc300", ONE_2_3},
    {"dji", "fc330", ONE_2_3},
    {"dji", "fc350", ONE_2_3},
    {"dji", "fc550", 17.3},
    {"dji", "fc6310", ONE_INCH},
    {"dji", "fc6510", ONE_INCH},
    {"dji", "fc6520", 17.3},
    {"hasselblad", "l1d-20c", ONE_INCH},
    {"gopro", "hero", ONE_2_3},
};

static int begins_with(const char *text, const char *start) {
    return strncasecmp(text, start, strlen(start)) == 0;
}

double psfm_sensor_width_mm(const char *make, const char *model) {
    for (size_t k = 0; k < sizeof sensors / sizeof *sensors; ++k)
        if (begins_with(make, sensors[k].make) && begins_with(model, sensors[k].model))
            return sensors[k].width_mm;
    return 0.0;
}
