/* The solids that rendered scenes are made of: rectangles, boxes, ellipsoids, capsules and
 * cylinders, where rays meet them, and what covers them. World frame: metres, z up. */
#ifndef PSFM_SYNTH_RENDER_SOLID_H
#define PSFM_SYNTH_RENDER_SOLID_H

#include <stdbool.h>

#include "synth/render_texture.h"

typedef struct psfm_stage psfm_stage;
typedef struct psfm_surface psfm_surface;

/* Gives the colour of a surface (linear, 1 is white). */
typedef void (*psfm_paint_fn)(const psfm_surface *surface, double rgb[3]);

/* What covers a solid. */
typedef struct {
    psfm_paint_fn paint;
    double tint[3]; /* for the paint to use as it likes, like the two below */
    uint32_t seed;
    const char *text; /* a literal, or NULL */
    const void *data; /* lives as long as the stage, or NULL */
    double gloss;     /* share of the mirror image at a grazing angle */
    bool glows;       /* shines by itself: its colour is what is seen */
} psfm_coat;

typedef enum {
    PSFM_RECT,      /* 0 <= u <= size[0], 0 <= v <= size[1], n = 0 */
    PSFM_BOX,       /* |u| <= size[0], |v| <= size[1], |n| <= size[2] */
    PSFM_ELLIPSOID, /* radii size */
    PSFM_CAPSULE,   /* size[0] around the axis u = v = 0, |n| <= size[2] */
    PSFM_CYLINDER,  /* u^2 + v^2 <= size[0]^2, |n| <= size[2] */
} psfm_solid_kind;

typedef struct {
    psfm_solid_kind kind;
    double origin[3];
    double axes[9]; /* rows u, v, n: the solid's right-handed frame in the world */
    double size[3];
    psfm_coat coat;
} psfm_solid;

/* A ray and its neighbours one sample to the right and one below. Directions have any length. */
typedef struct {
    double origin[3], dir[3];
    double dir_dx[3], dir_dy[3]; /* steps to the neighbours' directions */
} psfm_ray;

/* The place where a ray ends. */
struct psfm_surface {
    const psfm_stage *stage;
    const psfm_solid *solid;
    double xyz[3];
    double normal[3]; /* unit, towards the ray's origin */
    /* Metres on the surface. Rectangles: along its sides. Boxes: to the right and up from the base
     * as seen from outside; x and y on top. Round ones: round the axis, and along it; x and y from
     * the middle on the ends of a cylinder. */
    psfm_texel texel;
    int face; /* of a box: 0 to 5 for -u, +u, -v, +v, -n, +n; 4, 5 of a cylinder; 0 for others */
};

/* The smallest distance in (low, high), in lengths of the direction, at which the ray meets the
 * solid; high if there is none. */
double psfm_solid_meet(const psfm_solid *solid, const double origin[3], const double dir[3],
                       double low, double high);

/* Describes the surface at `distance`; fills all but `stage`. */
void psfm_solid_surface(const psfm_solid *solid, const psfm_ray *ray, double distance,
                        psfm_surface *surface);

/* The box around it, in the world. */
void psfm_solid_bounds(const psfm_solid *solid, double low[3], double high[3]);

#endif
