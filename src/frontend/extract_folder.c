/* Features of a folder into a database, so that it can be interrupted and repeated.
 *
 * Each image's features have a key: the options and weights, the file and its mask with their
 * contents, and what the effort of a second pass adds. What has its key is kept, what has not is
 * extracted again, what is gone is removed. Names, sizes and whether given intrinsics know all
 * photographs are checked before hours of work; what cannot be used is left out with a reason.
 * Photographs are extracted anywhere (frontend/feature_tasks.h) and written in order, in batches of
 * one transaction each, so that an interruption loses one batch at most. */
#include "frontend/extract_folder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/alloc.h"
#include "core/base/path.h"
#include "frontend/feature_choice.h"
#include "frontend/feature_tasks.h"
#include "frontend/folder_check.h"
#include "frontend/photo_changes.h"
#include "frontend/photo_check.h"
#include "frontend/photo_key.h"
#include "images/image/image_codec.h"
#include "images/image/image_list.h"
#include "images/image/mask.h"
#include "images/image/tiff_pages.h"
#include "store/feature_store.h"

/* Photographs that are written together: what is lost at most when a run is killed. The same number
 * for any number of threads and ranks, so that the files are the same, too. */
#define BATCH_IMAGES 8

/* One photograph of the folder that has to be extracted. */
typedef struct {
    const char *name;
    psfm_photo_key key;
    uint32_t image_id; /* 0: new */
    psfm_effort effort;
} todo_photo;

typedef struct {
    psfm_context *ctx;
    const char *folder;
    const psfm_folder_options *options;
    psfm_feature_choice choice;
    psfm_feature_setup setup;
    psfm_intrinsics intrinsics;
    psfm_image_list files;
    psfm_feature_store store;
    psfm_stored_photos stored;
    todo_photo *todo;
    size_t num_todo;
    bool is_writing; /* a transaction is open */
    psfm_extract_stats *stats;
} extraction;

void psfm_extract_stats_free(psfm_extract_stats *stats) {
    for (size_t k = 0; k < stats->num_unused; ++k) {
        free(stats->unused[k].name);
        free(stats->unused[k].reason);
    }
    free(stats->unused);
    *stats = (psfm_extract_stats){0};
}

/* ---- what is to be done ---- */

static int compare_name(const void *name, const void *photo) {
    return strcmp(name, ((const psfm_stored_photo *)photo)->name);
}

static const psfm_stored_photo *find_stored(const extraction *x, const char *name) {
    return x->stored.num == 0 ? NULL
                              : bsearch(name, x->stored.photos, x->stored.num,
                                        sizeof *x->stored.photos, compare_name);
}

static int compare_file(const void *name, const void *file) {
    return strcmp(name, *(char *const *)file);
}

static int compare_second_pass(const void *name, const void *second_pass) {
    return strcmp(name, ((const psfm_second_pass_photo *)second_pass)->name);
}

static psfm_effort effort_of(const extraction *x, const char *name) {
    const psfm_folder_options *o = x->options;
    const psfm_second_pass_photo *second_pass =
        o->num_second_pass == 0 ? NULL
                                : bsearch(name, o->second_pass, o->num_second_pass,
                                          sizeof *o->second_pass, compare_second_pass);
    return second_pass == NULL ? x->choice.effort : second_pass->effort;
}

static bool is_in_folder(const extraction *x, const char *name) {
    return x->files.num > 0 && bsearch(name, x->files.names, x->files.num, sizeof *x->files.names,
                                       compare_file) != NULL;
}

/* Where more than two thirds of what the database has would be lost, the folder is another one, and
 * its results are hardly meant to take the place of these. */
static psfm_status check_loss(const extraction *x) {
    size_t num = 0, kept = 0;
    psfm_status status = PSFM_OK;
    for (size_t k = 0; status == PSFM_OK && k < x->stored.num; ++k) {
        const psfm_stored_photo *photo = &x->stored.photos[k];
        bool same = false;
        if (photo->key == NULL)
            continue;
        ++num;
        if (is_in_folder(x, photo->name))
            status = psfm_is_same_size(x->ctx, x->folder, photo->name, photo->key, &same);
        kept += same;
    }
    if (status != PSFM_OK || 3 * kept >= num)
        return status;
    return psfm_fail(x->ctx, PSFM_ERR_ARGUMENT,
                     "%s has the features of %zu photographs, of which only %zu are in %s by name "
                     "and size; give --replace to drop the others, or another place for the "
                     "results",
                     x->store.sql.path, num, kept, x->folder);
}

