/* What the features of a photograph were made from, as text. */
#ifndef PSFM_FRONTEND_PHOTO_KEY_H
#define PSFM_FRONTEND_PHOTO_KEY_H

#include <stdint.h>

#include "store/feature_store.h"

#define PSFM_PHOTO_KEY_SIZE 184

/* "options size@time mask": the number of the options, the file, its mask ("-" for none); followed
 * by "+" and the number of further options for a photograph of the second pass
 * (second_pass_key not 0). */
psfm_status psfm_photo_key(psfm_context *ctx, const char *folder, const char *mask_folder,
                           const char *name, uint64_t options_key, uint64_t second_pass_key,
                           char key[PSFM_PHOTO_KEY_SIZE]);

/* Carries a hash on over the photograph's name and key, its higher effort left out. */
uint64_t psfm_photo_source_hash(uint64_t hash, const psfm_stored_photo *photo);

#endif
