/* The line is built piece by piece in a buffer of fixed size: names of files may be long, and what
 * does not fit is cut off. */
#include "pipeline/headline.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/number_locale.h"
#include "linalg/order.h"

#define MOST_NAMES 3

/* A line under construction. */
typedef struct {
    char *text;
    size_t used;
} line;

__attribute__((format(printf, 2, 3))) static void append(line *l, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(l->text + l->used, PSFM_HEADLINE_SIZE - l->used, format, arguments);
    va_end(arguments);
    if (n > 0)
        l->used += (size_t)n;
    if (l->used >= PSFM_HEADLINE_SIZE)
        l->used = PSFM_HEADLINE_SIZE - 1;
}

/* The median standard deviation of a rotation; NAN if none is known. */
static psfm_status median_sigma(psfm_context *ctx, const psfm_match_set *set,
                                const psfm_reconstruction *found, double *sigma_deg) {
    double *all = NULL;
    size_t num = 0;
    *sigma_deg = NAN;
    if (found->refined.images == NULL)
        return PSFM_OK;
    psfm_status status = PSFM_ALLOC(ctx, set->num_views, &all);
    for (size_t v = 0; status == PSFM_OK && v < set->num_views; ++v)
        if (found->outcome[v] == PSFM_OUTCOME_POSED &&
            isfinite(found->refined.images[v].rotation_sigma_deg))
            all[num++] = found->refined.images[v].rotation_sigma_deg;
    if (num > 0)
        *sigma_deg = psfm_median(all, num);
    free(all);
    return status;
}

static psfm_status append_unposed(psfm_context *ctx, line *l, const psfm_match_set *set,
                                  const psfm_reconstruction *found, size_t num) {
    size_t named = 0;
    uint32_t *by_name = NULL;
    psfm_status status = psfm_match_set_by_name(ctx, set, &by_name);
    append(l, "; %zu not: ", num);
    for (size_t k = 0; status == PSFM_OK && k < set->num_views && named < MOST_NAMES; ++k) {
        uint32_t v = by_name[k];
        if (found->outcome[v] == PSFM_OUTCOME_POSED)
            continue;
        append(l, "%s%s (%s)", named == 0 ? "" : ", ", set->views[v].name,
               psfm_outcome_cause(found->outcome[v]));
        ++named;
    }
    if (named < num)
        append(l, ", ...");
    free(by_name);
    return status;
}

psfm_status psfm_headline_make(psfm_context *ctx, const psfm_match_set *set,
                               const psfm_reconstruction *found, char text[PSFM_HEADLINE_SIZE]) {
    locale_t before = psfm_number_locale_begin();
    line l = {text, 0};
    size_t posed = 0;
    double sigma_deg = NAN;
    psfm_status status = median_sigma(ctx, set, found, &sigma_deg);
    for (size_t v = 0; v < set->num_views; ++v)
        posed += found->outcome[v] == PSFM_OUTCOME_POSED;
    append(&l, "%zu of %zu images posed in %zu model%s", posed, set->num_views, found->num_models,
           found->num_models == 1 ? "" : "s");
    if (found->refined.images != NULL && posed > 0)
        append(&l, ", %.2f px", found->refined.mean_px);
    if (isfinite(sigma_deg))
        append(&l, ", %.2g deg", sigma_deg);
    if (status == PSFM_OK && posed < set->num_views)
        status = append_unposed(ctx, &l, set, found, set->num_views - posed);
    psfm_number_locale_end(before);
    return status;
}
