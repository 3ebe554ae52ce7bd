/* Weights of a layer by their names, with a batch normalisation behind it folded in:
 *   a (W x + b - mean) + offset,  a = gain / sqrt(variance + epsilon),
 * which is a layer of the same shape. */
#include "images/nn/weights.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/path.h"
#include "images/nn/engine.h"

#define NORM_EPSILON 1e-5 /* PyTorch's default, which all our models keep */

static void join_name(const char *prefix, const char *suffix, char name[PSFM_TENSOR_NAME_SIZE]) {
    snprintf(name, PSFM_TENSOR_NAME_SIZE, "%s.%s", prefix, suffix);
}

bool psfm_weights_have(const psfm_safetensors *file, const char *prefix, const char *suffix) {
    char name[PSFM_TENSOR_NAME_SIZE];
    join_name(prefix, suffix, name);
    return psfm_safetensors_find(file, name) != NULL;
}

/* Reads PREFIX.SUFFIX, or fills in `absent` if it may be absent and is. */
static psfm_status read_vector(psfm_context *ctx, const psfm_safetensors *file, const char *prefix,
                               const char *suffix, size_t num, const float *absent, float *out) {
    char name[PSFM_TENSOR_NAME_SIZE];
    join_name(prefix, suffix, name);
    if (absent != NULL && psfm_safetensors_find(file, name) == NULL) {
        for (size_t k = 0; k < num; ++k)
            out[k] = *absent;
        return PSFM_OK;
    }
    return psfm_safetensors_read(ctx, file, name, num, out);
}

static void apply_norm(const float *norm, psfm_layer_weights *w) {
    size_t n = w->num_out;
    const float *mean = norm, *variance = norm + n, *gain = norm + 2 * n, *offset = norm + 3 * n;
    for (size_t r = 0; r < n; ++r) {
        double a = gain[r] / sqrt((double)variance[r] + NORM_EPSILON);
        for (size_t c = 0; c < w->per_out; ++c)
            w->weights[r * w->per_out + c] = (float)(a * w->weights[r * w->per_out + c]);
        w->bias[r] = (float)(a * ((double)w->bias[r] - mean[r]) + offset[r]);
    }
}

static psfm_status fold_norm(psfm_context *ctx, const psfm_safetensors *file, const char *norm,
                             psfm_layer_weights *w) {
    static const float zero = 0, one = 1;
    size_t n = w->num_out;
    float *values;
    psfm_status status = PSFM_ALLOC(ctx, 4 * n, &values);
    if (status == PSFM_OK)
        status = read_vector(ctx, file, norm, "running_mean", n, NULL, values);
    if (status == PSFM_OK)
        status = read_vector(ctx, file, norm, "running_var", n, NULL, values + n);
    if (status == PSFM_OK)
        status = read_vector(ctx, file, norm, "weight", n, &one, values + 2 * n);
    if (status == PSFM_OK)
        status = read_vector(ctx, file, norm, "bias", n, &zero, values + 3 * n);
    if (status == PSFM_OK)
        apply_norm(values, w);
    free(values);
    return status;
}

psfm_status psfm_layer_weights_read(psfm_context *ctx, const psfm_safetensors *file,
                                    const char *layer, const char *norm, size_t num_out,
                                    size_t per_out, psfm_layer_weights *out) {
    static const float zero = 0;
    *out = (psfm_layer_weights){.num_out = num_out, .per_out = per_out};
    psfm_status status = PSFM_ALLOC(ctx, num_out * per_out, &out->weights);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num_out, &out->bias);
    if (status == PSFM_OK)
        status = read_vector(ctx, file, layer, "weight", num_out * per_out, NULL, out->weights);
    if (status == PSFM_OK)
        status = read_vector(ctx, file, layer, "bias", num_out, &zero, out->bias);
    if (status == PSFM_OK && norm != NULL)
        status = fold_norm(ctx, file, norm, out);
    if (status != PSFM_OK)
        psfm_layer_weights_free(out);
    return status;
}

void psfm_layer_weights_free(psfm_layer_weights *w) {
    free(w->weights);
    free(w->bias);
    *w = (psfm_layer_weights){0};
}

/* ---- files of weights ---- */

