#include "test_util.h"

#include <unistd.h>

#include <jpeglib.h>
#include <png.h>

#include "core/base/alloc.h"
#include "core/base/cpu.h"
#include "core/base/path.h"
#include "core/base/rng.h"
#include "images/image/image_io.h"

static char folder[] = "/tmp/psfm_image_XXXXXX";
static psfm_context *ctx;

static int make_scratch(void **state) {
    (void)state;
    ctx = psfm_context_create();
    return ctx == NULL || mkdtemp(folder) == NULL;
}

static int remove_scratch(void **state) {
    (void)state;
    psfm_context_destroy(&ctx);
    return psfm_remove_all(NULL, folder) != PSFM_OK;
}

static const char *inside(const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put_file(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* A smooth picture with some colour, so that JPEG keeps it well. */
static psfm_image picture(int width, int height, psfm_image_channels channels) {
    psfm_image image;
    assert_ok(ctx, psfm_image_init(ctx, width, height, channels, &image));
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            uint8_t r = (uint8_t)(127.5 + 100 * sin(0.05 * x));
            uint8_t g = (uint8_t)(127.5 + 100 * cos(0.07 * y));
            uint8_t b = (uint8_t)(127.5 + 60 * sin(0.03 * (x + y)));
            size_t at = (size_t)y * (size_t)width + (size_t)x;
            image.gray[at] = psfm_luma(r, g, b);
            if (image.rgb != NULL)
                image.rgb[3 * at] = r, image.rgb[3 * at + 1] = g, image.rgb[3 * at + 2] = b;
        }
    }
    return image;
}

static int largest_difference(const uint8_t *a, const uint8_t *b, size_t n) {
    int largest = 0;
    for (size_t k = 0; k < n; ++k)
        if (abs(a[k] - b[k]) > largest)
            largest = abs(a[k] - b[k]);
    return largest;
}

/* All versions of this machine, at widths that vectors do not divide. */
static void rows_have_the_luma_of_their_pixels(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    for (size_t width = 1; width < 70; ++width) {
        uint8_t rgb[210], gray[71];
        for (size_t k = 0; k < 3 * width; ++k)
            rgb[k] = (uint8_t)psfm_rng_below(&rng, 256);
        for (int level = PSFM_CPU_PLAIN; level <= PSFM_CPU_AVX512; ++level) {
            psfm_cpu_limit((psfm_cpu_level)level);
            gray[width] = 77;
            psfm_luma_row(rgb, width, gray);
            assert_int_equal(gray[width], 77);
            for (size_t x = 0; x < width; ++x)
                assert_int_equal(gray[x], psfm_luma(rgb[3 * x], rgb[3 * x + 1], rgb[3 * x + 2]));
        }
    }
    psfm_cpu_limit(PSFM_CPU_AVX512);
}

static void luma_is_rec709(void **state) {
    (void)state;
    assert_int_equal(psfm_luma(255, 0, 0), 54);
    assert_int_equal(psfm_luma(0, 255, 0), 182);
    assert_int_equal(psfm_luma(0, 0, 255), 18);
    for (int v = 0; v < 256; ++v)
        assert_int_equal(psfm_luma((uint8_t)v, (uint8_t)v, (uint8_t)v), v);
}

static void png_round_trip_is_exact(void **state) {
    (void)state;
    for (int colour = 0; colour < 2; ++colour) {
        psfm_image image = picture(61, 37, colour ? PSFM_IMAGE_GRAY_AND_RGB : PSFM_IMAGE_GRAY);
        psfm_image back;
        assert_ok(ctx, psfm_image_write(ctx, &image, 0, inside("a.png")));
        assert_ok(ctx, psfm_image_read(ctx, inside("a.png"), PSFM_IMAGE_GRAY_AND_RGB, &back));
        assert_int_equal(back.width, 61);
        assert_int_equal(back.height, 37);
        assert_memory_equal(back.gray, image.gray, 61 * 37);
        if (colour)
            assert_memory_equal(back.rgb, image.rgb, 3 * 61 * 37);
        else
            assert_int_equal(back.rgb[3 * 100 + 2], image.gray[100]);
        psfm_image_free(&back);
        assert_ok(ctx, psfm_image_read(ctx, inside("a.png"), PSFM_IMAGE_GRAY, &back));
        assert_null(back.rgb);
        psfm_image_free(&back);
        psfm_image_free(&image);
    }
}