/* Images that are gone are removed; images of others are not touched. */
static psfm_status remove_missing(extraction *x) {
    psfm_status status = PSFM_OK;
    for (size_t k = 0; status == PSFM_OK && k < x->stored.num; ++k) {
        const psfm_stored_photo *photo = &x->stored.photos[k];
        if (photo->key == NULL)
            status = psfm_fail(x->ctx, PSFM_ERR_DATA,
                               "%s: image %s was not extracted by planarsfm; choose another "
                               "database",
                               x->store.sql.path, photo->name);
        else if (!is_in_folder(x, photo->name)) {
            status = psfm_store_drop_photo(&x->store, photo->image_id);
            ++x->stats->num_removed;
        }
    }
    return status;
}

/* Notes where and when the file of a photograph that stays was found, if that is news: then the
 * next run need not read it. */
static psfm_status refresh_key(extraction *x, const psfm_stored_photo *photo,
                               const psfm_photo_key *key) {
    char text[PSFM_PHOTO_KEY_SIZE];
    psfm_photo_key_print(key, text);
    return strcmp(text, photo->key) == 0 ? PSFM_OK
                                         : psfm_store_set_key(&x->store, photo->image_id, text);
}

/* Gives an image that stays the camera that it has by the options of this run. */
static psfm_status refresh_camera(extraction *x, const psfm_stored_photo *photo) {
    psfm_camera camera;
    char *source = NULL;
    uint32_t camera_id = 0;
    const psfm_photo_facts facts = {photo->name, photo->width, photo->height, photo->focal_px,
                                    photo->body};
    psfm_status status = psfm_intrinsics_find(x->ctx, &x->intrinsics, &facts, &camera, &source);
    if (status == PSFM_OK)
        status = psfm_store_put_camera(&x->store, source, &camera, &camera_id);
    if (status == PSFM_OK && camera_id != photo->camera_id)
        status = psfm_store_set_camera(&x->store, photo->image_id, camera_id);
    free(source);
    return status;
}

/* Only the first page of a file is a photograph of the run. */
static psfm_status say_pages(const extraction *x, const char *name) {
    char *path = NULL;
    psfm_status status = psfm_path_join(x->ctx, x->folder, name, &path);
    int num = status == PSFM_OK ? psfm_tiff_file_pages(path) : 0;
    if (num > 1)
        psfm_log(x->ctx, PSFM_LOG_WARNING, "%s: the first of its %d pages is taken", path, num);
    free(path);
    return status;
}

static psfm_photo_place place_of(const extraction *x) {
    return (psfm_photo_place){x->folder, x->options->mask_folder};
}

/* Keeps the features of a photograph, or puts it on the list. */
static psfm_status plan_photo(extraction *x, const char *name) {
    const psfm_stored_photo *photo = find_stored(x, name);
    const psfm_photo_place place = place_of(x);
    todo_photo *todo = &x->todo[x->num_todo];
    bool same = false;
    *todo = (todo_photo){.name = name, .effort = effort_of(x, name)};
    todo->key.options = x->choice.key;
    if (todo->effort != x->choice.effort)
        todo->key.second_pass = x->choice.second_pass_keys[todo->effort];
    psfm_status status = psfm_photo_key_look(x->ctx, &place, name, &todo->key);
    if (status == PSFM_OK && photo != NULL)
        status = psfm_photo_key_compare(x->ctx, &place, name, photo->key, &todo->key, &same);
    if (status == PSFM_OK && !same) {
        todo->image_id = photo == NULL ? 0 : photo->image_id;
        ++x->num_todo;
        return say_pages(x, name);
    }
    if (status == PSFM_OK)
        status = refresh_key(x, photo, &todo->key);
    if (status == PSFM_OK)
        status = refresh_camera(x, photo);
    x->stats->num_unchanged += same;
    x->stats->num_features += same ? photo->num_keypoints : 0;
    return status;
}

static psfm_status plan_photos(extraction *x) {
    psfm_status status = psfm_store_list(&x->store, &x->stored);
    if (status == PSFM_OK && !x->options->replace)
        status = check_loss(x);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(x->ctx, x->files.num, &x->todo);
    if (status == PSFM_OK)
        status = psfm_store_begin(&x->store);
    if (status == PSFM_OK)
        status = remove_missing(x);
    for (size_t k = 0; status == PSFM_OK && k < x->files.num; ++k)
        status = plan_photo(x, x->files.names[k]);
    return status == PSFM_OK ? psfm_store_commit(&x->store) : status;
}

