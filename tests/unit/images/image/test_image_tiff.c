/* TIFF files of many kinds, written by libtiff, read back; damage; what directories tell. */
#include "test_util.h"

#include <unistd.h>

#include "core/base/path.h"
#include "images/image/image_codec.h"
#include "images/image/image_io.h"
#include "images/image/tiff_pages.h"

#ifndef PSFM_HAVE_TIFF
static void files_are_refused_with_a_sentence(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_image image;
    assert_int_equal(psfm_image_decode(ctx, (const uint8_t *)"II*\0\10\0\0\0", 8, "a.tif",
                                       PSFM_IMAGE_GRAY, &image),
                     PSFM_ERR_FORMAT);
    assert_non_null(strstr(psfm_context_message(ctx), "made without libtiff"));
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(files_are_refused_with_a_sentence)};
    return cmocka_run_group_tests_name("image/image_tiff", tests, NULL, NULL);
}
#else
#include <tiffio.h>

enum { WIDTH = 53, HEIGHT = 37, TILE = 32 };

typedef struct {
    const char *mode; /* of TIFFOpen: "w", "wb" (big-endian), "w8" (BigTIFF) */
    int samples, bits, planar, compression, photometric;
    bool tiles;
    int orientation, pages;
} kind;

static char folder[] = "/tmp/psfm_tiff_XXXXXX";
static psfm_context *ctx;

static int make_scratch(void **state) {
    (void)state;
    ctx = psfm_context_create();
    return mkdtemp(folder) == NULL;
}

static int remove_scratch(void **state) {
    (void)state;
    psfm_context_destroy(&ctx);
    return psfm_remove_all(NULL, folder) != PSFM_OK;
}

/* The true sample, in 8 bits: no symmetry that a wrong order of rows, columns or samples keeps. */
static uint8_t truth(int x, int y, int sample) {
    return (uint8_t)(3 * x + 2 * y + 60 * sample);
}

/* Samples from (x0, y0) on, w x h pixels, `num` of them a pixel beginning with `first`. */
static void fill(const kind *k, int x0, int y0, int w, int h, int first, int num, uint8_t *out) {
    for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x)
            for (int s = 0; s < num; ++s) {
                int value = truth(x0 + x, y0 + y, first + s);
                value = k->photometric == PHOTOMETRIC_MINISWHITE ? 255 - value : value;
                size_t at = (size_t)((y * w + x) * num + s);
                if (k->bits == 8)
                    out[at] = (uint8_t)value;
                else
                    ((uint16_t *)(void *)out)[at] = (uint16_t)(257 * value);
            }
}

static void write_page(TIFF *tiff, const kind *k) {
    static uint8_t buffer[2 * WIDTH * HEIGHT * 3 * 2];
    int planes = k->planar == PLANARCONFIG_SEPARATE ? k->samples : 1, num = k->samples / planes;
    enum { ROWS = 8 };
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, WIDTH);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, HEIGHT);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, k->samples);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, k->bits);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, k->planar);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, k->compression);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, k->photometric);
    TIFFSetField(tiff, TIFFTAG_ORIENTATION, k->orientation);
    if (k->tiles) {
        TIFFSetField(tiff, TIFFTAG_TILEWIDTH, TILE);
        TIFFSetField(tiff, TIFFTAG_TILELENGTH, TILE);
    } else {
        TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, ROWS);
    }
    int step_x = k->tiles ? TILE : WIDTH, step_y = k->tiles ? TILE : ROWS;
    for (int p = 0; p < planes; ++p)
        for (int y = 0; y < HEIGHT; y += step_y)
            for (int x = 0; x < WIDTH; x += step_x) {
                int rows = k->tiles || y + ROWS <= HEIGHT ? step_y : HEIGHT - y;
                fill(k, x, y, step_x, rows, p, num, buffer);
                tmsize_t size = (tmsize_t)step_x * rows * num * k->bits / 8;
                tmsize_t written =
                    k->tiles
                        ? TIFFWriteEncodedTile(
                              tiff, TIFFComputeTile(tiff, (uint32_t)x, (uint32_t)y, 0, (uint16_t)p),
                              buffer, size)
                        : TIFFWriteEncodedStrip(
                              tiff, TIFFComputeStrip(tiff, (uint32_t)y, (uint16_t)p), buffer, size);
                assert_true(written == size);
            }
}

static const char *write_file(const kind *k) {
    static char path[256];
    snprintf(path, sizeof path, "%s/photo.tif", folder);
    TIFF *tiff = TIFFOpen(path, k->mode);
    assert_non_null(tiff);
    for (int page = 0; page < (k->pages > 1 ? k->pages : 1); ++page) {
        write_page(tiff, k);
        assert_int_equal(TIFFWriteDirectory(tiff), 1);
    }
    TIFFClose(tiff);
    return path;
}

