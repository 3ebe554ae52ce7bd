/* The photographs that a text file lists: one path a line, blank lines and lines that begin with
 * '#' aside. Names of images are relative to the folder, whichever way the list says them, so
 * that models, masks and pairs name them as they do without a list. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/text.h"
#include "image/image_list.h"

#define MAX_FILE ((size_t)1 << 28)

typedef struct {
    psfm_context *ctx;
    const char *path; /* of the list */
    const char *folder, *absolute;
    size_t line, capacity;
    psfm_image_list list;
} reader;

/* What comes after the folder in a path that lies below it; NULL if it does not. */
static const char *below(const char *path, const char *folder) {
    size_t length = strlen(folder);
    while (length > 0 && folder[length - 1] == '/')
        --length;
    return strncmp(path, folder, length) == 0 && path[length] == '/' ? path + length + 1 : NULL;
}

/* Takes "." and empty parts out of a path in place. False if it has a ".." or nothing is left. */
static bool normalise(char *name) {
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
        name = below(text, r->absolute);
        name = name == NULL ? below(text, r->folder) : name;
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
    if (normalise(list->names[list->num - 1]))
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

psfm_status psfm_image_list_file(psfm_context *ctx, const char *folder, const char *path,
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
                        : psfm_image_list_file(ctx, folder, path, list);
}
