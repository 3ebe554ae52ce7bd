#include <sys/stat.h>
#include <unistd.h>

#include "formats/hdf5_file.h"
#include "hdf5_util.h"

static psfm_context *ctx;
static char folder[] = "/tmp/psfm_h5_XXXXXX";
static char path[64];

static int make_file(void **state) {
    (void)state;
    const double values[6] = {1.5, -2.25, 3, 4, 5, 6.5};
    const int64_t whole[3] = {-1, 7, INT64_C(5000000000)};
    hid_t half = make_half(), file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    put_dataset(file, "b/x.jpg/keypoints", 2, 3, 2, half, H5T_NATIVE_DOUBLE, values);
    put_dataset(file, "a.jpg/keypoints", 2, 2, 3, H5T_IEEE_F64BE, H5T_NATIVE_DOUBLE, values);
    put_dataset(file, "a.jpg/scores", 1, 3, 1, H5T_STD_I64LE, H5T_NATIVE_INT64, whole);
    put_dataset(file, "empty/keypoints", 2, 0, 2, half, H5T_NATIVE_DOUBLE, NULL);
    put_dataset(file, "K", 2, 2, 3, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values);
    hid_t text = H5Tcopy(H5T_C_S1);
    put_dataset(file, "a.jpg/name", 1, 2, 1, text, text, "ab");
    hid_t space = H5Screate(H5S_SCALAR);
    H5Dclose(
        H5Dcreate2(file, "scalar", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    const hsize_t huge[2] = {1 << 20, 1 << 20};
    hid_t plane = H5Screate_simple(2, huge, NULL);
    H5Dclose(
        H5Dcreate2(file, "huge", H5T_NATIVE_INT, plane, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(plane);
    H5Sclose(space);
    H5Tclose(text);
    H5Tclose(half);
    return H5Fclose(file) < 0;
}

static void groups_are_found(void **state) {
    (void)state;
    psfm_h5 h5;
    psfm_h5_names names;
    assert_ok(ctx, psfm_h5_open(ctx, path, &h5));
    assert_ok(ctx, psfm_h5_find_groups(&h5, "keypoints", &names));
    assert_int_equal(names.num, 3);
    assert_string_equal(names.names[0], "a.jpg");
    assert_string_equal(names.names[1], "b/x.jpg");
    assert_string_equal(names.names[2], "empty");
    psfm_h5_names_free(&names);
    assert_ok(ctx, psfm_h5_find_groups(&h5, "points", &names));
    assert_int_equal(names.num, 0);
    assert_true(psfm_h5_has(&h5, "a.jpg", "scores") && psfm_h5_has(&h5, "", "K"));
    assert_true(!psfm_h5_has(&h5, "a.jpg", "score") && !psfm_h5_has(&h5, "c.jpg", "scores"));
    psfm_h5_close(&h5);
    psfm_h5_close(&h5);
}

static void numbers_are_converted(void **state) {
    (void)state;
    psfm_h5 h5;
    float *f;
    int32_t *i;
    size_t rows, cols;
    assert_ok(ctx, psfm_h5_open(ctx, path, &h5));
    assert_ok(ctx, psfm_h5_read_f32(&h5, "b/x.jpg", "keypoints", &f, &rows, &cols));
    assert_true(rows == 3 && cols == 2 && f[1] == -2.25F && f[5] == 6.5F);
    free(f);
    assert_ok(ctx, psfm_h5_read_f32(&h5, "", "K", &f, &rows, &cols));
    assert_true(rows == 2 && cols == 3 && f[5] == 6.5F);
    free(f);
    assert_ok(ctx, psfm_h5_read_i32(&h5, "a.jpg", "scores", &i, &rows, &cols));
    assert_true(rows == 3 && cols == 1 && i[0] == -1 && i[1] == 7 && i[2] == INT32_MAX);
    free(i);
    assert_ok(ctx, psfm_h5_read_f32(&h5, "empty", "keypoints", &f, &rows, &cols));
    assert_true(rows == 0 && cols == 2);
    free(f);
    psfm_h5_close(&h5);
}

/* A dataset of two float32 that HDF5 itself would read from `secret` by external storage, from
 * other.h5 by an external link, or from there as a virtual dataset. */
static void put_elsewhere(const char *name, const char *secret, const char *other) {
    const hsize_t size = 2;
    const float values[2] = {8, 9};
    hid_t file = H5Fcreate(other, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    put_dataset(file, "g/keypoints", 1, 2, 1, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, values);
    H5Fclose(file);
    file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, &size, NULL), outside = H5Pcreate(H5P_DATASET_CREATE);
    hid_t composed = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(outside, secret, 0, 8);
    H5Pset_virtual(composed, space, other, "g/keypoints", space);
    put_dataset(file, "a/keypoints", 1, 2, 1, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, values);
    H5Dclose(
        H5Dcreate2(file, "a/stored", H5T_IEEE_F32LE, space, H5P_DEFAULT, outside, H5P_DEFAULT));
    H5Dclose(
        H5Dcreate2(file, "a/virtual", H5T_IEEE_F32LE, space, H5P_DEFAULT, composed, H5P_DEFAULT));
    H5Lcreate_external(other, "g/keypoints", file, "a/linked", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/a/linked", file, "a/soft", H5P_DEFAULT, H5P_DEFAULT);
    H5Pclose(outside);
    H5Pclose(composed);
    H5Sclose(space);
    H5Fclose(file);
}

static void refuses(psfm_h5 *h5, const char *group, const char *name, const char *word);

/* The secret is a pipe, for which reading would wait. */
static void other_files_are_not_read(void **state) {
    (void)state;
    static const char *const names[] = {"stored", "virtual", "linked", "soft"};
    char secret[64], other[64], name[64];
    psfm_h5 h5;
    psfm_h5_names groups;
    snprintf(secret, sizeof secret, "%s/secret", folder);
    snprintf(other, sizeof other, "%s/other.h5", folder);
    snprintf(name, sizeof name, "%s/name.h5", folder);
    assert_int_equal(mkfifo(secret, 0600), 0);
    put_elsewhere(name, secret, other);
    assert_ok(ctx, psfm_h5_open(ctx, name, &h5));
    assert_ok(ctx, psfm_h5_find_groups(&h5, "keypoints", &groups));
    assert_int_equal(groups.num, 1);
    psfm_h5_names_free(&groups);
    for (size_t k = 0; k < sizeof names / sizeof names[0]; ++k)
        refuses(&h5, "a", names[k], "lies in another file");
    psfm_h5_close(&h5);
    unlink(secret);
    unlink(other);
    unlink(name);
}

static void refuses(psfm_h5 *h5, const char *group, const char *name, const char *word) {
    float *values;
    size_t rows, cols;
    assert_int_equal(psfm_h5_read_f32(h5, group, name, &values, &rows, &cols), PSFM_ERR_FORMAT);
    assert_null(values);
    assert_non_null(strstr(psfm_context_message(ctx), word));
}

static void what_is_no_matrix_is_refused(void **state) {
    (void)state;
    psfm_h5 h5;
    assert_ok(ctx, psfm_h5_open(ctx, path, &h5));
    refuses(&h5, "a.jpg", "nothing", "no a.jpg/nothing");
    refuses(&h5, "nowhere", "keypoints", "no nowhere/keypoints");
    refuses(&h5, "a.jpg", "name", "numbers");
    refuses(&h5, "", "scalar", "vector");
    refuses(&h5, "", "huge", "too large");
    refuses(&h5, "", "a.jpg", "no a.jpg");
    psfm_h5_close(&h5);
}

/* Every 400 bytes one is changed, or the file ends: a sentence or a result, nothing on standard
 * error, never a crash. */
static void broken_files_are_survived(void **state) {
    (void)state;
    char bytes[100000], broken[80];
    FILE *file = fopen(path, "rb");
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_true(size > 1000 && size < sizeof bytes);
    snprintf(broken, sizeof broken, "%s.broken", path);
    for (size_t k = 0; k < size; k += 200) {
        char kept = bytes[k];
        bytes[k] = (char)(kept ^ 0x5a);
        file = fopen(broken, "wb");
        fwrite(bytes, 1, k % 400 == 0 ? size : k, file);
        fclose(file);
        bytes[k] = kept;
        psfm_h5 h5;
        psfm_h5_names names = {0};
        if (psfm_h5_open(ctx, broken, &h5) == PSFM_OK &&
            psfm_h5_find_groups(&h5, "keypoints", &names) == PSFM_OK) {
            for (size_t n = 0; n < names.num; ++n) {
                float *values;
                size_t rows, cols;
                psfm_status status =
                    psfm_h5_read_f32(&h5, names.names[n], "keypoints", &values, &rows, &cols);
                assert_true(status == PSFM_OK || values == NULL);
                free(values);
            }
        }
        psfm_h5_names_free(&names);
        psfm_h5_close(&h5);
    }
    unlink(broken);
    psfm_h5 h5;
    assert_int_equal(psfm_h5_open(ctx, broken, &h5), PSFM_ERR_IO);
    assert_int_equal(psfm_h5_open(ctx, "/tmp", &h5), PSFM_ERR_IO);
    psfm_h5_close(&h5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_are_found),
        cmocka_unit_test(numbers_are_converted),
        cmocka_unit_test(what_is_no_matrix_is_refused),
        cmocka_unit_test(other_files_are_not_read),
        cmocka_unit_test(broken_files_are_survived),
    };
    ctx = psfm_context_create();
    if (ctx == NULL || mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/file.h5", folder);
    int failed = cmocka_run_group_tests(tests, make_file, NULL);
    unlink(path);
    rmdir(folder);
    psfm_context_destroy(&ctx);
    return failed;
}
