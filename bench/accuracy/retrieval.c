/* Pairs by vectors: of the pairs that verify, the share that `--pairs retrieval:K` would have
 * tried.
 *
 *   bench_retrieval DATABASE...
 *
 * of databases whose pairs were all matched. Verified: 30 inliers of homographies or of the
 * essential matrix. "best" is the share that a selection of as many pairs could reach; then the
 * same with the pairs of `--pairs.expand`. Once as vectors alone has it, once ranked by geometry.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/timer.h"
#include "core/posegraph/pose_graph.h"
#include "core/solve/rotation_candidates.h"
#include "frontend/retrieval_vectors.h"
#include "images/match/pair_expand.h"
#include "store/colmap_database.h"

enum { MIN_INLIERS = 30 };

static void check(psfm_context *ctx, psfm_status status) {
    if (status == PSFM_OK)
        return;
    fprintf(stderr, "%s: %s\n", psfm_status_name(status), psfm_context_message(ctx));
    exit(1);
}

/* Inliers of verified pairs as a table by the places of their names among the photographs. */
static size_t find_verified(psfm_context *ctx, const char *path, const psfm_stored_photos *photos,
                            size_t *verified) {
    psfm_match_set set;
    psfm_pose_graph graph;
    psfm_two_view_options options;
    size_t num = 0;
    psfm_options_init(&psfm_two_view_option_table, &options);
    check(ctx, psfm_database_read(ctx, path, &set, NULL));
    psfm_two_view *two_views = NULL;
    check(ctx, psfm_two_views_make(ctx, &set, &options, &two_views));
    check(ctx, psfm_pose_graph_build(ctx, &set, two_views, true, &graph));
    for (uint32_t e = 0; e < graph.num_edges; ++e) {
        size_t place[2] = {0};
        for (int end = 0; end < 2; ++end) {
            uint32_t node = end == 0 ? graph.edges[e].node1 : graph.edges[e].node2;
            while (strcmp(photos->photos[place[end]].name, set.views[node].name) != 0)
                ++place[end];
        }
        size_t inliers = (size_t)psfm_edge_num_inliers(&graph, &graph.edges[e]);
        if (inliers < MIN_INLIERS)
            continue;
        verified[place[0] * photos->num + place[1]] = inliers;
        verified[place[1] * photos->num + place[0]] = inliers;
        ++num;
    }
    psfm_pose_graph_free(&graph);
    psfm_two_views_free(&two_views, set.num_pairs);
    psfm_match_set_free(&set);
    return num;
}

/* Of the pairs of a list, those verified; their inliers go to `inliers` unless it is NULL. */
static size_t count_verified(const psfm_pair_list *list, size_t num, const size_t *verified,
                             size_t *inliers) {
    size_t found = 0;
    for (size_t k = 0; k < list->num; ++k) {
        size_t here = verified[list->pairs[k][0] * num + list->pairs[k][1]];
        found += here > 0;
        if (inliers != NULL)
            inliers[k] = here;
    }
    return found;
}

/* Pairs of a rule, verified ones among them, and the same with those by common neighbours. */
static void report(psfm_context *ctx, const char *rule, const psfm_pair_hints *hints,
                   const size_t *verified, size_t num_verified) {
    size_t num = hints->vectors->num;
    psfm_pair_list list, added;
    psfm_moment start = psfm_moment_now();
    check(ctx, psfm_pair_select(ctx, rule, NULL, num, hints, &list));
    double seconds = psfm_moment_now().cpu_seconds - start.cpu_seconds;
    size_t *inliers = calloc(list.num + 1, sizeof *inliers);
    if (inliers == NULL)
        exit(1);
    size_t found = count_verified(&list, num, verified, inliers);
    double all = (double)num_verified;
    check(ctx, psfm_pair_expand(ctx, num, &list, inliers, PSFM_EXPAND_MOST, &added));
    size_t more = count_verified(&added, num, verified, NULL);
    printf("  %-12s %s %6zu pairs (%.2f CPU s), recall %5.1f %%, best %5.1f %%; expanded %6zu "
           "pairs, recall %5.1f %%\n",
           rule, hints->sketches == NULL ? "by vectors" : "ranked     ", list.num, seconds,
           100.0 * (double)found / all,
           list.num < num_verified ? 100.0 * (double)list.num / all : 100.0, list.num + added.num,
           100.0 * (double)(found + more) / all);
    free(inliers);
    psfm_pair_list_free(&added);
    psfm_pair_list_free(&list);
}

static void run(psfm_context *ctx, const char *path) {
    psfm_feature_store store;
    psfm_stored_photos photos;
    psfm_image_vectors vectors;
    check(ctx, psfm_store_open(ctx, path, false, &store));
    check(ctx, psfm_store_list(&store, &photos));
    psfm_moment start = psfm_moment_now();
    check(ctx, psfm_image_vectors_find(ctx, &store, &photos, &vectors));
    double seconds = psfm_moment_now().cpu_seconds - start.cpu_seconds;
    size_t *verified = calloc(photos.num * photos.num, sizeof *verified);
    if (verified == NULL)
        exit(1);
    psfm_sketch *sketches = NULL;
    psfm_pair_hints hints = {.vectors = &vectors};
    check(ctx, psfm_image_sketches_draw(ctx, &store, &photos, &sketches));
    size_t num = find_verified(ctx, path, &photos, verified);
    printf("%s: %zu images, %zu of %zu pairs verified, vectors in %.2f CPU s\n", path, photos.num,
           num, photos.num * (photos.num - 1) / 2, seconds);
    for (size_t k = 0; k < 8; ++k) {
        char rule[32];
        snprintf(rule, sizeof rule, "retrieval:%d", 5 << (k / 2));
        hints.sketches = k % 2 == 0 ? NULL : sketches;
        report(ctx, rule, &hints, verified, num);
    }
    psfm_store_close(&store);
    free(sketches);
    free(verified);
    psfm_image_vectors_free(&vectors);
    psfm_stored_photos_free(&photos);
}

int main(int argc, char **argv) {
    psfm_context *ctx = psfm_context_create();
    for (int k = 1; k < argc; ++k)
        run(ctx, argv[k]);
    psfm_context_destroy(&ctx);
    return 0;
}
