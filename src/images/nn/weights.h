/* Weights of one layer from a file, with the batch norm after it folded in. */
#ifndef PSFM_NN_WEIGHTS_H
#define PSFM_NN_WEIGHTS_H

#include "images/nn/safetensors.h"

/* Longest tensor name that layers build. */
#define PSFM_TENSOR_NAME_SIZE 192

/* Weights as stored (num_out rows of per_out values) and one bias per row. Owns both. */
typedef struct {
    size_t num_out, per_out;
    float *weights, *bias;
} psfm_layer_weights;

/* Reads LAYER.weight and, if there is one, LAYER.bias (0 otherwise). If `norm` is not NULL, folds
 * the batch norm NORM.running_mean, running_var, and weight and bias if there: y = a x + b with
 * a = weight / sqrt(var + 1e-5), b = bias - a mean. Works for layers that feed the norm directly;
 * one behind an activation cannot be folded. The caller frees with psfm_layer_weights_free. */
psfm_status psfm_layer_weights_read(psfm_context *ctx, const psfm_safetensors *file,
                                    const char *layer, const char *norm, size_t num_out,
                                    size_t per_out, psfm_layer_weights *out);
void psfm_layer_weights_free(psfm_layer_weights *w);

/* Whether the file has the tensor PREFIX.SUFFIX. */
bool psfm_weights_have(const psfm_safetensors *file, const char *prefix, const char *suffix);

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
 * fits or two fit equally; a file that is named and cannot be read fails with its reason, one that
 * just lies in a folder is passed over with a warning. *path is malloc'ed; *fingerprint identifies
 * the contents of the file. */
psfm_status psfm_weights_find(psfm_context *ctx, const psfm_weights_list *list,
                              const psfm_network_file *network, char **path, uint64_t *fingerprint);

#endif
