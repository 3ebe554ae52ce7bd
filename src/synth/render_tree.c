/* The stage's tree of boxes. A set of solids is cut at that of 16 equally spaced places along each
 * axis where the expected cost of a ray is least: surface area times number of solids on either
 * side (after Goldsmith and Salmon). */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "synth/render_stage.h"

#define NUM_SLABS 16
#define LEAF_SIZE 3
#define MAX_UNEVEN 48 /* levels after which sets are halved, so that the depth stays bounded */
#define LARGE 0.4F    /* share of the stage's length beyond which a solid is large */
#define MAX_LARGE 8
#define STACK_SIZE 96 /* MAX_UNEVEN + 32 levels, one waiting node each */

typedef struct {
    float low[3], high[3];
} bounds;

static const bounds nothing = {{FLT_MAX, FLT_MAX, FLT_MAX}, {-FLT_MAX, -FLT_MAX, -FLT_MAX}};

static void bounds_join(bounds *a, const bounds *b) {
    for (int k = 0; k < 3; ++k) {
        a->low[k] = fminf(a->low[k], b->low[k]);
        a->high[k] = fmaxf(a->high[k], b->high[k]);
    }
}

static float bounds_area(const bounds *b) {
    float x = b->high[0] - b->low[0], y = b->high[1] - b->low[1], z = b->high[2] - b->low[2];
    return x * y + y * z + z * x;
}

/* A solid and its box, rounded outward by more than single precision loses. */
typedef struct {
    bounds box;
    psfm_solid solid;
} item;

static void make_item(const psfm_stage *stage, size_t index, item *out) {
    double low[3], high[3];
    out->solid = stage->solids[index];
    psfm_solid_bounds(&out->solid, low, high);
    for (int k = 0; k < 3; ++k) {
        double a = low[k] - stage->base[k], b = high[k] - stage->base[k];
        double margin = 1e-4 + 1e-6 * psfm_max(fabs(a), fabs(b));
        out->box.low[k] = (float)(a - margin);
        out->box.high[k] = (float)(b + margin);
    }
}

static float middle_of(const item *it, int axis) {
    return 0.5F * (it->box.low[axis] + it->box.high[axis]);
}

/* Slabs of equal thickness across the middles of a set of solids. */
typedef struct {
    int axis;
    float low, scale; /* slab number = (middle - low) * scale */
    bounds box[NUM_SLABS];
    size_t count[NUM_SLABS];
} slabs;

static int slab_of(const slabs *s, const item *it) {
    return (int)((middle_of(it, s->axis) - s->low) * s->scale);
}

/* False if all middles coincide along the axis. */
static bool fill_slabs(item *const *items, size_t n, int axis, slabs *s) {
    float low = FLT_MAX, high = -FLT_MAX;
    for (size_t i = 0; i < n; ++i) {
        low = fminf(low, middle_of(items[i], axis));
        high = fmaxf(high, middle_of(items[i], axis));
    }
    if (!(high > low))
        return false;
    s->axis = axis;
    s->low = low;
    s->scale = 0.9999F * (float)NUM_SLABS / (high - low);
    for (int k = 0; k < NUM_SLABS; ++k) {
        s->box[k] = nothing;
        s->count[k] = 0;
    }
    for (size_t i = 0; i < n; ++i) {
        int k = slab_of(s, items[i]);
        bounds_join(&s->box[k], &items[i]->box);
        ++s->count[k];
    }
    return true;
}

/* A way to part a set: those in slabs below `slab` along an axis, and the rest. */
typedef struct {
    float cost;
    int slab;
    slabs along;
} cut;

/* Puts the cheapest place of these slabs into *best if it is cheaper. The outermost slabs are never
 * empty, so both parts have solids. */
static void try_slabs(const slabs *s, cut *best) {
    float right[NUM_SLABS];
    bounds sum = nothing;
    size_t total = 0;
    for (int k = NUM_SLABS - 1; k > 0; --k) {
        bounds_join(&sum, &s->box[k]);
        total += s->count[k];
        right[k] = bounds_area(&sum) * (float)total;
    }
    sum = nothing;
    total = 0;
    int slab = 0;
    for (int k = 1; k < NUM_SLABS; ++k) {
        bounds_join(&sum, &s->box[k - 1]);
        total += s->count[k - 1];
        float cost = bounds_area(&sum) * (float)total + right[k];
        if (cost < best->cost) {
            best->cost = cost;
            slab = k;
        }
    }
    if (slab > 0) {
        best->slab = slab;
        best->along = *s;
    }
}

/* Moves one part of the items to the front and returns its size, in (0, n) for n > 1. */
static size_t split(item **items, size_t n, int depth, int *axis) {
    cut best = {.cost = FLT_MAX};
    slabs s;
    for (int k = 0; k < 3 && depth < MAX_UNEVEN; ++k)
        if (fill_slabs(items, n, k, &s))
            try_slabs(&s, &best);
    *axis = best.along.axis;
    if (best.slab == 0)
        return n / 2;
    size_t front = 0;
    for (size_t i = 0; i < n; ++i) {
        if (slab_of(&best.along, items[i]) >= best.slab)
            continue;
        item *swap = items[front];
        items[front++] = items[i];
        items[i] = swap;
    }
    return front;
}

