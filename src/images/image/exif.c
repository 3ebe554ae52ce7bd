/* EXIF by libexif.
 *
 * Focal length in pixels, from the first of these that is there and makes sense:
 *   the 35 mm equivalent f35: by definition (CIPA DCG-001) the lens that sees the same diagonal on
 *   36 x 24 mm film, so f_px = f35 * diagonal_px / 43.267. COLMAP divides the longer side by 35
 *   instead, which agrees to 1.2 % on 4:3 images and is 2.9 % longer on 3:2.
 *   the focal length in mm with the resolution of the focal plane: f_px = f_mm * pixels per mm. The
 *   resolution refers to the pixels the camera recorded; an image made smaller since is scaled by
 *   its longer side over the recorded one.
 *   the focal length in mm with the width of the camera's sensor, if sensor_table.c has it. */
#include "images/image/exif.h"

#include <libexif/exif-data.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/path.h"
#include "core/camera/sensor_table.h"
#include "images/image/image_codec.h"

#define FILM_DIAGONAL_MM 43.266615305567875 /* of 36 x 24 mm */

/* The k-th number of an entry, whatever its type; NaN if there is none. */
static double read_number(const ExifEntry *entry, ExifByteOrder order, unsigned long k) {
    if (entry == NULL || entry->data == NULL || k >= entry->components)
        return NAN;
    size_t item = exif_format_get_size(entry->format);
    if (item == 0 || (k + 1) * item > entry->size)
        return NAN;
    const unsigned char *at = entry->data + k * item;
    switch (entry->format) {
    case EXIF_FORMAT_BYTE:
        return at[0];
    case EXIF_FORMAT_SHORT:
        return exif_get_short(at, order);
    case EXIF_FORMAT_LONG:
        return exif_get_long(at, order);
    case EXIF_FORMAT_RATIONAL: {
        ExifRational q = exif_get_rational(at, order);
        return q.denominator == 0 ? NAN : (double)q.numerator / (double)q.denominator;
    }
    default:
        return NAN;
    }
}

typedef struct {
    ExifData *data;
    ExifByteOrder order;
} source;

static double tag_number(const source *s, ExifIfd ifd, int tag, unsigned long k) {
    return read_number(exif_content_get_entry(s->data->ifd[ifd], (ExifTag)tag), s->order, k);
}

static bool is_positive(double value) {
    return isfinite(value) && value > 0.0;
}

/* Pixels per millimetre on the sensor, in pixels of an image of this longer side; NaN if unknown.
 */
static double pixels_per_mm(const source *s, double longer) {
    double resolution = tag_number(s, EXIF_IFD_EXIF, EXIF_TAG_FOCAL_PLANE_X_RESOLUTION, 0);
    double unit = tag_number(s, EXIF_IFD_EXIF, EXIF_TAG_FOCAL_PLANE_RESOLUTION_UNIT, 0);
    double recorded_x = tag_number(s, EXIF_IFD_EXIF, EXIF_TAG_PIXEL_X_DIMENSION, 0);
    double recorded_y = tag_number(s, EXIF_IFD_EXIF, EXIF_TAG_PIXEL_Y_DIMENSION, 0);
    double unit_mm = unit == 3.0 ? 10.0 : unit == 4.0 ? 1.0 : unit == 5.0 ? 1e-3 : 25.4;
    double recorded = fmax(recorded_x, recorded_y); /* ignores a NaN */
    double scale = is_positive(recorded) ? longer / recorded : 1.0;
    return resolution / unit_mm * scale;
}

/* The text of an entry, without spaces at its ends; empty if it has none. */
static void tag_text(const source *s, ExifIfd ifd, int tag, char text[64]) {
    ExifEntry *entry = exif_content_get_entry(s->data->ifd[ifd], (ExifTag)tag);
    text[0] = '\0';
    if (entry != NULL && entry->format == EXIF_FORMAT_ASCII)
        exif_entry_get_value(entry, text, 64);
    for (size_t length = strlen(text); length > 0 && text[length - 1] == ' '; --length)
        text[length - 1] = '\0';
}

/* Pixels per millimetre by the width of the camera's sensor; NaN if it is not known. */
static double pixels_per_mm_of_model(const source *s, double longer) {
    char make[64], model[64];
    tag_text(s, EXIF_IFD_0, EXIF_TAG_MAKE, make);
    tag_text(s, EXIF_IFD_0, EXIF_TAG_MODEL, model);
    double width_mm = psfm_sensor_width_mm(make, model);
    return width_mm > 0.0 ? longer / width_mm : NAN;
}

static void find_body(const source *s, psfm_exif *exif) {
    char make[64], model[64];
    tag_text(s, EXIF_IFD_0, EXIF_TAG_MAKE, make);
    tag_text(s, EXIF_IFD_0, EXIF_TAG_MODEL, model);
    snprintf(exif->body, sizeof exif->body, "%s%s%s", make,
             make[0] == '\0' || model[0] == '\0' ? "" : " ", model);
    for (char *c = exif->body; *c != '\0'; ++c)
        if (*c < ' ' || *c > '~')
            *c = '?';
}

