/* The reader of lists of photographs on arbitrary bytes. */
#include <stdlib.h>
#include <string.h>

#include "images/image/image_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *const folders[2] = {"photos/", "/all/photos"};
    psfm_image_list list;
    char *bytes = malloc(size + 1);
    if (bytes == NULL)
        return 0;
    memcpy(bytes, data, size);
    bytes[size] = '\0';
    if (psfm_image_list_parse(NULL, bytes, size, "fuzz", folders, &list) == PSFM_OK)
        for (size_t k = 0; k < list.num; ++k)
            if (list.names[k][0] == '/' || list.names[k][0] == '\0' ||
                strstr(list.names[k], "/../") != NULL ||
                (k > 0 && strcmp(list.names[k - 1], list.names[k]) >= 0))
                __builtin_trap();
    psfm_image_list_free(&list);
    free(bytes);
    return 0;
}
