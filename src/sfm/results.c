/* Six results, one moment.
 *
 * POSIX renames one name at a time, so the six are swapped through one link. In OUT/.planarsfm
 * stand `old` and `new`, and `current`, a symbolic link to one of them:
 *   1. each result OUT/x trades places with a link OUT/x -> .planarsfm/current/x, while current is
 *      old: whoever opens OUT/x finds what was there before (a link to nothing reads as no file);
 *   2. current is renamed over to new: all results change at this moment;
 *   3. each link trades places with the file that it leads to, and .planarsfm is removed.
 * Trading places is renameat2 with RENAME_EXCHANGE, atomic for folders, too. A process that dies in
 * 1 or 3 leaves links that lead to the right files; the next run takes step 3 before its own work.
 *
 * Whose results are there is told by summary.json, which names its program. */
#define _GNU_SOURCE /* renameat2 */
#include "sfm/results.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/path.h"

#define OWN_FOLDER ".planarsfm"
#define LINK_START OWN_FOLDER "/current/"

/* The summary stands last: moved one by one, it appears when all others are there. */
static const char *const names[] = {"model",      "planes.json", "planes.ply",
                                    "graph.json", "report.html", "summary.json"};
static const char *const model_files[] = {"cameras.txt",        "images.txt", "points3D.txt",
                                          "cameras.bin",        "images.bin", "points3D.bin",
                                          "geo_reference.json", "planes.json"};
enum {
    NUM_NAMES = sizeof names / sizeof names[0],
    NUM_MODEL_FILES = sizeof model_files / sizeof model_files[0],
    LINK_SIZE = 64,
    HEAD_SIZE = 256
};

/* folder/a/b, b may be NULL. */
static psfm_status join_path(psfm_context *ctx, const char *folder, const char *a, const char *b,
                             char **out) {
    char *first = NULL;
    *out = NULL;
    psfm_status status = psfm_path_join(ctx, folder, a, b == NULL ? out : &first);
    if (status == PSFM_OK && b != NULL)
        status = psfm_path_join(ctx, first, b, out);
    free(first);
    return status;
}

static bool path_exists(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0;
}

static psfm_status fail_io(psfm_context *ctx, const char *path, const char *what) {
    return psfm_fail(ctx, PSFM_ERR_IO, "%s: %s: %s", path, what, strerror(errno));
}

/* ---- what is there ---- */

static psfm_status refuse_path(psfm_context *ctx, const char *path) {
    return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                     "%s: was not written by a run of planarsfm and would be replaced; move it or "
                     "choose another folder for the results",
                     path);
}

/* Whether the summary in the folder is one of ours. */
static psfm_status is_ours(psfm_context *ctx, const char *folder, bool *ours) {
    char *path = NULL, head[HEAD_SIZE] = "";
    *ours = false;
    psfm_status status = join_path(ctx, folder, "summary.json", NULL, &path);
    FILE *file = NULL;
    if (status == PSFM_OK && psfm_open_file(NULL, path, &file) == PSFM_OK) {
        head[fread(head, 1, sizeof head - 1, file)] = '\0';
        fclose(file);
        *ours = strstr(head, "\"program\"") != NULL && strstr(head, "\"planarsfm\"") != NULL;
    }
    free(path);
    return status;
}

static bool is_model_name(const char *name) {
    return name[0] != '\0' && name[strspn(name, "0123456789")] == '\0';
}

static bool is_model_file(const char *name) {
    for (size_t k = 0; k < NUM_MODEL_FILES; ++k)
        if (strcmp(name, model_files[k]) == 0)
            return true;
    return false;
}

/* Refuses a folder with an entry that is not of the wanted kind; goes one level down. */
static psfm_status check_entries(psfm_context *ctx, const char *folder, bool of_models) {
    DIR *dir = opendir(folder);
    if (dir == NULL)
        return fail_io(ctx, folder, "cannot open folder");
    psfm_status status = PSFM_OK;
    for (struct dirent *entry; status == PSFM_OK && (entry = readdir(dir)) != NULL;) {
        const char *name = entry->d_name;
        struct stat info;
        char *path = NULL;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        status = join_path(ctx, folder, name, NULL, &path);
        if (status == PSFM_OK && lstat(path, &info) != 0)
            status = fail_io(ctx, path, "cannot be looked at");
        if (status == PSFM_OK && of_models && is_model_name(name) && S_ISDIR(info.st_mode))
            status = check_entries(ctx, path, false);
        else if (status == PSFM_OK && (of_models || !is_model_file(name) || !S_ISREG(info.st_mode)))
            status = refuse_path(ctx, path);
        free(path);
    }
    closedir(dir);
    return status;
}

/* Refuses results that are not ours. */
static psfm_status check_results(psfm_context *ctx, const char *folder) {
    bool ours;
    psfm_status status = is_ours(ctx, folder, &ours);
    for (int k = 0; status == PSFM_OK && k < NUM_NAMES; ++k) {
        char *path = NULL;
        struct stat info;
        bool is_folder = strcmp(names[k], "model") == 0;
        status = join_path(ctx, folder, names[k], NULL, &path);
        if (status == PSFM_OK && lstat(path, &info) == 0) {
            if (!ours || (is_folder ? !S_ISDIR(info.st_mode) : !S_ISREG(info.st_mode)))
                status = refuse_path(ctx, path);
            else if (is_folder)
                status = check_entries(ctx, path, true);
        }
        free(path);
    }
    return status;
}

