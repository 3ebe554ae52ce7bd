/* hloc's HDF5 files. The names of its groups were made for its own reader, which knows the images
 * of a pair and looks for their group; to read all that is there, names are taken apart here. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/name_index.h"
#include "core/base/output.h"
#include "formats/hdf5_file.h"
#include "frontend/import_matches.h"
#include "images/feature/detector.h"
#include "store/feature_store.h"

typedef struct {
    psfm_context *ctx;
    const psfm_hloc_options *options;
    psfm_h5 *h5; /* the file that is being read */
    psfm_h5_names images;
    char **escaped; /* their names with '-' for '/' */
    size_t *num_keypoints;
    psfm_name_index index; /* of the escaped names */
    psfm_intrinsics intrinsics;
    psfm_feature_store *store;
    psfm_import_stats facts;
} importing;

/* ---- features ---- */

static psfm_status wrong_shape(const importing *m, const char *group, const char *what) {
    return psfm_fail(m->ctx, PSFM_ERR_FORMAT, "%s: %s: %s", m->h5->path, group, what);
}

static psfm_status read_keypoints(importing *m, const char *name, psfm_keypoint_set *set) {
    float *xy = NULL;
    size_t rows, cols;
    psfm_status status = psfm_h5_read_f32(m->h5, name, "keypoints", &xy, &rows, &cols);
    if (status == PSFM_OK && rows > 0 && cols < 2)
        status = wrong_shape(m, name, "its keypoints do not have two coordinates");
    if (status == PSFM_OK)
        status = PSFM_ALLOC(m->ctx, rows, &set->keypoints);
    for (size_t k = 0; status == PSFM_OK && k < rows; ++k)
        set->keypoints[k] =
            psfm_keypoint_make(xy[cols * k] + 0.5F, xy[cols * k + 1] + 0.5F, 1.0F, 0.0F);
    set->num = status == PSFM_OK ? rows : 0;
    free(xy);
    return status;
}

/* From D x N to N x D. */
static psfm_status read_descriptors(importing *m, const char *name, psfm_keypoint_set *set) {
    float *columns = NULL;
    size_t size, num;
    psfm_status status = psfm_h5_read_f32(m->h5, name, "descriptors", &columns, &size, &num);
    if (status == PSFM_OK && num != set->num)
        status = wrong_shape(m, name, "it does not have as many descriptors as keypoints");
    if (status == PSFM_OK)
        status = PSFM_ALLOC(m->ctx, size * num, &set->descriptors_f32);
    for (size_t k = 0; status == PSFM_OK && k < num; ++k)
        for (size_t d = 0; d < size; ++d)
            set->descriptors_f32[size * k + d] = columns[num * d + k];
    set->descriptor_size = size;
    free(columns);
    return status;
}

/* Unit vectors as COLMAP stores SIFT's: bytes with an L2 norm of 512. */
static psfm_status bytes_from_floats(importing *m, const char *name, psfm_keypoint_set *set) {
    if (set->num > 0 && set->descriptor_size != 128)
        return wrong_shape(m, name, "SIFT's descriptors have 128 elements");
    psfm_status status = PSFM_ALLOC(m->ctx, 128 * set->num, &set->descriptors_u8);
    for (size_t k = 0; status == PSFM_OK && k < 128 * set->num; ++k) {
        float value = roundf(512.0F * set->descriptors_f32[k]);
        set->descriptors_u8[k] = (uint8_t)(value > 255.0F ? 255.0F : value > 0.0F ? value : 0.0F);
    }
    set->descriptor_size = 128;
    free(set->descriptors_f32);
    set->descriptors_f32 = NULL;
    return status;
}

static psfm_status read_scores(importing *m, const char *name, psfm_keypoint_set *set) {
    size_t rows, cols;
    if (!psfm_h5_has(m->h5, name, "scores")) {
        psfm_status status = PSFM_ALLOC(m->ctx, set->num, &set->scores);
        for (size_t k = 0; status == PSFM_OK && k < set->num; ++k)
            set->scores[k] = 1.0F;
        return status;
    }
    psfm_status status = psfm_h5_read_f32(m->h5, name, "scores", &set->scores, &rows, &cols);
    if (status == PSFM_OK && rows * cols != set->num)
        status = wrong_shape(m, name, "it does not have as many scores as keypoints");
    return status;
}

static psfm_status read_features(importing *m, const char *name, psfm_keypoint_set *set) {
    const char *kind = m->options->features;
    psfm_status status = read_keypoints(m, name, set);
    if (status != PSFM_OK || kind == NULL)
        return status;
    status = read_descriptors(m, name, set);
    if (status == PSFM_OK && psfm_feature_kind_find(kind) == PSFM_FEATURES_SIFT)
        return bytes_from_floats(m, name, set);
    return status == PSFM_OK ? read_scores(m, name, set) : status;
}

