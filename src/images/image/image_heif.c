/* HEIC, and the rest of the HEIF family, by libheif. Rotation, mirroring and cropping that the file
 * asks for are applied, as the format prescribes: they are part of the image. Of several images the
 * primary one is the photograph. */
#include <stdlib.h>
#include <string.h>

#include "images/image/image_codec.h"

static bool is_heif(const uint8_t *bytes, size_t size) {
    static const char *const brands[] = {"heic", "heix", "heim", "heis", "hevc",
                                         "hevx", "mif1", "msf1", "avif"};
    if (size < 12 || memcmp(bytes + 4, "ftyp", 4) != 0)
        return false;
    for (size_t k = 0; k < sizeof brands / sizeof *brands; ++k)
        if (memcmp(bytes + 8, brands[k], 4) == 0)
            return true;
    return false;
}

#ifdef PSFM_HAVE_HEIF
#include <libheif/heif.h>

enum { MAX_EXIF = 1 << 20 };

typedef struct {
    struct heif_context *file;
    struct heif_image_handle *image;
    struct heif_image *pixels;
} heif_reader;

static void close_file(heif_reader *r) {
    if (r->pixels != NULL)
        heif_image_release(r->pixels);
    if (r->image != NULL)
        heif_image_handle_release(r->image);
    if (r->file != NULL)
        heif_context_free(r->file);
    *r = (heif_reader){0};
}

static struct heif_error open_bytes(const uint8_t *bytes, size_t size, heif_reader *r) {
    struct heif_error error =
        heif_context_read_from_memory_without_copy(r->file, bytes, size, NULL);
    if (error.code == heif_error_Ok)
        error = heif_context_get_primary_image_handle(r->file, &r->image);
    return error;
}

/* To 8 bits of red, green, blue; damage is an error. One thread: images are worked on in parallel.
 */
static struct heif_error decode_pixels(heif_reader *r) {
    struct heif_decoding_options *options = heif_decoding_options_alloc();
    if (options != NULL) {
        options->convert_hdr_to_8bit = 1;
#if LIBHEIF_HAVE_VERSION(1, 15, 0)
        options->strict_decoding = 1;
#endif
    }
    struct heif_error error = heif_decode_image(r->image, &r->pixels, heif_colorspace_RGB,
                                                heif_chroma_interleaved_RGB, options);
    heif_decoding_options_free(options);
    return error;
}

static psfm_status refuse_file(psfm_context *ctx, const char *name, struct heif_error error) {
    if (error.code == heif_error_Unsupported_feature ||
        error.code == heif_error_Unsupported_filetype)
        return psfm_fail(ctx, PSFM_ERR_FORMAT,
                         "%s: libheif cannot decode it: %s (is its decoder installed? On Debian "
                         "13 that of HEIC is libheif-plugin-libde265)",
                         name, error.message);
    return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: not a sound HEIC file: %s", name, error.message);
}

static psfm_status store_image(psfm_context *ctx, const heif_reader *r, const char *name,
                               psfm_image_channels channels, psfm_image *image) {
    int stride = 0;
    const uint8_t *rows =
        heif_image_get_plane_readonly(r->pixels, heif_channel_interleaved, &stride);
    int width = heif_image_get_width(r->pixels, heif_channel_interleaved);
    int height = heif_image_get_height(r->pixels, heif_channel_interleaved);
    if (rows == NULL || width <= 0 || height <= 0)
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: not a sound HEIC file: it has no pixels", name);
    psfm_status status = psfm_image_init(ctx, width, height, channels, image);
    for (int y = 0; status == PSFM_OK && y < height; ++y)
        psfm_image_store_row(image, y, rows + (size_t)y * (size_t)stride, 3);
    return status;
}

static psfm_status read_image(psfm_context *ctx, heif_reader *r, const char *name,
                              psfm_image_channels channels, psfm_image *image) {
    int width = heif_image_handle_get_width(r->image);
    int height = heif_image_handle_get_height(r->image);
    psfm_status status = psfm_image_check_size(ctx, width < 0 ? 0 : (uint64_t)width,
                                               height < 0 ? 0 : (uint64_t)height, name);
    if (status != PSFM_OK)
        return status;
    struct heif_error error = decode_pixels(r);
    return error.code != heif_error_Ok ? refuse_file(ctx, name, error)
                                       : store_image(ctx, r, name, channels, image);
}

