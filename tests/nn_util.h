/* For tests of networks: weights files made of random numbers, and slow, plain layers in double
 * precision to compare with. Failures end the test. */
#ifndef PSFM_TEST_NN_UTIL_H
#define PSFM_TEST_NN_UTIL_H

#include <unistd.h>

#include "core/base/rng.h"
#include "images/nn/engine.h"
#include "test_util.h"

typedef struct {
    char name[400];
    int num_dims;
    size_t dims[4], num;
    float *values;
} nn_tensor;

/* The tensors of a file to be written. */
typedef struct {
    nn_tensor tensors[512];
    size_t num;
    psfm_rng rng;
    char path[64]; /* of the file, once written */
} nn_file;

static inline void *nn_new(size_t num, size_t size) {
    void *memory = calloc(num == 0 ? 1 : num, size);
    if (memory == NULL)
        fail_msg("out of memory");
    return memory;
}

static inline nn_file *nn_file_make(uint64_t seed) {
    nn_file *file = nn_new(1, sizeof *file);
    file->rng = psfm_rng_make(seed, PSFM_RNG_TEST, 0, 0);
    return file;
}

/* Adds a tensor of normal numbers of the given deviation around `mean`; dims end with 0. */
static inline float *nn_add(nn_file *file, const char *name, double mean, double deviation,
                            const size_t *dims) {
    nn_tensor *t = &file->tensors[file->num++];
    snprintf(t->name, sizeof t->name, "%s", name);
    t->num = 1;
    for (; dims[t->num_dims] != 0; ++t->num_dims)
        t->num *= t->dims[t->num_dims] = dims[t->num_dims];
    t->values = nn_new(t->num, sizeof *t->values);
    for (size_t k = 0; k < t->num; ++k)
        t->values[k] = (float)(mean + deviation * psfm_rng_normal(&file->rng));
    return t->values;
}

static inline const nn_tensor *nn_find(const nn_file *file, const char *name) {
    for (size_t k = 0; k < file->num; ++k)
        if (strcmp(file->tensors[k].name, name) == 0)
            return &file->tensors[k];
    return NULL;
}

static inline const float *nn_values(const nn_file *file, const char *layer, const char *part) {
    char name[224];
    snprintf(name, sizeof name, "%s.%s", layer, part);
    const nn_tensor *t = nn_find(file, name);
    return t == NULL ? NULL : t->values;
}

/* LAYER.weight (out x in x k x k, or out x in if k is 0) and LAYER.bias. Activations keep their
 * size through layers of such weights. */
static inline void nn_add_layer(nn_file *file, const char *layer, size_t out, size_t in, size_t k) {
    char name[224];
    size_t area = k == 0 ? 1 : k * k;
    snprintf(name, sizeof name, "%s.weight", layer);
    nn_add(file, name, 0, sqrt(2.0 / (double)(in * area)), (size_t[]){out, in, k, k, 0});
    snprintf(name, sizeof name, "%s.bias", layer);
    nn_add(file, name, 0, 0.1, (size_t[]){out, 0});
}

/* Scales LAYER.weight and LAYER.bias, for a layer that is to change its input only a little. */
static inline void nn_scale_layer(nn_file *file, const char *layer, float factor) {
    for (size_t k = 0; k < file->num; ++k) {
        nn_tensor *t = &file->tensors[k];
        if (strncmp(t->name, layer, strlen(layer)) == 0 && t->name[strlen(layer)] == '.')
            for (size_t i = 0; i < t->num; ++i)
                t->values[i] *= factor;
    }
}

/* A batch norm; `affine`: with gain and offset. */
static inline void nn_add_norm(nn_file *file, const char *norm, size_t num, bool affine) {
    const struct {
        const char *part;
        double mean, deviation;
        bool always;
    } parts[] = {{"running_mean", 0, 0.2, true},
                 {"running_var", 1, 0.1, true},
                 {"weight", 1, 0.2, false},
                 {"bias", 0, 0.2, false}};
    for (size_t k = 0; k < 4; ++k) {
        char name[224];
        snprintf(name, sizeof name, "%s.%s", norm, parts[k].part);
        if (parts[k].always || affine)
            nn_add(file, name, parts[k].mean, parts[k].deviation, (size_t[]){num, 0});
    }
}

/* Writes the file to a temporary name. */
static inline void nn_write(nn_file *file) {
    size_t room = 512 * 320, used = 0, offset = 0;
    char *header = nn_new(room, 1);
    for (size_t k = 0; k < file->num; ++k) {
        const nn_tensor *t = &file->tensors[k];
        used +=
            (size_t)snprintf(header + used, room - used, "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[",
                             k == 0 ? "{" : ",", t->name);
        for (int d = 0; d < t->num_dims; ++d)
            used += (size_t)snprintf(header + used, room - used, "%s%zu", d == 0 ? "" : ",",
                                     t->dims[d]);
        used += (size_t)snprintf(header + used, room - used, "],\"data_offsets\":[%zu,%zu]}",
                                 offset, offset + 4 * t->num);
        offset += 4 * t->num;
    }
    used += (size_t)snprintf(header + used, room - used, "}");
    snprintf(file->path, sizeof file->path, "/tmp/psfm_nn_XXXXXX");
    int fd = mkstemp(file->path);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "wb");
    if (out == NULL)
        fail_msg("cannot write %s", file->path);
    uint64_t length = used;
    fwrite(&length, 8, 1, out);
    fwrite(header, 1, used, out);
    for (size_t k = 0; k < file->num; ++k)
        fwrite(file->tensors[k].values, 4, file->tensors[k].num, out);
    assert_int_equal(fclose(out), 0);
    free(header);
}

