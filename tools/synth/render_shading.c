/* Lambert's law under soft light from above and below and a sun; glossy coats add the mirror image,
 * by Schlick's approximation of Fresnel's law, slightly blurred. */
#include "synth/render_shading.h"

#include <string.h>

#include "core/linalg/mat3.h"

#define NEAREST 1e-4       /* metres: keeps rays from meeting the surface where they start */
#define GLOSS_SPREAD 0.004 /* of the normals of a glossy coat, radians */
#define GLOSS_BLUR 4.0     /* footprint of a mirrored sample in those of a direct one */

/* Light that reaches a surface; false if the sun does not. */
static bool illuminate_surface(const psfm_surface *surface, double light[3]) {
    const psfm_stage *stage = surface->stage;
    const psfm_light *from = &stage->light;
    double up = 0.5 + 0.5 * surface->normal[2];
    double slant = psfm_dot3(surface->normal, from->sun);
    bool in_sun =
        slant > 0.0 && !(from->has_shadows &&
                         psfm_stage_is_blocked(stage, surface->xyz, from->sun, 10.0 * NEAREST));
    for (int k = 0; k < 3; ++k) {
        light[k] = from->from_below[k] + up * (from->from_above[k] - from->from_below[k]);
        if (in_sun)
            light[k] += slant * from->sun_rgb[k];
    }
    return in_sun;
}

/* Follows a ray without regard to mirror images. */
static psfm_glimpse follow_ray(const psfm_stage *stage, const psfm_ray *ray,
                               const psfm_solid *guess, psfm_surface *surface) {
    double distance;
    psfm_glimpse out = {
        .solid = psfm_stage_nearest(stage, ray->origin, ray->dir, NEAREST, guess, &distance)};
    if (out.solid == NULL) {
        double dir[3] = {ray->dir[0], ray->dir[1], ray->dir[2]};
        psfm_normalize3(dir);
        if (stage->sky != NULL)
            stage->sky(dir, out.rgb);
        return out;
    }
    surface->stage = stage;
    psfm_solid_surface(out.solid, ray, distance, surface);
    out.solid->coat.paint(surface, out.rgb);
    if (out.solid->coat.glows)
        return out;
    double light[3];
    out.in_sun = illuminate_surface(surface, light);
    for (int k = 0; k < 3; ++k)
        out.rgb[k] *= light[k];
    return out;
}

static void look_at_mirror(const psfm_surface *surface, const psfm_ray *ray, uint32_t hash,
                           double rgb[3]) {
    double normal[3];
    double spread[3] = {psfm_hash_share(hash, 0) - 0.5, psfm_hash_share(hash, 1) - 0.5, 0.0};
    psfm_axpy3(surface->normal, 2.0 * GLOSS_SPREAD, spread, normal);
    psfm_normalize3(normal);
    psfm_ray mirror = *ray;
    double length = psfm_norm3(ray->dir), facing = -psfm_dot3(normal, ray->dir) / length;
    memcpy(mirror.origin, surface->xyz, sizeof mirror.origin);
    psfm_axpy3(ray->dir, 2.0 * facing * length, normal, mirror.dir);
    for (int k = 0; k < 3; ++k) {
        mirror.dir_dx[k] *= GLOSS_BLUR;
        mirror.dir_dy[k] *= GLOSS_BLUR;
    }
    psfm_surface ignored;
    psfm_glimpse there = follow_ray(surface->stage, &mirror, NULL, &ignored);
    double grazing = 1.0 - psfm_clamp(facing, 0.0, 1.0), square = grazing * grazing;
    double share = surface->solid->coat.gloss * (0.04 + 0.96 * square * square * grazing);
    psfm_scale3(share, there.rgb, rgb);
}

psfm_glimpse psfm_look(const psfm_stage *stage, const psfm_ray *ray, const psfm_solid *guess,
                       bool with_mirror, uint32_t hash, double mirror[3]) {
    psfm_surface surface = {.solid = NULL};
    psfm_glimpse out = follow_ray(stage, ray, guess, &surface);
    if (!with_mirror)
        return out;
    memset(mirror, 0, 3 * sizeof *mirror);
    if (surface.solid != NULL && surface.solid->coat.gloss > 0.0)
        look_at_mirror(&surface, ray, hash, mirror);
    return out;
}
