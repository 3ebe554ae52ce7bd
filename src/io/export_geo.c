/* Camera positions on a map: KML (longitude,latitude,altitude; absolute heights) and GeoJSON
 * (RFC 7946: longitude, latitude, altitude). Both want a geo-referenced model. */
#include <math.h>
#include <stdio.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/output.h"
#include "io/export.h"
#include "linalg/angle.h"
#include "linalg/mat3.h"

static psfm_status check_reference(psfm_context *ctx, const psfm_export_input *in) {
    if (in->geo != NULL)
        return PSFM_OK;
    return psfm_fail(ctx, PSFM_ERR_DATA,
                     "the model is not geo-referenced; 'planarsfm align' does that with --exif, "
                     "--geo-positions or control points in degrees or UTM");
}

typedef struct {
    psfm_geodetic position;
    double heading_deg; /* of the optical axis, clockwise from north, 0 to 360 */
    double tilt_deg;    /* of the optical axis above the horizon, -90 straight down */
} place;

static void find_place(const psfm_export_input *in, const psfm_model_image *image, place *out) {
    double R[9], center[3];
    psfm_rotation_from_quat(image->cam_from_world_q, R);
    psfm_model_image_center(image, center);
    psfm_geodetic_from_enu(&in->geo->origin, center, &out->position);
    double heading = psfm_degrees(atan2(R[6], R[7]));
    out->heading_deg = heading < 0.0 ? heading + 360.0 : heading;
    out->tilt_deg = psfm_degrees(atan2(R[8], hypot(R[6], R[7])));
}

psfm_status psfm_export_kml(psfm_context *ctx, const psfm_export_input *in, const char *path) {
    psfm_output out = {0};
    psfm_status status = check_reference(ctx, in);
    if (status == PSFM_OK)
        status = psfm_output_open(ctx, path, &out);
    if (status != PSFM_OK)
        return status;
    fprintf(out.file, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                      "<kml xmlns=\"http://www.opengis.net/kml/2.2\">\n<Document>\n"
                      "<name>Cameras</name>\n");
    for (size_t k = 0; k < in->model->num_images; ++k) {
        place p;
        find_place(in, &in->model->images[k], &p);
        fprintf(out.file, "<Placemark><name>");
        psfm_print_xml(out.file, in->model->images[k].name);
        fprintf(out.file,
                "</name><description>heading %.2f, tilt %.2f degrees</description>"
                "<Point><altitudeMode>absolute</altitudeMode>"
                "<coordinates>%.10f,%.10f,%.4f</coordinates></Point></Placemark>\n",
                p.heading_deg, p.tilt_deg, p.position.longitude_deg, p.position.latitude_deg,
                p.position.altitude_m);
    }
    fprintf(out.file, "</Document>\n</kml>\n");
    return psfm_output_commit(ctx, &out);
}

/* An object that is owned by `parent` from the start; NULL when memory is out. */
static cJSON *add_member(cJSON *list) {
    cJSON *object = list == NULL ? NULL : cJSON_CreateObject();
    if (object != NULL && !cJSON_AddItemToArray(list, object)) {
        cJSON_Delete(object);
        return NULL;
    }
    return object;
}

static bool add_feature(cJSON *features, const psfm_model_image *image, const place *p) {
    const double at[3] = {p->position.longitude_deg, p->position.latitude_deg,
                          p->position.altitude_m};
    cJSON *feature = add_member(features);
    if (feature == NULL || cJSON_AddStringToObject(feature, "type", "Feature") == NULL)
        return false;
    cJSON *geometry = cJSON_AddObjectToObject(feature, "geometry");
    cJSON *properties = cJSON_AddObjectToObject(feature, "properties");
    cJSON *coordinates = cJSON_CreateDoubleArray(at, 3);
    if (geometry == NULL || coordinates == NULL ||
        !cJSON_AddItemToObject(geometry, "coordinates", coordinates)) {
        cJSON_Delete(coordinates);
        return false;
    }
    return properties != NULL && cJSON_AddStringToObject(geometry, "type", "Point") != NULL &&
           cJSON_AddStringToObject(properties, "name", image->name) != NULL &&
           cJSON_AddNumberToObject(properties, "heading_deg", p->heading_deg) != NULL &&
           cJSON_AddNumberToObject(properties, "tilt_deg", p->tilt_deg) != NULL;
}

psfm_status psfm_export_geojson(psfm_context *ctx, const psfm_export_input *in, const char *path) {
    psfm_status status = check_reference(ctx, in);
    if (status != PSFM_OK)
        return status;
    cJSON *root = cJSON_CreateObject();
    bool ok = root != NULL && cJSON_AddStringToObject(root, "type", "FeatureCollection") != NULL;
    cJSON *features = ok ? cJSON_AddArrayToObject(root, "features") : NULL;
    ok = features != NULL;
    for (size_t k = 0; ok && k < in->model->num_images; ++k) {
        place p;
        find_place(in, &in->model->images[k], &p);
        ok = add_feature(features, &in->model->images[k], &p);
    }
    status = ok ? psfm_json_write(ctx, root, path)
                : psfm_fail(ctx, PSFM_ERR_MEMORY, "%s: out of memory", path);
    cJSON_Delete(root);
    return status;
}
