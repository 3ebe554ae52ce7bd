/* A temporary folder with small photographs of bright spots at known places. */
#ifndef PSFM_TESTS_PHOTO_FOLDER_H
#define PSFM_TESTS_PHOTO_FOLDER_H

#include <unistd.h>

#include "core/base/path.h"
#include "images/image/image_io.h"
#include "test_util.h"

enum { PHOTO_WIDTH = 240, PHOTO_HEIGHT = 180, NUM_SPOTS = 12 };

typedef struct {
    psfm_context *ctx;
    char folder[32];   /* holds everything */
    char photos[64];   /* folder of the photographs */
    char database[64]; /* not there yet */
} photo_folder;

static inline void make_photo_folder(photo_folder *f) {
    *f = (photo_folder){.ctx = psfm_context_create(), .folder = "/tmp/psfm_photos_XXXXXX"};
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->photos, sizeof f->photos, "%s/photos", f->folder);
    snprintf(f->database, sizeof f->database, "%s/database.db", f->folder);
    assert_ok(f->ctx, psfm_make_folders(f->ctx, f->photos));
}

static inline void drop_photo_folder(photo_folder *f) {
    assert_ok(f->ctx, psfm_remove_all(f->ctx, f->folder));
    psfm_context_destroy(&f->ctx);
}

/* Centre of spot k of the photograph with this number; never between two pixels. */
static inline void find_spot(int photo, int k, double xy[2]) {
    xy[0] = 30.3 + 55.0 * (k % 4) + photo;
    xy[1] = 30.2 + 55.0 * (k / 4) + photo;
}

static inline char *photo_path(const photo_folder *f, const char *name) {
    char *path = NULL;
    assert_ok(f->ctx, psfm_path_join(f->ctx, f->photos, name, &path));
    return path;
}

/* The photograph with a number: spots with a standard deviation of 4 pixels. */
static inline void draw_photo(const photo_folder *f, int photo, psfm_image *out) {
    psfm_image image;
    assert_ok(f->ctx, psfm_image_init(f->ctx, PHOTO_WIDTH, PHOTO_HEIGHT, PSFM_IMAGE_GRAY, &image));
    for (int i = 0; i < PHOTO_WIDTH * PHOTO_HEIGHT; ++i) {
        double x = i % PHOTO_WIDTH + 0.5, y = i / PHOTO_WIDTH + 0.5, value = 40.0;
        for (int k = 0; k < NUM_SPOTS; ++k) {
            double at[2];
            find_spot(photo, k, at);
            value += 180.0 * exp(-((x - at[0]) * (x - at[0]) + (y - at[1]) * (y - at[1])) / 32.0);
        }
        image.gray[i] = (uint8_t)fmin(value, 255.0);
    }
    *out = image;
}

static inline void put_photo(const photo_folder *f, const char *name, int photo) {
    psfm_image image;
    char *path = photo_path(f, name);
    draw_photo(f, photo, &image);
    assert_ok(f->ctx, psfm_image_write(f->ctx, &image, 95, path));
    psfm_image_free(&image);
    free(path);
}

/* The same as a TIFF file without compression, of the same size for all photographs. */
static inline void put_plain_photo(const photo_folder *f, const char *name, int photo) {
    enum { NUM_TAGS = 9, HEAD = 8 + 2 + 12 * NUM_TAGS + 4, PIXELS = PHOTO_WIDTH * PHOTO_HEIGHT };
    static const uint16_t tags[NUM_TAGS][4] = {/* tag, type, low and high half of the value */
                                               {256, 3, PHOTO_WIDTH, 0},
                                               {257, 3, PHOTO_HEIGHT, 0},
                                               {258, 3, 8, 0},
                                               {259, 3, 1, 0},
                                               {262, 3, 1, 0},
                                               {273, 4, HEAD, 0},
                                               {277, 3, 1, 0},
                                               {278, 3, PHOTO_HEIGHT, 0},
                                               {279, 4, PIXELS & 0xffff, PIXELS >> 16}};
    static const uint16_t start[5] = {0x4949, 42, 8, 0, NUM_TAGS}, one[2] = {1, 0}, none[2] = {0};
    psfm_image image;
    char *path = photo_path(f, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    draw_photo(f, photo, &image);
    fwrite(start, 2, 5, file);
    for (int k = 0; k < NUM_TAGS; ++k) {
        fwrite(tags[k], 2, 2, file);
        fwrite(one, 2, 2, file);
        fwrite(tags[k] + 2, 2, 2, file);
    }
    fwrite(none, 2, 2, file);
    assert_int_equal(fwrite(image.gray, 1, PIXELS, file), PIXELS);
    assert_int_equal(fclose(file), 0);
    psfm_image_free(&image);
    free(path);
}

static inline void put_text(const photo_folder *f, const char *name, const char *text) {
    char *path = photo_path(f, name);
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    free(path);
}

static inline void remove_photo(const photo_folder *f, const char *name) {
    char *path = photo_path(f, name);
    assert_int_equal(unlink(path), 0);
    free(path);
}

#endif