static inline void nn_file_drop(nn_file *file) {
    if (file->path[0] != '\0')
        unlink(file->path);
    for (size_t k = 0; k < file->num; ++k)
        free(file->tensors[k].values);
    free(file);
}

/* A map in double precision, pixel by pixel. */
typedef struct {
    size_t h, w, c;
    double *v;
} nn_plain;

static inline nn_plain nn_plain_make(size_t h, size_t w, size_t c) {
    return (nn_plain){h, w, c, nn_new(h * w * c, sizeof(double))};
}

static inline double *nn_at(const nn_plain *m, size_t y, size_t x) {
    return m->v + (y * m->w + x) * m->c;
}

typedef struct {
    size_t out, kernel, stride, groups;
    bool relu;
} nn_shape;

/* A convolution by its definition: zero padding of (kernel - 1) / 2, then batch norm if `norm`. */
static inline nn_plain nn_plain_conv(const nn_file *file, const char *layer, const char *norm,
                                     const nn_plain *in, nn_shape s) {
    const float *weights = nn_values(file, layer, "weight"), *bias = nn_values(file, layer, "bias");
    const float *mean = NULL, *variance = NULL, *gain = NULL, *offset = NULL;
    if (norm != NULL) {
        mean = nn_values(file, norm, "running_mean");
        variance = nn_values(file, norm, "running_var");
        gain = nn_values(file, norm, "weight");
        offset = nn_values(file, norm, "bias");
    }
    size_t pad = (s.kernel - 1) / 2, per = in->c / s.groups;
    nn_plain out = nn_plain_make((in->h + 2 * pad - s.kernel) / s.stride + 1,
                                 (in->w + 2 * pad - s.kernel) / s.stride + 1, s.out);
    for (size_t y = 0; y < out.h; ++y)
        for (size_t x = 0; x < out.w; ++x)
            for (size_t o = 0; o < s.out; ++o) {
                double sum = bias == NULL ? 0 : bias[o];
                size_t first = o / (s.out / s.groups) * per;
                for (size_t k = 0; k < s.kernel * s.kernel; ++k) {
                    size_t sy = y * s.stride + k / s.kernel - pad;
                    size_t sx = x * s.stride + k % s.kernel - pad;
                    if (sy >= in->h || sx >= in->w)
                        continue;
                    for (size_t i = 0; i < per; ++i)
                        sum += weights[(o * per + i) * s.kernel * s.kernel + k] *
                               nn_at(in, sy, sx)[first + i];
                }
                if (norm != NULL)
                    sum =
                        (sum - mean[o]) / sqrt(variance[o] + 1e-5) * (gain == NULL ? 1 : gain[o]) +
                        (offset == NULL ? 0 : offset[o]);
                nn_at(&out, y, x)[o] = s.relu && sum < 0 ? 0 : sum;
            }
    return out;
}

/* Maxima, or means, of squares of side x side pixels. */
static inline nn_plain nn_plain_pool(const nn_plain *in, size_t side, bool largest) {
    nn_plain out = nn_plain_make(in->h / side, in->w / side, in->c);
    for (size_t y = 0; y < out.h; ++y)
        for (size_t x = 0; x < out.w; ++x)
            for (size_t c = 0; c < in->c; ++c) {
                double value = largest ? -INFINITY : 0;
                for (size_t k = 0; k < side * side; ++k) {
                    double v = nn_at(in, y * side + k / side, x * side + k % side)[c];
                    value = largest ? fmax(value, v) : value + v / (double)(side * side);
                }
                nn_at(&out, y, x)[c] = value;
            }
    return out;
}

/* Bilinear enlargement, edges of the images agreeing. */
static inline nn_plain nn_plain_enlarge(const nn_plain *in, size_t factor) {
    nn_plain out = nn_plain_make(in->h * factor, in->w * factor, in->c);
    for (size_t y = 0; y < out.h; ++y)
        for (size_t x = 0; x < out.w; ++x) {
            double py = fmax(0, ((double)y + 0.5) / (double)factor - 0.5);
            double px = fmax(0, ((double)x + 0.5) / (double)factor - 0.5);
            size_t y0 = (size_t)py, x0 = (size_t)px;
            size_t y1 = y0 + 1 < in->h ? y0 + 1 : y0, x1 = x0 + 1 < in->w ? x0 + 1 : x0;
            double fy = py - (double)y0, fx = px - (double)x0;
            for (size_t c = 0; c < in->c; ++c)
                nn_at(&out, y, x)[c] =
                    (1 - fy) * ((1 - fx) * nn_at(in, y0, x0)[c] + fx * nn_at(in, y0, x1)[c]) +
                    fy * ((1 - fx) * nn_at(in, y1, x0)[c] + fx * nn_at(in, y1, x1)[c]);
        }
    return out;
}

/* rows x in -> rows x out; `relu`, and batch norm if `norm`. */
static inline double *nn_plain_linear(const nn_file *file, const char *layer, const char *norm,
                                      const double *x, size_t num, size_t in, size_t out,
                                      bool relu) {
    nn_plain m = {num, 1, in, (double *)x};
    return nn_plain_conv(file, layer, norm, &m, (nn_shape){out, 1, 1, 1, relu}).v;
}

/* An image with structure: smooth waves and noise. */
static inline uint8_t *nn_image(psfm_rng *rng, size_t w, size_t h, size_t stride) {
    uint8_t *pixels = nn_new(h * stride, 1);
    for (size_t y = 0; y < h; ++y)
        for (size_t x = 0; x < w; ++x)
            pixels[y * stride + x] =
                (uint8_t)(128 + 50 * sin(0.31 * (double)x) * cos(0.23 * (double)y) +
                          60 * (psfm_rng_uniform(rng) - 0.5));
    return pixels;
}

#endif
