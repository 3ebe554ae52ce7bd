/* HDF5 files of hloc and of the Image Matching Challenge. An input that begins with HDF5's first
 * byte is a whole file, of features and of matches. Any other is a recipe: a good file whose groups
 * have datasets of the kinds, shapes and numbers that the input says, which reaches our checks
 * faster than damage to the file does. What is imported must be readable as a database. */
#include <hdf5.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../bench/imc_scene.h"
#include "intake/import_matches.h"
#include "io/colmap_database.h"

#define MAX_DATASETS 12
#define MAX_VALUES 64

typedef struct {
    const uint8_t *at, *end;
} source;

static uint8_t take_byte(source *from) {
    return from->at < from->end ? *from->at++ : 0;
}

static const char *const paths[] = {
    "a.jpg/keypoints",
    "a.jpg/descriptors",
    "a.jpg/scores",
    "a.jpg/image_size",
    "b.jpg/keypoints",
    "b.jpg/descriptors",
    "b.jpg/scores",
    "b.jpg/image_size",
    "d/c.jpg/keypoints",
    "d-c.jpg/keypoints",
    "a.jpg/b.jpg/matches0",
    "a.jpg/b.jpg/matching_scores0",
    "a.jpg_b.jpg/matches0",
    "b.jpg/a.jpg/matches0",
    "a.jpg/d-c.jpg/matches0",
    "a.jpg/d-c.jpg/matching_scores0",
    "a.jpg_a.jpg_b.jpg/matches0",
    "keypoints",
    "K",
    "R",
    "T",
    "a.jpg_a.jpg/keypoints",
};

/* Numbers that matter, and any others. */
static double take_value(source *from) {
    static const double special[] = {(double)NAN, (double)INFINITY, -1e30, 1e30, 3e9, -3e9, -1.0};
    uint8_t byte = take_byte(from);
    return byte < 240 ? (double)(byte % 32) - 1.0 : special[byte % 7];
}

static hid_t take_type(source *from) {
    const hid_t types[] = {H5T_IEEE_F32LE, H5T_IEEE_F64BE, H5T_STD_I32LE, H5T_STD_I64BE,
                           H5T_STD_U8LE,   H5T_STD_U64LE,  H5T_C_S1,      H5T_STD_REF_OBJ};
    uint8_t byte = take_byte(from);
    return types[byte < 128 ? byte % 4 : byte % 8];
}

static void write_dataset(hid_t file, const char *path, source *from) {
    hid_t type = take_type(from), links = H5Pcreate(H5P_LINK_CREATE);
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    int rank = take_byte(from) % 4;
    hsize_t size[3] = {1, 1, 1}, num = 1;
    double values[MAX_VALUES];
    for (int k = 0; k < rank; ++k) {
        size[k] = take_byte(from) % 8;
        num *= size[k];
    }
    if (rank > 0 && num > 0 && take_byte(from) > 200) {
        H5Pset_chunk(creation, rank, size);
        H5Pset_deflate(creation, 1);
    }
    H5Pset_create_intermediate_group(links, 1);
    hid_t space = rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, size, NULL);
    hid_t dataset = H5Dcreate2(file, path, type, space, links, creation, H5P_DEFAULT);
    if (dataset >= 0 && num <= MAX_VALUES && H5Tget_class(type) <= H5T_FLOAT) {
        for (hsize_t k = 0; k < num; ++k)
            values[k] = take_value(from);
        H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    }
    if (dataset >= 0)
        H5Dclose(dataset);
    H5Sclose(space);
    H5Pclose(links);
    H5Pclose(creation);
}

static void write_recipe(const char *path, source *from) {
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    if (file < 0)
        return;
    int num = take_byte(from) % MAX_DATASETS;
    for (int k = 0; k < num; ++k)
        write_dataset(file, paths[take_byte(from) % (sizeof paths / sizeof paths[0])], from);
    H5Fclose(file);
}

static void check_database(psfm_context *ctx, const char *path) {
    psfm_match_set set;
    if (psfm_database_read(ctx, path, &set, NULL) == PSFM_OK)
        psfm_match_set_free(&set);
}

/* HDF5 1.10 itself forgets some memory when it gives a damaged file up. */
const char *__lsan_default_suppressions(void);  /* NOLINT(bugprone-reserved-identifier) */
const char *__lsan_default_suppressions(void) { /* NOLINT(bugprone-reserved-identifier) */
    return "leak:libhdf5";
}

static void write_bytes(const char *path, const uint8_t *data, size_t size) {
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const kinds[] = {NULL, "sift", "superpoint"};
    char path[64], database[64];
    psfm_camera camera;
    psfm_model_image image = {0};
    source from = {data, data + size};
    psfm_context *ctx = psfm_context_create();
    if (ctx == NULL)
        abort();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    uint8_t last = size > 0 ? data[size - 1] : 0;
    psfm_hloc_options options = {.features = kinds[last % 3],
                                 .min_score = last % 2 == 1 ? 0.5 : 0.0,
                                 .intrinsics.camera_text = "PINHOLE,30,30,50,50,15,15"};
    snprintf(path, sizeof path, "/dev/shm/psfm_fuzz_hloc_%ld.h5", (long)getpid());
    snprintf(database, sizeof database, "/dev/shm/psfm_fuzz_hloc_%ld.db", (long)getpid());
    if (size > 0 && data[0] == 0x89)
        write_bytes(path, data, size);
    else
        write_recipe(path, &from);
    if (psfm_import_hloc(ctx, path, path, database, &options, NULL) == PSFM_OK)
        check_database(ctx, database);
    (void)!read_calibration(ctx, path, &camera, &image);
    unlink(database);
    unlink(path);
    psfm_context_destroy(&ctx);
    return 0;
}
