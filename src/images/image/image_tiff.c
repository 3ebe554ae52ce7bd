/* TIFF by libtiff, which renders every kind of image (strips and tiles, gray, colours, palettes, 1
 * to 16 bits, all compressions it was built with) to 8 bits a sample, band by band. Pixels stay as
 * they are stored: the orientation is not applied. The first page is the photograph.
 *
 * Raw files of cameras are TIFF files, too, whose first page is a preview: they are refused, so
 * that nobody works on previews without knowing. Headers that claim far more pixels than their file
 * can hold are refused before memory is asked for. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "images/image/image_codec.h"
#include "images/image/tiff_pages.h"

#ifdef PSFM_HAVE_TIFF
#include <tiffio.h>

#define MAX_EXPANSION 1100 /* of deflate; the others do not come near */

typedef struct {
    const uint8_t *bytes;
    size_t size, at;
    char message[256];
} tiff_reader;

static tmsize_t on_read(thandle_t handle, void *out, tmsize_t count) {
    tiff_reader *r = handle;
    size_t left = r->at < r->size ? r->size - r->at : 0;
    size_t num = (size_t)count < left ? (size_t)count : left;
    memcpy(out, r->bytes + r->at, num);
    r->at += num;
    return (tmsize_t)num;
}

static tmsize_t on_write(thandle_t handle, void *bytes, tmsize_t count) {
    (void)handle;
    (void)bytes;
    (void)count;
    return 0;
}

static toff_t on_seek(thandle_t handle, toff_t offset, int whence) {
    tiff_reader *r = handle;
    toff_t base = whence == SEEK_CUR ? r->at : whence == SEEK_END ? r->size : 0;
    r->at = (size_t)(base + offset);
    return r->at;
}

static int on_close(thandle_t handle) {
    (void)handle;
    return 0;
}

static toff_t on_size(thandle_t handle) {
    return ((tiff_reader *)handle)->size;
}

#if TIFFLIB_VERSION >= 20221213 /* 4.5: messages of one file */
static int on_error(TIFF *tiff, void *user, const char *module, const char *format, va_list args) {
    tiff_reader *r = user;
    (void)tiff;
    (void)module;
    if (r->message[0] == '\0') /* the first one is the cause */
        vsnprintf(r->message, sizeof r->message, format, args);
    return 1;
}

static int on_warning(TIFF *tiff, void *user, const char *module, const char *format,
                      va_list args) {
    (void)tiff; /* what libtiff can mend, it mends; the library does not print */
    (void)user;
    (void)module;
    (void)format;
    (void)args;
    return 1;
}

static TIFF *open_tiff(tiff_reader *r) {
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (options == NULL)
        return NULL;
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, r);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, r);
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)8 * (tmsize_t)PSFM_IMAGE_MAX_PIXELS);
    TIFF *tiff = TIFFClientOpenExt("", "rm", r, on_read, on_write, on_seek, on_close, on_size, NULL,
                                   NULL, options);
    TIFFOpenOptionsFree(options);
    return tiff;
}
#else
static TIFF *open_tiff(tiff_reader *r) {
    TIFFSetErrorHandler(NULL); /* of the whole process: there are no others */
    TIFFSetWarningHandler(NULL);
    return TIFFClientOpen("", "rm", r, on_read, on_write, on_seek, on_close, on_size, NULL, NULL);
}
#endif

static psfm_status refuse_file(psfm_context *ctx, const tiff_reader *r, const char *name,
                               const char *fallback) {
    return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: not a sound TIFF file: %s", name,
                     r->message[0] != '\0' ? r->message : fallback);
}

static psfm_status check_header(psfm_context *ctx, const TIFFRGBAImage *from, size_t file_size,
                                const char *name) {
    psfm_status status = psfm_image_check_size(ctx, from->width, from->height, name);
    size_t bits = (size_t)from->bitspersample * from->samplesperpixel;
    if (status == PSFM_OK &&
        (size_t)from->width * from->height / 8 * bits / MAX_EXPANSION > file_size)
        status =
            psfm_fail(ctx, PSFM_ERR_FORMAT,
                      "%s: %zu bytes cannot hold %u x %u pixels; the file is truncated or forged",
                      name, file_size, (unsigned)from->width, (unsigned)from->height);
    return status;
}

/* Rows that libtiff decodes together. */
static uint32_t band_height(TIFF *tiff, uint32_t height) {
    uint32_t rows = 0;
    if (TIFFIsTiled(tiff))
        TIFFGetField(tiff, TIFFTAG_TILELENGTH, &rows);
    else
        TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &rows);
    return rows == 0 || rows > height ? height : rows;
}

static void store_band(psfm_image *image, uint32_t top, uint32_t rows, const uint32_t *raster,
                       uint8_t *row) {
    size_t width = (size_t)image->width;
    for (uint32_t y = 0; y < rows; ++y) {
        for (size_t x = 0; x < width; ++x) {
            uint32_t pixel = raster[y * width + x];
            row[3 * x] = (uint8_t)TIFFGetR(pixel);
            row[3 * x + 1] = (uint8_t)TIFFGetG(pixel);
            row[3 * x + 2] = (uint8_t)TIFFGetB(pixel);
        }
        psfm_image_store_row(image, (int)(top + y), row, 3);
    }
}

