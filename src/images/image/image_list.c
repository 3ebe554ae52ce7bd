/* The photographs of a folder and its subfolders, sorted by the bytes of their names whatever the
 * locale and the file system. A file counts by its first bytes, one that cannot be read by its
 * name: what is wrong with it is found when its turn comes. Hidden files are skipped, links to
 * folders are not followed, so that there are no cycles. */
#include "images/image/image_list.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/alloc.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "images/image/image_io.h"

#define MAX_DEPTH 64

typedef struct {
    const char *folder;
    psfm_image_list list;
    size_t names_capacity, others_capacity;
} walk;

static psfm_status append_name(psfm_context *ctx, char ***names, size_t *num, size_t *capacity,
                               const char *name) {
    psfm_status status = PSFM_RESERVE(ctx, names, capacity, *num + 1);
    if (status == PSFM_OK)
        status = psfm_strdup(ctx, name, &(*names)[*num]);
    if (status == PSFM_OK)
        ++*num;
    return status;
}

static psfm_status add_file(psfm_context *ctx, walk *w, const char *path, const char *name) {
    uint8_t head[PSFM_IMAGE_SNIFF_BYTES];
    FILE *file = NULL;
    psfm_image_list *list = &w->list;
    const bool is_open = psfm_open_file(NULL, path, &file) == PSFM_OK;
    const size_t size = is_open ? fread(head, 1, sizeof head, file) : 0;
    const bool is_unread = !is_open || ferror(file);
    if (is_open)
        fclose(file);
    if (is_unread ? psfm_image_has_ending(name, false) : psfm_image_sniff(head, size))
        return append_name(ctx, &list->names, &list->num, &w->names_capacity, name);
    return append_name(ctx, &list->others, &list->num_others, &w->others_capacity, name);
}

static psfm_status add_folder(psfm_context *ctx, walk *w, const char *name, int depth);

static psfm_status add_entry(psfm_context *ctx, walk *w, const char *parent, const char *entry,
                             int depth) {
    char *name = NULL, *path = NULL;
    struct stat link, target;
    psfm_status status = psfm_path_join(ctx, parent, entry, &name);
    if (status == PSFM_OK)
        status = psfm_path_join(ctx, w->folder, name, &path);
    if (status == PSFM_OK && lstat(path, &link) == 0) {
        const bool is_found = stat(path, &target) == 0;
        if (S_ISDIR(link.st_mode))
            status = add_folder(ctx, w, name, depth + 1);
        else if (is_found ? S_ISREG(target.st_mode) : psfm_image_has_ending(name, false))
            status = add_file(ctx, w, path, name);
    }
    free(path);
    free(name);
    return status;
}

static psfm_status add_folder(psfm_context *ctx, walk *w, const char *name, int depth) {
    char *path = NULL;
    psfm_status status = name[0] == '\0' ? psfm_strdup(ctx, w->folder, &path)
                                         : psfm_path_join(ctx, w->folder, name, &path);
    if (status != PSFM_OK)
        return status;
    DIR *dir = depth <= MAX_DEPTH ? opendir(path) : NULL;
    if (dir == NULL && depth > 0 && depth <= MAX_DEPTH) {
        psfm_log(ctx, PSFM_LOG_WARNING, "left out: %s: cannot open folder: %s", path,
                 strerror(errno));
        free(path);
        return PSFM_OK;
    }
    if (depth > MAX_DEPTH)
        status = psfm_fail(ctx, PSFM_ERR_IO, "%s: more than %d folders deep", path, MAX_DEPTH);
    else if (dir == NULL)
        status = psfm_fail(ctx, PSFM_ERR_IO, "%s: cannot open folder: %s", path, strerror(errno));
    for (struct dirent *entry; status == PSFM_OK && dir != NULL && (entry = readdir(dir)) != NULL;)
        if (entry->d_name[0] != '.')
            status = add_entry(ctx, w, name, entry->d_name, depth);
    if (dir != NULL)
        closedir(dir);
    free(path);
    return status;
}

psfm_status psfm_image_list_folder(psfm_context *ctx, const char *folder, psfm_image_list *list) {
    walk w = {.folder = folder};
    psfm_status status = psfm_path_check(ctx, folder);
    if (status == PSFM_OK)
        status = add_folder(ctx, &w, "", 0);
    if (status != PSFM_OK) {
        psfm_image_list_free(&w.list);
    } else {
        if (w.list.num > 0)
            qsort(w.list.names, w.list.num, sizeof *w.list.names, psfm_compare_strings);
        if (w.list.num_others > 0)
            qsort(w.list.others, w.list.num_others, sizeof *w.list.others, psfm_compare_strings);
    }
    *list = w.list;
    return status;
}

void psfm_image_list_free(psfm_image_list *list) {
    for (size_t k = 0; k < list->num; ++k)
        free(list->names[k]);
    for (size_t k = 0; k < list->num_others; ++k)
        free(list->others[k]);
    free(list->names);
    free(list->others);
    *list = (psfm_image_list){0};
}

/* The photographs that a text file lists: one path a line, blank lines and lines that begin with
 * '#' aside. Names of images are relative to the folder, whichever way the list says them, so
 * that models, masks and pairs name them as they do without a list. */

#define MAX_FILE ((size_t)1 << 28)

typedef struct {
    psfm_context *ctx;
    const char *path; /* of the list */
    const char *folder, *absolute;
    size_t line, capacity;
    psfm_image_list list;
} reader;

