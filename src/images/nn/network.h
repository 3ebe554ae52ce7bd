/* Networks: how they are made from a file of weights and freed, by a description of each. */
#ifndef PSFM_NN_NETWORK_H
#define PSFM_NN_NETWORK_H

#include "images/nn/engine.h"
#include "images/nn/weights.h"

/* Members of a network's struct that own memory. */
typedef enum {
    PSFM_PART_CONV,
    PSFM_PART_PLANE_CONV,
    PSFM_PART_LINEAR,
    PSFM_PART_MAP,
    PSFM_PART_PLANES,
    PSFM_PART_BUFFER,
    PSFM_PART_ARRAY /* a pointer from malloc */
} psfm_part_kind;

/* Members of one kind that follow each other, arrays or not. */
typedef struct {
    psfm_part_kind kind;
    size_t offset, size;
} psfm_network_part;

/* The members `first` to `last` of a struct. */
#define PSFM_PART(kind, type, first, last)                                         \
    {                                                                              \
        kind, offsetof(type, first),                                               \
            offsetof(type, last) + sizeof((type *)0)->last - offsetof(type, first) \
    }

typedef struct {
    const psfm_network_file *file; /* for messages */
    size_t size;                   /* of its struct, which begins with psfm_engine *nn */
    /* Fills a zeroed struct that has an engine; what failed half way is freed, too. */
    psfm_status (*load)(psfm_context *ctx, const psfm_safetensors *file, void *network);
    const psfm_network_part *parts;
    size_t num_parts;
} psfm_network_type;

/* Makes a network; `out` is the address of a pointer to its struct. The engine outlives it. */
psfm_status psfm_network_create(psfm_context *ctx, const psfm_network_type *type, psfm_engine *nn,
                                const char *path, void *out);
/* Frees; `network` is the address of the pointer, which may be NULL and is so then. */
void psfm_network_destroy(const psfm_network_type *type, void *network);

/* Networks with the same weights, one for each worker, with engines of their own. Zero-initialise.
 */
typedef struct {
    const psfm_network_type *type;
    psfm_engine **engines;
    void **models;
    int num;
} psfm_networks;

/* Makes `num` networks. Free also after failure. */
psfm_status psfm_networks_make(psfm_context *ctx, const psfm_network_type *type, const char *path,
                               int num, psfm_networks *set);
void psfm_networks_free(psfm_networks *set);

#endif
