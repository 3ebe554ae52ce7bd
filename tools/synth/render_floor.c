/* Courts are symmetric to both axes and every stroke of their tables lies in one quarter, so a
 * place is folded into that quarter and compared with the table as it is. */
#include "synth/render_floor.h"

#include <stdbool.h>

#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "court/court.h"
#include "synth/render_font.h"
#include "synth/render_paint.h"
#include "synth/render_stage.h"

#define BEYOND 1.0     /* metres by which what ends on an axis goes on, for the fold */
#define ROUGHNESS 0.02 /* of a polished floor: angle over which it scatters a lamp, radians */

const char *const psfm_game_names[] = {"basketball", "none",   "volleyball", "handball",
                                       "futsal",     "tennis", "badminton",  NULL};

static const double line_widths[] = {0.05, 0.0, 0.05, 0.05, 0.08, 0.05, 0.04};

double psfm_game_line_width(psfm_game game) {
    return line_widths[game];
}

/* The texel's mirror image with u, v >= 0. */
static psfm_texel fold_texel(const psfm_texel *t) {
    psfm_texel out = *t;
    out.u = fabs(t->u);
    out.v = fabs(t->v);
    for (int k = 0; k < 2; ++k) {
        out.jac[k] = t->u < 0.0 ? -t->jac[k] : t->jac[k];
        out.jac[2 + k] = t->v < 0.0 ? -t->jac[2 + k] : t->jac[2 + k];
    }
    return out;
}

/* Tables have straight strokes along the axes only. */
static double cover_straight(const psfm_texel *t, const psfm_court_stroke *s, double half) {
    double low[2], high[2];
    bool along_x = s->a[1] == s->b[1];
    for (int d = 0; d < 2; ++d) {
        low[d] = psfm_min(s->a[d], s->b[d]);
        high[d] = psfm_max(s->a[d], s->b[d]);
        if (low[d] == 0.0)
            low[d] = -BEYOND;
    }
    low[along_x] = s->a[along_x] - half;
    high[along_x] = s->a[along_x] + half;
    return psfm_cover_rect(t, low[0], low[1], high[0], high[1]);
}

/* An angle at which an arc ends, moved on if the arc ends on an axis of the court. */
static double arc_end(const psfm_court_stroke *s, double degrees, double onward) {
    bool on_x = s->a[1] == 0.0 && fmod(degrees, 180.0) == 0.0;
    bool on_y = s->a[0] == 0.0 && degrees == 90.0;
    return psfm_radians(degrees) + (on_x || on_y ? onward : 0.0);
}

static double cover_arc(const psfm_texel *t, const psfm_court_stroke *s, double half) {
    double du = t->u - s->a[0], dv = t->v - s->a[1], r = sqrt(du * du + dv * dv) + 1e-9;
    double share = psfm_cover_band(r, s->radius - half, s->radius + half,
                                   psfm_texel_extent(t, du / r, dv / r));
    if (share <= 0.0)
        return 0.0;
    double from = arc_end(s, s->b[0], -0.5), to = arc_end(s, s->b[1], 0.5);
    double middle = 0.5 * (from + to), angle = atan2(dv, du);
    angle += 2.0 * M_PI * floor((middle - angle) / (2.0 * M_PI) + 0.5);
    return share * psfm_cover_band(angle, from, to, psfm_texel_extent(t, -dv / r, du / r) / r);
}

double psfm_cover_game(const psfm_texel *texel, psfm_game game) {
    psfm_court court;
    double sum = 0.0, half = 0.5 * line_widths[game];
    if (!psfm_court_get(psfm_game_names[game], &court))
        return 0.0;
    psfm_texel t = fold_texel(texel);
    for (size_t k = 0; k < court.num_strokes; ++k) {
        const psfm_court_stroke *s = &court.strokes[k];
        sum += s->radius > 0.0 ? cover_arc(&t, s, half) : cover_straight(&t, s, half);
    }
    return psfm_min(sum, 1.0);
}

void psfm_paint_other_games(const psfm_texel *texel, int num, double left, double rgb[3]) {
    static const struct {
        psfm_game game;
        double rgb[3];
    } others[PSFM_MAX_OTHER_GAMES] = {{PSFM_GAME_VOLLEYBALL, {0.05, 0.4, 0.15}},
                                      {PSFM_GAME_BADMINTON, {0.75, 0.6, 0.08}},
                                      {PSFM_GAME_HANDBALL, {0.05, 0.1, 0.4}},
                                      {PSFM_GAME_FUTSAL, {0.5, 0.04, 0.05}}};
    for (int k = 0; k < num; ++k)
        psfm_rgb_mix(rgb, others[k].rgb, 0.9 * left * psfm_cover_game(texel, others[k].game));
}

/* Noise compared with the value that the share `gone` of a normal distribution stays below; a sharp
 * border a tenth of a deviation wide. */
