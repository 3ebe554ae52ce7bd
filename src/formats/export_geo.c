/* Camera positions on a map: KML (longitude,latitude,altitude; absolute heights) and GeoJSON
 * (RFC 7946: longitude, latitude, altitude). Both want a geo-referenced model. */
#include <math.h>
#include <stdio.h>

#include "core/base/escape.h"
#include "core/base/output.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "formats/export.h"
#include "formats/json.h"

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

static void add_feature(psfm_json_maker *m, cJSON *feature, const psfm_model_image *image,
                        const place *p) {
    const double at[3] = {p->position.longitude_deg, p->position.latitude_deg,
                          p->position.altitude_m};
    psfm_json_text(m, feature, "type", "Feature");
    cJSON *geometry = psfm_json_object(m, feature, "geometry");
    cJSON *properties = psfm_json_object(m, feature, "properties");
    psfm_json_numbers(m, geometry, "coordinates", at, 3);
    psfm_json_text(m, geometry, "type", "Point");
    psfm_json_text(m, properties, "name", image->name);
    psfm_json_number(m, properties, "heading_deg", p->heading_deg);
    psfm_json_number(m, properties, "tilt_deg", p->tilt_deg);
}

psfm_status psfm_export_geojson(psfm_context *ctx, const psfm_export_input *in, const char *path) {
    psfm_status status = check_reference(ctx, in);
    if (status != PSFM_OK)
        return status;
    psfm_json_maker m = {false};
    cJSON *root = cJSON_CreateObject();
    psfm_json_text(&m, root, "type", "FeatureCollection");
    cJSON *features = psfm_json_list(&m, root, "features");
    for (size_t k = 0; k < in->model->num_images; ++k) {
        place p;
        find_place(in, &in->model->images[k], &p);
        add_feature(&m, psfm_json_object(&m, features, NULL), &in->model->images[k], &p);
    }
    root = psfm_json_finish(&m, root);
    status = psfm_json_write(ctx, root, path);
    cJSON_Delete(root);
    return status;
}
