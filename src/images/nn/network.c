/* Networks by their descriptions: all are made and freed here. */
#include "images/nn/network.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "images/nn/linear.h"
#include "images/nn/plane_conv.h"

static const size_t part_sizes[] = {
    [PSFM_PART_CONV] = sizeof(psfm_conv),     [PSFM_PART_PLANE_CONV] = sizeof(psfm_plane_conv),
    [PSFM_PART_LINEAR] = sizeof(psfm_linear), [PSFM_PART_MAP] = sizeof(psfm_map),
    [PSFM_PART_PLANES] = sizeof(psfm_planes), [PSFM_PART_BUFFER] = sizeof(psfm_buffer),
    [PSFM_PART_ARRAY] = sizeof(void *),
};

static void free_part(psfm_part_kind kind, void *part) {
    switch (kind) {
    case PSFM_PART_CONV:
        psfm_conv_free(part);
        break;
    case PSFM_PART_PLANE_CONV:
        psfm_plane_conv_free(part);
        break;
    case PSFM_PART_LINEAR:
        psfm_linear_free(part);
        break;
    case PSFM_PART_MAP:
        psfm_map_free(part);
        break;
    case PSFM_PART_PLANES:
        psfm_planes_free(part);
        break;
    case PSFM_PART_BUFFER:
        psfm_buffer_free(part);
        break;
    case PSFM_PART_ARRAY:
        free(*(void **)part);
        break;
    }
}

psfm_status psfm_network_create(psfm_context *ctx, const psfm_network_type *type, psfm_engine *nn,
                                const char *path, void *out) {
    psfm_safetensors *file = NULL;
    void *network = NULL;
    psfm_status status = psfm_safetensors_open(ctx, path, type->file->source, &file);
    if (status == PSFM_OK)
        status = psfm_alloc(ctx, 1, type->size, &network);
    if (status == PSFM_OK) {
        memcpy(network, &nn, sizeof nn);
        status = type->load(ctx, file, network);
    }
    psfm_safetensors_close(&file);
    if (status != PSFM_OK)
        psfm_network_destroy(type, &network);
    memcpy(out, &network, sizeof network);
    return status;
}

void psfm_network_destroy(const psfm_network_type *type, void *network) {
    char *bytes;
    memcpy(&bytes, network, sizeof bytes);
    for (size_t k = 0; bytes != NULL && k < type->num_parts; ++k) {
        const psfm_network_part *p = &type->parts[k];
        for (size_t at = 0; at < p->size; at += part_sizes[p->kind])
            free_part(p->kind, bytes + p->offset + at);
    }
    free(bytes);
    bytes = NULL;
    memcpy(network, &bytes, sizeof bytes);
}

psfm_status psfm_networks_make(psfm_context *ctx, const psfm_network_type *type, const char *path,
                               int num, psfm_networks *set) {
    *set = (psfm_networks){.type = type};
    psfm_status status = PSFM_ALLOC(ctx, (size_t)num, &set->engines);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, (size_t)num, &set->models);
    while (status == PSFM_OK && set->num < num) {
        const int k = set->num++;
        status = psfm_engine_create(ctx, &set->engines[k]);
        if (status == PSFM_OK)
            status = psfm_network_create(ctx, type, set->engines[k], path, &set->models[k]);
    }
    return status;
}

void psfm_networks_free(psfm_networks *set) {
    for (int k = 0; k < set->num; ++k) {
        psfm_network_destroy(set->type, &set->models[k]);
        psfm_engine_destroy(&set->engines[k]);
    }
    free((void *)set->engines);
    free((void *)set->models);
    *set = (psfm_networks){0};
}