/* Width and height if the file tells, else 0. */
static psfm_status read_size(importing *m, const char *name, int size[2]) {
    int32_t *values = NULL;
    size_t rows, cols;
    size[0] = size[1] = 0;
    if (!psfm_h5_has(m->h5, name, "image_size"))
        return PSFM_OK;
    psfm_status status = psfm_h5_read_i32(m->h5, name, "image_size", &values, &rows, &cols);
    if (status == PSFM_OK && (rows * cols != 2 || values[0] <= 0 || values[1] <= 0))
        status = wrong_shape(m, name, "its image_size is not a width and a height");
    for (int k = 0; status == PSFM_OK && k < 2; ++k)
        size[k] = values[k];
    free(values);
    return status;
}

static psfm_status import_image(importing *m, size_t k) {
    psfm_keypoint_set set = {0};
    psfm_camera camera;
    char *source = NULL;
    int size[2];
    const char *kind = m->options->features;
    bool is_sift = kind != NULL && psfm_feature_kind_find(kind) == PSFM_FEATURES_SIFT;
    psfm_stored_photo photo = {.name = m->images.names[k],
                               .features = is_sift ? NULL : (char *)kind};
    psfm_status status = read_features(m, photo.name, &set);
    if (status == PSFM_OK)
        status = read_size(m, photo.name, size);
    if (status == PSFM_OK)
        status = psfm_intrinsics_find(m->ctx, &m->intrinsics,
                                      &(psfm_photo_facts){photo.name, size[0], size[1], 0.0, NULL},
                                      &camera, &source);
    if (status == PSFM_OK)
        status = psfm_store_put_camera(m->store, source, &camera, &photo.camera_id);
    if (status == PSFM_OK)
        status = psfm_store_put_photo(m->store, &photo, &set);
    m->num_keypoints[k] = set.num;
    m->facts.num_keypoints += set.num;
    psfm_keypoint_set_free(&set);
    free(source);
    return status;
}

static psfm_status import_images(importing *m) {
    psfm_status status = psfm_h5_find_groups(m->h5, "keypoints", &m->images);
    if (status == PSFM_OK && m->images.num == 0)
        status = psfm_fail(m->ctx, PSFM_ERR_DATA, "%s: no image with keypoints in it", m->h5->path);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(m->ctx, m->images.num, &m->num_keypoints);
    if (status == PSFM_OK)
        status = psfm_progress(m->ctx, "features", 0, m->images.num);
    for (size_t k = 0; status == PSFM_OK && k < m->images.num; ++k) {
        status = import_image(m, k);
        if (status == PSFM_OK)
            status = psfm_progress(m->ctx, "features", k + 1, m->images.num);
    }
    m->facts.num_images = m->images.num;
    return status;
}

/* ---- matches ---- */

/* Two images may have the same escaped name; the matches of either could not be told apart. */
static psfm_status make_index(importing *m) {
    size_t num = m->images.num;
    psfm_status status = PSFM_ALLOC(m->ctx, num, &m->escaped);
    for (size_t k = 0; status == PSFM_OK && k < num; ++k) {
        status = psfm_strdup(m->ctx, m->images.names[k], &m->escaped[k]);
        for (char *p = m->escaped[k]; status == PSFM_OK && *p != '\0'; ++p)
            *p = *p == '/' ? '-' : *p;
    }
    if (status == PSFM_OK)
        status = psfm_name_index_init(m->ctx, (const char *const *)m->escaped, num, &m->index);
    for (size_t k = 1; status == PSFM_OK && k < num; ++k)
        if (strcmp(m->index.sorted[k - 1].name, m->index.sorted[k].name) == 0)
            status = psfm_fail(m->ctx, PSFM_ERR_DATA,
                               "images %s and %s have the same name in hloc's matches",
                               m->images.names[m->index.sorted[k - 1].idx],
                               m->images.names[m->index.sorted[k].idx]);
    return status;
}

/* Takes the name of a group apart: a/b, or a_b where several splits may be possible but one only
 * gives two images. *num is the number of possible splits. */
static void split_pair(const importing *m, const char *group, size_t pair[2], size_t *num) {
    const char separator = strchr(group, '/') != NULL ? '/' : '_';
    *num = 0;
    for (const char *p = strchr(group, separator); p != NULL; p = strchr(p + 1, separator)) {
        size_t a, b;
        if (!psfm_name_index_find(&m->index, group, (size_t)(p - group), &a) ||
            !psfm_name_index_find(&m->index, p + 1, strlen(p + 1), &b) || a == b)
            continue;
        pair[0] = a;
        pair[1] = b;
        ++*num;
    }
}

