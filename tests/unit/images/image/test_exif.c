#include "test_util.h"

#include "images/image/exif.h"

/* A file with an EXIF block, built entry by entry. */
typedef struct {
    uint8_t tiff[2048]; /* TIFF header, then the directories, then the values */
    bool big;
    size_t directory; /* where the next directory begins */
    size_t values;    /* where the next value goes */
} maker;

typedef struct {
    uint16_t tag, type;
    uint32_t count;
    uint32_t numbers[6]; /* rationals take two each; ASCII: bytes of numbers[0] */
} entry;

enum { ASCII = 2, SHORT = 3, LONG = 4, RATIONAL = 5, BYTE = 1 };

static void put(const maker *m, uint8_t *at, uint32_t value, int size) {
    for (int k = 0; k < size; ++k)
        at[m->big ? size - 1 - k : k] = (uint8_t)(value >> (8 * k));
}

static size_t gap; /* added to all offsets */

static maker make(bool big) {
    maker m = {.big = big, .directory = 8, .values = 1024};
    memcpy(m.tiff, big ? "MM" : "II", 2);
    put(&m, m.tiff + 2, 42, 2);
    put(&m, m.tiff + 4, (uint32_t)(8 + gap), 4);
    return m;
}

/* Appends a directory and returns its offset. */
static uint32_t add_directory(maker *m, const entry *entries, size_t num) {
    static const int sizes[] = {0, 1, 1, 2, 4, 8};
    size_t begin = m->directory;
    uint8_t *at = m->tiff + begin;
    put(m, at, (uint32_t)num, 2);
    at += 2;
    for (size_t k = 0; k < num; ++k, at += 12) {
        const entry *e = &entries[k];
        int size = sizes[e->type];
        put(m, at, e->tag, 2);
        put(m, at + 2, e->type, 2);
        put(m, at + 4, e->count, 4);
        uint8_t *value = at + 8;
        if (e->count * (uint32_t)size > 4) {
            put(m, at + 8, (uint32_t)(m->values + gap), 4);
            value = m->tiff + m->values;
            m->values += e->count * (size_t)size;
        }
        uint32_t numbers = e->type == RATIONAL ? 2 * e->count : e->count;
        for (uint32_t n = 0; n < numbers; ++n)
            put(m, value + n * (size_t)(size == 8 ? 4 : size), e->numbers[n], size == 8 ? 4 : size);
    }
    m->directory = (size_t)(at - m->tiff) + 4;
    return (uint32_t)(begin + gap);
}

static size_t as_jpeg(const maker *m, uint8_t *out) {
    size_t length = m->values + 8;
    memcpy(out, "\xff\xd8\xff\xe1", 4);
    out[4] = (uint8_t)(length >> 8);
    out[5] = (uint8_t)length;
    memcpy(out + 6, "Exif\0\0", 6);
    memcpy(out + 12, m->tiff, m->values);
    memcpy(out + 12 + m->values, "\xff\xd9", 2);
    return m->values + 14;
}

static size_t as_png(const maker *m, uint8_t *out) {
    static const uint8_t head[] = {0x89, 'P', 'N', 'G', 13,  10, 26, 10, 0, 0, 0,
                                   2,    'x', 'x', 'x', 'x', 1,  2,  0,  0, 0, 0};
    memcpy(out, head, sizeof head);
    uint8_t *at = out + sizeof head;
    at[0] = at[1] = 0;
    at[2] = (uint8_t)(m->values >> 8);
    at[3] = (uint8_t)m->values;
    memcpy(at + 4, "eXIf", 4);
    memcpy(at + 8, m->tiff, m->values);
    memset(at + 8 + m->values, 0, 4);
    return sizeof head + 12 + m->values;
}

/* IFD0 holds two pointers and the orientation; the directories behind it their entries. */
static maker make_file(bool big, const entry *photo, size_t num_photo, const entry *gps,
                       size_t num_gps) {
    maker m = make(big);
    entry main_entries[3] = {
        {0x0112, SHORT, 1, {6}}, {0x8769, LONG, 1, {0}}, {0x8825, LONG, 1, {0}}};
    m.directory = 8 + 2 + 3 * 12 + 4;
    main_entries[1].numbers[0] = add_directory(&m, photo, num_photo);
    main_entries[2].numbers[0] = add_directory(&m, gps, num_gps);
    m.directory = 8;
    add_directory(&m, main_entries, 3);
    return m;
}

