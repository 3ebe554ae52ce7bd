/* Writing graph.json, directly as text: a tree in memory would be many times the file. */
#include "formats/graph_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/escape.h"
#include "core/base/number_locale.h"
#include "core/base/output.h"
#include "core/base/path.h"
#include "formats/json.h"

enum { DIGITS = 9, H_DIGITS = 12 };

static void print_number(FILE *file, const char *key, double value) {
    if (isfinite(value))
        fprintf(file, ",\"%s\":%.*g", key, DIGITS, value);
    else
        fprintf(file, ",\"%s\":null", key);
}

static const char *truth_text(bool value) {
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
            truth_text(h->is_rotation), truth_text(h->chosen), (long long)h->group);
    for (int k = 0; k < 9; ++k)
        fprintf(file, "%s%.*g", k == 0 ? "" : ",", H_DIGITS, h->H_21[k]);
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
        fprintf(
            file,
            ",\n  \"edge\":{\"embedding_component\":%u,\"component\":%u,\"tree\":%s,\"kept\":%s",
            pair->embedding_component, pair->component, truth_text(pair->in_tree),
            truth_text(pair->kept));
        print_number(file, "h", pair->h);
        print_number(file, "rotation_deg", pair->rotation_deg);
        print_number(file, "missing_share", pair->missing_share);
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

static void round_to(int digits, double *value) {
    char text[64];
    if (!isfinite(*value)) {
        *value = (double)NAN;
        return;
    }
    snprintf(text, sizeof text, "%.*g", digits, *value);
    *value = strtod(text, NULL);
}

/* Ten times a float is exact in a double, so that this is what "%.1f" prints, halves included. */
static void round_homography(psfm_graph_homography *h) {
    round_to(DIGITS, &h->rms_px);
    for (int k = 0; k < 9; ++k)
        round_to(H_DIGITS, &h->H_21[k]);
    for (size_t k = 0; k < h->num_samples; ++k)
        for (int d = 0; d < 4; ++d)
            h->samples[k][d] = (float)(rint(10.0 * (double)h->samples[k][d]) / 10.0);
}

static void round_pair(psfm_graph_pair *pair) {
    for (size_t k = 0; k < pair->num_homographies; ++k)
        round_homography(&pair->homographies[k]);
    if (!pair->is_edge)
        return;
    round_to(DIGITS, &pair->h);
    round_to(DIGITS, &pair->rotation_deg);
    round_to(DIGITS, &pair->missing_share);
}

void psfm_graph_file_round(psfm_graph_file *graph) {
    locale_t before = psfm_number_locale_begin();
    for (size_t k = 0; k < graph->num_components; ++k) {
        round_to(DIGITS, &graph->components[k].low);
        round_to(DIGITS, &graph->components[k].high);
    }
    for (size_t k = 0; k < graph->num_pairs; ++k)
        round_pair(&graph->pairs[k]);
    psfm_number_locale_end(before);
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

/* Reading graph.json. Every number is checked against its range and every index against its list,
 * so that what is built from it needs no further check; messages name the list and the element. */

/* Where the reader is, for messages, and how it fares: after a failure what it takes is nothing. */
typedef struct {
    psfm_context *ctx;
    const char *name;
    const char *list; /* what it reads elements of */
    size_t index;
    psfm_status status;
} reader;

static void complain_of_key(reader *r, const char *key, const char *want) {
    if (r->status == PSFM_OK)
        r->status = psfm_fail(r->ctx, PSFM_ERR_FORMAT, "%s: %s %zu: '%s' is not %s", r->name,
                              r->list, r->index, key, want);
}

/* A whole number from 0 to max. */
static uint64_t get_count(reader *r, const cJSON *object, const char *key, double max) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (cJSON_IsNumber(item) && item->valuedouble >= 0.0 && item->valuedouble <= max &&
        item->valuedouble == floor(item->valuedouble))
        return (uint64_t)item->valuedouble;
    complain_of_key(r, key, "a count within its range");
    return 0;
}

static uint32_t get_index(reader *r, const cJSON *object, const char *key, size_t num) {
    if (num == 0) {
        complain_of_key(r, key, "an index into its list");
        return 0;
    }
    return (uint32_t)get_count(r, object, key, (double)(num - 1));
}

/* A finite number; null is NAN where that is allowed. */
static double get_number(reader *r, const cJSON *object, const char *key, bool or_null) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    double value = (double)NAN;
    if (!psfm_json_get_number(item, &value) && (!or_null || !cJSON_IsNull(item)))
        complain_of_key(r, key, "a number");
    return value;
}

static bool get_truth(reader *r, const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!cJSON_IsBool(item))
        complain_of_key(r, key, "true or false");
    return cJSON_IsTrue(item);
}

/* The first element of the list behind `key`, and zeroed room for all; `out` is the address of a
 * pointer to them. cJSON counts with int. */
