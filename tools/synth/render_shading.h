/* What a ray brings: the colour of the surface it ends on, in the light that falls there. */
#ifndef PSFM_SYNTH_RENDER_SHADING_H
#define PSFM_SYNTH_RENDER_SHADING_H

#include "synth/render_stage.h"

typedef struct {
    double rgb[3];           /* linear, 1 is white */
    const psfm_solid *solid; /* on which the ray ends; NULL for the sky */
    bool in_sun;             /* whether the sun reaches the place */
} psfm_glimpse;

/* Follows a ray. `guess` is the solid that a neighbouring ray ended on, or NULL: it saves time.
 * With `with_mirror`, *mirror is what a glossy surface adds to rgb, blurred by random deflection
 * from `hash`, and 0 for other surfaces. */
psfm_glimpse psfm_look(const psfm_stage *stage, const psfm_ray *ray, const psfm_solid *guess,
                       bool with_mirror, uint32_t hash, double mirror[3]);

#endif
