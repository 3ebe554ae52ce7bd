/* Features of photographs as tasks.
 *
 * A rank reads the photographs by itself, from a folder that all ranks share. That it is the same
 * folder is checked photograph by photograph: an item has a number of its file and of the mask, the
 * setup one of the weights, and a rank that finds another one refuses. */
#include "frontend/feature_tasks.h"

#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/file_fingerprint.h"
#include "core/base/path.h"
#include "images/image/mask.h"

typedef struct {
    const psfm_feature_setup *setup;
    psfm_detectors *detectors; /* NULL: SIFT */
    psfm_extractor *extractor;
} extraction;

/* ---- the same files on all ranks ---- */

static psfm_status print_or_compare(psfm_context *ctx, const char *path, const char *what,
                                    bool compares, uint64_t *print) {
    return compares ? psfm_file_compare(ctx, path, what, *print)
                    : psfm_file_print(ctx, path, print);
}

/* Finds the prints of a photograph, or compares them with what is here. */
static psfm_status visit_files(psfm_context *ctx, const psfm_feature_setup *setup, bool compares,
                               psfm_feature_item *item) {
    char *path = NULL, *mask = NULL;
    if (!setup->is_checked)
        return PSFM_OK;
    psfm_status status = psfm_path_join(ctx, setup->folder, item->name, &path);
    if (status == PSFM_OK)
        status = print_or_compare(ctx, path, "photograph", compares, &item->photo);
    if (status == PSFM_OK && setup->mask_folder != NULL)
        status = psfm_mask_path(ctx, setup->mask_folder, item->name, &mask);
    if (status == PSFM_OK && mask != NULL)
        status = print_or_compare(ctx, mask, "mask", compares, &item->mask);
    free(path);
    free(mask);
    return status;
}

psfm_status psfm_feature_item_fill(psfm_context *ctx, const psfm_feature_setup *setup,
                                   const char *name, psfm_effort effort, psfm_feature_item *item) {
    item->effort = effort;
    psfm_status status = psfm_strdup(ctx, name, &item->name);
    return status == PSFM_OK ? visit_files(ctx, setup, false, item) : status;
}

psfm_status psfm_feature_setup_check(psfm_context *ctx, const char *const *names, size_t num,
                                     psfm_feature_setup *setup) {
    psfm_status status = PSFM_OK;
    if (!setup->is_checked)
        return PSFM_OK;
    setup->num_compared = num < PSFM_NUM_COMPARED ? num : PSFM_NUM_COMPARED;
    if (setup->weights != NULL)
        status = psfm_file_print(ctx, setup->weights, &setup->weights_print);
    /* Spread over all of them, the first and the last included. */
    for (size_t k = 0; status == PSFM_OK && k < setup->num_compared; ++k) {
        setup->compared[k].name =
            (char *)names[k == 0 ? 0 : k * (num - 1) / (setup->num_compared - 1)];
        status = visit_files(ctx, setup, false, &setup->compared[k]);
    }
    return status;
}

/* ---- between ranks ---- */

static void move_item(psfm_transfer *t, void *value) {
    psfm_feature_item *item = value;
    psfm_move(t, item, sizeof *item);
    psfm_move_text(t, &item->name);
}

static void free_item(void *value) {
    const psfm_feature_item *item = value;
    free(item->name);
}

static void move_setup(psfm_transfer *t, void *value) {
    psfm_feature_setup *setup = value;
    psfm_move(t, setup, sizeof *setup);
    psfm_move_text(t, &setup->folder);
    psfm_move_text(t, &setup->mask_folder);
    psfm_move_text(t, &setup->weights);
    for (size_t k = 0; k < setup->num_compared; ++k)
        psfm_move_text(t, &setup->compared[k].name);
}

static void free_sent_setup(void *value) {
    psfm_feature_setup *setup = value;
    free((char *)setup->folder);
    free((char *)setup->mask_folder);
    free((char *)setup->weights);
    for (size_t k = 0; k < setup->num_compared; ++k)
        free_item(&setup->compared[k]);
}

void psfm_features_move(psfm_transfer *t, psfm_keypoint_set *set) {
    psfm_move(t, set, sizeof *set);
    size_t num = set->num, size = set->num * set->descriptor_size;
    psfm_move_array(t, &set->keypoints, &num, sizeof *set->keypoints);
    psfm_move_array(t, &set->descriptors_u8, &size, 1);
    psfm_move_array(t, &set->descriptors_f32, &size, sizeof *set->descriptors_f32);
    psfm_move_array(t, &set->scores, &num, sizeof *set->scores);
}

static void move_photo(psfm_transfer *t, void *value) {
    psfm_photo *photo = value;
    psfm_move(t, photo, sizeof *photo);
    psfm_move_text(t, &photo->problem);
    psfm_features_move(t, &photo->features);
}

static void free_photo(void *photo) {
    psfm_photo_free(photo);
}

/* ---- extracting ---- */

static void close_extraction(void *state) {
    extraction *x = state;
    psfm_extractor_destroy(&x->extractor);
    psfm_detectors_destroy(&x->detectors);
    free(x);
}

/* Checks the options of SIFT, or loads networks, of which there may be fewer than workers. */
static psfm_status make_detectors(psfm_context *ctx, extraction *x, int *num_workers) {
    const psfm_feature_setup *setup = x->setup;
    double side = psfm_extract_size(&setup->extract, true);
    psfm_status status = PSFM_OK;
    if (setup->weights == NULL)
        return psfm_options_check(ctx, &psfm_sift_option_table, &setup->sift[PSFM_EFFORT_AUTO]);
    if (setup->is_checked)
        status = psfm_file_compare(ctx, setup->weights, "file of weights", setup->weights_print);
    if (status == PSFM_OK)
        status = psfm_detectors_create(ctx, &setup->detector, setup->weights, *num_workers,
                                       side * side, &x->detectors);
    if (status == PSFM_OK)
        *num_workers = psfm_detectors_num(x->detectors);
    return status;
}

static psfm_status open_extraction(psfm_context *ctx, void *value, int *num_workers, void **state) {
    psfm_feature_setup *setup = value;
    extraction *x = NULL;
    psfm_status status = PSFM_ALLOC(ctx, 1, &x);
    if (status != PSFM_OK)
        return status;
    x->setup = setup;
    for (size_t k = 0; status == PSFM_OK && k < setup->num_compared; ++k)
        status = visit_files(ctx, setup, true, &setup->compared[k]);
    if (status == PSFM_OK)
        status = make_detectors(ctx, x, num_workers);
    if (status == PSFM_OK)
        status = psfm_extractor_create(ctx, setup->folder, setup->mask_folder, &setup->extract,
                                       x->detectors, *num_workers, &x->extractor);
    if (status == PSFM_OK)
        *state = x;
    else
        close_extraction(x);
    return status;
}

static psfm_status extract_photo(psfm_context *ctx, void *state, int worker, void *item,
                                 void *photo) {
    const extraction *x = state;
    psfm_feature_item *i = item;
    psfm_status status = visit_files(ctx, x->setup, true, i);
    return status == PSFM_OK ? psfm_extractor_run(ctx, x->extractor, worker, i->name,
                                                  &x->setup->sift[i->effort], photo)
                             : status;
}

const psfm_task_kind psfm_feature_tasks = {
    .name = "features",
    .setup = {sizeof(psfm_feature_setup), move_setup, free_sent_setup},
    .item = {sizeof(psfm_feature_item), move_item, free_item},
    .result = {sizeof(psfm_photo), move_photo, free_photo},
    .open = open_extraction,
    .compute = extract_photo,
    .close = close_extraction};