static const cJSON *get_list(reader *r, const cJSON *object, const char *key, size_t size,
                             void *out, size_t *num) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!cJSON_IsArray(list))
        complain_of_key(r, key, "a list");
    size_t count = (size_t)cJSON_GetArraySize(list);
    if (r->status == PSFM_OK)
        r->status = psfm_alloc(r->ctx, count, size, out);
    if (r->status != PSFM_OK)
        return NULL;
    *num = count;
    return list->child;
}

static void read_image(reader *r, const cJSON *item, psfm_graph_image *image) {
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(item, "name");
    if (!cJSON_IsString(name))
        complain_of_key(r, "name", "a text");
    image->width = get_count(r, item, "width", 1e9);
    image->height = get_count(r, item, "height", 1e9);
    image->num_keypoints = (size_t)get_count(r, item, "keypoints", 4e9);
    if (r->status == PSFM_OK)
        r->status = psfm_strdup(r->ctx, name->valuestring, &image->name);
}

static void read_component(reader *r, const cJSON *item, psfm_graph_component *c) {
    c->num_images = (uint32_t)get_count(r, item, "images", UINT32_MAX);
    c->num_edges = (uint32_t)get_count(r, item, "edges", UINT32_MAX);
    c->low = get_number(r, item, "low", false);
    c->high = get_number(r, item, "high", false);
}

static void read_samples(reader *r, const cJSON *item, psfm_graph_homography *h) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(item, "samples"), *x;
    size_t count = cJSON_IsArray(list) ? (size_t)cJSON_GetArraySize(list) : 1;
    if (count % 4 != 0)
        complain_of_key(r, "samples", "a list of four numbers each");
    if (r->status == PSFM_OK)
        r->status = PSFM_ALLOC(r->ctx, count / 4, &h->samples);
    if (r->status != PSFM_OK)
        return;
    float *out = (float *)h->samples;
    cJSON_ArrayForEach(x, list) {
        if (!cJSON_IsNumber(x) || !(fabs(x->valuedouble) < 1e9))
            complain_of_key(r, "samples", "a list of pixels");
        else
            *out++ = (float)x->valuedouble;
    }
    h->num_samples = count / 4;
}

static void read_homography(reader *r, const cJSON *item, psfm_graph_homography *h) {
    h->num_inliers = (uint32_t)get_count(r, item, "inliers", UINT32_MAX);
    h->rms_px = get_number(r, item, "rms_px", true);
    h->is_rotation = get_truth(r, item, "rotation_only");
    h->chosen = get_truth(r, item, "chosen");
    double group = get_number(r, item, "group", false);
    h->group = group >= 0.0 && group < UINT32_MAX ? (int64_t)group : -1;
    if (!psfm_json_get_numbers(cJSON_GetObjectItemCaseSensitive(item, "H"), 9, h->H_21))
        complain_of_key(r, "H", "a list of nine numbers");
    read_samples(r, item, h);
}

static psfm_pair_kind read_kind(reader *r, const cJSON *item) {
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "kind"));
    for (int k = 0; text != NULL && k <= PSFM_PAIR_ROTATION; ++k)
        if (strcmp(text, psfm_pair_kind_name((psfm_pair_kind)k)) == 0)
            return (psfm_pair_kind)k;
    complain_of_key(r, "kind", "a known kind of pair");
    return PSFM_PAIR_OK;
}

/* A key, or its former name where the file is of an earlier version. */
static const char *current_key(const cJSON *object, const char *key, const char *former) {
    return cJSON_HasObjectItem(object, former) ? former : key;
}

static void read_edge(reader *r, const cJSON *edge, size_t num_components, psfm_graph_pair *pair) {
    pair->is_edge = true;
    pair->embedding_component =
        get_index(r, edge, current_key(edge, "embedding_component", "part"), UINT32_MAX);
    pair->component = get_index(r, edge, "component", num_components);
    pair->in_tree = get_truth(r, edge, "tree");
    pair->kept = get_truth(r, edge, "kept");
    pair->h = get_number(r, edge, "h", false);
    pair->rotation_deg = get_number(r, edge, "rotation_deg", true);
    pair->missing_share = (double)NAN; /* files of before do not have it */
    const char *missing = current_key(edge, "missing_share", "absence");
    if (cJSON_HasObjectItem(edge, missing))
        pair->missing_share = get_number(r, edge, missing, true);
}

