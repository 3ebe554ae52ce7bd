/* Reading safetensors files. The file is mapped, not read; the header is checked before any number
 * is used: ranges within the file, sizes that fit type and shape, no overlaps, no name twice.
 * Numbers are F32 or F16, assembled byte by byte as little endian on any machine. */
#include "images/nn/safetensors.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/hash.h"
#include "core/base/text.h"
#include "core/linalg/order_statistics.h"

#define MAX_HEADER ((size_t)100 << 20) /* the limit of the format's own reader */

struct psfm_safetensors {
    char *name;
    void *map; /* what munmap gets; NULL if the bytes are the caller's */
    size_t map_size;
    const uint8_t *numbers;
    size_t numbers_size;
    psfm_tensor_info *tensors; /* sorted by name */
    size_t num_tensors;
};

typedef struct {
    const char *name;
    psfm_tensor_type type;
    size_t size; /* bytes of a value */
} type_row;

static const type_row types[] = {
    {"F32", PSFM_TENSOR_F32, 4},    {"F16", PSFM_TENSOR_F16, 2},   {"BF16", PSFM_TENSOR_OTHER, 2},
    {"F64", PSFM_TENSOR_OTHER, 8},  {"I64", PSFM_TENSOR_OTHER, 8}, {"U64", PSFM_TENSOR_OTHER, 8},
    {"I32", PSFM_TENSOR_OTHER, 4},  {"U32", PSFM_TENSOR_OTHER, 4}, {"I16", PSFM_TENSOR_OTHER, 2},
    {"U16", PSFM_TENSOR_OTHER, 2},  {"I8", PSFM_TENSOR_OTHER, 1},  {"U8", PSFM_TENSOR_OTHER, 1},
    {"BOOL", PSFM_TENSOR_OTHER, 1},
};

static const type_row *find_type(const cJSON *item) {
    if (!cJSON_IsString(item))
        return NULL;
    for (size_t k = 0; k < sizeof types / sizeof *types; ++k)
        if (strcmp(types[k].name, item->valuestring) == 0)
            return &types[k];
    return NULL;
}

/* A whole number that a double holds exactly. */
static bool read_count(const cJSON *item, size_t *out) {
    if (!cJSON_IsNumber(item))
        return false;
    double value = item->valuedouble;
    if (!(value >= 0 && value <= 9007199254740992.0) || value != (double)(uint64_t)value)
        return false;
    *out = (size_t)value;
    return true;
}

static bool read_shape(const cJSON *shape, psfm_tensor_info *info) {
    if (!cJSON_IsArray(shape) || cJSON_GetArraySize(shape) > PSFM_TENSOR_MAX_DIMS)
        return false;
    info->num_values = 1;
    const cJSON *item;
    cJSON_ArrayForEach(item, shape) {
        size_t *dim = &info->dims[info->num_dims++];
        if (!read_count(item, dim) || (*dim != 0 && info->num_values > SIZE_MAX / 8 / *dim))
            return false;
        info->num_values *= *dim;
    }
    return true;
}

static bool read_range(const cJSON *offsets, psfm_tensor_info *info) {
    return cJSON_IsArray(offsets) && cJSON_GetArraySize(offsets) == 2 &&
           read_count(cJSON_GetArrayItem(offsets, 0), &info->begin) &&
           read_count(cJSON_GetArrayItem(offsets, 1), &info->end) && info->begin <= info->end;
}

static psfm_status read_tensor(psfm_context *ctx, const psfm_safetensors *file, const cJSON *entry,
                               psfm_tensor_info *info) {
    const type_row *type = find_type(cJSON_GetObjectItemCaseSensitive(entry, "dtype"));
    const char *tensor = entry->string;
    if (type == NULL)
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: tensor %s has no known dtype", file->name,
                         tensor);
    info->type = type->type;
    if (!read_shape(cJSON_GetObjectItemCaseSensitive(entry, "shape"), info))
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: tensor %s has no valid shape", file->name,
                         tensor);
    if (!read_range(cJSON_GetObjectItemCaseSensitive(entry, "data_offsets"), info))
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: tensor %s has no valid data_offsets",
                         file->name, tensor);
    if (info->end - info->begin != info->num_values * type->size)
        return psfm_fail(ctx, PSFM_ERR_FORMAT,
                         "%s: tensor %s spans %zu bytes, its shape and type need %zu", file->name,
                         tensor, info->end - info->begin, info->num_values * type->size);
    if (info->end > file->numbers_size)
        return psfm_fail(ctx, PSFM_ERR_FORMAT,
                         "%s: tensor %s ends at byte %zu, the file has %zu bytes of numbers",
                         file->name, tensor, info->end, file->numbers_size);
    return psfm_strdup(ctx, tensor, &info->name);
}

