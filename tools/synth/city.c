/* Streets of a city: square blocks of buildings in a square grid, each front a plane of its own.
 * Along every row of blocks someone walks past the fronts on either side, and along every column,
 * from the far pavement, looking at them. Between two blocks the view goes down the street that
 * crosses, where the walks of both streets see the same corners: that is what closes the loops.
 *
 * An image shows 21 m of a front whatever the focal length, which sets the distance (10 m at 600
 * px, half of what the options say) and with it the width of the streets. There are as many blocks
 * as make them about 28 m wide with an image every 2.56 m. Blocks hide what is behind them. Off the
 * planes: balconies and window niches. Pairs are images that look at places near each other. */
#include <math.h>

#include "synth/world.h"

#define STEP 2.56
#define PITCH 40.0 /* of the blocks, about */
#define HEIGHT 8.0
#define PX_PER_METRE 60.0 /* in the middle of an image */
#define SHOWN (1280.0 / PX_PER_METRE)
#define STREET 1.2            /* distances from a camera to its front */
#define NEAR 1.56             /* steps between the places that neighbours look at, at most */
#define NICHE 0.6             /* deepest */
#define POINTS_PER_METRE 30.0 /* of front, which gives about 600 in an image */

typedef struct {
    long blocks; /* along either side of the city */
    double pitch, length, distance;
} city;

static city city_of(const psfm_plan *plan) {
    double walked = (double)plan->num_cameras * STEP;
    city c = {.distance = plan->focal_px / PX_PER_METRE};
    c.blocks = (long)fmax(1.0, round(sqrt(walked / (4.0 * PITCH))));
    c.pitch = fmax(walked / (4.0 * (double)(c.blocks * c.blocks)), 2.0 * STREET * c.distance);
    c.length = c.pitch - STREET * c.distance;
    return c;
}

/* The middle of block number k along an axis. */
static double middle_of(const city *c, long k) {
    return c->pitch * ((double)k - 0.5 * (double)(c->blocks - 1));
}

static void measure_city(psfm_plan *plan) {
    city c = city_of(plan);
    double fronts = 4.0 * (double)(c.blocks * c.blocks) * c.length;
    plan->num_cells[0] = plan->num_cells[1] = 1;
    plan->cell_size[0] = plan->cell_size[1] = (double)c.blocks * c.pitch;
    if (plan->num_points == 0)
        plan->num_points = (size_t)(POINTS_PER_METRE * fronts);
    plan->reach = 1.2 * SHOWN;
    plan->pair_reach = NEAR * STEP * plan->options->neighbours;
}

/* From a place before a front (along it to the right, out of it, up) to the world: fronts 0 to 3
 * look south, north, west and east, and the middle of their block's axis is `across`. */
static void to_world(const city *c, int front, double across, const double local[3],
                     double xyz[3]) {
    double out = 0.5 * c->length + local[1];
    int axis = front < 2 ? 1 : 0;
    xyz[axis] = across + (front % 2 == 0 ? -out : out);
    xyz[1 - axis] = local[0];
    xyz[2] = local[2];
}

static void place_camera(const psfm_plan *plan, size_t index, psfm_synth_pose *pose) {
    psfm_rng rng = psfm_synth_rng(plan, PSFM_STREAM_CAMERA, index);
    city c = city_of(plan);
    double walks = 4.0 * (double)c.blocks;
    double at = ((double)index + 0.5) / (double)plan->num_cameras * walks, walk = floor(at);
    double along = (at - walk - 0.5) * (double)c.blocks * c.pitch + 0.2 * psfm_rng_normal(&rng);
    double across = middle_of(&c, (long)walk / 4), center[3], target[3];
    const double stand[3] = {along, c.distance * psfm_rng_range(&rng, 0.88, 1.12),
                             psfm_rng_range(&rng, 1.5, 1.9)};
    const double look[3] = {along + 0.06 * SHOWN * psfm_rng_normal(&rng), 0.0,
                            psfm_rng_range(&rng, 3.2, 4.2)};
    to_world(&c, (int)walk % 4, across, stand, center);
    to_world(&c, (int)walk % 4, across, look, target);
    psfm_synth_look_at(center, target, 0.02 * psfm_rng_normal(&rng), pose);
}

static int draw_point(const psfm_plan *plan, psfm_rng *rng, bool off_plane, double xyz[3]) {
    city c = city_of(plan);
    long along = (long)psfm_rng_below(rng, (uint64_t)c.blocks);
    long across = (long)psfm_rng_below(rng, (uint64_t)c.blocks);
    int front = (int)psfm_rng_below(rng, 4);
    double local[3] = {middle_of(&c, along) + c.length * psfm_rng_range(rng, -0.5, 0.5), 0.0,
                       psfm_rng_range(rng, 0.0, HEIGHT)};
    if (off_plane)
        local[1] = psfm_rng_range(rng, -NICHE, 1.4);
    to_world(&c, front, middle_of(&c, across), local, xyz);
    long block = front < 2 ? across * c.blocks + along : along * c.blocks + across;
    return off_plane ? -1 : (int)(4 * block) + front;
}

/* Whether the way from a to b goes through the square of half-width `half` about `middle`. */
static bool crosses_square(const double a[2], const double b[2], const double middle[2],
                           double half) {
    double enter = 0.0, leave = 1.0;
    for (int k = 0; k < 2; ++k) {
        double d = b[k] - a[k], low = middle[k] - half - a[k], high = middle[k] + half - a[k];
        if (d == 0.0 && (low > 0.0 || high < 0.0))
            return false;
        if (d != 0.0) {
            enter = fmax(enter, fmin(low / d, high / d));
            leave = fmin(leave, fmax(low / d, high / d));
        }
    }
    return enter < leave;
}

/* The blocks between are those whose middles are within a pitch of the way. */
static bool hides_point(const psfm_plan *plan, const double center[3], const double point[3]) {
    city c = city_of(plan);
    long low[2], high[2];
    for (int k = 0; k < 2; ++k) {
        double first = middle_of(&c, 0);
        low[k] = (long)fmax(0.0, floor((fmin(center[k], point[k]) - first) / c.pitch));
        high[k] =
            (long)fmin((double)(c.blocks - 1), ceil((fmax(center[k], point[k]) - first) / c.pitch));
    }
    for (long j = low[1]; j <= high[1]; ++j)
        for (long i = low[0]; i <= high[0]; ++i) {
            const double middle[2] = {middle_of(&c, i), middle_of(&c, j)};
            if (crosses_square(center, point, middle, 0.5 * c.length - 1.01 * NICHE))
                return true;
        }
    return false;
}

const psfm_layout psfm_layout_city = {.name = "city",
                                      .zoom = 0.5,
                                      .measure = measure_city,
                                      .place = place_camera,
                                      .draw = draw_point,
                                      .hides = hides_point};
