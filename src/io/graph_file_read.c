/* Reading graph.json. Every number is checked against its range and every index against its list,
 * so that what is built from it needs no further check; messages name the list and the element. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/path.h"
#include "io/graph_file.h"

/* Where the reader is, for messages. */
typedef struct {
    psfm_context *ctx;
    const char *name;
    const char *list; /* what it reads elements of */
    size_t index;
} place;

static psfm_status complain(const place *at, const char *key, const char *want) {
    return psfm_fail(at->ctx, PSFM_ERR_FORMAT, "%s: %s %zu: '%s' is not %s", at->name, at->list,
                     at->index, key, want);
}

/* A whole number from 0 to max. */
static psfm_status get_count(const place *at, const cJSON *object, const char *key, double max,
                             uint64_t *out) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0.0 && item->valuedouble <= max) ||
        item->valuedouble != floor(item->valuedouble))
        return complain(at, key, "a count within its range");
    *out = (uint64_t)item->valuedouble;
    return PSFM_OK;
}

static psfm_status get_index(const place *at, const cJSON *object, const char *key, size_t num,
                             uint32_t *out) {
    uint64_t value = 0;
    if (num == 0)
        return complain(at, key, "an index into its list");
    psfm_status status = get_count(at, object, key, (double)(num - 1), &value);
    *out = (uint32_t)value;
    return status;
}

/* A finite number; null is NAN where that is allowed. */
static psfm_status get_number(const place *at, const cJSON *object, const char *key, bool or_null,
                              double *out) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (or_null && cJSON_IsNull(item)) {
        *out = (double)NAN;
        return PSFM_OK;
    }
    if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble))
        return complain(at, key, "a number");
    *out = item->valuedouble;
    return PSFM_OK;
}

static psfm_status get_truth(const place *at, const cJSON *object, const char *key, bool *out) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!cJSON_IsBool(item))
        return complain(at, key, "true or false");
    *out = cJSON_IsTrue(item);
    return PSFM_OK;
}

/* The list behind `key`, and zeroed room for its elements; `out` is the address of a pointer to
 * them. cJSON counts with int. */
static psfm_status get_list(const place *at, const cJSON *object, const char *key, size_t size,
                            const cJSON **list, void *out, size_t *num) {
    *list = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!cJSON_IsArray(*list))
        return complain(at, key, "a list");
    size_t count = (size_t)cJSON_GetArraySize(*list);
    psfm_status status = psfm_alloc(at->ctx, count, size, out);
    *num = status == PSFM_OK ? count : 0;
    return status;
}

static psfm_status get_numbers(const place *at, const cJSON *object, const char *key, size_t num,
                               double *out) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!cJSON_IsArray(list) || (size_t)cJSON_GetArraySize(list) != num)
        return complain(at, key, "a list of its length");
    for (const cJSON *item = list->child; item != NULL; item = item->next, ++out) {
        if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble))
            return complain(at, key, "a list of numbers");
        *out = item->valuedouble;
    }
    return PSFM_OK;
}

static psfm_status read_image(const place *at, const cJSON *item, psfm_graph_image *image) {
    uint64_t keypoints = 0;
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(item, "name");
    if (!cJSON_IsString(name))
        return complain(at, "name", "a text");
    psfm_status status;
    if ((status = get_count(at, item, "width", 1e9, &image->width)) ||
        (status = get_count(at, item, "height", 1e9, &image->height)) ||
        (status = get_count(at, item, "keypoints", 4e9, &keypoints)))
        return status;
    image->num_keypoints = (size_t)keypoints;
    return psfm_strdup(at->ctx, name->valuestring, &image->name);
}

static psfm_status read_component(const place *at, const cJSON *item, psfm_graph_component *c) {
    uint64_t images = 0, edges = 0;
    psfm_status status;
    if ((status = get_count(at, item, "images", UINT32_MAX, &images)) ||
        (status = get_count(at, item, "edges", UINT32_MAX, &edges)) ||
        (status = get_number(at, item, "low", false, &c->low)) ||
        (status = get_number(at, item, "high", false, &c->high)))
        return status;
    c->num_images = (uint32_t)images;
    c->num_edges = (uint32_t)edges;
    return PSFM_OK;
}

