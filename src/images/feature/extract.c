/* Features of many photographs: read, shrink, detect, put keypoints back to the pixels of the
 * file, apply the mask. One task a photograph.
 *
 * Scale space takes hundreds of megabytes for a large image, so a gate lets workers in only as
 * long as all together stay within half of the memory; a worker alone always gets in. What is
 * wrong with one photograph (unreadable, too small) is noted there and does not stop the others. */
#include "images/feature/extract.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file_mark.h"
#include "core/base/parallel.h"
#include "core/base/path.h"
#include "images/image/image_io.h"
#include "images/image/image_turn.h"
#include "images/image/mask.h"
#include "images/image/resize.h"

#define MIN_IMAGE_SIZE 16

static const psfm_option rows[] = {
    PSFM_OPTION_INT(psfm_extract_options, max_image_size, "max-image-size", 0, 0,
                    PSFM_IMAGE_MAX_SIDE,
                    "longer side to which larger images are shrunk, in pixels; 0: 3200 for sift, "
                    "1600 for networks"),
};
const psfm_option_table psfm_extract_option_table = PSFM_OPTION_TABLE("extract", rows);

int psfm_extract_size(const psfm_extract_options *options, bool neural) {
    return options->max_image_size > 0 ? options->max_image_size : neural ? 1600 : 3200;
}

void psfm_photo_free(psfm_photo *photo) {
    psfm_keypoint_set_free(&photo->features);
    free(photo->problem);
    *photo = (psfm_photo){0};
}

/* Lets workers through as long as their memory is within the budget, or they are alone. */
typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t freed;
    size_t in_use, budget;
} gate;

static void enter_gate(gate *g, size_t bytes) {
    pthread_mutex_lock(&g->lock);
    while (g->in_use > 0 && g->in_use + bytes > g->budget)
        pthread_cond_wait(&g->freed, &g->lock);
    g->in_use += bytes;
    pthread_mutex_unlock(&g->lock);
}

static void leave_gate(gate *g, size_t bytes) {
    pthread_mutex_lock(&g->lock);
    g->in_use -= bytes;
    pthread_cond_broadcast(&g->freed);
    pthread_mutex_unlock(&g->lock);
}

struct psfm_extractor {
    char *folder, *mask_folder; /* the second may be NULL */
    int max_image_size;
    psfm_detectors *detectors; /* NULL: SIFT */
    gate gate;
    int num_workers;
    psfm_sift_workspace *workspaces; /* per worker */
};

/* An image for extraction, and the pixels of the photograph that it covers, which a JPEG's codec
 * rounds up. */
typedef struct {
    psfm_image image;
    double width, height;
} shrunk_image;

/* How a photograph is shrunk. */
typedef struct {
    int max_size;
    bool by_codec; /* as far as it can */
} shrinking;

static psfm_status shrink_image(psfm_context *ctx, int size, psfm_image *image) {
    psfm_image small = {0};
    int width, height;
    psfm_resize_dimensions(image->width, image->height, size, &width, &height);
    if (width == image->width && height == image->height)
        return PSFM_OK;
    psfm_status status = psfm_image_shrink(ctx, image, width, height, &small);
    psfm_image_free(image);
    *image = small;
    return status;
}

/* Reads the image and its EXIF data, and shrinks it. */
static psfm_status load_image(psfm_context *ctx, const psfm_extractor *x, const char *name,
                              const shrinking *how, psfm_photo *photo, shrunk_image *out) {
    psfm_image *image = &out->image;
    char *path = NULL, *bytes = NULL;
    size_t size = 0;
    int reduced = 1;
    psfm_status status = psfm_photo_path(ctx, x->folder, name, &path);
    if (status == PSFM_OK)
        status = psfm_read_file(ctx, path, PSFM_IMAGE_MAX_FILE, &bytes, &size);
    if (status == PSFM_OK)
        status = psfm_image_decode_small(ctx, (const uint8_t *)bytes, size, path, PSFM_IMAGE_GRAY,
                                         how->by_codec ? how->max_size : 0, &reduced, image);
    if (status == PSFM_OK) {
        photo->contents = psfm_bytes_contents(bytes, size);
        out->width = image->width * (double)reduced;
        out->height = image->height * (double)reduced;
        photo->width = image->width;
        photo->height = image->height;
        if (reduced > 1)
            psfm_image_parse_size((const uint8_t *)bytes, size, &photo->width, &photo->height);
        psfm_exif_parse((const uint8_t *)bytes, size, photo->width, photo->height, &photo->exif);
        status = shrink_image(ctx, how->max_size, image);
        image->quarters = photo->exif.quarters;
    }
    free(bytes);
    free(path);
    return status;
}