static void jpeg_round_trip_is_close(void **state) {
    (void)state;
    for (int colour = 0; colour < 2; ++colour) {
        psfm_image image = picture(161, 97, colour ? PSFM_IMAGE_GRAY_AND_RGB : PSFM_IMAGE_GRAY);
        psfm_image back;
        assert_ok(ctx, psfm_image_write(ctx, &image, 95, inside("a.JPEG")));
        assert_ok(ctx, psfm_image_read(ctx, inside("a.JPEG"), PSFM_IMAGE_GRAY_AND_RGB, &back));
        assert_int_equal(back.width, 161);
        assert_int_equal(back.height, 97);
        assert_true(largest_difference(back.gray, image.gray, 161 * 97) <= 5);
        if (colour)
            assert_true(largest_difference(back.rgb, image.rgb, 3 * 161 * 97) <= 12);
        psfm_image_free(&back);
        psfm_image_free(&image);
    }
}

/* ---- files of all kinds, written with the codec libraries ---- */

typedef struct {
    uint8_t bytes[1 << 16];
    size_t size;
} blob;

static void append_to_blob(png_structp png, png_bytep data, size_t size) {
    blob *b = png_get_io_ptr(png);
    assert_true(b->size + size <= sizeof b->bytes);
    memcpy(b->bytes + b->size, data, size);
    b->size += size;
}

#define PNG_SIDE 19

/* Random samples in the file's own layout: PNG_SIDE rows of rowbytes each. */
static void write_png_kind(int depth, int type, int interlace, const png_color *palette,
                           uint8_t *samples, size_t *rowbytes, blob *out) {
    out->size = 0;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_set_write_fn(png, out, append_to_blob, NULL);
    png_set_IHDR(png, info, PNG_SIDE, PNG_SIDE, depth, type, interlace, 0, 0);
    if (type == PNG_COLOR_TYPE_PALETTE)
        png_set_PLTE(png, info, palette, 1 << depth);
    png_write_info(png, info);
    *rowbytes = png_get_rowbytes(png, info);
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, (uint64_t)depth, (uint64_t)type);
    for (size_t k = 0; k < *rowbytes * PNG_SIDE; ++k)
        samples[k] = (uint8_t)psfm_rng_next(&rng);
    png_bytep rows[PNG_SIDE];
    for (size_t y = 0; y < PNG_SIDE; ++y)
        rows[y] = samples + y * *rowbytes;
    png_write_image(png, rows);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
}

/* Sample c of pixel x in one row of the file, as 8 bits (palette indices unscaled). */
static int sample_at(const uint8_t *row, int depth, int type, size_t x, size_t c, size_t channels) {
    size_t k = x * channels + c;
    if (depth == 16)
        return row[2 * k];
    if (depth == 8)
        return row[k];
    size_t per_byte = 8 / (size_t)depth;
    size_t shift = 8 - (size_t)depth * (k % per_byte + 1);
    int value = (row[k / per_byte] >> shift) & ((1 << depth) - 1);
    return type == PNG_COLOR_TYPE_PALETTE ? value : value * 255 / ((1 << depth) - 1);
}

static void check_png_kind(int depth, int type, int interlace) {
    static blob file;
    uint8_t samples[PNG_SIDE * PNG_SIDE * 8];
    png_color palette[256];
    for (int k = 0; k < 256; ++k)
        palette[k] = (png_color){(png_byte)(7 * k), (png_byte)(k ^ 85), (png_byte)(255 - k)};
    size_t rowbytes, channels = type == PNG_COLOR_TYPE_RGB          ? 3
                                : type == PNG_COLOR_TYPE_RGB_ALPHA  ? 4
                                : type == PNG_COLOR_TYPE_GRAY_ALPHA ? 2
                                                                    : 1;
    write_png_kind(depth, type, interlace, palette, samples, &rowbytes, &file);
    psfm_image image;
    assert_ok(ctx, psfm_image_decode(ctx, file.bytes, file.size, "kind.png",
                                     PSFM_IMAGE_GRAY_AND_RGB, &image));
    for (size_t k = 0; k < PNG_SIDE * PNG_SIDE; ++k) {
        const uint8_t *row = samples + k / PNG_SIDE * rowbytes;
        int v[3];
        for (size_t c = 0; c < 3; ++c)
            v[c] = sample_at(row, depth, type, k % PNG_SIDE, channels < 3 ? 0 : c, channels);
        if (type == PNG_COLOR_TYPE_PALETTE) {
            png_color colour = palette[v[0]];
            v[0] = colour.red, v[1] = colour.green, v[2] = colour.blue;
        }
        for (size_t c = 0; c < 3; ++c)
            assert_int_equal(image.rgb[3 * k + c], v[c]);
        assert_int_equal(image.gray[k], psfm_luma((uint8_t)v[0], (uint8_t)v[1], (uint8_t)v[2]));
    }
    psfm_image_free(&image);
}

