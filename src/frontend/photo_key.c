/* Keys of features: a photograph and its mask are recognised by core/base/file_mark.h. */
#include "frontend/photo_key.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/path.h"
#include "images/image/mask.h"

/* Paths of the photograph and of its mask, NULL without a folder of masks. */
static psfm_status find_paths(psfm_context *ctx, const psfm_photo_place *place, const char *name,
                              char *paths[2]) {
    paths[0] = paths[1] = NULL;
    psfm_status status = psfm_path_join(ctx, place->folder, name, &paths[0]);
    if (status == PSFM_OK && place->mask_folder != NULL)
        status = psfm_mask_path(ctx, place->mask_folder, name, &paths[1]);
    return status;
}

psfm_status psfm_photo_key_look(psfm_context *ctx, const psfm_photo_place *place, const char *name,
                                psfm_photo_key *key) {
    char *paths[2];
    psfm_status status = find_paths(ctx, place, name, paths);
    if (status == PSFM_OK) {
        key->photo = psfm_file_mark_of(paths[0]);
        key->mask = paths[1] == NULL ? (psfm_file_mark){0} : psfm_file_mark_of(paths[1]);
    }
    free(paths[0]);
    free(paths[1]);
    return status;
}

void psfm_photo_key_print(const psfm_photo_key *key, char text[PSFM_PHOTO_KEY_SIZE]) {
    char photo[PSFM_FILE_MARK_SIZE], mask[PSFM_FILE_MARK_SIZE], second_pass[24] = "";
    psfm_file_mark_print(&key->photo, photo);
    psfm_file_mark_print(&key->mask, mask);
    if (key->second_pass != 0)
        snprintf(second_pass, sizeof second_pass, "+%016" PRIx64, key->second_pass);
    snprintf(text, PSFM_PHOTO_KEY_SIZE, "%016" PRIx64 " %s %s%s", key->options, photo, mask,
             second_pass);
}

bool psfm_photo_key_parse(const char *text, psfm_photo_key *key) {
    char *end;
    *key = (psfm_photo_key){.options = strtoull(text, &end, 16)};
    const char *at = end;
    if (at == text || *at++ != ' ' || !psfm_file_mark_parse(at, &at, &key->photo) || *at++ != ' ' ||
        !psfm_file_mark_parse(at, &at, &key->mask))
        return false;
    if (*at == '+') {
        key->second_pass = strtoull(at + 1, &end, 16);
        at = end;
    }
    return *at == '\0';
}

psfm_status psfm_photo_key_compare(psfm_context *ctx, const psfm_photo_place *place,
                                   const char *name, const char *before, psfm_photo_key *now,
                                   bool *same) {
    char *paths[2];
    psfm_photo_key key;
    *same = psfm_photo_key_parse(before, &key) && key.options == now->options &&
            key.second_pass == now->second_pass;
    if (!*same)
        return PSFM_OK;
    psfm_status status = find_paths(ctx, place, name, paths);
    if (status == PSFM_OK)
        status = psfm_file_mark_compare(ctx, paths[0], &key.photo, &now->photo, same);
    if (status == PSFM_OK && *same)
        status = psfm_file_mark_compare(ctx, paths[1], &key.mask, &now->mask, same);
    free(paths[0]);
    free(paths[1]);
    return status;
}

uint64_t psfm_photo_source_hash(uint64_t hash, const psfm_stored_photo *photo) {
    const char *text = photo->key == NULL ? "" : photo->key;
    psfm_photo_key key;
    hash = psfm_hash(hash, photo->name, strlen(photo->name) + 1);
    if (!psfm_photo_key_parse(text, &key) || key.photo.contents == 0)
        return psfm_hash(hash, text, strcspn(text, "+"));
    const uint64_t what[] = {key.options, key.photo.contents, key.mask.contents};
    return psfm_hash(hash, what, sizeof what);
}
