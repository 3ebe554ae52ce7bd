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
#include <sys/stat.h>

#include "core/base/path.h"
#include "core/camera/lens.h"
#include "core/linalg/mat3.h"
#include "formats/export.h"
#include "formats/json.h"

#define POINTS_NAME "sparse_pc.ply"

static psfm_status find_lens(psfm_context *ctx, const psfm_camera *camera, psfm_lens *lens) {
    return psfm_export_lens(ctx, camera, false, "transforms.json", lens);
}

static void add_intrinsics(psfm_json_maker *m, cJSON *object, const psfm_camera *camera,
                           const psfm_lens *lens) {
    static const char *const radial[] = {"k1", "k2", "k3", "k4"};
    psfm_json_number(m, object, "w", (double)camera->width);
    psfm_json_number(m, object, "h", (double)camera->height);
    psfm_json_number(m, object, "fl_x", lens->focal[0]);
    psfm_json_number(m, object, "fl_y", lens->focal[1]);
    psfm_json_number(m, object, "cx", lens->center[0]);
    psfm_json_number(m, object, "cy", lens->center[1]);
    for (int k = 0; k < (lens->is_angular ? 4 : 3); ++k)
        psfm_json_number(m, object, radial[k], lens->radial[k]);
    if (lens->is_angular) {
        psfm_json_flag(m, object, "is_fisheye", true);
        return;
    }
    psfm_json_number(m, object, "p1", lens->tangential[0]);
    psfm_json_number(m, object, "p2", lens->tangential[1]);
}

/* Rows of a matrix with four columns. */
static void add_matrix(psfm_json_maker *m, cJSON *object, const char *name, const double (*rows)[4],
                       int num_rows) {
    cJSON *matrix = psfm_json_list(m, object, name);
    for (int r = 0; r < num_rows; ++r)
        psfm_json_numbers(m, matrix, NULL, rows[r], 4);
}

static void add_pose(psfm_json_maker *m, cJSON *frame, const psfm_model_image *image) {
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
    add_matrix(m, frame, "transform_matrix", (const double(*)[4])rows, 4);
}

static psfm_status add_frame(psfm_context *ctx, const psfm_export_input *in, psfm_json_maker *m,
                             cJSON *frames, const psfm_model_image *image) {
    char *path = NULL;
    psfm_lens lens;
    const psfm_camera *camera = psfm_model_camera(in->model, image->camera_id);
    psfm_status status = find_lens(ctx, camera, &lens);
    if (status == PSFM_OK)
        status = psfm_path_join(ctx, in->image_folder == NULL ? "" : in->image_folder, image->name,
                                &path);
    if (status != PSFM_OK)
        return status;
    cJSON *frame = psfm_json_object(m, frames, NULL);
    psfm_json_text(m, frame, "file_path", path);
    psfm_json_number(m, frame, "colmap_im_id", image->id);
    if (in->model->num_cameras != 1)
        add_intrinsics(m, frame, camera, &lens);
    add_pose(m, frame, image);
    free(path);
    return PSFM_OK;
}

/* The words before the frames; all cameras must be of one kind. */
static psfm_status add_head(psfm_context *ctx, const psfm_model *model, bool with_points,
                            psfm_json_maker *m, cJSON *root) {
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
    psfm_json_text(m, root, "camera_model", first.is_angular ? "OPENCV_FISHEYE" : "OPENCV");
    if (model->num_cameras == 1)
        add_intrinsics(m, root, &model->cameras[0], &first);
    add_matrix(m, root, "applied_transform", identity, 3);
    if (with_points)
        psfm_json_text(m, root, "ply_file_path", POINTS_NAME);
    return PSFM_OK;
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
        status = psfm_check_points_ply(ctx, points);
    if (status == PSFM_OK)
        status = psfm_export_points_ply(ctx, in, points);
    free(folder);
    free(points);
    return status;
}

/* Beside a device or a pipe there is no place for points. */
static bool has_points(const psfm_model *model, const char *path) {
    struct stat info;
    return model->num_points > 0 && (stat(path, &info) != 0 || S_ISREG(info.st_mode));
}

psfm_status psfm_export_transforms(psfm_context *ctx, const psfm_export_input *in,
                                   const char *path) {
    const psfm_model *model = in->model;
    psfm_json_maker m = {false};
    cJSON *root = cJSON_CreateObject();
    const bool with_points = has_points(model, path);
    psfm_status status = add_head(ctx, model, with_points, &m, root);
    cJSON *frames = psfm_json_list(&m, root, "frames");
    for (size_t k = 0; status == PSFM_OK && k < model->num_images; ++k)
        status = add_frame(ctx, in, &m, frames, &model->images[k]);
    root = psfm_json_finish(&m, root);
    if (status == PSFM_OK && root != NULL && with_points)
        status = write_points(ctx, in, path);
    if (status == PSFM_OK)
        status = psfm_json_write(ctx, root, path);
    cJSON_Delete(root);
    return status;
}
