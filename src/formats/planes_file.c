/* planes.json and planes.ply. Colours are hues a golden section of the circle apart, so that those
 * of neighbouring numbers differ. */
#include "formats/planes_file.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/number_locale.h"
#include "core/base/output.h"
#include "core/base/path.h"
#include "formats/json.h"

void psfm_plane_color(uint32_t k, uint8_t rgb[3]) {
    /* hues a golden angle apart never come close to each other soon */
    double hue = fmod(0.08 + 0.6180339887498949 * k, 1.0) * 6.0;
    for (int c = 0; c < 3; ++c) {
        double x = fmod(hue + 6.0 - 2.0 * c, 6.0);
        double level = fmin(fmax(fabs(x - 3.0) - 1.0, 0.0), 1.0);
        rgb[c] = (uint8_t)(70.0 + 170.0 * level);
    }
}

static void add_plane(psfm_json_maker *m, cJSON *object, const psfm_scene_plane *plane,
                      uint32_t k) {
    uint8_t rgb[3];
    psfm_plane_color(k, rgb);
    const double color[3] = {rgb[0], rgb[1], rgb[2]};
    psfm_json_numbers(m, object, "normal", plane->normal, 3);
    psfm_json_numbers(m, object, "color", color, 3);
    psfm_json_number(m, object, "distance", plane->distance);
    psfm_json_number(m, object, "points", plane->num_points);
    psfm_json_number(m, object, "sigma", plane->sigma);
    psfm_json_number(m, object, "area", plane->area);
    psfm_json_number(m, object, "model", plane->component);
    cJSON *polygon = psfm_json_list(m, object, "polygon");
    for (uint32_t c = 0; c < plane->num_corners; ++c)
        psfm_json_numbers(m, polygon, NULL, plane->polygon[c], 3);
}

psfm_status psfm_planes_write_json(psfm_context *ctx, const psfm_scene_planes *planes,
                                   const char *path, char **text) {
    psfm_json_maker m = {false};
    cJSON *root = cJSON_CreateObject(), *list = psfm_json_list(&m, root, "planes");
    for (uint32_t k = 0; k < planes->num_planes; ++k)
        add_plane(&m, psfm_json_object(&m, list, NULL), &planes->planes[k], k);
    char *written = NULL;
    root = psfm_json_finish(&m, root);
    psfm_status status = psfm_json_write_and_keep(ctx, root, path, &written);
    cJSON_Delete(root);
    if (text != NULL)
        *text = written;
    else
        cJSON_free(written);
    return status;
}

#define MAX_FILE ((size_t)1 << 30)

static bool read_number(const cJSON *object, const char *name, double *out) {
    return psfm_json_get_number(cJSON_GetObjectItemCaseSensitive(object, name), out);
}

static psfm_status read_plane(psfm_context *ctx, const cJSON *object, const char *path, size_t k,
                              psfm_scene_plane *plane) {
    double num_points = 0.0, model = 0.0;
    (void)read_number(object, "model", &model); /* files of earlier versions have none */
    const cJSON *polygon = cJSON_GetObjectItemCaseSensitive(object, "polygon"), *corner;
    bool ok = psfm_json_get_numbers(cJSON_GetObjectItemCaseSensitive(object, "normal"), 3,
                                    plane->normal) &&
              read_number(object, "distance", &plane->distance) &&
              read_number(object, "points", &num_points) &&
              read_number(object, "sigma", &plane->sigma) &&
              read_number(object, "area", &plane->area) && cJSON_IsArray(polygon);
    if (!ok || !(num_points >= 0.0 && num_points <= 4e9) || !(model >= 0.0 && model <= 1e9))
        return psfm_fail(ctx, PSFM_ERR_FORMAT,
                         "%s: plane %zu lacks normal, distance, points, sigma, area or polygon",
                         path, k);
    plane->num_points = (uint32_t)num_points;
    plane->component = (uint32_t)model;
    size_t num = (size_t)cJSON_GetArraySize(polygon);
    psfm_status status = PSFM_ALLOC(ctx, num, &plane->polygon);
    if (status != PSFM_OK)
        return status;
    cJSON_ArrayForEach(corner, polygon) {
        if (!psfm_json_get_numbers(corner, 3, plane->polygon[plane->num_corners]))
            return psfm_fail(ctx, PSFM_ERR_FORMAT,
                             "%s: plane %zu: a corner is not three finite numbers", path, k);
        ++plane->num_corners;
    }
    return PSFM_OK;
}

psfm_status psfm_planes_parse_json(psfm_context *ctx, const char *text, size_t size,
                                   const char *path, psfm_scene_planes *planes) {
    *planes = (psfm_scene_planes){0};
    cJSON *root = psfm_json_parse(text, size);
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "planes"), *object;
    psfm_status status = PSFM_OK;
    if (!cJSON_IsArray(list))
        status =
            psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: not a JSON object with a list 'planes'", path);
    else
        status = PSFM_ALLOC(ctx, (size_t)cJSON_GetArraySize(list), &planes->planes);
    cJSON_ArrayForEach(object, list) {
        if (status != PSFM_OK)
            break;
        uint32_t k = planes->num_planes++;
        status = read_plane(ctx, object, path, k, &planes->planes[k]);
    }
    cJSON_Delete(root);
    if (status != PSFM_OK)
        psfm_scene_planes_free(planes);
    return status;
}

psfm_status psfm_planes_read_json(psfm_context *ctx, const char *path, psfm_scene_planes *planes) {
    char *text = NULL;
    size_t size = 0;
    *planes = (psfm_scene_planes){0};
    psfm_status status = psfm_read_file(ctx, path, MAX_FILE, &text, &size);
    if (status == PSFM_OK)
        status = psfm_planes_parse_json(ctx, text, size, path, planes);
    free(text);
    return status;
}

static void print_ply(FILE *file, const psfm_scene_planes *planes) {
    size_t num_vertices = 0, num_faces = 0, first = 0;
    for (uint32_t k = 0; k < planes->num_planes; ++k) {
        num_vertices += planes->planes[k].num_corners;
        num_faces += planes->planes[k].num_corners >= 3;
    }
    fprintf(file,
            "ply\nformat ascii 1.0\nelement vertex %zu\nproperty double x\nproperty double y\n"
            "property double z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n"
            "element face %zu\nproperty list uint uint vertex_indices\nend_header\n",
            num_vertices, num_faces);
    for (uint32_t k = 0; k < planes->num_planes; ++k) {
        uint8_t rgb[3];
        psfm_plane_color(k, rgb);
        for (uint32_t c = 0; c < planes->planes[k].num_corners; ++c) {
            const double *X = planes->planes[k].polygon[c];
            fprintf(file, "%.9g %.9g %.9g %d %d %d\n", X[0], X[1], X[2], rgb[0], rgb[1], rgb[2]);
        }
    }
    for (uint32_t k = 0; k < planes->num_planes; ++k) {
        uint32_t n = planes->planes[k].num_corners;
        if (n >= 3)
            fprintf(file, "%u", n);
        for (uint32_t c = 0; n >= 3 && c < n; ++c)
            fprintf(file, " %zu", first + c);
        if (n >= 3)
            fputc('\n', file);
        first += n;
    }
}

psfm_status psfm_planes_write_ply(psfm_context *ctx, const psfm_scene_planes *planes,
                                  const char *path) {
    psfm_output out = {0};
    psfm_status status = psfm_output_open(ctx, path, &out);
    if (status != PSFM_OK)
        return status;
    locale_t before = psfm_number_locale_begin();
    print_ply(out.file, planes);
    psfm_number_locale_end(before);
    return psfm_output_commit(ctx, &out);
}