/* ---- doing it ---- */

static psfm_status note_unused(extraction *x, const todo_photo *todo, const char *reason) {
    psfm_extract_stats *stats = x->stats;
    psfm_unused_photo entry = {0};
    size_t capacity = stats->num_unused;
    psfm_status status = PSFM_RESERVE(x->ctx, &stats->unused, &capacity, stats->num_unused + 1);
    if (status == PSFM_OK)
        status = psfm_strdup(x->ctx, todo->name, &entry.name);
    if (status == PSFM_OK)
        status = psfm_strdup(x->ctx, reason, &entry.reason);
    if (status != PSFM_OK) {
        free(entry.name);
        return status;
    }
    stats->unused[stats->num_unused++] = entry;
    if (!x->options->is_again)
        psfm_log(x->ctx, PSFM_LOG_WARNING, "left out: %s", reason);
    if (todo->image_id == 0)
        return PSFM_OK;
    ++stats->num_removed;
    return psfm_store_drop_photo(&x->store, todo->image_id);
}

/* Leaves out what cannot be used, before hours of work. */
static psfm_status check_photos(extraction *x) {
    psfm_image_list *files = &x->files;
    size_t num = files->num, kept = 0;
    psfm_status status = PSFM_OK;
    for (size_t k = 0; k < num; ++k) {
        char *name = files->names[k], *reason = NULL;
        const todo_photo todo = {.name = name};
        if (status == PSFM_OK)
            status = psfm_photo_check(x->ctx, x->folder, name, &x->intrinsics, &reason);
        if (status == PSFM_OK && reason != NULL)
            status = note_unused(x, &todo, reason);
        if (reason != NULL)
            free(name);
        else
            files->names[kept++] = name;
        free(reason);
    }
    files->num = kept;
    if (status == PSFM_OK && kept == 0)
        status = psfm_fail(x->ctx, PSFM_ERR_DATA, "none of %zu photographs can be used: %s", num,
                           x->stats->unused[0].reason);
    return status;
}

/* Says so if no photograph has a mask: then the folder is hardly the right one. */
static psfm_status check_masks(const extraction *x) {
    bool found = x->options->mask_folder == NULL;
    psfm_status status = PSFM_OK;
    for (size_t k = 0; status == PSFM_OK && !found && k < x->files.num; ++k) {
        char *path = NULL;
        status = psfm_mask_path(x->ctx, x->options->mask_folder, x->files.names[k], &path);
        found = status == PSFM_OK && psfm_path_is_file(path);
        free(path);
    }
    if (status == PSFM_OK && !found)
        psfm_log(x->ctx, PSFM_LOG_WARNING,
                 "%s: no mask of any photograph in it; that of %s would be %s.png",
                 x->options->mask_folder, x->files.names[0], x->files.names[0]);
    return status;
}

static psfm_status write_place(extraction *x, const char *name, const psfm_exif *exif) {
    const psfm_geodetic at = {exif->latitude_deg, exif->longitude_deg,
                              exif->has_altitude ? exif->altitude_m : (double)NAN};
    return psfm_store_put_place(&x->store, name, exif->has_position ? &at : NULL);
}

static psfm_status write_photo(extraction *x, const todo_photo *todo, const psfm_photo *photo) {
    psfm_camera camera;
    char *source = NULL, key[PSFM_PHOTO_KEY_SIZE];
    psfm_photo_key made_from = todo->key;
    made_from.photo.contents = photo->contents;
    made_from.mask.contents = photo->mask_contents;
    psfm_photo_key_print(&made_from, key);
    double focal_px = photo->exif.has_focal ? photo->exif.focal_px : 0.0;
    psfm_stored_photo row = {.image_id = todo->image_id,
                             .name = (char *)todo->name,
                             .key = key,
                             .width = photo->width,
                             .height = photo->height,
                             .focal_px = focal_px,
                             .body = (char *)photo->exif.body,
                             .features =
                                 x->choice.weights == NULL ? NULL : (char *)x->stats->features};
    const psfm_photo_facts facts = {todo->name, photo->width, photo->height, focal_px,
                                    photo->exif.body};
    psfm_status status = psfm_intrinsics_find(x->ctx, &x->intrinsics, &facts, &camera, &source);
    if (status == PSFM_OK)
        status = psfm_store_put_camera(&x->store, source, &camera, &row.camera_id);
    if (status == PSFM_OK)
        status = psfm_store_put_photo(&x->store, &row, &photo->features);
    if (status == PSFM_OK)
        status = write_place(x, todo->name, &photo->exif);
    if (status == PSFM_OK && photo->exif.is_mirrored)
        psfm_log(x->ctx, PSFM_LOG_WARNING,
                 "%s/%s: stored mirrored, as its EXIF data say; left and right of its pixels are "
                 "exchanged for all that follows",
                 x->folder, todo->name);
    if (status == PSFM_OK) {
        ++x->stats->num_extracted;
        x->stats->num_features += photo->features.num;
        if (photo->features.num == 0)
            psfm_log(x->ctx, PSFM_LOG_WARNING,
                     "%s/%s: no features in it, %d x %d pixels; nothing can be matched", x->folder,
                     todo->name, photo->width, photo->height);
    }
    free(source);
    return status;
}