/* Appends the node of items[0 .. n) and everything below it. */
static void build(psfm_stage *stage, item **items, size_t first, size_t n, int depth) {
    size_t index = stage->num_nodes++;
    psfm_stage_node node = {.first = (uint32_t)first, .count = (uint16_t)n};
    bounds box = nothing;
    for (size_t i = 0; i < n; ++i)
        bounds_join(&box, &items[first + i]->box);
    memcpy(node.bound[0], box.low, sizeof box.low);
    memcpy(node.bound[1], box.high, sizeof box.high);
    if (n > LEAF_SIZE) {
        int axis;
        size_t front = split(items + first, n, depth, &axis);
        build(stage, items, first, front, depth + 1);
        node.first = (uint32_t)stage->num_nodes;
        node.count = 0;
        node.axis = (uint16_t)axis;
        build(stage, items, first + front, n - front, depth + 1);
    }
    stage->nodes[index] = node;
}

static float longest_side(const bounds *b) {
    float x = b->high[0] - b->low[0], y = b->high[1] - b->low[1], z = b->high[2] - b->low[2];
    return fmaxf(x, fmaxf(y, z));
}

/* Moves the solids to the front that reach through most of the stage, like floors, and returns how
 * many. Those would blow up every box of the tree that they are put into. */
static size_t part_large(item **items, size_t n) {
    bounds all = nothing;
    for (size_t i = 0; i < n; ++i)
        bounds_join(&all, &items[i]->box);
    size_t front = 0;
    for (size_t i = 0; i < n && front < MAX_LARGE; ++i) {
        if (longest_side(&items[i]->box) < LARGE * longest_side(&all))
            continue;
        item *swap = items[front];
        items[front++] = items[i];
        items[i] = swap;
    }
    return front;
}

psfm_status psfm_stage_finish(psfm_stage *stage) {
    size_t n = stage->num_solids;
    void *memory = NULL, *order = NULL, *nodes = NULL;
    psfm_status status = stage->status;
    if (status == PSFM_OK)
        status = psfm_alloc(stage->ctx, n, sizeof(item), &memory);
    if (status == PSFM_OK)
        status = psfm_alloc(stage->ctx, n, sizeof(item *), &order);
    if (status == PSFM_OK)
        status = psfm_alloc(stage->ctx, 2 * n + 1, sizeof *stage->nodes, &nodes);
    if (status == PSFM_OK) {
        item *all = memory, **items = order;
        for (size_t i = 0; i < n; ++i) {
            make_item(stage, i, &all[i]);
            items[i] = &all[i];
        }
        stage->nodes = nodes;
        stage->num_large = part_large(items, n);
        if (n > stage->num_large)
            build(stage, items, stage->num_large, n - stage->num_large, 0);
        for (size_t i = 0; i < n; ++i)
            stage->solids[i] = items[i]->solid; /* in the order of the leaves */
    }
    free(memory);
    free(order);
    return status;
}

/* A ray on its way through the tree. */
typedef struct {
    const double *origin, *dir;
    double low, distance; /* where it starts to count, and the nearest meeting so far */
    const psfm_solid *found;
    bool takes_any; /* whatever it meets will do */
    /* As the boxes want it, in single precision. */
    float from[3], inverse[3], near, far;
    int entry[3]; /* which bound it passes first */
} probe;

static void meet(probe *p, const psfm_solid *solid) {
    double s = psfm_solid_meet(solid, p->origin, p->dir, p->low, p->distance);
    if (s < p->distance) {
        p->distance = s;
        p->found = solid;
        p->far = (float)(s * 1.000001);
    }
}

static void init_probe(const psfm_stage *stage, probe *p) {
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

/* Whether the ray passes through the node's box. */
static bool enters(const psfm_stage_node *node, const probe *p) {
    float near = p->near, far = p->far;
    for (int k = 0; k < 3; ++k) {
        float enter = (node->bound[p->entry[k]][k] - p->from[k]) * p->inverse[k];
        float leave = (node->bound[1 - p->entry[k]][k] - p->from[k]) * p->inverse[k];
        near = enter > near ? enter : near;
        far = leave < far ? leave : far;
    }
    return near <= far;
}

static bool is_done(const probe *p) {
    return p->takes_any && p->found != NULL;
}

static void descend(const psfm_stage *stage, probe *p) {
    uint32_t stack[STACK_SIZE], index = 0;
    size_t waiting = 0;
    bool more = stage->num_nodes > 0 && !is_done(p);
    while (more) {
        const psfm_stage_node *node = &stage->nodes[index];
        if (enters(node, p)) {
            if (node->count == 0) {
                bool backwards = p->entry[node->axis] == 1;
                stack[waiting++] = backwards ? index + 1 : node->first;
                index = backwards ? node->first : index + 1;
                continue;
            }
            for (uint32_t k = node->first; k < node->first + node->count; ++k)
                meet(p, &stage->solids[k]);
        }
        more = waiting > 0 && !is_done(p);
        if (more)
            index = stack[--waiting];
    }
}

const psfm_solid *psfm_stage_nearest(const psfm_stage *stage, const double origin[3],
                                     const double dir[3], double low, const psfm_solid *guess,
                                     double *distance) {
    probe p = {.origin = origin, .dir = dir, .low = low};
    init_probe(stage, &p);
    if (guess != NULL)
        meet(&p, guess);
    for (size_t k = 0; k < stage->num_large; ++k)
        meet(&p, &stage->solids[k]);
    descend(stage, &p);
    *distance = p.distance;
    return p.found;
}

bool psfm_stage_is_blocked(const psfm_stage *stage, const double origin[3], const double dir[3],
                           double low) {
    probe p = {.origin = origin, .dir = dir, .low = low, .takes_any = true};
    init_probe(stage, &p);
    for (size_t k = 0; k < stage->num_large; ++k)
        meet(&p, &stage->solids[k]);
    descend(stage, &p);
    return p.found != NULL;
}