/* What comes after the folder in a path that lies below it; NULL if it does not. */
static const char *path_below(const char *path, const char *folder) {
    size_t length = strlen(folder);
    while (length > 0 && folder[length - 1] == '/')
        --length;
    return strncmp(path, folder, length) == 0 && path[length] == '/' ? path + length + 1 : NULL;
}

/* Takes "." and empty parts out of a path in place. False if it has a ".." or nothing is left. */
static bool normalise_path(char *name) {
    char *out = name;
    for (const char *part = name; *part != '\0';) {
        size_t length = strcspn(part, "/");
        const char *next = part + length + (part[length] == '/');
        if (length == 2 && strncmp(part, "..", 2) == 0)
            return false;
        if (length > 0 && !(length == 1 && part[0] == '.')) {
            if (out != name)
                *out++ = '/';
            memmove(out, part, length);
            out += length;
        }
        part = next;
    }
    *out = '\0';
    return out != name;
}

static psfm_status add_name(reader *r, const char *text) {
    const char *name = text;
    psfm_image_list *list = &r->list;
    if (text[0] == '/') {
        name = path_below(text, r->absolute);
        name = name == NULL ? path_below(text, r->folder) : name;
    }
    if (name == NULL)
        return psfm_fail(r->ctx, PSFM_ERR_DATA, "%s: line %zu: %s is not below the folder %s",
                         r->path, r->line, text, r->folder);
    psfm_status status = PSFM_RESERVE(r->ctx, &list->names, &r->capacity, list->num + 1);
    if (status == PSFM_OK)
        status = psfm_strdup(r->ctx, name, &list->names[list->num]);
    if (status != PSFM_OK)
        return status;
    ++list->num;
    if (normalise_path(list->names[list->num - 1]))
        return PSFM_OK;
    return psfm_fail(r->ctx, PSFM_ERR_FORMAT, "%s: line %zu: '%s' is no path below the folder %s",
                     r->path, r->line, text, r->folder);
}

static psfm_status read_lines(reader *r, char *bytes, size_t size) {
    psfm_status status = PSFM_OK;
    for (size_t begin = 0; status == PSFM_OK && begin < size;) {
        const char *newline = memchr(bytes + begin, '\n', size - begin);
        size_t end = newline == NULL ? size : (size_t)(newline - bytes), next = end + 1;
        psfm_trim(bytes, &begin, &end);
        ++r->line;
        bytes[end] = '\0';
        if (end > begin && bytes[begin] != '#')
            status = add_name(r, bytes + begin);
        begin = next;
    }
    return status;
}

/* Sorts, and keeps one of those that are listed twice. */
static void sort_unique(psfm_image_list *list) {
    size_t kept = 0;
    if (list->num > 0)
        qsort(list->names, list->num, sizeof *list->names, psfm_compare_strings);
    for (size_t k = 0; k < list->num; ++k) {
        if (kept > 0 && strcmp(list->names[k], list->names[kept - 1]) == 0)
            free(list->names[k]);
        else
            list->names[kept++] = list->names[k];
    }
    list->num = kept;
}

psfm_status psfm_image_list_parse(psfm_context *ctx, char *bytes, size_t size, const char *path,
                                  const char *const folders[2], psfm_image_list *list) {
    reader r = {.ctx = ctx, .path = path, .folder = folders[0], .absolute = folders[1]};
    *list = (psfm_image_list){0};
    if (memchr(bytes, '\0', size) != NULL)
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: not a text file", path);
    psfm_status status = read_lines(&r, bytes, size);
    if (status == PSFM_OK && r.list.num == 0)
        status = psfm_fail(ctx, PSFM_ERR_DATA, "%s: no photograph is listed in it", path);
    sort_unique(&r.list);
    if (status == PSFM_OK)
        *list = r.list;
    else
        psfm_image_list_free(&r.list);
    return status;
}

static psfm_status check_files(psfm_context *ctx, const char *folder, const char *path,
                               const psfm_image_list *list) {
    psfm_status status = PSFM_OK;
    for (size_t k = 0; status == PSFM_OK && k < list->num; ++k) {
        char *file = NULL;
        status = psfm_path_join(ctx, folder, list->names[k], &file);
        if (status == PSFM_OK && !psfm_path_is_file(file))
            status = psfm_fail(ctx, PSFM_ERR_IO,
                               "%s: there is no such file; %s names it (paths are relative to %s, "
                               "or absolute)",
                               file, path, folder);
        free(file);
    }
    return status;
}

static psfm_status read_list(psfm_context *ctx, const char *folder, const char *path,
                             psfm_image_list *list) {
    char *bytes = NULL, *absolute = realpath(folder, NULL);
    size_t size = 0;
    *list = (psfm_image_list){0};
    psfm_status status =
        absolute == NULL
            ? psfm_fail(ctx, PSFM_ERR_IO, "%s: cannot open folder: %s", folder, strerror(errno))
            : psfm_read_file(ctx, path, MAX_FILE, &bytes, &size);
    if (status == PSFM_OK)
        status = psfm_image_list_parse(ctx, bytes, size, path,
                                       (const char *const[]){folder, absolute}, list);
    if (status == PSFM_OK)
        status = check_files(ctx, folder, path, list);
    if (status != PSFM_OK)
        psfm_image_list_free(list);
    free(absolute);
    free(bytes);
    return status;
}

psfm_status psfm_image_list_open(psfm_context *ctx, const char *folder, const char *path,
                                 psfm_image_list *list) {
    return path == NULL ? psfm_image_list_folder(ctx, folder, list)
                        : read_list(ctx, folder, path, list);
}
