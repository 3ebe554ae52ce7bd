/* A step taken along a tree of images.
 *
 * A step of the reduced system says how each pose turns and shifts, to first order. Poses that
 * drifted along a chain ask for whole ends of it to turn, and a far end that turns by an angle a
 * moves on an arc: the straight shift stretches it by a^2 / 2 of its distance, which the
 * observations refuse, so that damping keeps all steps small and the chain creeps.
 *
 * What the step changes between two images that see the same points is small all the same. So it is
 * written in their own coordinates and put together from the root of a spanning tree outwards. With
 * R -> (I + [w]) R and c -> c + d, image j seen from its parent i has
 *     turn      w_j - R_j R_i^T w_i,
 *     baseline  b = R_i (c_j - c_i),   its change   w_i x b + R_i (d_j - d_i),
 * and a point or plane is carried by one image that sees it. What grows, grows by a factor: how
 * much it does round an image is told by all images that see the same points, those of most
 * parallax first. The baseline of two images cannot tell: where it is short, as between neighbours
 * in a video, a step that means nothing is many times its length. A part that turns, shifts or
 * grows as a whole does so exactly; to first order the step is the same.
 *
 * Images that all look at one plane, as round a court, hang together by it as well: turns about its
 * normal and tilts with it do not commute, and in the second order far images would leave it. So an
 * image that sees little but one plane is put to the height above it and the tilt against it that
 * the step says,
 *     height  n . c - d,   its change   n . d_c + d_n . c - d_d,
 *     tilt    m = R n,     its change   w x m + R d_n.
 *
 * The tree is the one of most common points, of pairs that follow each other in a track: O(images +
 * observations), and sorting the pairs. Roots are images that do not move, where there are any. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/union_find.h"
#include "core/bundle/bundle_internal.h"
#include "core/linalg/mat3.h"

#define MAX_GROWTH 3.0 /* of what is round an image in a step, as a logarithm */
#define ONE_PLANE 0.9  /* share of its points that are on the one plane that an image sees */

typedef struct {
    uint32_t image1, image2, num_common;
} link;

struct psfm_bundle_tree {
    uint32_t num_images;
    uint32_t *order;  /* parents before children */
    uint32_t *parent; /* per image, or NONE */
    uint32_t *root;   /* per image */
    uint32_t *plane;  /* per image: the one it sees little else than, or NONE */
    double *scale;    /* per root: of its images and what they carry */
    double *growth;   /* per image: of what is round it, as a logarithm */
};

void psfm_bundle_tree_destroy(psfm_bundle_tree **tree) {
    if (*tree == NULL)
        return;
    free((*tree)->order);
    free((*tree)->parent);
    free((*tree)->root);
    free((*tree)->plane);
    free((*tree)->scale);
    free((*tree)->growth);
    free(*tree);
    *tree = NULL;
}

/* Most common points first. */
static int compare_links(const void *a, const void *b) {
    const link *x = a, *y = b;
    if (x->num_common != y->num_common)
        return x->num_common < y->num_common ? 1 : -1;
    if (x->image1 != y->image1)
        return x->image1 < y->image1 ? -1 : 1;
    return (x->image2 > y->image2) - (x->image2 < y->image2);
}

/* Adds the links of an image with those that follow it in a track. `count` is zero per image, and
 * is again afterwards. */
static psfm_status add_links(psfm_context *ctx, const psfm_bundle *b, uint32_t image,
                             uint32_t *count, link **links, size_t *capacity, size_t *num) {
    size_t first = *num;
    psfm_status status = PSFM_OK;
    for (uint32_t k = b->image_begin[image]; k < b->image_begin[image + 1]; ++k) {
        uint32_t o = b->image_obs[k];
        if (o + 1 == b->point_begin[b->obs_point[o] + 1] || b->obs_image[o + 1] == image)
            continue;
        uint32_t next = b->obs_image[o + 1];
        if (count[next]++ > 0)
            continue;
        if ((status = PSFM_RESERVE(ctx, links, capacity, *num + 1)) != PSFM_OK)
            return status;
        (*links)[(*num)++] = (link){.image1 = image, .image2 = next};
    }
    for (size_t k = first; k < *num; ++k) {
        (*links)[k].num_common = count[(*links)[k].image2];
        count[(*links)[k].image2] = 0;
    }
    return status;
}

