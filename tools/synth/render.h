/* Photographs of the synthetic scenes, with ground truth. Every plane of a scene is exactly where
 * the truth has it; cameras and poses are those of psfm_scene_make. */
#ifndef PSFM_SYNTH_RENDER_H
#define PSFM_SYNTH_RENDER_H

#include "synth/scene.h"

typedef struct {
    int width;              /* of the images; the scene's cameras are scaled from 1280 x 720 */
    int samples;            /* n samples a pixel, (3n / 2)^2 more at edges */
    double noise;           /* standard deviation of the sensor noise, grey levels */
    double exposure;        /* images differ by up to so many stops either way */
    double white_balance;   /* red and blue differ by up to this share either way */
    double vignetting;      /* share of the light missing in the corners */
    double gloss;           /* share of the mirror image in the court's floor at a grazing angle */
    int num_players;        /* on the court of an arena */
    double moving;          /* share of them who stand elsewhere in every image */
    int game;               /* psfm_game: whose lines are on the floor of an arena */
    double people;          /* share of the lines' length that people hide in each image */
    double wear;            /* share of the lines' paint that is gone */
    double glare;           /* of lamps in the floor; 1: patches are white */
    int num_other_games;    /* whose lines are on the floor, too */
    int num_advertisements; /* painted on the floor */
    int jpeg_quality;
} psfm_render_options;

extern const psfm_option_table psfm_render_option_table;

/* Renders a scene of the given kind (not PSFM_SCENE_GENERAL: a cloud of points has no surface) into
 * FOLDER/images/cam_0001.jpg, ... and writes FOLDER/gt, a COLMAP text model with camera and poses
 * but no points. Options NULL are the defaults. With scene->duplicates > 0 the scene is symmetric:
 * equal under a turn by 180 degrees, but for players, or made of equal bays or cells; the other
 * options about points and matches have no effect. A FOLDER/images that holds anything but images
 * of an earlier scene is refused, otherwise replaced as a whole. Progress is reported by image;
 * memory is about 20 MB a thread for 1280 x 720, whatever the number of images. Same arguments,
 * same bytes, for any number of threads. */
psfm_status psfm_scene_render(psfm_context *ctx, psfm_scene_kind kind, uint64_t seed,
                              const psfm_scene_options *scene, const psfm_render_options *render,
                              const char *folder);

#endif
