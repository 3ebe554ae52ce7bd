/* geo_reference.json beside a model: the place on the earth that its origin is. */
#include "formats/geo_reference.h"

#include <stdlib.h>

#include "core/base/path.h"
#include "formats/json.h"

#define FILE_NAME "geo_reference.json"
#define MAX_FILE ((size_t)1 << 16)

static const char *const fields[] = {"latitude_deg", "longitude_deg", "altitude_m"};

psfm_status psfm_geo_reference_parse(psfm_context *ctx, const char *text, size_t size,
                                     const char *path, psfm_geo_reference *geo) {
    psfm_status status = PSFM_OK;
    double value[3];
    cJSON *root = psfm_json_parse(text, size);
    if (!cJSON_IsObject(root))
        status = psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: not a JSON object", path);
    for (int k = 0; status == PSFM_OK && k < 3; ++k) {
        const cJSON *number = cJSON_GetObjectItemCaseSensitive(root, fields[k]);
        if (!cJSON_IsNumber(number))
            status = psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: no number %s", path, fields[k]);
        else
            value[k] = number->valuedouble;
    }
    cJSON_Delete(root);
    if (status != PSFM_OK)
        return status;
    psfm_geodetic origin = {value[0], value[1], value[2]};
    if (!psfm_geodetic_is_valid(&origin))
        return psfm_fail(ctx, PSFM_ERR_FORMAT,
                         "%s: latitude %g, longitude %g, altitude %g is not "
                         "a place on the earth",
                         path, value[0], value[1], value[2]);
    geo->origin = origin;
    return PSFM_OK;
}

psfm_status psfm_geo_reference_read(psfm_context *ctx, const char *folder, psfm_geo_reference *geo,
                                    bool *found) {
    char *path = NULL, *text = NULL;
    size_t size = 0;
    *found = false;
    psfm_status status = psfm_path_join(ctx, folder, FILE_NAME, &path);
    if (status == PSFM_OK && psfm_path_is_file(path)) {
        status = psfm_read_file(ctx, path, MAX_FILE, &text, &size);
        if (status == PSFM_OK)
            status = psfm_geo_reference_parse(ctx, text, size, path, geo);
        *found = status == PSFM_OK;
    }
    free(path);
    free(text);
    return status;
}

static cJSON *to_json(const psfm_geo_reference *geo) {
    const double value[3] = {geo->origin.latitude_deg, geo->origin.longitude_deg,
                             geo->origin.altitude_m};
    psfm_json_maker m = {false};
    cJSON *root = cJSON_CreateObject();
    psfm_json_text(&m, root, "frame", "ENU");
    for (int k = 0; k < 3; ++k)
        psfm_json_number(&m, root, fields[k], value[k]);
    return psfm_json_finish(&m, root);
}

psfm_status psfm_geo_reference_write(psfm_context *ctx, const char *folder,
                                     const psfm_geo_reference *geo) {
    char *path = NULL;
    psfm_status status = psfm_path_join(ctx, folder, FILE_NAME, &path);
    if (status == PSFM_OK && geo == NULL) {
        status = psfm_remove_all(ctx, path);
    } else if (status == PSFM_OK) {
        cJSON *root = to_json(geo);
        status = psfm_json_write(ctx, root, path);
        cJSON_Delete(root);
    }
    free(path);
    return status;
}