/* Finding a network's weights among files and folders by the tensors in them. Two files that would
 * do are an error unless they have the same contents; damaged files in a folder are skipped with a
 * warning, a damaged file that was named is an error. */

typedef struct {
    psfm_context *ctx;
    const psfm_network_file *network;
    int fit;     /* of the best file so far */
    char *best;  /* its path; owned */
    char *rival; /* another that fits as well, or NULL; owned */
    uint64_t fingerprint;
} search;

/* Looks at one file. Two names of the same contents are no rivals. */
static psfm_status consider_file(search *s, const char *path) {
    psfm_safetensors *file = NULL;
    psfm_status status = psfm_safetensors_open(s->ctx, path, s->network->source, &file);
    if (status != PSFM_OK)
        return status;
    int fit = s->network->fit(file, s->network->dim);
    if (fit > 0 && fit >= s->fit) {
        uint64_t fingerprint = psfm_safetensors_fingerprint(file);
        if (fit > s->fit) {
            free(s->best);
            free(s->rival);
            s->best = s->rival = NULL;
            s->fit = fit;
            s->fingerprint = fingerprint;
            status = psfm_strdup(s->ctx, path, &s->best);
        } else if (s->rival == NULL && fingerprint != s->fingerprint) {
            status = psfm_strdup(s->ctx, path, &s->rival);
        }
    }
    psfm_safetensors_close(&file);
    return status;
}

static int is_weights_name(const struct dirent *entry) {
    static const char ending[] = ".safetensors";
    size_t length = strlen(entry->d_name), n = sizeof ending - 1;
    return entry->d_name[0] != '.' && length > n && strcmp(entry->d_name + length - n, ending) == 0;
}

static int by_file_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static psfm_status consider_folder(search *s, const char *folder) {
    struct dirent **entries = NULL;
    psfm_status status = PSFM_OK;
    int num = scandir(folder, &entries, is_weights_name, by_file_name);
    if (num < 0)
        return psfm_fail(s->ctx, PSFM_ERR_IO, "%s: cannot be listed: %s", folder, strerror(errno));
    for (int k = 0; k < num; ++k) {
        char *path = NULL;
        if (status == PSFM_OK)
            status = psfm_path_join(s->ctx, folder, entries[k]->d_name, &path);
        if (status == PSFM_OK)
            status = consider_file(s, path);
        if (status == PSFM_ERR_IO || status == PSFM_ERR_FORMAT) {
            psfm_log(s->ctx, PSFM_LOG_WARNING, "%s", psfm_context_message(s->ctx));
            status = PSFM_OK;
        }
        free(path);
        free(entries[k]);
    }
    free((void *)entries);
    return status;
}

static psfm_status conclude_search(const search *s, const psfm_weights_list *list) {
    const psfm_network_file *n = s->network;
    if (list->num == 0)
        return psfm_fail(s->ctx, PSFM_ERR_ARGUMENT, "--weights is missing: needed are %s",
                         n->source);
    if (s->best == NULL)
        return psfm_fail(s->ctx, PSFM_ERR_ARGUMENT, "%s%s: no %s in it; needed are %s",
                         list->paths[0], list->num > 1 ? " and the other --weights" : "", n->name,
                         n->source);
    if (s->rival != NULL)
        return psfm_fail(s->ctx, PSFM_ERR_ARGUMENT,
                         "%s and %s are both weights for %s: give --weights with the one to take",
                         s->best, s->rival, n->name);
    return PSFM_OK;
}

psfm_status psfm_weights_find(psfm_context *ctx, const psfm_weights_list *list,
                              const psfm_network_file *network, char **path,
                              uint64_t *fingerprint) {
    search s = {.ctx = ctx, .network = network};
    psfm_status status = PSFM_OK;
    *path = NULL;
    for (size_t k = 0; status == PSFM_OK && k < list->num; ++k)
        status = psfm_path_is_folder(list->paths[k]) ? consider_folder(&s, list->paths[k])
                                                     : consider_file(&s, list->paths[k]);
    if (status == PSFM_OK)
        status = conclude_search(&s, list);
    if (status == PSFM_OK) {
        *path = s.best;
        *fingerprint = s.fingerprint;
        s.best = NULL;
    }
    free(s.best);
    free(s.rival);
    return status;
}
