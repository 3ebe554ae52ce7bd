#include "verdict/clue_table.h"

#include <math.h>

#define LEAST 0.5 /* of what is counted, so that none is worse than one, and finite */

double psfm_clue_value(const psfm_clue *row, const void *features) {
    return *(const double *)((const char *)features + row->offset);
}

double psfm_clue_penalty(const psfm_clue *row, const void *features) {
    double above = fmin(psfm_clue_value(row, features), row->most) - row->origin;
    double badness = row->scale < 0.0 ? log1p(-row->scale / fmax(above, LEAST))
                                      : log1p(fmax(above, 0.0) / row->scale);
    return row->coefficient * badness;
}

double psfm_clues_log_odds(const psfm_clue_table *table, const void *features) {
    double odds = table->bias;
    for (int k = 0; k < table->num_rows; ++k)
        odds -= psfm_clue_penalty(&table->rows[k], features);
    return odds;
}

double psfm_probability_of(double log_odds) {
    return 1.0 / (1.0 + exp(-log_odds));
}