/* The block is a TIFF file; with a gap its directories lie far behind its header. */
static size_t as_tiff(const maker *m, uint8_t *out) {
    memset(out, 0xab, 8 + gap);
    memcpy(out, m->tiff, 8);
    memcpy(out + gap + 8, m->tiff + 8, m->values - 8);
    return gap + m->values;
}

enum { AS_JPEG, AS_PNG, AS_TIFF };

static size_t make_bytes(const maker *m, int format, uint8_t *out) {
    return format == AS_TIFF  ? as_tiff(m, out)
           : format == AS_PNG ? as_png(m, out)
                              : as_jpeg(m, out);
}

static psfm_exif parse(const maker *m, int format, int width, int height) {
    static uint8_t bytes[110000];
    psfm_exif exif;
    psfm_exif_parse(bytes, make_bytes(m, format, bytes), width, height, &exif);
    return exif;
}

static const entry position[] = {{1, ASCII, 2, {'S'}}, {2, RATIONAL, 3, {33, 1, 30, 1, 3600, 100}},
                                 {3, ASCII, 2, {'E'}}, {4, RATIONAL, 3, {151, 1, 12, 1, 0, 1}},
                                 {5, BYTE, 1, {1}},    {6, RATIONAL, 1, {125, 10}}};

static void equivalent_focal_length_goes_by_the_diagonal(void **state) {
    (void)state;
    const entry photo[] = {{0x920a, RATIONAL, 1, {50, 10}}, {0xa405, SHORT, 1, {36}}};
    for (int big = 0; big < 2; ++big) {
        for (int format = AS_JPEG; format <= AS_TIFF; ++format) {
            maker m = make_file(big, photo, 2, position, 6);
            psfm_exif exif = parse(&m, format, 3000, 2000);
            assert_true(exif.has_focal);
            assert_close(exif.focal_px, 3000.0, 1e-9); /* 36 mm wide film, 36 mm lens */
            assert_int_equal(exif.orientation, 6);
            exif = parse(&m, format, 2000, 3000);
            assert_close(exif.focal_px, 3000.0, 1e-9);
        }
    }
}

static void focal_plane_resolution_is_used(void **state) {
    (void)state;
    /* 200 pixels per mm, in inches, centimetres, millimetres and micrometres */
    static const struct {
        uint32_t unit, numerator, denominator;
    } units[] = {{2, 5080, 1}, {3, 2000, 1}, {4, 200, 1}, {5, 1, 5}};
    for (size_t k = 0; k < 4; ++k) {
        const entry photo[] = {{0x920a, RATIONAL, 1, {24, 1}},
                               {0xa002, LONG, 1, {6000}},
                               {0xa003, LONG, 1, {4000}},
                               {0xa20e, RATIONAL, 1, {units[k].numerator, units[k].denominator}},
                               {0xa210, SHORT, 1, {units[k].unit}}};
        maker m = make_file(k % 2, photo, 5, position, 0);
        psfm_exif exif = parse(&m, AS_JPEG, 6000, 4000);
        assert_true(exif.has_focal);
        assert_close(exif.focal_px, 4800.0, 1e-6);
        exif = parse(&m, AS_JPEG, 1500, 1000); /* made smaller since */
        assert_close(exif.focal_px, 1200.0, 1e-6);
        assert_false(exif.has_position);
    }
}

static void position_has_signs(void **state) {
    (void)state;
    entry gps[6];
    memcpy(gps, position, sizeof gps);
    maker m = make_file(false, NULL, 0, gps, 6);
    psfm_exif exif = parse(&m, AS_JPEG, 100, 100);
    assert_false(exif.has_focal);
    assert_true(exif.has_position);
    assert_close(exif.latitude_deg, -33.51, 1e-12);
    assert_close(exif.longitude_deg, 151.2, 1e-12);
    assert_true(exif.has_altitude);
    assert_close(exif.altitude_m, -12.5, 1e-12);
    gps[0].numbers[0] = 'N';
    gps[2].numbers[0] = 'W';
    gps[4].numbers[0] = 0;
    m = make_file(false, NULL, 0, gps, 6);
    exif = parse(&m, AS_JPEG, 100, 100);
    assert_close(exif.latitude_deg, 33.51, 1e-12);
    assert_close(exif.longitude_deg, -151.2, 1e-12);
    assert_close(exif.altitude_m, 12.5, 1e-12);
    m = make_file(false, NULL, 0, gps, 4); /* no altitude */
    exif = parse(&m, AS_JPEG, 100, 100);
    assert_true(exif.has_position);
    assert_false(exif.has_altitude);
}

