/* Images in memory and as files. The format is told by the first bytes, not by the name; files
 * are decoded row by row into gray values and, if asked, colours. Gray is computed as
 * FreeImage does, which COLMAP reads images with, so that features can be compared. */
#include "images/image/image_io.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/alloc.h"
#include "core/base/output.h"
#include "core/base/path.h"
#include "images/image/exif.h"
#include "images/image/image_codec.h"
#include "images/image/image_turn.h"

#define MAX_HEADER ((size_t)1 << 20)

#define ROW(format) &psfm_##format##_codec,
const psfm_image_codec *const psfm_image_codecs[] = {PSFM_IMAGE_CODECS(ROW) NULL};
#undef ROW

const psfm_image_codec *psfm_image_codec_find(const uint8_t *bytes, size_t size) {
    const psfm_image_codec *const *codec = psfm_image_codecs;
    while (*codec != NULL && !(*codec)->is_mine(bytes, size))
        ++codec;
    return *codec;
}

bool psfm_image_sniff(const uint8_t *bytes, size_t size) {
    return psfm_image_codec_find(bytes, size) != NULL;
}

static const psfm_image_codec *find_by_name(const char *name) {
    const char *dot = strrchr(name, '.');
    for (const psfm_image_codec *const *codec = psfm_image_codecs; dot != NULL && *codec; ++codec)
        for (const char *const *ending = (*codec)->endings; *ending != NULL; ++ending)
            if (strcasecmp(dot + 1, *ending) == 0)
                return *codec;
    return NULL;
}

bool psfm_image_has_ending(const char *name, bool is_written) {
    const psfm_image_codec *codec = find_by_name(name);
    return codec != NULL && (!is_written || codec->encode != NULL);
}

bool psfm_image_accept_size(uint32_t width, uint32_t height, int *out_width, int *out_height) {
    if (width == 0 || height == 0 || width > INT_MAX || height > INT_MAX)
        return false;
    *out_width = (int)width;
    *out_height = (int)height;
    return true;
}

bool psfm_image_parse_size(const uint8_t *bytes, size_t size, int *width, int *height) {
    const psfm_image_codec *codec = psfm_image_codec_find(bytes, size);
    return codec != NULL && codec->find_size(bytes, size, width, height);
}

bool psfm_image_file_size(const char *path, int *width, int *height) {
    FILE *file = NULL;
    const bool is_open = psfm_open_file(NULL, path, &file) == PSFM_OK;
    uint8_t *bytes = is_open ? malloc(MAX_HEADER) : NULL;
    size_t size = bytes == NULL ? 0 : fread(bytes, 1, PSFM_IMAGE_SNIFF_BYTES, file);
    const psfm_image_codec *codec = psfm_image_codec_find(bytes, size);
    bool found = false;
    if (codec != NULL && codec->find_file_size != NULL) {
        found = codec->find_file_size(path, width, height);
    } else if (codec != NULL) {
        size += fread(bytes + size, 1, MAX_HEADER - size, file);
        found = codec->find_size(bytes, size, width, height);
    }
    free(bytes);
    if (file != NULL)
        fclose(file);
    return found;
}

psfm_status psfm_image_check_size(psfm_context *ctx, uint64_t width, uint64_t height,
                                  const char *name) {
    if (width == 0 || height == 0)
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: the image has no pixels", name);
    if (width > PSFM_IMAGE_MAX_SIDE || height > PSFM_IMAGE_MAX_SIDE ||
        width * height > PSFM_IMAGE_MAX_PIXELS)
        return psfm_fail(ctx, PSFM_ERR_FORMAT,
                         "%s: %llu x %llu pixels, more than the limit of %d on a side and %zu in "
                         "all",
                         name, (unsigned long long)width, (unsigned long long)height,
                         PSFM_IMAGE_MAX_SIDE, PSFM_IMAGE_MAX_PIXELS);
    return PSFM_OK;
}

void psfm_image_store_row(psfm_image *image, int y, const uint8_t *row, int samples) {
    size_t width = (size_t)image->width;
    uint8_t *gray = image->gray + (size_t)y * width;
    uint8_t *rgb = image->rgb == NULL ? NULL : image->rgb + 3 * (size_t)y * width;
    if (samples == 3) {
        psfm_luma_row(row, width, gray);
        if (rgb != NULL)
            memcpy(rgb, row, 3 * width);
        return;
    }
    memcpy(gray, row, width);
    for (size_t x = 0; rgb != NULL && x < width; ++x)
        rgb[3 * x] = rgb[3 * x + 1] = rgb[3 * x + 2] = row[x];
}

