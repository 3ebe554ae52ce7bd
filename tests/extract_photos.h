/* SIFT features of many photographs at once, for tests and benches. */
#ifndef PSFM_TEST_EXTRACT_PHOTOS_H
#define PSFM_TEST_EXTRACT_PHOTOS_H

#include "core/base/parallel.h"
#include "images/feature/extract.h"

/* Which photographs to read. */
typedef struct {
    const char *folder;
    const char *const *names; /* relative to the folder */
    size_t num;
    const char *mask_folder; /* see psfm_mask_read; NULL: no masks */
} photo_list;

typedef struct {
    psfm_extractor *extractor;
    const char *const *names;
    const psfm_sift_options *sift;
    psfm_photo *photos;
} extraction;

static inline psfm_status extract_one(psfm_context *ctx, size_t index, int worker, void *user) {
    const extraction *x = user;
    return psfm_extractor_run(ctx, x->extractor, worker, x->names[index], x->sift,
                              &x->photos[index]);
}

/* Extracts in parallel; NULL options: the defaults. photos has list->num zeroed entries, freed one
 * by one by the caller; on failure all are empty. */
static inline psfm_status extract_photos(psfm_context *ctx, const photo_list *list,
                                         const psfm_extract_options *options,
                                         const psfm_sift_options *sift_options,
                                         psfm_photo *photos) {
    psfm_sift_options sift;
    psfm_options_init(&psfm_sift_option_table, &sift);
    extraction x = {NULL, list->names, sift_options == NULL ? &sift : sift_options, photos};
    psfm_status status = psfm_extractor_create(ctx, list->folder, list->mask_folder, options, NULL,
                                               psfm_parallel_workers(ctx, list->num), &x.extractor);
    if (status == PSFM_OK)
        status = psfm_parallel_for(ctx, "features", list->num, extract_one, &x);
    psfm_extractor_destroy(&x.extractor);
    for (size_t k = 0; status != PSFM_OK && k < list->num; ++k)
        psfm_photo_free(&photos[k]);
    return status;
}

#endif