static psfm_status read_bands(psfm_context *ctx, tiff_reader *r, TIFFRGBAImage *from,
                              const char *name, psfm_image *image) {
    uint32_t band = band_height(from->tif, from->height), *raster = NULL;
    uint8_t *row = NULL;
    psfm_status status = psfm_alloc(ctx, (size_t)from->width * band, sizeof *raster, &raster);
    if (status == PSFM_OK)
        status = psfm_alloc(ctx, from->width, 3, &row);
    from->orientation = from->req_orientation = ORIENTATION_TOPLEFT;
    for (uint32_t top = 0; status == PSFM_OK && top < from->height; top += band) {
        uint32_t rows = from->height - top < band ? from->height - top : band;
        from->row_offset = (int)top;
        if (TIFFRGBAImageGet(from, raster, from->width, rows) == 0)
            status = refuse_file(ctx, r, name, "its pixels cannot be read");
        else
            store_band(image, top, rows, raster, row);
    }
    free(row);
    free(raster);
    return status;
}

/* Gray values of 16 bits. libtiff's own routine skips half of what a tile has beyond the image. */
static void put_gray16(TIFFRGBAImage *from, uint32_t *out, uint32_t x, uint32_t y, uint32_t width,
                       uint32_t height, int32_t from_skew, int32_t to_skew, unsigned char *bytes) {
    size_t samples = from->samplesperpixel;
    (void)x;
    (void)y;
    for (uint32_t row = 0; row < height; ++row) {
        for (uint32_t k = 0; k < width; ++k, bytes += 2 * samples) {
            uint16_t value;
            memcpy(&value, bytes, sizeof value);
            *out++ = from->BWmap[value >> 8][0];
        }
        out += to_skew;
        bytes += 2 * (ptrdiff_t)samples * from_skew;
    }
}

static psfm_status read_page(psfm_context *ctx, tiff_reader *r, TIFF *tiff, const char *name,
                             psfm_image_channels channels, psfm_image *image) {
    TIFFRGBAImage from;
    char message[1024] = "";
    if (TIFFRGBAImageOK(tiff, message) == 0 || TIFFRGBAImageBegin(&from, tiff, 1, message) == 0)
        return refuse_file(ctx, r, name, message);
    bool is_gray =
        from.photometric == PHOTOMETRIC_MINISBLACK || from.photometric == PHOTOMETRIC_MINISWHITE;
    if (is_gray && from.isContig && from.bitspersample == 16)
        from.put.contig = put_gray16;
    psfm_status status = check_header(ctx, &from, r->size, name);
    if (status == PSFM_OK)
        status = psfm_image_init(ctx, (int)from.width, (int)from.height, channels, image);
    if (status == PSFM_OK)
        status = read_bands(ctx, r, &from, name, image);
    TIFFRGBAImageEnd(&from);
    return status;
}

static psfm_status decode_tiff(psfm_context *ctx, const uint8_t *bytes, size_t size,
                               const char *name, psfm_image_channels channels, int min_side,
                               psfm_image *image) {
    (void)min_side;
    tiff_reader r = {.bytes = bytes, .size = size};
    if (psfm_tiff_is_raw(bytes, size))
        return psfm_fail(ctx, PSFM_ERR_FORMAT,
                         "%s: a camera's raw file; develop it to JPEG, PNG or TIFF first", name);
    TIFF *tiff = open_tiff(&r);
    if (tiff == NULL)
        return refuse_file(ctx, &r, name, "it has no image");
    psfm_status status = read_page(ctx, &r, tiff, name, channels, image);
    TIFFClose(tiff);
    return status;
}

static void describe_library(char *text, size_t size) {
    const char *version = TIFFGetVersion(), *number = strstr(version, "Version ");
    snprintf(text, size, "%.*s", (int)strcspn(version, "\n") - (int)(number - version) - 8,
             number + 8);
}
#else
static psfm_status decode_tiff(psfm_context *ctx, const uint8_t *bytes, size_t size,
                               const char *name, psfm_image_channels channels, int min_side,
                               psfm_image *image) {
    (void)bytes, (void)size, (void)channels, (void)min_side, (void)image;
    return psfm_fail(ctx, PSFM_ERR_FORMAT,
                     "%s: a TIFF file, which this build does not read: it was made without libtiff",
                     name);
}

static void describe_library(char *text, size_t size) {
    snprintf(text, size, "missing when this was built: no TIFF photographs (libtiff-dev)");
}
#endif

const psfm_image_codec psfm_tiff_codec = {
    .endings = (const char *const[]){"tif", "tiff", NULL},
    .is_mine = psfm_is_tiff,
    .decode = decode_tiff,
    .find_size = psfm_tiff_size,
    .find_file_size = psfm_tiff_file_size,
    .find_exif = psfm_tiff_exif,
    .library = "libtiff",
    .describe_library = describe_library,
};
