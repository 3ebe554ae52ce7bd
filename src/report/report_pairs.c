/* Pairs and their homographies as columns. If there are too many, those that matter most are
 * taken: the tree, kept pairs, other edges, the rest. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "report/report_data.h"

enum { IS_EDGE = 1, IN_TREE = 2, IS_KEPT = 4 };
enum { IS_ROTATION = 1, IS_CHOSEN = 2 };
enum { NUM_RANKS = 4 };

/* How much a pair matters to the reader: 0 most. */
static int rank(const psfm_graph_pair *pair) {
    return pair->in_tree ? 0 : pair->kept ? 1 : pair->is_edge ? 2 : 3;
}

/* Marks the pairs to show: whole ranks as long as they fit, then every k-th of the next. */
static void select_pairs(const psfm_graph_file *graph, size_t max_pairs, bool *shown) {
    size_t count[NUM_RANKS] = {0}, left = max_pairs;
    for (size_t p = 0; p < graph->num_pairs; ++p)
        ++count[rank(&graph->pairs[p])];
    for (int r = 0; r < NUM_RANKS; ++r) {
        size_t take = count[r] < left ? count[r] : left, seen = 0;
        for (size_t p = 0; p < graph->num_pairs; ++p) {
            if (rank(&graph->pairs[p]) != r)
                continue;
            shown[p] = (seen + 1) * take / count[r] > seen * take / count[r];
            ++seen;
        }
        left -= take;
    }
}

/* One column per field. */
typedef struct {
    psfm_column image1, image2, matches, kind, essential, flags, part, component, h, rotation;
    psfm_column num_homographies;
    psfm_column inliers, rms, homography_flags, group, H, num_samples, samples;
} columns;

static void add_homography(columns *c, const psfm_graph_homography *h) {
    psfm_column_u32(&c->inliers, h->num_inliers);
    psfm_column_f32(&c->rms, h->rms_px);
    psfm_column_u8(&c->homography_flags,
                   (uint8_t)((h->is_rotation ? IS_ROTATION : 0) | (h->chosen ? IS_CHOSEN : 0)));
    psfm_column_u32(&c->group, h->group < 0 ? UINT32_MAX : (uint32_t)h->group);
    for (int k = 0; k < 9; ++k)
        psfm_column_f32(&c->H, h->H_21[k]);
    psfm_column_u32(&c->num_samples, (uint32_t)h->num_samples);
    for (size_t k = 0; k < h->num_samples; ++k)
        for (int d = 0; d < 4; ++d)
            psfm_column_u16(&c->samples, (double)h->samples[k][d]);
}

static void add_pair(columns *c, const psfm_graph_pair *pair) {
    psfm_column_u32(&c->image1, pair->image1);
    psfm_column_u32(&c->image2, pair->image2);
    psfm_column_u32(&c->matches, (uint32_t)pair->num_matches);
    psfm_column_u8(&c->kind, (uint8_t)pair->kind);
    psfm_column_u32(&c->essential, pair->essential_inliers);
    psfm_column_u8(&c->flags,
                   (uint8_t)((pair->is_edge ? IS_EDGE : 0) | (pair->in_tree ? IN_TREE : 0) |
                             (pair->kept ? IS_KEPT : 0)));
    psfm_column_u32(&c->part, pair->part);
    psfm_column_u32(&c->component, pair->component);
    psfm_column_f32(&c->h, pair->h);
    psfm_column_f32(&c->rotation, pair->rotation_deg);
    psfm_column_u8(&c->num_homographies, (uint8_t)fmin((double)pair->num_homographies, 255.0));
    for (size_t k = 0; k < pair->num_homographies && k < 255; ++k)
        add_homography(c, &pair->homographies[k]);
}

psfm_status psfm_report_print_pairs(psfm_context *ctx, const psfm_graph_file *graph,
                                    size_t max_pairs, FILE *file) {
    columns c = {0};
    bool *shown = NULL;
    psfm_status status = PSFM_ALLOC(ctx, graph->num_pairs, &shown);
    if (status != PSFM_OK)
        return status;
    select_pairs(graph, max_pairs, shown);
    for (size_t p = 0; p < graph->num_pairs; ++p)
        if (shown[p])
            add_pair(&c, &graph->pairs[p]);
    struct {
        const char *name;
        psfm_column *column;
    } pairs[] = {{"image1", &c.image1},     {"image2", &c.image2},         {"matches", &c.matches},
                 {"kind", &c.kind},         {"essential", &c.essential},   {"flags", &c.flags},
                 {"part", &c.part},         {"component", &c.component},   {"h", &c.h},
                 {"rotation", &c.rotation}, {"count", &c.num_homographies}},
      homographies[] = {{"inliers", &c.inliers}, {"rms", &c.rms}, {"flags", &c.homography_flags},
                        {"group", &c.group},     {"H", &c.H},     {"count", &c.num_samples},
                        {"samples", &c.samples}};
    bool failed = false;
    fprintf(file, ",\n\"pairs\":{\"total\":%zu", graph->num_pairs);
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; ++k) {
        failed = failed || pairs[k].column->failed;
        psfm_column_print(pairs[k].column, pairs[k].name, file);
        psfm_column_free(pairs[k].column);
    }
    fprintf(file, "},\n\"homographies\":{\"columns\":%zu",
            sizeof homographies / sizeof *homographies);
    for (size_t k = 0; k < sizeof homographies / sizeof *homographies; ++k) {
        failed = failed || homographies[k].column->failed;
        psfm_column_print(homographies[k].column, homographies[k].name, file);
        psfm_column_free(homographies[k].column);
    }
    fprintf(file, "}");
    free(shown);
    return failed ? psfm_fail(ctx, PSFM_ERR_MEMORY, "out of memory") : PSFM_OK;
}