static psfm_status hash_mask(psfm_context *ctx, const psfm_extractor *x, const char *name,
                             uint64_t *contents) {
    char *path = NULL;
    psfm_status status = psfm_mask_path(ctx, x->mask_folder, name, &path);
    if (status == PSFM_OK)
        status = psfm_file_contents(ctx, path, contents);
    free(path);
    return status;
}

/* Drops the keypoints on black pixels of the image's mask. */
static psfm_status apply_mask(psfm_context *ctx, const psfm_extractor *x, const char *name,
                              psfm_photo *photo) {
    psfm_image mask = {0};
    bool found = false, *keep = NULL;
    psfm_keypoint_set *set = &photo->features;
    psfm_status status =
        psfm_mask_read(ctx, x->mask_folder, name, photo->width, photo->height, &mask, &found);
    if (status == PSFM_OK && found)
        status = hash_mask(ctx, x, name, &photo->mask_contents);
    if (status == PSFM_OK && found)
        status = PSFM_ALLOC(ctx, set->num, &keep);
    if (status == PSFM_OK && found) {
        for (size_t k = 0; k < set->num; ++k)
            keep[k] =
                !psfm_mask_forbids(&mask, (double)set->keypoints[k].x, (double)set->keypoints[k].y);
        psfm_keypoint_set_filter(set, keep);
    }
    free(keep);
    psfm_image_free(&mask);
    return status;
}

static psfm_status extract_sift(psfm_context *ctx, psfm_extractor *x, int worker,
                                const psfm_image *image, const psfm_sift_options *sift,
                                psfm_keypoint_set *features) {
    psfm_sift_workspace *workspace = &x->workspaces[worker];
    size_t bytes = psfm_sift_memory(image->width, image->height, sift);
    enter_gate(&x->gate, bytes);
    psfm_status status = psfm_sift_extract(ctx, image, sift, workspace, features);
    if (bytes * (size_t)x->num_workers > x->gate.budget)
        psfm_sift_workspace_free(workspace); /* others may be waiting for it */
    leave_gate(&x->gate, bytes);
    return status;
}

/* Features that know up from down want the photograph as it was held; SIFT's turn with it. */
static psfm_status make_upright(psfm_context *ctx, shrunk_image *shrunk) {
    psfm_image turned = {0};
    const double width = shrunk->width;
    const int quarters = shrunk->image.quarters;
    psfm_status status = psfm_image_turn(ctx, &shrunk->image, quarters, &turned);
    if (status != PSFM_OK)
        return status;
    psfm_image_free(&shrunk->image);
    shrunk->image = turned;
    shrunk->width = (quarters & 1) != 0 ? shrunk->height : width;
    shrunk->height = (quarters & 1) != 0 ? width : shrunk->height;
    return PSFM_OK;
}

static psfm_status extract_image(psfm_context *ctx, psfm_extractor *x, int worker,
                                 const shrunk_image *shrunk, const psfm_sift_options *sift,
                                 psfm_photo *photo) {
    const psfm_image *image = &shrunk->image;
    psfm_gray_view view = {image->gray, (size_t)image->width, (size_t)image->height,
                           (size_t)image->width};
    psfm_status status =
        x->detectors == NULL
            ? extract_sift(ctx, x, worker, image, sift, &photo->features)
            : psfm_detectors_extract(ctx, x->detectors, worker, &view, &photo->features);
    if (status == PSFM_OK)
        psfm_keypoint_set_rescale(&photo->features, shrunk->width / image->width,
                                  shrunk->height / image->height);
    return status;
}

