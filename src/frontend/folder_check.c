/* Folders as people have them. Each thing is told in one sentence with an example; nothing is left
 * out for it, since it may be meant. */
#include "frontend/folder_check.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "core/base/alloc.h"
#include "core/base/file_fingerprint.h"
#include "core/base/path.h"
#include "images/image/image_io.h"

#define THOUSANDS 2000
#define MANY_FOLDERS 3
#define THUMBNAIL 16.0 /* times fewer pixels than the largest photograph */

/* One file of the folder. */
typedef struct {
    const char *name;
    uint64_t size, print;
    double pixels; /* 0: not known */
} file_facts;

typedef struct {
    psfm_context *ctx;
    const char *folder;
    const psfm_image_list *files;
    file_facts *facts;
} look;

static psfm_status find_facts(look *l, const char *name, file_facts *out) {
    char *path = NULL;
    struct stat info;
    int width = 0, height = 0;
    psfm_status status = psfm_path_join(l->ctx, l->folder, name, &path);
    *out = (file_facts){.name = name};
    if (status == PSFM_OK && stat(path, &info) == 0)
        out->size = (uint64_t)info.st_size;
    if (status == PSFM_OK && psfm_image_file_size(path, &width, &height))
        out->pixels = (double)width * (double)height;
    free(path);
    return status;
}

static bool is_of_folder(const char *name, const char *folder, size_t length) {
    return strncmp(name, folder, length) == 0 && name[length] == '/' &&
           strchr(name + length + 1, '/') == NULL;
}

/* Names are sorted, but files and folders may alternate; a folder is new if none before is in it.
 */
static void tell_folders(const look *l) {
    size_t num = 0;
    const char *first = NULL;
    for (size_t k = 0; k < l->files->num; ++k) {
        const char *name = l->files->names[k], *slash = strrchr(name, '/');
        const size_t length = slash == NULL ? 0 : (size_t)(slash - name);
        bool is_new = slash != NULL;
        for (size_t j = k; is_new && j > 0; --j)
            is_new = !is_of_folder(l->files->names[j - 1], name, length);
        if (!is_new)
            continue;
        first = first == NULL ? name : first;
        ++num;
    }
    if (num >= MANY_FOLDERS)
        psfm_log(l->ctx, PSFM_LOG_WARNING,
                 "%s: %zu photographs in %zu folders below it, such as %s; if one of these was "
                 "meant, give it",
                 l->folder, l->files->num, num, first);
    if (l->files->num >= THOUSANDS)
        psfm_log(l->ctx, PSFM_LOG_WARNING,
                 "%s: %zu photographs take hours; --images-list takes some of them, --effort low "
                 "is fast",
                 l->folder, l->files->num);
}

static void tell_thumbnails(const look *l) {
    double largest = 0.0;
    size_t num = 0;
    const char *first = NULL;
    for (size_t k = 0; k < l->files->num; ++k)
        if (l->facts[k].pixels > largest)
            largest = l->facts[k].pixels;
    for (size_t k = 0; k < l->files->num; ++k) {
        const file_facts *f = &l->facts[k];
        if (!(f->pixels > 0.0) || f->pixels * THUMBNAIL > largest)
            continue;
        first = num++ == 0 ? f->name : first;
    }
    if (num > 0 && num < l->files->num)
        psfm_log(l->ctx, PSFM_LOG_WARNING,
                 "%s: %zu of %zu photographs have a sixteenth of the pixels of the largest or "
                 "less, such as %s; thumbnails help nothing, --images-list leaves them out",
                 l->folder, num, l->files->num, first);
}

static int by_content(const void *a, const void *b) {
    const file_facts *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    if (x->print != y->print)
        return x->print < y->print ? -1 : 1;
    return strcmp(x->name, y->name);
}

static psfm_status find_print(look *l, file_facts *file) {
    char *path = NULL;
    psfm_status status = psfm_path_join(l->ctx, l->folder, file->name, &path);
    if (status == PSFM_OK)
        status = psfm_file_print(l->ctx, path, &file->print);
    free(path);
    return status;
}

/* Only files of one size are read. */
static psfm_status tell_duplicates(look *l) {
    file_facts *f = l->facts;
    const size_t n = l->files->num;
    size_t num = 0, first = 0;
    psfm_status status = PSFM_OK;
    qsort(f, n, sizeof *f, by_content);
    for (size_t k = 0; status == PSFM_OK && k < n; ++k)
        if ((k > 0 && f[k - 1].size == f[k].size) || (k + 1 < n && f[k + 1].size == f[k].size))
            status = find_print(l, &f[k]);
    qsort(f, n, sizeof *f, by_content);
    for (size_t k = 1; status == PSFM_OK && k < n; ++k)
        if (f[k].size == f[k - 1].size && f[k].print == f[k - 1].print && f[k].print != 0)
            first = num++ == 0 ? k : first;
    if (num > 0)
        psfm_log(l->ctx, PSFM_LOG_WARNING,
                 "%s: %zu photograph%s there twice, such as %s, which is %s; one of each is enough",
                 l->folder, num, num == 1 ? " is" : "s are", f[first].name, f[first - 1].name);
    return status;
}

static void tell_others(const look *l, const char *const *endings, const char *one,
                        const char *several, const char *advice) {
    size_t num = 0;
    const char *first = NULL;
    for (size_t k = 0; k < l->files->num_others; ++k) {
        const char *name = l->files->others[k], *dot = strrchr(name, '.');
        for (const char *const *ending = endings; dot != NULL && *ending != NULL; ++ending)
            if (strcasecmp(dot + 1, *ending) == 0)
                first = num++ == 0 ? name : first;
    }
    if (num > 0)
        psfm_log(l->ctx, PSFM_LOG_WARNING, "%s: %zu %s not looked at, such as %s; %s", l->folder,
                 num, num == 1 ? one : several, first, advice);
}

psfm_status psfm_folder_check(psfm_context *ctx, const char *folder, const psfm_image_list *files) {
    static const char *const videos[] = {"mp4", "mov", "avi", "mkv", "mts", "webm", NULL};
    static const char *const raws[] = {"cr2", "cr3", "nef", "arw", "raf",
                                       "rw2", "orf", "dng", "raw", NULL};
    look l = {.ctx = ctx, .folder = folder, .files = files};
    psfm_status status = PSFM_ALLOC(ctx, files->num, &l.facts);
    for (size_t k = 0; status == PSFM_OK && k < files->num; ++k)
        status = find_facts(&l, files->names[k], &l.facts[k]);
    if (status == PSFM_OK) {
        tell_folders(&l);
        tell_thumbnails(&l);
        tell_others(&l, videos, "video is", "videos are",
                    "take single pictures out of them first (ffmpeg -i VIDEO -r 2 %04d.jpg)");
        tell_others(&l, raws, "raw file is", "raw files are",
                    "JPEG files beside them are taken; develop the others");
        status = tell_duplicates(&l);
    }
    free(l.facts);
    return status;
}