/* libexif looks at 64 kB; the directories of a TIFF file are often behind its pixels. */
static void directories_of_a_tiff_file_are_found_anywhere(void **state) {
    (void)state;
    const entry photo[] = {{0x920a, RATIONAL, 1, {50, 10}}, {0xa405, SHORT, 1, {36}}};
    gap = 100000;
    for (int big = 0; big < 2; ++big) {
        maker m = make_file(big, photo, 2, position, 6);
        psfm_exif exif = parse(&m, AS_TIFF, 3000, 2000);
        assert_true(exif.has_focal && exif.has_position && exif.has_altitude);
        assert_close(exif.focal_px, 36.0 * hypot(3000.0, 2000.0) / 43.266615305567875, 1e-9);
        assert_close(exif.latitude_deg, -33.51, 1e-12);
        assert_close(exif.longitude_deg, 151.2, 1e-12);
        assert_close(exif.altitude_m, -12.5, 1e-12);
        assert_int_equal(exif.orientation, 6);
    }
    gap = 0;
}

static void nonsense_is_left_out(void **state) {
    (void)state;
    entry gps[6];
    memcpy(gps, position, sizeof gps);
    gps[1].numbers[0] = 91; /* beyond the pole */
    const entry zero[] = {{0x920a, RATIONAL, 1, {0, 0}}, {0xa405, SHORT, 1, {0}}};
    maker m = make_file(false, zero, 2, gps, 6);
    psfm_exif exif = parse(&m, AS_JPEG, 3000, 2000);
    assert_false(exif.has_focal);
    assert_false(exif.has_position);
    gps[1].numbers[0] = 33;
    gps[1].numbers[3] = 0;                          /* division by zero */
    const entry huge[] = {{0xa405, SHORT, 1, {1}}}; /* 1 mm on film: 177 degrees, still sane */
    m = make_file(false, huge, 1, gps, 6);
    exif = parse(&m, AS_JPEG, 3000, 2000);
    assert_true(exif.has_focal);
    assert_false(exif.has_position);
    const entry tiny[] = {{0x920a, RATIONAL, 1, {1, 1000000}},
                          {0xa20e, RATIONAL, 1, {200, 1}},
                          {0xa210, SHORT, 1, {4}}};
    m = make_file(false, tiny, 3, gps, 0);
    exif = parse(&m, AS_JPEG, 3000, 2000);
    assert_false(exif.has_focal);
}

static void damaged_files_give_nothing_or_something(void **state) {
    (void)state;
    const entry photo[] = {{0x920a, RATIONAL, 1, {50, 10}}, {0xa405, SHORT, 1, {36}}};
    maker m = make_file(true, photo, 2, position, 6);
    for (int format = AS_JPEG; format <= AS_TIFF; ++format) {
        uint8_t bytes[4096];
        size_t size = make_bytes(&m, format, bytes);
        psfm_exif exif;
        for (size_t n = 0; n < size; ++n) {
            uint8_t *copy = malloc(n + 1); /* so that a read past the end is noticed */
            memcpy(copy, bytes, n);
            psfm_exif_parse(copy, n, 100, 100, &exif);
            free(copy);
        }
        for (size_t n = 0; n < size; ++n) {
            bytes[n] ^= 0xff;
            psfm_exif_parse(bytes, size, 100, 100, &exif);
            bytes[n] ^= 0xff;
        }
        psfm_exif_parse(bytes, size, 3000, 2000, &exif);
        assert_true(exif.has_focal && exif.has_position);
    }
    psfm_exif exif;
    psfm_exif_parse((const uint8_t *)"text", 4, 100, 100, &exif);
    assert_false(exif.has_focal || exif.has_position);
}

static void unreadable_file_fails(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_exif exif;
    assert_int_equal(psfm_exif_read(ctx, "/no/such/photo.jpg", 10, 10, &exif), PSFM_ERR_IO);
    assert_non_null(strstr(psfm_context_message(ctx), "/no/such/photo.jpg"));
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equivalent_focal_length_goes_by_the_diagonal),
        cmocka_unit_test(focal_plane_resolution_is_used),
        cmocka_unit_test(position_has_signs),
        cmocka_unit_test(directories_of_a_tiff_file_are_found_anywhere),
        cmocka_unit_test(nonsense_is_left_out),
        cmocka_unit_test(damaged_files_give_nothing_or_something),
        cmocka_unit_test(unreadable_file_fails),
    };
    return cmocka_run_group_tests_name("image/exif", tests, NULL, NULL);
}
