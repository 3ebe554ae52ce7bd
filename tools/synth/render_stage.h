/* What one photograph is taken of: solids with light and sky. Solids are added, then sorted into a
 * tree of boxes; after that rays can be sent. */
#ifndef PSFM_SYNTH_RENDER_STAGE_H
#define PSFM_SYNTH_RENDER_STAGE_H

#include <stddef.h>

#include "core/base/context.h"
#include "synth/render_solid.h"

/* Soft light from above and below, and a sun (or lamp far away). */
typedef struct {
    double from_above[3], from_below[3]; /* what a surface gets that faces up, or down */
    double sun[3];                       /* unit vector towards it */
    double sun_rgb[3];
    bool has_shadows; /* hard ones, of the sun */
} psfm_light;

/* The soft shadow at the foot of something that stands on the floor: darkest over a rectangle and
 * fading out around it. */
typedef struct {
    double center[2], half[2]; /* metres, along x and y */
    double reach;              /* metres until it is gone */
    double strength;           /* share of the light taken */
} psfm_foot_shadow;

/* A node of the tree with four children, which are looked at together: two pairs, of which each
 * comes from one cut, and both from another. */
typedef struct {
    float bound[2][3][4]; /* lowest and highest corners, relative to the stage's base */
    uint32_t child[4];    /* node, or the first solid of a leaf */
    uint16_t count[4];    /* of solids; 0 for an inner node, or if there is no such child */
    uint16_t axis[3];     /* along which the pairs are apart, the first pair, the second */
} psfm_stage_node;

struct psfm_stage {
    psfm_context *ctx;
    psfm_status status; /* of the first addition that failed; later ones do nothing */
    double base[3];     /* where the camera is: keeps numbers in the tree small */
    psfm_solid *solids;
    size_t num_solids, capacity;
    size_t num_large; /* the first ones: too large for the tree to help, tried one by one */
    psfm_stage_node *nodes;
    size_t num_nodes; /* the root is the first */
    psfm_foot_shadow *shadows;
    size_t num_shadows, shadows_capacity;
    psfm_light light;
    /* The colour of the sky in a direction (unit); NULL: black. */
    void (*sky)(const double dir[3], double rgb[3]);
    bool is_turned; /* every solid is followed by a copy turned by 180 degrees about the z axis */
};

/* Zero-initialises; `base` is the camera's centre. */
void psfm_stage_init(psfm_context *ctx, const double base[3], psfm_stage *stage);
void psfm_stage_free(psfm_stage *stage);

/* Additions. A failure is kept in stage->status and comes back from psfm_stage_finish. */
void psfm_stage_add(psfm_stage *stage, const psfm_solid *solid);
/* A rectangle from a corner along two orthogonal sides (vectors, metres); its front is the side
 * from which `right` points to the right and `up` up. */
void psfm_stage_rect(psfm_stage *stage, const double corner[3], const double right[3],
                     const double up[3], const psfm_coat *coat);
/* A box standing on `foot`, the middle of its base, turned by `yaw` radians about the vertical;
 * size in full. */
void psfm_stage_box(psfm_stage *stage, const double foot[3], const double size[3], double yaw,
                    const psfm_coat *coat);
void psfm_stage_ellipsoid(psfm_stage *stage, const double center[3], const double radii[3],
                          const psfm_coat *coat);
void psfm_stage_capsule(psfm_stage *stage, const double from[3], const double to[3], double radius,
                        const psfm_coat *coat);
/* A cylinder standing on `foot`, the middle of its base. */
void psfm_stage_cylinder(psfm_stage *stage, const double foot[3], double radius, double height,
                         const psfm_coat *coat);
void psfm_stage_shadow(psfm_stage *stage, const psfm_foot_shadow *shadow);

/* In a stage that turns copies: whether a thing at (x, y) is to be added, rather than being the
 * copy of one. True for all others. */
bool psfm_stage_keeps(const psfm_stage *stage, double x, double y);

/* Turns the solids from number `first` on by 180 degrees about a vertical axis. */
void psfm_stage_turn(psfm_stage *stage, size_t first, const double about[2]);

/* Puts the sun overhead, so that a half turn does not change the light. */
void psfm_stage_raise_sun(psfm_stage *stage);

/* Builds the tree: O(n log n). */
psfm_status psfm_stage_finish(psfm_stage *stage);

/* The nearest solid along the ray, beyond `low` lengths of the direction, and its *distance in
 * such lengths; NULL if there is none. `guess` is tried first (the solid that a neighbouring ray
 * met, or NULL), which saves time. */
const psfm_solid *psfm_stage_nearest(const psfm_stage *stage, const double origin[3],
                                     const double dir[3], double low, const psfm_solid *guess,
                                     double *distance);

/* Whether there is anything along the ray beyond `low`. */
bool psfm_stage_is_blocked(const psfm_stage *stage, const double origin[3], const double dir[3],
                           double low);

/* What the soft shadows leave of the light at a place of the floor. */
double psfm_stage_foot_light(const psfm_stage *stage, double x, double y);

#endif