/* Keeps the links of the tree; returns their number. */
static size_t keep_strongest(uint32_t num_images, size_t num, link *links, uint32_t *sets) {
    size_t kept = 0;
    if (num > 0)
        qsort(links, num, sizeof *links, compare_links);
    psfm_sets_init(sets, num_images);
    for (size_t k = 0; k < num; ++k)
        if (psfm_sets_unite(sets, links[k].image1, links[k].image2))
            links[kept++] = links[k];
    return kept;
}

/* Lists the links of each image: `begin` has room for num_images + 2, `next` for 2 num. */
static void list_neighbours(uint32_t num_images, size_t num, const link *links, uint32_t *begin,
                            uint32_t *next) {
    memset(begin, 0, ((size_t)num_images + 2) * sizeof *begin);
    for (size_t k = 0; k < num; ++k) {
        ++begin[links[k].image1 + 2];
        ++begin[links[k].image2 + 2];
    }
    for (uint32_t i = 0; i < num_images; ++i)
        begin[i + 2] += begin[i + 1];
    for (size_t k = 0; k < num; ++k) {
        next[begin[links[k].image1 + 1]++] = links[k].image2;
        next[begin[links[k].image2 + 1]++] = links[k].image1;
    }
}

/* Walks the tree, from images that do not move first. */
static void order_images(const psfm_bundle *b, const uint32_t *begin, const uint32_t *next,
                         bool *seen, psfm_bundle_tree *tree) {
    uint32_t num = 0, done = 0;
    for (int pass = 0; pass < 2; ++pass) {
        for (uint32_t root = 0; root < tree->num_images; ++root) {
            if (seen[root] || (pass == 0 && b->image_block[root] != PSFM_BUNDLE_NONE))
                continue;
            seen[root] = true;
            tree->parent[root] = PSFM_BUNDLE_NONE;
            tree->root[root] = root;
            tree->order[num++] = root;
            for (; done < num; ++done) {
                uint32_t i = tree->order[done];
                for (uint32_t k = begin[i]; k < begin[i + 1]; ++k) {
                    if (seen[next[k]])
                        continue;
                    seen[next[k]] = true;
                    tree->parent[next[k]] = i;
                    tree->root[next[k]] = root;
                    tree->order[num++] = next[k];
                }
            }
        }
    }
}

/* The plane that nearly all points of an image are on. */
static uint32_t plane_of_image(const psfm_bundle *b, uint32_t image) {
    uint32_t begin = b->image_begin[image], end = b->image_begin[image + 1], plane = 0, num = 0;
    for (uint32_t k = begin; k < end; ++k) { /* the only one that can have more than half */
        uint32_t other = b->point_plane[b->obs_point[b->image_obs[k]]];
        plane = num == 0 ? other : plane;
        num = other == plane ? num + 1 : num - 1;
    }
    num = 0;
    for (uint32_t k = begin; k < end; ++k)
        num += b->point_plane[b->obs_point[b->image_obs[k]]] == plane;
    return num > ONE_PLANE * (end - begin) ? plane : PSFM_BUNDLE_NONE;
}

