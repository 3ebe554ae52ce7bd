/* Finding a network's weights among files and folders by the tensors in them. Two files that would
 * do are an error unless they have the same contents; damaged files in a folder are skipped with a
 * warning, a damaged file that was named is an error. */
#include "nn/weights_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "nn/engine.h"

typedef struct {
    psfm_context *ctx;
    const psfm_network_file *network;
    int fit;     /* of the best file so far */
    char *best;  /* its path; owned */
    char *rival; /* another that fits as well, or NULL; owned */
    uint64_t fingerprint;
} search;

/* Looks at one file. Two names of the same contents are no rivals. */
static psfm_status consider(search *s, const char *path) {
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
            status = consider(s, path);
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

static psfm_status conclude(const search *s, const psfm_weights_list *list) {
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
                                                     : consider(&s, list->paths[k]);
    if (status == PSFM_OK)
        status = conclude(&s, list);
    if (status == PSFM_OK) {
        *path = s.best;
        *fingerprint = s.fingerprint;
        s.best = NULL;
    }
    free(s.best);
    free(s.rival);
    return status;
}