static psfm_status read_samples(const place *at, const cJSON *item, psfm_graph_homography *h) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(item, "samples");
    size_t count = cJSON_IsArray(list) ? (size_t)cJSON_GetArraySize(list) : 1;
    if (count % 4 != 0)
        return complain(at, "samples", "a list of four numbers each");
    psfm_status status = PSFM_ALLOC(at->ctx, count / 4, &h->samples);
    if (status != PSFM_OK)
        return status;
    float *out = (float *)h->samples;
    for (const cJSON *x = list->child; x != NULL; x = x->next, ++out) {
        if (!cJSON_IsNumber(x) || !(fabs(x->valuedouble) < 1e9))
            return complain(at, "samples", "a list of pixels");
        *out = (float)x->valuedouble;
    }
    h->num_samples = count / 4;
    return PSFM_OK;
}

static psfm_status read_homography(const place *at, const cJSON *item, psfm_graph_homography *h) {
    uint64_t inliers = 0;
    double group = -1.0;
    psfm_status status;
    if ((status = get_count(at, item, "inliers", UINT32_MAX, &inliers)) ||
        (status = get_number(at, item, "rms_px", true, &h->rms_px)) ||
        (status = get_truth(at, item, "rotation_only", &h->is_rotation)) ||
        (status = get_truth(at, item, "chosen", &h->chosen)) ||
        (status = get_number(at, item, "group", false, &group)) ||
        (status = get_numbers(at, item, "H", 9, h->H_21)))
        return status;
    h->num_inliers = (uint32_t)inliers;
    h->group = group >= 0.0 && group < UINT32_MAX ? (int64_t)group : -1;
    return read_samples(at, item, h);
}

static psfm_status read_kind(const place *at, const cJSON *item, psfm_pair_kind *kind) {
    const cJSON *text = cJSON_GetObjectItemCaseSensitive(item, "kind");
    for (int k = 0; cJSON_IsString(text) && k <= PSFM_PAIR_ROTATION; ++k) {
        if (strcmp(text->valuestring, psfm_pair_kind_name((psfm_pair_kind)k)) == 0) {
            *kind = (psfm_pair_kind)k;
            return PSFM_OK;
        }
    }
    return complain(at, "kind", "a known kind of pair");
}

static psfm_status read_edge(const place *at, const cJSON *item, size_t num_components,
                             psfm_graph_pair *pair) {
    const cJSON *edge = cJSON_GetObjectItemCaseSensitive(item, "edge");
    if (edge == NULL)
        return PSFM_OK;
    psfm_status status;
    if ((status = get_index(at, edge, "part", UINT32_MAX, &pair->part)) ||
        (status = get_index(at, edge, "component", num_components, &pair->component)) ||
        (status = get_truth(at, edge, "tree", &pair->in_tree)) ||
        (status = get_truth(at, edge, "kept", &pair->kept)) ||
        (status = get_number(at, edge, "h", false, &pair->h)))
        return status;
    pair->is_edge = true;
    status = get_number(at, edge, "rotation_deg", true, &pair->rotation_deg);
    pair->absence = (double)NAN; /* files of before do not have it */
    if (status == PSFM_OK && cJSON_HasObjectItem(edge, "absence"))
        status = get_number(at, edge, "absence", true, &pair->absence);
    return status;
}

static psfm_status read_pair(const place *at, const cJSON *item, const psfm_graph_file *graph,
                             psfm_graph_pair *pair) {
    uint64_t matches = 0, essential = 0;
    const cJSON *list = NULL;
    psfm_status status;
    if ((status = get_index(at, item, "image1", graph->num_images, &pair->image1)) ||
        (status = get_index(at, item, "image2", graph->num_images, &pair->image2)) ||
        (status = get_count(at, item, "matches", 4e9, &matches)) ||
        (status = get_count(at, item, "essential_inliers", UINT32_MAX, &essential)) ||
        (status = read_kind(at, item, &pair->kind)) ||
        (status = get_list(at, item, "homographies", sizeof *pair->homographies, &list,
                           &pair->homographies, &pair->num_homographies)))
        return status;
    if (pair->image1 >= pair->image2)
        return complain(at, "image2", "behind image1");
    pair->num_matches = (size_t)matches;
    pair->essential_inliers = (uint32_t)essential;
    psfm_graph_homography *h = pair->homographies;
    for (const cJSON *x = list->child; status == PSFM_OK && x != NULL; x = x->next, ++h)
        status = read_homography(at, x, h);
    return status == PSFM_OK ? read_edge(at, item, graph->num_components, pair) : status;
}

