/* The stages of a run one by one, each from files to files, as the commands of the same names.
 * psfm_run_photographs goes through all of them, with as much effort as each photograph needs.
 *
 * What a call did is handed out as the JSON that its command prints, in *facts (NULL: not wanted),
 * for psfm_text_free. On failure *facts is NULL. */
#ifndef PLANARSFM_STAGES_H
#define PLANARSFM_STAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "planarsfm/context.h"
#include "planarsfm/reconstruct.h"
#include "planarsfm/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Frees *text and sets it to NULL. NULL and a pointer to NULL are fine. */
PSFM_API void psfm_text_free(char **text);

/* Features of the photographs below a folder into a COLMAP database, which is made if need be.
 * settings NULL = defaults; those about features count. Interrupted, the next call goes on. */
PSFM_API psfm_status psfm_extract_features(psfm_context *ctx, const char *folder,
                                           const char *database, const psfm_run_settings *settings,
                                           char **facts);

/* Raw matches of the features in a database. settings NULL = defaults; those about matches count.
 * Interrupted, the next call goes on. */
PSFM_API psfm_status psfm_match_features(psfm_context *ctx, const char *database,
                                         const psfm_run_settings *settings, char **facts);

/* Homographies and essential matrices of the matches in a database, kept there for a
 * reconstruction with the same settings, and with "geometries" in COLMAP's two_view_geometries.
 * settings NULL = defaults. Facts: "pairs", of these "planar" (with a homography that shows
 * parallax), "rotations" (without parallax) and "essential" (with an essential matrix);
 * "homographies", "inliers". */
PSFM_API psfm_status psfm_verify_matches(psfm_context *ctx, const char *database,
                                         const psfm_settings *settings, char **facts);

/* Writes a model (a COLMAP model folder, or the largest of a folder of results) in another format:
 * one of those that `planarsfm help convert` lists. image_folder is put before the names of images
 * in transforms.json (NULL: "images"); `planes` is the file of planes for ply (NULL: planes.json of
 * the results, if it is there). */
PSFM_API psfm_status psfm_convert_model(psfm_context *ctx, const char *model, const char *format,
                                        const char *out, const char *image_folder,
                                        const char *planes);

/* Makes OUT/report.html from the files in OUT: of a run, of psfm_align_model, or of a COLMAP model.
 * Thumbnails are of the photographs in photo_folder (NULL: where the run found them). */
PSFM_API psfm_status psfm_make_report(psfm_context *ctx, const char *out, const char *photo_folder);

/* What a model is aligned to: exactly one of positions, geo_positions, exif, gcp, court and
 * distance, or `upright`, which goes with distance. What is not given is NULL. */
typedef struct {
    size_t struct_size;        /* set by the caller */
    const char *positions;     /* file of camera positions: lines IMAGE x y z */
    const char *geo_positions; /* the same on the earth: lines IMAGE latitude longitude altitude */
    const char *exif;          /* folder of the photographs: positions from their GPS data */
    const char *gcp;           /* file of control points: lines X Y Z x y IMAGE [LABEL] */
    const char *court;         /* a court, with court_points or images */
    const char *court_points;  /* file of its points in images: lines LABEL IMAGE x y */
    const char *court_size;    /* "LENGTH,WIDTH" in metres, if it is not the usual one */
    const char *images;        /* folder of the photographs: the court is found by its lines */
    const char *distance[3];   /* two ends, each IMAGE (its camera) or IMAGE:x,y (a pixel on the
                                  dominant plane), and metres */
    bool upright;              /* the dominant plane becomes z = 0 with the cameras above it */
    bool opencv_pixels;        /* given pixels have the first pixel's centre at 0, 0 */
    const char *planes;        /* planes.json (NULL: of the results, if it is there) */
    bool no_report;            /* leave OUT/report.html out */
} psfm_align_request;

/* Moves a model (as of psfm_convert_model) into a known world, robustly, and writes it to a folder
 * with planes.json, alignment.json and report.html. Facts: "rotation" (row-major), "translation",
 * "scale" (of the world from the model), "items" with their residuals, "used", "rms", "median". */
PSFM_API psfm_status psfm_align_model(psfm_context *ctx, const char *model,
                                      const psfm_align_request *request, const char *out,
                                      char **facts);

#ifdef __cplusplus
}
#endif

#endif
