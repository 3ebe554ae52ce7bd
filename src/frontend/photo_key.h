/* What the features of a photograph were made from. */
#ifndef PSFM_FRONTEND_PHOTO_KEY_H
#define PSFM_FRONTEND_PHOTO_KEY_H

#include "core/base/file_mark.h"
#include "store/feature_store.h"

/* The photographs of a run, with their masks; mask_folder may be NULL. */
typedef struct {
    const char *folder, *mask_folder;
} psfm_photo_place;

typedef struct {
    uint64_t options;     /* a hash of the options and weights */
    uint64_t second_pass; /* of further options, for a photograph of the second pass; else 0 */
    psfm_file_mark photo, mask;
} psfm_photo_key;

#define PSFM_PHOTO_KEY_SIZE (2 * PSFM_FILE_MARK_SIZE + 40)

/* Fills in the files of a photograph as they are now, without their contents. */
psfm_status psfm_photo_key_look(psfm_context *ctx, const psfm_photo_place *place, const char *name,
                                psfm_photo_key *key);

/* "options photo mask", and "+" with the further options; from such text, false if it is none. */
void psfm_photo_key_print(const psfm_photo_key *key, char text[PSFM_PHOTO_KEY_SIZE]);
bool psfm_photo_key_parse(const char *text, psfm_photo_key *key);

/* Whether features with the key `before`, as text, are those of this photograph with the options of
 * `now`, whose contents are completed then. */
psfm_status psfm_photo_key_compare(psfm_context *ctx, const psfm_photo_place *place,
                                   const char *name, const char *before, psfm_photo_key *now,
                                   bool *same);

/* Carries a hash on over what the photograph is: its name, the options, the contents of its files;
 * not when they were written, and not the further options. */
uint64_t psfm_photo_source_hash(uint64_t hash, const psfm_stored_photo *photo);

#endif
