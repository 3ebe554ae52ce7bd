/* Widths of sensors by camera, for photographs whose EXIF data tell the focal length in millimetres
 * but neither its 35 mm equivalent nor the resolution of the sensor. */
#ifndef PSFM_CAMERA_SENSOR_TABLE_H
#define PSFM_CAMERA_SENSOR_TABLE_H

/* Width of the sensor (its longer side) in millimetres; 0 if the camera is not in the table. make
 * and model as in EXIF data; case does not matter. */
double psfm_sensor_width_mm(const char *make, const char *model);

#endif
