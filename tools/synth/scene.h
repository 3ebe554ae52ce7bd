/* Synthetic scenes with ground truth: the data behind the tests, the demo and the benchmarks.
 *
 * World frame in metres, z up. All images are 1280 x 720 and share one camera, unless their focal
 * lengths differ. A point has one
 * keypoint in every image that shows it, with one draw of noise, so that matches form tracks;
 * keypoints are in random order. Nothing hides anything, but for the blocks of a city. */
#ifndef PSFM_SYNTH_SCENE_H
#define PSFM_SYNTH_SCENE_H

#include "core/base/options.h"
#include "core/matches/match_set.h"
#include "planarsfm/model.h"

typedef enum {
    PSFM_SCENE_ARENA,   /* ring of cameras round a 28 x 15 m court, stands for the off-plane part */
    PSFM_SCENE_FIELD,   /* drone grid over a flat field */
    PSFM_SCENE_ROOM,    /* inside a box: six planes */
    PSFM_SCENE_FACADE,  /* cameras along a building front */
    PSFM_SCENE_GENERAL, /* a cloud of points, no plane */
    /* Photographs only: things hide each other. */
    PSFM_SCENE_TURNTABLE, /* a curved, painted object through a long lens */
    PSFM_SCENE_STATUE,    /* visitors' photographs in a square: light and focal lengths differ */
    PSFM_SCENE_BOARD,     /* one plane with strict repetition */
    PSFM_SCENE_MUG,       /* once round a mug with the same print on opposite sides, in a room */
    /* Matches only. */
    PSFM_SCENE_CITY, /* walks along the fronts of blocks in a grid of streets */
} psfm_scene_kind;

typedef struct {
    int num_cameras;
    int num_points;   /* in the whole scene; 0: 400 to 1400 in an image, by scene and num_cameras */
    double noise_px;  /* standard deviation per coordinate */
    double outliers;  /* share of each pair's matches that join a wrong keypoint */
    double off_plane; /* share of the points off the scene's main plane(s) */
    /* Share of the pairs that are matched to the scene's duplicate: every true match is replaced by
     * one to the same point of the scene turned by 180 degrees about a vertical axis, or of the
     * facade's next bay. The scene is then symmetric, so that these points exist; a field is made
     * of equal cells, and num_points is rounded to fill them. */
    double duplicates;
    int neighbours;   /* pairs: each camera with this many on either side (ring or grid order) */
    bool open_chain;  /* the order does not wrap round; fields and facades never do */
    double miss;      /* share of the common points that a pair fails to match */
    int camera_model; /* psfm_camera_model; PINHOLE by default */
    /* 1200 for 1280 x 720; fields, facades and objects are seen from further with more. A turntable
     * takes four times as much, a city half. */
    double focal_px;
    /* More than 1: every image has a camera of its own, whose focal length is focal_px times or
     * divided by up to this. At least 1.5 for a statue. */
    double focal_spread;
    double oblique_deg; /* fields: how far ahead the camera looks from straight down */
} psfm_scene_options;

extern const psfm_option_table psfm_scene_option_table;

/* Owns everything in it. Views and images have the ids 1, 2, ... and the names "cam_0001.jpg", ...;
 * keypoints are the same in both. Truth has the points that at least one image shows. */
typedef struct {
    psfm_match_set matches;  /* rays computed */
    psfm_model truth;        /* poses, points and tracks */
    bool *pair_is_duplicate; /* per pair of `matches` */
    int *point_plane;        /* per point of `truth`: index of the plane it lies on, -1 if none */
} psfm_scene;

/* Makes a scene; options NULL are the defaults. PSFM_ERR_ARGUMENT if the scene is for photographs
 * only, PSFM_ERR_DATA if more duplicate pairs are asked for than
 * show at least 20 points of the duplicate. Freed by psfm_scene_free; empty on failure. Cost: about
 * 0.1 ms a pair and 0.3 ms a camera. */
psfm_status psfm_scene_make(psfm_context *ctx, psfm_scene_kind kind, uint64_t seed,
                            const psfm_scene_options *options, psfm_scene *scene);
void psfm_scene_free(psfm_scene *scene);

/* "arena", "field", ... and back; false if the name is unknown. */
const char *psfm_scene_kind_name(psfm_scene_kind kind);
bool psfm_scene_kind_from_name(const char *name, psfm_scene_kind *kind);

#endif