/* ---- what a run that died has left ---- */

/* Whether a name is this one, or a temporary one for it (core/base/output.c). */
static bool is_name_of(const char *name, const char *wanted) {
    const size_t length = strlen(wanted);
    const char *rest = name + length;
    if (strncmp(name, wanted, length) != 0)
        return false;
    return rest[0] == '\0' || (rest[0] == '.' && strspn(rest + 1, "0123456789abcdef") == 16 &&
                               strcmp(rest + 17, ".tmp") == 0);
}

static bool is_one_of(const char *name, const char *const *wanted, size_t num) {
    for (size_t k = 0; k < num; ++k)
        if (is_name_of(name, wanted[k]))
            return true;
    return false;
}

/* Whether a run leaves such an entry so deep in its own folder: at 0 both sets of results and the
 * links to them, then results, then models, then their files. */
static bool is_left(const char *name, mode_t mode, int depth) {
    switch (depth) {
    case 0:
        return (S_ISDIR(mode) && (strcmp(name, "old") == 0 || strcmp(name, "new") == 0)) ||
               (S_ISLNK(mode) && (strcmp(name, "current") == 0 || strcmp(name, "next") == 0));
    case 1:
        return S_ISDIR(mode) ? strcmp(name, "model") == 0 : is_one_of(name, names, NUM_NAMES);
    case 2:
        return S_ISDIR(mode) && is_model_name(name);
    default:
        return S_ISREG(mode) && is_one_of(name, model_files, NUM_MODEL_FILES);
    }
}

static psfm_status check_left(psfm_context *ctx, const char *folder, int depth) {
    DIR *dir = opendir(folder);
    if (dir == NULL)
        return fail_io(ctx, folder, "cannot open folder");
    psfm_status status = PSFM_OK;
    for (struct dirent *entry; status == PSFM_OK && (entry = readdir(dir)) != NULL;) {
        struct stat info;
        char *path = NULL;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        status = join_path(ctx, folder, entry->d_name, NULL, &path);
        if (status == PSFM_OK && lstat(path, &info) != 0)
            status = fail_io(ctx, path, "cannot be looked at");
        if (status == PSFM_OK && !is_left(entry->d_name, info.st_mode, depth))
            status = refuse_path(ctx, path);
        if (status == PSFM_OK && S_ISDIR(info.st_mode))
            status = check_left(ctx, path, depth + 1);
        free(path);
    }
    closedir(dir);
    return status;
}

/* ---- the swap ---- */

/* Whether OUT/name is a link of a swap. */
static bool is_our_link(const char *path, const char *name) {
    char wanted[LINK_SIZE], found[LINK_SIZE] = "";
    snprintf(wanted, sizeof wanted, LINK_START "%s", name);
    return readlink(path, found, sizeof found - 1) > 0 && strcmp(found, wanted) == 0;
}

static int exchange_names(const char *a, const char *b) {
#ifdef RENAME_EXCHANGE
    return renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE);
#else
    (void)a, (void)b;
    errno = ENOSYS;
    return -1;
#endif
}

/* Step 1 for one name. *possible is false if the file system cannot do it. */
static psfm_status hang_link(psfm_context *ctx, const psfm_results *r, const char *name,
                             bool *possible) {
    char *path = NULL, *old = NULL, *new = NULL, link[LINK_SIZE];
    snprintf(link, sizeof link, LINK_START "%s", name);
    psfm_status status = join_path(ctx, r->folder, name, NULL, &path);
    if (status == PSFM_OK)
        status = join_path(ctx, r->own, "old", name, &old);
    if (status == PSFM_OK)
        status = join_path(ctx, r->staging, name, NULL, &new);
    if (status == PSFM_OK && path_exists(path))
        *possible = symlink(link, old) == 0 && exchange_names(path, old) == 0;
    else if (status == PSFM_OK && path_exists(new))
        *possible = symlink(link, path) == 0;
    free(path);
    free(old);
    free(new);
    return status;
}

/* Step 3 for one name, whatever current is. */
static psfm_status unlink_result(psfm_context *ctx, const psfm_results *r, const char *name) {
    char *path = NULL, *file = NULL;
    psfm_status status = join_path(ctx, r->folder, name, NULL, &path);
    if (status == PSFM_OK)
        status = join_path(ctx, r->own, "current", name, &file);
    if (status == PSFM_OK && is_our_link(path, name) &&
        (path_exists(file) ? exchange_names(file, path) : unlink(path)) != 0)
        status = fail_io(ctx, path, "cannot be put into place");
    free(path);
    free(file);
    return status;
}

static psfm_status unlink_results(psfm_context *ctx, const psfm_results *r) {
    psfm_status status = PSFM_OK;
    for (int k = 0; status == PSFM_OK && k < NUM_NAMES; ++k)
        status = unlink_result(ctx, r, names[k]);
    return status;
}

