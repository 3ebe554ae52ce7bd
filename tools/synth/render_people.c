/* Spectators and players, put together from ellipsoids, capsules and boxes. */
#include <string.h>

#include "synth/render_font.h"
#include "synth/render_paint.h"
#include "synth/render_scenes.h"

static const double skins[5][3] = {{0.62, 0.42, 0.32},
                                   {0.52, 0.34, 0.24},
                                   {0.35, 0.21, 0.14},
                                   {0.2, 0.12, 0.08},
                                   {0.68, 0.48, 0.38}};
static const double hairs[5][3] = {{0.02, 0.015, 0.01},
                                   {0.08, 0.04, 0.02},
                                   {0.25, 0.14, 0.05},
                                   {0.35, 0.33, 0.3},
                                   {0.2, 0.05, 0.02}};

/* A face towards the middle of the hall, hair at the back and on top. */
static void paint_head(const psfm_surface *surface, double rgb[3]) {
    const psfm_coat *coat = &surface->solid->coat;
    const double *n = surface->normal, *at = surface->xyz;
    double away = (n[0] * at[0] + n[1] * at[1]) / (sqrt(at[0] * at[0] + at[1] * at[1]) + 0.1);
    double edge = n[2] + 0.8 * away - 0.3;
    psfm_paint_plain(surface, rgb);
    psfm_rgb_mix(rgb, hairs[coat->seed % 5], psfm_clamp(8.0 * edge, 0.0, 1.0));
}

/* A jersey: number and a stripe on either side. */
static void paint_jersey(const psfm_surface *surface, double rgb[3]) {
    const psfm_coat *coat = &surface->solid->coat;
    psfm_texel t = surface->texel;
    double turn = t.u / surface->solid->size[0]; /* angle round the body */
    double front = fabs(turn) < 0.5 * M_PI ? turn : turn - copysign(M_PI, turn);
    double ink[3] = {0.8, 0.8, 0.8};
    if (coat->tint[0] + coat->tint[1] + coat->tint[2] > 1.2)
        memset(ink, 0, sizeof ink);
    psfm_paint_plain(surface, rgb);
    t.u = front * surface->solid->size[0];
    psfm_rgb_mix(rgb, ink, psfm_cover_text_in(&t, coat->text, -0.14, 0.3, 0.14, 0.55));
    psfm_rgb_mix(rgb, ink, psfm_clamp(10.0 * (fabs(front) - 1.4), 0.0, 0.8));
}

static psfm_coat skin_coat(psfm_rng *rng, psfm_paint_fn paint) {
    psfm_coat coat = {.paint = paint, .seed = (uint32_t)psfm_rng_next(rng)};
    memcpy(coat.tint, skins[psfm_rng_below(rng, 5)], sizeof coat.tint);
    return coat;
}

static psfm_coat clothes_coat(psfm_rng *rng) {
    psfm_coat coat = {.paint = psfm_paint_cloth, .seed = (uint32_t)psfm_rng_next(rng)};
    double hue = psfm_rng_uniform(rng), brightness = psfm_rng_range(rng, 0.05, 0.75);
    psfm_rgb_hue(hue, psfm_rng_range(rng, 0.0, 0.9), brightness, coat.tint);
    return coat;
}

/* A point given by steps ahead, to the left and up from `from`. */
static void step_from(const double from[3], const double ahead[2], double forward, double left,
                      double up, double out[3]) {
    out[0] = from[0] + forward * ahead[0] - left * ahead[1];
    out[1] = from[1] + forward * ahead[1] + left * ahead[0];
    out[2] = from[2] + up;
}

static void raise_arms(psfm_stage *stage, psfm_rng *rng, const double seat[3],
                       const double ahead[2], const psfm_coat *skin) {
    double shoulder[3], hand[3];
    for (int side = -1; side <= 1; side += 2) {
        step_from(seat, ahead, 0.0, 0.22 * side, 1.0, shoulder);
        step_from(seat, ahead, psfm_rng_range(rng, -0.1, 0.3), psfm_rng_range(rng, 0.2, 0.4) * side,
                  psfm_rng_range(rng, 1.2, 1.6), hand);
        psfm_stage_capsule(stage, shoulder, hand, 0.05, skin);
    }
}

