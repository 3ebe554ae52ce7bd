/* The photographs of a folder and its subfolders, sorted by the bytes of their names whatever the
 * locale and the file system. A file counts by its first bytes; hidden files are skipped, links to
 * folders are not followed, so that there are no cycles. */
#include "image/image_list.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/text.h"
#include "image/image_io.h"

#define MAX_DEPTH 64

typedef struct {
    const char *folder;
    psfm_image_list list;
    size_t names_capacity, others_capacity;
} walk;

static psfm_status append(psfm_context *ctx, char ***names, size_t *num, size_t *capacity,
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
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return psfm_fail(ctx, PSFM_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    size_t size = fread(head, 1, sizeof head, file);
    fclose(file);
    psfm_image_list *list = &w->list;
    if (psfm_image_sniff(head, size) != PSFM_IMAGE_UNKNOWN)
        return append(ctx, &list->names, &list->num, &w->names_capacity, name);
    return append(ctx, &list->others, &list->num_others, &w->others_capacity, name);
}

static psfm_status add_folder(psfm_context *ctx, walk *w, const char *name, int depth);

static psfm_status add_entry(psfm_context *ctx, walk *w, const char *parent, const char *entry,
                             int depth) {
    char *name = NULL, *path = NULL;
    struct stat link, target;
    psfm_status status = psfm_path_join(ctx, parent, entry, &name);
    if (status == PSFM_OK)
        status = psfm_path_join(ctx, w->folder, name, &path);
    if (status == PSFM_OK && lstat(path, &link) == 0 && stat(path, &target) == 0) {
        if (S_ISDIR(link.st_mode))
            status = add_folder(ctx, w, name, depth + 1);
        else if (S_ISREG(target.st_mode))
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
    psfm_status status = add_folder(ctx, &w, "", 0);
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
