/* make_photo IN OUT.tif|OUT.heic [PAGES]: a photograph in another format. TIFF: 16 bits, tiles, all
 * its pages alike. Exit status 77 if this build, or libheif, cannot write it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "images/image/image_io.h"

#ifdef PSFM_HAVE_TIFF
#include <tiffio.h>
#endif
#ifdef PSFM_HAVE_HEIF
#include <libheif/heif.h>
#endif

enum { SKIPPED = 77, TILE = 64 };

#ifdef PSFM_HAVE_TIFF
static void set_fields(TIFF *tiff, const psfm_image *image) {
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, image->width);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, image->height);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 3);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 16);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, TILE);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, TILE);
}

static void write_tile(TIFF *tiff, const psfm_image *image, int x0, int y0) {
    static uint16_t tile[TILE * TILE * 3];
    memset(tile, 0, sizeof tile);
    for (int y = 0; y < TILE && y0 + y < image->height; ++y)
        for (int x = 0; x < TILE && x0 + x < image->width; ++x)
            for (int s = 0; s < 3; ++s)
                tile[3 * (y * TILE + x) + s] =
                    (uint16_t)(257 * image->rgb[3 * ((y0 + y) * image->width + x0 + x) + s]);
    TIFFWriteTile(tiff, tile, (uint32_t)x0, (uint32_t)y0, 0, 0);
}

static int write_tiff(const psfm_image *image, const char *path, int pages) {
    TIFF *tiff = TIFFOpen(path, "w");
    for (int page = 0; tiff != NULL && page < pages; ++page) {
        set_fields(tiff, image);
        for (int y = 0; y < image->height; y += TILE)
            for (int x = 0; x < image->width; x += TILE)
                write_tile(tiff, image, x, y);
        TIFFWriteDirectory(tiff);
    }
    if (tiff != NULL)
        TIFFClose(tiff);
    return tiff == NULL;
}
#else
static int write_tiff(const psfm_image *image, const char *path, int pages) {
    (void)image;
    (void)path;
    (void)pages;
    return SKIPPED;
}
#endif

#ifdef PSFM_HAVE_HEIF
static struct heif_image *make_pixels(const psfm_image *image) {
    struct heif_image *pixels = NULL;
    int stride = 0;
    heif_image_create(image->width, image->height, heif_colorspace_RGB, heif_chroma_interleaved_RGB,
                      &pixels);
    heif_image_add_plane(pixels, heif_channel_interleaved, image->width, image->height, 24);
    uint8_t *rows = heif_image_get_plane(pixels, heif_channel_interleaved, &stride);
    for (int y = 0; y < image->height; ++y)
        memcpy(rows + (size_t)y * (size_t)stride, image->rgb + 3 * (size_t)(y * image->width),
               3 * (size_t)image->width);
    return pixels;
}

static int write_heif(const psfm_image *image, const char *path) {
    struct heif_context *file = heif_context_alloc();
    struct heif_encoder *encoder = NULL;
    if (heif_context_get_encoder_for_format(file, heif_compression_HEVC, &encoder).code !=
        heif_error_Ok) {
        heif_context_free(file);
        return SKIPPED;
    }
    struct heif_image *pixels = make_pixels(image);
    heif_encoder_set_lossy_quality(encoder, 90);
    struct heif_error error = heif_context_encode_image(file, pixels, encoder, NULL, NULL);
    if (error.code == heif_error_Ok)
        error = heif_context_write_to_file(file, path);
    heif_image_release(pixels);
    heif_encoder_release(encoder);
    heif_context_free(file);
    return error.code != heif_error_Ok;
}
#else
static int write_heif(const psfm_image *image, const char *path) {
    (void)image;
    (void)path;
    return SKIPPED;
}
#endif

int main(int argc, char **argv) {
    psfm_image image = {0};
    psfm_context *ctx = psfm_context_create();
    if (argc < 3 || psfm_image_read(ctx, argv[1], PSFM_IMAGE_GRAY_AND_RGB, &image) != PSFM_OK) {
        fprintf(stderr, "make_photo: %s\n", psfm_context_message(ctx));
        return 1;
    }
    bool tiff = strstr(argv[2], ".tif") != NULL;
    int code = tiff ? write_tiff(&image, argv[2], argc > 3 ? atoi(argv[3]) : 1)
                    : write_heif(&image, argv[2]);
    psfm_image_free(&image);
    psfm_context_destroy(&ctx);
    return code;
}