psfm_status psfm_extractor_run(psfm_context *ctx, psfm_extractor *extractor, int worker,
                               const char *name, const psfm_sift_options *sift, psfm_photo *photo) {
    shrunk_image image = {.width = 0.0};
    const bool is_sift = extractor->detectors == NULL;
    const bool is_limited = is_sift && sift->max_image_size > 0;
    const int size = is_limited ? sift->max_image_size : extractor->max_image_size;
    const shrinking how = {size, is_sift && sift->reduced_decoding};
    if (size < MIN_IMAGE_SIZE)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                         "--extract.max-image-size: %d is too small, %d is the least", size,
                         MIN_IMAGE_SIZE);
    psfm_status status = load_image(ctx, extractor, name, &how, photo, &image);
    const int quarters = !is_sift || sift->upright ? photo->exif.quarters : 0;
    if (status == PSFM_OK && quarters != 0)
        status = make_upright(ctx, &image);
    if (status == PSFM_OK)
        status = extract_image(ctx, extractor, worker, &image, sift, photo);
    if (status == PSFM_OK && quarters != 0)
        psfm_keypoint_set_turn(&photo->features, 4 - quarters, image.width, image.height);
    if (status == PSFM_OK && extractor->mask_folder != NULL)
        status = apply_mask(ctx, extractor, name, photo);
    psfm_image_free(&image.image);
    if (psfm_is_bad_file(status)) {
        psfm_keypoint_set_free(&photo->features);
        status = psfm_strdup(ctx, psfm_context_message(ctx), &photo->problem);
    }
    return status;
}

static psfm_status check_size(psfm_context *ctx, const psfm_extract_options *options, bool neural,
                              int *size) {
    psfm_extract_options o;
    psfm_options_init(&psfm_extract_option_table, &o);
    if (options != NULL)
        o = *options;
    *size = psfm_extract_size(&o, neural);
    psfm_status status = psfm_options_check(ctx, &psfm_extract_option_table, &o);
    if (status == PSFM_OK && *size < MIN_IMAGE_SIZE)
        status = psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                           "--extract.max-image-size: %d is too small, %d is the least", *size,
                           MIN_IMAGE_SIZE);
    return status;
}

psfm_status psfm_extractor_create(psfm_context *ctx, const char *folder, const char *mask_folder,
                                  const psfm_extract_options *options, psfm_detectors *detectors,
                                  int num_workers, psfm_extractor **out) {
    psfm_status status = PSFM_ALLOC(ctx, 1, out);
    if (status != PSFM_OK)
        return status;
    psfm_extractor *x = *out;
    x->detectors = detectors;
    x->num_workers = num_workers;
    x->gate.budget = psfm_context_memory(ctx) / 2;
    pthread_mutex_init(&x->gate.lock, NULL);
    pthread_cond_init(&x->gate.freed, NULL);
    status = check_size(ctx, options, detectors != NULL, &x->max_image_size);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, (size_t)num_workers, &x->workspaces);
    if (status == PSFM_OK)
        status = psfm_strdup(ctx, folder, &x->folder);
    if (status == PSFM_OK && mask_folder != NULL)
        status = psfm_strdup(ctx, mask_folder, &x->mask_folder);
    if (status != PSFM_OK)
        psfm_extractor_destroy(out);
    return status;
}

void psfm_extractor_destroy(psfm_extractor **extractor) {
    psfm_extractor *x = *extractor;
    if (x == NULL)
        return;
    pthread_cond_destroy(&x->gate.freed);
    pthread_mutex_destroy(&x->gate.lock);
    for (int k = 0; x->workspaces != NULL && k < x->num_workers; ++k)
        psfm_sift_workspace_free(&x->workspaces[k]);
    free(x->workspaces);
    free(x->folder);
    free(x->mask_folder);
    free(x);
    *extractor = NULL;
}
