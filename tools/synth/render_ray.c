/* Rays through the stage's tree of boxes. The order in which solids are tried is that of the cuts,
 * from the ray's near end to its far one, whatever the boxes: where two are equally far, as on a
 * shared edge, the first one counts. */
#include "synth/render_stage.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define STACK_SIZE 160 /* 40 levels with up to three waiting children each, and more */

/* A ray on its way through the tree. */
typedef struct {
    const double *origin, *dir;
    double low, distance; /* where it starts to count, and the nearest meeting so far */
    const psfm_solid *found;
    bool takes_any; /* whatever it meets will do */
    /* As the boxes want it, in single precision. */
    float from[3], inverse[3], near, far;
    int entry[3]; /* which bound it passes first */
} ray_search;

static void meet_solid(ray_search *p, const psfm_solid *solid) {
    double s = psfm_solid_meet(solid, p->origin, p->dir, p->low, p->distance);
    if (s < p->distance) {
        p->distance = s;
        p->found = solid;
        p->far = (float)(s * 1.000001);
    }
}

static void init_ray_search(const psfm_stage *stage, ray_search *p) {
    p->near = (float)p->low * 0.999F;
    p->far = 1e30F;
    p->distance = HUGE_VAL;
    for (int k = 0; k < 3; ++k) {
        p->from[k] = (float)(p->origin[k] - stage->base[k]);
        /* a huge number in place of infinity, which times 0 would not be one */
        p->inverse[k] = fabs(p->dir[k]) > 1e-18 ? (float)(1.0 / p->dir[k]) : 1e18F;
        p->entry[k] = p->inverse[k] < 0.0F;
    }
}

static bool is_done(const ray_search *p) {
    return p->takes_any && p->found != NULL;
}

/* Where the ray enters the boxes of a node's children; returns the bits of those that it meets. */
#if defined(__SSE2__)
static unsigned enter_boxes(const psfm_stage_node *node, const ray_search *p, float near[4]) {
    __m128 first = _mm_set1_ps(p->near), last = _mm_set1_ps(p->far);
    for (int k = 0; k < 3; ++k) {
        __m128 from = _mm_set1_ps(p->from[k]), inverse = _mm_set1_ps(p->inverse[k]);
        __m128 low = _mm_loadu_ps(node->bound[p->entry[k]][k]);
        __m128 high = _mm_loadu_ps(node->bound[1 - p->entry[k]][k]);
        first = _mm_max_ps(_mm_mul_ps(_mm_sub_ps(low, from), inverse), first);
        last = _mm_min_ps(_mm_mul_ps(_mm_sub_ps(high, from), inverse), last);
    }
    _mm_storeu_ps(near, first);
    return (unsigned)_mm_movemask_ps(_mm_cmple_ps(first, last));
}
#else
static unsigned enter_boxes(const psfm_stage_node *node, const ray_search *p, float near[4]) {
    unsigned met = 0;
    for (int l = 0; l < 4; ++l) {
        float last = p->far;
        near[l] = p->near;
        for (int k = 0; k < 3; ++k) {
            float enter = (node->bound[p->entry[k]][k][l] - p->from[k]) * p->inverse[k];
            float leave = (node->bound[1 - p->entry[k]][k][l] - p->from[k]) * p->inverse[k];
            near[l] = enter > near[l] ? enter : near[l];
            last = leave < last ? leave : last;
        }
        met |= (unsigned)(near[l] <= last) << l;
    }
    return met;
}
#endif

/* A child that waits for its turn. */
typedef struct {
    uint32_t child, count; /* as in the node */
    float near;            /* where the ray enters its box */
} waiting_child;

/* Numbers of the children from far to near, by whether the ray runs against the axes of the second
 * pair (1), the first (2), and of both (4). */
static const uint8_t far_to_near[8][4] = {{3, 2, 1, 0}, {2, 3, 1, 0}, {3, 2, 0, 1}, {2, 3, 0, 1},
                                          {1, 0, 3, 2}, {1, 0, 2, 3}, {0, 1, 3, 2}, {0, 1, 2, 3}};

/* Puts the children that the ray meets on the stack, the farthest first. */
static size_t push_children(const psfm_stage_node *node, const ray_search *p, waiting_child *stack,
                            size_t num) {
    float near[4];
    unsigned met = enter_boxes(node, p, near);
    if (met == 0)
        return num;
    if ((met & (met - 1)) == 0) {
        int l = __builtin_ctz(met);
        stack[num] = (waiting_child){node->child[l], node->count[l], near[l]};
        return num + 1;
    }
    int against =
        4 * p->entry[node->axis[0]] + 2 * p->entry[node->axis[1]] + p->entry[node->axis[2]];
    const uint8_t *order = far_to_near[against];
    for (int k = 0; k < 4; ++k) {
        int l = order[k];
        stack[num] = (waiting_child){node->child[l], node->count[l], near[l]};
        num += met >> l & 1U;
    }
    return num;
}

static void descend_tree(const psfm_stage *stage, ray_search *p) {
    waiting_child stack[STACK_SIZE];
    if (stage->num_nodes == 0 || is_done(p))
        return;
    size_t waiting = push_children(&stage->nodes[0], p, stack, 0);
    while (waiting > 0 && !is_done(p)) {
        waiting_child next = stack[--waiting];
        if (!(next.near <= p->far))
            continue;
        if (next.count == 0)
            waiting = push_children(&stage->nodes[next.child], p, stack, waiting);
        for (uint32_t k = next.child; k < next.child + next.count; ++k)
            meet_solid(p, &stage->solids[k]);
    }
}

const psfm_solid *psfm_stage_nearest(const psfm_stage *stage, const double origin[3],
                                     const double dir[3], double low, const psfm_solid *guess,
                                     double *distance) {
    ray_search p = {.origin = origin, .dir = dir, .low = low};
    init_ray_search(stage, &p);
    if (guess != NULL)
        meet_solid(&p, guess);
    for (size_t k = 0; k < stage->num_large; ++k)
        meet_solid(&p, &stage->solids[k]);
    descend_tree(stage, &p);
    *distance = p.distance;
    return p.found;
}

bool psfm_stage_is_blocked(const psfm_stage *stage, const double origin[3], const double dir[3],
                           double low) {
    ray_search p = {.origin = origin, .dir = dir, .low = low, .takes_any = true};
    init_ray_search(stage, &p);
    for (size_t k = 0; k < stage->num_large; ++k)
        meet_solid(&p, &stage->solids[k]);
    descend_tree(stage, &p);
    return p.found != NULL;
}