static double share_remaining(double noise, double deviation, double gone) {
    double odds = psfm_clamp(gone, 0.01, 0.99);
    double normal = 0.55 * log(odds / (1.0 - odds)); /* close to its inverse */
    return psfm_clamp(0.5 + 5.0 * (noise / deviation - normal), 0.0, 1.0);
}

double psfm_wear_left(const psfm_texel *texel, uint32_t seed, double wear) {
    if (wear <= 0.0)
        return 1.0;
    double stretches = psfm_noise(seed + 300, texel->u / 1.1, texel->v / 1.1);
    double chips = psfm_noise_octaves(seed + 301, texel, 0.12, 0.8);
    double left = share_remaining(stretches, 0.3, 0.8 * wear);
    /* where a sample does not resolve chips it sees their mean */
    left *= texel->width > 0.1 ? 1.0 - 0.2 * wear : share_remaining(chips, 0.3, 0.2 * wear);
    return left * (1.0 - 0.4 * wear);
}

/* One advertisement in its own coordinates, from its lower left corner. */
static void paint_advertisement(const psfm_texel *t, const double size[2], uint32_t hash,
                                double rgb[3]) {
    static const double line = 0.06;
    double ground[3], ink[3], bright = psfm_hash_share(hash, 1) < 0.5 ? 0.15 : 0.75;
    psfm_rgb_hue(psfm_hash_share(hash, 0), 0.7, bright, ground);
    psfm_rgb_hue(psfm_hash_share(hash, 0) + 0.4, 0.2, 0.9 - bright, ink);
    psfm_rgb_mix(rgb, ground, psfm_cover_rect(t, 0.0, 0.0, size[0], size[1]));
    double outline = psfm_cover_rect(t, line, line, size[0] - line, size[1] - line) -
                     psfm_cover_rect(t, 2 * line, 2 * line, size[0] - 2 * line, size[1] - 2 * line);
    psfm_rgb_mix(rgb, ink, outline);
    psfm_rgb_mix(rgb, ink,
                 psfm_cover_text_in(t, psfm_paint_name(psfm_mix(hash)), 0.3, 0.3, size[0] - 0.3,
                                    size[1] - 0.3));
}

void psfm_paint_advertisements(const psfm_texel *texel, int num, uint32_t seed, double rgb[3]) {
    for (int k = 0; k < num; ++k) {
        uint32_t place = psfm_hash(seed, k, 501), look = psfm_hash(seed, k, 502);
        const double size[2] = {2.0 + 3.0 * psfm_hash_share(look, 0),
                                0.9 + 1.1 * psfm_hash_share(look, 1)};
        psfm_texel t = *texel;
        if (psfm_hash(seed, k, 503) % 3 == 0) { /* read from an end of the court */
            t = (psfm_texel){texel->v, -texel->u, {0}, texel->width};
            for (int d = 0; d < 2; ++d) {
                t.jac[d] = texel->jac[2 + d];
                t.jac[2 + d] = -texel->jac[d];
            }
            t.u -= 15.0 * (psfm_hash_share(place, 0) - 0.5) - 0.5 * size[0];
            t.v -= 28.0 * (psfm_hash_share(place, 1) - 0.5) - 0.5 * size[1];
        } else {
            t.u -= 28.0 * (psfm_hash_share(place, 0) - 0.5) - 0.5 * size[0];
            t.v -= 15.0 * (psfm_hash_share(place, 1) - 0.5) - 0.5 * size[1];
        }
        if (t.u > -0.5 && t.v > -0.5 && t.u < size[0] + 0.5 && t.v < size[1] + 0.5)
            paint_advertisement(&t, size, look, rgb);
    }
}

/* The ceiling where the ray from the camera goes that the floor mirrors, over as much of it as the
 * floor scatters; the patch is longer along the view. */
static double mirrored_lamps(const psfm_surface *surface, const double half[2]) {
    const double *eye = surface->stage->base, *at = surface->xyz;
    double rise = PSFM_HALL_HEIGHT / psfm_max(eye[2], 0.1);
    double away[3] = {rise * (at[0] - eye[0]), rise * (at[1] - eye[1]), PSFM_HALL_HEIGHT};
    double x = at[0] + away[0], y = at[1] + away[1], distance = psfm_norm3(away);
    double blur = 2.0 * ROUGHNESS * distance, along = blur * distance / PSFM_HALL_HEIGHT;
    bool looks_along_x = fabs(away[0]) > fabs(away[1]);
    if (fabs(x) > half[0] || fabs(y) > half[1])
        return 0.0;
    return psfm_cover_stripes(x + half[0], PSFM_LAMP_PERIOD_X, PSFM_LAMP_ON_X,
                              looks_along_x ? along : blur) *
           psfm_cover_stripes(y + half[1], PSFM_LAMP_PERIOD_Y, PSFM_LAMP_ON_Y,
                              looks_along_x ? blur : along);
}

void psfm_add_glare(const psfm_surface *surface, const double half[2], double strength,
                    double rgb[3]) {
    double light = strength * mirrored_lamps(surface, half);
    for (int k = 0; k < 3; ++k)
        rgb[k] += light;
}
