/* PNG by libpng. All kinds are reduced to 8-bit gray or RGB: palettes and low depths are expanded,
 * 16-bit samples lose their low byte, alpha is dropped, gamma and colour profiles are not applied.
 *
 * Like libjpeg, libpng leaves through longjmp; what must survive lives in the caller's struct. A
 * header that claims more than deflate can expand (1032 to 1) is refused before allocation. */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "base/alloc.h"
#include "image/image_codec.h"

#define MAX_EXPANSION 1100

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
static bool decode(psfm_context *ctx, png_reader *r, const char *name,
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

psfm_status psfm_png_decode(psfm_context *ctx, const uint8_t *bytes, size_t size, const char *name,
                            psfm_image_channels channels, psfm_image *image) {
    png_reader r = {.bytes = bytes, .size = size, .image = image};
    r.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, r.message, on_error, on_warning);
    r.info = r.png == NULL ? NULL : png_create_info_struct(r.png);
    bool finished = r.info != NULL && decode(ctx, &r, name, channels);
    psfm_status status = r.status;
    if (r.info == NULL)
        status = psfm_fail(ctx, PSFM_ERR_MEMORY, "%s: out of memory", name);
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

static bool encode(png_writer *w, const psfm_image *image, FILE *file) {
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

psfm_status psfm_png_encode(psfm_context *ctx, const psfm_image *image, const char *name,
                            FILE *file) {
    png_writer w = {0};
    w.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, w.message, on_error, on_warning);
    w.info = w.png == NULL ? NULL : png_create_info_struct(w.png);
    psfm_status status = PSFM_OK;
    if (w.info == NULL)
        status = psfm_fail(ctx, PSFM_ERR_MEMORY, "%s: out of memory", name);
    else if (!encode(&w, image, file))
        status = psfm_fail(ctx, PSFM_ERR_IO, "%s: cannot write: %s", name, w.message);
    png_destroy_write_struct(&w.png, &w.info);
    return status;
}