static psfm_status read_images(place at, const cJSON *root, psfm_graph_file *graph) {
    const cJSON *list;
    psfm_status status = get_list(&at, root, "images", sizeof *graph->images, &list, &graph->images,
                                  &graph->num_images);
    at.list = "image";
    const cJSON *item = status == PSFM_OK ? list->child : NULL;
    for (; status == PSFM_OK && item != NULL; item = item->next, ++at.index)
        status = read_image(&at, item, &graph->images[at.index]);
    return status;
}

static psfm_status read_components(place at, const cJSON *root, psfm_graph_file *graph) {
    const cJSON *list;
    psfm_status status = get_list(&at, root, "components", sizeof *graph->components, &list,
                                  &graph->components, &graph->num_components);
    at.list = "component";
    const cJSON *item = status == PSFM_OK ? list->child : NULL;
    for (; status == PSFM_OK && item != NULL; item = item->next, ++at.index)
        status = read_component(&at, item, &graph->components[at.index]);
    return status;
}

static psfm_status read_pairs(place at, const cJSON *root, psfm_graph_file *graph) {
    const cJSON *list;
    psfm_status status =
        get_list(&at, root, "pairs", sizeof *graph->pairs, &list, &graph->pairs, &graph->num_pairs);
    at.list = "pair";
    const cJSON *item = status == PSFM_OK ? list->child : NULL;
    for (; status == PSFM_OK && item != NULL; item = item->next, ++at.index)
        status = read_pair(&at, item, graph, &graph->pairs[at.index]);
    return status;
}

static psfm_status read_planes(place at, const cJSON *root, psfm_graph_file *graph) {
    const cJSON *list;
    psfm_status status = get_list(&at, root, "plane_models", sizeof *graph->plane_models, &list,
                                  &graph->plane_models, &graph->num_planes);
    const cJSON *item = status == PSFM_OK ? list->child : NULL;
    for (size_t k = 0; status == PSFM_OK && item != NULL; item = item->next, ++k) {
        if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0.0 && item->valuedouble < UINT32_MAX))
            return complain(&at, "plane_models", "a list of models");
        graph->plane_models[k] = (uint32_t)item->valuedouble;
    }
    return status;
}

static psfm_status read_all(place at, const cJSON *root, psfm_graph_file *graph) {
    uint64_t version = 0;
    const cJSON *folder = cJSON_GetObjectItemCaseSensitive(root, "photographs");
    psfm_status status = get_count(&at, root, "version", 1e9, &version);
    if (status == PSFM_OK && version != PSFM_GRAPH_FILE_VERSION)
        status = psfm_fail(at.ctx, PSFM_ERR_FORMAT, "%s: version %llu, this program reads %d",
                           at.name, (unsigned long long)version, PSFM_GRAPH_FILE_VERSION);
    if (status == PSFM_OK && cJSON_IsString(folder))
        status = psfm_strdup(at.ctx, folder->valuestring, &graph->photo_folder);
    if (status == PSFM_OK)
        status = read_images(at, root, graph);
    if (status == PSFM_OK)
        status = read_components(at, root, graph);
    if (status == PSFM_OK)
        status = read_planes(at, root, graph);
    return status == PSFM_OK ? read_pairs(at, root, graph) : status;
}

psfm_status psfm_graph_file_parse(psfm_context *ctx, const char *text, size_t size,
                                  const char *name, psfm_graph_file *graph) {
    *graph = (psfm_graph_file){0};
    cJSON *root = psfm_json_parse_whole(text, size);
    if (root == NULL)
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: not JSON", name);
    place at = {ctx, name, "file", 0};
    psfm_status status = read_all(at, root, graph);
    cJSON_Delete(root);
    if (status != PSFM_OK)
        psfm_graph_file_free(graph);
    return status;
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
