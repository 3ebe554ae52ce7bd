/* The inside of a synthetic scene: its plan, points and camera poses, before anything is observed.
 * World frame: metres, z up. */
#ifndef PSFM_SYNTH_WORLD_H
#define PSFM_SYNTH_WORLD_H

#include "core/base/rng.h"
#include "synth/scene.h"

#define PSFM_NO_INDEX UINT32_MAX

/* Independent streams of random numbers of one scene: psfm_synth_rng(plan, stream, index). */
typedef enum {
    PSFM_STREAM_CAMERA, /* by camera */
    PSFM_STREAM_POINTS,
    PSFM_STREAM_OBJECT, /* by object: hut, tree, piece of furniture */
    PSFM_STREAM_NOISE,  /* by camera */
    PSFM_STREAM_ORDER,  /* by camera: order of its keypoints */
    PSFM_STREAM_DUPLICATE,
    PSFM_STREAM_MATCH,    /* by pair, view1 in the upper half */
    PSFM_STREAM_SENSOR,   /* by image and row, the image in the upper half */
    PSFM_STREAM_EXPOSURE, /* by image */
    PSFM_STREAM_SEAT,     /* by seat */
    PSFM_STREAM_PLAYER,   /* by player, the image (if it moves) in the upper half */
    PSFM_STREAM_PAINT,    /* by part of the scene: the seeds of its textures */
    PSFM_STREAM_FOCAL,    /* by camera */
    PSFM_STREAM_LIGHT,    /* by image */
    PSFM_STREAM_CROWD,    /* by image */
} psfm_synth_stream;

typedef struct psfm_layout psfm_layout;

/* Sizes of a scene, fixed before the first random draw. */
typedef struct {
    const psfm_layout *layout;
    const psfm_scene_options *options;
    uint64_t seed;
    double focal_px, focal_spread; /* of the options, and what the layout makes of them */
    psfm_camera camera; /* of all images, but for their focal lengths: psfm_plan_camera */
    size_t num_cameras;
    size_t num_points; /* asked for, or the layout's choice */
    /* The ground plan is a grid of cells with the same points in each; one cell unless there are
     * duplicates. origin is the centre of the first cell. */
    int num_cells[2];
    double cell_size[2], origin[2];
    int columns;       /* of a camera grid; 0 for a chain of cameras */
    double pair_reach; /* pairs: images whose view points are no further apart; 0: by their order */
    double
        reach; /* a camera sees nothing further from its view point (on the ground plan); 0: all */
} psfm_plan;

typedef struct {
    double q[4], R[9], t[3]; /* X_cam = R X + t; R is exactly that of the quaternion q */
    double center[3];
    double view[2]; /* the point of the ground plan in the middle of the view */
} psfm_synth_pose;

/* One kind of scene. */
struct psfm_layout {
    const char *name;
    bool never_wraps;        /* a chain that cannot close */
    bool duplicate_is_shift; /* the duplicate is the next cell, not the turn by 180 degrees */
    bool swaps_planes;       /* the turn takes plane 2k to 2k + 1 and back, for 2k >= 2 */
    double zoom;             /* factor of the focal length; 0 is 1 */
    double focal_spread;     /* at least so much */
    /* Fills num_points (if 0), cells, columns and reaches. */
    void (*measure)(psfm_plan *plan);
    /* Centre and view direction of camera `index`. */
    void (*place)(const psfm_plan *plan, size_t index, psfm_synth_pose *pose);
    /* Draws a point of a cell centred on the origin; returns its plane, or -1. NULL: the scene is
     * for photographs only. */
    int (*draw)(const psfm_plan *plan, psfm_rng *rng, bool off_plane, double xyz[3]);
    /* Whether something stands between a camera and a point; NULL: nothing ever does. */
    bool (*hides)(const psfm_plan *plan, const double center[3], const double point[3]);
};

extern const psfm_layout psfm_layout_arena, psfm_layout_field, psfm_layout_room, psfm_layout_facade,
    psfm_layout_general, psfm_layout_turntable, psfm_layout_statue, psfm_layout_board,
    psfm_layout_mug, psfm_layout_city;

/* What stands in a cell of a field, centred on the origin: foot (the middle of its base) and size
 * of the box that holds hut or tree number `object`; true for a tree. */
size_t psfm_field_num_objects(const psfm_plan *plan);
bool psfm_field_object(const psfm_plan *plan, size_t object, double foot[3], double size[3]);

/* The room: a box around the origin, on z = 0, and a piece of its furniture, likewise a box. */
#define PSFM_ROOM_LENGTH 8.0 /* along x */
#define PSFM_ROOM_WIDTH 6.0
#define PSFM_ROOM_HEIGHT 3.0
#define PSFM_ROOM_NUM_PIECES 6
void psfm_room_piece(const psfm_plan *plan, size_t piece, double foot[3], double size[3]);

/* The facade is divided into bays and storeys of this size; plan->origin and cell_size tell where
 * bays begin. */
#define PSFM_FACADE_BAY 4.0
#define PSFM_FACADE_NUM_STOREYS 2

/* The mug and the table it stands on, metres. */
#define PSFM_TABLE_HEIGHT 0.75
#define PSFM_MUG_HEIGHT 0.12

/* Owns its arrays. */
typedef struct {
    psfm_plan plan;
    psfm_synth_pose *poses; /* num_cameras */
    double (*points)[3];
    int *plane; /* per point, or -1 */
    size_t num_points;
    size_t num_per_cell;
} psfm_world;

/* The plan of a scene after its options are checked; it keeps the pointer to them. */
psfm_status psfm_plan_init(psfm_context *ctx, psfm_scene_kind kind, uint64_t seed,
                           const psfm_scene_options *options, psfm_plan *plan);

/* Cameras of the scene: one for all images, or one for each if their focal lengths differ; and the
 * camera of image `index`. */
size_t psfm_plan_num_cameras(const psfm_plan *plan);
psfm_camera psfm_plan_camera(const psfm_plan *plan, size_t index);

psfm_rng psfm_synth_rng(const psfm_plan *plan, psfm_synth_stream stream, uint64_t index);

/* Makes a pose that looks from `center` to `target`, turned by `roll` radians about its axis. */
void psfm_synth_look_at(const double center[3], const double target[3], double roll,
                        psfm_synth_pose *pose);
/* Sets the rotation (orthogonal to rounding) and translation of a pose with this centre. */
void psfm_synth_set_pose(const double center[3], const double R[9], psfm_synth_pose *pose);

/* A point on the surface of a box standing at `foot` (x, y, z of the middle of its base). */
void psfm_synth_draw_on_box(psfm_rng *rng, const double foot[3], const double size[3],
                            double xyz[3]);

/* Places cameras and points. */
psfm_status psfm_world_init(psfm_context *ctx, const psfm_plan *plan, psfm_world *world);
void psfm_world_free(psfm_world *world);

/* The index of the duplicate of `point` for cameras whose views meet around `middle`; PSFM_NO_INDEX
 * if it has none. The turn is about the centre or the half-way point of cells nearest to `middle`.
 */
uint32_t psfm_world_duplicate(const psfm_world *world, const double middle[2], uint32_t point);

#endif