static psfm_status decode_heif(psfm_context *ctx, const uint8_t *bytes, size_t size,
                               const char *name, psfm_image_channels channels, int min_side,
                               psfm_image *image) {
    (void)min_side;
    heif_reader r = {.file = heif_context_alloc()};
    if (r.file == NULL)
        return psfm_fail_memory(ctx);
#if LIBHEIF_HAVE_VERSION(1, 13, 0)
    heif_context_set_max_decoding_threads(r.file, 1);
#endif
    struct heif_error error = open_bytes(bytes, size, &r);
    psfm_status status = error.code != heif_error_Ok ? refuse_file(ctx, name, error)
                                                     : read_image(ctx, &r, name, channels, image);
    close_file(&r);
    return status;
}

static bool find_size(const uint8_t *bytes, size_t size, int *width, int *height) {
    heif_reader r = {.file = heif_context_alloc()};
    bool found = r.file != NULL && open_bytes(bytes, size, &r).code == heif_error_Ok;
    if (found) {
        *width = heif_image_handle_get_width(r.image);
        *height = heif_image_handle_get_height(r.image);
    }
    close_file(&r);
    return found && *width > 0 && *height > 0;
}

/* An item of EXIF data says in its first four bytes how far behind them the TIFF header is. */
static uint8_t *unwrap_exif(const uint8_t *item, size_t size, size_t *block_size) {
    size_t skip = 4;
    for (size_t k = 0; k < 4 && size >= 4; ++k)
        skip += (size_t)item[k] << (8 * (3 - k));
    return size < 4 || skip >= size ? NULL
                                    : psfm_exif_block_make(item + skip, size - skip, block_size);
}

static uint8_t *read_exif(const struct heif_image_handle *image, size_t *block_size) {
    heif_item_id id;
    if (heif_image_handle_get_list_of_metadata_block_IDs(image, "Exif", &id, 1) < 1)
        return NULL;
    size_t size = heif_image_handle_get_metadata_size(image, id);
    uint8_t *made = NULL, *item = size == 0 || size > MAX_EXIF ? NULL : malloc(size);
    if (item != NULL && heif_image_handle_get_metadata(image, id, item).code == heif_error_Ok)
        made = unwrap_exif(item, size, block_size);
    free(item);
    return made;
}

static uint8_t *find_exif(const uint8_t *bytes, size_t size, size_t *block_size) {
    heif_reader r = {.file = heif_context_alloc()};
    uint8_t *made = NULL;
    if (r.file != NULL && open_bytes(bytes, size, &r).code == heif_error_Ok)
        made = read_exif(r.image, block_size);
    close_file(&r);
    return made;
}

static void describe_library(char *text, size_t size) {
    snprintf(text, size, "%s%s", heif_get_version(),
             heif_have_decoder_for_format(heif_compression_HEVC)
                 ? ""
                 : ", without a decoder of HEIC (libheif-plugin-libde265)");
}
#else
static psfm_status decode_heif(psfm_context *ctx, const uint8_t *bytes, size_t size,
                               const char *name, psfm_image_channels channels, int min_side,
                               psfm_image *image) {
    (void)bytes, (void)size, (void)channels, (void)min_side, (void)image;
    return psfm_fail(ctx, PSFM_ERR_FORMAT,
                     "%s: a HEIC file, which this build does not read: it was made without libheif",
                     name);
}

static bool find_size(const uint8_t *bytes, size_t size, int *width, int *height) {
    (void)bytes, (void)size, (void)width, (void)height;
    return false;
}

static uint8_t *find_exif(const uint8_t *bytes, size_t size, size_t *block_size) {
    (void)bytes, (void)size, (void)block_size;
    return NULL;
}

static void describe_library(char *text, size_t size) {
    snprintf(text, size, "missing when this was built: no HEIC photographs (libheif-dev)");
}
#endif

const psfm_image_codec psfm_heif_codec = {
    .endings = (const char *const[]){"heic", "heif", NULL},
    .is_mine = is_heif,
    .decode = decode_heif,
    .find_size = find_size,
    .find_exif = find_exif,
    .is_upright = true,
    .library = "libheif",
    .describe_library = describe_library,
};
