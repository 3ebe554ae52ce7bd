/* EXIF data of a HEIC file: an item of its own, which says in its first four bytes how far behind
 * them the TIFF header is. */
#include <stdlib.h>
#include <string.h>

#include "camera/exif_block.h"

#ifdef PSFM_HAVE_HEIF
#include <libheif/heif.h>
#endif

enum { MAX_BLOCK = 1 << 20 };

bool psfm_is_heif(const uint8_t *bytes, size_t size) {
    static const char *const brands[] = {"heic", "heix", "heim", "heis", "hevc",
                                         "hevx", "mif1", "msf1", "avif"};
    if (size < 12 || memcmp(bytes + 4, "ftyp", 4) != 0)
        return false;
    for (size_t k = 0; k < sizeof brands / sizeof *brands; ++k)
        if (memcmp(bytes + 8, brands[k], 4) == 0)
            return true;
    return false;
}

#ifdef PSFM_HAVE_HEIF
/* The block of an item: what follows its offset, behind a header. */
static uint8_t *unwrap(const uint8_t *item, size_t size, size_t *block_size) {
    size_t skip = 4;
    for (size_t k = 0; k < 4 && size >= 4; ++k)
        skip += (size_t)item[k] << (8 * (3 - k));
    if (size < 4 || skip >= size)
        return NULL;
    uint8_t *made = malloc(PSFM_EXIF_HEADER_SIZE + size - skip);
    if (made != NULL) {
        memcpy(made, PSFM_EXIF_HEADER, PSFM_EXIF_HEADER_SIZE);
        memcpy(made + PSFM_EXIF_HEADER_SIZE, item + skip, size - skip);
        *block_size = PSFM_EXIF_HEADER_SIZE + size - skip;
    }
    return made;
}

static uint8_t *read_item(const struct heif_image_handle *image, size_t *block_size) {
    heif_item_id id;
    if (heif_image_handle_get_list_of_metadata_block_IDs(image, "Exif", &id, 1) < 1)
        return NULL;
    size_t size = heif_image_handle_get_metadata_size(image, id);
    uint8_t *made = NULL, *item = size == 0 || size > MAX_BLOCK ? NULL : malloc(size);
    if (item != NULL && heif_image_handle_get_metadata(image, id, item).code == heif_error_Ok)
        made = unwrap(item, size, block_size);
    free(item);
    return made;
}

uint8_t *psfm_exif_block_of_heif(const uint8_t *bytes, size_t size, size_t *block_size) {
    struct heif_context *file = heif_context_alloc();
    struct heif_image_handle *image = NULL;
    uint8_t *made = NULL;
    if (file != NULL &&
        heif_context_read_from_memory_without_copy(file, bytes, size, NULL).code == heif_error_Ok &&
        heif_context_get_primary_image_handle(file, &image).code == heif_error_Ok)
        made = read_item(image, block_size);
    heif_image_handle_release(image);
    heif_context_free(file);
    return made;
}
#else
uint8_t *psfm_exif_block_of_heif(const uint8_t *bytes, size_t size, size_t *block_size) {
    (void)bytes;
    (void)size;
    (void)block_size;
    return NULL;
}
#endif
