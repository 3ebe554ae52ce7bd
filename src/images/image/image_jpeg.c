/* JPEG by libjpeg-turbo.
 *
 * libjpeg reports errors by a callback that must not return, so every entry into it runs under
 * setjmp. What must survive the jump lives in a struct of the caller, never in the frame that calls
 * setjmp. Damage in the entropy-coded data is only a warning to libjpeg, which then invents gray
 * pixels; here the kinds of warning that mean lost pixels are errors.
 *
 * Two cheap attacks are cut off: a header that claims far more pixels than its file can hold (each
 * 8 x 8 block of the first component takes at least one bit of Huffman code), and a progressive
 * file with endless scans over a large image. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

#include <jerror.h>

#include "core/base/alloc.h"
#include "images/image/image_codec.h"

#define MAX_SCANS 256

static bool is_jpeg(const uint8_t *bytes, size_t size) {
    return size >= 3 && bytes[0] == 0xff && bytes[1] == 0xd8 && bytes[2] == 0xff;
}

/* ---- the size ---- */

enum { SOF_HEIGHT_AT = 5, SOF_BYTES = 9 };

static uint32_t read_short(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 8 | bytes[1];
}

/* Whether a marker begins a frame: C0 to CF but DHT, JPG and DAC. */
static bool is_frame(uint8_t marker) {
    return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

/* From the first frame header, which stands behind segments of any kind that tell their lengths. */
static bool find_size(const uint8_t *bytes, size_t size, int *width, int *height) {
    size_t at = 2;
    while (at + SOF_BYTES <= size && bytes[at] == 0xFF) {
        uint8_t marker = bytes[at + 1];
        if (is_frame(marker))
            return psfm_image_accept_size(read_short(bytes + at + SOF_HEIGHT_AT + 2),
                                          read_short(bytes + at + SOF_HEIGHT_AT), width, height);
        bool has_length = marker != 0xFF && marker != 0x01 && (marker < 0xD0 || marker > 0xD9);
        at += has_length ? 2 + read_short(bytes + at + 2) : marker == 0xFF ? 1 : 2;
    }
    return false;
}

/* ---- reading ---- */

typedef struct {
    struct jpeg_error_mgr base; /* first, so that libjpeg's pointer is ours */
    jmp_buf jump;
    char message[JMSG_LENGTH_MAX];
} jpeg_errors;

typedef struct {
    struct jpeg_decompress_struct codec;
    struct jpeg_progress_mgr progress;
    jpeg_errors errors;
    uint8_t *row;
    psfm_image *image;
    int min_side;       /* 0: full size */
    psfm_status status; /* of our own functions, while libjpeg is happy */
} jpeg_reader;

static _Noreturn void on_error(j_common_ptr codec) {
    jpeg_errors *errors = (jpeg_errors *)codec->err;
    errors->base.format_message(codec, errors->message);
    longjmp(errors->jump, 1);
}

static bool loses_pixels(int code) {
    return code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE ||
           code == JWRN_ARITH_BAD_CODE || code == JWRN_MUST_RESYNC;
}

static void on_message(j_common_ptr codec, int level) {
    if (level < 0 && loses_pixels(codec->err->msg_code))
        on_error(codec);
}

static void on_output(j_common_ptr codec) {
    (void)codec; /* the library does not print */
}

static void on_progress(j_common_ptr codec) {
    const struct jpeg_decompress_struct *d = (const struct jpeg_decompress_struct *)codec;
    if (d->input_scan_number > MAX_SCANS) {
        jpeg_errors *errors = (jpeg_errors *)codec->err;
        snprintf(errors->message, sizeof errors->message, "more than %d scans", MAX_SCANS);
        longjmp(errors->jump, 1);
    }
}

static struct jpeg_error_mgr *set_errors(jpeg_errors *errors) {
    jpeg_std_error(&errors->base);
    errors->base.error_exit = on_error;
    errors->base.emit_message = on_message;
    errors->base.output_message = on_output;
    return &errors->base;
}

static psfm_status check_header(psfm_context *ctx, const struct jpeg_decompress_struct *codec,
                                size_t file_size, const char *name) {
    psfm_status status = psfm_image_check_size(ctx, codec->image_width, codec->image_height, name);
    if (status != PSFM_OK)
        return status;
    size_t blocks = ((size_t)codec->image_width + 7) / 8 * (((size_t)codec->image_height + 7) / 8);
    const jpeg_component_info *first = codec->comp_info;
    size_t sampling = (size_t)(codec->max_h_samp_factor * codec->max_v_samp_factor) /
                      (size_t)(first->h_samp_factor * first->v_samp_factor);
    if (!codec->arith_code && blocks / sampling > 8 * file_size)
        return psfm_fail(
            ctx, PSFM_ERR_FORMAT,
            "%s: %zu bytes cannot hold %u x %u pixels; the file is truncated or forged", name,
            file_size, codec->image_width, codec->image_height);
    return PSFM_OK;
}

/* Chooses what libjpeg shall deliver: gray, RGB, or CMYK that we convert. */
static psfm_status choose_output(psfm_context *ctx, struct jpeg_decompress_struct *codec,
                                 psfm_image_channels channels, const char *name) {
    switch (codec->jpeg_color_space) {
    case JCS_GRAYSCALE:
        codec->out_color_space = JCS_GRAYSCALE;
        break;
    case JCS_RGB:
        codec->out_color_space = JCS_RGB;
        break;
    case JCS_YCbCr:
        codec->out_color_space = channels == PSFM_IMAGE_BRIGHTNESS ? JCS_GRAYSCALE : JCS_RGB;
        break;
    case JCS_CMYK:
    case JCS_YCCK:
        codec->out_color_space = JCS_CMYK;
        break;
    default:
        return psfm_fail(ctx, PSFM_ERR_FORMAT,
                         "%s: a JPEG of %d components and unknown colours cannot be read", name,
                         codec->num_components);
    }
    codec->dct_method = JDCT_IFAST;
    codec->do_fancy_upsampling = FALSE;
    return PSFM_OK;
}

/* CMYK to RGB in place. Adobe, which writes nearly all of these, stores the inks inverted. */
static void rgb_from_cmyk(uint8_t *row, size_t width, bool inverted) {
    uint8_t flip = inverted ? 0 : 255;
    for (size_t x = 0; x < width; ++x) {
        unsigned k = row[4 * x + 3] ^ flip;
        for (size_t c = 0; c < 3; ++c)
            row[3 * x + c] = (uint8_t)(((row[4 * x + c] ^ flip) * k + 127) / 255);
    }
}

static void read_rows(jpeg_reader *r) {
    struct jpeg_decompress_struct *codec = &r->codec;
    while (codec->output_scanline < codec->output_height) {
        int y = (int)codec->output_scanline;
        JSAMPROW row = r->row;
        jpeg_read_scanlines(codec, &row, 1);
        if (codec->out_color_space == JCS_CMYK)
            rgb_from_cmyk(r->row, codec->output_width, codec->saw_Adobe_marker);
        psfm_image_store_row(r->image, y, r->row, codec->out_color_space == JCS_GRAYSCALE ? 1 : 3);
    }
}

/* The inverse transform can deliver a half, a quarter or an eighth of the size. */
static void choose_scale(struct jpeg_decompress_struct *codec, int min_side) {
    unsigned width = codec->image_width, height = codec->image_height;
    unsigned longer = width > height ? width : height;
    codec->scale_num = codec->scale_denom = 1;
    while (min_side > 0 && codec->scale_denom < 8 &&
           longer / (2 * codec->scale_denom) >= (unsigned)min_side)
        codec->scale_denom *= 2;
}

/* Everything that can jump. Returns false if it did. */
static bool decode_jpeg(psfm_context *ctx, jpeg_reader *r, const uint8_t *bytes, size_t size,
                        const char *name, psfm_image_channels channels) {
    if (setjmp(r->errors.jump) != 0)
        return false;
    jpeg_create_decompress(&r->codec);
    r->codec.progress = &r->progress;
    jpeg_mem_src(&r->codec, bytes, (unsigned long)size);
    jpeg_read_header(&r->codec, TRUE);
    r->status = check_header(ctx, &r->codec, size, name);
    if (r->status == PSFM_OK)
        r->status = choose_output(ctx, &r->codec, channels, name);
    if (r->status != PSFM_OK)
        return true;
    choose_scale(&r->codec, r->min_side);
    jpeg_start_decompress(&r->codec);
    r->status = psfm_image_init(ctx, (int)r->codec.output_width, (int)r->codec.output_height,
                                channels, r->image);
    if (r->status == PSFM_OK)
        r->status =
            psfm_alloc(ctx, r->codec.output_width, (size_t)r->codec.output_components, &r->row);
    if (r->status == PSFM_OK)
        read_rows(r);
    return true;
}

static psfm_status read_jpeg(psfm_context *ctx, const uint8_t *bytes, size_t size, const char *name,
                             psfm_image_channels channels, int min_side, psfm_image *image) {
    jpeg_reader r = {.image = image, .min_side = min_side};
    r.progress.progress_monitor = on_progress;
    r.codec.err = set_errors(&r.errors);
    bool finished = decode_jpeg(ctx, &r, bytes, size, name, channels);
    jpeg_destroy_decompress(&r.codec);
    free(r.row);
    if (!finished)
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: not a sound JPEG file: %s", name,
                         r.errors.message);
    return r.status;
}