static void all_png_kinds_are_read(void **state) {
    (void)state;
    static const int kinds[][2] = {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}, {8, 2}, {16, 2}, {1, 3},
                                   {2, 3}, {4, 3}, {8, 3}, {8, 4}, {16, 4}, {8, 6}, {16, 6}};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; ++k)
        for (int interlace = 0; interlace < 2; ++interlace)
            check_png_kind(kinds[k][0], kinds[k][1], interlace);
}

typedef struct {
    J_COLOR_SPACE in, file;
    int components;
    bool progressive, adobe;
} jpeg_kind;

/* A picture of one colour, given as the components of `in`. */
static void write_jpeg_kind(const jpeg_kind *kind, const uint8_t colour[4], int side, blob *out) {
    struct jpeg_compress_struct codec;
    struct jpeg_error_mgr errors;
    unsigned char *memory = NULL;
    unsigned long size = 0;
    uint8_t row[64 * 4];
    for (int x = 0; x < side; ++x)
        memcpy(row + x * kind->components, colour, (size_t)kind->components);
    codec.err = jpeg_std_error(&errors);
    jpeg_create_compress(&codec);
    jpeg_mem_dest(&codec, &memory, &size);
    codec.image_width = codec.image_height = (JDIMENSION)side;
    codec.input_components = kind->components;
    codec.in_color_space = kind->in;
    jpeg_set_defaults(&codec);
    jpeg_set_colorspace(&codec, kind->file);
    codec.write_Adobe_marker = kind->adobe;
    jpeg_set_quality(&codec, 98, TRUE);
    if (kind->progressive)
        jpeg_simple_progression(&codec);
    jpeg_start_compress(&codec, TRUE);
    for (int y = 0; y < side; ++y) {
        JSAMPROW rows = row;
        jpeg_write_scanlines(&codec, &rows, 1);
    }
    jpeg_finish_compress(&codec);
    jpeg_destroy_compress(&codec);
    assert_true(size <= sizeof out->bytes);
    memcpy(out->bytes, memory, size);
    out->size = size;
    free(memory);
}

static void check_jpeg_kind(const jpeg_kind *kind, const uint8_t colour[4], int r, int g, int b) {
    static blob file;
    psfm_image image;
    write_jpeg_kind(kind, colour, 33, &file);
    assert_ok(ctx, psfm_image_decode(ctx, file.bytes, file.size, "kind.jpg",
                                     PSFM_IMAGE_GRAY_AND_RGB, &image));
    assert_int_equal(image.width, 33);
    for (size_t k = 0; k < 33 * 33; ++k) {
        const uint8_t *p = image.rgb + 3 * k;
        if (abs(p[0] - r) > 3 || abs(p[1] - g) > 3 || abs(p[2] - b) > 3)
            fail_msg("pixel %zu is %d %d %d, not %d %d %d", k, p[0], p[1], p[2], r, g, b);
        assert_int_equal(image.gray[k], psfm_luma(p[0], p[1], p[2]));
    }
    psfm_image_free(&image);
}

static void all_jpeg_kinds_are_read(void **state) {
    (void)state;
    const uint8_t rgb[4] = {200, 100, 50, 0}, gray[4] = {77, 0, 0, 0};
    for (int progressive = 0; progressive < 2; ++progressive) {
        jpeg_kind kind = {JCS_GRAYSCALE, JCS_GRAYSCALE, 1, progressive, false};
        check_jpeg_kind(&kind, gray, 77, 77, 77);
        kind = (jpeg_kind){JCS_RGB, JCS_YCbCr, 3, progressive, false};
        check_jpeg_kind(&kind, rgb, 200, 100, 50);
        kind = (jpeg_kind){JCS_RGB, JCS_RGB, 3, progressive, true};
        check_jpeg_kind(&kind, rgb, 200, 100, 50);
    }
    /* inks 0.2, 0.4, 0.6 and black 0.1: R = 0.8 x 0.9 and so on; Adobe stores them inverted */
    const uint8_t inks[4] = {51, 102, 153, 26}, inverted[4] = {204, 153, 102, 229};
    jpeg_kind kind = {JCS_CMYK, JCS_CMYK, 4, false, false};
    check_jpeg_kind(&kind, inks, 183, 137, 92);
    kind.adobe = true;
    check_jpeg_kind(&kind, inverted, 183, 137, 92);
    kind.file = JCS_YCCK;
    check_jpeg_kind(&kind, inverted, 183, 137, 92);
}

