/* Area under the curve of recall over error, as the evaluation code of SuperGlue (Sarlin et al.,
 * 2020) defines it: sorted errors e_1 <= e_2 <= ..., recall k / n at e_k, the point (0, 0) put in
 * front; up to the threshold T the curve is joined by straight lines, from the last error below T
 * on it stays level; the area is divided by T. */
#include "eval/evaluate.h"
#include "linalg/order.h"

#include <math.h>

const double psfm_auc_thresholds_deg[PSFM_NUM_AUC] = {0.5, 1.0, 3.0, 5.0, 10.0};

static double area(const double *sorted, size_t num, double threshold) {
    double sum = 0.0, last = 0.0;
    size_t k = 0;
    for (; k < num && sorted[k] < threshold; ++k) {
        sum += (sorted[k] - last) * ((double)k + 0.5);
        last = sorted[k];
    }
    sum += (threshold - last) * (double)k;
    return 100.0 * sum / ((double)num * threshold);
}

void psfm_auc(double *errors, size_t num_errors, const double *thresholds, size_t num_thresholds,
              double *auc) {
    for (size_t k = 0; k < num_errors; ++k)
        if (isnan(errors[k]))
            errors[k] = INFINITY;
    psfm_sort(errors, num_errors);
    for (size_t t = 0; t < num_thresholds; ++t)
        auc[t] = num_errors == 0 ? 0.0 : area(errors, num_errors, thresholds[t]);
}

void psfm_recall(const double *errors, size_t num_errors, const double *thresholds,
                 size_t num_thresholds, double *recall) {
    for (size_t t = 0; t < num_thresholds; ++t) {
        size_t num = 0;
        for (size_t k = 0; k < num_errors; ++k)
            num += errors[k] < thresholds[t];
        recall[t] = num_errors == 0 ? 0.0 : 100.0 * (double)num / (double)num_errors;
    }
}