psfm_status psfm_bundle_tree_create(psfm_context *ctx, const psfm_bundle *b,
                                    psfm_bundle_tree **out) {
    uint32_t n = (uint32_t)b->problem->num_images, *count = NULL, *begin = NULL, *next = NULL;
    size_t num = 0, capacity = 0;
    link *links = NULL;
    bool *seen = NULL;
    psfm_bundle_tree *tree = NULL;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, 1, &tree)) || (status = PSFM_ALLOC(ctx, n, &tree->order)) ||
        (status = PSFM_ALLOC(ctx, n, &tree->parent)) ||
        (status = PSFM_ALLOC(ctx, n, &tree->root)) || (status = PSFM_ALLOC(ctx, n, &tree->plane)) ||
        (status = PSFM_ALLOC(ctx, n, &tree->scale)) ||
        (status = PSFM_ALLOC(ctx, n, &tree->growth)) || (status = PSFM_ALLOC(ctx, n, &count)) ||
        (status = PSFM_ALLOC(ctx, n, &seen)) || (status = PSFM_ALLOC(ctx, (size_t)n + 2, &begin)) ||
        (status = PSFM_ALLOC(ctx, 2 * (size_t)n, &next)))
        goto cleanup;
    tree->num_images = n;
    for (uint32_t i = 0; status == PSFM_OK && i < n; ++i)
        status = add_links(ctx, b, i, count, &links, &capacity, &num);
    if (status != PSFM_OK)
        goto cleanup;
    num = keep_strongest(n, num, links, count);
    list_neighbours(n, num, links, begin, next);
    order_images(b, begin, next, seen, tree);
    for (uint32_t i = 0; i < n; ++i)
        tree->plane[i] = plane_of_image(b, i);

cleanup:
    free(count);
    free(seen);
    free(begin);
    free(next);
    free(links);
    if (status != PSFM_OK && tree != NULL)
        psfm_bundle_tree_destroy(&tree);
    *out = tree;
    return status;
}

/* Turn and shift of an image; zero if it does not move. */
static const double *step_of(const psfm_bundle *b, uint32_t image) {
    static const double none[6];
    uint32_t block = b->image_block[image];
    return block == PSFM_BUNDLE_NONE ? none : b->step + b->pattern.scalar_begin[block];
}

/* A place of the world seen from an image: where it is, and how the step, which moves it by
 * `shift`, changes that. */
static void see_from(const psfm_bundle *b, uint32_t image, const double place[3],
                     const double shift[3], double v[3], double change[3]) {
    const double *d = step_of(b, image), *R = b->now.R[image];
    double D[3], turned[3];
    psfm_sub3(place, b->now.c[image], D);
    psfm_mat3_mul_vec(R, D, v);
    psfm_sub3(shift, d + 3, D);
    psfm_mat3_mul_vec(R, D, change);
    psfm_cross3(d, v, turned);
    psfm_axpy3(change, 1.0, turned, change);
}

/* Growth of the distances from an image to those at the ends of its tracks. Each has the weight of
 * its parallax, which is at most 1 however far it is off. */
static psfm_status find_growth(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx;
    (void)worker;
    const psfm_bundle *b = user;
    uint32_t image = (uint32_t)index;
    double grown = 0.0, weight = 0.0;
    for (uint32_t k = b->image_begin[image]; k < b->image_begin[image + 1]; ++k) {
        uint32_t point = b->obs_point[b->image_obs[k]];
        const uint32_t ends[2] = {b->obs_image[b->point_begin[point]],
                                  b->obs_image[b->point_begin[point + 1] - 1]};
        double ray[3], v[3], change[3];
        psfm_sub3(b->now.X[point], b->now.c[image], ray);
        for (int e = 0; e < 2; ++e) {
            see_from(b, image, b->now.c[ends[e]], step_of(b, ends[e]) + 3, v, change);
            double length2 = psfm_dot3(v, v), all = length2 + psfm_dot3(ray, ray);
            if (all > 0.0) {
                grown += psfm_dot3(v, change) / all;
                weight += length2 / all;
            }
        }
    }
    /* a step of many times all distances means nothing, and its exponential may not be finite */
    b->tree->growth[image] =
        weight > 0.0 ? fmax(-MAX_GROWTH, fmin(grown / weight, MAX_GROWTH)) : 0.0;
    return PSFM_OK;
}

/* Where the image carries a place of the world that the step moves by `shift`: with all that is
 * round it that grows by a factor, what it moves beyond that straight. */