static void brightness_is_what_a_jpeg_holds(void **state) {
    (void)state;
    static blob file;
    const uint8_t rgb[4] = {200, 100, 50, 0};
    const jpeg_kind kinds[] = {{JCS_RGB, JCS_YCbCr, 3, false, false},
                               {JCS_RGB, JCS_RGB, 3, false, true}};
    const int expected[] = {124, 118}; /* 0.299, 0.587, 0.114 of the colours; psfm_luma of them */
    for (int k = 0; k < 2; ++k) {
        psfm_image image;
        write_jpeg_kind(&kinds[k], rgb, 33, &file);
        assert_ok(ctx, psfm_image_decode(ctx, file.bytes, file.size, "kind.jpg",
                                         PSFM_IMAGE_BRIGHTNESS, &image));
        assert_null(image.rgb);
        for (size_t p = 0; p < 33 * 33; ++p)
            assert_true(abs(image.gray[p] - expected[k]) <= 1);
        psfm_image_free(&image);
    }
}

/* ---- files that are not what they should be ---- */

static void assert_refused(const uint8_t *bytes, size_t size, const char *part) {
    psfm_image image;
    psfm_status status =
        psfm_image_decode(ctx, bytes, size, "bad.jpg", PSFM_IMAGE_GRAY_AND_RGB, &image);
    assert_int_equal(status, PSFM_ERR_FORMAT);
    assert_null(image.gray);
    assert_null(image.rgb);
    assert_non_null(strstr(psfm_context_message(ctx), "bad.jpg: "));
    if (strstr(psfm_context_message(ctx), part) == NULL)
        fail_msg("'%s' lacks '%s'", psfm_context_message(ctx), part);
}

static void every_truncation_is_refused(void **state) {
    (void)state;
    static blob file;
    const uint8_t colour[4] = {200, 100, 50, 0};
    for (int progressive = 0; progressive < 2; ++progressive) {
        jpeg_kind kind = {JCS_RGB, JCS_YCbCr, 3, progressive, false};
        write_jpeg_kind(&kind, colour, 64, &file);
        /* the pixels end four bytes or so before the file does */
        for (size_t size = 0; size + 6 < file.size; ++size)
            assert_refused(file.bytes, size, "");
    }
    uint8_t samples[PNG_SIDE * PNG_SIDE * 8];
    size_t rowbytes;
    for (int interlace = 0; interlace < 2; ++interlace) {
        write_png_kind(8, PNG_COLOR_TYPE_RGB, interlace, NULL, samples, &rowbytes, &file);
        for (size_t size = 0; size < file.size; ++size)
            assert_refused(file.bytes, size, "");
    }
}

static void damage_never_crashes(void **state) {
    (void)state;
    static blob files[3], broken;
    const uint8_t colour[4] = {200, 100, 50, 0};
    jpeg_kind kind = {JCS_RGB, JCS_YCbCr, 3, false, false};
    write_jpeg_kind(&kind, colour, 33, &files[0]);
    kind.progressive = true;
    write_jpeg_kind(&kind, colour, 33, &files[1]);
    uint8_t samples[PNG_SIDE * PNG_SIDE * 8];
    size_t rowbytes, refused = 0, tried = 0;
    write_png_kind(8, PNG_COLOR_TYPE_RGB, 1, NULL, samples, &rowbytes, &files[2]);
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 0, 0);
    for (int f = 0; f < 3; ++f) {
        for (size_t k = 0; k < files[f].size; ++k, ++tried) {
            broken = files[f];
            broken.bytes[k] ^= (uint8_t)(1 + psfm_rng_below(&rng, 255));
            psfm_image image;
            refused += psfm_image_decode(ctx, broken.bytes, broken.size, "x", PSFM_IMAGE_GRAY,
                                         &image) != PSFM_OK;
            psfm_image_free(&image);
        }
    }
    assert_true(refused > tried / 3);
}