static psfm_status describe_photo(psfm_context *ctx, size_t index, void *user, void *item) {
    const extraction *x = user;
    const todo_photo *todo = &x->todo[index];
    return psfm_feature_item_fill(ctx, &x->setup, todo->name, todo->effort, item);
}

static psfm_status begin_batch(extraction *x) {
    if (x->is_writing)
        return PSFM_OK;
    x->is_writing = true;
    return psfm_store_begin(&x->store);
}

static psfm_status end_batch(extraction *x) {
    bool was_writing = x->is_writing;
    x->is_writing = false;
    return was_writing ? psfm_store_commit(&x->store) : PSFM_OK;
}

static psfm_status take_photo(psfm_context *ctx, size_t index, void *user, void *result) {
    (void)ctx;
    extraction *x = user;
    const todo_photo *todo = &x->todo[index];
    const psfm_photo *photo = result;
    psfm_status status = begin_batch(x);
    if (status == PSFM_OK)
        status = photo->problem != NULL ? note_unused(x, todo, photo->problem)
                                        : write_photo(x, todo, photo);
    return status == PSFM_OK && (index + 1) % BATCH_IMAGES == 0 ? end_batch(x) : status;
}

/* Whether the name ends like one of these, whatever its case. */
static bool has_ending(const char *name, const char *const *endings, size_t num) {
    const char *dot = strrchr(name, '.');
    for (size_t k = 0; dot != NULL && k < num; ++k)
        if (strcasecmp(dot + 1, endings[k]) == 0)
            return true;
    return false;
}

/* Files that their names call photographs but cannot be read: those of a wrong content one by one,
 * those of other formats together. */
static psfm_status report_others(extraction *x) {
    static const char *const foreign[] = {"webp", "bmp", "gif", "jp2", "cr3", "raf", "rw2", "raw"};
    psfm_status status = PSFM_OK;
    const char *first = NULL;
    size_t num = 0;
    for (size_t k = 0; status == PSFM_OK && k < x->files.num_others; ++k) {
        const char *name = x->files.others[k];
        const todo_photo todo = {.name = name};
        char reason[512];
        snprintf(reason, sizeof reason, "%s/%s: not a " PSFM_IMAGE_FORMATS " file", x->folder,
                 name);
        if (psfm_image_has_ending(name, false))
            status = note_unused(x, &todo, reason);
        if (!has_ending(name, foreign, sizeof foreign / sizeof foreign[0]))
            continue;
        first = num++ == 0 ? name : first;
    }
    if (num > 0)
        psfm_log(x->ctx, PSFM_LOG_WARNING,
                 "left out: %s/%s%s: no " PSFM_IMAGE_FORMATS " file; convert %s", x->folder, first,
                 num > 1 ? " and others like it" : "", num > 1 ? "them" : "it");
    return status;
}

static psfm_status extract_photos(extraction *x) {
    const char **names = NULL;
    const psfm_task_list list = {.kind = &psfm_feature_tasks,
                                 .stage = "features",
                                 .setup = &x->setup,
                                 .num = x->num_todo,
                                 .task_weight = 1,
                                 .describe = describe_photo,
                                 .commit = take_photo,
                                 .user = x};
    psfm_status status = PSFM_ALLOC(x->ctx, x->num_todo, &names);
    for (size_t k = 0; status == PSFM_OK && k < x->num_todo; ++k)
        names[k] = x->todo[k].name;
    if (status == PSFM_OK)
        status = psfm_feature_setup_check(x->ctx, names, x->num_todo, &x->setup);
    if (status == PSFM_OK)
        status = psfm_tasks_run(x->ctx, &list);
    free((void *)names);
    return status;
}

