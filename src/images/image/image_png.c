/* PNG by libpng. All kinds are reduced to 8-bit gray or RGB: palettes and low depths are expanded,
 * 16-bit samples lose their low byte, alpha is dropped, gamma and colour profiles are not applied.
 *
 * Like libjpeg, libpng leaves through longjmp; what must survive lives in the caller's struct. A
 * header that claims more than deflate can expand (1032 to 1) is refused before allocation. */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "core/base/alloc.h"
#include "images/image/image_codec.h"

#define MAX_EXPANSION 1100

enum { SIZE_AT = 16 }; /* in the first chunk, IHDR */

static bool is_png(const uint8_t *bytes, size_t size) {
    return size >= 8 && memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0;
}

static uint32_t read_long(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static bool find_size(const uint8_t *bytes, size_t size, int *width, int *height) {
    return size >= SIZE_AT + 8 &&
           psfm_image_accept_size(read_long(bytes + SIZE_AT), read_long(bytes + SIZE_AT + 4), width,
                                  height);
}

/* The chunk eXIf, which has no header. */
static uint8_t *find_exif(const uint8_t *bytes, size_t size, size_t *block_size) {
    for (size_t at = 8; at + 12 <= size;) {
        size_t length = read_long(bytes + at);
        if (length > size - at - 12)
            return NULL;
        if (memcmp(bytes + at + 4, "eXIf", 4) == 0)
            return psfm_exif_block_make(bytes + at + 8, length, block_size);
        at += length + 12;
    }
    return NULL;
}

typedef struct {
    png_structp png;
    png_infop info;
    const uint8_t *bytes;
    size_t size, used;
    char message[256];
    uint8_t *pixels; /* the whole image, as interlaced files need it */
    psfm_image *image;
    psfm_status status;
} png_reader;

static _Noreturn void on_error(png_structp png, png_const_charp text) {
    char *message = png_get_error_ptr(png);
    snprintf(message, sizeof((png_reader *)0)->message, "%s", text);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text) {
    (void)png; /* what libpng can mend, it mends; the library does not print */
    (void)text;
}

static void on_read(png_structp png, png_bytep out, size_t count) {
    png_reader *r = png_get_io_ptr(png);
    if (count > r->size - r->used)
        png_error(png, "the file is truncated");
    memcpy(out, r->bytes + r->used, count);
    r->used += count;
}

static psfm_status check_header(psfm_context *ctx, const png_reader *r, const char *name) {
    png_uint_32 width = png_get_image_width(r->png, r->info);
    png_uint_32 height = png_get_image_height(r->png, r->info);
    psfm_status status = psfm_image_check_size(ctx, width, height, name);
    if (status != PSFM_OK)
        return status;
    if (png_get_rowbytes(r->png, r->info) * height / MAX_EXPANSION > r->size)
        return psfm_fail(
            ctx, PSFM_ERR_FORMAT,
            "%s: %zu bytes cannot hold %u x %u pixels; the file is truncated or forged", name,
            r->size, width, height);
    return PSFM_OK;
}

/* Asks libpng for 8-bit gray or RGB. Returns the samples per pixel. */
static int choose_output(png_reader *r) {
    png_byte color = png_get_color_type(r->png, r->info);
    png_set_expand(r->png); /* palette to RGB, 1, 2, 4 bits to 8, transparency to alpha */
    png_set_strip_16(r->png);
    png_set_strip_alpha(r->png);
    png_set_interlace_handling(r->png);
    png_read_update_info(r->png, r->info);
    bool gray = color == PNG_COLOR_TYPE_GRAY || color == PNG_COLOR_TYPE_GRAY_ALPHA;
    return gray ? 1 : 3;
}

static psfm_status read_pixels(psfm_context *ctx, png_reader *r, psfm_image_channels channels) {
    int samples = choose_output(r);
    size_t width = png_get_image_width(r->png, r->info);
    size_t height = png_get_image_height(r->png, r->info);
    size_t stride = png_get_rowbytes(r->png, r->info);
    int passes = png_get_interlace_type(r->png, r->info) == PNG_INTERLACE_ADAM7 ? 7 : 1;
    psfm_status status = psfm_image_init(ctx, (int)width, (int)height, channels, r->image);
    if (status == PSFM_OK)
        status = psfm_alloc(ctx, passes > 1 ? height : 1, stride, &r->pixels);
    for (int pass = 0; status == PSFM_OK && pass < passes; ++pass) {
        for (size_t y = 0; y < height; ++y) {
            uint8_t *row = r->pixels + (passes > 1 ? y * stride : 0);
            png_read_row(r->png, row, NULL);
            if (pass == passes - 1)
                psfm_image_store_row(r->image, (int)y, row, samples);
        }
    }
    if (status == PSFM_OK)
        png_read_end(r->png, NULL);
    return status;
}

/* Everything that can jump. Returns false if it did. */
static bool decode_png(psfm_context *ctx, png_reader *r, const char *name,
                       psfm_image_channels channels) {
    if (setjmp(png_jmpbuf(r->png)) != 0)
        return false;
    png_set_read_fn(r->png, r, on_read);
    png_set_user_limits(r->png, 0x7fffffff, 0x7fffffff); /* ours come with a better message */
    png_set_chunk_malloc_max(r->png, (png_alloc_size_t)1 << 24);
    png_read_info(r->png, r->info);
    r->status = check_header(ctx, r, name);
    if (r->status == PSFM_OK)
        r->status = read_pixels(ctx, r, channels);
    return true;
}

static psfm_status read_png(psfm_context *ctx, const uint8_t *bytes, size_t size, const char *name,
                            psfm_image_channels channels, int min_side, psfm_image *image) {
    (void)min_side;
    png_reader r = {.bytes = bytes, .size = size, .image = image};
    r.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, r.message, on_error, on_warning);
    r.info = r.png == NULL ? NULL : png_create_info_struct(r.png);
    bool finished = r.info != NULL && decode_png(ctx, &r, name, channels);
    psfm_status status = r.status;
    if (r.info == NULL)
        status = psfm_fail_memory(ctx);
    else if (!finished)
        status = psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: not a sound PNG file: %s", name, r.message);
    png_destroy_read_struct(&r.png, &r.info, NULL);
    free(r.pixels);
    return status;
}