/* ---- writing ---- */

typedef struct {
    struct jpeg_compress_struct codec;
    jpeg_errors errors;
} jpeg_writer;

static bool encode_jpeg(jpeg_writer *w, const psfm_image *image, int quality, FILE *file) {
    if (setjmp(w->errors.jump) != 0)
        return false;
    size_t samples = image->rgb != NULL ? 3 : 1;
    uint8_t *pixels = image->rgb != NULL ? image->rgb : image->gray;
    jpeg_create_compress(&w->codec);
    jpeg_stdio_dest(&w->codec, file);
    w->codec.image_width = (JDIMENSION)image->width;
    w->codec.image_height = (JDIMENSION)image->height;
    w->codec.input_components = (int)samples;
    w->codec.in_color_space = samples == 3 ? JCS_RGB : JCS_GRAYSCALE;
    jpeg_set_defaults(&w->codec);
    jpeg_set_quality(&w->codec, quality, TRUE);
    jpeg_start_compress(&w->codec, TRUE);
    while (w->codec.next_scanline < w->codec.image_height) {
        JSAMPROW row = pixels + samples * (size_t)image->width * w->codec.next_scanline;
        jpeg_write_scanlines(&w->codec, &row, 1);
    }
    jpeg_finish_compress(&w->codec);
    return true;
}

static psfm_status write_jpeg(psfm_context *ctx, const psfm_image *image, int quality,
                              const char *name, FILE *file) {
    jpeg_writer w = {0};
    if (quality < 1 || quality > 100)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%s: a JPEG quality is 1 to 100, not %d", name,
                         quality);
    w.codec.err = set_errors(&w.errors);
    bool finished = encode_jpeg(&w, image, quality, file);
    jpeg_destroy_compress(&w.codec);
    if (!finished)
        return psfm_fail(ctx, PSFM_ERR_IO, "%s: cannot write: %s", name, w.errors.message);
    return PSFM_OK;
}

const psfm_image_codec psfm_jpeg_codec = {
    .endings = (const char *const[]){"jpg", "jpeg", NULL},
    .is_mine = is_jpeg,
    .decode = read_jpeg,
    .find_size = find_size,
    .encode = write_jpeg,
};
