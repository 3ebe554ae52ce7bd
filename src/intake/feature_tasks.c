/* Features of photographs as tasks.
 *
 * A rank reads the photographs by itself, from a folder that all ranks share. That it is the same
 * folder is checked photograph by photograph: a task has a number of its file, of the mask and,
 * once, of the weights, and a rank that finds another one refuses. */
#include "intake/feature_tasks.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/path.h"
#include "image/mask.h"
#include "intake/feature_packets.h"
#include "intake/file_print.h"

/* Photographs that are compared before the work begins. */
#define NUM_COMPARED 16

typedef struct {
    psfm_feature_setup setup; /* its texts are those below; no names */
    char *folder, *mask_folder, *weights;
    psfm_detectors *detectors; /* NULL: SIFT */
    psfm_extractor *extractor;
} extraction;

/* Of the files that a task depends on; 0: there is none, or it is not compared. */
typedef struct {
    uint64_t photo, mask;
} prints;

/* ---- the first rank's side ---- */

static psfm_status find_prints(psfm_context *ctx, const psfm_feature_setup *setup, const char *name,
                               prints *out) {
    char *path = NULL, *mask = NULL;
    psfm_status status = psfm_path_join(ctx, setup->folder, name, &path);
    if (status == PSFM_OK)
        status = psfm_file_print(ctx, path, &out->photo);
    if (status == PSFM_OK && setup->mask_folder != NULL)
        status = psfm_mask_path(ctx, setup->mask_folder, name, &mask);
    if (status == PSFM_OK && mask != NULL)
        status = psfm_file_print(ctx, mask, &out->mask);
    free(path);
    free(mask);
    return status;
}

psfm_status psfm_feature_task_pack(psfm_context *ctx, const psfm_feature_setup *setup, size_t photo,
                                   psfm_effort effort, psfm_packet *packet) {
    const char *name = setup->names[photo];
    prints here = {0};
    psfm_packing p = {.ctx = ctx, .packet = packet};
    if (setup->is_checked)
        p.status = find_prints(ctx, setup, name, &here);
    psfm_pack_text(&p, name);
    psfm_pack(&p, &here, sizeof here);
    psfm_pack(&p, &effort, sizeof effort);
    return p.status;
}

/* Some photographs, spread over all of them, the first and the last included. */
static psfm_status pack_compared(psfm_context *ctx, const psfm_feature_setup *setup,
                                 psfm_packet *packet) {
    const size_t all = setup->is_checked ? setup->num_photos : 0;
    const size_t num = all < NUM_COMPARED ? all : NUM_COMPARED;
    psfm_status status = psfm_packet_put(ctx, packet, &num, sizeof num);
    for (size_t k = 0; status == PSFM_OK && k < num; ++k)
        status = psfm_feature_task_pack(ctx, setup, num < 2 ? 0 : k * (all - 1) / (num - 1),
                                        PSFM_EFFORT_AUTO, packet);
    return status;
}

psfm_status psfm_feature_setup_pack(psfm_context *ctx, const psfm_feature_setup *setup,
                                    psfm_packet *packet) {
    psfm_feature_setup sent = *setup;
    uint64_t print = 0;
    psfm_packing p = {.ctx = ctx, .packet = packet};
    if (setup->weights != NULL)
        p.status = psfm_file_print(ctx, setup->weights, &print);
    sent.folder = sent.mask_folder = sent.weights = NULL; /* no other process knows what is there */
    sent.names = NULL;
    psfm_pack(&p, &sent, sizeof sent);
    psfm_pack_text(&p, setup->folder);
    psfm_pack_text(&p, setup->mask_folder);
    psfm_pack_text(&p, setup->weights);
    psfm_pack(&p, &print, sizeof print);
    return p.status == PSFM_OK ? pack_compared(ctx, setup, packet) : p.status;
}

psfm_status psfm_feature_result_unpack(psfm_context *ctx, psfm_packet_reader *reader,
                                       psfm_photo *photo) {
    psfm_unpacking u = {.ctx = ctx, .reader = reader};
    *photo = (psfm_photo){0};
    psfm_unpack(&u, &photo->width, sizeof photo->width);
    psfm_unpack(&u, &photo->height, sizeof photo->height);
    psfm_unpack(&u, &photo->exif, sizeof photo->exif);
    psfm_unpack_text(&u, &photo->problem);
    return u.status == PSFM_OK ? psfm_features_unpack(ctx, reader, &photo->features) : u.status;
}

/* ---- any rank's side ---- */

static void close_extraction(void *state) {
    extraction *x = state;
    psfm_extractor_destroy(&x->extractor);
    psfm_detectors_destroy(&x->detectors);
    free(x->folder);
    free(x->mask_folder);
    free(x->weights);
    free(x);
}