static void read_pair(reader *r, const cJSON *item, const psfm_graph_file *graph,
                      psfm_graph_pair *pair) {
    pair->image1 = get_index(r, item, "image1", graph->num_images);
    pair->image2 = get_index(r, item, "image2", graph->num_images);
    pair->num_matches = (size_t)get_count(r, item, "matches", 4e9);
    pair->essential_inliers = (uint32_t)get_count(r, item, "essential_inliers", UINT32_MAX);
    pair->kind = read_kind(r, item);
    const cJSON *x = get_list(r, item, "homographies", sizeof *pair->homographies,
                              &pair->homographies, &pair->num_homographies);
    if (pair->image1 >= pair->image2)
        complain_of_key(r, "image2", "behind image1");
    psfm_graph_homography *h = pair->homographies;
    for (; r->status == PSFM_OK && x != NULL; x = x->next, ++h)
        read_homography(r, x, h);
    const cJSON *edge = cJSON_GetObjectItemCaseSensitive(item, "edge");
    if (edge != NULL)
        read_edge(r, edge, graph->num_components, pair);
}

static void read_planes(reader *r, const cJSON *root, psfm_graph_file *graph) {
    const cJSON *item = get_list(r, root, "plane_models", sizeof *graph->plane_models,
                                 &graph->plane_models, &graph->num_planes);
    for (size_t k = 0; item != NULL; item = item->next, ++k)
        if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0.0 && item->valuedouble < UINT32_MAX))
            complain_of_key(r, "plane_models", "a list of models");
        else
            graph->plane_models[k] = (uint32_t)item->valuedouble;
}

/* What the next messages are about. */
static void enter_list(reader *r, const char *list) {
    r->list = list;
    r->index = 0;
}

static void read_lists(reader *r, const cJSON *root, psfm_graph_file *graph) {
    const cJSON *item =
        get_list(r, root, "images", sizeof *graph->images, &graph->images, &graph->num_images);
    enter_list(r, "image");
    for (; r->status == PSFM_OK && item != NULL; item = item->next, ++r->index)
        read_image(r, item, &graph->images[r->index]);
    enter_list(r, "file");
    item = get_list(r, root, "components", sizeof *graph->components, &graph->components,
                    &graph->num_components);
    enter_list(r, "component");
    for (; r->status == PSFM_OK && item != NULL; item = item->next, ++r->index)
        read_component(r, item, &graph->components[r->index]);
    enter_list(r, "file");
    read_planes(r, root, graph);
    item = get_list(r, root, "pairs", sizeof *graph->pairs, &graph->pairs, &graph->num_pairs);
    enter_list(r, "pair");
    for (; r->status == PSFM_OK && item != NULL; item = item->next, ++r->index)
        read_pair(r, item, graph, &graph->pairs[r->index]);
}

static void read_all(reader *r, const cJSON *root, psfm_graph_file *graph) {
    uint64_t version = get_count(r, root, "version", 1e9);
    const cJSON *folder = cJSON_GetObjectItemCaseSensitive(root, "photographs");
    if (r->status == PSFM_OK && version != PSFM_GRAPH_FILE_VERSION)
        r->status = psfm_fail(r->ctx, PSFM_ERR_FORMAT, "%s: version %llu, this program reads %d",
                              r->name, (unsigned long long)version, PSFM_GRAPH_FILE_VERSION);
    if (r->status == PSFM_OK && cJSON_IsString(folder))
        r->status = psfm_strdup(r->ctx, folder->valuestring, &graph->photo_folder);
    read_lists(r, root, graph);
}

psfm_status psfm_graph_file_parse(psfm_context *ctx, const char *text, size_t size,
                                  const char *name, psfm_graph_file *graph) {
    *graph = (psfm_graph_file){0};
    cJSON *root = psfm_json_parse_whole(text, size);
    if (root == NULL)
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: not JSON", name);
    reader r = {.ctx = ctx, .name = name, .list = "file"};
    read_all(&r, root, graph);
    cJSON_Delete(root);
    if (r.status != PSFM_OK)
        psfm_graph_file_free(graph);
    return r.status;
}

psfm_status psfm_graph_file_read(psfm_context *ctx, const char *path, psfm_graph_file *graph) {
    char *text = NULL;
    size_t size = 0;
    *graph = (psfm_graph_file){0};
    psfm_status status = psfm_read_file(ctx, path, PSFM_GRAPH_FILE_MAX_SIZE, &text, &size);
    if (status == PSFM_OK)
        status = psfm_graph_file_parse(ctx, text, size, path, graph);
    free(text);
    return status;
}

void psfm_graph_file_free(psfm_graph_file *graph) {
    for (size_t k = 0; graph->images != NULL && k < graph->num_images; ++k)
        free(graph->images[k].name);
    for (size_t p = 0; graph->pairs != NULL && p < graph->num_pairs; ++p) {
        for (size_t k = 0; k < graph->pairs[p].num_homographies; ++k)
            free(graph->pairs[p].homographies[k].samples);
        free(graph->pairs[p].homographies);
    }
    free(graph->images);
    free(graph->pairs);
    free(graph->components);
    free(graph->plane_models);
    free(graph->photo_folder);
    *graph = (psfm_graph_file){0};
}
