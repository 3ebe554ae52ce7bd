/* Weights files with random numbers in the shapes and under the names of the real networks', for
 * benches and tests. A failure ends the program. */
#ifndef PSFM_BENCH_NETWORK_WEIGHTS_H
#define PSFM_BENCH_NETWORK_WEIGHTS_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/rng.h"
#include "scratch.h"

/* A weights file being put together: header and numbers grow side by side. */
typedef struct {
    char *header;
    size_t used, room, offset;
    FILE *numbers;
    psfm_rng rng;
    char path[SCRATCH_LENGTH];
} weights_file;

static inline void weights_need(const void *thing, const char *what) {
    if (thing != NULL)
        return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static inline void weights_open(weights_file *w, uint64_t seed) {
    *w = (weights_file){.room = 1 << 20, .numbers = tmpfile()};
    w->header = malloc(w->room);
    w->rng = psfm_rng_make(seed, PSFM_RNG_BENCH, 0, 0);
    weights_need(w->header, "out of memory");
    weights_need(w->numbers, "no temporary file");
}

/* A tensor of random numbers: out x in, or out x in x k x k, or out values if in is 0. */
static inline void weights_tensor(weights_file *w, const char *name, const char *part, size_t out,
                                  size_t in, size_t k, double deviation, double mean) {
    size_t num = out * (in == 0 ? 1 : in) * (k == 0 ? 1 : k * k);
    char shape[96];
    snprintf(shape, sizeof shape,
             in == 0  ? "%zu"
             : k == 0 ? "%zu,%zu"
                      : "%zu,%zu,%zu,%zu",
             out, in, k, k);
    w->used += (size_t)snprintf(w->header + w->used, w->room - w->used,
                                "%s\"%s.%s\":{\"dtype\":\"F32\",\"shape\":[%s],\"data_offsets\":"
                                "[%zu,%zu]}",
                                w->used == 0 ? "{" : ",", name, part, shape, w->offset,
                                w->offset + 4 * num);
    w->offset += 4 * num;
    float *values = malloc(num * sizeof *values);
    weights_need(values, "out of memory");
    for (size_t i = 0; i < num; ++i)
        values[i] = (float)(mean + deviation * (psfm_rng_uniform(&w->rng) - 0.5));
    fwrite(values, sizeof *values, num, w->numbers);
    free(values);
}

static inline void weights_layer(weights_file *w, const char *name, size_t out, size_t in,
                                 size_t k) {
    double fan = (double)(in * (k == 0 ? 1 : k * k));
    weights_tensor(w, name, "weight", out, in, k, sqrt(24 / fan), 0);
    weights_tensor(w, name, "bias", out, 0, 0, 0.1, 0);
}

static inline void weights_norm(weights_file *w, const char *name, size_t num) {
    weights_tensor(w, name, "running_mean", num, 0, 0, 0.1, 0);
    weights_tensor(w, name, "running_var", num, 0, 0, 0.1, 1);
    weights_tensor(w, name, "weight", num, 0, 0, 0.1, 1);
    weights_tensor(w, name, "bias", num, 0, 0, 0.1, 0);
}

/* Writes the file to `path`, or to a temporary one if that is NULL; its name is in w->path. */
static inline void weights_close(weights_file *w, const char *path) {
    if (path == NULL)
        scratch_name(w->path);
    else
        snprintf(w->path, sizeof w->path, "%s", path);
    int fd = path == NULL ? mkstemp(w->path) : -1;
    FILE *out = path != NULL ? fopen(w->path, "wb") : fd < 0 ? NULL : fdopen(fd, "wb");
    weights_need(out, "cannot write the weights");
    w->header[w->used++] = '}';
    uint64_t length = w->used;
    fwrite(&length, 8, 1, out);
    fwrite(w->header, 1, w->used, out);
    rewind(w->numbers);
    char block[65536];
    for (size_t n; (n = fread(block, 1, sizeof block, w->numbers)) > 0;)
        fwrite(block, 1, n, out);
    fclose(w->numbers);
    fclose(out);
    free(w->header);
}

static inline void weights_superpoint(weights_file *w) {
    static const size_t c[9] = {1, 64, 64, 64, 64, 128, 128, 128, 128};
    for (size_t k = 0; k < 8; ++k) {
        char name[64];
        snprintf(name, sizeof name, "encoder.conv_blocks.%zu.conv_%c", k / 2, k % 2 ? 'b' : 'a');
        weights_layer(w, name, c[k + 1], c[k], 3);
    }
    weights_layer(w, "keypoint_decoder.conv_score_a", 256, 128, 3);
    weights_layer(w, "keypoint_decoder.conv_score_b", 65, 256, 1);
    weights_layer(w, "descriptor_decoder.conv_descriptor_a", 256, 128, 3);
    weights_layer(w, "descriptor_decoder.conv_descriptor_b", 256, 256, 1);
}

static inline void weights_xfeat(weights_file *w) {
    static const struct {
        const char *block;
        int layers;
        size_t sizes[6], kernels[5];
    } blocks[] = {
        {"block1", 4, {1, 4, 8, 8, 24}, {3, 3, 3, 3}},
        {"block2", 2, {24, 24, 24}, {3, 3}},
        {"block3", 3, {24, 64, 64, 64}, {3, 3, 1}},
        {"block4", 3, {64, 64, 64, 64}, {3, 3, 3}},
        {"block5", 4, {64, 128, 128, 128, 64}, {3, 3, 3, 1}},
        {"block_fusion", 3, {64, 64, 64, 64}, {3, 3, 1}},
        {"heatmap_head", 3, {64, 64, 64, 1}, {1, 1, 1}},
        {"keypoint_head", 4, {64, 64, 64, 64, 65}, {1, 1, 1, 1}},
    };
    weights_layer(w, "skip1.1", 24, 1, 1);
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; ++b)
        for (int k = 0; k < blocks[b].layers; ++k) {
            char name[64];
            snprintf(name, sizeof name, "%s.%d", blocks[b].block, k);
            weights_layer(w, name, blocks[b].sizes[k + 1], blocks[b].sizes[k],
                          blocks[b].kernels[k]);
        }
}

