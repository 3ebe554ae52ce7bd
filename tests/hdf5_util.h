/* Writing small HDF5 files. */
#ifndef PSFM_HDF5_UTIL_H
#define PSFM_HDF5_UTIL_H

#include <hdf5.h>

#include "test_util.h"

/* IEEE's half precision, as hloc stores features. The caller closes it. */
static inline hid_t make_half(void) {
    hid_t half = H5Tcopy(H5T_IEEE_F32LE);
    assert_true(H5Tset_fields(half, 15, 10, 5, 0, 10) >= 0);
    assert_true(H5Tset_size(half, 2) >= 0 && H5Tset_ebias(half, 15) >= 0);
    return half;
}

/* Creates `path` with its groups; memory_type is the type of `values`. */
static inline void put_dataset(hid_t file, const char *path, int rank, hsize_t rows, hsize_t cols,
                               hid_t stored_type, hid_t memory_type, const void *values) {
    const hsize_t size[2] = {rows, cols};
    hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    hid_t space = H5Screate_simple(rank, size, NULL);
    hid_t dataset = H5Dcreate2(file, path, stored_type, space, links, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(dataset >= 0);
    if (rows * cols > 0)
        assert_true(H5Dwrite(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Pclose(links);
}

#endif