static int by_begin(const void *a, const void *b) {
    const psfm_tensor_info *p = a, *q = b;
    if (p->begin != q->begin)
        return p->begin < q->begin ? -1 : 1;
    if (p->end != q->end)
        return p->end < q->end ? -1 : 1;
    return strcmp(p->name, q->name);
}

static int by_name(const void *a, const void *b) {
    const psfm_tensor_info *p = a, *q = b;
    int order = strcmp(p->name, q->name);
    return order != 0 ? order : by_begin(a, b);
}

/* Leaves the tensors sorted by name. */
static psfm_status check_tensors(psfm_context *ctx, psfm_safetensors *file) {
    psfm_tensor_info *t = file->tensors;
    if (file->num_tensors == 0)
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: the file holds no tensors", file->name);
    qsort(t, file->num_tensors, sizeof *t, by_begin);
    for (size_t k = 1; k < file->num_tensors; ++k)
        if (t[k].begin < t[k - 1].end)
            return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: tensors %s and %s overlap", file->name,
                             t[k - 1].name, t[k].name);
    qsort(t, file->num_tensors, sizeof *t, by_name);
    for (size_t k = 1; k < file->num_tensors; ++k)
        if (strcmp(t[k].name, t[k - 1].name) == 0)
            return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: tensor %s is listed twice", file->name,
                             t[k].name);
    return PSFM_OK;
}

static psfm_status read_tensors(psfm_context *ctx, const cJSON *header, psfm_safetensors *file) {
    size_t capacity = 0;
    psfm_status status = PSFM_OK;
    const cJSON *entry;
    cJSON_ArrayForEach(entry, header) {
        if (entry->string == NULL || strcmp(entry->string, "__metadata__") == 0)
            continue;
        status = PSFM_RESERVE(ctx, &file->tensors, &capacity, file->num_tensors + 1);
        if (status == PSFM_OK)
            status = read_tensor(ctx, file, entry, &file->tensors[file->num_tensors]);
        if (status != PSFM_OK)
            return status;
        ++file->num_tensors;
    }
    return check_tensors(ctx, file);
}

static psfm_status parse_file(psfm_context *ctx, const uint8_t *bytes, size_t size,
                              psfm_safetensors *file) {
    uint64_t header_size = 0;
    for (size_t k = 0; k < 8 && k < size; ++k)
        header_size |= (uint64_t)bytes[k] << (8 * k);
    if (size < 8 || header_size > size - 8 || header_size > MAX_HEADER)
        return psfm_fail(ctx, PSFM_ERR_FORMAT,
                         "%s: not a safetensors file (it does not start with the length of a "
                         "header that fits in it)",
                         file->name);
    file->numbers = bytes + 8 + header_size;
    file->numbers_size = size - 8 - (size_t)header_size;
    /* Its numbers are whole, so it reads the same in every locale. */
    cJSON *header = cJSON_ParseWithLength((const char *)bytes + 8, (size_t)header_size);
    psfm_status status =
        cJSON_IsObject(header)
            ? read_tensors(ctx, header, file)
            : psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: the header is not a JSON object", file->name);
    cJSON_Delete(header);
    return status;
}

static psfm_status make_file(psfm_context *ctx, const char *name, psfm_safetensors **out) {
    psfm_status status = PSFM_ALLOC(ctx, 1, out);
    if (status == PSFM_OK)
        status = psfm_strdup(ctx, name, &(*out)->name);
    if (status != PSFM_OK)
        psfm_safetensors_close(out);
    return status;
}

psfm_status psfm_safetensors_parse(psfm_context *ctx, const void *bytes, size_t size,
                                   const char *name, psfm_safetensors **out) {
    psfm_status status = make_file(ctx, name, out);
    if (status != PSFM_OK)
        return status;
    status = parse_file(ctx, bytes, size, *out);
    if (status != PSFM_OK)
        psfm_safetensors_close(out);
    return status;
}

