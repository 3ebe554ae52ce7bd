/* Lines have two ends, arcs many pieces. */
#include "io/drawing_json.h"

enum { PIECES = 40 };

bool psfm_drawing_add_strokes(cJSON *object, const psfm_drawing *drawing) {
    cJSON *list = cJSON_AddArrayToObject(object, "strokes");
    bool ok = list != NULL;
    for (size_t k = 0; ok && k < drawing->num_parts; ++k) {
        int pieces = drawing->parts[k].radius > 0.0 ? PIECES : 1;
        double xy[2 * (PIECES + 1)];
        for (int i = 0; i <= pieces; ++i)
            psfm_drawing_part_at(&drawing->parts[k], (double)i / pieces, xy + 2 * i);
        cJSON *stroke = cJSON_CreateDoubleArray(xy, 2 * (pieces + 1));
        ok = stroke != NULL && cJSON_AddItemToArray(list, stroke);
    }
    return ok;
}