static void check(const kind *k, int tolerance) {
    psfm_image image;
    const char *path = write_file(k);
    assert_ok(ctx, psfm_image_read(ctx, path, PSFM_IMAGE_GRAY_AND_RGB, &image));
    assert_int_equal(image.width, WIDTH);
    assert_int_equal(image.height, HEIGHT);
    /* EXIF's orientations of mirrored photographs */
    const bool is_mirrored =
        k->orientation == 2 || k->orientation == 4 || k->orientation == 5 || k->orientation == 7;
    for (int y = 0; y < HEIGHT; ++y)
        for (int x = 0; x < WIDTH; ++x)
            for (int s = 0; s < 3; ++s) {
                int column = is_mirrored ? WIDTH - 1 - x : x;
                int got = image.rgb[3 * (y * WIDTH + column) + s];
                int expected = truth(x, y, k->samples == 1 ? 0 : s);
                if (abs(got - expected) > tolerance)
                    fail_msg("%d samples of %d bits, %s, planes %d, compression %d, mode %s: "
                             "sample %d at %d, %d is %d, not %d",
                             k->samples, k->bits, k->tiles ? "tiles" : "strips", k->planar,
                             k->compression, k->mode, s, x, y, got, expected);
            }
    psfm_image_free(&image);
}

#define CONTIG PLANARCONFIG_CONTIG
#define SEPARATE PLANARCONFIG_SEPARATE

static const kind usual = {"w", 3, 8, CONTIG, COMPRESSION_NONE, PHOTOMETRIC_RGB, false, 1, 1};

static void all_kinds_are_read(void **state) {
    (void)state;
    static const int photometric[] = {0, PHOTOMETRIC_MINISBLACK, 0, PHOTOMETRIC_RGB};
    static const int compressions[] = {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE,
                                       COMPRESSION_PACKBITS};
    static const char *const modes[] = {"w", "wb", "w8"};
    for (int samples = 1; samples <= 3; samples += 2)
        for (int bits = 8; bits <= 16; bits += 8)
            for (int tiles = 0; tiles < 2; ++tiles)
                for (int planar = CONTIG; planar <= SEPARATE; ++planar)
                    for (int c = 0; c < 4; ++c) {
                        kind k = {modes[(c + tiles) % 3], samples,    bits, planar, compressions[c],
                                  photometric[samples],   tiles == 1, 1,    1};
                        check(&k, 0);
                    }
    kind white = {"w", 1, 8, CONTIG, COMPRESSION_NONE, PHOTOMETRIC_MINISWHITE, false, 1, 1};
    check(&white, 0);
}

/* As with JPEG, pixels stay as they are stored, but for mirrored ones: no camera sees those. */
static void pixels_are_not_turned_but_mirrored_back(void **state) {
    (void)state;
    for (int orientation = 1; orientation <= 8; ++orientation)
        for (int tiles = 0; tiles < 2; ++tiles) {
            kind k = usual;
            k.orientation = orientation;
            k.tiles = tiles == 1;
            check(&k, 0);
        }
}

static void sizes_and_pages_need_no_decoding(void **state) {
    (void)state;
    kind k = usual;
    int width = 0, height = 0;
    const char *path = write_file(&k);
    assert_true(psfm_image_file_size(path, &width, &height));
    assert_true(width == WIDTH && height == HEIGHT);
    assert_int_equal(psfm_tiff_file_pages(path), 1);
    k.pages = 3;
    k.mode = "wb";
    path = write_file(&k);
    width = height = 0;
    assert_true(psfm_image_file_size(path, &width, &height));
    assert_true(width == WIDTH && height == HEIGHT);
    assert_int_equal(psfm_tiff_file_pages(path), 3);
    assert_int_equal(psfm_tiff_file_pages("/no/such/file"), 0);
    check(&k, 0); /* the first page */
}

static char *load(const char *path, size_t *size) {
    char *bytes = NULL;
    assert_ok(ctx, psfm_read_file(ctx, path, 1 << 20, &bytes, size));
    return bytes;
}

static psfm_status decode(const char *bytes, size_t size, psfm_image *image) {
    return psfm_image_decode(ctx, (const uint8_t *)bytes, size, "a.tif", PSFM_IMAGE_GRAY, image);
}