static psfm_status read_match_scores(importing *m, const char *group, size_t num, float **scores) {
    size_t rows, cols;
    if (!(m->options->min_score > 0.0))
        return PSFM_OK;
    psfm_status status = psfm_h5_read_f32(m->h5, group, "matching_scores0", scores, &rows, &cols);
    if (status == PSFM_OK && rows * cols != num)
        status = wrong_shape(m, group, "matching_scores0 and matches0 differ in length");
    return status;
}

/* Keeps what is a match, the lower image first. */
static psfm_status list_matches(const importing *m, const char *group, const size_t pair[2],
                                const int32_t *matches, const float *scores,
                                psfm_match_list *list) {
    bool turned = pair[0] > pair[1];
    for (size_t k = 0; k < m->num_keypoints[pair[0]]; ++k) {
        if (matches[k] < 0 || (scores != NULL && !((double)scores[k] >= m->options->min_score)))
            continue;
        if ((size_t)matches[k] >= m->num_keypoints[pair[1]])
            return psfm_fail(m->ctx, PSFM_ERR_DATA,
                             "%s: %s: matches0 names keypoint %d of %s, which has %zu", m->h5->path,
                             group, matches[k], m->images.names[pair[1]],
                             m->num_keypoints[pair[1]]);
        list->matches[list->num][turned ? 1 : 0] = (uint32_t)k;
        list->matches[list->num++][turned ? 0 : 1] = (uint32_t)matches[k];
    }
    return PSFM_OK;
}

static psfm_status import_pair(importing *m, const char *group, const size_t pair[2]) {
    int32_t *matches = NULL;
    float *scores = NULL;
    psfm_match_list list = {0};
    size_t rows, cols, num = m->num_keypoints[pair[0]];
    psfm_status status = psfm_h5_read_i32(m->h5, group, "matches0", &matches, &rows, &cols);
    if (status == PSFM_OK && rows * cols != num)
        status = wrong_shape(m, group, "matches0 is not as long as its first image's keypoints");
    if (status == PSFM_OK)
        status = read_match_scores(m, group, num, &scores);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(m->ctx, num, &list.matches);
    if (status == PSFM_OK)
        status = list_matches(m, group, pair, matches, scores, &list);
    uint32_t low = (uint32_t)(pair[0] < pair[1] ? pair[0] : pair[1]);
    uint32_t high = (uint32_t)(pair[0] < pair[1] ? pair[1] : pair[0]);
    if (status == PSFM_OK) /* ids are indices + 1 in a new database */
        status = psfm_store_put_matches(m->store, low + 1, high + 1, &list, 0);
    ++m->facts.num_pairs;
    m->facts.num_matches += list.num;
    psfm_match_list_free(&list);
    free(matches);
    free(scores);
    return status;
}

typedef struct {
    size_t low, high, order; /* images, and its place in the file */
    size_t pair[2];          /* as the file has it */
    const char *group;
} found_pair;

static int by_images(const void *a, const void *b) {
    const found_pair *p = a, *q = b;
    if (p->low != q->low)
        return p->low < q->low ? -1 : 1;
    if (p->high != q->high)
        return p->high < q->high ? -1 : 1;
    return p->order < q->order ? -1 : p->order > q->order;
}

static psfm_status find_pairs(importing *m, const psfm_h5_names *groups, found_pair *pairs,
                              size_t *num) {
    for (size_t k = 0; k < groups->num; ++k) {
        size_t pair[2], ways;
        split_pair(m, groups->names[k], pair, &ways);
        m->facts.num_pairs_unknown += ways == 0;
        if (ways > 1)
            return wrong_shape(m, groups->names[k],
                               "can be split into two image names in several ways");
        if (ways == 1)
            pairs[(*num)++] = (found_pair){.low = pair[0] < pair[1] ? pair[0] : pair[1],
                                           .high = pair[0] < pair[1] ? pair[1] : pair[0],
                                           .order = k,
                                           .pair = {pair[0], pair[1]},
                                           .group = groups->names[k]};
    }
    if (*num > 0)
        qsort(pairs, *num, sizeof *pairs, by_images);
    return PSFM_OK;
}