static psfm_status extract_all(extraction *x) {
    const psfm_folder_options *o = x->options;
    x->setup = (psfm_feature_setup){.folder = x->folder,
                                    .mask_folder = o->mask_folder,
                                    .weights = x->choice.weights,
                                    .extract = o->extract,
                                    .detector = o->detector,
                                    .is_checked = psfm_context_link(x->ctx) != NULL};
    memcpy(x->setup.sift, x->choice.sift, sizeof x->setup.sift);
    psfm_status status = report_others(x);
    if (status == PSFM_OK)
        status = extract_photos(x);
    if (status == PSFM_OK || status == PSFM_ERR_CANCELLED) { /* what is done is kept */
        psfm_status ended = end_batch(x);
        status = status == PSFM_OK ? ended : status;
    }
    if (status == PSFM_OK)
        status = psfm_store_drop_cameras(&x->store);
    return status;
}

static psfm_status open_inputs(extraction *x, const char *database) {
    psfm_context *ctx = x->ctx;
    psfm_status status = psfm_feature_choice_make(ctx, x->options, &x->choice);
    x->stats->features = psfm_feature_names[x->options->detector.kind];
    if (status == PSFM_OK && x->options->mask_folder != NULL &&
        !psfm_path_is_folder(x->options->mask_folder))
        status = psfm_fail(ctx, PSFM_ERR_IO, "%s: no folder of masks", x->options->mask_folder);
    if (status == PSFM_OK)
        status = psfm_intrinsics_open(ctx, &x->options->intrinsics, &x->intrinsics);
    if (status == PSFM_OK)
        status = psfm_image_list_open(ctx, x->folder, x->options->list_path, &x->files);
    if (status == PSFM_OK && x->files.num == 0)
        status = psfm_fail(ctx, PSFM_ERR_DATA, "%s: no " PSFM_IMAGE_FORMATS " images in it%s%s",
                           x->folder, x->files.num_others > 0 ? ", but other files such as " : "",
                           x->files.num_others > 0 ? x->files.others[0] : "");
    if (status == PSFM_OK && x->files.num_others > 0)
        psfm_log(ctx, PSFM_LOG_INFO, "%s: %zu files are no photographs, such as %s", x->folder,
                 x->files.num_others, x->files.others[0]);
    return status == PSFM_OK ? psfm_store_open(ctx, database, true, &x->store) : status;
}

psfm_status psfm_extract_folder(psfm_context *ctx, const char *folder, const char *database,
                                const psfm_folder_options *options, psfm_extract_stats *stats) {
    *stats = (psfm_extract_stats){0};
    extraction x = {.ctx = ctx, .folder = folder, .options = options, .stats = stats};
    psfm_status status = open_inputs(&x, database);
    if (status == PSFM_OK && !options->is_again)
        status = psfm_folder_check(ctx, folder, &x.files);
    if (status == PSFM_OK)
        status = check_photos(&x);
    if (status == PSFM_OK)
        status = check_masks(&x);
    if (status == PSFM_OK)
        status = plan_photos(&x);
    if (status == PSFM_OK)
        status = extract_all(&x);
    stats->num_images = stats->num_extracted + stats->num_unchanged;
    if (status == PSFM_OK && stats->num_images == 0)
        status = psfm_fail(ctx, PSFM_ERR_DATA, "%s: none of its photographs could be read: %s",
                           folder, stats->unused[0].reason);
    stats->num_other_files = x.files.num_others;
    stats->intrinsics = psfm_intrinsics_describe(&x.intrinsics);
    psfm_store_close(&x.store);
    psfm_stored_photos_free(&x.stored);
    psfm_image_list_free(&x.files);
    psfm_intrinsics_free(&x.intrinsics);
    psfm_feature_choice_free(&x.choice);
    free(x.todo);
    return status;
}

void psfm_extract_stats_describe(const psfm_extract_stats *stats, char *text, size_t size) {
    snprintf(
        text, size,
        "%zu images: %zu extracted, %zu unchanged, %zu left out, %zu removed; %zu %s features; "
        "intrinsics: %s",
        stats->num_images, stats->num_extracted, stats->num_unchanged, stats->num_unused,
        stats->num_removed, stats->num_features, stats->features, stats->intrinsics);
}
