/* The readers of positions, control points and court points on arbitrary bytes; the first byte
 * chooses among them. */
#include <math.h>

#include "formats/control_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_set(const psfm_control_set *set) {
    for (size_t k = 0; k < set->num_views; ++k)
        if (set->views[k].point >= set->num_points || !isfinite(set->views[k].xy[0]))
            __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static psfm_context *ctx;
    psfm_control_set set;
    psfm_positions positions;
    psfm_court court;
    if (ctx == NULL)
        ctx = psfm_context_create();
    if (size == 0)
        return 0;
    const char *text = (const char *)data + 1;
    switch (data[0] % 5) {
    case 0:
    case 1:
        if (psfm_positions_parse(ctx, text, size - 1, "fuzz", data[0] & 1, &positions) == PSFM_OK &&
            (positions.num == 0 || !isfinite(positions.items[0].at[2])))
            __builtin_trap();
        psfm_positions_free(&positions);
        break;
    case 2:
        if (psfm_control_parse(ctx, text, size - 1, "fuzz", PSFM_FILE_CONTROL, NULL, &set) ==
            PSFM_OK)
            check_set(&set);
        psfm_control_free(&set);
        break;
    case 3:
        if (psfm_control_parse(ctx, text, size - 1, "fuzz", PSFM_FILE_LABELS, NULL, &set) ==
            PSFM_OK)
            check_set(&set);
        psfm_control_free(&set);
        break;
    default:
        if (psfm_court_get("soccer", &court) &&
            psfm_control_parse(ctx, text, size - 1, "fuzz", PSFM_FILE_COURT, &court, &set) ==
                PSFM_OK)
            check_set(&set);
        psfm_control_free(&set);
    }
    return 0;
}
