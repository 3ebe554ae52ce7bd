/* make_imc SCENE: writes the poses of SCENE/gt as SCENE/calibration/calibration_<image>.h5, and
 * lists of images, as the Phototourism data of the Image Matching Challenge have them. */
#include <hdf5.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/linalg/mat3.h"
#include "planarsfm/model.h"

static void put(hid_t file, const char *name, int rank, const double *values) {
    const hsize_t size[2] = {3, 3};
    hid_t space = H5Screate_simple(rank, size, NULL);
    hid_t set =
        H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(set);
    H5Sclose(space);
}

static void put_image(const char *scene, const psfm_model *model, const psfm_model_image *image) {
    const psfm_camera *camera = psfm_model_camera(model, image->camera_id);
    const double *p = camera->params; /* PINHOLE */
    const double K[9] = {p[0], 0, p[2], 0, p[1], p[3], 0, 0, 1};
    double R[9];
    char path[1024];
    snprintf(path, sizeof path, "%s/calibration/calibration_%.*s.h5", scene,
             (int)strcspn(image->name, "."), image->name);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    psfm_rotation_from_quat(image->cam_from_world_q, R);
    put(file, "K", 2, K);
    put(file, "R", 2, R);
    put(file, "T", 1, image->cam_from_world_t);
    H5Fclose(file);
}

/* A list of `size` images from `first` on. */
static void put_bag(const char *scene, const psfm_model *model, size_t size, size_t first) {
    char path[1024];
    snprintf(path, sizeof path, "%s/sub_set/%zubag_%03zu.txt", scene, size, first);
    FILE *file = fopen(path, "w");
    for (size_t k = 0; file != NULL && k < size; ++k)
        fprintf(file, "images/%s\n", model->images[(first + k) % model->num_images].name);
    if (file != NULL)
        fclose(file);
}

int main(int argc, char **argv) {
    psfm_model model;
    char path[1024];
    psfm_context *ctx = psfm_context_create();
    snprintf(path, sizeof path, "%s/gt", argc == 2 ? argv[1] : "");
    if (ctx == NULL || psfm_model_read(ctx, path, &model) != PSFM_OK)
        return 1;
    snprintf(path, sizeof path, "%s/calibration", argv[1]);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/sub_set", argv[1]);
    mkdir(path, 0777);
    for (size_t k = 0; k < model.num_images; ++k)
        put_image(argv[1], &model, &model.images[k]);
    put_bag(argv[1], &model, 3, 0);
    put_bag(argv[1], &model, 3, 3);
    put_bag(argv[1], &model, 5, 1);
    psfm_model_free(&model);
    psfm_context_destroy(&ctx);
    return 0;
}
