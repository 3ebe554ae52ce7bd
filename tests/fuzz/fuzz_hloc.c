/* HDF5 files of hloc and of the Image Matching Challenge. An input that begins with HDF5's first
 * byte is a whole file, of features and of matches. Any other is a recipe: a good file whose groups
 * have datasets of the kinds, shapes and numbers that the input says, which reaches our checks
 * faster than damage to the file does. What is imported must be readable as a database. Files and
 * database live in memory. */
#include <hdf5.h>

#include "../../bench/imc_scene.h"
#include "frontend/import_matches.h"
#include "fuzz_sql.h"

#define MAX_DATASETS 12
#define MAX_VALUES 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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

/* A file that is never written to a disk. */
static hid_t core_driver(void) {
    static hid_t access = -1;
    if (access < 0) {
        access = H5Pcreate(H5P_FILE_ACCESS);
        H5Pset_fapl_core(access, 1 << 14, 0);
    }
    return access;
}

static hid_t make_recipe(source *from) {
    hid_t file = H5Fcreate("recipe", H5F_ACC_TRUNC, H5P_DEFAULT, core_driver());
    int num = file < 0 ? 0 : take_byte(from) % MAX_DATASETS;
    for (int k = 0; k < num; ++k)
        write_dataset(file, paths[take_byte(from) % (sizeof paths / sizeof paths[0])], from);
    return file;
}

static hid_t open_bytes(const uint8_t *data, size_t size) {
    hid_t access = H5Pcopy(core_driver());
    H5Pset_file_image(access, (void *)data, size); /* HDF5 makes a copy */
    hid_t file = H5Fopen("file", H5F_ACC_RDONLY, access);
    H5Pclose(access);
    return file;
}

/* The one store, which is emptied after each input. */
static psfm_feature_store *open_store(psfm_context *ctx) {
    static psfm_feature_store store;
    if (store.sql.db == NULL) {
        store.sql = (psfm_sql){.ctx = ctx, .path = "store", .db = open_in_memory()};
        if (psfm_store_prepare(&store, true) != PSFM_OK)
            abort();
    }
    if (psfm_store_begin(&store) != PSFM_OK)
        abort();
    return &store;
}

/* HDF5 1.10 itself forgets some memory when it gives a damaged file up. */
const char *__lsan_default_suppressions(void);  /* NOLINT(bugprone-reserved-identifier) */
const char *__lsan_default_suppressions(void) { /* NOLINT(bugprone-reserved-identifier) */
    return "leak:libhdf5";
}

static void try_import(psfm_context *ctx, psfm_h5 *h5, uint8_t choice) {
    static const char *const kinds[] = {NULL, "sift", "superpoint"};
    psfm_match_set set = {0};
    psfm_database_stats stats = {0};
    psfm_camera camera;
    psfm_model_image image = {0};
    psfm_hloc_options options = {.features = kinds[choice % 3],
                                 .min_score = choice % 2 == 1 ? 0.5 : 0.0,
                                 .intrinsics.camera_text = "PINHOLE,30,30,50,50,15,15"};
    psfm_feature_store *store = open_store(ctx);
    if (psfm_import_hloc_files(ctx, h5, h5, store, &options, NULL) == PSFM_OK &&
        psfm_database_read_tables(&store->sql, &set, &stats) == PSFM_OK &&
        psfm_match_set_check(ctx, &set) != PSFM_OK)
        abort();
    psfm_match_set_free(&set);
    sqlite3_exec(store->sql.db, "ROLLBACK", NULL, NULL, NULL);
    (void)!read_calibration(h5, &camera, &image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static psfm_context *ctx;
    source from = {data, data + size};
    if (ctx == NULL) {
        ctx = psfm_context_create();
        H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    }
    psfm_h5 h5 = {.ctx = ctx, .path = "fuzz.h5"};
    h5.file = size > 0 && data[0] == 0x89 ? open_bytes(data, size) : make_recipe(&from);
    if (h5.file > 0)
        try_import(ctx, &h5, size > 0 ? data[size - 1] : 0);
    psfm_h5_close(&h5);
    return 0;
}