static void find_focal(const source *s, int width, int height, psfm_exif *exif) {
    double diagonal = hypot(width, height), longer = width > height ? width : height;
    double f35 = tag_number(s, EXIF_IFD_EXIF, EXIF_TAG_FOCAL_LENGTH_IN_35MM_FILM, 0);
    double f_mm = tag_number(s, EXIF_IFD_EXIF, EXIF_TAG_FOCAL_LENGTH, 0);
    double focal = f35 * diagonal / FILM_DIAGONAL_MM;
    if (!is_positive(focal))
        focal = f_mm * pixels_per_mm(s, longer);
    if (!is_positive(focal))
        focal = f_mm * pixels_per_mm_of_model(s, longer);
    /* from a field of view of 179 degrees to a telescope; beyond that the entry is garbage */
    exif->has_focal = is_positive(focal) && focal > 0.008 * longer && focal < 1000.0 * longer;
    exif->focal_px = exif->has_focal ? focal : 0.0;
}

/* Degrees, minutes, seconds with the letter of the hemisphere; NaN if absent or out of range. */
static double read_angle(const source *s, int tag, int letter_tag, const char *letters,
                         double max) {
    double degrees = tag_number(s, EXIF_IFD_GPS, tag, 0);
    double minutes = tag_number(s, EXIF_IFD_GPS, tag, 1);
    double seconds = tag_number(s, EXIF_IFD_GPS, tag, 2);
    const ExifEntry *entry =
        exif_content_get_entry(s->data->ifd[EXIF_IFD_GPS], (ExifTag)letter_tag);
    if (entry == NULL || entry->data == NULL || entry->size < 1)
        return NAN;
    char letter = (char)entry->data[0];
    double value = degrees + minutes / 60.0 + seconds / 3600.0;
    if ((letter != letters[0] && letter != letters[1]) || !(value <= max))
        return NAN;
    return letter == letters[0] ? value : -value;
}

static void find_position(const source *s, psfm_exif *exif) {
    double latitude = read_angle(s, EXIF_TAG_GPS_LATITUDE, EXIF_TAG_GPS_LATITUDE_REF, "NS", 90.0);
    double longitude =
        read_angle(s, EXIF_TAG_GPS_LONGITUDE, EXIF_TAG_GPS_LONGITUDE_REF, "EW", 180.0);
    exif->has_position = isfinite(latitude) && isfinite(longitude);
    if (!exif->has_position)
        return;
    exif->latitude_deg = latitude;
    exif->longitude_deg = longitude;
    double altitude = tag_number(s, EXIF_IFD_GPS, EXIF_TAG_GPS_ALTITUDE, 0);
    bool below = tag_number(s, EXIF_IFD_GPS, EXIF_TAG_GPS_ALTITUDE_REF, 0) == 1.0;
    exif->has_altitude = isfinite(altitude);
    exif->altitude_m = !exif->has_altitude ? 0.0 : below ? -altitude : altitude;
}

static void find_orientation(const source *s, const psfm_image_codec *codec, psfm_exif *exif) {
    static const int quarters[9] = {0, 0, 0, 2, 2, 3, 1, 1, 3};
    static const bool mirrored[9] = {false, false, true, false, true, true, false, true, false};
    double orientation = tag_number(s, EXIF_IFD_0, EXIF_TAG_ORIENTATION, 0);
    exif->orientation = orientation >= 1.0 && orientation <= 8.0 ? (int)orientation : 0;
    if (codec == NULL || codec->is_upright)
        return;
    exif->quarters = quarters[exif->orientation];
    exif->is_mirrored = mirrored[exif->orientation];
}

uint8_t *psfm_exif_block_make(const uint8_t *data, size_t size, size_t *block_size) {
    uint8_t *made = malloc(PSFM_EXIF_HEADER_SIZE + size);
    if (made == NULL)
        return NULL;
    memcpy(made, PSFM_EXIF_HEADER, PSFM_EXIF_HEADER_SIZE);
    memcpy(made + PSFM_EXIF_HEADER_SIZE, data, size);
    *block_size = PSFM_EXIF_HEADER_SIZE + size;
    return made;
}

static void load_data(ExifData *data, const uint8_t *bytes, size_t size) {
    const psfm_image_codec *codec = psfm_image_codec_find(bytes, size);
    size_t block_size = 0;
    if (codec == NULL)
        return;
    if (codec->find_exif == NULL) {
        exif_data_load_data(data, bytes, (unsigned)size);
        return;
    }
    uint8_t *block = codec->find_exif(bytes, size, &block_size);
    if (block != NULL)
        exif_data_load_data(data, block, (unsigned)block_size);
    free(block);
}

void psfm_exif_parse(const uint8_t *bytes, size_t size, int width, int height, psfm_exif *exif) {
    *exif = (psfm_exif){0};
    if (size > PSFM_IMAGE_MAX_FILE)
        return;
    source s = {.data = exif_data_new()};
    if (s.data == NULL)
        return;
    /* Otherwise libexif adds the entries that it misses, with values of its own. */
    exif_data_unset_option(s.data, EXIF_DATA_OPTION_FOLLOW_SPECIFICATION);
    load_data(s.data, bytes, size);
    s.order = exif_data_get_byte_order(s.data);
    find_focal(&s, width, height, exif);
    find_body(&s, exif);
    find_position(&s, exif);
    find_orientation(&s, psfm_image_codec_find(bytes, size), exif);
    exif_data_unref(s.data);
}

psfm_status psfm_exif_read(psfm_context *ctx, const char *path, int width, int height,
                           psfm_exif *exif) {
    char *bytes = NULL;
    size_t size = 0;
    *exif = (psfm_exif){0};
    psfm_status status = psfm_read_file(ctx, path, PSFM_IMAGE_MAX_FILE, &bytes, &size);
    if (status == PSFM_OK)
        psfm_exif_parse((const uint8_t *)bytes, size, width, height, exif);
    free(bytes);
    return status;
}
