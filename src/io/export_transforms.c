/* transforms.json as nerfstudio and instant-ngp read it.
 *
 * Poses are camera to world with OpenGL's camera axes (x right, y up, z backwards), so the second
 * and third column of R^T change their sign. Focal lengths and principal point are in pixels with
 * the first pixel's centre at (0.5, 0.5), as in COLMAP. Intrinsics stand at the top if all images
 * share one camera, otherwise in every frame. Perspective lenses have k1, k2, k3 (r^2, r^4, r^6),
 * p1, p2; fisheye lenses k1 to k4. The world is left as it is: upright models have z up, as these
 * programs want it. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/path.h"
#include "camera/lens.h"
#include "io/export.h"
#include "linalg/mat3.h"

#define POINTS_NAME "sparse_pc.ply"

static bool add_number(cJSON *object, const char *name, double value) {
    return cJSON_AddNumberToObject(object, name, value) != NULL;
}

static psfm_status find_lens(psfm_context *ctx, const psfm_camera *camera, psfm_lens *lens) {
    return psfm_export_lens(
        ctx, camera, PSFM_LENS_TWO_FOCALS | PSFM_LENS_K3 | PSFM_LENS_TANGENTIAL | PSFM_LENS_FISHEYE,
        "transforms.json", lens);
}

static bool add_intrinsics(cJSON *object, const psfm_camera *camera, const psfm_lens *lens) {
    static const char *const radial[] = {"k1", "k2", "k3", "k4"};
    bool ok =
        add_number(object, "w", (double)camera->width) &&
        add_number(object, "h", (double)camera->height) &&
        add_number(object, "fl_x", lens->focal[0]) && add_number(object, "fl_y", lens->focal[1]) &&
        add_number(object, "cx", lens->center[0]) && add_number(object, "cy", lens->center[1]);
    for (int k = 0; ok && k < (lens->is_angular ? 4 : 3); ++k)
        ok = add_number(object, radial[k], lens->radial[k]);
    if (lens->is_angular)
        return ok && cJSON_AddBoolToObject(object, "is_fisheye", true) != NULL;
    return ok && add_number(object, "p1", lens->tangential[0]) &&
           add_number(object, "p2", lens->tangential[1]);
}

/* Rows of a matrix with four columns. */
static bool add_matrix(cJSON *object, const char *name, const double (*rows)[4], int num_rows) {
    cJSON *matrix = cJSON_AddArrayToObject(object, name);
    for (int r = 0; matrix != NULL && r < num_rows; ++r) {
        cJSON *row = cJSON_CreateDoubleArray(rows[r], 4);
        if (row == NULL || !cJSON_AddItemToArray(matrix, row)) {
            cJSON_Delete(row);
            return false;
        }
    }
    return matrix != NULL;
}

static bool add_pose(cJSON *frame, const psfm_model_image *image) {
    double R[9], center[3], rows[4][4] = {{0}};
    psfm_rotation_from_quat(image->cam_from_world_q, R);
    psfm_model_image_center(image, center);
    for (int r = 0; r < 3; ++r) {
        rows[r][0] = R[r];
        rows[r][1] = -R[3 + r];
        rows[r][2] = -R[6 + r];
        rows[r][3] = center[r];
    }
    rows[3][3] = 1.0;
    return add_matrix(frame, "transform_matrix", (const double(*)[4])rows, 4);
}

static psfm_status add_frame(psfm_context *ctx, const psfm_export_input *in, cJSON *frames,
                             const psfm_model_image *image, bool own_intrinsics) {
    char *path = NULL;
    psfm_lens lens;
    const psfm_camera *camera = psfm_model_camera(in->model, image->camera_id);
    psfm_status status = find_lens(ctx, camera, &lens);
    if (status != PSFM_OK)
        return status;
    cJSON *frame = cJSON_CreateObject();
    if (frame == NULL || !cJSON_AddItemToArray(frames, frame)) {
        cJSON_Delete(frame);
        return psfm_fail(ctx, PSFM_ERR_MEMORY, "out of memory");
    }
    status = psfm_export_image_path(ctx, in, image->name, &path);
    if (status != PSFM_OK)
        return status;
    bool ok = cJSON_AddStringToObject(frame, "file_path", path) != NULL &&
              add_number(frame, "colmap_im_id", image->id) &&
              (!own_intrinsics || add_intrinsics(frame, camera, &lens)) && add_pose(frame, image);
    free(path);
    return ok ? PSFM_OK : psfm_fail(ctx, PSFM_ERR_MEMORY, "out of memory");
}

/* The words before the frames; all cameras must be of one kind. */
static psfm_status add_head(psfm_context *ctx, const psfm_model *model, cJSON *root) {
    static const double identity[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    psfm_lens first = {0}, lens;
    for (size_t c = 0; c < model->num_cameras; ++c) {
        psfm_status status = find_lens(ctx, &model->cameras[c], &lens);
        if (status != PSFM_OK)
            return status;
        if (c == 0)
            first = lens;
        if (lens.is_angular != first.is_angular)
            return psfm_fail(ctx, PSFM_ERR_DATA,
                             "cameras %u and %u are a perspective and a fisheye lens; "
                             "transforms.json has one camera_model for all",
                             model->cameras[0].id, model->cameras[c].id);
    }
    const char *name = first.is_angular ? "OPENCV_FISHEYE" : "OPENCV";
    bool ok = cJSON_AddStringToObject(root, "camera_model", name) != NULL;
    if (model->num_cameras == 1)
        ok = ok && add_intrinsics(root, &model->cameras[0], &first);
    ok = ok && add_matrix(root, "applied_transform", identity, 3);
    if (model->num_points > 0)
        ok = ok && cJSON_AddStringToObject(root, "ply_file_path", POINTS_NAME) != NULL;
    return ok ? PSFM_OK : psfm_fail(ctx, PSFM_ERR_MEMORY, "out of memory");
}

/* The points beside the file, for programs that start from them. */
static psfm_status write_points(psfm_context *ctx, const psfm_export_input *in, const char *path) {
    const char *slash = strrchr(path, '/');
    char *folder = NULL, *points = NULL;
    psfm_status status = psfm_path_join(ctx, "", slash == NULL ? "." : path, &folder);
    if (status == PSFM_OK && slash != NULL)
        folder[slash - path] = '\0';
    if (status == PSFM_OK)
        status = psfm_path_join(ctx, slash == path ? "/" : folder, POINTS_NAME, &points);
    if (status == PSFM_OK)
        status = psfm_export_points_ply(ctx, in, points);
    free(folder);
    free(points);
    return status;
}

psfm_status psfm_export_transforms(psfm_context *ctx, const psfm_export_input *in,
                                   const char *path) {
    const psfm_model *model = in->model;
    cJSON *root = cJSON_CreateObject(), *frames = NULL;
    psfm_status status = root == NULL ? psfm_fail(ctx, PSFM_ERR_MEMORY, "out of memory")
                                      : add_head(ctx, model, root);
    if (status == PSFM_OK) {
        frames = cJSON_AddArrayToObject(root, "frames");
        if (frames == NULL)
            status = psfm_fail(ctx, PSFM_ERR_MEMORY, "out of memory");
    }
    for (size_t k = 0; status == PSFM_OK && k < model->num_images; ++k)
        status = add_frame(ctx, in, frames, &model->images[k], model->num_cameras != 1);
    if (status == PSFM_OK && model->num_points > 0)
        status = write_points(ctx, in, path);
    if (status == PSFM_OK)
        status = psfm_json_write(ctx, root, path);
    cJSON_Delete(root);
    return status;
}