/* Checks the options of SIFT, or loads the network. */
static psfm_status make_detectors(psfm_context *ctx, extraction *x, uint64_t print) {
    const psfm_feature_setup *setup = &x->setup;
    double side = psfm_extract_size(&setup->extract, true);
    uint64_t here = 0;
    if (x->weights == NULL)
        return psfm_options_check(ctx, &psfm_sift_option_table, &setup->sift[PSFM_EFFORT_AUTO]);
    psfm_status status = psfm_file_print(ctx, x->weights, &here);
    if (status == PSFM_OK && here != print)
        status = psfm_fail(ctx, PSFM_ERR_DATA,
                           "%s is not the file of weights that the first rank sees", x->weights);
    return status == PSFM_OK ? psfm_detectors_create(ctx, &setup->detector, x->weights,
                                                     setup->num_photos, side * side, &x->detectors)
                             : status;
}

/* Refuses a photograph or mask that is not the first rank's. */
static psfm_status check_files(psfm_context *ctx, const extraction *x, const char *name,
                               const prints *wanted) {
    prints here = {0};
    if (!x->setup.is_checked)
        return PSFM_OK;
    psfm_status status = find_prints(ctx, &x->setup, name, &here);
    if (status == PSFM_OK && here.photo != wanted->photo)
        status = psfm_file_differs(ctx, x->folder, name, "photograph");
    else if (status == PSFM_OK && here.mask != wanted->mask)
        status = psfm_file_differs(ctx, x->mask_folder, name, "mask");
    return status;
}

/* The photograph of a task. The caller frees *name. */
static psfm_status get_photo(psfm_context *ctx, const extraction *x, psfm_packet_reader *reader,
                             char **name, psfm_effort *effort) {
    prints wanted = {0};
    psfm_unpacking u = {.ctx = ctx, .reader = reader};
    psfm_unpack_text(&u, name);
    psfm_unpack(&u, &wanted, sizeof wanted);
    psfm_unpack(&u, effort, sizeof *effort);
    return u.status == PSFM_OK ? check_files(ctx, x, *name, &wanted) : u.status;
}

static psfm_status compare(psfm_context *ctx, const extraction *x, psfm_packet_reader *reader) {
    size_t num = 0;
    psfm_status status = psfm_packet_get(ctx, reader, &num, sizeof num);
    for (size_t k = 0; status == PSFM_OK && k < num; ++k) {
        char *name = NULL;
        psfm_effort effort;
        status = get_photo(ctx, x, reader, &name, &effort);
        free(name);
    }
    return status;
}

static psfm_status open_extraction(psfm_context *ctx, psfm_packet_reader *reader, int num_workers,
                                   void **state) {
    extraction *x = NULL;
    uint64_t print = 0;
    psfm_status status = PSFM_ALLOC(ctx, 1, &x);
    if (status != PSFM_OK)
        return status;
    psfm_unpacking u = {.ctx = ctx, .reader = reader};
    psfm_unpack(&u, &x->setup, sizeof x->setup);
    psfm_unpack_text(&u, &x->folder);
    psfm_unpack_text(&u, &x->mask_folder);
    psfm_unpack_text(&u, &x->weights);
    psfm_unpack(&u, &print, sizeof print);
    x->setup.folder = x->folder;
    x->setup.mask_folder = x->mask_folder;
    x->setup.weights = x->weights;
    status = u.status;
    if (status == PSFM_OK)
        status = compare(ctx, x, reader);
    if (status == PSFM_OK)
        status = make_detectors(ctx, x, print);
    if (status == PSFM_OK)
        status = psfm_extractor_create(ctx, x->folder, x->mask_folder, &x->setup.extract,
                                       x->detectors, num_workers, &x->extractor);
    if (status == PSFM_OK)
        *state = x;
    else
        close_extraction(x);
    return status;
}

static psfm_status pack_result(psfm_context *ctx, const psfm_photo *photo, psfm_packet *packet) {
    psfm_packing p = {.ctx = ctx, .packet = packet};
    psfm_pack(&p, &photo->width, sizeof photo->width);
    psfm_pack(&p, &photo->height, sizeof photo->height);
    psfm_pack(&p, &photo->exif, sizeof photo->exif);
    psfm_pack_text(&p, photo->problem);
    return p.status == PSFM_OK ? psfm_features_pack(ctx, &photo->features, packet) : p.status;
}

static psfm_status extract_photo(psfm_context *ctx, void *state, int worker,
                                 psfm_packet_reader *input, psfm_packet *result) {
    const extraction *x = state;
    char *name = NULL;
    psfm_effort effort = PSFM_EFFORT_AUTO;
    psfm_photo photo = {0};
    psfm_status status = get_photo(ctx, x, input, &name, &effort);
    if (status == PSFM_OK)
        status =
            psfm_extractor_run(ctx, x->extractor, worker, name, &x->setup.sift[effort], &photo);
    if (status == PSFM_OK)
        status = pack_result(ctx, &photo, result);
    psfm_photo_free(&photo);
    free(name);
    return status;
}

const psfm_task_kind psfm_feature_tasks = {
    .name = "features", .open = open_extraction, .run = extract_photo, .close = close_extraction};
