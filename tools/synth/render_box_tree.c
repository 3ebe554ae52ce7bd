/* The stage's tree of boxes. A set of solids is cut at that of 16 equally spaced places along each
 * axis where the expected cost of a ray is least: surface area times number of solids on either
 * side (after Goldsmith and Salmon). Every other level of this binary tree is then taken out, so
 * that a node has four children, whose boxes fill vectors. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "synth/render_stage.h"

#define NUM_SLABS 16
#define LEAF_SIZE 3
#define MAX_UNEVEN 48 /* levels after which sets are halved, so that the depth stays bounded */
#define LARGE 0.4F    /* share of the stage's length beyond which a solid is large */
#define MAX_LARGE 8

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
static size_t split_items(item **items, size_t n, int depth, int *axis) {
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

/* A node of the binary tree. */
typedef struct {
    bounds box;
    uint32_t first; /* solid, or the second child (the first one follows its parent) */
    uint16_t count; /* of solids; 0 for an inner node */
    uint16_t axis;  /* along which the children are apart */
} branch;

typedef struct {
    branch *branches;
    size_t num;
} binary_tree;

/* Appends the node of items[0 .. n) and everything below it. */
static void build_node(binary_tree *tree, item **items, size_t first, size_t n, int depth) {
    size_t index = tree->num++;
    branch node = {.box = nothing, .first = (uint32_t)first, .count = (uint16_t)n};
    for (size_t i = 0; i < n; ++i)
        bounds_join(&node.box, &items[first + i]->box);
    if (n > LEAF_SIZE) {
        int axis;
        size_t front = split_items(items + first, n, depth, &axis);
        build_node(tree, items, first, front, depth + 1);
        node.first = (uint32_t)tree->num;
        node.count = 0;
        node.axis = (uint16_t)axis;
        build_node(tree, items, first + front, n - front, depth + 1);
    }
    tree->branches[index] = node;
}

static uint32_t widen_node(const binary_tree *tree, uint32_t index, psfm_stage *stage);

/* Makes a node of the binary tree child number k of a wide one. */
static void put_child(const binary_tree *tree, uint32_t index, int k, uint32_t parent,
                      psfm_stage *stage) {
    const branch *from = &tree->branches[index];
    uint32_t child = from->count > 0 ? from->first : widen_node(tree, index, stage);
    psfm_stage_node *node = &stage->nodes[parent];
    for (int axis = 0; axis < 3; ++axis) {
        node->bound[0][axis][k] = from->box.low[axis];
        node->bound[1][axis][k] = from->box.high[axis];
    }
    node->child[k] = child;
    node->count[k] = from->count;
}

/* Appends a wide node with the grandchildren of a binary one (children that are leaves, the root if
 * it is one, take a place themselves) and everything below it, and returns its index. */
static uint32_t widen_node(const binary_tree *tree, uint32_t index, psfm_stage *stage) {
    uint32_t made = (uint32_t)stage->num_nodes++;
    const branch *root = &tree->branches[index];
    psfm_stage_node *node = &stage->nodes[made];
    for (int axis = 0; axis < 3; ++axis)
        for (int k = 0; k < 4; ++k) { /* nothing: no ray enters it */
            node->bound[0][axis][k] = FLT_MAX;
            node->bound[1][axis][k] = -FLT_MAX;
        }
    if (root->count > 0) {
        put_child(tree, index, 0, made, stage);
        return made;
    }
    const uint32_t pair[2] = {index + 1, root->first};
    node->axis[0] = root->axis;
    for (int k = 0; k < 2; ++k) {
        const branch *half = &tree->branches[pair[k]];
        node->axis[1 + k] = half->axis;
        if (half->count > 0) {
            put_child(tree, pair[k], 2 * k, made, stage);
            continue;
        }
        put_child(tree, pair[k] + 1, 2 * k, made, stage);
        put_child(tree, half->first, 2 * k + 1, made, stage);
    }
    return made;
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
    item *all = NULL, **items = NULL;
    branch *branches = NULL;
    psfm_status status = stage->status;
    if (status == PSFM_OK)
        status = PSFM_ALLOC(stage->ctx, n, &all);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(stage->ctx, n, &items);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(stage->ctx, 2 * n + 1, &branches);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(stage->ctx, n + 1, &stage->nodes);
    if (status == PSFM_OK) {
        for (size_t i = 0; i < n; ++i) {
            make_item(stage, i, &all[i]);
            items[i] = &all[i];
        }
        stage->num_large = part_large(items, n);
        binary_tree tree = {branches, 0};
        if (n > stage->num_large) {
            build_node(&tree, items, stage->num_large, n - stage->num_large, 0);
            (void)widen_node(&tree, 0, stage);
        }
        for (size_t i = 0; i < n; ++i)
            stage->solids[i] = items[i]->solid; /* in the order of the leaves */
    }
    free(all);
    free((void *)items);
    free(branches);
    return status;
}