static inline void weights_superglue(weights_file *w, size_t layers) {
    static const size_t sizes[6] = {3, 32, 64, 128, 256, 256};
    static const char *const parts[4] = {"attention.self.query", "attention.self.key",
                                         "attention.self.value", "attention.output.dense"};
    char name[96];
    for (size_t k = 0; k < 5; ++k) {
        snprintf(name, sizeof name, "keypoint_encoder.encoder.%zu%s", k, k < 4 ? ".linear" : "");
        weights_layer(w, name, sizes[k + 1], sizes[k], 0);
        snprintf(name, sizeof name, "keypoint_encoder.encoder.%zu.batch_norm", k);
        if (k < 4)
            weights_norm(w, name, sizes[k + 1]);
    }
    for (size_t l = 0; l < layers; ++l) {
        for (size_t k = 0; k < 4; ++k) {
            snprintf(name, sizeof name, "gnn.layers.%zu.%s", l, parts[k]);
            weights_layer(w, name, 256, 256, 0);
        }
        snprintf(name, sizeof name, "gnn.layers.%zu.mlp.0.linear", l);
        weights_layer(w, name, 512, 512, 0);
        snprintf(name, sizeof name, "gnn.layers.%zu.mlp.0.batch_norm", l);
        weights_norm(w, name, 512);
        snprintf(name, sizeof name, "gnn.layers.%zu.mlp.1", l);
        weights_layer(w, name, 256, 512, 0);
    }
    weights_layer(w, "final_projection.final_proj", 256, 256, 0);
    w->used += (size_t)snprintf(w->header + w->used, w->room - w->used,
                                ",\"bin_score\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":"
                                "[%zu,%zu]}",
                                w->offset, w->offset + 4);
    fwrite(&(float){1}, 4, 1, w->numbers);
}