static void dimension_bombs_are_refused(void **state) {
    (void)state;
    static blob file;
    const uint8_t colour[4] = {200, 100, 50, 0};
    jpeg_kind kind = {JCS_RGB, JCS_YCbCr, 3, false, false};
    write_jpeg_kind(&kind, colour, 33, &file);
    size_t sof = 0;
    while (!(file.bytes[sof] == 0xff && file.bytes[sof + 1] == 0xc0))
        ++sof;
    uint8_t *size = file.bytes + sof + 5; /* height, width */
    memcpy(size, "\xfe\x4c\xfe\x4c", 4);
    assert_refused(file.bytes, file.size, "65100 x 65100 pixels, more than the limit");
    memcpy(size, "\x40\x00\x3f\xff", 4);
    assert_refused(file.bytes, file.size, "cannot hold 16383 x 16384 pixels");
    memcpy(size, "\x00\x21\x00\x00", 4);
    assert_refused(file.bytes, file.size, "");

    /* IHDR with a right checksum: 0x3fff x 0x4000 and 0x7fffffff x 1, RGB */
    static const uint8_t plausible[] = {0x89, 'P', 'N',  'G', 13,  10,  26, 10, 0,    0,
                                        0,    13,  'I',  'H', 'D', 'R', 0,  0,  0x3f, 0xff,
                                        0,    0,   0x40, 0,   8,   2,   0,  0,  0};
    for (int huge = 0; huge < 2; ++huge) {
        blob *b = &file;
        memcpy(b->bytes, plausible, sizeof plausible);
        if (huge)
            memcpy(b->bytes + 16, "\x7f\xff\xff\xff\x00\x00\x00\x01", 8);
        uint32_t crc = 0xffffffffU;
        for (size_t k = 12; k < sizeof plausible; ++k) {
            crc ^= b->bytes[k];
            for (int bit = 0; bit < 8; ++bit)
                crc = (crc >> 1) ^ (0xedb88320U & (0U - (crc & 1U)));
        }
        crc = ~crc;
        size_t n = sizeof plausible;
        for (int k = 3; k >= 0; --k)
            b->bytes[n++] = (uint8_t)(crc >> (8 * k));
        memcpy(b->bytes + n, "\0\0\0\0IDAT\x35\xaf\x06\x1e", 12);
        assert_refused(b->bytes, n + 12,
                       huge ? "more than the limit" : "cannot hold 16383 x 16384 pixels");
    }
}

static void other_files_are_refused(void **state) {
    (void)state;
    psfm_image image;
    put_file(inside("empty.jpg"), "", 0);
    assert_int_equal(psfm_image_read(ctx, inside("empty.jpg"), PSFM_IMAGE_GRAY, &image),
                     PSFM_ERR_FORMAT);
    assert_non_null(strstr(psfm_context_message(ctx), "empty.jpg: the file is empty"));
    put_file(inside("text.png"), "hello, world", 12);
    assert_int_equal(psfm_image_read(ctx, inside("text.png"), PSFM_IMAGE_GRAY, &image),
                     PSFM_ERR_FORMAT);
    assert_non_null(strstr(psfm_context_message(ctx), "not a JPEG, PNG, TIFF"));
    assert_int_equal(psfm_image_read(ctx, inside("missing.jpg"), PSFM_IMAGE_GRAY, &image),
                     PSFM_ERR_IO);
    assert_non_null(strstr(psfm_context_message(ctx), "missing.jpg: cannot open"));
    assert_int_equal(psfm_image_read(ctx, folder, PSFM_IMAGE_GRAY, &image), PSFM_ERR_IO);
}

static void the_name_does_not_decide_the_format(void **state) {
    (void)state;
    psfm_image image = picture(20, 10, PSFM_IMAGE_GRAY), back;
    assert_ok(ctx, psfm_image_write(ctx, &image, 0, inside("b.png")));
    char from[256];
    snprintf(from, sizeof from, "%s", inside("b.png"));
    assert_int_equal(rename(from, inside("b.jpg")), 0);
    assert_ok(ctx, psfm_image_read(ctx, inside("b.jpg"), PSFM_IMAGE_GRAY, &back));
    assert_memory_equal(back.gray, image.gray, 200);
    psfm_image_free(&back);
    psfm_image_free(&image);
}

static void writing_fails_whole(void **state) {
    (void)state;
    psfm_image image = picture(20, 10, PSFM_IMAGE_GRAY), none = {0};
    assert_int_equal(psfm_image_write(ctx, &image, 90, inside("c.bmp")), PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_image_write(ctx, &image, 0, inside("c.jpg")), PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_image_write(ctx, &none, 90, inside("c.jpg")), PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_image_write(ctx, &image, 90, inside("no/such/c.jpg")), PSFM_ERR_IO);
    assert_false(psfm_path_is_file(inside("c.jpg")));
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(symlink("/dev/full", inside("c.jpg")), 0); /* written through */
        assert_int_equal(psfm_image_write(ctx, &image, 90, inside("c.jpg")), PSFM_ERR_IO);
        assert_int_equal(symlink("/dev/full", inside("c.png")), 0);
        assert_int_equal(psfm_image_write(ctx, &image, 90, inside("c.png")), PSFM_ERR_IO);
    }
    psfm_image_free(&image);
}

