/* Features of many photographs. */
#ifndef PSFM_FEATURE_EXTRACT_H
#define PSFM_FEATURE_EXTRACT_H

#include "images/feature/detector.h"
#include "images/feature/sift.h"
#include "images/image/exif.h"

typedef struct {
    /* Longer side in pixels; larger images are shrunk for extraction. 0: 3200 for SIFT, 1600 for
     * networks, which were trained on small images and cost more a pixel. */
    int max_image_size;
} psfm_extract_options;

extern const psfm_option_table psfm_extract_option_table;

/* The size that images are shrunk to, for SIFT or for networks. */
int psfm_extract_size(const psfm_extract_options *options, bool neural);

/* One photograph. Keypoints are in pixels of the file, whatever it was shrunk to. */
typedef struct {
    int width, height; /* of the file; 0 if it could not be read */
    psfm_exif exif;
    psfm_keypoint_set features;
    uint64_t contents, mask_contents; /* of the files as they were read; 0: there is no mask */
    char *problem;                    /* why there are no features, or NULL; owned */
} psfm_photo;

void psfm_photo_free(psfm_photo *photo);

/* Extracts features of photographs of one folder, one after the other in each worker. Holds at most
 * half of the machine's memory in images under way, or one image. */
typedef struct psfm_extractor psfm_extractor;

/* Features are those of the networks, or SIFT's if `detectors` is NULL; they outlive the extractor,
 * and there are at most as many workers as networks. mask_folder: see psfm_mask_read; NULL: no
 * masks. */
psfm_status psfm_extractor_create(psfm_context *ctx, const char *folder, const char *mask_folder,
                                  const psfm_extract_options *options, psfm_detectors *detectors,
                                  int num_workers, psfm_extractor **out);
/* Frees and sets *extractor to NULL. */
void psfm_extractor_destroy(psfm_extractor **extractor);

/* The photograph `name`, relative to the folder, by worker 0 .. num_workers - 1; workers may run at
 * once. A file that cannot be read is not a failure: *photo, zeroed before and freed by the caller
 * in any case, says why. `sift` is not looked at with networks. */
psfm_status psfm_extractor_run(psfm_context *ctx, psfm_extractor *extractor, int worker,
                               const char *name, const psfm_sift_options *sift, psfm_photo *photo);

#endif