/* dim_in 0: no layer before the first, descriptors of `dim` floats. */
static inline void weights_lightglue(weights_file *w, size_t layers, size_t dim, size_t heads,
                                     size_t dim_in) {
    static const struct {
        const char *part;
        size_t out, in; /* in units of dim */
    } parts[] = {
        {"self_attn.Wqkv", 3, 1},    {"self_attn.out_proj", 1, 1}, {"self_attn.ffn.0", 2, 2},
        {"self_attn.ffn.3", 1, 2},   {"cross_attn.to_qk", 1, 1},   {"cross_attn.to_v", 1, 1},
        {"cross_attn.to_out", 1, 1}, {"cross_attn.ffn.0", 2, 2},   {"cross_attn.ffn.3", 1, 2}};
    char name[96];
    if (dim_in > 0)
        weights_layer(w, "input_proj", dim, dim_in, 0);
    weights_tensor(w, "posenc.Wr", "weight", dim / heads / 2, 2, 0, 3, 0);
    for (size_t l = 0; l < layers; ++l) {
        for (size_t k = 0; k < sizeof parts / sizeof *parts; ++k) {
            snprintf(name, sizeof name, "transformers.%zu.%s", l, parts[k].part);
            weights_layer(w, name, parts[k].out * dim, parts[k].in * dim, 0);
        }
        for (int k = 0; k < 2; ++k) {
            snprintf(name, sizeof name, "transformers.%zu.%s_attn.ffn.1", l, k ? "cross" : "self");
            weights_tensor(w, name, "weight", 2 * dim, 0, 0, 0.1, 1);
            weights_tensor(w, name, "bias", 2 * dim, 0, 0, 0.1, 0);
        }
    }
    snprintf(name, sizeof name, "log_assignment.%zu.final_proj", layers - 1);
    weights_layer(w, name, dim, dim, 0);
    snprintf(name, sizeof name, "log_assignment.%zu.matchability", layers - 1);
    weights_layer(w, name, 1, dim, 0);
}

/* The smallest of the family, T32. */
static inline void weights_edgepoint2(weights_file *w) {
    static const struct {
        const char *name;
        size_t in, out, kernel;
        const char *norm;
    } layers[] = {
        {"block1.0.layer.0", 1, 8, 4, "block1.0.layer.1"},
        {"block1.1.layer.0", 8, 8, 3, "block1.1.layer.1"},
        {"block1.2.layer.0", 8, 8, 3, "block1.2.layer.1"},
        {"block1.2.layer.3", 8, 8, 3, "block1.2.layer.4"},
        {"block2.layer.0", 8, 16, 3, "block2.layer.1"},
        {"block2.layer.3", 16, 16, 3, "block2.layer.4"},
        {"block2.skip", 8, 16, 1, NULL},
        {"block3.layer.0", 16, 24, 3, "block3.layer.1"},
        {"block3.layer.3", 24, 24, 3, "block3.layer.4"},
        {"block3.skip", 16, 24, 1, NULL},
        {"desc_head.0", 48, 48, 1, NULL},
        {"desc_head.1.layer.0", 16, 48, 3, "desc_head.1.layer.1"},
        {"desc_head.2", 48, 32, 1, NULL},
        {"conv1", 8, 8, 1, NULL},
        {"conv2", 16, 8, 1, NULL},
        {"conv3", 24, 8, 1, NULL},
        {"score_head.0", 8, 8, 3, NULL},
        {"score_head.2", 8, 8, 3, NULL},
        {"score_head.4", 8, 4, 3, NULL},
    };
    for (size_t k = 0; k < sizeof layers / sizeof *layers; ++k) {
        weights_layer(w, layers[k].name, layers[k].out, layers[k].in, layers[k].kernel);
        if (layers[k].norm != NULL)
            weights_norm(w, layers[k].norm, layers[k].out);
    }
}

#endif