static void carry_place(const psfm_bundle *b, uint32_t image, const double from[3],
                        const double shift[3], double to[3]) {
    double v[3], change[3], world[3], growth = b->tree->growth[image];
    double scale = b->tree->scale[b->tree->root[image]] * exp(growth);
    see_from(b, image, from, shift, v, change);
    for (int k = 0; k < 3; ++k)
        v[k] = scale * ((1.0 - growth) * v[k] + change[k]);
    psfm_mat3_tmul_vec(b->trial.R[image], v, world);
    psfm_axpy3(b->trial.c[image], 1.0, world, to);
}

/* Transposes stand for inverses here, so that an error in the rotation of a parent comes twice into
 * that of its children: down a long chain and from step to step rounding would grow without bound,
 * were the products not made rotations again. */
static void turn_with_parent(psfm_bundle *b, uint32_t image, uint32_t parent) {
    double between[9], turned[3], turn[3], E[9], moved[9], R[9];
    psfm_mat3_mul_t(b->now.R[image], b->now.R[parent], between);
    psfm_mat3_mul_vec(between, step_of(b, parent), turned);
    psfm_sub3(step_of(b, image), turned, turn);
    psfm_rotation_exp(turn, E);
    psfm_mat3_mul(E, between, moved);
    psfm_mat3_mul(moved, b->trial.R[parent], R);
    if (!psfm_mat3_nearest_rotation(R, b->trial.R[image]))
        memcpy(b->trial.R[image], R, sizeof R);
}

/* An image in the middle of those that see the point. */
static uint32_t find_carrier(const psfm_bundle *b, uint32_t point) {
    return b->obs_image[(b->point_begin[point] + b->point_begin[point + 1]) / 2];
}

void psfm_bundle_tree_carry(const psfm_bundle *b, uint32_t point, double X[3]) {
    double shift[3];
    psfm_sub3(X, b->now.X[point], shift);
    carry_place(b, find_carrier(b, point), b->now.X[point], shift, X);
}

/* The foot of the plane's anchor is carried, and the normal turned. */
static void carry_plane(psfm_bundle *b, uint32_t plane) {
    uint32_t middle = (b->plane_begin[plane] + b->plane_begin[plane + 1]) / 2;
    uint32_t image = find_carrier(b, b->plane_points[middle]);
    const psfm_bundle_plane *from = &b->now.planes[plane];
    psfm_bundle_plane *to = &b->trial.planes[plane];
    const double *anchor = b->plane_anchor[plane], *d = step_of(b, image);
    double foot[3], moved[3], shift[3], turn[3], m[3], change[3], normal[3];
    psfm_axpy3(anchor, from->distance - psfm_dot3(from->normal, anchor), from->normal, foot);
    psfm_axpy3(anchor, to->distance - psfm_dot3(to->normal, anchor), to->normal, moved);
    psfm_sub3(moved, foot, shift);
    carry_place(b, image, foot, shift, moved);
    psfm_mat3_mul_vec(b->now.R[image], from->normal, m);
    psfm_sub3(to->normal, from->normal, shift);
    psfm_mat3_mul_vec(b->now.R[image], shift, change);
    psfm_cross3(d, m, turn);
    psfm_axpy3(change, 1.0, turn, change);
    psfm_axpy3(m, 1.0, change, m);
    psfm_mat3_tmul_vec(b->trial.R[image], m, normal);
    psfm_normalize3(normal);
    memcpy(to->normal, normal, sizeof normal);
    to->distance = psfm_dot3(normal, moved);
    psfm_bundle_plane_frame(normal, b->trial.plane_frame[plane]);
}

/* Scales each tree about its root to where a distance from it has its fixed value. */
static void hold_distances(psfm_bundle *b) {
    psfm_bundle_tree *tree = b->tree;
    for (uint32_t i = 0; i < tree->num_images; ++i) {
        uint32_t anchor = b->scale_anchor[i];
        double D[3];
        if (anchor == PSFM_BUNDLE_NONE)
            continue;
        psfm_sub3(b->trial.c[i], b->trial.c[anchor], D);
        if (anchor == tree->root[i])
            tree->scale[anchor] = b->scale_distance[i] / psfm_norm3(D);
        else
            psfm_bundle_hold_distance(b, i);
    }
    for (uint32_t i = 0; i < tree->num_images; ++i) {
        const double *origin = b->trial.c[tree->root[i]];
        double D[3];
        psfm_sub3(b->trial.c[i], origin, D);
        psfm_axpy3(origin, tree->scale[tree->root[i]], D, b->trial.c[i]);
    }
}