static void every_failed_allocation_is_reported(void **state) {
    (void)state;
    static blob file;
    const uint8_t colour[4] = {200, 100, 50, 0};
    jpeg_kind kind = {JCS_RGB, JCS_YCbCr, 3, false, false};
    uint8_t samples[PNG_SIDE * PNG_SIDE * 8];
    size_t rowbytes;
    for (int png = 0; png < 2; ++png) {
        if (png)
            write_png_kind(8, PNG_COLOR_TYPE_RGB, 1, NULL, samples, &rowbytes, &file);
        else
            write_jpeg_kind(&kind, colour, 33, &file);
        for (size_t n = 1;; ++n) {
            psfm_image image;
            psfm_alloc_fail_after(n);
            psfm_status status =
                psfm_image_decode(ctx, file.bytes, file.size, "x", PSFM_IMAGE_GRAY_AND_RGB, &image);
            psfm_alloc_fail_after(0);
            psfm_image_free(&image);
            if (status == PSFM_OK) {
                assert_int_equal(n, 4); /* gray, rgb, rows */
                break;
            }
            assert_int_equal(status, PSFM_ERR_MEMORY);
        }
    }
}

/* The header tells what the decoder finds, for both formats. */
static void headers_tell_the_size(void **state) {
    (void)state;
    static const char *const endings[] = {".jpg", ".png"};
    for (int k = 0; k < 2; ++k) {
        char path[64];
        psfm_image image;
        int width = 0, height = 0;
        snprintf(path, sizeof path, "/tmp/psfm_size_%ld%s", (long)getpid(), endings[k]);
        assert_ok(ctx, psfm_image_init(ctx, 37, 21, PSFM_IMAGE_GRAY, &image));
        assert_ok(ctx, psfm_image_write(ctx, &image, 90, path));
        assert_true(psfm_image_file_size(path, &width, &height));
        assert_int_equal(width, 37);
        assert_int_equal(height, 21);
        psfm_image_free(&image);
        unlink(path);
        assert_false(psfm_image_file_size(path, &width, &height));
    }
}

static void bytes_that_tell_nothing(void **state) {
    (void)state;
    int width, height;
    const uint8_t cut[] = {0xFF, 0xD8, 0xFF, 0xE0, 0, 16, 'J', 'F', 'I', 'F', 0};
    const uint8_t endless[] = {0xFF, 0xD8, 0xFF, 0xE0, 0, 0, 0xFF, 0xE0, 0, 0, 0xFF, 0xE0, 0, 0};
    assert_false(psfm_image_parse_size(cut, sizeof cut, &width, &height));
    assert_false(psfm_image_parse_size(endless, sizeof endless, &width, &height));
    assert_false(psfm_image_parse_size((const uint8_t *)"GIF89a", 6, &width, &height));
}

static void names_tell_the_format(void **state) {
    (void)state;
    assert_true(psfm_image_has_ending("a/b.c.JPG", false) && psfm_image_has_ending("x.jpeg", true));
    assert_true(psfm_image_has_ending("x.heic", false) && !psfm_image_has_ending("x.heic", true));
    assert_false(psfm_image_has_ending("jpg", false) || psfm_image_has_ending("x.jpg/y", false));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(luma_is_rec709),
        cmocka_unit_test(rows_have_the_luma_of_their_pixels),
        cmocka_unit_test(png_round_trip_is_exact),
        cmocka_unit_test(jpeg_round_trip_is_close),
        cmocka_unit_test(all_png_kinds_are_read),
        cmocka_unit_test(all_jpeg_kinds_are_read),
        cmocka_unit_test(brightness_is_what_a_jpeg_holds),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(damage_never_crashes),
        cmocka_unit_test(dimension_bombs_are_refused),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(the_name_does_not_decide_the_format),
        cmocka_unit_test(headers_tell_the_size),
        cmocka_unit_test(bytes_that_tell_nothing),
        cmocka_unit_test(names_tell_the_format),
        cmocka_unit_test(writing_fails_whole),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests_name("image/image_io", tests, make_scratch, remove_scratch);
}
