/* HDF5 files: groups that hold a dataset of a name, and datasets as numbers of one type, converted
 * by the library. It is the only file that includes HDF5's headers.
 *
 * A dataset can lie in other files, by an external link, by external storage, or put together from
 * datasets elsewhere (virtual). Whoever made the file would choose which files of ours are read, so
 * numbers come from the file itself or not at all. */
#include "formats/hdf5_file.h"

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/path.h"
#include "core/base/text.h"

#define MAX_NUMBERS ((size_t)1 << 28)

psfm_status psfm_h5_open(psfm_context *ctx, const char *path, psfm_h5 *out) {
    *out = (psfm_h5){.ctx = ctx, .path = path};
    psfm_status status = psfm_path_check(ctx, path);
    if (status == PSFM_OK && !psfm_path_is_file(path))
        status = psfm_fail(ctx, PSFM_ERR_IO, "%s: no such file", path);
    if (status != PSFM_OK)
        return status;
    /* HDF5 prints to standard error unless told otherwise; the setting is the process's. */
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0)
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: cannot be read as an HDF5 file", path);
    out->file = file;
    return PSFM_OK;
}

void psfm_h5_close(psfm_h5 *h5) {
    if (h5->file > 0)
        H5Fclose(h5->file);
    h5->file = 0;
}

void psfm_h5_names_free(psfm_h5_names *names) {
    for (size_t k = 0; k < names->num; ++k)
        free(names->names[k]);
    free(names->names);
    *names = (psfm_h5_names){0};
}

/* ---- where datasets are ---- */

typedef struct {
    psfm_context *ctx;
    const char *dataset;
    psfm_h5_names *names;
    psfm_status status;
} search;

static herr_t visit_object(hid_t object, const char *path, const H5O_info_t *info, void *user) {
    (void)object;
    search *s = user;
    const char *slash = strrchr(path, '/');
    if (info->type != H5O_TYPE_DATASET || slash == NULL || strcmp(slash + 1, s->dataset) != 0)
        return 0;
    psfm_h5_names *list = s->names;
    s->status = PSFM_RESERVE(s->ctx, &list->names, &list->capacity, list->num + 1);
    if (s->status == PSFM_OK)
        s->status = psfm_strdup(s->ctx, path, &list->names[list->num]);
    if (s->status != PSFM_OK)
        return -1;
    list->names[list->num++][slash - path] = '\0';
    return 0;
}

psfm_status psfm_h5_find_groups(psfm_h5 *h5, const char *dataset, psfm_h5_names *out) {
    *out = (psfm_h5_names){0};
    search s = {h5->ctx, dataset, out, PSFM_OK};
#if H5_VERSION_GE(1, 12, 0) /* since then H5O_info_t is that of H5Ovisit3 */
    herr_t done =
        H5Ovisit3(h5->file, H5_INDEX_NAME, H5_ITER_NATIVE, visit_object, &s, H5O_INFO_BASIC);
#else
    herr_t done =
        H5Ovisit2(h5->file, H5_INDEX_NAME, H5_ITER_NATIVE, visit_object, &s, H5O_INFO_BASIC);
#endif
    if (s.status == PSFM_OK && done < 0)
        s.status = psfm_fail(h5->ctx, PSFM_ERR_FORMAT, "%s: its groups cannot be read", h5->path);
    if (s.status != PSFM_OK)
        psfm_h5_names_free(out);
    else if (out->num > 0)
        qsort(out->names, out->num, sizeof *out->names, psfm_compare_strings);
    return s.status;
}

static psfm_status join_names(const psfm_h5 *h5, const char *group, const char *name, char **path) {
    return group[0] == '\0' ? psfm_strdup(h5->ctx, name, path)
                            : psfm_path_join(h5->ctx, group, name, path);
}

bool psfm_h5_has(const psfm_h5 *h5, const char *group, const char *name) {
    /* the group was found by walking through the file, which follows no links */
    bool found = false;
    hid_t parent = H5Oopen(h5->file, group[0] == '\0' ? "/" : group, H5P_DEFAULT);
    if (parent >= 0) {
        found = H5Lexists(parent, name, H5P_DEFAULT) > 0;
        H5Oclose(parent);
    }
    return found;
}

/* ---- nothing from other files ---- */

static psfm_status refuse_elsewhere(const psfm_h5 *h5, const char *path) {
    return psfm_fail(h5->ctx, PSFM_ERR_FORMAT,
                     "%s: %s lies in another file (an external link, external storage or a virtual "
                     "dataset), which is not followed",
                     h5->path, path);
}

