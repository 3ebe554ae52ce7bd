/* HEIC files, written by libheif, read back; damage; EXIF data. */
#include "test_util.h"

#include "images/image/exif.h"
#include "images/image/image_codec.h"
#include "images/image/image_io.h"

static psfm_context *ctx;

static int make_context(void **state) {
    (void)state;
    ctx = psfm_context_create();
    return ctx == NULL;
}

static int free_context(void **state) {
    (void)state;
    psfm_context_destroy(&ctx);
    return 0;
}

static psfm_status decode(const uint8_t *bytes, size_t size, psfm_image *image) {
    return psfm_image_decode(ctx, bytes, size, "a.heic", PSFM_IMAGE_GRAY_AND_RGB, image);
}

#ifndef PSFM_HAVE_HEIF
static void files_are_refused_with_a_sentence(void **state) {
    (void)state;
    psfm_image image;
    const uint8_t head[] = "\0\0\0\30ftypheic\0\0\0\0mif1heic";
    assert_int_equal(decode(head, sizeof head - 1, &image), PSFM_ERR_FORMAT);
    assert_non_null(strstr(psfm_context_message(ctx), "made without libheif"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(files_are_refused_with_a_sentence)};
    return cmocka_run_group_tests_name("image/image_heif", tests, make_context, free_context);
}
#else
#include <libheif/heif.h>

enum { WIDTH = 96, HEIGHT = 64 };

/* Smooth, and different in every corner and channel. */
static uint8_t truth(int x, int y, int sample) {
    return (uint8_t)(30 + x + (sample == 1 ? y : 0) + (sample == 2 ? 2 * y : 0));
}

typedef struct {
    uint8_t bytes[1 << 16];
    size_t size;
} blob;

static struct heif_error append(struct heif_context *file, const void *data, size_t size,
                                void *user) {
    blob *out = user;
    (void)file;
    assert_true(size <= sizeof out->bytes);
    memcpy(out->bytes, data, size);
    out->size = size;
    return (struct heif_error){heif_error_Ok, heif_suberror_Unspecified, ""};
}

/* Orientation 6; 35 mm equivalent of 28 mm; 33.5 degrees south, 151.25 east. Little-endian. */
static const uint8_t exif_block[] = {
    'E', 'x', 'i', 'f', 0, 0, 'I', 'I', 42, 0, 8, 0, 0, 0,
    /* directory at 8: three entries, then none */
    3, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0x69, 0x87, 4, 0, 1, 0, 0, 0, 50, 0, 0, 0, 0x25,
    0x88, 4, 0, 1, 0, 0, 0, 68, 0, 0, 0, 0, 0, 0, 0,
    /* EXIF at 50 */
    1, 0, 0x05, 0xa4, 3, 0, 1, 0, 0, 0, 28, 0, 0, 0, 0, 0, 0, 0,
    /* GPS at 68, its values at 122 */
    4, 0, 1, 0, 2, 0, 2, 0, 0, 0, 'S', 0, 0, 0, 2, 0, 5, 0, 3, 0, 0, 0, 122, 0, 0, 0, 3, 0, 2, 0, 2,
    0, 0, 0, 'E', 0, 0, 0, 4, 0, 5, 0, 3, 0, 0, 0, 146, 0, 0, 0, 0, 0, 0, 0, 33, 0, 0, 0, 1, 0, 0,
    0, 30, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 151, 0, 0, 0, 1, 0, 0, 0, 15, 0, 0, 0, 1, 0,
    0, 0, 0, 0, 0, 0, 1, 0, 0, 0};

static void good(struct heif_error error) {
    if (error.code != heif_error_Ok)
        fail_msg("libheif: %s", error.message);
}

static struct heif_image *make_pixels(void) {
    struct heif_image *pixels;
    int stride;
    good(heif_image_create(WIDTH, HEIGHT, heif_colorspace_RGB, heif_chroma_interleaved_RGB,
                           &pixels));
    good(heif_image_add_plane(pixels, heif_channel_interleaved, WIDTH, HEIGHT, 24));
    uint8_t *rows = heif_image_get_plane(pixels, heif_channel_interleaved, &stride);
    for (int y = 0; y < HEIGHT; ++y)
        for (int x = 0; x < WIDTH; ++x)
            for (int s = 0; s < 3; ++s)
                rows[y * stride + 3 * x + s] = truth(x, y, s);
    return pixels;
}

/* Skips the test where libheif was built without an encoder. */
static void encode(blob *out) {
    struct heif_context *file = heif_context_alloc();
    struct heif_encoder *encoder = NULL;
    struct heif_image_handle *image = NULL;
    if (heif_context_get_encoder_for_format(file, heif_compression_HEVC, &encoder).code !=
        heif_error_Ok) {
        heif_context_free(file);
        print_message("libheif has no encoder of HEVC: nothing to read\n");
        skip();
    }
    struct heif_image *pixels = make_pixels();
    good(heif_encoder_set_lossy_quality(encoder, 95));
    good(heif_context_encode_image(file, pixels, encoder, NULL, &image));
    good(heif_context_add_exif_metadata(file, image, exif_block, sizeof exif_block));
    struct heif_writer writer = {.writer_api_version = 1, .write = append};
    good(heif_context_write(file, &writer, out));
    heif_image_handle_release(image);
    heif_image_release(pixels);
    heif_encoder_release(encoder);
    heif_context_free(file);
}

static void pixels_come_back(void **state) {
    (void)state;
    static blob file;
    psfm_image image;
    int width = 0, height = 0, worst = 0;
    encode(&file);
    assert_ptr_equal(psfm_image_codec_find(file.bytes, PSFM_IMAGE_SNIFF_BYTES), &psfm_heif_codec);
    assert_true(psfm_image_parse_size(file.bytes, file.size, &width, &height));
    assert_true(width == WIDTH && height == HEIGHT);
    assert_ok(ctx, decode(file.bytes, file.size, &image));
    assert_true(image.width == WIDTH && image.height == HEIGHT);
    for (int y = 0; y < HEIGHT; ++y)
        for (int x = 0; x < WIDTH; ++x)
            for (int s = 0; s < 3; ++s) {
                int off = abs(image.rgb[3 * (y * WIDTH + x) + s] - truth(x, y, s));
                worst = off > worst ? off : worst;
            }
    assert_true(worst <= 12); /* chroma is kept at half the size */
    psfm_image_free(&image);
}

static void exif_data_are_read(void **state) {
    (void)state;
    static blob file;
    psfm_exif exif;
    encode(&file);
    psfm_exif_parse(file.bytes, file.size, 4000, 3000, &exif);
    assert_true(exif.has_focal && exif.has_position);
    assert_true(fabs(exif.focal_px - 28.0 * 5000.0 / 43.266615305567875) < 1e-6);
    assert_true(fabs(exif.latitude_deg + 33.5) < 1e-9);
    assert_true(fabs(exif.longitude_deg - 151.25) < 1e-9);
    assert_int_equal(exif.orientation, 6);
}

static void truncated_and_damaged_files_are_refused(void **state) {
    (void)state;
    static blob file, copy;
    psfm_image image;
    psfm_exif exif;
    unsigned seed = 7;
    encode(&file);
    for (size_t cut = 12; cut < file.size; cut += 1 + file.size / 60) {
        assert_int_equal(decode(file.bytes, cut, &image), PSFM_ERR_FORMAT);
        assert_non_null(strstr(psfm_context_message(ctx), "a.heic: "));
    }
    for (int round = 0; round < 300; ++round) {
        copy = file;
        for (int n = 0; n < 3; ++n) {
            seed = seed * 1664525U + 1013904223U;
            copy.bytes[12 + (seed >> 8) % (file.size - 12)] = (uint8_t)(seed >> 24);
        }
        if (decode(copy.bytes, copy.size, &image) == PSFM_OK)
            psfm_image_free(&image);
        psfm_exif_parse(copy.bytes, copy.size, 4000, 3000, &exif);
    }
}

/* The encoder that makes these files, x265, leaks at its end. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
    return "leak:libx265";
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pixels_come_back),
        cmocka_unit_test(exif_data_are_read),
        cmocka_unit_test(truncated_and_damaged_files_are_refused),
    };
    return cmocka_run_group_tests_name("image/image_heif", tests, make_context, free_context);
}
#endif