psfm_status psfm_image_init(psfm_context *ctx, int width, int height, psfm_image_channels channels,
                            psfm_image *image) {
    *image = (psfm_image){0};
    if (width < 0 || height < 0)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "an image of %d x %d pixels", width, height);
    psfm_status status =
        psfm_image_check_size(ctx, (uint64_t)width, (uint64_t)height, "a new image");
    psfm_image made = {.width = width, .height = height};
    size_t pixels = (size_t)width * (size_t)height;
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, pixels, &made.gray);
    if (status == PSFM_OK && channels == PSFM_IMAGE_GRAY_AND_RGB)
        status = psfm_alloc(ctx, pixels, 3, &made.rgb);
    if (status != PSFM_OK) {
        psfm_image_free(&made);
        return status;
    }
    *image = made;
    return PSFM_OK;
}

void psfm_image_free(psfm_image *image) {
    free(image->gray);
    free(image->rgb);
    *image = (psfm_image){0};
}

static psfm_status decode_image(psfm_context *ctx, const uint8_t *bytes, size_t size,
                                const char *name, psfm_image_channels channels, int min_side,
                                psfm_image *image) {
    const psfm_image_codec *codec = psfm_image_codec_find(bytes, size);
    *image = (psfm_image){0};
    if (codec == NULL)
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: %s", name,
                         size == 0 ? "the file is empty" : "not a " PSFM_IMAGE_FORMATS " file");
    psfm_exif exif;
    psfm_exif_parse(bytes, size, 1, 1, &exif);
    /* a reduced image may end beyond the whole one, which mirroring would bring to its beginning */
    psfm_status status =
        codec->decode(ctx, bytes, size, name, channels, exif.is_mirrored ? 0 : min_side, image);
    if (status != PSFM_OK)
        psfm_image_free(image);
    else if (exif.is_mirrored)
        psfm_image_mirror(image);
    image->quarters = status == PSFM_OK ? exif.quarters : 0;
    return status;
}

psfm_status psfm_image_decode(psfm_context *ctx, const uint8_t *bytes, size_t size,
                              const char *name, psfm_image_channels channels, psfm_image *image) {
    return decode_image(ctx, bytes, size, name, channels, 0, image);
}

psfm_status psfm_image_decode_small(psfm_context *ctx, const uint8_t *bytes, size_t size,
                                    const char *name, psfm_image_channels channels, int min_side,
                                    int *reduced, psfm_image *image) {
    int width = 0, height = 0;
    /* without the size of the whole, what was reduced could not be told from a small photograph */
    const bool is_known = psfm_image_parse_size(bytes, size, &width, &height);
    psfm_status status =
        decode_image(ctx, bytes, size, name, channels, is_known ? min_side : 0, image);
    *reduced = 1;
    if (status == PSFM_OK && is_known)
        while (*reduced < 8 && (width - 1) / *reduced + 1 > image->width)
            *reduced *= 2;
    return status;
}

psfm_status psfm_image_read(psfm_context *ctx, const char *path, psfm_image_channels channels,
                            psfm_image *image) {
    return psfm_image_read_small(ctx, path, channels, 0, image);
}

psfm_status psfm_image_read_small(psfm_context *ctx, const char *path, psfm_image_channels channels,
                                  int min_side, psfm_image *image) {
    char *bytes = NULL;
    size_t size = 0;
    *image = (psfm_image){0};
    psfm_status status = psfm_read_file(ctx, path, PSFM_IMAGE_MAX_FILE, &bytes, &size);
    if (status == PSFM_OK)
        status = decode_image(ctx, (const uint8_t *)bytes, size, path, channels, min_side, image);
    free(bytes);
    return status;
}

psfm_status psfm_image_write(psfm_context *ctx, const psfm_image *image, int jpeg_quality,
                             const char *path) {
    const psfm_image_codec *codec = find_by_name(path);
    if (codec == NULL || codec->encode == NULL)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%s: the name of an image ends in .jpg or .png",
                         path);
    if (image->gray == NULL || image->width <= 0 || image->height <= 0)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%s: there is no image to write", path);
    psfm_output out = {0};
    psfm_status status = psfm_output_open(ctx, path, &out);
    if (status == PSFM_OK)
        status = codec->encode(ctx, image, jpeg_quality, path, out.file);
    if (status == PSFM_OK)
        status = psfm_output_commit(ctx, &out);
    psfm_output_abort(&out);
    return status;
}