void psfm_stage_spectator(psfm_stage *stage, psfm_rng *rng, const double seat[3],
                          const double ahead[2]) {
    psfm_coat shirt = clothes_coat(rng), trousers = clothes_coat(rng);
    psfm_coat head = skin_coat(rng, paint_head);
    trousers.paint = psfm_paint_plain;
    psfm_rgb_scale(trousers.tint, 0.4);
    bool stands = psfm_rng_uniform(rng) < 0.08;
    double lift = (stands ? 0.4 : 0.0) + psfm_rng_range(rng, -0.06, 0.08);
    double lean = psfm_rng_range(rng, -0.03, 0.15), aside = psfm_rng_range(rng, -0.06, 0.06);
    /* radii are along x and y, and rows run along one of them */
    bool along_x = fabs(ahead[1]) > fabs(ahead[0]);
    double wide = psfm_rng_range(rng, 0.2, 0.27), deep = 0.17;
    const double body[3] = {along_x ? wide : deep, along_x ? deep : wide, 0.36};
    const double skull[3] = {0.105, 0.105, 0.14};
    double from[3], to[3];
    step_from(seat, ahead, lean, aside, 0.72 + lift, from);
    psfm_stage_ellipsoid(stage, from, body, &shirt);
    step_from(seat, ahead, lean * 1.6, aside, 1.19 + lift, from);
    psfm_stage_ellipsoid(stage, from, skull, &head);
    step_from(seat, ahead, 0.0, 0.0, 0.48 + lift, from);
    step_from(seat, ahead, stands ? 0.05 : 0.38, 0.0, stands ? 0.1 : 0.5, to);
    psfm_stage_capsule(stage, from, to, 0.13, &trousers);
    if (psfm_rng_uniform(rng) < 0.12)
        raise_arms(stage, rng, (const double[3]){seat[0], seat[1], seat[2] + lift}, ahead, &head);
}

static void add_limb(psfm_stage *stage, const double foot[3], const double ahead[2],
                     const double from[3], const double to[3], double radius,
                     const psfm_coat *coat) {
    double a[3], b[3];
    step_from(foot, ahead, from[0], from[1], from[2], a);
    step_from(foot, ahead, to[0], to[1], to[2], b);
    psfm_stage_capsule(stage, a, b, radius, coat);
}

static void add_legs(psfm_stage *stage, psfm_rng *rng, const double foot[3], const double ahead[2],
                     const psfm_coat *skin, const psfm_coat *shorts) {
    psfm_coat shoe = {.paint = psfm_paint_plain, .tint = {0.6, 0.6, 0.6}, .seed = skin->seed};
    for (int side = -1; side <= 1; side += 2) {
        double stride = psfm_rng_range(rng, -0.25, 0.25), apart = 0.14 * side;
        const double hip[3] = {0.0, 0.11 * side, 1.0}, knee[3] = {0.6 * stride, apart, 0.55};
        const double ankle[3] = {stride, 1.3 * apart, 0.1};
        const double toe[3] = {stride + 0.17, 1.3 * apart, 0.06};
        add_limb(stage, foot, ahead, hip, knee, 0.13, shorts);
        add_limb(stage, foot, ahead, knee, ankle, 0.065, skin);
        add_limb(stage, foot, ahead, ankle, toe, 0.06, &shoe);
    }
}

static void add_arms(psfm_stage *stage, psfm_rng *rng, const double foot[3], const double ahead[2],
                     const psfm_coat *skin) {
    for (int side = -1; side <= 1; side += 2) {
        double up = psfm_rng_range(rng, -0.5, 0.6), forward = psfm_rng_range(rng, 0.0, 0.35);
        const double shoulder[3] = {0.0, 0.24 * side, 1.58};
        const double elbow[3] = {0.6 * forward, 0.42 * side, 1.5 + 0.5 * up};
        const double hand[3] = {forward + 0.1, 0.36 * side, 1.5 + up};
        add_limb(stage, foot, ahead, shoulder, elbow, 0.06, skin);
        add_limb(stage, foot, ahead, elbow, hand, 0.05, skin);
    }
}

void psfm_stage_player(psfm_stage *stage, psfm_rng *rng, const double foot[2],
                       const psfm_outfit *outfit) {
    double angle = psfm_rng_range(rng, 0.0, 2.0 * M_PI);
    const double at[3] = {foot[0], foot[1], 0.0}, ahead[2] = {cos(angle), sin(angle)};
    psfm_coat skin = skin_coat(rng, psfm_paint_plain), head = skin;
    psfm_coat shirt = {.paint = paint_jersey, .seed = skin.seed, .text = outfit->number};
    psfm_coat shorts = {.paint = psfm_paint_plain, .seed = skin.seed};
    memcpy(shirt.tint, outfit->shirt, sizeof shirt.tint);
    memcpy(shorts.tint, outfit->shorts, sizeof shorts.tint);
    head.paint = paint_head;
    psfm_solid torso = {.kind = PSFM_ELLIPSOID,
                        .origin = {at[0], at[1], 1.3},
                        .axes = {ahead[0], ahead[1], 0, -ahead[1], ahead[0], 0, 0, 0, 1},
                        .size = {0.17, 0.24, 0.42},
                        .coat = shirt};
    psfm_stage_add(stage, &torso);
    const double skull[3] = {0.1, 0.1, 0.14};
    double middle[3];
    step_from(at, ahead, 0.03, 0.0, 1.83, middle);
    psfm_stage_ellipsoid(stage, middle, skull, &head);
    add_legs(stage, rng, at, ahead, &skin, &shorts);
    add_arms(stage, rng, at, ahead, &skin);
    psfm_stage_shadow(stage, &(psfm_foot_shadow){{foot[0], foot[1]}, {0.05, 0.05}, 0.8, 0.6});
}
