/* Several courts on one floor are one drawing. It could be taken for the same one with another
 * federation's court in the place of one of them. */
#include "io/court_request.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "io/drawing_file.h"

#define MAX_COURTS 8

/* Reads the names. PSFM_ERR_ARGUMENT for a name that is none. */
static psfm_status list_courts(psfm_context *ctx, const psfm_court_request *request,
                               psfm_court courts[MAX_COURTS], size_t *num) {
    char *names = NULL;
    psfm_status status = psfm_strdup(ctx, request->courts, &names);
    *num = 0;
    for (char *name = names, *comma; name != NULL && status == PSFM_OK;
         name = comma == NULL ? NULL : comma + 1) {
        comma = strchr(name, ',');
        if (comma != NULL)
            *comma = '\0';
        if (*name == '\0')
            status =
                psfm_fail(ctx, PSFM_ERR_ARGUMENT, "--court %s: a name is missing", request->courts);
        else if (*num == MAX_COURTS)
            status = psfm_fail(ctx, PSFM_ERR_ARGUMENT, "--court: more than %d courts", MAX_COURTS);
        else
            status = psfm_court_parse(ctx, name, request->size, &courts[(*num)++]);
    }
    free(names);
    if (status == PSFM_OK && *num > 1 && request->size != NULL)
        status = psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                           "--court-size is for a single court; give several as a drawing");
    return status;
}

/* All of them about one middle; one of them may be replaced. */
static psfm_status combine(psfm_context *ctx, const char *name, const psfm_court *courts,
                           size_t num, psfm_drawing *drawing) {
    static const double middle[2] = {0.0, 0.0};
    *drawing = (psfm_drawing){0};
    psfm_status status = psfm_strdup(ctx, name, &drawing->name);
    for (size_t k = 0; k < num && status == PSFM_OK; ++k) {
        psfm_drawing one;
        status = psfm_drawing_from_court(ctx, &courts[k], &one);
        if (status == PSFM_OK)
            status = psfm_drawing_place(ctx, &one, middle, 0.0, drawing);
        psfm_drawing_free(&one);
    }
    if (status == PSFM_OK)
        psfm_drawing_stretch_parts(drawing);
    return status;
}

static psfm_status open_several(psfm_context *ctx, const char *name, psfm_court *courts, size_t num,
                                psfm_court_target *target) {
    psfm_status status = combine(ctx, name, courts, num, &target->drawing);
    for (size_t k = 0; k < num; ++k) {
        const psfm_court own = courts[k];
        for (size_t r = 0; r < psfm_num_courts && status == PSFM_OK; ++r) {
            if (!psfm_court_is_related(&own, &psfm_courts[r]) ||
                target->num_rivals >= PSFM_MAX_RIVALS)
                continue;
            courts[k] = psfm_courts[r];
            status = combine(ctx, name, courts, num, &target->rivals[target->num_rivals++]);
        }
        courts[k] = own;
    }
    return status;
}

static psfm_status open_courts(psfm_context *ctx, const psfm_court_request *request,
                               psfm_court_target *target) {
    psfm_court courts[MAX_COURTS];
    size_t num;
    psfm_status status = list_courts(ctx, request, courts, &num);
    if (status != PSFM_OK)
        return status;
    return num == 1 ? psfm_court_target_of_court(ctx, &courts[0], target)
                    : open_several(ctx, request->courts, courts, num, target);
}

psfm_status psfm_court_request_open(psfm_context *ctx, const psfm_court_request *request,
                                    psfm_court_target *target) {
    psfm_drawing drawing = {0};
    *target = (psfm_court_target){0};
    if (request->courts != NULL && request->drawing != NULL)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "a court and a drawing: one of them is wanted");
    if (request->courts == NULL && request->drawing == NULL)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "either --court KIND or --drawing FILE is wanted");
    if (request->courts != NULL)
        return open_courts(ctx, request, target);
    psfm_status status = psfm_drawing_read(ctx, request->drawing, request->unit, &drawing);
    psfm_court_target_of_drawing(&drawing, target);
    return status;
}
