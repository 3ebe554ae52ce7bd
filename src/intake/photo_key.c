/* Keys of features: a photograph is recognised by size and time of its file, not by its contents,
 * which would have to be read. */
#include "intake/photo_key.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/path.h"

/* Size and time of a file as text; "-" if there is none. */
static psfm_status describe_file(psfm_context *ctx, const char *folder, const char *name,
                                 char text[64]) {
    char *path = NULL;
    struct stat info;
    psfm_status status = psfm_path_join(ctx, folder, name, &path);
    snprintf(text, 64, "-");
    if (status == PSFM_OK && stat(path, &info) == 0)
        snprintf(text, 64, "%lld@%lld.%09ld", (long long)info.st_size,
                 (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
    free(path);
    return status;
}

static psfm_status describe_mask(psfm_context *ctx, const char *folder, const char *name,
                                 char text[64]) {
    char *mask_name = NULL;
    size_t size = strlen(name) + 5;
    psfm_status status = PSFM_ALLOC(ctx, size, &mask_name);
    if (status == PSFM_OK) {
        snprintf(mask_name, size, "%s.png", name);
        status = describe_file(ctx, folder, mask_name, text);
    }
    free(mask_name);
    return status;
}

psfm_status psfm_photo_key(psfm_context *ctx, const char *folder, const char *mask_folder,
                           const char *name, uint64_t options_key, uint64_t raised_key,
                           char key[PSFM_PHOTO_KEY_SIZE]) {
    char file[64], mask[64] = "-", raised[24] = "";
    psfm_status status = describe_file(ctx, folder, name, file);
    if (status == PSFM_OK && mask_folder != NULL)
        status = describe_mask(ctx, mask_folder, name, mask);
    if (raised_key != 0)
        snprintf(raised, sizeof raised, "+%016" PRIx64, raised_key);
    if (status == PSFM_OK)
        snprintf(key, PSFM_PHOTO_KEY_SIZE, "%016" PRIx64 " %s %s%s", options_key, file, mask,
                 raised);
    return status;
}

uint64_t psfm_photo_source_hash(uint64_t hash, const psfm_stored_photo *photo) {
    const char *key = photo->key == NULL ? "" : photo->key;
    hash = psfm_hash(hash, photo->name, strlen(photo->name) + 1);
    return psfm_hash(hash, key, strcspn(key, "+"));
}