typedef struct {
    png_structp png;
    png_infop info;
    char message[256];
} png_writer;

static bool encode_png(png_writer *w, const psfm_image *image, FILE *file) {
    if (setjmp(png_jmpbuf(w->png)) != 0)
        return false;
    size_t samples = image->rgb != NULL ? 3 : 1;
    const uint8_t *pixels = image->rgb != NULL ? image->rgb : image->gray;
    png_init_io(w->png, file);
    png_set_IHDR(w->png, w->info, (png_uint_32)image->width, (png_uint_32)image->height, 8,
                 samples == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(w->png, w->info);
    for (size_t y = 0; y < (size_t)image->height; ++y)
        png_write_row(w->png, pixels + samples * (size_t)image->width * y);
    png_write_end(w->png, NULL);
    return true;
}

static psfm_status write_png(psfm_context *ctx, const psfm_image *image, int quality,
                             const char *name, FILE *file) {
    (void)quality;
    png_writer w = {0};
    w.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, w.message, on_error, on_warning);
    w.info = w.png == NULL ? NULL : png_create_info_struct(w.png);
    psfm_status status = PSFM_OK;
    if (w.info == NULL)
        status = psfm_fail_memory(ctx);
    else if (!encode_png(&w, image, file))
        status = psfm_fail(ctx, PSFM_ERR_IO, "%s: cannot write: %s", name, w.message);
    png_destroy_write_struct(&w.png, &w.info);
    return status;
}

static void describe_library(char *text, size_t size) {
    snprintf(text, size, "%s", png_get_libpng_ver(NULL));
}

const psfm_image_codec psfm_png_codec = {
    .endings = (const char *const[]){"png", NULL},
    .is_mine = is_png,
    .decode = read_png,
    .find_size = find_size,
    .find_exif = find_exif,
    .encode = write_png,
    .library = "libpng",
    .describe_library = describe_library,
};