static psfm_status import_pairs(importing *m) {
    psfm_h5_names groups = {0};
    found_pair *pairs = NULL;
    size_t num = 0;
    psfm_status status = psfm_h5_find_groups(m->h5, "matches0", &groups);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(m->ctx, groups.num, &pairs);
    if (status == PSFM_OK)
        status = find_pairs(m, &groups, pairs, &num);
    if (status == PSFM_OK && num == 0)
        status = psfm_fail(m->ctx, PSFM_ERR_DATA,
                           "%s: no pair of the images with features is matched in it", m->h5->path);
    if (status == PSFM_OK)
        status = psfm_progress(m->ctx, "matches", 0, num);
    for (size_t k = 0; status == PSFM_OK && k < num; ++k) {
        if (k > 0 && pairs[k].low == pairs[k - 1].low && pairs[k].high == pairs[k - 1].high) {
            ++m->facts.num_pairs_repeated;
            continue;
        }
        status = import_pair(m, pairs[k].group, pairs[k].pair);
        if (status == PSFM_OK)
            status = psfm_progress(m->ctx, "matches", k + 1, num);
    }
    psfm_h5_names_free(&groups);
    free(pairs);
    return status;
}

/* ---- the whole ---- */

static void clear_import(importing *m) {
    for (size_t k = 0; m->escaped != NULL && k < m->images.num; ++k)
        free(m->escaped[k]);
    free(m->escaped);
    free(m->num_keypoints);
    psfm_name_index_free(&m->index);
    psfm_h5_names_free(&m->images);
    psfm_intrinsics_free(&m->intrinsics);
}

psfm_status psfm_import_hloc_files(psfm_context *ctx, psfm_h5 *features, psfm_h5 *matches,
                                   psfm_feature_store *store, const psfm_hloc_options *options,
                                   psfm_import_stats *stats) {
    importing m = {.ctx = ctx, .options = options, .h5 = features, .store = store};
    psfm_status status = psfm_intrinsics_open(ctx, &options->intrinsics, &m.intrinsics);
    if (status == PSFM_OK)
        status = import_images(&m);
    if (status == PSFM_OK)
        status = make_index(&m);
    m.h5 = matches;
    if (status == PSFM_OK)
        status = import_pairs(&m);
    clear_import(&m);
    if (stats != NULL)
        *stats = m.facts;
    return status;
}

static psfm_status fill_database(psfm_context *ctx, const char *features_path,
                                 const char *matches_path, const char *database,
                                 const psfm_hloc_options *options, psfm_import_stats *stats) {
    psfm_h5 features = {0}, matches = {0};
    psfm_feature_store store = {0};
    psfm_status status = psfm_h5_open(ctx, features_path, &features);
    if (status == PSFM_OK)
        status = psfm_h5_open(ctx, matches_path, &matches);
    if (status == PSFM_OK)
        status = psfm_store_open(ctx, database, true, &store);
    if (status == PSFM_OK)
        status = psfm_store_begin(&store);
    if (status == PSFM_OK)
        status = psfm_import_hloc_files(ctx, &features, &matches, &store, options, stats);
    if (status == PSFM_OK)
        status = psfm_store_commit(&store);
    psfm_store_close(&store);
    psfm_h5_close(&features);
    psfm_h5_close(&matches);
    return status;
}

static psfm_status check_arguments(psfm_context *ctx, const char *database,
                                   const psfm_hloc_options *options) {
    if (options->intrinsics.cameras_path == NULL && options->intrinsics.camera_text == NULL)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                         "hloc's files have no intrinsics; give them: --cameras MODEL (a COLMAP "
                         "model or cameras.txt) or --camera \"PINHOLE,width,height,fx,fy,cx,cy\"");
    if (options->features != NULL &&
        psfm_feature_kind_find(options->features) == PSFM_NUM_FEATURE_KINDS)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "features '%s' are not known", options->features);
    if (access(database, F_OK) == 0)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%s: is there already; choose another name",
                         database);
    return PSFM_OK;
}

psfm_status psfm_import_hloc(psfm_context *ctx, const char *features_path, const char *matches_path,
                             const char *database, const psfm_hloc_options *options,
                             psfm_import_stats *stats) {
    char *target = NULL, *tmp = NULL;
    psfm_status status = check_arguments(ctx, database, options);
    if (status == PSFM_OK)
        status = psfm_output_temporary(ctx, database, &target, &tmp);
    if (status == PSFM_OK)
        status = fill_database(ctx, features_path, matches_path, tmp, options, stats);
    if (status == PSFM_OK && rename(tmp, target) != 0)
        status = psfm_fail(ctx, PSFM_ERR_IO, "%s: cannot be written", database);
    if (status != PSFM_OK && tmp != NULL)
        unlink(tmp);
    free(target);
    free(tmp);
    return status;
}
