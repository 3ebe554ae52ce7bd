/* Writing graph.json, directly as text: a tree in memory would be many times the file. */
#include <math.h>

#include "base/escape.h"
#include "base/number_locale.h"
#include "base/output.h"
#include "io/graph_file.h"

static void print_number(FILE *file, const char *key, double value) {
    if (isfinite(value))
        fprintf(file, ",\"%s\":%.9g", key, value);
    else
        fprintf(file, ",\"%s\":null", key);
}

static const char *truth(bool value) {
    return value ? "true" : "false";
}

static void print_image(FILE *file, const psfm_graph_image *image) {
    fprintf(file, "{\"name\":");
    psfm_print_json_string(file, image->name);
    fprintf(file, ",\"width\":%llu,\"height\":%llu,\"keypoints\":%zu}",
            (unsigned long long)image->width, (unsigned long long)image->height,
            image->num_keypoints);
}

static void print_homography(FILE *file, const psfm_graph_homography *h) {
    fprintf(file, "{\"inliers\":%u", h->num_inliers);
    print_number(file, "rms_px", h->rms_px);
    fprintf(file, ",\"rotation_only\":%s,\"chosen\":%s,\"group\":%lld,\"H\":[",
            truth(h->is_rotation), truth(h->chosen), (long long)h->group);
    for (int k = 0; k < 9; ++k)
        fprintf(file, "%s%.12g", k == 0 ? "" : ",", h->H_21[k]);
    fprintf(file, "],\"samples\":[");
    for (size_t k = 0; k < h->num_samples; ++k)
        fprintf(file, "%s%.1f,%.1f,%.1f,%.1f", k == 0 ? "" : ",", (double)h->samples[k][0],
                (double)h->samples[k][1], (double)h->samples[k][2], (double)h->samples[k][3]);
    fprintf(file, "]}");
}

static void print_pair(FILE *file, const psfm_graph_pair *pair) {
    fprintf(file,
            "{\"image1\":%u,\"image2\":%u,\"matches\":%zu,\"kind\":\"%s\","
            "\"essential_inliers\":%u,\"homographies\":[",
            pair->image1, pair->image2, pair->num_matches, psfm_pair_kind_name(pair->kind),
            pair->essential_inliers);
    for (size_t k = 0; k < pair->num_homographies; ++k) {
        fprintf(file, "%s", k == 0 ? "" : ",\n  ");
        print_homography(file, &pair->homographies[k]);
    }
    fprintf(file, "]");
    if (pair->is_edge) {
        fprintf(file, ",\n  \"edge\":{\"part\":%u,\"component\":%u,\"tree\":%s,\"kept\":%s",
                pair->part, pair->component, truth(pair->in_tree), truth(pair->kept));
        print_number(file, "h", pair->h);
        print_number(file, "rotation_deg", pair->rotation_deg);
        print_number(file, "absence", pair->absence);
        fprintf(file, "}");
    }
    fprintf(file, "}");
}

static void print_graph(FILE *file, const psfm_graph_file *graph) {
    fprintf(file, "{\"version\":%d,\n\"photographs\":", PSFM_GRAPH_FILE_VERSION);
    if (graph->photo_folder == NULL)
        fprintf(file, "null");
    else
        psfm_print_json_string(file, graph->photo_folder);
    fprintf(file, ",\n\"images\":[");
    for (size_t k = 0; k < graph->num_images; ++k) {
        fprintf(file, "%s", k == 0 ? "\n" : ",\n");
        print_image(file, &graph->images[k]);
    }
    fprintf(file, "],\n\"components\":[");
    for (size_t k = 0; k < graph->num_components; ++k) {
        const psfm_graph_component *c = &graph->components[k];
        fprintf(file, "%s{\"images\":%u,\"edges\":%u", k == 0 ? "\n" : ",\n", c->num_images,
                c->num_edges);
        print_number(file, "low", c->low);
        print_number(file, "high", c->high);
        fprintf(file, "}");
    }
    fprintf(file, "],\n\"plane_models\":[");
    for (size_t k = 0; k < graph->num_planes; ++k)
        fprintf(file, "%s%u", k == 0 ? "" : ",", graph->plane_models[k]);
    fprintf(file, "],\n\"pairs\":[");
    for (size_t k = 0; k < graph->num_pairs; ++k) {
        fprintf(file, "%s", k == 0 ? "\n" : ",\n");
        print_pair(file, &graph->pairs[k]);
    }
    fprintf(file, "]}\n");
}

psfm_status psfm_graph_file_write(psfm_context *ctx, const psfm_graph_file *graph,
                                  const char *path) {
    psfm_output out = {0};
    psfm_status status = psfm_output_open(ctx, path, &out);
    if (status != PSFM_OK)
        return status;
    locale_t before = psfm_number_locale_begin();
    print_graph(out.file, graph);
    psfm_number_locale_end(before);
    return psfm_output_commit(ctx, &out);
}