/* HDF5 asks before it follows an external link. */
static herr_t refuse_link(const char *parent_file, const char *parent_group, const char *file,
                          const char *object, unsigned *flags, hid_t access, void *user) {
    (void)parent_file, (void)parent_group, (void)file, (void)object, (void)flags, (void)access;
    *(bool *)user = true;
    return -1;
}

static psfm_status open_dataset(const psfm_h5 *h5, const char *path, hid_t *dataset) {
    bool is_elsewhere = false;
    hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    *dataset = -1;
    if (access < 0 || H5Pset_elink_cb(access, refuse_link, &is_elsewhere) < 0) {
        H5Pclose(access);
        return psfm_fail_memory(h5->ctx);
    }
    *dataset = H5Dopen2(h5->file, path, access);
    H5Pclose(access);
    if (*dataset >= 0)
        return PSFM_OK;
    return is_elsewhere ? refuse_elsewhere(h5, path)
                        : psfm_fail(h5->ctx, PSFM_ERR_FORMAT, "%s: there is no %s", h5->path, path);
}

static psfm_status check_storage(const psfm_h5 *h5, const char *path, hid_t dataset) {
    hid_t made = H5Dget_create_plist(dataset);
    bool is_here =
        made >= 0 && H5Pget_layout(made) != H5D_VIRTUAL && H5Pget_external_count(made) == 0;
    if (made >= 0)
        H5Pclose(made);
    return is_here ? PSFM_OK : refuse_elsewhere(h5, path);
}

/* ---- numbers ---- */

static psfm_status get_shape(const psfm_h5 *h5, const char *path, hid_t dataset, size_t *rows,
                             size_t *cols) {
    hsize_t size[2] = {0, 1};
    hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
    int rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    H5T_class_t kind = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    bool good = (rank == 1 || rank == 2) && (kind == H5T_FLOAT || kind == H5T_INTEGER) &&
                H5Sget_simple_extent_dims(space, size, NULL) == rank;
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    if (!good)
        return psfm_fail(h5->ctx, PSFM_ERR_FORMAT, "%s: %s is not a vector or a matrix of numbers",
                         h5->path, path);
    if (size[1] > 0 && size[0] > MAX_NUMBERS / size[1])
        return psfm_fail(h5->ctx, PSFM_ERR_FORMAT, "%s: %s is too large: %llu x %llu", h5->path,
                         path, (unsigned long long)size[0], (unsigned long long)size[1]);
    *rows = (size_t)size[0];
    *cols = (size_t)size[1];
    return PSFM_OK;
}

static psfm_status read_open(const psfm_h5 *h5, const char *path, hid_t dataset, hid_t as,
                             void **values, size_t *rows, size_t *cols) {
    psfm_status status = get_shape(h5, path, dataset, rows, cols);
    if (status == PSFM_OK)
        status = psfm_alloc(h5->ctx, *rows * *cols, H5Tget_size(as), values);
    if (status == PSFM_OK && *rows * *cols > 0 &&
        H5Dread(dataset, as, H5S_ALL, H5S_ALL, H5P_DEFAULT, *values) < 0) {
        free(*values);
        *values = NULL;
        status = psfm_fail(h5->ctx, PSFM_ERR_FORMAT, "%s: %s cannot be read", h5->path, path);
    }
    return status;
}

static psfm_status read_numbers(psfm_h5 *h5, const char *group, const char *name, hid_t as,
                                void **values, size_t *rows, size_t *cols) {
    char *path = NULL;
    *values = NULL;
    *rows = *cols = 0;
    psfm_status status = join_names(h5, group, name, &path);
    hid_t dataset = -1;
    if (status == PSFM_OK)
        status = open_dataset(h5, path, &dataset);
    if (status == PSFM_OK)
        status = check_storage(h5, path, dataset);
    if (status == PSFM_OK)
        status = read_open(h5, path, dataset, as, values, rows, cols);
    if (dataset >= 0)
        H5Dclose(dataset);
    free(path);
    return status;
}

psfm_status psfm_h5_read_f32(psfm_h5 *h5, const char *group, const char *name, float **values,
                             size_t *rows, size_t *cols) {
    void *read = NULL;
    psfm_status status = read_numbers(h5, group, name, H5T_NATIVE_FLOAT, &read, rows, cols);
    *values = read;
    return status;
}

psfm_status psfm_h5_read_i32(psfm_h5 *h5, const char *group, const char *name, int32_t **values,
                             size_t *rows, size_t *cols) {
    void *read = NULL;
    psfm_status status = read_numbers(h5, group, name, H5T_NATIVE_INT32, &read, rows, cols);
    *values = read;
    return status;
}
