/* Keys of features: a photograph is recognised by size and time of its file, not by its contents,
 * which would have to be read. */
#include "frontend/photo_key.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/hash.h"
#include "core/base/path.h"
#include "images/image/mask.h"

/* Size and time of a file as text; "-" if there is none. */
static void describe_file(const char *path, char text[64]) {
    struct stat info;
    snprintf(text, 64, "-");
    if (stat(path, &info) == 0)
        snprintf(text, 64, "%lld@%lld.%09ld", (long long)info.st_size,
                 (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

psfm_status psfm_photo_key(psfm_context *ctx, const char *folder, const char *mask_folder,
                           const char *name, uint64_t options_key, uint64_t second_pass_key,
                           char key[PSFM_PHOTO_KEY_SIZE]) {
    char file[64] = "", mask[64] = "-", second_pass[24] = "";
    char *path = NULL, *mask_path = NULL;
    psfm_status status = psfm_path_join(ctx, folder, name, &path);
    if (status == PSFM_OK)
        describe_file(path, file);
    if (status == PSFM_OK && mask_folder != NULL)
        status = psfm_mask_path(ctx, mask_folder, name, &mask_path);
    if (mask_path != NULL)
        describe_file(mask_path, mask);
    if (second_pass_key != 0)
        snprintf(second_pass, sizeof second_pass, "+%016" PRIx64, second_pass_key);
    if (status == PSFM_OK)
        snprintf(key, PSFM_PHOTO_KEY_SIZE, "%016" PRIx64 " %s %s%s", options_key, file, mask,
                 second_pass);
    free(path);
    free(mask_path);
    return status;
}

uint64_t psfm_photo_source_hash(uint64_t hash, const psfm_stored_photo *photo) {
    const char *key = photo->key == NULL ? "" : photo->key;
    hash = psfm_hash(hash, photo->name, strlen(photo->name) + 1);
    return psfm_hash(hash, key, strcspn(key, "+"));
}
