/* What only the photographs tell: which are blurred, and whether a floor shows the lines of a
 * court. They are looked at where something is the matter, a few of them, small. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/path.h"
#include "core/linalg/order_statistics.h"
#include "court/target.h"
#include "formats/json.h"
#include "images/image/sharpness.h"
#include "sfm/diagnosis.h"

#define MOST_POSED 5   /* photographs with a pose that tell how sharp these are */
#define MOST_OTHERS 20 /* without one that are looked at */
#define MOST_COURTS 3  /* photographs that are searched for a court */
#define SMALL_SIDE 1000
#define BLURRED 0.6      /* of the sharpness of the others */
#define SURELY_SHARP 0.4 /* nothing above it is called blurred */

typedef struct {
    psfm_photo_findings found;
    const char *names[MOST_OTHERS];
} findings;

static psfm_status measure_sharpness(psfm_context *ctx, const psfm_sfm *s, const char *name,
                                     double *sharpness) {
    psfm_image image = {0};
    char *path = NULL;
    psfm_status status = psfm_path_join(ctx, s->photo_folder, name, &path);
    if (status == PSFM_OK)
        status = psfm_image_read_small(ctx, path, PSFM_IMAGE_GRAY, SMALL_SIDE, &image);
    *sharpness = status == PSFM_OK ? psfm_image_sharpness(&image) : NAN;
    psfm_image_free(&image);
    free(path);
    return status == PSFM_ERR_IO || status == PSFM_ERR_FORMAT ? PSFM_OK : status;
}

/* How sharp photographs with a pose are, in the median; NAN: there are none. */
static psfm_status find_usual_sharpness(psfm_context *ctx, const psfm_sfm *s, double *usual) {
    double values[MOST_POSED];
    size_t num = 0;
    psfm_status status = PSFM_OK;
    for (size_t v = 0; status == PSFM_OK && v < s->set.num_views && num < MOST_POSED; ++v) {
        if (s->outcome[v] != PSFM_OUTCOME_POSED)
            continue;
        status = measure_sharpness(ctx, s, s->set.views[v].name, &values[num]);
        num += status == PSFM_OK && isfinite(values[num]);
    }
    *usual = num == 0 ? NAN : psfm_median(values, num);
    return status;
}

static psfm_status find_blurred(psfm_context *ctx, const psfm_sfm *s, findings *f) {
    double usual = NAN, sharpness = NAN;
    size_t looked_at = 0;
    psfm_status status = find_usual_sharpness(ctx, s, &usual);
    for (size_t v = 0; status == PSFM_OK && isfinite(usual) && v < s->set.num_views; ++v) {
        if (s->outcome[v] == PSFM_OUTCOME_POSED || looked_at++ == MOST_OTHERS)
            continue;
        status = measure_sharpness(ctx, s, s->set.views[v].name, &sharpness);
        if (sharpness < BLURRED * usual && sharpness < SURELY_SHARP)
            f->names[f->found.num_blurred++] = s->set.views[v].name;
    }
    f->found.blurred = f->names;
    return status;
}

/* Whether a photograph shows one of the courts, one of each game. */
static psfm_status seek_courts(psfm_context *ctx, const psfm_sfm *s, uint32_t v, findings *f) {
    const uint32_t c = s->set.views[v].camera_idx;
    const bool is_known =
        s->set.origins == NULL || !psfm_focal_is_doubtful(s->set.origins[c].source);
    const psfm_photo_camera camera = {&s->set.cameras[c],
                                      is_known ? PSFM_FOCAL_FIXED : PSFM_FOCAL_SEARCH};
    psfm_image image = {0};
    char *path = NULL;
    psfm_status status = psfm_path_join(ctx, s->photo_folder, s->set.views[v].name, &path);
    if (status == PSFM_OK)
        status = psfm_image_read(ctx, path, PSFM_IMAGE_GRAY_AND_RGB, &image);
    const bool is_there = status == PSFM_OK;
    for (size_t k = 0; is_there && status == PSFM_OK && f->found.court == NULL; ++k) {
        bool is_first = true;
        if (k == psfm_num_courts)
            break;
        for (size_t j = 0; j < k; ++j)
            is_first = is_first && !psfm_court_is_related(&psfm_courts[j], &psfm_courts[k]);
        psfm_court_target target = {0};
        psfm_court_pose pose = {0};
        if (is_first)
            status = psfm_court_target_of_court(ctx, &psfm_courts[k], &target);
        if (is_first && status == PSFM_OK)
            status = psfm_court_target_register(ctx, &target, &image, camera, NULL, &pose);
        if (is_first && status == PSFM_OK && pose.verdict == PSFM_COURT_ACCEPTED)
            f->found.court = psfm_courts[k].name;
        psfm_court_pose_free(&pose);
        psfm_court_target_free(&target);
    }
    psfm_image_free(&image);
    free(path);
    return status == PSFM_ERR_IO || status == PSFM_ERR_FORMAT || status == PSFM_ERR_DATA ? PSFM_OK
                                                                                         : status;
}

/* Where hardly anything has a pose, and nobody asked for a court. */
static psfm_status find_court(psfm_context *ctx, const psfm_sfm *s, findings *f) {
    size_t posed = 0;
    psfm_status status = PSFM_OK;
    for (size_t v = 0; v < s->set.num_views; ++v)
        posed += s->outcome[v] == PSFM_OUTCOME_POSED;
    if (s->court != NULL || 2 * posed >= s->set.num_views)
        return PSFM_OK;
    const size_t step = s->set.num_views / MOST_COURTS + 1;
    for (size_t v = 0; status == PSFM_OK && v < s->set.num_views && f->found.court == NULL;
         v += step)
        status = seek_courts(ctx, s, (uint32_t)v, f);
    return status;
}

/* Blurred ones say so themselves. */
static void name_blurred(const findings *f, cJSON *summary, psfm_json_maker *m) {
    cJSON *image;
    cJSON_ArrayForEach(image, cJSON_GetObjectItemCaseSensitive(summary, "images")) {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(image, "name"));
        for (size_t k = 0; k < f->found.num_blurred; ++k) {
            if (strcmp(f->names[k], name) != 0)
                continue;
            cJSON_DeleteItemFromObjectCaseSensitive(image, "advice");
            psfm_json_text(m, image, "advice",
                           "it is blurred, much more than the others: take it again");
        }
    }
}

psfm_status psfm_diagnosis_add(psfm_context *ctx, const psfm_sfm *s, cJSON *summary) {
    psfm_json_maker m = {false};
    psfm_diagnosis d;
    findings f = {{0}, {0}};
    psfm_status status = PSFM_OK;
    if (!psfm_diagnosis_find(summary, &f.found, &d))
        return PSFM_OK;
    if (s->photo_folder != NULL && s->front.is_used)
        status = find_blurred(ctx, s, &f);
    if (status == PSFM_OK && s->photo_folder != NULL && s->front.is_used)
        status = find_court(ctx, s, &f);
    if (status != PSFM_OK || !psfm_diagnosis_find(summary, &f.found, &d))
        return status;
    name_blurred(&f, summary, &m);
    cJSON *diagnosis = psfm_json_object(&m, summary, "diagnosis");
    psfm_json_text(&m, diagnosis, "kind", d.kind);
    psfm_json_text(&m, diagnosis, "text", d.text);
    psfm_json_text(&m, diagnosis, "advice", d.advice);
    if (d.flag != NULL) {
        psfm_json_text(&m, diagnosis, "flag", d.flag);
        psfm_json_text(&m, diagnosis, "value", d.value);
    }
    return m.failed ? psfm_fail_memory(ctx) : PSFM_OK;
}