/* The step of a plane to first order: of its normal, and of its distance. */
typedef struct {
    double normal[3], distance;
} plane_change;

static plane_change change_of_plane(const psfm_bundle *b, uint32_t plane) {
    const double *d = b->step + b->pattern.scalar_begin[b->plane_block[plane]];
    const double *frame = b->now.plane_frame[plane];
    plane_change change;
    psfm_scale3(d[0], frame, change.normal);
    psfm_axpy3(change.normal, d[1], frame + 3, change.normal);
    change.distance = d[2] + psfm_dot3(change.normal, b->plane_anchor[plane]);
    return change;
}

/* Puts an image to its height above the plane and its tilt against it. */
static void rest_on_plane(psfm_bundle *b, uint32_t image) {
    uint32_t plane = b->tree->plane[image];
    const double *d = step_of(b, image), *R = b->now.R[image], *c = b->now.c[image];
    const psfm_bundle_plane *from = &b->now.planes[plane], *to = &b->trial.planes[plane];
    plane_change change = change_of_plane(b, plane);
    double m[3], turned[3], by_plane[3], wanted[3], has[3], axis[3], E[9], moved[9];
    psfm_mat3_mul_vec(R, from->normal, m);
    psfm_cross3(d, m, turned);
    psfm_mat3_mul_vec(R, change.normal, by_plane);
    for (int k = 0; k < 3; ++k)
        wanted[k] = m[k] + turned[k] + by_plane[k];
    psfm_normalize3(wanted);
    psfm_mat3_mul_vec(b->trial.R[image], to->normal, has);
    psfm_cross3(has, wanted, axis); /* of a turn so small that its sine is it */
    psfm_rotation_exp(axis, E);
    psfm_mat3_mul(E, b->trial.R[image], moved);
    memcpy(b->trial.R[image], moved, sizeof moved);
    double height = psfm_dot3(from->normal, c) - from->distance + psfm_dot3(from->normal, d + 3) +
                    psfm_dot3(change.normal, c) - change.distance;
    height *= b->tree->scale[b->tree->root[image]];
    psfm_axpy3(b->trial.c[image],
               height - (psfm_dot3(to->normal, b->trial.c[image]) - to->distance), to->normal,
               b->trial.c[image]);
}

psfm_status psfm_bundle_tree_move(psfm_context *ctx, psfm_bundle *b) {
    const psfm_bundle_tree *tree = b->tree;
    psfm_status status = psfm_bundle_for(ctx, b, tree->num_images, find_growth, b);
    if (status != PSFM_OK)
        return status;
    for (uint32_t k = 0; k < tree->num_images; ++k)
        tree->scale[k] = 1.0;
    for (uint32_t k = 0; k < tree->num_images; ++k) {
        uint32_t image = tree->order[k], parent = tree->parent[image];
        if (parent == PSFM_BUNDLE_NONE || b->image_block[image] == PSFM_BUNDLE_NONE)
            continue; /* as it moves by itself */
        turn_with_parent(b, image, parent);
        carry_place(b, parent, b->now.c[image], step_of(b, image) + 3, b->trial.c[image]);
    }
    hold_distances(b);
    for (uint32_t k = 0; k < b->problem->num_planes; ++k)
        if (b->plane_block[k] != PSFM_BUNDLE_NONE)
            carry_plane(b, k);
    for (uint32_t i = 0; i < tree->num_images; ++i)
        if (b->image_block[i] != PSFM_BUNDLE_NONE && b->scale_anchor[i] == PSFM_BUNDLE_NONE &&
            tree->plane[i] != PSFM_BUNDLE_NONE &&
            b->plane_block[tree->plane[i]] != PSFM_BUNDLE_NONE)
            rest_on_plane(b, i);
    return PSFM_OK;
}