static psfm_status map_file(psfm_context *ctx, const char *path, const char *purpose,
                            psfm_safetensors *file) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return psfm_fail(ctx, PSFM_ERR_IO, "%s: cannot open (%s); needed here: %s", path,
                         strerror(errno), purpose);
    struct stat info;
    psfm_status status = PSFM_OK;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size <= 0) {
        status = psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: empty or not a file; needed here: %s", path,
                           purpose);
    } else {
        file->map_size = (size_t)info.st_size;
        file->map = mmap(NULL, file->map_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (file->map == MAP_FAILED) {
            file->map = NULL;
            status = psfm_fail(ctx, PSFM_ERR_IO, "%s: cannot map (%s)", path, strerror(errno));
        }
    }
    close(fd);
    return status;
}

psfm_status psfm_safetensors_open(psfm_context *ctx, const char *path, const char *purpose,
                                  psfm_safetensors **out) {
    psfm_status status = make_file(ctx, path, out);
    if (status != PSFM_OK)
        return status;
    status = map_file(ctx, path, purpose, *out);
    if (status == PSFM_OK && (*out)->map != NULL)
        status = parse_file(ctx, (*out)->map, (*out)->map_size, *out);
    if (status != PSFM_OK)
        psfm_safetensors_close(out);
    return status;
}

void psfm_safetensors_close(psfm_safetensors **file) {
    if (file == NULL || *file == NULL)
        return;
    psfm_safetensors *f = *file;
    for (size_t k = 0; k < f->num_tensors; ++k)
        free(f->tensors[k].name);
    if (f->map != NULL)
        munmap(f->map, f->map_size);
    free(f->tensors);
    free(f->name);
    free(f);
    *file = NULL;
}

const char *psfm_safetensors_name(const psfm_safetensors *file) {
    return file->name;
}

uint64_t psfm_safetensors_fingerprint(const psfm_safetensors *file) {
    uint64_t hash = PSFM_HASH_START;
    size_t k = 0;
    for (size_t t = 0; t < file->num_tensors; ++t) {
        const psfm_tensor_info *info = &file->tensors[t];
        const uint64_t place[3] = {info->begin, info->end, (uint64_t)info->type};
        hash = psfm_hash(hash, info->name, strlen(info->name) + 1);
        hash = psfm_hash(hash, place, sizeof place);
    }
    for (; k + 8 <= file->numbers_size; k += 8) { /* by words: files have tens of megabytes */
        uint64_t word;
        memcpy(&word, file->numbers + k, sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    return psfm_hash(hash, file->numbers + k, file->numbers_size - k);
}

const psfm_tensor_info *psfm_safetensors_list(const psfm_safetensors *file, size_t *num) {
    *num = file->num_tensors;
    return file->tensors;
}

const psfm_tensor_info *psfm_safetensors_find(const psfm_safetensors *file, const char *name) {
    return psfm_find(&name, file->tensors, file->num_tensors, sizeof *file->tensors,
                     psfm_compare_strings);
}

/* Half precision to single: exponent 0 is a multiple of 2^-24, 31 is infinite or not a number. */
static float from_half(const uint8_t bytes[2]) {
    uint32_t half = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8;
    uint32_t sign = (half & 0x8000u) << 16, exponent = half >> 10 & 31, fraction = half & 0x3ffu;
    if (exponent == 0) {
        float tiny = (float)fraction * 0x1p-24f;
        return sign != 0 ? -tiny : tiny;
    }
    uint32_t single = sign | (exponent == 31 ? 255u : exponent + 112u) << 23 | fraction << 13;
    float value;
    memcpy(&value, &single, sizeof value);
    return value;
}

static float from_single(const uint8_t bytes[4]) {
    uint32_t single = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                      (uint32_t)bytes[3] << 24;
    float value;
    memcpy(&value, &single, sizeof value);
    return value;
}

psfm_status psfm_safetensors_read(psfm_context *ctx, const psfm_safetensors *file, const char *name,
                                  size_t num_values, float *out) {
    const psfm_tensor_info *info = psfm_safetensors_find(file, name);
    if (info == NULL)
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: tensor %s is missing", file->name, name);
    if (info->type == PSFM_TENSOR_OTHER)
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: tensor %s is neither F32 nor F16", file->name,
                         name);
    if (info->num_values != num_values)
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: tensor %s has %zu values, %zu are needed",
                         file->name, name, info->num_values, num_values);
    const uint8_t *from = file->numbers + info->begin;
    for (size_t k = 0; k < num_values; ++k)
        out[k] =
            info->type == PSFM_TENSOR_F32 ? from_single(from + 4 * k) : from_half(from + 2 * k);
    return PSFM_OK;
}
