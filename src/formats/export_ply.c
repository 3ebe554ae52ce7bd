/* PLY for viewers: the points with their colours, each camera as a pyramid from its centre through
 * the corners of its image, each plane as a polygon of its colour. ASCII. */
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/output.h"
#include "core/base/path.h"
#include "core/linalg/mat3.h"
#include "formats/export.h"
#include "formats/planes_file.h"

#define OUR_COMMENT "comment written by planarsfm"
#define CAMERA_CORNERS 5
#define CAMERA_FACES 5
#define CAMERA_SIZE 0.04 /* depth of a pyramid, as a share of the cameras' extent */

static const uint8_t camera_color[3] = {60, 120, 255};

static void print_vertex(FILE *file, const double X[3], const uint8_t rgb[3]) {
    fprintf(file, "%.9g %.9g %.9g %d %d %d\n", X[0], X[1], X[2], rgb[0], rgb[1], rgb[2]);
}

static void print_header(FILE *file, size_t num_vertices, size_t num_faces) {
    fprintf(file,
            "ply\nformat ascii 1.0\n" OUR_COMMENT
            "\nelement vertex %zu\nproperty float x\nproperty float y\n"
            "property float z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n",
            num_vertices);
    if (num_faces > 0)
        fprintf(file, "element face %zu\nproperty list uchar int vertex_indices\n", num_faces);
    fprintf(file, "end_header\n");
}

/* Diagonal of the box round the camera centres; 1 for a single place. */
static double camera_extent(const psfm_model *model) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (size_t k = 0; k < model->num_images; ++k) {
        double center[3];
        psfm_model_image_center(&model->images[k], center);
        for (int c = 0; c < 3; ++c) {
            low[c] = fmin(low[c], center[c]);
            high[c] = fmax(high[c], center[c]);
        }
    }
    double d[3];
    psfm_sub3(high, low, d);
    double extent = psfm_norm3(d);
    return isfinite(extent) && extent > 0.0 ? extent : 1.0;
}

/* Centre, then the corners of the image at this depth. */
static void print_camera(FILE *file, const psfm_model *model, const psfm_model_image *image,
                         double depth) {
    static const int corner[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    const psfm_camera *camera = psfm_model_camera(model, image->camera_id);
    double R[9], center[3];
    psfm_rotation_from_quat(image->cam_from_world_q, R);
    psfm_model_image_center(image, center);
    print_vertex(file, center, camera_color);
    for (int k = 0; k < 4; ++k) {
        double xy[2] = {corner[k][0] * (double)camera->width,
                        corner[k][1] * (double)camera->height};
        double ray[3], world[3], X[3];
        /* a corner beyond the lens, or beside the camera, is drawn at 45 degrees */
        if (!psfm_camera_unproject(camera, xy, ray) || ray[2] < 0.3) {
            ray[0] = corner[k][0] - 0.5;
            ray[1] = corner[k][1] - 0.5;
            ray[2] = 0.7;
        }
        psfm_mat3_tmul_vec(R, ray, world);
        psfm_axpy3(center, depth / ray[2], world, X);
        print_vertex(file, X, camera_color);
    }
}

static void print_camera_faces(FILE *file, size_t first) {
    for (size_t k = 0; k < 4; ++k)
        fprintf(file, "3 %zu %zu %zu\n", first, first + 1 + k, first + 1 + (k + 1) % 4);
    fprintf(file, "4 %zu %zu %zu %zu\n", first + 1, first + 4, first + 3, first + 2);
}

static void print_plane_face(FILE *file, size_t first, uint32_t num) {
    fprintf(file, "%u", num);
    for (uint32_t k = 0; k < num; ++k)
        fprintf(file, " %zu", first + k);
    fputc('\n', file);
}

/* A face's corners are counted by one byte. */
static bool is_drawn(const psfm_scene_plane *plane) {
    return plane->num_corners >= 3 && plane->num_corners <= 255;
}

static void print_points(FILE *file, const psfm_model *model) {
    for (size_t k = 0; k < model->num_points; ++k)
        print_vertex(file, model->points[k].xyz, model->points[k].rgb);
}

static void print_planes(FILE *file, const psfm_scene_planes *planes) {
    for (uint32_t k = 0; planes != NULL && k < planes->num_planes; ++k) {
        uint8_t rgb[3];
        psfm_plane_color(k, rgb);
        for (uint32_t c = 0; is_drawn(&planes->planes[k]) && c < planes->planes[k].num_corners; ++c)
            print_vertex(file, planes->planes[k].polygon[c], rgb);
    }
}

psfm_status psfm_export_ply(psfm_context *ctx, const psfm_export_input *in, const char *path) {
    const psfm_model *model = in->model;
    const psfm_scene_planes *planes = in->planes;
    size_t num_vertices = model->num_points + CAMERA_CORNERS * model->num_images;
    size_t num_faces = CAMERA_FACES * model->num_images;
    for (uint32_t k = 0; planes != NULL && k < planes->num_planes; ++k) {
        num_vertices += is_drawn(&planes->planes[k]) ? planes->planes[k].num_corners : 0;
        num_faces += is_drawn(&planes->planes[k]);
    }
    psfm_output out = {0};
    psfm_status status = psfm_output_open(ctx, path, &out);
    if (status != PSFM_OK)
        return status;
    double depth = CAMERA_SIZE * camera_extent(model);
    print_header(out.file, num_vertices, num_faces);
    print_points(out.file, model);
    for (size_t k = 0; k < model->num_images; ++k)
        print_camera(out.file, model, &model->images[k], depth);
    print_planes(out.file, planes);
    size_t first = model->num_points;
    for (size_t k = 0; k < model->num_images; ++k, first += CAMERA_CORNERS)
        print_camera_faces(out.file, first);
    for (uint32_t k = 0; planes != NULL && k < planes->num_planes; ++k) {
        if (!is_drawn(&planes->planes[k]))
            continue;
        print_plane_face(out.file, first, planes->planes[k].num_corners);
        first += planes->planes[k].num_corners;
    }
    return psfm_output_commit(ctx, &out);
}

psfm_status psfm_check_points_ply(psfm_context *ctx, const char *path) {
    char head[256] = "";
    FILE *file = NULL;
    struct stat info;
    if (stat(path, &info) != 0)
        return PSFM_OK;
    psfm_status status = psfm_open_file(ctx, path, &file);
    if (status != PSFM_OK)
        return status;
    head[fread(head, 1, sizeof head - 1, file)] = '\0';
    fclose(file);
    return strstr(head, OUR_COMMENT) != NULL
               ? PSFM_OK
               : psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                           "%s: was not written by planarsfm and would be replaced; move it or "
                           "choose another place",
                           path);
}

psfm_status psfm_export_points_ply(psfm_context *ctx, const psfm_export_input *in,
                                   const char *path) {
    psfm_output out = {0};
    psfm_status status = psfm_output_open(ctx, path, &out);
    if (status != PSFM_OK)
        return status;
    print_header(out.file, in->model->num_points, 0);
    print_points(out.file, in->model);
    return psfm_output_commit(ctx, &out);
}