/* Steps 1 and 2. Before the last line of it everything can be undone by step 3. */
static psfm_status turn_links(psfm_context *ctx, const psfm_results *r, bool *possible) {
    char *old = NULL, *current = NULL, *next = NULL;
    psfm_status status = join_path(ctx, r->own, "old", NULL, &old);
    if (status == PSFM_OK)
        status = join_path(ctx, r->own, "current", NULL, &current);
    if (status == PSFM_OK)
        status = join_path(ctx, r->own, "next", NULL, &next);
    if (status == PSFM_OK && mkdir(old, 0777) != 0)
        status = fail_io(ctx, old, "cannot create folder");
    if (status == PSFM_OK)
        *possible = symlink("old", current) == 0 && symlink("new", next) == 0;
    for (int k = 0; status == PSFM_OK && *possible && k < NUM_NAMES; ++k)
        status = hang_link(ctx, r, names[k], possible);
    if (status == PSFM_OK && *possible) {
        psfm_sync_parent(old);
        psfm_sync_parent(r->own);
        if (rename(next, current) != 0)
            status = fail_io(ctx, r->folder, "results cannot be put into place");
        psfm_sync_parent(current);
    }
    free(old);
    free(current);
    free(next);
    return status;
}

/* Without links: the old results go, the summary first, and the new ones come, the summary last. */
static psfm_status move_one_by_one(psfm_context *ctx, const psfm_results *r) {
    psfm_status status = PSFM_OK;
    char *from = NULL, *to = NULL;
    for (int k = NUM_NAMES - 1; status == PSFM_OK && k >= 0; --k) {
        status = join_path(ctx, r->folder, names[k], NULL, &to);
        if (status == PSFM_OK)
            status = psfm_remove_all(ctx, to);
        free(to);
    }
    for (int k = 0; status == PSFM_OK && k < NUM_NAMES; ++k) {
        status = join_path(ctx, r->staging, names[k], NULL, &from);
        if (status == PSFM_OK)
            status = join_path(ctx, r->folder, names[k], NULL, &to);
        if (status == PSFM_OK && path_exists(from) && rename(from, to) != 0)
            status = fail_io(ctx, to, "cannot rename into place");
        free(from);
        free(to);
        from = to = NULL;
    }
    return status;
}

psfm_status psfm_results_commit(psfm_context *ctx, psfm_results *r) {
    bool possible = true;
    psfm_status status = turn_links(ctx, r, &possible);
    psfm_status unlinked = unlink_results(ctx, r);
    r->is_unlinked = unlinked == PSFM_OK;
    if (status == PSFM_OK)
        status = unlinked;
    if (status == PSFM_OK && !possible)
        status = move_one_by_one(ctx, r);
    if (status == PSFM_OK)
        psfm_sync_parent(r->own);
    return status;
}

/* ---- opening and closing ---- */

/* Completes or undoes the swap of a run that did not end, and removes what it left. A folder of
 * that name which holds anything else is somebody's. */
static psfm_status recover_swap(psfm_context *ctx, const psfm_results *r) {
    struct stat info;
    if (lstat(r->own, &info) != 0)
        return PSFM_OK;
    if (!S_ISDIR(info.st_mode))
        return refuse_path(ctx, r->own);
    psfm_status status = check_left(ctx, r->own, 0);
    if (status == PSFM_OK)
        status = unlink_results(ctx, r);
    return status == PSFM_OK ? psfm_remove_all(ctx, r->own) : status;
}

psfm_status psfm_results_open(psfm_context *ctx, const char *folder, psfm_results *results) {
    psfm_results r = {.is_new = !path_exists(folder), .is_unlinked = true};
    psfm_status status = psfm_strdup(ctx, folder, &r.folder);
    if (status == PSFM_OK)
        status = psfm_make_folders(ctx, folder);
    if (status == PSFM_OK)
        status = psfm_lock_folder(ctx, folder, &r.lock);
    if (status == PSFM_OK)
        status = join_path(ctx, folder, OWN_FOLDER, NULL, &r.own);
    if (status == PSFM_OK)
        status = recover_swap(ctx, &r);
    if (status == PSFM_OK)
        status = check_results(ctx, folder);
    if (status == PSFM_OK)
        status = join_path(ctx, folder, OWN_FOLDER, "new", &r.staging);
    if (status == PSFM_OK)
        status = psfm_make_folders(ctx, r.staging);
    if (status != PSFM_OK) { /* own is not removed: it may be somebody else's */
        psfm_lock_release(&r.lock);
        free(r.folder);
        free(r.own);
        free(r.staging);
        r = (psfm_results){0};
    }
    *results = r;
    return status;
}

void psfm_results_close(psfm_results *results) {
    if (results->own != NULL && results->is_unlinked)
        (void)!psfm_remove_all(NULL, results->own); /* the next run tries again */
    if (results->is_new)
        rmdir(results->folder); /* only an empty one goes */
    psfm_lock_release(&results->lock);
    free(results->folder);
    free(results->own);
    free(results->staging);
    *results = (psfm_results){0};
}