static void every_truncation_is_refused(void **state) {
    (void)state;
    static const int compressions[] = {COMPRESSION_NONE, COMPRESSION_LZW,
                                       COMPRESSION_ADOBE_DEFLATE};
    for (int c = 0; c < 3; ++c) {
        kind k = usual;
        k.compression = compressions[c];
        size_t size = 0;
        char *bytes = load(write_file(&k), &size);
        for (size_t cut = 0; cut < size - 4; cut += 1 + cut / 40) { /* the last 4: no next page */
            psfm_image image;
            psfm_status status = decode(bytes, cut, &image);
            if (status == PSFM_OK) /* only the text behind the entries of the directory is lost */
                psfm_image_free(&image);
            else
                assert_int_equal(status, PSFM_ERR_FORMAT);
            assert_true(status != PSFM_OK || cut > size - 256);
        }
        free(bytes);
    }
}

static void damage_never_crashes(void **state) {
    (void)state;
    size_t size = 0;
    kind k = usual;
    k.compression = COMPRESSION_ADOBE_DEFLATE;
    char *bytes = load(write_file(&k), &size);
    unsigned seed = 1;
    for (int round = 0; round < 2000; ++round) {
        char *copy = malloc(size);
        memcpy(copy, bytes, size);
        for (int n = 0; n < 4; ++n) {
            seed = seed * 1664525U + 1013904223U;
            size_t near_end = n < 2 && size > 300 ? size - 300 : 0; /* the directory */
            copy[near_end + (seed >> 8) % (size - near_end)] = (char)(seed >> 24);
        }
        psfm_image image;
        int width, height;
        if (decode(copy, size, &image) == PSFM_OK)
            psfm_image_free(&image);
        psfm_image_parse_size((const uint8_t *)copy, size, &width, &height);
        free(copy);
    }
    free(bytes);
}

/* Sets the value of a tag in the first directory of a little-endian file. */
static void set_tag(char *bytes, size_t size, uint16_t tag, uint32_t value) {
    uint32_t at;
    memcpy(&at, bytes + 4, 4);
    uint16_t num, found;
    memcpy(&num, bytes + at, 2);
    for (uint16_t k = 0; k < num; ++k) {
        char *entry = bytes + at + 2 + 12 * k;
        assert_true(entry + 12 <= bytes + size);
        memcpy(&found, entry, 2);
        if (found == tag) {
            uint16_t type = 4;
            memcpy(entry + 2, &type, 2);
            memcpy(entry + 8, &value, 4);
            return;
        }
    }
    fail_msg("no tag %d", tag);
}

static void assert_refused(const char *bytes, size_t size, const char *part) {
    psfm_image image;
    assert_int_equal(decode(bytes, size, &image), PSFM_ERR_FORMAT);
    if (strstr(psfm_context_message(ctx), part) == NULL)
        fail_msg("'%s' has no '%s'", psfm_context_message(ctx), part);
}

static void forged_sizes_and_raw_files_are_refused(void **state) {
    (void)state;
    size_t size = 0;
    kind k = usual;
    char *bytes = load(write_file(&k), &size);
    set_tag(bytes, size, TIFFTAG_IMAGEWIDTH, 60000);
    set_tag(bytes, size, TIFFTAG_IMAGELENGTH, 4000);
    assert_refused(bytes, size, "cannot hold 60000 x 4000 pixels");
    set_tag(bytes, size, TIFFTAG_IMAGELENGTH, 64000);
    assert_refused(bytes, size, "more than the limit");
    free(bytes);

    char path[256];
    snprintf(path, sizeof path, "%s/raw.tif", folder);
    TIFF *tiff = TIFFOpen(path, "w");
    TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, FILETYPE_REDUCEDIMAGE); /* as NEF and ARW begin */
    write_page(tiff, &k);
    TIFFClose(tiff);
    bytes = load(path, &size);
    assert_refused(bytes, size, "raw file; develop it");
    free(bytes);
    assert_refused("II*\0\20\0\0\0CR\2\0\0\0\0\0", 16, "raw file; develop it");
}

static void libtiff_kinds_that_no_photograph_has(void **state) {
    (void)state;
    size_t size = 0;
    kind k = usual;
    k.samples = 1;
    k.photometric = PHOTOMETRIC_MINISBLACK;
    char *bytes = load(write_file(&k), &size);
    set_tag(bytes, size, TIFFTAG_COMPRESSION, 31337);
    assert_refused(bytes, size, "a.tif: not a sound TIFF file");
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds_are_read),
        cmocka_unit_test(pixels_are_not_turned_but_mirrored_back),
        cmocka_unit_test(sizes_and_pages_need_no_decoding),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(damage_never_crashes),
        cmocka_unit_test(forged_sizes_and_raw_files_are_refused),
        cmocka_unit_test(libtiff_kinds_that_no_photograph_has),
    };
    return cmocka_run_group_tests_name("image/image_tiff", tests, make_scratch, remove_scratch);
}
#endif
