/* Which of the files that a user names holds the weights of a network. */
#ifndef PSFM_NN_WEIGHTS_FILES_H
#define PSFM_NN_WEIGHTS_FILES_H

#include "nn/safetensors.h"

/* Files, and folders whose *.safetensors files count. The caller's. */
typedef struct {
    const char *const *paths;
    size_t num;
} psfm_weights_list;

/* How the file of a network is told from others: by its tensors. */
typedef struct {
    const char *name;   /* "SuperPoint", for messages */
    const char *source; /* where people get the file, for messages */
    size_t dim;         /* length of the descriptors it must be for; 0 if it is free */
    /* 2: the file is this network's; 1: it holds this network among others; 0: it does not. */
    int (*fit)(const psfm_safetensors *file, size_t dim);
} psfm_network_file;

/* Finds the one file that fits best. PSFM_ERR_ARGUMENT with one sentence if the library was built
 * without networks, none is given, none
 * fits or two fit alike; a file that is named and cannot be read fails with its reason, one that
 * just lies in a folder is passed over with a warning. *path is malloc'ed; *fingerprint identifies
 * the contents of the file. */
psfm_status psfm_weights_find(psfm_context *ctx, const psfm_weights_list *list,
                              const psfm_network_file *network, char **path, uint64_t *fingerprint);

#endif
